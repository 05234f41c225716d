"""A pipeline for tests: it says which subscriptions want a message, and no Spark is needed."""

from types import SimpleNamespace

import pyarrow as pa

from nearcast.model import Message, Point
from nearcast.service.matching.outbox_sink import OutboxSink

NO_REJECTS = pa.table({name: pa.array([], pa.string()) for name in ("side", "id", "reason", "row")})


class PretendPipeline:
    """Publishes messages of a service and writes their matches into its outbox."""

    def __init__(self, service, *, keep_seconds=1e9, keep_events=1_000_000):
        self._service = service
        self._sink = OutboxSink(service.folder, keep_seconds=keep_seconds, keep_events=keep_events)
        self._sink.open("tests")
        self._batch = self._next_batch()

    def _next_batch(self):
        with self._sink._database.reading() as connection:
            return connection.execute("SELECT batch FROM position").fetchone()[0] + 1

    def match(self, subscriber, *texts, subscription="cafe", tell=True):
        """One message for each text, each wanted by one subscription.  The ids of the events."""
        offsets = self.publish(*texts)
        return self.commit([(f"{subscriber}/{subscription}", each) for each in offsets], tell=tell)

    def publish(self, *texts):
        """The offsets of new messages."""
        begin = self._service.messages.read_to
        messages = [
            Message(f"m{begin + i}", text=text, at=Point(2.36, 48.85), time=1.0)
            for i, text in enumerate(texts)
        ]
        return [receipt.offset for receipt in self._service.messages.publish(messages)]

    def commit(self, pairs, *, tell=True):
        """Write pairs of a subscription, as the pipeline calls it, and the offset of a message."""
        before = self._service.outbox.last_sequence()
        table = pa.table(
            {
                "subscription_id": pa.array([name for name, _ in pairs], pa.string()),
                "position": pa.array([offset for _, offset in pairs], pa.int64()),
            }
        )
        self._sink.commit(
            SimpleNamespace(
                number=self._batch, notifications=lambda: table, rejects=lambda: NO_REJECTS
            )
        )
        self._batch += 1
        if tell:
            self._service.on_events()
        return list(range(before + 1, self._service.outbox.last_sequence() + 1))

    def drop_all_but(self, count):
        """Let the retention drop the oldest events."""
        self._sink._keep_events = count
        self.commit([])

    def close(self):
        self._sink.close()
