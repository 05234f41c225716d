"""`docs/scale.md`, from the records."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.markdown import number, place, table
from benchmarks.records import read_rows
from benchmarks.scale import CHECK, CLUSTER, LAW, NAME, ONE_SHARD, ROUTING
from benchmarks.scale.model import MEMORY, MERGING

Rows = Sequence[dict[str, Any]]

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "scale.md"
HOLDS_WITHIN = 0.25
"""By how much a prediction may be off, as a share, to be called right."""


def refresh_page(folder: Path, page: Path = PAGE) -> list[Path]:
    """Write the page anew from the result files of a folder; it, if there are any."""
    rows = [{**row["details"], **row} for row in read_rows(folder) if row["name"] == NAME]
    if not rows:
        return []
    page.write_text(write_page(rows))
    return [page]


def write_page(rows: Rows) -> str:
    demand = _asked(rows)
    parts = [
        f"# Scale: the cluster for {demand['subscriptions']:,} subscriptions",
        "<!-- made by `python -m benchmarks plot` from the records of "
        "`python -m benchmarks run scale --json benchmarks/results/scale.json` -->",
        "What one shard costs is measured; what so many subscriptions and "
        f"{demand['messages_per_second']:,} messages a second of each kind would take is computed "
        f"from it, and nobody has seen it. {_measured_on(rows)}",
        "![Laws, and predictions against measurements](../benchmarks/results/scale.png)",
        *_cluster(rows, demand),
        *_checks(rows),
        *_one_shard(rows),
        *_hearing_everything(rows),
        *_routing(rows),
        *_communication(rows),
        _NOT_MODELLED,
    ]
    return "\n\n".join(parts) + "\n"


def _cluster(rows: Rows, demand: dict[str, Any]) -> Iterable[str]:
    yield "## The prediction"
    header = (
        "kind", "distribution", "shards", "cores", "machines", "memory, GB",
        "largest shard, GB", "network, MB/s", "visits", "replicas", "busiest shard, µs a message",
        "messages a second", "limit", "subscriptions borne at the full rate",
    )  # fmt: skip
    lines, verdicts = [], []
    for kind, clusters in _by_kind(_of(rows, CLUSTER)):
        enough = [row for row in clusters if row["suffices"]]
        best = (
            min(enough, key=lambda row: row["cores"])
            if enough
            else max(clusters, key=lambda row: (row["fits"], row["reach"]))
        )
        for row in sorted(clusters, key=lambda row: row is not best):
            mark = "**" if row is best else ""
            lines.append(
                (
                    f"{mark}{kind}{mark}",
                    f"{mark}{row['distribution']}{mark}",
                    place(row["shards"]),
                    place(row["cores"]),
                    place(row["machines"]),
                    number(row["bytes"] / 1e9),
                    number(row["largest_shard_bytes"] / 1e9),
                    number(row["network_bytes_per_second"] / 1e6),
                    number(row["visits"]),
                    number(row["replicas"]),
                    number(row["busiest_microseconds"]),
                    number(row["reach"]),
                    _limit(row),
                    number(row["subscriptions_borne"]) if row["subscriptions_borne"] else "none",
                )
            )
        [law] = [row for row in _of(rows, LAW) if row["series"] == kind]
        told = law["told_per_message_and_subscription"] * demand["subscriptions"]
        verdicts.append(f"- **{kind}**: {_verdict(best, demand)} {_told(told, demand)}")
    yield "\n".join(verdicts)
    yield table(header, lines)
    yield (
        f"A core is planned to be busy {demand['busy']:.0%} of the time, a shard is one core and "
        f"has at most {demand['most_in_a_shard']:,} subscriptions on average, a machine has "
        f"{demand['cores_per_machine']} cores and {demand['bytes_per_machine'] / 2**30:.0f} GiB, "
        f"of which {demand['usable_memory']:.0%} are for shards. Cores are those of the shards and "
        "those that read, route and pack. The number of shards is the first power of two from 32 "
        "to 1,024 that suffices; where none does, the line is that of the furthest reach. Messages "
        "a second are what the busiest shard bears, or the driver where it merges lists; the limit "
        "is what takes most of its time, or memory where a shard is larger than what a machine has "
        "for shards. The last column is how many subscriptions the same shards bear at the full "
        "rate. Moving subscriptions report as many moves as there are messages."
    )


def _verdict(best: dict[str, Any], demand: dict[str, Any]) -> str:
    if best["suffices"]:
        return (
            f"{best['cores']:,} cores on {best['machines']:,} machines, by {best['distribution']}."
        )
    borne = best["subscriptions_borne"]
    return (
        f"not within reach of 1,024 shards. {best['shards']:,} by {best['distribution']}, "
        f"{best['cores']:,} cores on {best['machines']:,} machines, bear "
        f"{number(best['reach'])} messages a second, "
        f"{number(best['reach'] / demand['messages_per_second'] * 100)}% of what is asked for; "
        + (f"all of them for {number(borne)} subscriptions. " if borne else _FOR_NOBODY)
        + f"The limit is {_limit(best)}."
    )


_FOR_NOBODY = (
    "not all of them for any number of subscriptions, since a shard takes too long for a message "
    "whoever wants it. "
)


def _limit(row: dict[str, Any]) -> str:
    if row["limit"] in (MEMORY, MERGING):
        return str(row["limit"])
    share = row["busiest_parts"][row["limit"]] / row["busiest_microseconds"]
    where = " in the shard that hears everything" * row["busiest_hears_everything"]
    return f"{row['limit']}{where}, {share:.0%} of the busiest shard"


def _told(told: float, demand: dict[str, Any]) -> str:
    each_second = told * demand["messages_per_second"]
    return (
        f"With this workload a message tells {number(told)} subscriptions, "
        f"{number(each_second / 1e6)} million notifications a second."
    )


def _checks(rows: Rows) -> Iterable[str]:
    checks = _of(rows, CHECK)
    ratios = [row[f"{part}_ratio"] for row in checks for part in ("total", "slowest")]
    right = sum(abs(ratio - 1.0) <= HOLDS_WITHIN for ratio in ratios)
    yield "## Does the model hold?"
    yield (
        "The laws are fitted on one shard of five sizes. Each prediction below is for a size that "
        "was not fitted, and made before that is measured: real indexes, divided by the real "
        "distribution, one shard after the other, each with the messages that are sent to it, and "
        "for moving and trending subscriptions with the bare ones and the moves of all others. "
        f"{right} of {len(ratios)} predictions are at most {HOLDS_WITHIN:.0%} off; they are "
        f"between {number(min(ratios))} and {number(max(ratios))} times what was measured. Where "
        "results are exact, shards together told as many as one."
    )
    header = (
        "kind", "subscriptions", "distribution", "shards", "all shards, µs", "predicted", "ratio",
        "slowest shard, µs", "predicted", "ratio", "replicas", "predicted", "holds",
    )  # fmt: skip
    yield table(
        header,
        [
            (
                row["series"],
                place(row["subscriptions"]),
                row["distribution"] if row["shards"] > 1 else "",
                str(row["shards"]),
                number(row["total"]),
                number(row["predicted_total"]),
                f"{row['total_ratio']:.2f}",
                number(row["slowest"]),
                number(row["predicted_slowest"]),
                f"{row['slowest_ratio']:.2f}",
                f"{row['replicas']:.2f}",
                f"{row['predicted_replicas']:.2f}",
                _holds(row),
            )
            for row in checks
        ],
    )


def _holds(row: dict[str, Any]) -> str:
    off = max(abs(row[f"{part}_ratio"] - 1.0) for part in ("total", "slowest"))
    return "yes" if off <= HOLDS_WITHIN else "no"


def _one_shard(rows: Rows) -> Iterable[str]:
    yield "## One shard, measured"
    header = ("kind", "index", "subscriptions", "µs a message", "µs a move", "MB", "told a message")
    yield table(
        header,
        [
            (
                row["series"],
                row["index"],
                place(row["x"]),
                number(row["message_microseconds"]),
                number(row["move_microseconds"]),
                number(row["bytes"] / 1e6),
                number(row["told_per_message"]),
            )
            for row in _of(rows, ONE_SHARD)
        ],
    )
    yield (
        "What is fitted to it, with the least squares of relative errors: a + b n^g microseconds "
        "for n subscriptions, and a line of the same slope beyond the largest size; and what "
        "telling takes for each result that is told, which is measured apart for moving and "
        "trending subscriptions and comes on top. Those are measured as the shards of a stream "
        "keep them, from rows to the columns of what is told; boolean and top-k ones are indexes. "
        "Loading is from a file in the page cache; the messages kept are a window, documents that "
        "count, or live messages."
    )
    fitted = (
        "kind", "a", "b", "g", "worst error", "µs a result told", "bytes a subscription",
        "messages kept", "bytes a kept message", "loading", "predicted for 1 million",
    )  # fmt: skip
    lines = []
    for row in _of(rows, LAW):
        law, memory = row["message"], row["memory"]
        rate = row["restored_bytes"] / row["load_seconds"]
        million = (memory["fixed"] + 1e6 * memory["factor"]) / rate
        kept = row["kept_messages"]
        lines.append(
            (
                row["series"],
                number(law["fixed"]),
                number(law["factor"]),
                number(law["power"]),
                f"{law['worst']:.0%}",
                number(row["told_microseconds"]) if row["told_microseconds"] else "",
                number(memory["factor"]),
                place(kept),
                number(memory["fixed"] / kept) if kept else "",
                f"{number(rate / 1e6)} MB/s",
                f"{number(million)} s",
            )
        )
    yield table(fitted, lines)


def _hearing_everything(rows: Rows) -> Iterable[str]:
    """What it takes that all shards hear of everything, where results are spread."""
    yield "## Hearing of everything, measured"
    yield (
        "By location a message comes whole to the cell that it is in, to the cells whose margin it "
        "is in, and to the last shard, which keeps what fits nowhere; to all others it comes bare. "
        "A move goes to all shards, of which each looks for the home, and each knows of every "
        "subscription where it is and what it asks for."
    )
    spread = [row for row in _of(rows, LAW) if row["spread"]]
    yield table(
        (
            "kind", "who hears, µs a message", "for each shard", "bare message, µs",
            "move of one elsewhere, µs", "more for one here", "bytes known of a subscription",
            "GB of that in each shard", "bytes of a bare message",
        ),
        [
            (
                row["series"],
                *(number(row["spread"][name]) for name in ("hear", "hear_each", "bare")),
                *(
                    number(row["spread"][name]) if row["move"] else ""
                    for name in ("elsewhere", "again")
                ),
                number(row["spread"]["known_bytes"]),
                number(row["spread"]["known_bytes"] * _asked(rows)["subscriptions"] / 1e9),
                number(row["spread"]["bare_bytes"]),
            )
            for row in spread
        ],
    )  # fmt: skip
    merge = max(row["merge_microseconds"] for row in _of(rows, LAW))
    if merge:
        yield (
            f"Top-k lists of which several shards have parts, by keyword and by prefix, are merged "
            f"by the driver: {number(merge)} µs for each that a batch has changed, which is by how "
            "much a batch of a stream takes longer so than by hash ([pipeline-kinds.json]"
            "(../benchmarks/results/pipeline-kinds.json))."
        )


def _asked(rows: Rows) -> dict[str, Any]:
    demand: dict[str, Any] = _of(rows, CLUSTER)[0]["demand"]
    return demand


def _routing(rows: Rows) -> Iterable[str]:
    found = _of(rows, ROUTING)
    costs, together = _of(rows, LAW)[0]["routing"], found[0]["details"]["messages"]
    yield "## Routing and packing, measured"
    header = ("distribution", "shards", "visits", "µs a message", "unpacking a copy, µs", "bytes")
    yield table(
        header,
        [
            (
                row["distribution"],
                str(row["shards"]),
                number(row["visits"]),
                number(row["message_microseconds"]),
                number(row["unpack_microseconds"]),
                number(row["copy_bytes"]),
            )
            for row in found
        ],
    )
    yield (
        f"From a row of Arrow to packed batches, {together:,} messages together: "
        f"{number(costs['message'])} µs a message, {number(costs['copy'])} for each copy and "
        f"{number(costs['blob'])} for each shard that a batch is packed for, which 65,536 messages "
        f"share; {number(costs['unpack'])} to unpack a copy of {number(costs['copy_bytes'])} bytes."
    )


def _communication(rows: Rows) -> Iterable[str]:
    yield "## Who hears what, from plans for the whole cluster"
    header = ("kind", "distribution", "visits of a message / replicas of a subscription")
    yield table(
        header,
        [
            (
                row["series"],
                row["distribution"],
                "; ".join(
                    f"{each['shards']} shards: {number(each['visits'])} / "
                    f"{number(each['replicas'])}"
                    for each in row["communication"]
                ),
            )
            for row in _of(rows, CLUSTER)
        ],
    )


def _measured_on(rows: Rows) -> str:
    machines = ", ".join(dict.fromkeys(row["cpu"] for row in rows))
    commits = ", ".join(dict.fromkeys(row["commit"][:7] for row in rows))
    return f"Measured on one core of {machines}, at {commits}."


def _of(rows: Rows, group: str) -> list[dict[str, Any]]:
    return [row for row in rows if row["group"] == group]


def _by_kind(rows: Rows) -> Iterable[tuple[str, Rows]]:
    for kind in dict.fromkeys(row["series"] for row in rows):
        yield kind, [row for row in rows if row["series"] == kind]


_NOT_MODELLED = """\
## The model

