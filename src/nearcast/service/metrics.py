"""`Metrics`: the numbers of a service, as Prometheus reads them."""

from __future__ import annotations

import time
from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from nearcast.service.delivery.hub import Hub
from nearcast.service.service import Service

STATES = ("starting", "running", "failed", "stopped")
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class Metrics:
    """The numbers of one app, in a registry of its own."""

    def __init__(self, service: Service, hub: Hub) -> None:
        self._registry = CollectorRegistry()
        self.requests = Histogram(
            "nearcast_request_seconds",
            "How long requests took.",
            ("method", "route", "status"),
            registry=self._registry,
            buckets=_SECONDS,
        )
        self._messages = Counter(
            "nearcast_messages",
            "Messages that came by the API since the start.",
            ("result",),
            registry=self._registry,
        )
        self._registry.register(_State(service, hub))

    def count_messages(self, *, accepted: int = 0, duplicates: int = 0, rejected: int = 0) -> None:
        """So many more came in."""
        self._messages.labels("accepted").inc(accepted)
        self._messages.labels("duplicate").inc(duplicates)
        self._messages.labels("rejected").inc(rejected)

    def text(self) -> bytes:
        """All of them, for /metrics."""
        return generate_latest(self._registry)


class _State(Collector):
    """What the stores and the pipeline say when they are asked."""

    def __init__(self, service: Service, hub: Hub) -> None:
        self._service = service
        self._hub = hub

    def describe(self) -> Iterable[Metric]:
        return ()  # else it would be asked once while it is registered

    def collect(self) -> Iterable[Metric]:
        service = self._service
        delivered, failed = service.deliveries.totals()
        yield _gauge("subscriptions", "Subscriptions in force.", service.subscriptions.count())
        yield _counter("events", "Matches found.", service.outbox.last_sequence())
        yield _counter("deliveries", "Events that were acknowledged.", delivered)
        yield _counter("delivery_failures", "Events that a webhook did not take.", failed)
        dead = service.deliveries.count_dead_letters()
        yield _gauge("dead_letters", "Events that are parked.", dead)
        yield _gauge("open_streams", "Readers that are connected.", self._hub.streams)
        yield _gauge(
            "oldest_undelivered_webhook_event_seconds",
            "How long the event waits that has waited longest for a webhook.",
            _longest_wait(service),
        )
        yield from self._pipeline()

    def _pipeline(self) -> Iterable[Metric]:
        status = self._service.pipeline.status
        state = GaugeMetricFamily(
            "nearcast_pipeline_state", "1 for the state that it is in.", labels=["state"]
        )
        for name in STATES:
            state.add_metric([name], float(name == status.state))
        yield state
        yield _counter("pipeline_starts", "How often it was started.", status.starts)
        lag = self._service.lag()
        if lag is not None:
            yield _gauge("pipeline_lag_rows", "Rows of the log that it has yet to process.", lag)
        for name, key, text in (
            ("pipeline_batch_milliseconds", "milliseconds", "How long the last batch took."),
            ("pipeline_hit_rate", "hit_rate", "The share of steps with a shard at hand."),
        ):
            value = status.progress.get(key)
            if value is not None:
                yield _gauge(name, text, value)


def _longest_wait(service: Service) -> float:
    now, longest = time.time(), 0.0
    for webhook in service.deliveries.webhooks():
        cursor = service.deliveries.cursor(webhook.subscriber, webhook.name)
        for event in service.outbox.events(webhook.subscriber, cursor, 1):
            longest = max(longest, now - event.written)
    return longest


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(f"nearcast_{name}", text, value)


def _counter(name: str, text: str, value: float) -> Metric:
    return CounterMetricFamily(f"nearcast_{name}", text, value)
