"""Pipelines for tests, without Spark: one says who wants a message, one keeps results."""

from types import SimpleNamespace

import pyarrow as pa

from nearcast.model import Message, Point
from nearcast.pipeline.hosted.keeper import RESULTS
from nearcast.pipeline.hosted.settings import ResultSettings
from nearcast.pipeline.log import Log
from nearcast.pipeline.partitioning import Hash
from nearcast.service.matching.outbox_sink import OutboxSink
from nearcast.service.window import window_from
from tests.pipeline.in_process import InProcessStream

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
                number=self._batch,
                notifications=lambda: table,
                rejects=lambda: NO_REJECTS,
                results=lambda: RESULTS.empty_table(),
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


class HostingPipeline:
    """What the shards do for subscriptions that have a result: each `run` is a batch of new rows.

    `batches` remembers those that were begun, as Spark's checkpoint does; whoever takes over from
    one that died begins with the last of them.
    """

    def __init__(self, service, batches=None):
        self._service = service
        self._log = Log(service.folder.log)
        settings = service.settings
        results = ResultSettings(
            window_from(settings.window), settings.farthest, settings.half_life
        )
        self._stream = InProcessStream(
            service.folder.path / "checkpoint" / "in-process", Hash(2), results=results
        )
        self._sink = OutboxSink(service.folder, keep_seconds=1e9, keep_events=1_000_000)
        self._sink.open("tests")
        self.batches = [] if batches is None else batches
        if self.batches:
            self._commit(*self.batches[-1])

    @property
    def next_expiry(self):
        return self._stream.hosted_files.next_expiry

    def begin(self):
        """Decide on a batch, and no more."""
        if self.batches:
            number, offsets = self.batches[-1]
            self.batches.append((number + 1, range(offsets.stop, self._log.end)))
        else:
            with self._sink._database.reading() as connection:
                [last] = connection.execute("SELECT batch FROM position").fetchone()
            self.batches.append((last + 1, range(0, self._log.end)))

    def run(self, *, tell=False):
        """A batch; `tell` readers of it, where some are running."""
        self.begin()
        self._commit(*self.batches[-1])
        if tell:
            self._service.on_events()

    def _commit(self, number, offsets):
        rows = self._log.read(offsets.start, offsets.stop)
        self._sink.commit(self._stream.process(number, rows))

    def close(self):
        self._sink.close()
        self._log.close()
