import io

import pytest
from rich.console import Console

from nearcast import demo
from nearcast.demo.city_map import CityMap
from nearcast.demo.lines import LineDisplay, summary
from nearcast.demo.screen import ScreenDisplay, picture
from nearcast.demo.simulation import Simulation
from nearcast.model import Box, Point


@pytest.fixture(scope="module")
def simulation():
    made = Simulation(people=150)
    made.open()
    for _ in range(60):
        made.tick()
    return made


def drawn(renderable, columns, rows):
    console = Console(width=columns, height=rows, file=io.StringIO(), force_terminal=False)
    console.print(renderable, height=rows)
    return console.file.getvalue().splitlines()


@pytest.mark.parametrize(("columns", "rows"), [(200, 60), (130, 40), (100, 24), (80, 24), (40, 10)])
def test_the_picture_fills_any_terminal(simulation, columns, rows):
    lines = drawn(picture(simulation, columns, rows), columns, rows)
    assert len(lines) >= rows
    assert all(len(line) <= columns for line in lines)


def test_the_picture_shows_rates_people_events_and_the_busiest(simulation):
    text = "\n".join(drawn(picture(simulation, 150, 45), 150, 45))
    assert "160 subscriptions" in text
    assert "08:01:00" in text
    for person in simulation.people:
        assert person.wish in text
    assert simulation.latest["Ravi"].message.text in text
    for burst in simulation.bursts:
        assert f"{burst.kind} at {burst.venue.name}" in text
    busiest, received = simulation.busiest(1)[0]
    assert f"{busiest.id} " in text
    assert f"{received}" in text


def test_a_narrow_terminal_has_no_map(simulation):
    narrow, wide = (picture(simulation, columns, 40) for columns in (80, 130))
    assert "somebody wanted" not in "\n".join(drawn(narrow, 80, 40))
    assert "somebody wanted" in "\n".join(drawn(wide, 130, 40))


def test_the_map_has_north_at_the_top_and_east_at_the_right():
    def lit(*points, marks=None):
        bounds = Box(0, 0, 10, 10)
        return drawn(CityMap(bounds, [], [list(points)], marks or {}), 4, 2)

    assert lit(Point(0, 10)) == ["⠁   ", "    "]
    assert lit(Point(10, 10)) == ["   ⠈", "    "]
    assert lit(Point(0, 0)) == ["    ", "⡀   "]
    assert lit(Point(10, 0)) == ["    ", "   ⢀"]
    assert lit(Point(0, 0), Point(0.1, 2)) == ["    ", "⡄   "]
    assert lit(Point(0, 0), marks={Point(0, 0): ("!", "red")}) == ["    ", "!   "]


def test_the_newest_message_gives_a_place_its_colour():
    console = Console(width=2, height=1, file=io.StringIO(), record=True)
    old, new = [Point(0, 10), Point(10, 10)], [Point(0, 10)]
    console.print(CityMap(Box(0, 0, 10, 10), [], [new, [], [], [], [], old], {}), height=1)
    picture = console.export_html(inline_styles=True)
    assert "#fff4c2" in picture  # as new
    assert "#4d2f2c" in picture  # as old


def test_without_a_terminal_there_is_a_line_every_ten_ticks():
    made = Simulation(people=50)
    made.open()
    said = []
    with LineDisplay(said.append) as display:
        for _ in range(20):
            made.tick()
            display.show(made)
    assert [line[:8] for line in said] == ["08:00:10", "08:00:20"]
    assert f"{made.messages:,} messages, {made.matches:,} matches" in said[-1]
    assert " hears: " in said[-1]


def test_the_summary_says_how_much_happened(simulation):
    text = summary(simulation, 12.0)
    assert f"In 12 s, {simulation.messages:,} messages met 160 subscriptions" in text
    assert f"{simulation.matches:,} matches" in text
    assert "Busiest: " in text
    assert f"Ravi {simulation.got(simulation.people[3])}" in text


def test_a_summary_of_nothing_is_short():
    made = Simulation(people=0)
    made.open()
    assert summary(made, 0.0) == "In 0 s, 0 messages met 10 subscriptions: 0 matches."


def test_the_screen_is_given_back(simulation):
    console = Console(width=120, height=40, file=io.StringIO(), force_terminal=True)
    with ScreenDisplay(console) as display:
        display.show(simulation)
    output = console.file.getvalue()
    enter, leave = "\x1b[?1049h", "\x1b[?1049l"
    assert output.index(enter) < output.index("a simulated city") < output.index(leave)


def test_run_says_what_it_does_and_ends_with_a_summary(monkeypatch, capsys):
    monkeypatch.setattr(demo, "PEOPLE", 100)

    def ten_ticks(simulation, display, *, seconds):
        assert seconds == 2.0
        for _ in range(10):
            simulation.tick()
            display.show(simulation)
        return seconds

    monkeypatch.setattr(demo, "play", ten_ticks)
    assert demo.run(2.0) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "wakes up" in lines[0]
    assert "compiles" in lines[1]
    assert lines[2] == "110 subscriptions are listening."
    assert lines[3].startswith("08:00:10")
    assert lines[4].startswith("In 2 s, ")
