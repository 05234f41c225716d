"""One round against a real service: publish, subscribe, kill -9, and compare what arrives.

The client does one thing at a time and repeats it until it is acknowledged, so that what should
arrive is known exactly, whatever was killed in between.
"""

import asyncio
import json
import os
import random
import signal
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from benchmarks.service.running import RunningService, child_of
from nearcast.broker import Broker
from nearcast.explain import explain
from nearcast.model import (
    Circle,
    Message,
    MovingSubscription,
    Point,
    Subscription,
    TopKSubscription,
    TrendingSubscription,
)
from nearcast.service.documents import message_document, moved_to, named, subscription_document
from nearcast.topk import CountWindow, ScanTopK
from tests.soak.memory import growth, megabytes

JUMPING_CLOCK = Path(__file__).with_name("jumping_clock")

SERVICE, PIPELINE, JAVA = KINDS = ("service", "pipeline", "java")
"""What is killed: the process of the service, that of the pipeline, the Java of the pipeline."""
SUBSCRIBERS = ("ann", "bob", "eve")
WORDS = ("tea", "cake", "jazz", "bus", "sale")
SECONDS_OF_PATIENCE = 600.0
"""Nothing arrives for so long: the pipeline hangs. On a busy machine it may compile for minutes."""
KEPT_EVENTS = 20_000
WINDOW = 50
"""Messages that top-k lists are made of: the oracle looks at all of them each time."""
FARTHEST = 500_000.0
SECONDS_A_RECEIVER_HAS = 1.0
FARTHEST_JUMP = 7_200.0
"""Of the clock, in seconds, either way: far less than events are kept."""
MOST_BEHIND = 2_000
"""Events that a subscriber may still have to get when more is published: half of what the service
keeps for one of them, so that nobody may be told of a gap."""


@dataclass
class ServiceResult:
    """What a round did, and what was wrong."""

    seed: int
    kills: Counter[str]
    faults: Counter[str] = field(default_factory=Counter)
    megabytes: tuple[int, int] = (0, 0)
    messages: int = 0
    changes: int = 0
    events: int = 0
    repeated: int = 0
    problems: list[str] = field(default_factory=list)

    def __str__(self):
        killed = ", ".join(f"{count} {kind}" for kind, count in self.kills.items())
        faults = ", ".join(f"{count} {kind}" for kind, count in sorted(self.faults.items()))
        end = "; ".join(self.problems) or "exact"
        return (
            f"seed {self.seed}, service: kills of {killed}; {faults}; {self.messages} messages, "
            f"{self.changes} changes, {self.events} events, {self.repeated} more than once, "
            f"{self.megabytes[0]} to {self.megabytes[1]} MB: {end}"
        )


def play_service(folder, seed, kills):
    """So many kills, of each kind in turn; the answer is a result."""
    return asyncio.run(_Round(folder, seed, kills).play())


