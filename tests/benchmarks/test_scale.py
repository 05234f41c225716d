"""The benchmark of scale, tiny: the numbers mean nothing; the model and the form of records do."""

import json
from dataclasses import replace

import numpy as np
import pytest

from benchmarks import scale
from benchmarks.__main__ import main
from benchmarks.oracle import WrongAnswerError
from benchmarks.plot import plot_folder
from benchmarks.scale import law, model, page, run
from benchmarks.scale.boolean import Boolean
from benchmarks.scale.kind import Division, Measured, SpreadCosts
from benchmarks.scale.law import GrowthLaw
from benchmarks.scale.model import Demand, RoutingCosts, ShardCosts, cluster, smallest_cluster

HEARD = SpreadCosts(
    hear=0.5, hear_each=0.01, bare=2.0, elsewhere=7.0, again=1.0,
    known_bytes=500.0, bare_bytes=10.0, move_bytes=20.0,
)  # fmt: skip
FREE = RoutingCosts(message=0.0, copy=0.0, blob=0.0, unpack=0.0, copy_bytes=100.0)
DEMAND = Demand(subscriptions=1_000_000, messages_per_second=100_000, most_in_a_shard=1_000_000)


def costs(fixed=1.0, factor=1e-5):
    line = GrowthLaw(fixed, factor, 1.0, 1e6, 0.0)
    return ShardCosts(line, None, GrowthLaw(1000.0, 50.0, 1.0, 1e6, 0.0))


def by_hash(shards):
    return Division("hash", np.full(shards, 1 / shards), np.ones(shards))


def by_location(shards):
    return Division("location", np.full(shards, 1 / shards), np.full(shards, 1 / shards))


def test_a_law_is_found_again():
    sizes = [1000, 2000, 4000, 8000, 16000]
    found = GrowthLaw.fit(sizes, [5.0 + 0.3 * size**0.6 for size in sizes])
    assert (found.fixed, found.factor, found.power) == pytest.approx((5.0, 0.3, 0.6), rel=1e-3)
    assert found.worst < 1e-3
    assert found.at(4000.0) == pytest.approx(5.0 + 0.3 * 4000**0.6, rel=1e-3)


def test_a_law_goes_on_as_a_line():
    found = GrowthLaw(1.0, 2.0, 0.5, 100.0, 0.0)
    assert found.at(100.0) == 21.0
    assert found.at(200.0) == pytest.approx(21.0 + 100 * 2.0 * 0.5 / 10)
    assert found.at(np.array([0.0, 100.0])).tolist() == [1.0, 21.0]


@pytest.mark.parametrize("measured", [[9.0, 8.0, 7.0], [1.0, 4.0, 16.0]])
def test_no_part_of_a_law_is_negative(measured):
    found = GrowthLaw.fit([100, 200, 400], measured, law.LINE)
    assert found.fixed >= 0.0
    assert found.factor >= 0.0
    assert found.worst > 0.05


def test_what_matches_is_matched_somewhere_and_a_visit_costs_by_itself():
    assert costs().microseconds(by_hash(1), 1e6).sum() == pytest.approx(1.0 + 10.0)
    assert costs().microseconds(by_hash(4), 1e6).sum() == pytest.approx(4 * 1.0 + 10.0)
    assert costs().microseconds(by_location(4), 1e6).sum() == pytest.approx(1.0 + 10.0)


@pytest.mark.parametrize(("repeated", "found"), [(False, 10.0), (True, 20.0)])
def test_replicas_are_found_once_or_each_time(repeated, found):
    twice = Division("location", np.full(4, 0.5), np.full(4, 0.25), repeated=repeated)
    assert costs().microseconds(twice, 1e6).sum() == pytest.approx(1.0 + found)


def test_moves_go_to_the_shards_that_keep_who_moves():
    moving = ShardCosts(costs().message, GrowthLaw(3.0, 0.0, 1.0, 1e6, 0.0), costs().memory)
    more = moving.microseconds(by_hash(4), 1e6) - costs().microseconds(by_hash(4), 1e6)
    assert more.tolist() == pytest.approx([0.75] * 4)


