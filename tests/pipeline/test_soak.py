"""The order of the rounds of `python -m tests.soak`, and when a run of them has failed."""

import shlex
from collections import Counter
from itertools import islice
from types import SimpleNamespace

import pytest

from tests.soak.__main__ import _options, _rounds, main
from tests.soak.rounds import (
    CLUSTER,
    CYCLE,
    FILES,
    LOCAL,
    PROMISED,
    RESULTS,
    SERVICE,
    Round,
    in_turn,
)


@pytest.mark.parametrize("seed", range(12))
def test_a_cycle_has_every_kind_of_stream(seed):
    rounds = [*islice(in_turn(seed, 20), len(CYCLE))]
    kinds = {(each.what, each.results is not None) for each in rounds}
    spark = {(master, has_results) for master in (LOCAL, CLUSTER) for has_results in (False, True)}
    assert kinds == spark | {(FILES, False), (FILES, True), (SERVICE, False)}
    assert {each.results for each in rounds if each.what == FILES} == {None, *RESULTS}
    plain = [each for each in rounds if each.results is None and each.what != SERVICE]
    assert len({each.partitioning for each in plain}) == 3


@pytest.mark.parametrize("place", range(len(CYCLE)))
def test_in_the_end_each_round_has_had_everything(place):
    rounds = [*islice(in_turn(3, 20), place, 12 * len(CYCLE), len(CYCLE))]
    ways = {(each.partitioning, each.results) for each in rounds}
    assert len(ways) == (12 if CYCLE[place][1] else 3)


def test_what_is_printed_plays_a_round_again():
    for one in islice(in_turn(5, 7), 3 * len(CYCLE)):
        words = shlex.split(one.command)
        assert words[:3] == ["python", "-m", "tests.soak"]
        assert next(_rounds(_options(words[3:]))) == one


@pytest.fixture
def spared(monkeypatch):
    """Nothing is played; every round kills all but what is in this set."""
    kept = set()

    def play(round, folder):
        kills = Counter(dict.fromkeys(PROMISED - kept, 1) | dict.fromkeys(kept, 0))
        return SimpleNamespace(problems=[], kills=kills, faults=Counter())

    monkeypatch.setattr(Round, "play", play)
    # The time is up when it begins.
    monkeypatch.setattr("tests.soak.__main__.MINUTES_OF_A_CYCLE", 0)
    return kept


def test_a_run_that_has_killed_all_is_good(spared, capsys):
    assert main(["--minutes", "0"]) == 0
    assert "nothing lost, nothing twice" in capsys.readouterr().out


def test_a_run_that_never_killed_a_kind_has_failed(spared, capsys):
    spared |= {"keeper", "java"}
    assert main(["--minutes", "0"]) == 1
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == f"never killed in {len(CYCLE)} rounds: java, keeper; more --kills do"


def test_a_short_run_promises_nothing(spared, monkeypatch):
    monkeypatch.setattr("tests.soak.__main__.MINUTES_OF_A_CYCLE", 20)
    spared |= {"keeper"}
    assert main(["--minutes", "0"]) == 0
    assert main(["--minutes", "0", "--round", LOCAL, "--results", "cells"]) == 0
