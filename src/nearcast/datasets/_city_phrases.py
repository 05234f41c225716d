"""What people of the simulated city say and want.

Filled in: `{name}` and `{street}` of the place, `{district}`, `{clock}` (the time, 16:30), `{part}`
(of the day) and `{who}` says it. Hours count from midnight; 26 is two at night.
"""

from typing import NamedTuple

Hours = tuple[int, int]
Said = dict[Hours, tuple[str, ...]]
"""Phrases by the hours in which they are said."""


class PlaceKind(NamedTuple):
    """A kind of place: when it is open, how such places are called, what is said there."""

    open: Hours
    names: tuple[str, ...]
    said: Said


class BurstKind(NamedTuple):
    """What many write about for a while: at which hours it begins, at which kind of place."""

    hours: Hours
    place: str
    said: tuple[str, ...]


PLACES = {
    "cafe": PlaceKind(
        (7, 20),
        ("Blue Cup", "Copper Kettle", "Moka Corner", "Paper Crane", "Little Owl", "Third Sip"),
        {
            (7, 12): (
                "breakfast until noon at {name}: eggs, sourdough, coffee, orange juice",
                "good morning from {name}, first coffee of the day",
            ),
            (7, 20): (
                "fresh coffee and cake at {name}, {street}",
                "flat white with oat milk, quiet corner to read, free wifi at {name}",
                "new vegan cake at {name} on {street}",
            ),
            (18, 20): ("last coffee at {name}, we close at eight",),
        },
    ),
    "noodle bar": PlaceKind(
        (11, 23),
        ("Noodle Lantern", "Bao Room"),
        {
            (11, 15): ("lunch special at {name}: ramen and green tea",),
            (11, 23): (
                "spicy ramen at {name}, vegan broth on Fridays",
                "table for two free this {part} at {name}, {street}",
            ),
        },
    ),
    "pizzeria": PlaceKind(
        (11, 24),
        ("Casa Verde", "Old Oven"),
        {
            (11, 18): ("half price pizza before six at {name}",),
            (11, 24): ("vegan pizza at {name}, fresh from the oven",),
            (17, 24): ("pizza and jazz this evening at {name} on {street}",),
        },
    ),
    "taco stand": PlaceKind(
        (11, 26),
        ("Taco Tren", "Tres Soles"),
        {
            (11, 26): (
                "best tacos in town, vegan option too, {name}",
                "tacos and lemonade at {name}, {street}",
            ),
            (22, 26): ("late tacos at {name}, open until two",),
        },
    ),
    "electronics shop": PlaceKind(
        (9, 20),
        ("Circuit House", "Pixel Barn"),
        {
            (9, 20): (
                "laptop and phone repair at {name} while you wait",
                "used ipad in good condition at {name}, {street}",
                "headphones back in stock at {name}",
            ),
        },
    ),
    "book shop": PlaceKind(
        (9, 20),
        ("Page Turner", "Vinyl Den"),
        {
            (9, 20): (
                "used books and vinyl, everything half price at {name}",
                "comics and used books at {name}",
            ),
            (16, 20): ("poetry reading at {name} on {street}, free entry",),
        },
    ),
    "garden shop": PlaceKind(
        (8, 19),
        ("Green Thumb",),
        {
            (8, 19): (
                "plants, pots and garden tools at {name} on {street}",
                "tomato plants for balcony and garden at {name}",
            ),
        },
    ),
    "bike shop": PlaceKind(
        (8, 19),
        ("Gear Loft", "Two Wheels"),
        {
            (8, 19): (
                "bike repair and helmets at {name}, {street}",
                "bike check for free today at {name}",
            ),
        },
    ),
    "venue": PlaceKind(
        (7, 26),
        ("Lantern Hall", "Dockside Arena", "The Cellar", "Park Stage"),
        {
            (7, 11): ("yoga this morning at {name}, bring a mat",),
            (7, 20): (
                "comedy night at {name}, a few tickets left",
                "open mic tonight at {name}, free entry",
            ),
            (16, 23): ("jazz trio at {name}, doors at eight",),
            (20, 26): ("dance floor is open at {name}, {street}", "jazz until late at {name}"),
        },
    ),
    "station": PlaceKind(
        (0, 24),
        ("Central Station", "Harbour Stop", "University Stop"),
        {
            (0, 24): (
                "train on time at {name}",
                "bus 12 delayed ten minutes near {street}",
                "lost a blue umbrella at {name}",
            ),
            (7, 20): ("bike parking full at {name}",),
            (0, 5): ("night bus leaves {name} at {clock}",),
        },
    ),
}

BURSTS = {
    "concert": BurstKind(
        (17, 24),
        "venue",
        (
            "concert at {name} is sold out, the band is amazing",
            "queue for the concert at {name} goes down {street}",
            "selling one ticket for the concert at {name} tonight",
            "encore! best concert of the year at {name}",
        ),
    ),
    "flash sale": BurstKind(
        (9, 19),
        "electronics shop",
        (
            "flash sale at {name}: laptop and ipad discount, one hour only",
            "huge discount on headphones at {name}, {street}",
            "ipad sale at {name}, still a few left",
            "queue outside {name} for the flash sale",
        ),
    ),
    "traffic jam": BurstKind(
        (7, 20),
        "station",
        (
            "traffic jam on {street}, take the tram",
            "accident near {name}, traffic stands still",
            "road closed on {street}, police redirect traffic",
            "bus 12 and tram 4 delayed by the traffic jam near {name}",
        ),
    ),
}

# Of somebody on the way to a place.
WALKING = (
    "{who} walks down {street} to {name}",
    "{who} crosses {district}, what a lovely {part}",
    "{who} is late for {name}, {clock} already",
    "{who} looks for a bike or a tram on {street}",
)

# What subscriptions ask for.
WISHES = (
    "coffee AND (cake OR breakfast)",
    "vegan (cake OR tacos OR pizza)",
    "concert AND (ticket OR tickets)",
    "ipad AND (discount OR sale)",
    "traffic AND (jam OR accident)",
    "(bus OR tram OR train) AND delayed",
    "jazz NOT pizza",
    "free wifi",
    "used AND (books OR vinyl)",
    "bike AND repair",
    "queue NOT concert",
    "ramen OR tacos OR pizza",
    "yoga",
    "plants garden",
    "laptop AND (repair OR discount)",
    "open mic OR comedy night",
    "ferry AND delayed",
    "library OR lecture",
    "gallery OR mural",
    "(flea AND market) OR fish",
)

PEOPLE = (
    "Ada", "Bo", "Chi", "Dana", "Emre", "Fatou", "Goran", "Hana", "Ines", "Jamal", "Kaya", "Lin",
    "Mia", "Noor", "Otto", "Priya", "Quinn", "Rosa", "Sami", "Tove", "Uma", "Vera", "Wei", "Yara",
)  # fmt: skip
