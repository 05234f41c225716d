"""Best messages, trending terms and somebody who walks, kept current by a stream on Spark.

Prints:
    1 trend for here: ramen
    2 top for lunch: 1
    3 trend for here: sushi, ramen
    3 top for lunch: 2, 1
    5 enter for ann: 2
"""

import tempfile
from pathlib import Path

import nearcast as nc
from nearcast.pipeline import (
    Log,
    NotificationStore,
    ResultSettings,
    StoreSink,
    read_log,
    spark_session,
    stream,
)

folder = Path(tempfile.mkdtemp())
log = Log(folder / "log")
shibuya, ginza = nc.Point(139.70, 35.66), nc.Point(139.77, 35.67)

log.subscribe([nc.TrendingSubscription("here", nc.Circle(shibuya, 20_000), k=2)])
log.publish([nc.Message("1", text="ramen", at=shibuya, time=0)])
log.subscribe([nc.TopKSubscription("lunch", "ramen sushi", ginza, k=2)])
log.publish([nc.Message("2", text="sushi", at=ginza, time=60)])
log.subscribe([nc.MovingSubscription("ann", "sushi", nc.Circle(shibuya, 500))])
log.move([("ann", nc.Circle(ginza, 500), False)])  # she walks there

running = stream(
    read_log(spark_session(), log.path),
    sink=StoreSink(folder / "notifications"),
    checkpoint=folder / "checkpoint",
    results=ResultSettings(),  # a window of 10,000 messages, a half-life of an hour
)
running.process_all_available()
running.stop()

rows = NotificationStore(folder / "notifications").read()
for row in rows.sort_by([("position", "ascending"), ("subscription_id", "ascending")]).to_pylist():
    found = [each["item"] for each in row["items"] or []] or [row["message_id"]]
    print(f"{row['position']} {row['kind']} for {row['subscription_id']}: {', '.join(found)}")
