"""Batch and stream where executors are other processes; started by `test_local_cluster.py`.

Prints one JSON object: what was found, how often a worker found its copy of a shard ready, and how
much of the mapped snapshots any worker has for itself.
"""

import json
import random
import re
import sys
from pathlib import Path

from nearcast.model import Message, Subscription
from nearcast.pipeline import (
    Hash,
    Log,
    NotificationStore,
    ResultSettings,
    StoreSink,
    match,
    read_log,
    spark_session,
    stream,
)
from nearcast.topk import CountWindow
from tests.pipeline.histories import Oracle, append_to, random_history, random_region
from tests.pipeline.hosted_histories import OneBroker, random_events
from tests.pipeline.in_process import log_table, pairs_of

BASE = 4000
ROWS_PER_BATCH = 20
FIRST_BATCHES = 10


def main(folder):
    spark = spark_session(
        "local-cluster[2,1,1024]",
        settings={"spark.local.dir": str(folder / "local"), "spark.driver.memory": "1g"},
    )
    events = list(random_history(31, 600))
    try:
        found = {
            "batch equals oracle": batch_equals_oracle(spark, events),
            **run_stream(spark, folder, events),
            **run_results(spark, folder),
            "executors": spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size() - 1,
        }
    finally:
        spark.stop()
    print(json.dumps(found))


def batch_equals_oracle(spark, events):
    live = {event.id: event for event in events if isinstance(event, Subscription)}
    oracle = Oracle()
    messages = [event for event in events if isinstance(event, Message)]
    for event in [*live.values(), *messages]:
        oracle.apply(event)
    subscriptions = spark.createDataFrame(log_table(live.values()).drop_columns(["kind", "text"]))
    messages = spark.createDataFrame(log_table(messages).drop_columns(["kind", "keywords"]))
    matched = match(messages, subscriptions, partitioning=Hash(2))
    return pairs_of(matched.toArrow()) == sorted(oracle.notifications)


def run_stream(spark, folder, events):
    """First many subscriptions that no message wants, then the history in small batches."""
    log = Log(folder / "log")
    draw = random.Random(1)
    append_to(log, [Subscription(f"b{n}", f"base{n}", random_region(draw)) for n in range(BASE)])
    options = {
        "sink": StoreSink(folder / "out"),
        "checkpoint": folder / "checkpoint",
        "partitioning": Hash(2),
        "snapshot_after": BASE // 4,
    }
    first = stream(read_log(spark, log.path), trigger={"availableNow": True}, **options)
    first.await_termination()
    first.stop()

    append_to(log, events)
    running = stream(read_log(spark, log.path, rows_per_batch=ROWS_PER_BATCH), **options)
    try:
        running.process_all_available()
        maps = snapshot_maps(folder / "checkpoint")
        recent = running.recent
    finally:
        running.stop()
    oracle = Oracle()
    for event in events:
        oracle.apply(event)
    store = NotificationStore(folder / "out")
    later = recent[FIRST_BATCHES:]
    steps = sum(each.hot + each.caught_up + each.restored for each in later)
    return {
        "stream equals oracle": pairs_of(store.read()) == sorted(oracle.notifications),
        "rejects equal oracle": sorted(store.rejects()["id"].to_pylist()) == sorted(oracle.unknown),
        "batches": len(recent),
        "hit rate": 1 - sum(each.restored for each in later) / steps,
        "milliseconds": sorted(each.milliseconds for each in later)[len(later) // 2],
        "workers with a snapshot": len({pid for pid, _, _ in maps}),
        "mapped bytes": max(size for _, size, _ in maps),
        "own bytes": max(own for _, _, own in maps),
    }


def run_results(spark, folder):
    """Every kind of subscription, in small batches."""
    window, expected = CountWindow(20), []
    one = OneBroker(window)
    rows = list(random_events(5, 20 * ROWS_PER_BATCH))
    for offset, event in enumerate(rows):
        expected += [(offset, each.subscription_id, each.kind) for each in one.apply(event)]
    with Log(folder / "results-log") as log:
        log.append(log_table(rows).drop_columns(["offset"]))
        running = stream(
            read_log(spark, log.path, rows_per_batch=ROWS_PER_BATCH),
            sink=StoreSink(folder / "results-out"),
            checkpoint=folder / "results-checkpoint",
            partitioning=Hash(2),
            results=ResultSettings(window),
        )
        try:
            running.process_all_available()
            later = running.recent[1:]
        finally:
            running.stop()
    found = NotificationStore(folder / "results-out").read().to_pylist()
    told = [(each["position"], each["subscription_id"], each["kind"]) for each in found]
    restored = sum(each.keepers_restored for each in later)
    hits = sum(each.keepers_hot + each.keepers_caught_up for each in later)
    return {
        "results equal one broker": sorted(told) == sorted(expected),
        "keeper hit rate": hits / (hits + restored),
    }


def snapshot_maps(checkpoint):
    """(process, bytes, bytes of its own) of every snapshot index that any process has mapped."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            lines = (process / "smaps").read_text().splitlines()
        except (PermissionError, FileNotFoundError, ProcessLookupError):
            continue
        is_ours, sizes = False, {}
        for line in [*lines, "0-0 end"]:
            if re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
                if is_ours:
                    found.append((process.name, sizes["Size"], sizes["Private_Dirty"]))
                is_ours, sizes = f"{checkpoint}/" in line and line.endswith("index.near"), {}
            elif is_ours and line.endswith("kB"):
                name, _, number = line.removesuffix("kB").partition(":")
                sizes[name] = 1024 * int(number)
    return found


if __name__ == "__main__":
    main(Path(sys.argv[1]))
