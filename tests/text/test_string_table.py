import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearcast.text._string_kernels import hash_bytes
from nearcast.text.string_table import StringTable

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
batches = st.lists(st.lists(words | st.sampled_from(["", "a", "b", "ü", "😀"])), max_size=6)


class DictTable:
    """The same in plain Python."""

    def __init__(self):
        self.numbers = {}

    def add(self, words):
        return [self.numbers.setdefault(word, len(self.numbers)) for word in words]

    def find(self, words):
        return [self.numbers.get(word, -1) for word in words]


def check_equal(table, expected):
    everything = list(expected.numbers)
    assert len(table) == len(everything)
    assert table.to_arrow().to_pylist() == everything
    assert table.find(everything).tolist() == list(range(len(everything)))
    assert [table.word(number) for number in range(len(table))] == everything


@given(batches, st.lists(words))
def test_agrees_with_a_dict(batches, others):
    table, expected = StringTable(), DictTable()
    for batch in batches:
        assert table.find(batch).tolist() == expected.find(batch)
        assert table.add(batch).tolist() == expected.add(batch)
    check_equal(table, expected)
    assert table.find(others).tolist() == expected.find(others)


@given(st.lists(words, min_size=1), st.data())
def test_takes_every_kind_of_arrow_strings(strings, data):
    expected = DictTable().add(strings)
    first = data.draw(st.integers(0, len(strings)))
    parts = [strings[:first], strings[first:]]
    for kind in (pa.string(), pa.large_string()):
        assert StringTable().add(pa.array(strings, kind)).tolist() == expected
        sliced = pa.array(["before", *strings, "after"], kind).slice(1, len(strings))
        assert StringTable().add(sliced).tolist() == expected
        assert StringTable().add(pa.chunked_array(parts, kind)).tolist() == expected


@pytest.mark.parametrize(
    "nothing", [[], pa.array([], pa.string()), pa.chunked_array([], pa.large_string())]
)
def test_nothing_gives_nothing(nothing):
    table = StringTable()
    assert table.add(nothing).tolist() == table.find(nothing).tolist() == []
    assert len(table) == 0
    assert table.to_arrow().to_pylist() == []


def test_many_strings_that_all_want_the_same_slot():
    slots = 1024  # at the load limit, 300 strings fit in fewer, so that all collide
    candidates = (f"word{i}" for i in range(10**9))
    colliding = []
    while len(colliding) < 300:
        word = next(candidates)
        encoded = np.frombuffer(word.encode(), np.uint8)
        if hash_bytes(encoded, 0, len(encoded)) % slots == 0:
            colliding.append(word)
    table, expected = StringTable(), DictTable()
    assert table.add(colliding[:250]).tolist() == expected.add(colliding[:250])
    assert table.find(colliding).tolist() == expected.find(colliding)
    assert table.add(colliding[::-1]).tolist() == expected.add(colliding[::-1])
    check_equal(table, expected)


def test_grows_by_many_and_by_one_and_by_one_long_string():
    table, expected = StringTable(), DictTable()
    many = pa.array([f"word {i % 30_000}" for i in range(50_000)])
    assert table.add(many).tolist() == expected.add(many.to_pylist())
    for word in ("x" * 1_000_000, "", "y"):
        assert table.add([word]).tolist() == expected.add([word])
    check_equal(table, expected)
    assert len(table) <= 0.6 * len(table.arrays()["slots"])
    assert table.nbytes == sum(array.nbytes for array in table.arrays().values())


@given(batches, batches)
def test_comes_back_from_its_arrays_and_can_be_extended(before, after):
    table, expected = StringTable(), DictTable()
    for batch in before:
        table.add(batch)
        expected.add(batch)
    again = StringTable.from_arrays(table.arrays())
    check_equal(again, expected)
    known = len(table)
    for batch in after:
        assert again.add(batch).tolist() == expected.add(batch)
    check_equal(again, expected)
    assert len(table) == known
    table.add(["still", "its own"])  # neither writes into the other
    check_equal(again, expected)


def test_extends_a_copy_on_write_memory_map_but_not_its_file(tmp_path):
    table, expected = StringTable(), DictTable()
    table.add([f"word {i}" for i in range(100)])
    expected.add([f"word {i}" for i in range(100)])
    for name, array in table.arrays().items():
        np.save(tmp_path / f"{name}.npy", array)
    saved = {path: path.read_bytes() for path in tmp_path.iterdir()}

    mapped = {path.stem: np.load(path, mmap_mode="c") for path in saved}
    again = StringTable.from_arrays(mapped)
    assert np.shares_memory(again.arrays()["slots"], mapped["slots"])
    check_equal(again, expected)
    for batch in (["new"], [""], [f"later {i}" for i in range(1000)]):
        assert again.add(batch).tolist() == expected.add(batch)
    check_equal(again, expected)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == saved


def test_extends_read_only_arrays(tmp_path):
    table = StringTable()
    table.add(["a", "b"])
    np.savez(tmp_path / "table.npz", **table.arrays())
    arrays = dict(np.load(tmp_path / "table.npz"))
    for array in arrays.values():
        array.flags.writeable = False
    assert StringTable.from_arrays(arrays).add(["b", "c"]).tolist() == [1, 2]


def test_to_arrow_stays_as_it_was_while_the_table_grows():
    table = StringTable()
    table.add(["a", "bc"])
    before = table.to_arrow()
    table.add([f"word {i}" for i in range(1000)])
    assert before.to_pylist() == ["a", "bc"]


def test_to_arrow_of_some():
    table = StringTable()
    numbers = table.add(["a", "", "ü", "a"])
    assert table.to_arrow(numbers).to_pylist() == ["a", "", "ü", "a"]
    assert table.to_arrow(numbers[:0]).to_pylist() == []


@pytest.mark.parametrize("number", [-1, 1])
def test_a_number_outside_is_refused(number):
    table = StringTable()
    table.add(["a"])
    with pytest.raises(IndexError, match=f"string {number} is not in a table of 1 strings"):
        table.word(number)


@pytest.mark.parametrize("words", [["a", None], pa.array(["a", None])])
def test_null_is_refused(words):
    with pytest.raises(ValueError, match="1 of 2 strings are null; drop them first"):
        StringTable().add(words)
