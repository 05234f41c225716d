"""`IdTable` against a dict."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from nearcast.boolean.id_table import IdTable

INTEGERS = st.integers(-(2**63), 2**63 - 1) | st.integers(0, 30)
STRINGS = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)


class Table(RuleBasedStateMachine):
    """Ids of both kinds come and go; every slot stays that of its id."""

    def __init__(self):
        super().__init__()
        self.table = IdTable()
        self.slots = {}

    @rule(ids=st.one_of(st.lists(kind, unique=True, max_size=30) for kind in (INTEGERS, STRINGS)))
    def add(self, ids):
        new = [id_ for id_ in ids if id_ not in self.slots]
        slots = self.table.add(arrow(new)).tolist()
        assert len(set(slots)) == len(slots)
        assert not set(slots) & set(self.slots.values())
        # Vacant slots are used before new ones.
        assert max([*slots, *self.slots.values()], default=-1) < self.table.slots
        self.slots.update(zip(new, slots, strict=True))

    @rule(id_=INTEGERS | STRINGS)
    def add_one(self, id_):
        if id_ not in self.slots:
            slot = self.table.add_one(id_)
            assert slot not in self.slots.values()
            self.slots[id_] = slot

    @rule(data=st.data())
    def remove(self, data):
        if self.slots:
            live = sorted(self.slots, key=repr)
            gone = data.draw(st.lists(st.sampled_from(live), unique=True))
            self.table.remove(np.array([self.slots.pop(id_) for id_ in gone], np.int32))

    @rule(data=st.data())
    def remove_one(self, data):
        if self.slots:
            gone = data.draw(st.sampled_from(sorted(self.slots, key=repr)))
            self.table.remove_one(self.slots.pop(gone))

    @rule(ids=st.lists(INTEGERS, max_size=5) | st.lists(STRINGS, max_size=5))
    def find(self, ids):
        assert self.table.find(arrow(ids)).tolist() == [self.slots.get(id_, -1) for id_ in ids]
        assert [self.table.find_one(id_) for id_ in ids] == self.table.find(arrow(ids)).tolist()

    @rule()
    def save_and_load(self):
        arrays = {name: array.copy() for name, array in self.table.arrays().items()}
        self.table = IdTable.from_arrays(arrays)

    @invariant()
    def agrees(self):
        assert len(self.table) == len(self.slots)
        assert sorted(self.table.live_slots().tolist()) == sorted(self.slots.values())
        slots = np.array(list(self.slots.values()), np.int32)
        assert self.table.list_of(slots) == list(self.slots)
        column = self.table.ids_of(slots).to_pylist()
        if any(isinstance(id_, str) for id_ in self.slots):
            assert column == [str(id_) for id_ in self.slots]
        else:
            assert column == list(self.slots)
        for id_, slot in self.slots.items():
            assert self.table.id_of(slot) == id_


def arrow(ids):
    kind = pa.large_string() if ids and isinstance(ids[0], str) else pa.int64()
    return pa.array(ids, kind)


TestTable = Table.TestCase


@given(st.sampled_from([pa.int8(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64()]))
def test_integers_of_any_width(kind):
    table = IdTable()
    slots = table.add(pa.array([1, 2, 100], kind))
    assert table.find(pa.array([100, 1, 3])).tolist() == [slots[2], slots[0], -1]


def test_slots_are_used_again():
    table = IdTable()
    for turn in range(50):
        slots = table.add(pa.array(range(turn * 10, turn * 10 + 10)))
        assert table.slots == 10
        table.remove(slots)
    assert len(table) == 0


def test_churn_of_new_strings_stays_bounded():
    """A hundred live ids, a hundred thousand that came and went."""
    table = IdTable()
    slots = table.add(pa.array([f"subscriber number {i}" for i in range(100)]))
    sizes = []
    for turn in range(1, 1000):
        table.remove(slots)
        slots = table.add(pa.array([f"subscriber number {turn * 100 + i}" for i in range(100)]))
        sizes.append(table.nbytes)
    assert max(sizes) < 200_000
    assert table.find(pa.array(["subscriber number 99999", "subscriber number 5"])).tolist() == [
        slots[99],
        -1,
    ]


def test_churn_of_new_integers_stays_bounded():
    table = IdTable()
    slots = table.add(pa.array(np.arange(100)))
    sizes = []
    for turn in range(1, 1000):
        table.remove(slots)
        slots = table.add(pa.array(np.arange(turn * 100, turn * 100 + 100) * 2**40))
        sizes.append(table.nbytes)
    assert max(sizes) < 10_000
    assert table.find(pa.array([99_999 * 2**40, 5])).tolist() == [slots[99], -1]


def test_many_ids_that_hash_alike():
    """Ids that differ in their high bits only."""
    ids = np.arange(5000) << 44
    table = IdTable()
    slots = table.add(pa.array(ids))
    assert table.find(pa.array(ids)).tolist() == slots.tolist()
    assert (table.find(pa.array(ids + 1)) == -1).all()
