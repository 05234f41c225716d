"""Figures that concern regions (section 5.3)."""

from collections.abc import Iterator
from functools import partial

from benchmarks.figure import Panel, Ratio, Scale
from benchmarks.papers.trending.trending_figure import trending_figure
from benchmarks.trending.contenders import Contender, named
from benchmarks.trending.points import ARRIVING, MACHINE, PAPER, Point, settings_of, varied

_ALL = named("CellRows", "RST", "TP", "DS")
_INSERTING = ("insert_microseconds", "µs a subscription")
_MEMORY = ("bytes_per_subscription", "bytes a subscription")
_FULL = "synthetic"


def _by_time(scale: Scale) -> Iterator[Point]:
    usual = settings_of(scale).documents
    values = [(share * usual, share * usual) for share in (1, 2, 3)]
    return varied(scale, "documents", values, _ALL)


def _by_area(scale: Scale) -> Iterator[Point]:
    return varied(scale, "area", [(area, area) for area in (1.0, 10.0, 100.0, 1000.0)], _ALL)


def _by_k(scale: Scale) -> Iterator[Point]:
    return varied(scale, "k", [(k, k) for k in (1, 5, 10, 20, 30)], _ALL)


def _by_compactness(scale: Scale) -> Iterator[Point]:
    for data in scale.data:
        for share in (0.1, 0.3, 0.5, 0.7, 0.9):
            contender = Contender("RST", "RST (TPG)", {"compactness": share})
            yield Point(data, share, contender, settings_of(scale, data))


def _by_cells(scale: Scale) -> Iterator[Point]:
    for data in scale.data:
        for larger in (1, 2, 4, 8):
            for index in ("TP", "DS"):
                contender = Contender(index, index, {"cells_larger": larger})
                yield Point(data, larger, contender, settings_of(scale, data))


def _by_size(scale: Scale) -> Iterator[Point]:
    return varied(scale, "subscriptions", [(size, size) for size in scale.sizes], _ALL)


_figure = partial(trending_figure, MACHINE, PAPER)
_DOCUMENTS = Panel("a document comes", None, *ARRIVING, shows_limit=False)
_SUBSCRIPTIONS = Panel("a subscription comes", None, *_INSERTING, shows_limit=False)

FIGURES = (
    _figure(
        "fig-22",
        "Effect of time: documents (fig. 22) and subscriptions (fig. 23)",
        "documents before",
        "TPG about ten times as fast as DS, TP in between.",
        (_DOCUMENTS, _SUBSCRIPTIONS),
        _by_time,
        (
            Ratio(_FULL, "DS", "RST (TPG)", "about 10"),
            Ratio(_FULL, "TP", "CellRows", "not there"),
            Ratio(_FULL, "DS", "CellRows", "not there"),
        ),
    ),
    _figure(
        "fig-24",
        "Size of regions: documents (fig. 24) and subscriptions (fig. 25)",
        "square kilometres",
        "All grow with the area; TPG ten times as fast as DS.",
        (_DOCUMENTS, _SUBSCRIPTIONS),
        _by_area,
        (Ratio(_FULL, "DS", "RST (TPG)", "about 10"),),
    ),
    _figure(
        "fig-26",
        "Length of lists",
        "k",
        "TPG and TP grow slowly, DS grows fast.",
        (_DOCUMENTS,),
        _by_k,
        (
            Ratio(_FULL, "RST (TPG)", "RST (TPG)", "a little above 1", over_at=-1, under_at=0),
            Ratio(_FULL, "DS", "DS", "far above 1", over_at=-1, under_at=0),
        ),
    ),
    _figure(
        "fig-27",
        "How compact groups must be",
        "compactness (theta)",
        "0.5 is best.",
        (_DOCUMENTS,),
        _by_compactness,
        (Ratio(_FULL, "RST (TPG)", "RST (TPG)", "above 1", over_at=0, under_at=2),),
    ),
    _figure(
        "fig-28",
        "Size of grid cells",
        "times as large as regions",
        "Hardly matters; cells of 1 to 50 km.",
        (_DOCUMENTS,),
        _by_cells,
        (Ratio(_FULL, "TP", "TP", "about 1", over_at=-1, under_at=0),),
    ),
    _figure(
        "fig-29",
        "Scalability",
        "subscriptions",
        "Linear; 1.83M, 481k and 192k at 2,800 a minute for TPG, TP and DS.",
        (_DOCUMENTS, Panel("memory", None, *_MEMORY, shows_limit=False)),
        _by_size,
        (
            Ratio(_FULL, "TP", "RST (TPG)", "3.8"),
            Ratio(_FULL, "DS", "RST (TPG)", "9.5"),
        ),
    ),
)
