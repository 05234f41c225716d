"""The districts of the simulated city: their streets, and what is said there only.

Filled in: `{street}`, `{clock}` (the time, 16:30) and `{part}` (of the day).
"""

from typing import NamedTuple


class District(NamedTuple):
    """A part of the city, with streets and words of its own."""

    streets: tuple[str, ...]
    said: tuple[str, ...]


DISTRICTS = {
    "Old Town": District(
        ("Castle Hill", "Chapel Lane", "Market Square"),
        (
            "cathedral bells at {clock}, pigeons everywhere on {street}",
            "street musicians play the accordion on {street}",
            "guided tour of the old town blocks {street}",
        ),
    ),
    "Harbour": District(
        ("Harbour Road", "Lighthouse Road", "Ferry Lane"),
        (
            "ferry is in, gulls fight for chips on {street}",
            "fresh fish from the boats on {street} this {part}",
            "the {clock} ferry is delayed, fog on the water",
        ),
    ),
    "University": District(
        ("Poplar Avenue", "Library Walk", "Garden Avenue"),
        (
            "library is full, everybody has an exam tomorrow",
            "lecture is over, students all over {street}",
            "somebody lost a thesis on {street}, no joke",
        ),
    ),
    "Foundry Quarter": District(
        ("Foundry Yard", "Quarry Road", "Weaver Street"),
        (
            "new mural on {street}, go and see it",
            "gallery opens in the old foundry on {street}",
            "skaters and graffiti on {street} this {part}",
        ),
    ),
    "Riverside": District(
        ("Canal Walk", "Bridge Street", "Mill Lane"),
        (
            "ducks and rowers on the river, sun on {street}",
            "flea market by the bridge on {street}",
            "runners and dogs along {street} this {part}",
        ),
    ),
    "Station Quarter": District(
        ("Station Street", "Orchard Row", "Depot Road"),
        (
            "taxi queue on {street}, and it is only {clock}",
            "commuters run for the {clock} train",
            "luggage lockers full, ask at {street}",
        ),
    ),
}
