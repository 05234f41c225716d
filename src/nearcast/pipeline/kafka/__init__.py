"""Kafka: subscriptions and messages out of topics, notifications into one.

`values` knows neither Spark nor Kafka: what the bytes of a record say. `source` reads through
Spark's own connector, `sink` writes with the Kafka client that comes with it.
"""
