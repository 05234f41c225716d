"""What is talked about in a city, in two regions and around a point, at three times: a picture.

The case study of the paper on top-k term subscriptions (section 5.4), on incidents that were
reported in Chicago where that data set is on this machine (`NEARCAST_DATA`), else on a simulated
city. Letters are as large as scores are high. Whoever asks around a point hears of what is said
everywhere, of what is near most; a region has nothing but its own.

Prints:
    ... documents of ...
    around the centre: ...
    in the middle of the town: ...
    in a district: ...
    the picture is ...trending_case_study.png
"""

import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from math import cos, radians, sin, sqrt
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse, Rectangle

import nearcast as nc
from nearcast.batches import MessageBatch
from nearcast.datasets import City, DataAbsentError, chicago
from nearcast.trending import ENGLISH_STOP_WORDS, CellRows, TermFields, TermRules

HOUR = 3600.0
METRES = 111_195.0  # of a degree
TERMS = TermRules(ENGLISH_STOP_WORDS | {"ave", "blvd", "300", "500"}, shortest=3)
RED, PURPLE, GREEN = "crimson", "rebeccapurple", "seagreen"
PICTURE = Path(tempfile.gettempdir()) / "trending_case_study.png"

mpl.use("agg")  # writes files; needs no screen


@dataclass(frozen=True)
class Case:
    """Documents in the order of time, the moments to look at, and who wants to know."""

    name: str
    documents: MessageBatch
    moments: dict[str, float]
    half_life: float
    point: nc.NearbyTrendingSubscription
    box: nc.TrendingSubscription
    circle: nc.TrendingSubscription


def incidents() -> Case:
    """Ten days of Chicago, up to the night of the fourth of July."""
    days = {
        "Sunday, 1 July, 3 am": datetime(2018, 7, 1, 3, tzinfo=UTC),
        "Tuesday, 3 July, noon": datetime(2018, 7, 3, 12, tzinfo=UTC),
        "Wednesday, 4 July, midnight": datetime(2018, 7, 5, tzinfo=UTC),
    }
    moments = {name: day.timestamp() for name, day in days.items()}
    everything = chicago()
    last = max(moments.values())
    is_recent = (everything.time > last - 240 * HOUR) & (everything.time <= last)
    return Case(
        "incidents reported in Chicago",
        everything.take(np.flatnonzero(is_recent)),
        moments,
        6 * HOUR,
        nc.NearbyTrendingSubscription("around the centre", nc.Point(-87.632, 41.884), k=30),
        nc.TrendingSubscription(
            "in the middle of the town", nc.Box(-87.66, 41.868, -87.60, 41.912), k=30
        ),
        nc.TrendingSubscription(
            "in a district", nc.Circle(nc.Point(-87.655, 41.779), 4_000.0), k=30
        ),
    )


