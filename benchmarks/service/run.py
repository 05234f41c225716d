"""`python -m benchmarks run service`: a real service under load, all on this machine."""

import asyncio
import json
import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from benchmarks.memory import peak_rss_bytes
from benchmarks.pipeline.tables import message_table, subscription_table
from benchmarks.progress import bar
from benchmarks.records import Record
from benchmarks.service.posting import bearer, check_accepted, line_headers, post_all
from benchmarks.service.running import RunningService
from benchmarks.service.streams import EventStream, Receiver
from benchmarks.workloads import Settings, Workload, make
from nearcast.boolean import RarestWordTree

NAME = "service"
SUBSCRIBERS = 100
SUBSCRIPTIONS_A_POST = 5_000
POSTS_A_SECOND = 40
BULK = 1_000
TURNS = 2

Keep = Callable[[list[Record]], None]
Say = Callable[[str], None]


@dataclass(frozen=True)
class Load:
    """How much; the defaults are those of the machine."""

    subscriptions: int = 100_000
    messages_a_second: int = 1_000
    seconds: int = 30
    idle_streams: int = 1_000
    webhooks: int = 20  # that answer, and as many that may hang
    bulk_messages: int = 100_000


@dataclass
class Delays:
    """How long each delivery took, in nanoseconds."""

    taken: list[int] = field(default_factory=list)

    def note(self, now: int, sent: int) -> None:
        self.taken.append(now - sent)

    def add(self, other: "Delays") -> None:
        self.taken += other.taken

    def percentiles(self) -> dict[str, float]:
        found = np.percentile(np.array(self.taken) / 1e6, [50, 90, 99, 100])
        names = ("median", "p90", "p99", "longest")
        return {f"{name}_ms": float(value) for name, value in zip(names, found, strict=True)}


def run_service(load: Load, data: str, keep: Keep) -> list[Record]:
    """Subscribe, steady load, the same with receivers that answer and that hang, bulk."""
    records: list[Record] = []
    with bar(5) as progress, tempfile.TemporaryDirectory() as folder:
        progress.say("making data")
        steady = load.messages_a_second * load.seconds
        needed = (2 + 2 * TURNS) * steady + load.bulk_messages
        workload = make(Settings(data, load.subscriptions, needed))

        def add(record: Record) -> None:
            records.append(record)
            keep(records)
            progress.advance()

        bench = ServiceBench(Path(folder) / "data", workload, load, progress.say)
        try:
            asyncio.run(_all(bench, add))
        finally:
            bench.service.stop()
    return records


async def _all(bench: "ServiceBench", add: Callable[[Record], None]) -> None:
    add(await bench.subscribe())
    await bench.listen()
    await bench.steady("warming up")
    add(await bench.steady("streams alone"))
    for record in await bench.with_receivers():
        add(record)
    add(await bench.bulk())
    bench.hang_up()