- What matches is matched somewhere. So a shard with n subscriptions that is visited by the share p
  of the messages finds as much for one of them as a shard with n / p that all visit, and costs p
  times as much: p times the law at n / p. By hash p is 1; by location n / p is about what one
  shard of everything would have. Replicas by location or keyword are not found twice, so n is
  divided by their number; those of top-k lists are, so it is not. (That division is the one thing
  that was put right after a first check had shown it.)
- n and p of each shard come from a plan: the partitionings of the pipeline for boolean
  subscriptions, the distributions of top-k lists, and `plan_results` for moving and trending ones,
  made from and applied to a sample. The busiest shard is the busiest of the plan.
- Moving subscriptions, and terms in a region, by location: one home each, a cell and its margin;
  the last shard hears everything whole, has what fits into no cell, and no cell of its own. Every
  other message comes bare to a shard, every move comes to all shards, and all shards know where
  everybody is. The pipeline has no other way to divide them.
- Terms around a place concern every document. Where results are spread they are all in the shard
  that hears everything, which then does what one shard would do for all of them; so by hash only.
- A result that is told takes its time in the shard that tells it, however a message comes there.
- A shard's memory is its subscriptions, its share of the messages kept in the measurement, and
  where results are spread what it knows of all others. Longer windows, more documents and more
  live messages cost memory for each as the table says, in every shard that they visit. What they
  cost in time is not modelled, and for top-k lists it is less: the larger the window, the better
  the lists are, and the fewer of them a message changes.

Not modelled: stragglers; the 100 to 200 ms that a batch of Spark takes whatever is in it;
hotspots that the sample does not have, or that come later; caches, which a core shares with
fifteen others on such a machine and with one here, and which hold more of a small shard than of
the large one that it is compared with; a moving subscription that changes shards, which leaves
one, comes into another and is told by the shard that hears everything; the shuffle's own work
beside packing; making changes durable, snapshots, compaction and the changes that are read again
after loading; telling top-k lists and boolean matches; delivering notifications, which at these
sizes can be far more than matching.

How far to trust it: laws were fitted on shards of the sizes above. What a shard of the cluster
compares with has up to a thousand times as many, where they are straight lines of which nothing
was measured, and a fit that is 5% off here can be off by a factor of two there; shards are
counted in powers of two. Read the clusters as orders of magnitude, and which distribution wins
only where the numbers are far apart."""