def simulation() -> Case:
    """A town that nobody lives in."""
    city = City(seed=1)
    ticks = city.ticks(messages_per_tick=5)
    documents = MessageBatch.from_messages(
        message for tick in islice(ticks, 400) for message in tick
    )
    bounds = city.bounds
    lon, lat = (bounds.west + bounds.east) / 2.0, (bounds.south + bounds.north) / 2.0
    width, height = (bounds.east - bounds.west) / 6.0, (bounds.north - bounds.south) / 6.0
    times = np.sort(documents.time)
    moments = {
        f"after {len(times) * part // 3:,} messages": float(times[len(times) * part // 3 - 1])
        for part in (1, 2, 3)
    }
    return Case(
        "messages of a simulated city",
        documents.take(np.argsort(documents.time, kind="stable")),
        moments,
        float(np.ptp(times)) / 20.0 or 1.0,
        nc.NearbyTrendingSubscription("around the centre", nc.Point(lon, lat), k=30),
        nc.TrendingSubscription(
            "in the middle of the town",
            nc.Box(lon - width, lat - height, lon + width, lat + height),
            k=30,
        ),
        nc.TrendingSubscription(
            "in a district", nc.Circle(nc.Point(lon + 2 * width, lat), 1_500.0), k=30
        ),
    )


def lists_at_each_moment(case: Case) -> dict[str, dict[str, tuple[tuple[str, float], ...]]]:
    """The lists of all three, as they are when the documents until each moment have come."""
    regions = CellRows(half_life=case.half_life, terms=TERMS)
    places = TermFields(half_life=case.half_life, a=2_000.0, terms=TERMS)
    regions.subscribe_many([case.box, case.circle])
    places.subscribe(case.point)
    lists, done = {}, 0
    for name, moment in case.moments.items():
        end = int(np.searchsorted(case.documents.time, moment, side="right"))
        documents = case.documents.take(np.arange(done, end))
        for index in (regions, places):
            index.publish_batch(documents)
            index.advance(moment)
        done = end
        lists[name] = {
            id: (regions if id in regions else places).top(id, moment)
            for id in (case.point.id, case.box.id, case.circle.id)
        }
    return lists


def draw_map(axes: Axes, case: Case) -> None:
    """Where documents are, and who wants to know."""
    at = case.documents.middles()
    axes.scatter(*at.T, s=2, color="grey", alpha=0.4, linewidths=0)
    box, circle = case.box.region, case.circle.region
    point = case.point.at
    axes.add_patch(
        Rectangle(
            (box.west, box.south), box.east - box.west, box.north - box.south,
            fill=False, edgecolor=PURPLE, linewidth=2,
        )
    )  # fmt: skip
    up = 2.0 * circle.radius / METRES
    across = up / cos(radians(circle.centre.lat))
    middle = (circle.centre.lon, circle.centre.lat)
    axes.add_patch(Ellipse(middle, across, up, fill=False, edgecolor=GREEN, linewidth=2))
    axes.plot(point.lon, point.lat, "o", color=RED)
    axes.set_aspect(1.0 / cos(radians(point.lat)))
    axes.set_xticks([])
    axes.set_yticks([])


def draw_cloud(axes: Axes, ranked: tuple[tuple[str, float], ...], colour: str) -> None:
    """Best terms first, each as near to the middle as there is room on a spiral."""
    axes.set_axis_off()
    canvas = axes.figure.canvas
    frame = axes.get_window_extent(canvas.get_renderer())
    taken = []
    highest = ranked[0][1] if ranked else 1.0
    for term, score in ranked:
        size = 5.0 + 21.0 * sqrt(score / highest)
        text = axes.text(
            0.5, 0.5, term, size=size, color=colour, ha="center", va="center",
            transform=axes.transAxes, alpha=0.4 + 0.6 * score / highest,
        )  # fmt: skip
        in_the_middle = text.get_window_extent(canvas.get_renderer())
        for step in range(300):
            turn, far = 0.6 * step, 0.0018 * step
            x, y = far * cos(turn), 0.8 * far * sin(turn)
            area = in_the_middle.translated(x * frame.width, y * frame.height)
            is_inside = frame.x0 <= area.x0 and area.x1 <= frame.x1
            if is_inside and not any(area.overlaps(other) for other in taken):
                text.set_position((0.5 + x, 0.5 + y))
                taken.append(area)
                break
        else:
            text.remove()


def draw(case: Case, lists: dict[str, dict[str, tuple[tuple[str, float], ...]]]) -> Figure:
    """A row for each moment, a column for each who wants to know, and the map."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = Figure(figsize=(16, 10), dpi=100)
    FigureCanvasAgg(figure)
    grid = figure.add_gridspec(
        len(lists), 4, width_ratios=(1.1, 1, 1, 1), left=0.02, right=0.99, bottom=0.02, top=0.92
    )
    map_axes = figure.add_subplot(grid[:, 0])
    draw_map(map_axes, case)
    map_axes.set_title(case.name)
    colours = {case.point.id: RED, case.box.id: PURPLE, case.circle.id: GREEN}
    for row, (moment, found) in enumerate(lists.items()):
        for column, (id, ranked) in enumerate(found.items()):
            axes = figure.add_subplot(grid[row, column + 1])
            axes.set_title(f"{id}\n{moment}", fontsize="medium", color=colours[id])
            draw_cloud(axes, ranked, colours[id])
    figure.suptitle("What is talked about: letters are as large as scores are high")
    return figure


def main() -> None:
    """The lists, the five best terms of each at the end, and the picture."""
    try:
        case = incidents()
    except DataAbsentError:
        case = simulation()
    lists = lists_at_each_moment(case)
    print(f"{len(case.documents):,} documents of {case.name}")
    *_, last = lists.values()
    for id, ranked in last.items():
        print(f"{id}:", ", ".join(term for term, _ in ranked[:5]))
    draw(case, lists).savefig(PICTURE)
    print("the picture is", PICTURE)


if __name__ == "__main__":
    main()