class ServiceBench:
    """One service, its subscribers and a publisher."""

    def __init__(self, folder: Path, workload: Workload, load: Load, say: Say) -> None:
        self._workload = workload
        self._load = load
        self._say = say
        self._delays = Delays()
        self._next = 0
        self._messages = message_table(workload.messages)
        folder.mkdir()
        self.service = RunningService(
            folder,
            {
                "most_subscriptions": load.subscriptions,
                "messages_per_second": 1_000_000,
                "requests_per_second": 100_000,
                "webhook_private_addresses": True,
                "log_level": "warning",
            },
        )
        self._tokens = [
            self.service.token(f"subscriber-{n}", "subscriber") for n in range(SUBSCRIBERS)
        ]
        self._publisher = self.service.token("publisher", "publisher")
        self._idle = self.service.token("idle", "subscriber")
        say("starting the service")
        self.service.start()
        self.service.wait_until_ready()
        # A connection that has been idle is not used again: the service may be closing it.
        self._client = httpx.AsyncClient(
            base_url=self.service.address, timeout=120, limits=httpx.Limits(keepalive_expiry=2)
        )
        self._streams: list[EventStream] = []
        self._readers: list[asyncio.Task[None]] = []

    async def subscribe(self) -> Record:
        """All subscriptions, in bulk, dealt out to the subscribers."""
        self._say("subscribing")
        documents = [
            _feature(
                f"s{row['id']}",
                {"bbox": [row["west"], row["south"], row["east"], row["north"]]},
                {"keywords": row["keywords"]},
            )
            for row in subscription_table(self._workload.subscriptions).to_pylist()
        ]
        begin = time.perf_counter()
        for number, token in enumerate(self._tokens):
            mine = documents[number::SUBSCRIBERS]
            for first in range(0, len(mine), SUBSCRIPTIONS_A_POST):
                lines = mine[first : first + SUBSCRIPTIONS_A_POST]
                await self._post("/v1/subscriptions", lines, token)
        seconds = time.perf_counter() - begin
        await self._until_read()
        return self._record(
            "subscribe", 0, 0.0, {"subscriptions_per_second": len(documents) / seconds}
        )

    async def listen(self) -> None:
        """Open all streams, those that get events and those that get none."""
        self._say("opening streams")
        tokens = [*self._tokens, *[self._idle] * self._load.idle_streams]
        for first in range(0, len(tokens), 100):
            streams = [
                EventStream(self.service.address, token, self._note)
                for token in tokens[first : first + 100]
            ]
            await asyncio.gather(*(stream.open() for stream in streams))
            self._streams += streams
        self._readers = [asyncio.create_task(stream.read()) for stream in self._streams]

    async def steady(self, name: str) -> Record:
        """So many messages a second for a while; how long do deliveries take?"""
        self._say(name)
        return await self._measure(name)

    async def with_receivers(self) -> list[Record]:
        """The same with webhooks that answer, and with some that never do, in turn.

        In turn, because a machine has better and worse minutes.
        """
        answering, hanging = Receiver(hangs=False), Receiver(hangs=True)
        await answering.start()
        await hanging.start()
        runs: dict[str, list[Record]] = {"receivers answer": [], "some receivers hang": []}
        delays: dict[str, Delays] = {name: Delays() for name in runs}
        for turn in range(TURNS):
            for name in runs:
                others = answering if name == "receivers answer" else hanging
                await self._point_webhooks(answering, others)
                self._say(f"{name}, {turn + 1} of {TURNS}")
                runs[name].append(await self._measure(name))
                delays[name].add(self._delays)
        answering.stop()
        hanging.stop()
        found = []
        for name, records in runs.items():
            details = {**records[-1].details, **delays[name].percentiles()}
            details["deliveries"] = len(delays[name].taken)
            sent = sum(record.messages for record in records)
            matches = len(delays[name].taken) / sent
            found.append(self._record(name, sent, matches, details, checked=sent))
        found[1].details["p99_against_all_answer"] = (
            found[1].details["p99_ms"] / found[0].details["p99_ms"]
        )
        found[1].details["posts_that_hang"] = hanging.posts
        return found

    async def _point_webhooks(self, first: Receiver, others: Receiver) -> None:
        """New webhooks, of some subscribers to one receiver, of some to the other.

        New ones, because an old one would first bring what it could not bring before.
        """
        count, path = self._load.webhooks, "/v1/webhooks/hook"
        for number, token in enumerate(self._tokens[: 2 * count]):
            url = (first if number < count else others).url
            await self._client.delete(path, headers=bearer(token))
            answer = await self._client.put(path, json={"url": url}, headers=bearer(token))
            answer.raise_for_status()

    async def _measure(self, name: str) -> Record:
        load = self._load
        self._delays = delays = Delays()
        first = self._next
        size = load.messages_a_second // POSTS_A_SECOND
        begin = time.perf_counter()
        posts: list[asyncio.Task[Any]] = []
        for turn in range(load.seconds * POSTS_A_SECOND):
            await asyncio.sleep(max(0.0, begin + turn / POSTS_A_SECOND - time.perf_counter()))
            posts.append(asyncio.create_task(self._publish(size)))
        await asyncio.gather(*posts)
        sending = time.perf_counter() - begin
        expected = self._expected(first, self._next)
        await self._until(lambda: len(delays.taken) >= expected)
        await self._until_read()
        if len(delays.taken) != expected:
            raise AssertionError(f"{len(delays.taken):,} deliveries, {expected:,} expected")
        sent = self._next - first
        details = {
            **delays.percentiles(),
            "deliveries": expected,
            "open_streams": len(self._streams),
            "sent_per_second": sent / sending,
            "pipeline": await self._pipeline(),
        }
        return self._record(name, sent, expected / sent, details, checked=sent)

    async def bulk(self) -> Record:
        """As fast as one publisher can post a thousand at a time, while all streams are read.

        It is a process of its own and has its lines ready: not the load is measured here.
        """
        self._say("bulk")
        bodies = [self._lines(BULK) for _ in range(self._load.bulk_messages // BULK)]
        sent = BULK * len(bodies)
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as publisher:
            await asyncio.wrap_future(publisher.submit(os.getpid))  # it has started
            begin = time.perf_counter()
            accepting = await asyncio.wrap_future(
                publisher.submit(post_all, self.service.address, self._publisher, bodies)
            )
        await self._until_read()
        details = {
            "accepted_per_second": sent / accepting,
            "processed_per_second": sent / (time.perf_counter() - begin),
        }
        return self._record("bulk", sent, 0.0, details)

    def hang_up(self) -> None:
        """Close all streams."""
        for reader in self._readers:
            reader.cancel()
        for stream in self._streams:
            stream.close()

    def _note(self, now: int, sent: int) -> None:
        self._delays.note(now, sent)

    async def _publish(self, count: int) -> None:
        await self._post("/v1/messages/bulk", self._lines(count), self._publisher)

    def _lines(self, count: int) -> list[str]:
        """The next so many messages, whose ids tell when they were made."""
        first, self._next = self._next, self._next + count
        now = time.time_ns()
        return [
            _feature(
                f"{now}-{i}",
                {"geometry": {"type": "Point", "coordinates": [row["lon"], row["lat"]]}},
                {"text": row["text"]},
            )
            for i, row in enumerate(self._messages.slice(first, count).to_pylist(), first)
        ]

    async def _post(self, path: str, lines: list[str], token: str) -> None:
        check_accepted(
            await self._client.post(path, content="\n".join(lines), headers=line_headers(token))
        )

    def _expected(self, first: int, last: int) -> int:
        index = RarestWordTree()
        index.insert_batch(self._workload.subscriptions)
        messages = self._workload.messages.take(np.arange(first, last))
        return len(index.match_batch(messages).to_arrow())

    async def _pipeline(self) -> dict[str, float]:
        answer = await self._client.get("/metrics")
        return {
            name: float(value)
            for line in answer.text.splitlines()
            if line.startswith("nearcast_pipeline")
            for name, value in [line.rsplit(" ", 1)]
        }

    async def _until_read(self) -> None:
        """Until the pipeline has read all there is."""
        await self._until(self._is_read)

    async def _is_read(self) -> bool:
        return (await self._pipeline()).get("nearcast_pipeline_lag_rows") == 0

    async def _until(self, is_true: Callable[[], Any]) -> None:
        deadline = time.monotonic() + 300
        while True:
            found = is_true()
            if await found if asyncio.iscoroutine(found) else found:
                return
            if time.monotonic() > deadline:
                raise TimeoutError("the service did not get there in five minutes")
            await asyncio.sleep(0.2)

    def _record(
        self, name: str, messages: int, matches: float, details: dict[str, Any], checked: int = 0
    ) -> Record:
        median = 1000 * details.get("median_ms", 0.0)
        return Record(
            name=NAME,
            index="RarestWordTree",
            data=self._workload.data,
            subscriptions=len(self._workload.subscriptions),
            messages=messages,
            matches_per_message=matches,
            candidates_per_message=None,
            microseconds_per_message=median,
            microseconds_per_message_passes=(median,),
            build_seconds=None,
            insert_microseconds=None,
            remove_microseconds=None,
            bytes_per_subscription=None,
            peak_rss_bytes=peak_rss_bytes(),
            answers_checked_against_oracle=checked,
            keywords_per_message=self._workload.keywords_per_message,
            workload=self._workload.description,
            details=details,
            messages_per_second=details.get("accepted_per_second", details.get("sent_per_second")),
            series="service",
            group="delivery" if "median_ms" in details else name,
            x=name,
        )


def _feature(id: str, place: dict[str, Any], properties: dict[str, Any]) -> str:
    document = {"type": "Feature", "id": id, "geometry": None, **place, "properties": properties}
    return json.dumps(document)
