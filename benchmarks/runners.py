"""Which function measures a benchmark, and how large it is for the options given."""

import argparse
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

from benchmarks import moving, scale, topk, trending
from benchmarks.boolean import churn, extremes, recommend
from benchmarks.contenders import ROOM
from benchmarks.figure import Figure, Scale
from benchmarks.moving import memory as moving_memory
from benchmarks.moving.contenders import ROOM as MOVING_ROOM
from benchmarks.papers import ap_plus_tree, skype
from benchmarks.papers import trending as trending_paper
from benchmarks.records import Record
from benchmarks.run import Keep, run_points
from benchmarks.topk import distributions
from benchmarks.trending import memory as trending_memory
from benchmarks.trending import steady as trending_steady
from benchmarks.trending.contenders import ROOM as TRENDING_ROOM
from benchmarks.workloads import DATA

Runner = Callable[[Figure, argparse.Namespace, Keep], list[Record]]


def run_figure(figure: Figure, options: argparse.Namespace, keep: Keep) -> list[Record]:
    """Measure what the options ask for; `keep` gets the records so far."""
    return _RUNNERS.get(figure.name, _run_points)(figure, options, keep)


def _run_points(figure: Figure, options: argparse.Namespace, keep: Keep) -> list[Record]:
    scale = _scale(figure, options)
    points = _choose(figure, scale, options)
    return run_points(figure.name, points, keep, pass_seconds=scale.pass_seconds)


def _run_recommend(figure: Figure, options: argparse.Namespace, keep: Keep) -> list[Record]:
    scale = _scale(figure, options)
    points = _choose(figure, scale, options)
    return recommend.run_recommend(points, keep, pass_seconds=scale.pass_seconds)


def _run_extremes(figure: Figure, options: argparse.Namespace, keep: Keep) -> list[Record]:
    _only_data(figure, options)
    scale = _scale(figure, options)
    usual = [name for name in ROOM if name != "ScanIndex"] if options.full else extremes.USUAL
    indexes = _indexes(figure, options, ROOM, usual)
    return extremes.run_extremes(
        indexes, scale.subscriptions, keep, pass_seconds=scale.pass_seconds
    )


def _run_churn(figure: Figure, options: argparse.Namespace, keep: Keep) -> list[Record]:
    _only_data(figure, options)
    indexes = _indexes(figure, options, ROOM, extremes.USUAL)
    seconds = churn.FULL_SECONDS if options.full else churn.MACHINE_SECONDS
    subscriptions = _scale(figure, options).subscriptions
    return churn.run_churn(indexes, subscriptions, options.seconds or seconds, keep)


def _run_pipeline(figure: Figure, options: argparse.Namespace, keep: Keep) -> list[Record]:
    _indexes(figure, options, ("APTree",), ())
    from benchmarks.pipeline.run import Sizes, run_pipeline  # starts with loading Spark

    sizes = Sizes.at_most(options.subscriptions, options.messages, is_full=options.full)
    return run_pipeline(sizes, options.data or DATA[0], options.only, keep)


def _run_service(figure: Figure, options: argparse.Namespace, keep: Keep) -> list[Record]:
    _indexes(figure, options, ("APTree",), ())
    from benchmarks.service.run import Load, run_service

    load = Load(subscriptions=options.subscriptions or Load.subscriptions)
    return run_service(load, options.data or DATA[0], keep)


def _run_topk(figure: Figure, options: argparse.Namespace, keep: Keep) -> list[Record]:
    from benchmarks.topk.measure import run_points  # loads the indexes

    return run_points(figure.name, _choose(figure, _scale(figure, options), options), keep)


def _run_distributions(figure: Figure, options: argparse.Namespace, keep: Keep) -> list[Record]:
    from benchmarks.topk.measure_distributions import run_distributions  # loads the indexes

    return run_distributions(figure.name, _choose(figure, _scale(figure, options), options), keep)


def _run_trending(figure: Figure, options: argparse.Namespace, keep: Keep) -> list[Record]:
    from benchmarks.trending.measure import run_points  # loads the indexes

    return run_points(figure.name, _choose(figure, _scale(figure, options), options), keep)


