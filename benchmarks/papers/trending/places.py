"""Figures that concern people at places (section 5.2)."""

from collections.abc import Iterable, Iterator
from functools import partial

from benchmarks.figure import Panel, Ratio, Scale
from benchmarks.papers.trending.trending_figure import trending_figure
from benchmarks.trending.contenders import ROOM, Contender, named
from benchmarks.trending.points import (
    ARRIVING,
    NEARBY_MACHINE,
    NEARBY_PAPER,
    Point,
    nearby_settings_of,
    varied,
)

_PAPER = named("SST", "FTS", "TS")
_ALL = (*named("TermFields"), *_PAPER)
_DATA = "synthetic"
_KILOMETRE = 1_000.0


def _by_time(scale: Scale) -> Iterator[Point]:
    return varied(scale, "documents", _times(scale), _ALL)


def _times(scale: Scale) -> list[tuple[float | str, int]]:
    usual = nearby_settings_of(scale).documents
    return [(share * usual, share * usual) for share in (1, 2, 3)]


def _by_k(scale: Scale) -> Iterator[Point]:
    contenders = (*_ALL, *named("NearbyBaseline"))
    return varied(scale, "k", [(k, k) for k in (1, 5, 10, 20, 30)], contenders)


def _by_nearness(scale: Scale) -> Iterator[Point]:
    """The paper's alpha, from a hundred-thousandth to a tenth of the largest distance."""
    values = [(a, a * _KILOMETRE) for a in (0.2, 2.0, 20.0, 200.0, 2_000.0)]
    return varied(scale, "a", values, _ALL)


def _by_parameter(
    scale: Scale, indexes: Iterable[str], name: str, values: Iterable[tuple[float, float]]
) -> Iterator[Point]:
    """A parameter takes several values, each given with its x."""
    for data in scale.data:
        for x, value in values:
            for index in indexes:
                contender = Contender(index, ROOM[index].series, {name: value})
                yield Point(data, x, contender, nearby_settings_of(scale, data))


def _by_group_width(scale: Scale) -> Iterator[Point]:
    widths = [(width, width * _KILOMETRE) for width in (50.0, 100.0, 150.0, 200.0)]
    return _by_parameter(scale, ("SST", "FTS"), "group_width", widths)


def _by_decay(scale: Scale) -> Iterator[Point]:
    values = [(share, share) for share in (0.1, 0.3, 0.5, 0.7, 0.9)]
    return varied(scale, "decaying_scale", values, _ALL)


def _by_capacity(scale: Scale) -> Iterator[Point]:
    return _by_parameter(
        scale, ("SST",), "cell_capacity", [(size, size) for size in (16, 32, 64, 128)]
    )


def _by_size(scale: Scale) -> Iterator[Point]:
    return varied(scale, "subscriptions", [(size, size) for size in scale.sizes], _ALL)


def _by_time_on_roads(scale: Scale) -> Iterator[Point]:
    """`a` is about a thousandth of the map."""
    return varied(scale, "documents", _times(scale), _PAPER, follows_roads=True, a=10.0)


_figure = partial(trending_figure, NEARBY_MACHINE, NEARBY_PAPER)
_DOCUMENTS = Panel("a document comes", None, *ARRIVING, shows_limit=False)
_MANY_DOCUMENTS = Panel("a document comes", None, *ARRIVING, logarithmic_x=True, shows_limit=False)
_SUBSCRIPTIONS = Panel(
    "a subscription comes", None, "insert_microseconds", "µs a subscription", shows_limit=False
)

FIGURES = (
    _figure(
        "fig-13",
        "Effect of time: documents (fig. 13) and subscriptions (fig. 14)",
        "documents before",
        "TS grows, FTS and HSFTS stay; on FSD 70, 20 and 6 ms a document.",
        (_DOCUMENTS, _SUBSCRIPTIONS),
        _by_time,
        (
            Ratio(_DATA, "TS", "SST (HSFTS)", "about 12"),
            Ratio(_DATA, "FTS", "SST (HSFTS)", "about 3"),
            Ratio(_DATA, "TS", "TermFields", "not there"),
            Ratio(_DATA, "FTS", "TermFields", "not there"),
        ),
    ),
    _figure(
        "fig-15",
        "Length of lists",
        "k",
        "Baseline, which sorts lists again, grows fast, the others slowly.",
        (_DOCUMENTS,),
        _by_k,
        (Ratio(_DATA, "Baseline", "TS", "above 1, for long lists", over_at=-1, under_at=-1),),
    ),
    _figure(
        "fig-16",
        "How much nearness counts",
        "a (alpha) in kilometres",
        "TS does not care; FTS and HSFTS are faster the smaller it is.",
        (_MANY_DOCUMENTS,),
        _by_nearness,
        (
            Ratio(_DATA, "TS", "TS", "about 1", over_at=-1, under_at=0),
            Ratio(_DATA, "SST (HSFTS)", "SST (HSFTS)", "above 1", over_at=-1, under_at=0),
        ),
    ),
    _figure(
        "fig-17",
        "How wide groups of documents are",
        "kilometres (Tdist)",
        "100 km is best on tweets.",
        (_DOCUMENTS,),
        _by_group_width,
        (Ratio(_DATA, "FTS", "FTS", "above 1", over_at=0, under_at=1),),
    ),
    _figure(
        "fig-18",
        "How fast documents fade",
        "decaying scale",
        "All take less the higher it is, TS hardly.",
        (_DOCUMENTS,),
        _by_decay,
        (Ratio(_DATA, "SST (HSFTS)", "SST (HSFTS)", "below 1", over_at=-1, under_at=0),),
    ),
    _figure(
        "fig-19",
        "How many subscriptions a cell has",
        "subscriptions (M)",
        "32 is best.",
        (_DOCUMENTS,),
        _by_capacity,
        (Ratio(_DATA, "SST (HSFTS)", "SST (HSFTS)", "above 1", over_at=-1, under_at=1),),
    ),
    _figure(
        "fig-20",
        "Scalability",
        "subscriptions",
        "With 10M 630, 43 and 22 documents a minute for HSFTS, FTS and TS; HSFTS takes 10 to 15% "
        "more memory than TS.",
        (
            _DOCUMENTS,
            Panel("rate", None, "messages_per_second", "documents a second", shows_limit=False),
            Panel(
                "memory", None, "bytes_per_subscription", "bytes a subscription", shows_limit=False
            ),
        ),
        _by_size,
        (
            Ratio(_DATA, "TS", "SST (HSFTS)", "29 to 35"),
            Ratio(_DATA, "FTS", "SST (HSFTS)", "15 to 18"),
        ),
    ),
    _figure(
        "fig-21",
        "Effect of time, with distances along roads",
        "documents before",
        "A little slower than straight distances; the paper keeps the distances of all pairs.",
        (_DOCUMENTS,),
        _by_time_on_roads,
        (
            Ratio(_DATA, "TS", "SST (HSFTS)", "as with straight distances"),
            Ratio(_DATA, "FTS", "SST (HSFTS)", "as with straight distances"),
        ),
    ),
)
