"""How the service's records are drawn."""

from benchmarks.figure import Figure, Panel

FIGURE = Figure(
    name="service",
    title="Service: from publishing to delivery",
    x_label="",
    finding=(
        "Median time from sending a message to its arrival at a subscriber's stream, without and "
        "with receivers that never answer."
    ),
    panels=(Panel("publish to delivery", "delivery", "microseconds_per_message", "median (µs)"),),
    points=lambda scale: iter(()),  # it has a runner of its own, `run_service`
)