def _run_trending_memory(figure: Figure, options: argparse.Namespace, keep: Keep) -> list[Record]:
    _only_data(figure, options)
    scale = _scale(figure, options)
    indexes = _indexes(figure, options, TRENDING_ROOM, trending_memory.INDEXES)
    return trending_memory.run_memory(indexes, scale.subscriptions, scale.messages, keep)


def _run_trending_steady(figure: Figure, options: argparse.Namespace, keep: Keep) -> list[Record]:
    _only_data(figure, options)
    scale = _scale(figure, options)
    indexes = _indexes(figure, options, TRENDING_ROOM, trending_steady.INDEXES)
    return trending_steady.run_steady(indexes, scale.subscriptions, scale.messages, keep)


def _run_moving(figure: Figure, options: argparse.Namespace, keep: Keep) -> list[Record]:
    from benchmarks.moving.measure import run_points  # loads the indexes

    return run_points(figure.name, _choose(figure, _scale(figure, options), options), keep)


def _run_moving_memory(figure: Figure, options: argparse.Namespace, keep: Keep) -> list[Record]:
    _only_data(figure, options)
    scale = _scale(figure, options)
    indexes = _indexes(figure, options, MOVING_ROOM, moving_memory.INDEXES)
    return moving_memory.run_memory(indexes, scale.subscriptions, scale.messages, keep)


def _run_scale(figure: Figure, options: argparse.Namespace, keep: Keep) -> list[Record]:
    _only_data(figure, options)
    _indexes(figure, options, (), ())
    from benchmarks.scale.run import run_scale  # loads the indexes and Spark

    return run_scale(keep, options.subscriptions, options.messages, options.only)


_RUNNERS: dict[str, Runner] = {
    moving.NAME: _run_moving,
    moving_memory.NAME: _run_moving_memory,
    **dict.fromkeys(ap_plus_tree.MOVING, _run_moving),
    **dict.fromkeys([*topk.FIGURES, *skype.FIGURES], _run_topk),
    **dict.fromkeys([distributions.NAME, *skype.DISTRIBUTED], _run_distributions),
    trending.NAME: _run_trending,
    trending_memory.NAME: _run_trending_memory,
    trending_steady.NAME: _run_trending_steady,
    **dict.fromkeys(trending_paper.FIGURES, _run_trending),
    "pipeline": _run_pipeline,
    "service": _run_service,
    scale.NAME: _run_scale,
    extremes.NAME: _run_extremes,
    churn.NAME: _run_churn,
    recommend.NAME: _run_recommend,
}


def _scale(figure: Figure, options: argparse.Namespace) -> Scale:
    scale = figure.paper if options.full else figure.machine
    if options.subscriptions:
        only = options.subscriptions
        scale = replace(scale, subscriptions=only, sizes=(only,), inserted=only)
    return replace(
        scale,
        messages=options.messages or scale.messages,
        data=(options.data,) if options.data else scale.data,
    )


def _choose(figure: Figure, scale: Scale, options: argparse.Namespace) -> list[Any]:
    """The points of the wanted classes and groups."""
    points = list(figure.points(scale))
    if points:
        present = sorted({point.contender.index for point in points})
        wanted = _indexes(figure, options, present, present)
        points = [point for point in points if point.contender.index in wanted]
    if options.only:
        points = [point for point in points if options.only in point.group]
    if not points:
        raise ValueError(f"{figure.name} has nothing to measure{_limited(options)}")
    return points


def _limited(options: argparse.Namespace) -> str:
    data = f" on {options.data}" if options.data else ""
    return data + (f" with {options.only!r} in its group" if options.only else "")


def _indexes(
    figure: Figure, options: argparse.Namespace, present: Collection[str], usual: Sequence[str]
) -> list[str]:
    """The classes that were asked for, or else the usual ones."""
    wanted = options.index.split(",") if options.index else list(usual)
    for index in wanted:
        if index not in present:
            known = ", ".join(sorted(present))
            raise ValueError(f"{figure.name} has no index {index!r}; it has {known}")
    return wanted


def _only_data(figure: Figure, options: argparse.Namespace) -> None:
    if options.data not in (None, DATA[0]):
        raise ValueError(f"{figure.name} has nothing to measure on {options.data}; use {DATA[0]}")
