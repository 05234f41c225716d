"""Places, lengths and messages as people say them."""

from __future__ import annotations

from nearcast.model import Box, Message, Place, Point, Space


def said_text(message: Message) -> str:
    """What a message says, and where."""
    said = message.text if message.text is not None else " ".join(message.keywords)
    return f"{said!r}, {place_text(message.at)}"


def place_text(place: Place) -> str:
    """Where a message is."""
    if isinstance(place, Point):
        return f"at {place.lon:g}, {place.lat:g}"
    return f"in the box {box_text(place)}"


def box_text(box: Box) -> str:
    """The four borders."""
    return f"{box.west:g}, {box.south:g}, {box.east:g}, {box.north:g}"


def length_text(length: float, space: Space) -> str:
    """A length as people say it; never 0, for a place that is outside is outside."""
    if space is Space.PLANE:
        return f"{length:.3g} units"
    if length >= 9_950:
        return f"{length / 1000:,.0f} km"
    if length >= 999.5:
        return f"{length / 1000:.2g} km"
    return f"{length:.0f} m" if length >= 0.5 else "less than 1 m"