class _Round:
    def __init__(self, folder, seed, kills):
        self._draw = random.Random(f"service {seed}")
        self._kinds = [KINDS[n % len(KINDS)] for n in range(kills)]
        self._result = ServiceResult(seed, Counter(dict.fromkeys(KINDS, 0)))
        self._clock = folder / "clock"
        data = folder / "data"
        data.mkdir()
        self._service = RunningService(
            data,
            {
                "webhook_private_addresses": True,
                "requests_per_second": 10_000,
                # Little is kept, so that kills fall between old rows that go and new ones.
                "keep_messages": 2_000,
                "keep_events": KEPT_EVENTS,
                "window": str(WINDOW),
                "farthest": FARTHEST,
                "webhook_seconds": SECONDS_A_RECEIVER_HAS,
            },
            {
                "NEARCAST_SOAK_CLOCK": str(self._clock),
                "PYTHONPATH": os.pathsep.join(
                    [str(JUMPING_CLOCK), os.environ.get("PYTHONPATH", "")]
                ),
            },
        )
        self._tokens = {
            name: self._service.token(name, "subscriber", "publisher") for name in SUBSCRIBERS
        }
        self._subscriptions = {}
        # Those that have a result, in a broker that nobody kills.
        self._hosted = Broker(top=ScanTopK(CountWindow(WINDOW), max_dist=FARTHEST))
        self._expected = {name: [] for name in SUBSCRIBERS}
        self._readers = {name: _Reader(self, name) for name in SUBSCRIBERS}
        self._hook = _Hook(self._result.faults)
        self._deaf = _Hook(self._result.faults, is_deaf=True)
        self._number = 0

    async def play(self):
        await self._hook.start()
        await self._deaf.start()
        await asyncio.to_thread(self._service.start)
        await asyncio.to_thread(self._service.wait_until_ready)
        self._client = httpx.AsyncClient(timeout=30)
        tasks = [asyncio.create_task(reader.run()) for reader in self._readers.values()]
        try:
            await self._call("PUT", "ann", "/v1/webhooks/hook", json={"url": self._hook.url})
            await self._call("PUT", "ann", "/v1/webhooks/deaf", json={"url": self._deaf.url})
            megabytes = self._megabytes()
            killing = asyncio.create_task(self._kill_all())
            while not killing.done():
                if self._behind() < MOST_BEHIND:
                    await self._act()
                else:
                    await asyncio.sleep(0.1)
            await killing
            for _ in range(10):
                await self._act()
            await self._until_all_is_there()
            self._result.megabytes = megabytes, self._megabytes()
            self._result.problems += growth(*self._result.megabytes)
        finally:
            for task in tasks:
                task.cancel()
            self._hook.stop()
            self._deaf.stop()
            await self._client.aclose()
            with suppress(Exception):
                await asyncio.to_thread(self._service.stop)
        self._judge()
        return self._result

    # ------------------------------------------------------------ what the client does

    async def _act(self):
        action = self._draw.random()
        if action < 0.3 or not self._subscriptions:
            await self._change()
        elif action < 0.5:
            await self._move()
        else:
            await self._publish()

    async def _change(self):
        draw, owner = self._draw, self._draw.choice(SUBSCRIBERS)
        id = f"s{draw.randrange(6)}"
        path = f"/v1/subscriptions/{id}"
        self._result.changes += 1
        if (owner, id) in self._subscriptions and draw.random() < 0.3:
            await self._call("DELETE", owner, path, also=(404,))  # gone: by the attempt before
            del self._subscriptions[owner, id]
            self._end_result(owner, id)
            return
        region = self._region()
        words, either = draw.sample(WORDS, 2), " OR ".join(draw.sample(WORDS, 2))
        wanted = draw.choice(
            [
                Subscription(id, either, region),
                Subscription(id, either, region),
                MovingSubscription(id, either, region),
                TopKSubscription(id, words, region.centre, 3, draw.uniform(0.2, 0.8)),
                TrendingSubscription(id, region, 2),
            ]
        )
        await self._call("PUT", owner, path, json=subscription_document(wanted))
        self._subscriptions[owner, id] = wanted
        if type(wanted) is Subscription:
            self._end_result(owner, id)
        else:
            self._expect(self._hosted.subscribe(named(wanted, f"{owner}/{id}")), None)

    async def _move(self):
        """Somebody's subscriptions that have a result are all elsewhere."""
        owner, moved = self._draw.choice(SUBSCRIBERS), {}
        for (other, id), subscription in self._subscriptions.items():
            if other == owner and type(subscription) is not Subscription:
                place = self._region()
                if isinstance(subscription, TopKSubscription):
                    place = place.centre
                moved[id] = moved_to(subscription, place), place
        if not moved:
            return
        lines = [_position(subscription) for subscription, _ in moved.values()]
        answer = await self._call("POST", owner, "/v1/positions", content="\n".join(lines))
        assert answer.json()["moved"] == len(moved), answer.text
        self._result.changes += len(moved)
        for id, (subscription, place) in moved.items():
            self._subscriptions[owner, id] = subscription
            self._expect(self._hosted.move(f"{owner}/{id}", place), None)

    def _region(self):
        draw = self._draw
        return Circle(Point(draw.uniform(0, 1), draw.uniform(0, 1)), draw.uniform(2e4, 1e5))

    def _end_result(self, owner, id):
        if f"{owner}/{id}" in self._hosted:
            self._hosted.unsubscribe(f"{owner}/{id}")

    def _expect(self, told, cause):
        """Changed results, as their owners are told of them."""
        for each in told:
            owner, _, id = each.subscription_id.partition("/")
            if each.kind in ("enter", "leave"):
                event = cause, id, each.kind, each.message_id
            else:
                best = each.results if each.kind == "top" else each.terms
                event = cause, id, tuple(name for name, _ in best), each.entered, each.left
            self._expected[owner].append(event)

    async def _publish(self):
        draw = self._draw
        messages = []
        for _ in range(draw.randint(1, 5)):
            self._number += 1
            at = Point(draw.uniform(0, 1), draw.uniform(0, 1))
            text = " ".join(draw.choices(WORDS, k=2))
            messages.append(Message(f"m{self._number}", text=text, at=at, time=0.0))
        lines = "\n".join(json.dumps(message_document(each)) for each in messages)
        await self._call("POST", "bob", "/v1/messages/bulk", content=lines)
        if draw.random() < 0.2:  # as who did not hear the answer does
            await self._call("POST", "bob", "/v1/messages/bulk", content=lines)
            self._result.faults["messages twice"] += 1
        self._result.messages += len(messages)
        for message in messages:
            for (owner, id), subscription in self._subscriptions.items():
                is_boolean = type(subscription) is Subscription
                if is_boolean and explain(subscription, message).matches:
                    self._expected[owner].append((message.id, id))
            self._expect(self._hosted.publish(message), message.id)

    async def _call(self, method, name, path, also=(), **more):
        """Until it is acknowledged."""
        while True:
            with suppress(httpx.TransportError):
                answer = await self._client.request(
                    method, self._service.address + path, headers=self.bearer(name), **more
                )
                if answer.is_success or answer.status_code in also:
                    return answer
                if answer.status_code < 500:
                    raise AssertionError(f"{method} {path}: {answer.status_code} {answer.text}")
            await asyncio.sleep(0.05)

    def bearer(self, name):
        return {"authorization": f"Bearer {self._tokens[name]}"}

    @property
    def address(self):
        return self._service.address

    # ------------------------------------------------------------ what happens to it

    async def _kill_all(self):
        for kind in self._kinds:
            self._clock.write_text(str(self._draw.uniform(-FARTHEST_JUMP, FARTHEST_JUMP)))
            self._result.faults["clock jumps"] += 1
            if kind == SERVICE:
                await asyncio.sleep(self._draw.uniform(0.5, 4))
                await asyncio.to_thread(self._service.kill)
                await asyncio.to_thread(self._service.start)
            else:
                # Sometimes while Spark starts, sometimes in the middle of batches.
                if self._draw.random() < 0.7:
                    await asyncio.to_thread(self._service.wait_until_ready)
                await asyncio.sleep(self._draw.uniform(0, 4))
                await self._kill(kind)
            self._result.kills[kind] += 1

    async def _kill(self, kind):
        """A process of the pipeline, as soon as there is one."""
        since = time.monotonic()
        while time.monotonic() - since < SECONDS_OF_PATIENCE:
            pid = await asyncio.to_thread(self._service.pipeline_pid)
            if pid is not None and kind == JAVA:
                pid = await asyncio.to_thread(child_of, pid)
            if pid is not None:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                    return
            await asyncio.sleep(0.05)
        raise TimeoutError(f"there is no {kind} to be killed for {SECONDS_OF_PATIENCE:g} s")

    def _megabytes(self):
        """What the service, the pipeline and its Java have in memory."""
        pipeline = self._service.pipeline_pid()
        java = None if pipeline is None else child_of(pipeline)
        return megabytes(pid for pid in (self._service.pid, pipeline, java) if pid is not None)

    # ------------------------------------------------------------ what must be so afterwards

    async def _until_all_is_there(self):
        behind, since = self._behind(), time.monotonic()
        while behind > 0 and time.monotonic() - since < SECONDS_OF_PATIENCE:
            await asyncio.sleep(0.1)
            if self._behind() != behind:
                behind, since = self._behind(), time.monotonic()

    def _takers(self):
        """Each receiver with its name and what it should get."""
        for name, reader in self._readers.items():
            yield f"stream of {name}", reader, self._expected[name]
        yield "webhook of ann", self._hook, self._expected["ann"]

    def _behind(self):
        """How many events the slowest receiver has still to get."""
        return max(len(expected) - len(taker.events) for _, taker, expected in self._takers())

    def _judge(self):
        for where, taker, expected in self._takers():
            self._compare(where, taker.events, expected)
            self._result.repeated += taker.repeated
            self._result.events += len(taker.events)
            if taker.gaps:
                self._result.problems.append(f"{where}: told of gaps, {taker.gaps[:3]}")

    def _compare(self, where, events, expected):
        numbers = list(events)
        if numbers != sorted(numbers):
            self._result.problems.append(f"{where}: out of order")
        found = list(events.values())
        if [key[0] for key in found] != [key[0] for key in expected]:
            self._result.problems.append(f"{where}: not in the order of publishing")
        missing, extra = set(expected) - set(found), set(found) - set(expected)
        if missing or extra or len(found) != len(expected):
            self._result.problems.append(
                f"{where}: {len(found)} events, {len(expected)} expected; "
                f"missing {list(missing)[:3]}, too many {list(extra)[:3]}"
            )


