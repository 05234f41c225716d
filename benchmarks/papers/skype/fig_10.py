"""Figure 10: how much should the two baselines of re-evaluation keep?"""

from collections.abc import Iterator

from benchmarks.figure import MATCHING, Figure, Panel, Scale
from benchmarks.topk.contenders import ROOM, Contender
from benchmarks.topk.points import BUFFERED, MACHINE, PAPER, Point, settings_of

KMAX, SKYBAND = "kmax", "threshold"


def points(scale: Scale) -> Iterator[Point]:
    settings = settings_of(scale)
    for kmax in (20, 40, 60, 80, 100, 120):
        changed = Contender("IGPTKmax", "IGPT-Kmax", {"buffer_factor": kmax / settings.k})
        yield Point(KMAX, kmax, changed, settings)
    for share in (1.0, 0.95, 0.9, 0.85, 0.8, 0.75):
        changed = Contender("IGPTSkyband", "IGPT-Skyband", {"threshold_share": share})
        yield Point(SKYBAND, share, changed, settings)
    for group, ends in ((KMAX, (20, 120)), (SKYBAND, (1.0, 0.75))):
        for x in ends:  # it has nothing to vary
            yield Point(group, x, ROOM["Skype"], settings)


FIGURE = Figure(
    name="skype/fig-10",
    title="Tuning kmax and the threshold of Skyband",
    x_label="kmax, or the share of the k-th score",
    finding="60 and 0.95 are the best of the baselines; cSkyband beats every setting of both.",
    panels=(
        Panel("Kmax", KMAX, *MATCHING, shows_limit=False),
        Panel("Kmax", KMAX, *BUFFERED, shows_limit=False),
        Panel("Skyband", SKYBAND, *MATCHING, shows_limit=False),
        Panel("Skyband", SKYBAND, *BUFFERED, shows_limit=False),
    ),
    points=points,
    machine=MACHINE,
    paper=PAPER,
)
