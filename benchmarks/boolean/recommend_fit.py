"""Fit the constants of `nearcast.boolean.index_costs` to measurements, and print them.

    python -m benchmarks run boolean-grid --json measured.json
    python -m benchmarks.boolean.recommend_fit measured.json [more.json ...]

Each index gets the few terms that explain its times best, found one by one while they still help
on workloads they were not fitted to. Errors are relative: 10% of a microsecond counts as much as
10% of a millisecond. Constants are never negative, since nothing takes less than no time.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.workloads import Settings, make
from nearcast.boolean.index_costs import TERMS
from nearcast.boolean.workload_statistics import WorkloadStatistics, measure_workload

MOST_TERMS = 6
_GAIN = 0.97  # a term stays when it makes the error so many times as large, or smaller
_ROUNDS = 100  # of coordinate descent
_STEPS = 6  # of weighing
_RIDGE = 1e-3  # of two terms that say the same, each gets a part
_FOLDS = 5
_SCANNED = "subscription"  # only a scan, whose constants are made by hand, looks at every one
_LEAST = 0.5  # a message that meets nothing takes this share of the least time measured, or more

Floats = NDArray[np.float64]
Times = dict[Settings, dict[str, float]]


def read_times(rows: Sequence[dict[str, Any]]) -> Times:
    """Microseconds a message by workload and index."""
    names = {field.name for field in fields(Settings)}
    times: Times = {}
    for row in rows:
        if row["index"] in ("limit", "recommend"):
            continue
        chosen = {name: value for name, value in row["workload"].items() if name in names}
        pairs = {name: tuple(chosen[name]) for name in ("words", "area")}
        # A stand-in is called "synthetic instead of" the data it stands in for.
        settings = Settings(
            **{**chosen, **pairs}, data=row["data"].split()[-1], subscriptions=row["subscriptions"]
        )
        times.setdefault(settings, {})[row["index"]] = row["microseconds_per_message"]
    return times


@cache
def statistics_of(settings: Settings) -> WorkloadStatistics:
    """What `recommend` would see: the subscriptions, and messages from before the measured ones."""
    workload = make(settings)
    return measure_workload(workload.subscriptions, workload.history)


def fit(statistics: Sequence[WorkloadStatistics], times: Sequence[float]) -> dict[str, float]:
    """Microseconds for one of each term that helps; the others are left out."""
    wanted = np.array(times)
    amounts = {
        name: np.array([term.amount(at) for at in statistics]) for name, term in TERMS.items()
    }
    chosen = ["message"]
    error = _held_out_error(_columns(amounts, chosen), wanted)
    while len(chosen) < MOST_TERMS:
        tried = {
            name: _held_out_error(_columns(amounts, [*chosen, name]), wanted)
            for name in TERMS
            if name not in chosen and name != _SCANNED
        }
        best = min(tried, key=tried.__getitem__)
        if tried[best] > _GAIN * error:
            break
        chosen.append(best)
        error = tried[best]
    constants = _solve(_columns(amounts, chosen), wanted)
    return {name: float(f"{c:.3g}") for name, c in zip(chosen, constants, strict=True) if c > 0}


def _columns(amounts: dict[str, Floats], names: Sequence[str]) -> Floats:
    return np.column_stack([amounts[name] for name in names])


def _held_out_error(columns: Floats, wanted: Floats) -> float:
    """The mean factor, as a logarithm, by which workloads that were left out are missed."""
    fold = np.arange(len(wanted)) % _FOLDS
    missed = np.empty(len(wanted))
    for i in range(_FOLDS):
        out = fold == i
        constants = _solve(columns[~out], wanted[~out])
        found = np.maximum(columns[out] @ constants, 1e-3 * wanted[out])
        missed[out] = np.log(found / wanted[out])
    return float(np.sqrt(np.mean(missed**2)))


def _solve(columns: Floats, wanted: Floats) -> Floats:
    """Constants >= 0 that miss by the least factor.

    A too small time is as wrong as a too large one: what is missed is weighed by the geometric mean
    of the wanted time and the one found in the step before.
    """
    found = wanted
    least = np.zeros(columns.shape[1])
    least[0] = _LEAST * wanted.min()  # the first term is the message itself
    for _ in range(_STEPS):
        constants = _least_squares(columns, wanted, 1 / np.sqrt(wanted * found), least)
        found = np.maximum(columns @ constants, 0.1 * wanted)
    return constants


def _least_squares(columns: Floats, wanted: Floats, weights: Floats, least: Floats) -> Floats:
    """By coordinate descent, which keeps each constant from falling below its least value."""
    weighted = columns * weights[:, None]
    size = np.sqrt((weighted**2).sum(axis=0)) + 1e-300
    unit = weighted / size
    products, target = unit.T @ unit, unit.T @ (wanted * weights)
    constants = least * size
    for _ in range(_ROUNDS):
        for i in range(len(constants)):
            rest = target[i] - products[i] @ constants + products[i, i] * constants[i]
            constants[i] = max(least[i] * size[i], rest / (products[i, i] + _RIDGE))
    solved: Floats = constants / size
    return solved


def main(paths: Sequence[str]) -> None:
    rows = [row for path in paths for row in json.loads(Path(path).read_text())]
    times = read_times(rows)
    for index in dict.fromkeys(index for by_index in times.values() for index in by_index):
        measured = {at: by_index[index] for at, by_index in times.items() if index in by_index}
        constants = fit([statistics_of(at) for at in measured], list(measured.values()))
        print(f'    "{index}": {json.dumps(constants)},')


if __name__ == "__main__":
    main(sys.argv[1:])
