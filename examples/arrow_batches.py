"""Many at once: subscriptions and messages as Arrow tables, matches as an Arrow table.

Prints:
    message_id  subscription_id
             1              101
             1              102
             3              102
"""

import pyarrow as pa

import nearcast as nc


def main() -> None:
    subscriptions = pa.table(
        {
            "id": [101, 102, 103],
            "keywords": ["coffee", "coffee OR tea", "cake NOT vegan"],
            # The third one listens everywhere.
            "west": [2.2, 2.2, None],
            "south": [48.8, 48.8, None],
            "east": [2.5, 2.5, None],
            "north": [48.9, 48.9, None],
        }
    )
    messages = pa.table(
        {
            "id": [1, 2, 3],
            "text": ["Fresh coffee here", "Vegan cake!", "Green tea for two"],
            "lon": [2.35, 2.35, 2.36],
            "lat": [48.86, 48.86, 48.85],
        }
    )
    broker = nc.Broker()
    broker.subscribe_batch(nc.SubscriptionBatch.from_arrow(subscriptions))
    matches = broker.publish_batch(nc.MessageBatch.from_arrow(messages), threads=2)

    table = matches.to_arrow().sort_by(
        [("message_id", "ascending"), ("subscription_id", "ascending")]
    )
    print("message_id  subscription_id")
    for row in table.to_pylist():
        print(f"{row['message_id']:10}  {row['subscription_id']:15}")


if __name__ == "__main__":
    main()
