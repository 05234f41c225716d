"""Subscriptions come and go while messages flow by; each notification is delivered once.

Prints:
    ada hears of message 1
    bob hears of message 1
    bob hears of message 2
    refused: id 'eve' is not subscribed; there is nothing to remove
    1 batches: 6 rows in, 3 notifications and 1 rejects out; lag 0, ...
"""

import tempfile
from pathlib import Path

import nearcast as nc
from nearcast.pipeline import Log, NotificationStore, StoreSink, read_log, spark_session, stream

folder = Path(tempfile.mkdtemp())

# What happens, in one order, in a log on the disk: what it took is there after a crash.
log = Log(folder / "log")
paris = nc.Point(2.36, 48.85)
log.subscribe(
    [
        nc.Subscription("ada", "ipad AND (discount OR sale)", nc.Circle(paris, 5_000)),
        nc.Subscription("bob", "sale"),
    ]
)
log.publish([nc.Message("1", text="iPad sale, today only!", at=paris)])
log.unsubscribe(["ada", "eve"])
log.publish([nc.Message("2", text="iPad sale, still on!", at=paris)])

# The stream follows the log. Started again with the same checkpoint it goes on where it was.
running = stream(
    read_log(spark_session(), log.path, rows_per_batch=10_000),
    sink=StoreSink(folder / "notifications"),
    checkpoint=folder / "checkpoint",
)
running.process_all_available()

store = NotificationStore(folder / "notifications")
for row in (
    store.read()
    .sort_by([("message_id", "ascending"), ("subscription_id", "ascending")])
    .to_pylist()
):
    print(f"{row['subscription_id']} hears of message {row['message_id']}")
for row in store.rejects().to_pylist():
    print(f"refused: {row['reason']}")
print(running.summary)
running.stop()
