import io
import threading

import pytest
from rich.console import Console

from nearcast.datasets import City
from nearcast.demo import show as module
from nearcast.demo.failure import DemoFailed
from nearcast.demo.figures import Figures
from nearcast.demo.people import LOOKS_FOR, people_of
from nearcast.demo.show import Show
from nearcast.demo.status import Status

FIGURES = Figures(
    clock="16:42",
    seconds=12.0,
    subscriptions=2_011,
    messages=1_234,
    matches=5_678,
    by_stream=5_000,
    by_webhook=600,
    lag=7,
    median_milliseconds=321.4,
    newest=("leila", "fresh coffee and cake"),
)


@pytest.fixture(autouse=True)
def small_and_quick(monkeypatch):
    monkeypatch.setattr(module, "PEOPLE", 20)
    monkeypatch.setattr(module, "TICK_SECONDS", 0.04)


@pytest.fixture
def ending():
    return threading.Event()


@pytest.fixture
def started(service, ending):
    said = Console(file=io.StringIO(), width=200)
    return Show(service, service.address, Status(said), ending), said.file


def test_the_city_is_fed_and_everybody_is_told(service, started):
    show, said = started
    began = []
    figures = show.run(0.5, on_begin=lambda: began.append(len(service.messages)))
    assert began == [1]  # the first words have come through
    assert figures.seconds >= 0.5
    assert figures.subscriptions == 42
    assert figures.messages == len(service.messages) - 1 > 0
    assert figures.matches == figures.deliveries == 13 * figures.messages
    assert figures.by_webhook == figures.messages
    assert figures.median_milliseconds > 0
    assert set(service.subscriptions) == {person.subscriber for person in people_of(City())} | {
        "city",
        "reporters",
        "walkers",
    }
    assert set(service.positions) == set(LOOKS_FOR) == set(service.subscriptions["walkers"])
    assert len(service.subscriptions["city"]) == 21
    assert service.acknowledged["city"] == max(
        event["id"] for event in service.events("city", 0, 10**6)
    )
    assert len({message["id"] for message in service.messages}) == len(service.messages)
    assert service.live_tokens == {}
    assert service.webhooks == {}
    lines = said.getvalue().splitlines()
    assert lines[0].startswith("42 subscriptions are registered. Spark is starting")
    assert lines[1].startswith("Spark runs.")
    assert lines[2].startswith("16:30  10 messages, ")


def test_a_second_run_goes_on_behind_the_first(service, ending):
    def figures():
        status = Status(Console(file=io.StringIO(), width=200))
        show = Show(service, service.address, status, ending)
        return show.run(0.2, on_begin=lambda: None)

    first, second = figures(), figures()
    assert second.deliveries == second.matches == 13 * second.messages > 0
    ids = [message["id"] for message in service.messages]
    assert len(set(ids)) == len(ids) == first.messages + second.messages + 2


def test_it_ends_when_it_is_asked_to(service, started, ending):
    show, _ = started
    figures = show.run(None, on_begin=threading.Timer(0.2, ending.set).start)
    assert figures.messages > 0
    assert service.live_tokens == {}


def test_it_ends_while_spark_starts(service, started, ending):
    show, _ = started
    service.pipeline.status.state = "starting"
    threading.Timer(0.2, ending.set).start()
    figures = show.run(None, on_begin=lambda: pytest.fail("Spark does not run"))
    assert (figures.messages, figures.matches, figures.deliveries) == (0, 0, 0)
    assert figures.summary() == "Ended before the first message."
    assert service.live_tokens == {}


def test_a_pipeline_that_fails_ends_it(service, started):
    show, _ = started
    service.pipeline.status.state = "failed"
    service.pipeline.status.problem = "no memory"
    with pytest.raises(DemoFailed, match="Spark did not start: no memory"):
        show.run(None, on_begin=lambda: None)
    assert service.live_tokens == {}


def test_figures_in_words_and_for_machines():
    assert FIGURES.line() == (
        "16:42  1,234 messages, 5,678 matches, 5,600 deliveries, lag 7, 321 ms to deliver"
    )
    assert FIGURES.heard() == "leila hears: fresh coffee and cake"
    assert FIGURES.summary() == (
        "In 12 s, 1,234 messages met 2,011 subscriptions: 5,678 matches, 5,600 deliveries "
        "(5,000 by stream, 600 by webhook), half of them within 321 ms of publishing."
    )
    assert FIGURES.record() == {
        "seconds": 12.0,
        "subscriptions": 2_011,
        "messages": 1_234,
        "matches": 5_678,
        "by_stream": 5_000,
        "by_webhook": 600,
        "lag": 7,
        "median_milliseconds": 321.4,
        "deliveries": 5_600,
    }


def test_a_terminal_has_two_lines_that_change():
    console = Console(file=io.StringIO(), width=120, force_terminal=True)
    with Status(console) as status:
        status.say("Spark runs.")
        status.show(FIGURES)
    written = console.file.getvalue()
    assert "Spark runs." in written
    assert "1,234 messages" in written
    assert "leila hears" in written
    assert written.count("\x1b[2K") >= 2  # taken away at the end


def test_elsewhere_there_is_a_line_now_and_then():
    console = Console(file=io.StringIO(), width=20)
    with Status(console) as status:
        for _ in range(3):
            status.show(FIGURES)
    assert console.file.getvalue() == f"{FIGURES.line()}; {FIGURES.heard()}\n"