def spread(shards):
    """As a `ResultDistribution` does it: all but the last have a cell; that hears everything."""
    kept, visited = np.full(shards, 1 / (shards - 1)), np.full(shards, 1 / (shards - 1))
    kept[-1], visited[-1] = 0.0, 1.0
    return Division("location", kept, visited, tells_all=True)


def test_everybody_hears_of_everything_where_results_are_spread():
    law = GrowthLaw(3.0, 0.0, 1.0, 1e6, 0.0)
    moving = ShardCosts(costs().message, law, costs().memory, spread=HEARD)
    parts = moving.parts(spread(5), 1e6)
    assert parts[model.BARE].tolist() == pytest.approx([0.55 + 0.75 * 2.0] * 4 + [0.55])
    assert parts[model.ELSEWHERE].tolist() == pytest.approx([0.75 * 7.0] * 4 + [7.0])
    assert parts[model.MOVES].tolist() == pytest.approx([0.25 * 4.0] * 4 + [0.0])
    alone = costs().bytes(by_location(4), 1e6)[0]
    assert moving.bytes(spread(5), 1e6)[:4].tolist() == pytest.approx([alone + 500e6] * 4)


def test_what_is_told_is_told_where_the_subscription_is():
    telling = ShardCosts(costs().message, None, costs().memory, told=5.0, rate=1e-5)
    for division in (by_hash(4), by_location(4)):
        assert telling.parts(division, 1e6)[model.TELLING].tolist() == pytest.approx([12.5] * 4)


def test_the_limit_is_what_takes_most_of_the_busiest_shard():
    law = GrowthLaw(3.0, 0.0, 1.0, 1e6, 0.0)
    moving = ShardCosts(costs().message, law, costs().memory, spread=HEARD)
    found = cluster(spread(32), moving, FREE, DEMAND)
    assert (found.limit, found.busiest_hears_everything) == (model.ELSEWHERE, False)
    assert found.network_bytes_per_second == pytest.approx(
        1e5 * (2.0 * 100.0 + (32 - 2.0) * 10.0 + 32 * 20.0)
    )
    fits_nowhere = replace(spread(32), kept=np.append(np.full(31, 0.2 / 31), 0.8))
    found = cluster(fits_nowhere, moving, FREE, DEMAND)
    assert (found.limit, found.busiest_hears_everything) == (model.MATCHING, True)


def test_what_is_known_of_everybody_may_fill_a_machine():
    many = Demand(subscriptions=100_000_000, most_in_a_shard=10_000_000)
    full = cluster(spread(32), ShardCosts(costs().message, None, costs().memory, spread=HEARD),
                   FREE, many)  # fmt: skip
    assert full.limit == model.MEMORY
    assert not full.fits
    assert not full.suffices(many)
    assert full.subscriptions_borne < many.room / 500


def test_who_bears_the_rate_for_fewer_subscriptions():
    found = cluster(by_hash(4), costs(), FREE, DEMAND)
    assert found.suffices(DEMAND)
    # 1 µs and 10 for each million of all, in 4 shards, of 6 that a shard has
    assert found.subscriptions_borne == pytest.approx(2e6, rel=1e-6)


def test_lists_that_are_merged_wait_for_the_driver():
    lists = ShardCosts(costs().message, None, costs().memory, rate=1e-5, merge=4.0)
    halves = Division("keyword", np.full(4, 0.5), np.full(4, 0.25), repeated=True)
    found = cluster(halves, lists, FREE, DEMAND)
    assert found.limit == model.MERGING
    assert json.dumps(found.suffices(DEMAND)) == "false"  # as records have it
    assert found.reach == pytest.approx(0.6e6 / (4.0 * 10.0))
    assert cluster(by_hash(4), lists, FREE, DEMAND).limit == model.MATCHING


def test_messages_are_kept_where_they_go():
    assert costs().bytes(by_hash(4), 1e6).sum() == pytest.approx(4 * 1000 + 50e6)
    assert costs().bytes(by_location(4), 1e6).sum() == pytest.approx(1000 + 50e6)


