"""The room's own benchmarks, tiny: the numbers mean nothing, their form does."""

import json
from dataclasses import dataclass

import pytest

import nearcast.boolean as room
from benchmarks.__main__ import main
from benchmarks.boolean import extreme_cases, grid, recommend
from benchmarks.boolean.grid_table import measured_cells, write_table
from benchmarks.contenders import DEFAULT
from benchmarks.plot import plot_folder

TINY = ("--subscriptions", "60", "--messages", "10")


def run(name, folder, *options):
    path = folder / "out.json"
    code = main(["run", name, *TINY, *options, "--json", str(path)])
    return code, json.loads(path.read_text()) if path.exists() else []


def test_the_grid_is_measured_and_drawn(tmp_path):
    indexes = ("--index", f"{DEFAULT},TrieQuadtree")
    code, rows = run(grid.NAME, tmp_path, *indexes, "--data", "synthetic", "--only", "keywords")
    assert code == 0
    cells = measured_cells(rows)
    assert len(cells) == 10  # 1 to 5 keywords, point and range messages
    for cell in cells:
        assert set(cell.times) == {DEFAULT, "TrieQuadtree"}
        assert cell.ratio == cell.times["TrieQuadtree"] / cell.times[DEFAULT]
        assert cell.limit > 0
    assert [path.name for path in plot_folder(tmp_path)] == ["boolean-grid.png", "boolean-grid.md"]
    assert f"of {len(cells)} cells" in (tmp_path / "boolean-grid.md").read_text()


def test_the_table_says_where_the_default_loses():
    place = {"data": "gnis", "group": "keywords, point messages", "x": 3, "subscriptions": 9}
    rows = [
        {**place, "index": index, "microseconds_per_message": time}
        for index, time in ((DEFAULT, 4.0), ("ScanIndex", 1.0))
    ]
    page = write_table(rows)
    assert f"{DEFAULT} is the fastest in 0 of 1 cells" in page
    assert "It loses in: gnis, keywords, point messages, 3 (ScanIndex, 0.25)" in page


def test_nothing_with_that_text_is_wrong_usage(tmp_path, capsys):
    assert run(grid.NAME, tmp_path, "--only", "colours")[0] == 2
    assert "nothing to measure with 'colours' in its group" in capsys.readouterr().err


def test_extremes_say_how_much_longer_twice_the_size_takes(tmp_path):
    code, rows = run("boolean-extremes", tmp_path, "--index", DEFAULT)
    assert code == 0
    assert len(rows) == 2 * len(extreme_cases.CASES)
    assert all(row["answers_checked_against_oracle"] > 0 for row in rows)
    for half, whole in zip(rows[::2], rows[1::2], strict=True):
        assert "growth" not in half["details"]
        growth = whole["details"]["growth"]["µs/message"]
        assert growth == whole["microseconds_per_message"] / half["microseconds_per_message"]
    names = [path.name for path in plot_folder(tmp_path)]
    assert names == ["boolean-extremes.png", "boolean-extremes.md"]


def test_the_extreme_cases_are_what_they_say():
    identical = extreme_cases.identical_subscriptions(0, 4).subscriptions
    first = identical.subscription(0)
    assert {identical.subscription(i).expression for i in range(4)} == {first.expression}
    assert {identical.subscription(i).region for i in range(4)} == {first.region}
    everywhere = extreme_cases.one_word_everywhere(0, 6)
    for row in range(10):
        assert extreme_cases.WORD in everywhere.messages.message(row).keywords
    for row in range(6):
        [clause] = everywhere.subscriptions.subscription(row).expression.clauses
        assert extreme_cases.WORD in clause.required
        assert (len(clause.required) == 1) == (row % 2 == 0)
    world = extreme_cases.world_regions(0, 3).subscriptions.subscription(2).region
    assert (world.west, world.south, world.east, world.north) == (-180, -90, 180, 90)
    wide = extreme_cases.long_subscriptions(1_000, 20).subscriptions
    assert [len(clause.required) for clause in wide.subscription(0).expression.clauses] == [20]


def test_churn_keeps_the_size_and_compares_with_the_first_sample(tmp_path):
    code, rows = run("boolean-churn", tmp_path, "--index", DEFAULT, "--seconds", "1")
    assert code == 0
    assert [row["subscriptions"] for row in rows] == [60, 60, 60]
    first, _, last = rows
    assert last["answers_checked_against_oracle"] > 0
    assert last["details"]["rss_ratio"] == last["rss_bytes"] / first["rss_bytes"]
    assert last["details"]["changes"] > first["details"]["changes"] > 0
    assert [path.name for path in plot_folder(tmp_path)] == ["boolean-churn.png"]


@pytest.mark.parametrize("name", ["boolean-extremes", "boolean-churn"])
def test_only_synthetic_data_has_extremes_and_churn(name, tmp_path, capsys):
    assert run(name, tmp_path, "--data", "gnis")[0] == 2
    assert "nothing to measure on gnis" in capsys.readouterr().err


@dataclass
class Advice:
    index: str
    reason: str
    costs: dict[str, float]


def test_recommendations_are_compared_with_what_was_measured(tmp_path, monkeypatch):
    def always_trie(subscriptions, messages):
        return Advice("TrieQuadtree", "it rhymes", {"TrieQuadtree": 1.0, DEFAULT: 2.0})

    monkeypatch.setattr(room, "recommend", always_trie, raising=False)
    options = ("--index", f"{DEFAULT},TrieQuadtree", "--data", "synthetic", "--only", "region")
    code, rows = run(recommend.NAME, tmp_path, *options)
    assert code == 0
    asked = [row for row in rows if row["index"] == "recommend"]
    assert len(asked) == 6
    for row in asked:
        times = {
            other["index"]: other["microseconds_per_message"]
            for other in rows
            if (other["group"], other["x"]) == (row["group"], row["x"])
            and other["index"] in (DEFAULT, "TrieQuadtree")
        }
        assert row["microseconds_per_message"] == times["TrieQuadtree"]
        loss = times["TrieQuadtree"] / min(times.values()) - 1
        assert row["details"]["loss"] == pytest.approx(loss)
    [page] = plot_folder(tmp_path)
    assert "of 6 workloads" in page.read_text()
