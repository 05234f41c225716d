"""GeoJSON as records: the features of a FeatureCollection, read one after the other."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, TextIO

from nearcast.pipeline.files.formats import DataFile, UnreadableFile
from nearcast.pipeline.files.records import Numbered, Record, RowProblem
from nearcast.pipeline.rows import BOX

_CHUNK = 1 << 20
_SPACE = " \t\n\r"
_AFTER_NUMBER = _SPACE + ",]}"


def feature_records(file: DataFile, side: str) -> Iterator[Numbered]:
    """The features of a file as subscriptions or messages; memory for one of them at a time."""
    for number, feature in enumerate(_features(file), 1):
        try:
            yield Numbered(number, feature_record(feature, side))
        except RowProblem as problem:
            yield Numbered(number, problem)


def feature_record(feature: Any, side: str) -> Record:
    """The record that a feature is; `RowProblem` tells why it is none."""
    return _subscription(feature) if side == "subscription" else _message(feature)


def _features(file: DataFile) -> Iterator[Any]:
    with file.open_text() as text:
        document = _Document(text)
        try:
            yield from document.features()
        except (ValueError, RecursionError) as error:
            raise UnreadableFile(
                f"{file.path} is not a GeoJSON FeatureCollection: {error}"
            ) from None


class _Document:
    """The text of a JSON object, of which only the part around the next value is in memory."""

    def __init__(self, text: TextIO) -> None:
        self._text = text
        self._buffer = ""
        self._at = 0
        self._decode = json.JSONDecoder().raw_decode

    def features(self) -> Iterator[Any]:
        """The items of the list `features`, wherever in the object it is."""
        found = False
        self._take("{")
        if not self._skip("}"):
            while True:
                name = self._value()
                self._take(":")
                if name == "features":
                    found = True
                    yield from self._items()
                else:
                    self._value()
                if self._skip("}"):
                    break
                self._take(",")
        if self._peek():
            raise ValueError(f"there is more after its end, {self._peek()!r}; remove it")
        if not found:
            raise ValueError("it has no list 'features'; wrap a single feature in one")

    def _items(self) -> Iterator[Any]:
        self._take("[")
        if self._skip("]"):
            return
        while True:
            yield self._value()
            if self._skip("]"):
                return
            self._take(",")

    def _value(self) -> Any:
        """The next value. Text is added until it is whole, twice as much each time."""
        self._peek()
        wanted = _CHUNK
        while True:
            try:
                value, end = self._decode(self._buffer, self._at)
                # A number may go on behind the buffer, which may end within it: after "1." or "1e".
                following = self._buffer[end : end + 1]
                is_whole = following and (
                    not isinstance(value, int | float) or following in _AFTER_NUMBER
                )
                if is_whole or not self._read(wanted):
                    self._at = end
                    return value
            except json.JSONDecodeError as error:
                # Its own position counts from the buffer, which tells people nothing.
                near = self._buffer[error.pos : error.pos + 40]
                if not self._read(wanted):
                    raise ValueError(f"{error.msg} at {near or 'the end'!r}") from None
            wanted *= 2

    def _peek(self) -> str:
        """The next character that is not white space; empty at the end."""
        while True:
            while self._at < len(self._buffer):
                if self._buffer[self._at] not in _SPACE:
                    return self._buffer[self._at]
                self._at += 1
            if not self._read(_CHUNK):
                return ""

    def _skip(self, character: str) -> bool:
        if self._peek() != character:
            return False
        self._at += 1
        return True

    def _take(self, character: str) -> None:
        if not self._skip(character):
            raise ValueError(f"expected {character!r}, found {self._peek() or 'the end'!r}")

    def _read(self, characters: int) -> bool:
        more = self._text.read(characters)
        self._buffer = self._buffer[self._at :] + more
        self._at = 0
        return bool(more)


def _subscription(feature: Any) -> Record:
    properties, geometry, id = _of_feature(feature)
    region = geometry
    if geometry is not None and "radius" in properties:
        region = {
            "type": "Feature",
            "geometry": geometry,
            "properties": {"radius": properties["radius"]},
        }
    box = _bbox(feature, id) if geometry is None else {}
    return {"id": id, "keywords": properties.get("keywords"), "region": region, **box}


def _message(feature: Any) -> Record:
    properties, geometry, id = _of_feature(feature)
    words = {
        name: properties[name]
        for name in ("text", "keywords", "time", "expires")
        if name in properties
    }
    return {"id": id, **words, **_place(feature, geometry, id)}


def _of_feature(feature: Any) -> tuple[Mapping[str, Any], Mapping[str, Any] | None, object]:
    if not isinstance(feature, dict) or feature.get("type") != "Feature":
        kind = feature.get("type") if isinstance(feature, dict) else feature
        raise RowProblem(f"{kind!r} is not a Feature; a FeatureCollection is a list of Features")
    properties = feature.get("properties")
    if not isinstance(properties, dict):
        properties = {}
    id = feature.get("id", properties.get("id"))
    geometry = feature.get("geometry")
    if geometry is not None and not isinstance(geometry, dict):
        raise RowProblem(f"geometry {geometry!r} is not a GeoJSON geometry; give an object", id)
    return properties, geometry, id


def _place(feature: Mapping[str, Any], geometry: Mapping[str, Any] | None, id: object) -> Record:
    """A point, or the box that a rectangle or, without a geometry, the `bbox` is."""
    if geometry is None and (borders := _bbox(feature, id)):
        return borders
    kind = geometry.get("type") if geometry is not None else None
    coordinates = geometry.get("coordinates") if geometry is not None else None
    if kind == "Point" and isinstance(coordinates, list) and len(coordinates) >= 2:
        return {"lon": coordinates[0], "lat": coordinates[1]}
    if kind == "Polygon" and (box := _rectangle(coordinates)):
        return box
    raise RowProblem(
        f"a message is not at a {kind or 'missing geometry'} like this; "
        "give a Point with 2 coordinates, or a Polygon that is a box",
        id,
    )


def _bbox(feature: Mapping[str, Any], id: object) -> Record:
    """The borders that the `bbox` of a feature gives; none where it has no `bbox`."""
    bbox = feature.get("bbox")
    if bbox is None:
        return {}
    if not isinstance(bbox, list) or len(bbox) != 4:
        raise RowProblem(f"bbox {bbox!r} is not west, south, east, north; give 4 numbers", id)
    return dict(zip(BOX, bbox, strict=True))


def _rectangle(rings: Any) -> Record | None:
    """The box that a polygon with one ring is; None when it is another shape."""
    try:
        [ring] = rings
        corners = [(float(x), float(y)) for x, y, *_ in ring]
    except (TypeError, ValueError):
        return None
    if len(corners) < 4:
        return None
    if corners[0] == corners[-1]:
        corners.pop()
    west, east = min(x for x, _ in corners), max(x for x, _ in corners)
    south, north = min(y for _, y in corners), max(y for _, y in corners)
    around = [(west, south), (east, south), (east, north), (west, north)]
    first = around.index(corners[0]) if corners[0] in around else 0
    turned = around[first:] + around[:first]
    if corners in (turned, [turned[0], *reversed(turned[1:])]):
        return {"west": west, "south": south, "east": east, "north": north}
    return None
