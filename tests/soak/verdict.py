"""Does a store hold exactly what the oracle says?"""

from collections import Counter

from nearcast.pipeline import NotificationStore
from tests.soak.feeding import Feeder

MOST_SHOWN = 10


def differences(folder, expected, rejected, columns=Feeder.columns):
    """Lines that say what is wrong; none when the store is exact."""
    with NotificationStore(folder) as store:
        found = store.read()
        refused = Counter(store.rejects()["id"].to_pylist())
    rows = list(zip(*(found[name].to_pylist() for name in columns), strict=True))
    delivered = Counter(rows)
    wrong = [
        *_shown("lost", expected - delivered),
        *_shown("delivered twice, or out of nowhere", delivered - expected),
        *_shown("not rejected", rejected - refused),
        *_shown("rejected twice, or wrongly", refused - rejected),
    ]
    positions = [row[0] for row in rows]
    if positions != sorted(positions):
        wrong.append("the notifications are not in the order of their messages")
    return wrong


def _shown(what, rows):
    if rows:
        yield f"{rows.total()} {what}, such as {sorted(rows, key=str)[:MOST_SHOWN]}"
