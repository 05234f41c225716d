"""Subscriptions that have a result of their own, in the shards of a stream.

A result changes with every message, so that a shard cannot be opened anew for each batch, and a
worker of Spark does not stay with its shard. So each shard has a process of its own on its host,
its *keeper*, which the tasks talk to.
"""