def _position(subscription):
    """The line that says where a subscription is now."""
    document = subscription_document(subscription)
    radius = document["properties"].get("radius")
    document["properties"] = {} if radius is None else {"radius": radius}
    return json.dumps(document)


class _Taker:
    """Events by number, each once: what a consumer that deduplicates has."""

    def __init__(self):
        self.events = {}
        self.repeated = 0
        self.gaps = []

    def take(self, event):
        if event["kind"] == "gap":
            self.gaps.append(event)
            return
        if event["kind"] in ("enter", "leave"):
            key = event["cause"], event["subscription"], event["kind"], event["message_id"]
        elif event["kind"] in ("top", "trend"):
            best = [each["message"] for each in event.get("results", ())]
            best += [each["term"] for each in event.get("terms", ())]
            entered, left = tuple(event["entered"]), tuple(event["left"])
            key = event["cause"], event["subscription"], tuple(best), entered, left
        else:
            key = event["message"]["id"], event["subscription"]
        if event["id"] in self.events:
            self.repeated += 1
            assert self.events[event["id"]] == key, f"event {event['id']} has changed"
        self.events[event["id"]] = key


class _Reader(_Taker):
    """Follows the stream of a subscriber, from where it was, through every crash."""

    def __init__(self, round, name):
        super().__init__()
        self._round = round
        self._name = name

    async def run(self):
        async with httpx.AsyncClient(timeout=httpx.Timeout(30, read=None)) as client:
            while True:
                with suppress(httpx.TransportError):
                    await self._follow(client)
                await asyncio.sleep(0.05)

    async def _follow(self, client):
        headers = self._round.bearer(self._name)
        if self.events:
            headers["last-event-id"] = str(max(self.events))
        url = self._round.address + "/v1/events/stream"
        async with client.stream("GET", url, headers=headers) as answer:
            async for line in answer.aiter_lines():
                if line.startswith("data:"):
                    self.take(json.loads(line.removeprefix("data:")))


class _Hook(_Taker):
    """A webhook receiver that now and then fails, is slow or hangs; a deaf one always hangs."""

    def __init__(self, faults, is_deaf=False):
        super().__init__()
        self._faults = faults
        self._is_deaf = is_deaf

    async def start(self):
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/hook"
        self._posts = 0

    def stop(self):
        self._server.close()

    async def _serve(self, reader, writer):
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                length = int(head.partition("content-length:")[2].partition("\r\n")[0])
                body = await reader.readexactly(length)
                self._posts += 1
                if self._is_deaf or self._posts % 7 == 0:
                    self._faults["hung receivers"] += 1
                    await reader.read()  # until the other side gives up
                    return
                if self._posts % 5 == 0:
                    self._faults["failing receivers"] += 1
                    writer.write(b"HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n")
                    continue
                if self._posts % 3 == 0:
                    self._faults["slow receivers"] += 1
                    await asyncio.sleep(SECONDS_A_RECEIVER_HAS / 2)
                for event in json.loads(body)["events"]:
                    self.take(event)
                writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # hung up
        finally:
            writer.close()