def test_the_smallest_cluster_that_suffices_is_taken():
    found = smallest_cluster(by_location, (1, 2, 4, 8), costs(), FREE, DEMAND)
    assert found.suffices(DEMAND)
    assert found.shards == found.cores == 2  # of 11 µs each message one takes more than 6
    assert found.network_bytes_per_second == 100_000 * 100.0


def test_no_number_of_shards_helps_where_each_hears_everything():
    found = smallest_cluster(by_hash, (1, 2, 4, 8), costs(fixed=10.0), FREE, DEMAND)
    assert not found.suffices(DEMAND)
    assert found.shards == 8
    assert found.reach == pytest.approx(0.6e6 / (10.0 + 10.0 / 8))


def test_routing_needs_cores_of_its_own():
    routing = model.RoutingCosts(message=3.0, copy=3.0, blob=0.0, unpack=1.0, copy_bytes=1.0)
    found = cluster(by_hash(2), costs(), routing, DEMAND)
    assert found.routing_cores == pytest.approx(100_000 * (3.0 + 2 * 3.0) * 1e-6 / 0.6)
    assert found.cores == 2 + 2
    assert found.busiest_microseconds == pytest.approx(1.0 + 5.0 + 1.0)


def test_too_few_shards_are_refused():
    with pytest.raises(ValueError, match="1,000,000 subscriptions need more shards"):
        smallest_cluster(by_hash, (), costs(), FREE, DEMAND)


@pytest.mark.parametrize(
    "kind",
    ["boolean", *(pytest.param(kind, marks=pytest.mark.thorough) for kind in
    ("top-k", "trending regions", "trending nearby", "moving"))],
)  # fmt: skip
def test_every_kind_is_measured_predicted_and_written_down(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(run, "CLUSTER_SHARDS", (32,))
    path = tmp_path / "scale.json"
    options = ("--subscriptions", "320", "--messages", "50", "--only", kind)
    assert main(["run", "scale", *options, "--json", str(path)]) == 0
    records = json.loads(path.read_text())
    groups = {group: [each for each in records if each["group"] == group] for group in
              (scale.ONE_SHARD, scale.LAW, scale.ROUTING, scale.CHECK, scale.CLUSTER)}  # fmt: skip
    assert [each["x"] for each in groups[scale.ONE_SHARD]] == [20, 40, 80, 160, 320]
    distributions = [each["x"] for each in groups[scale.CLUSTER]]
    assert len(groups[scale.CHECK]) == 1 + 2 * len(distributions)
    for check in groups[scale.CHECK]:
        details = check["details"]
        assert check["subscriptions"] == 240  # none of those fitted
        assert details["total"] >= details["slowest"] > 0.0
        assert details["total_ratio"] == details["predicted_total"] / details["total"]
        if details["distribution"] == "hash":
            assert details["replicas"] == details["predicted_replicas"] == 1.0
            assert details["visits"] == details["shards"]
    assert plot_folder(tmp_path) == [tmp_path / "scale.png"]
    written = tmp_path / "scale.md"
    assert page.refresh_page(tmp_path, written) == [written]
    text = written.read_text()
    assert f"- **{kind}**: " in text
    assert text.count("| yes |") + text.count("| no |") == len(groups[scale.CHECK])


def test_an_unknown_kind_is_refused(capsys, tmp_path):
    assert main(["run", "scale", "--only", "fax", "--json", str(tmp_path / "no.json")]) == 2
    assert "scale has no kind 'fax'; it has boolean, moving" in capsys.readouterr().err


def test_shards_that_lose_a_result_are_noticed(monkeypatch, tmp_path):
    whole = Boolean.measure

    def lose_one(self, subscriptions, division):
        found = whole(self, subscriptions, division)
        return Measured(found.shards, found.told - (division.shards == 2))

    monkeypatch.setattr(Boolean, "measure", lose_one)
    monkeypatch.setattr(run, "measure_routing", lambda messages: [])
    monkeypatch.setattr(run, "routing_costs", lambda found: FREE)
    with pytest.raises(WrongAnswerError, match=r"hash in 2 shards: .* results were told, not the"):
        run.run_scale(lambda records: None, 320, 50, "boolean")


def test_without_results_there_is_no_page(tmp_path):
    assert page.refresh_page(tmp_path, tmp_path / "scale.md") == []
