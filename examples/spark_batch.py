"""Two DataFrames, and which rows of one concern which rows of the other.

Prints:
    +---------------+----------+
    |subscription_id|message_id|
    +---------------+----------+
    |tea-shop       |1         |
    |sales          |3         |
    +---------------+----------+
    <BLANKLINE>
    message 2: latitude 92.35 is outside [-90, 90]; did you swap longitude and latitude?
    hash on ... should take less than 0.1 s, against ...
"""

from nearcast.pipeline import match, spark_session

spark = spark_session()

subscriptions = spark.createDataFrame(
    [
        ("tea-shop", "tea AND NOT iced", 2.2, 48.8, 2.5, 48.9),
        ("sales", "ipad AND (discount OR sale)", None, None, None, None),  # everywhere
    ],
    "id string, keywords string, west double, south double, east double, north double",
)
messages = spark.createDataFrame(
    [
        (1, "Hot tea!", 2.3, 48.85),
        (2, "Hot tea!", 48.86, 92.35),
        (3, "iPad sale, today only", -179.9, 10.0),
    ],
    "id int, text string, lon double, lat double",
)

matches = match(messages, subscriptions)
matches.orderBy("message_id").show(truncate=False)
for row in matches.rejects.collect():
    print(f"{row.side} {row.id}: {row.reason}")
print(matches.plan.why)
