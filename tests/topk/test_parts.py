"""Parts of lists as columns say what they say one by one."""

from math import nextafter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearcast.pipeline.hosted.spread.merging import merged
from nearcast.topk.list_change import list_change, starts
from nearcast.topk.parts import PartChanges, Parts

SCORES = st.sampled_from([0.0, 0.25, 0.5, 1.0])


def rounded(score, away):
    return st.sampled_from([score, nextafter(score, away)])


def columns(parts):
    rows = [row for part in parts for row in part]
    ids, scores, numbers = zip(*rows, strict=True) if rows else ((), (), ())
    return Parts(
        starts([len(part) for part in parts]),
        pa.array(ids, pa.string()),
        np.array(scores, np.float64),
        np.array(numbers, np.int64),
    )


@st.composite
def parts_of_lists(draw):
    """Lists, each with parts of one to four shards that share messages."""
    lists = []
    for _ in range(draw(st.integers(0, 4))):
        known = {n: draw(SCORES) for n in draw(st.sets(st.integers(0, 12)))}
        shards = []
        for _ in range(draw(st.integers(1, 4))):
            mine = draw(st.sets(st.sampled_from(sorted(known)))) if known else set()
            away = draw(st.sampled_from([2.0, -2.0]))  # shards round in different ways
            rows = [(f"m{n}", draw(rounded(known[n], away)), n) for n in mine]
            shards.append(tuple(sorted(rows, key=lambda row: (-row[1], -row[2]))))
        lists.append(shards)
    return lists


@given(parts_of_lists(), st.integers(1, 6), st.randoms())
def test_the_best_of_many_parts(lists, k, random):
    parts = [(owner, part) for owner, mine in enumerate(lists) for part in mine]
    random.shuffle(parts)
    owners = np.array([owner for owner, _ in parts], np.int64)
    found = columns([part for _, part in parts]).best(owners, np.full(len(lists), k))
    assert len(found) == len(lists)
    for n, mine in enumerate(lists):
        part, right = found.part(n), merged(mine, k)
        assert len({id for id, _, _ in part}) == len(part) == len(right)
        assert [score for _, score, _ in part] == pytest.approx([score for _, score, _ in right])
        assert [*part] == sorted(part, key=lambda row: (-row[1], -row[2]))
        assert set(part) <= {row for shard in mine for row in shard}
    lowest = [
        part[k - 1][1] if len(part) >= k else -1.0 for part in map(found.part, range(len(lists)))
    ]
    assert found.lowest(np.full(len(lists), k)).tolist() == lowest


@given(parts_of_lists(), st.randoms())
def test_what_is_told_of_many_lists(lists, random):
    before = [merged(mine, 5) for mine in lists]
    after = [merged(random.sample(mine, random.randint(0, len(mine))), 4) for mine in lists]
    ids = [f"s{n}" for n in range(len(lists))]
    rows, told = PartChanges(pa.array(ids, pa.string()), columns(before), columns(after)).as_lists()
    changes = [
        list_change(id, *(tuple((m, round(score, 9)) for m, score, _ in part) for part in both))
        for id, *both in zip(ids, before, after, strict=True)
    ]
    expected = [change for change in changes if change]
    assert [ids[row] for row in rows] == [change.subscription_id for change in expected]
    assert told.subscription_ids.to_pylist() == [change.subscription_id for change in expected]
    items, scores = told.message_ids.to_pylist(), told.scores.tolist()
    left = told.left.to_pylist()
    for n, change in enumerate(expected):
        mine = slice(told.start[n], told.start[n + 1])
        assert items[mine] == [id for id, _ in change.results]
        assert scores[mine] == pytest.approx([score for _, score in change.results])
        new = [id for id, is_new in zip(items[mine], told.is_new[mine], strict=True) if is_new]
        assert tuple(new) == change.entered
        assert tuple(left[told.left_start[n] : told.left_start[n + 1]]) == change.left


@pytest.mark.parametrize(
    "parts", [[], [()], [(("a", 0.5, 1),), (), (("b", 0.5, 3), ("a", 0.1, 1))]]
)
def test_parts_travel_as_bytes(parts):
    there = Parts.of_bytes(columns(parts).to_bytes(pa.string()))
    assert [there.part(n) for n in range(len(there))] == parts
