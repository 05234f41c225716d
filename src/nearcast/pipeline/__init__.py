"""Spark: which messages of one DataFrame or stream concern which subscriptions of another?

A name is loaded when it is first used, and only then is Spark.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nearcast.pipeline.batch import MatchedFrame, match
    from nearcast.pipeline.hosted.settings import ResultSettings
    from nearcast.pipeline.hosted.spread.distribution import ResultDistribution
    from nearcast.pipeline.hosted.spread.plan import ResultPlan, plan_results
    from nearcast.pipeline.kafka.sink import KafkaSink
    from nearcast.pipeline.kafka.source import kafka_events, kafka_messages
    from nearcast.pipeline.log import Log
    from nearcast.pipeline.log.source import read_log
    from nearcast.pipeline.notification_store import NotificationStore
    from nearcast.pipeline.partitioning import Hash, Keyword, Location, Metrics, Partitioning, Plan
    from nearcast.pipeline.planning import plan
    from nearcast.pipeline.progress import Progress, Summary
    from nearcast.pipeline.resharding import Resharded, reshard
    from nearcast.pipeline.session import spark_session
    from nearcast.pipeline.sinks import CallbackSink, FilesSink, Sink, StoreSink
    from nearcast.pipeline.streaming import RunningStream, stream
    from nearcast.pipeline.warming import warm_up

__all__ = [
    "CallbackSink",
    "FilesSink",
    "Hash",
    "KafkaSink",
    "Keyword",
    "Location",
    "Log",
    "MatchedFrame",
    "Metrics",
    "NotificationStore",
    "Partitioning",
    "Plan",
    "Progress",
    "Resharded",
    "ResultDistribution",
    "ResultPlan",
    "ResultSettings",
    "RunningStream",
    "Sink",
    "StoreSink",
    "Summary",
    "kafka_events",
    "kafka_messages",
    "match",
    "plan",
    "plan_results",
    "read_log",
    "reshard",
    "spark_session",
    "stream",
    "warm_up",
]

_NAMES = {
    "batch": ["MatchedFrame", "match"],
    "hosted.settings": ["ResultSettings"],
    "hosted.spread.distribution": ["ResultDistribution"],
    "hosted.spread.plan": ["ResultPlan", "plan_results"],
    "kafka.sink": ["KafkaSink"],
    "kafka.source": ["kafka_events", "kafka_messages"],
    "log": ["Log"],
    "log.source": ["read_log"],
    "notification_store": ["NotificationStore"],
    "partitioning": ["Hash", "Keyword", "Location", "Metrics", "Partitioning", "Plan"],
    "planning": ["plan"],
    "progress": ["Progress", "Summary"],
    "resharding": ["Resharded", "reshard"],
    "session": ["spark_session"],
    "sinks": ["CallbackSink", "FilesSink", "Sink", "StoreSink"],
    "streaming": ["RunningStream", "stream"],
    "warming": ["warm_up"],
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'nearcast.pipeline' has no attribute {name!r}")
    try:
        value = getattr(import_module(f"nearcast.pipeline.{_MODULES[name]}"), name)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("pyspark", "pandas", "py4j"):
            raise
        raise ModuleNotFoundError(
            f"nearcast.pipeline needs {error.name}, which is not installed; "
            "install it with: pip install 'nearcast[spark]'",
            name=error.name,
        ) from None
    globals()[name] = value  # the next use finds it without coming here
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
