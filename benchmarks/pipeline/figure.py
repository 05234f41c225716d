"""How the pipeline's records are drawn."""

from benchmarks.figure import Figure, Panel

FIGURE = Figure(
    name="pipeline",
    title="Pipeline on Spark: batch, growth against a plain join, streams",
    x_label="",
    finding=(
        "Batch is everything from files to pairs, Spark's start excepted. The plain join is a "
        "range condition and array containment. A stream's batch counts from trigger to commit, "
        "with subscriptions changing at the same time. Of each kind a stream and one process take "
        "the same rows, and tell the same. A keeper is killed before a batch comes."
    ),
    panels=(
        Panel("batch", "batch", "messages_per_second", "messages a second"),
        Panel(
            "both tables grow (rows a side)",
            "growth",
            "microseconds_per_message",
            "µs per message",
            logarithmic_x=True,
        ),
        Panel(
            "stream (messages a batch)",
            "stream",
            "batch_milliseconds",
            "median batch (ms)",
            logarithmic_x=True,
        ),
        Panel("stream of each kind", "kinds", "messages_per_second", "messages a second"),
        Panel("after kill -9 of the keeper", "recovery", "recovery_seconds", "s until a batch"),
    ),
    points=lambda scale: iter(()),  # it has a runner of its own, `run_pipeline`
)
