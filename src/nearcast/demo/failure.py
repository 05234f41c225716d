"""What the demo cannot go on after; one line says why."""


class DemoFailed(Exception):
    """The service did not start, or refused something."""
