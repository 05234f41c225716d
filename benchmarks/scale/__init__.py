"""`scale`: what does a shard cost, and which cluster follows from it?

Shards run one after the other on one core. What one shard costs is fitted on one shard of several
sizes; what several cost is predicted from that and from how messages and subscriptions are divided,
and then measured.
"""

from benchmarks.figure import Figure

NAME = "scale"
ONE_SHARD, LAW, ROUTING, CHECK, CLUSTER = "one shard", "law", "routing", "check", "cluster"
"""Groups of its records."""

FIGURE = Figure(
    name=NAME,
    title="Scale: one shard, and what is predicted for several",
    x_label="",
    finding="",
    panels=(),  # `benchmarks.scale.draw` draws it
    points=lambda scale: iter(()),  # it has a runner of its own, `run_scale`
)
