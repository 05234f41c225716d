"""What people of the simulated city say and want. `{name}` and `{street}` are filled in."""

STREETS = (
    "Harbour Road", "Mill Lane", "Station Street", "Castle Hill", "Orchard Row", "Bridge Street",
    "Canal Walk", "Market Square", "Chapel Lane", "Lighthouse Road", "Garden Avenue",
    "Foundry Yard", "Weaver Street", "Poplar Avenue", "Quarry Road", "Ferry Lane",
)  # fmt: skip

# Kinds of places: how they are called, and what is said there on an ordinary day.
EVERYDAY = {
    "cafe": (
        ("Blue Cup", "Copper Kettle", "Moka Corner", "Paper Crane", "Little Owl", "Third Sip"),
        (
            "fresh coffee and cake at {name}, {street}",
            "flat white with oat milk, quiet corner to read, free wifi at {name}",
            "breakfast until noon at {name}: eggs, sourdough, coffee, orange juice",
            "new vegan cake at {name} on {street}",
        ),
    ),
    "noodle bar": (
        ("Noodle Lantern", "Bao Room"),
        (
            "lunch special at {name}: ramen and green tea",
            "spicy ramen at {name}, vegan broth on Fridays",
            "table for two free tonight at {name}, {street}",
        ),
    ),
    "pizzeria": (
        ("Casa Verde", "Old Oven"),
        (
            "pizza and jazz every Thursday at {name} on {street}",
            "vegan pizza at {name}, fresh from the oven",
            "half price pizza before six at {name}",
        ),
    ),
    "taco stand": (
        ("Taco Tren", "Tres Soles"),
        ("best tacos in town, vegan option too, {name}", "tacos and lemonade at {name}, {street}"),
    ),
    "electronics shop": (
        ("Circuit House", "Pixel Barn"),
        (
            "laptop and phone repair at {name} while you wait",
            "used ipad in good condition at {name}, {street}",
            "headphones back in stock at {name}",
        ),
    ),
    "book shop": (
        ("Page Turner", "Vinyl Den"),
        (
            "used books and vinyl, everything half price at {name}",
            "poetry reading at {name} on {street}, free entry",
            "comics and used books at {name}",
        ),
    ),
    "garden shop": (
        ("Green Thumb",),
        (
            "plants, pots and garden tools at {name} on {street}",
            "tomato plants for balcony and garden at {name}",
        ),
    ),
    "bike shop": (
        ("Gear Loft", "Two Wheels"),
        ("bike repair and helmets at {name}, {street}", "bike check for free today at {name}"),
    ),
    "venue": (
        ("Lantern Hall", "Dockside Arena", "The Cellar", "Park Stage"),
        (
            "open mic tonight at {name}, free entry",
            "jazz trio at {name}, doors at eight",
            "comedy night at {name}, a few tickets left",
            "yoga in the morning at {name}, bring a mat",
        ),
    ),
    "station": (
        ("Central Station", "Harbour Stop", "University Stop"),
        (
            "train on time at {name}",
            "bus 12 delayed ten minutes near {street}",
            "lost a blue umbrella at {name}",
            "bike parking full at {name}",
        ),
    ),
}

# Bursts: at which kind of place they happen, and what is said then.
BURSTS = {
    "concert": (
        "venue",
        (
            "concert at {name} is sold out, the band is amazing",
            "queue for the concert at {name} goes down {street}",
            "selling one ticket for the concert at {name} tonight",
            "encore! best concert of the year at {name}",
        ),
    ),
    "flash sale": (
        "electronics shop",
        (
            "flash sale at {name}: laptop and ipad discount, one hour only",
            "huge discount on headphones at {name}, {street}",
            "ipad sale at {name}, still a few left",
            "queue outside {name} for the flash sale",
        ),
    ),
    "traffic jam": (
        "station",
        (
            "traffic jam on {street}, take the tram",
            "accident near {name}, traffic stands still",
            "road closed on {street}, police redirect traffic",
            "bus 12 and tram 4 delayed by the traffic jam near {name}",
        ),
    ),
}

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
)

PEOPLE = (
    "Ada", "Bo", "Chi", "Dana", "Emre", "Fatou", "Goran", "Hana", "Ines", "Jamal", "Kaya", "Lin",
    "Mia", "Noor", "Otto", "Priya", "Quinn", "Rosa", "Sami", "Tove", "Uma", "Vera", "Wei", "Yara",
)  # fmt: skip
