"""Does a store hold exactly what the oracle says?"""

from collections import Counter

from nearcast.pipeline import NotificationStore

MOST_SHOWN = 10


def differences(folder, feeder):
    """Lines that say what is wrong; none when the store has what the feeder expects."""
    with NotificationStore(folder) as store:
        found = store.read()
        refused = Counter(store.rejects()["id"].to_pylist())
    positions = found["position"].to_pylist()
    wrong = [
        *differences_of(found, feeder),
        *_shown("not rejected", feeder.rejected - refused),
        *_shown("rejected twice, or wrongly", refused - feeder.rejected),
    ]
    if positions != sorted(positions):
        wrong.append("the notifications are not in the order of their messages")
    return wrong


def differences_of(found, feeder):
    """The same of notifications, a table in the order of the stream."""
    delivered = feeder.told(found)
    return [
        *_shown("lost", feeder.expected - delivered),
        *_shown("delivered twice, or out of nowhere", delivered - feeder.expected),
        *feeder.problems(found)[:MOST_SHOWN],
    ]


def _shown(what, rows):
    if rows:
        yield f"{rows.total()} {what}, such as {sorted(rows, key=str)[:MOST_SHOWN]}"
