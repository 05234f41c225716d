"""Subscriptions with a result of their own in the records of a topic.

    {"kind": "top", "keywords": "ramen noodles", "k": 10, "alpha": 0.3, "lon": 2.35, "lat": 48.86}
    {"type": "Feature", "geometry": null, "bbox": [2.2, 48.8, 2.5, 48.9],
     "properties": {"kind": "trending", "k": 10}}

`k` is 20 unless given, for terms 10, and `alpha` 0.5. A record has the whole subscription: to move
is to send it again with another place, of which only what changes by that is told.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nearcast.pipeline.files.records import Record, RowProblem
from nearcast.pipeline.log.schema import (
    SUBSCRIBE_MOVING,
    SUBSCRIBE_NEARBY,
    SUBSCRIBE_TOP,
    SUBSCRIBE_TRENDING,
)
from nearcast.pipeline.rows import BOX

ROW_KINDS = {
    "top": SUBSCRIBE_TOP,
    "trending": SUBSCRIBE_TRENDING,
    "nearby": SUBSCRIBE_NEARBY,
    "moving": SUBSCRIBE_MOVING,
}
_TERMS: dict[str, Any] = {"k": 10}
_USUAL: dict[str, dict[str, Any]] = {
    "top": {"k": 20, "alpha": 0.5}, "trending": _TERMS, "nearby": _TERMS, "moving": {}
}  # fmt: skip


def result_record(kind: str, said: Mapping[str, Any]) -> Record:
    """What a row of this kind has: `id`, `keywords`, and all else in `region`; see `hosted_rows`.

    >>> result_record("nearby", {"id": "here", "lon": 2.5, "lat": 48.8})["region"]["properties"]
    {'k': 10}
    """
    feature = said if said.get("type") == "Feature" else _feature(said)
    properties = feature.get("properties")
    if not isinstance(properties, Mapping):
        raise RowProblem(f"properties {properties!r} are not an object; give k, keywords and so on")
    keywords = properties.get("keywords")
    if keywords is not None and _USUAL[kind] is _TERMS:
        raise RowProblem(f"keywords {keywords!r}: lists of terms ask for no words; leave them out")
    if kind == "top" and isinstance(keywords, list):
        keywords = " ".join(map(str, keywords))
    about = {name: properties.get(name, usual) for name, usual in _USUAL[kind].items()}
    if "radius" in properties:
        about["radius"] = properties["radius"]
    region = {"type": "Feature", "geometry": feature.get("geometry"), "properties": about}
    if feature.get("bbox") is not None:
        region["bbox"] = feature["bbox"]
    return {"id": said.get("id", properties.get("id")), "keywords": keywords, "region": region}


def _feature(said: Mapping[str, Any]) -> dict[str, Any]:
    """An object with the columns of a subscription, or of a message's place, as a Feature."""
    feature: dict[str, Any] = {"geometry": None, "properties": said}
    region = said.get("region")
    if isinstance(region, Mapping) and region.get("type") == "Feature":
        about = region.get("properties")
        own = about if isinstance(about, Mapping) else {}
        circle = {name: own[name] for name in ("radius",) if name in own}
        return {**region, "properties": {**said, **circle}}
    if region is not None:
        feature["geometry"] = region
    elif "lon" in said or "lat" in said:
        point = [said.get("lon"), said.get("lat")]
        feature["geometry"] = {"type": "Point", "coordinates": point}
    elif any(name in said for name in BOX):
        feature["bbox"] = [said.get(name) for name in BOX]
    return feature
