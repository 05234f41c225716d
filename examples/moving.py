"""A result that follows someone who walks: messages enter and leave it.

Prints:
    at the station: enter 'Coffee to go'
    at the market: enter 'Coffee tasting'; leave 'Coffee to go'
    a message comes: enter 'Cold coffee'
    ten minutes later: leave 'Coffee tasting'
    in her result: ['Cold coffee']
"""

import nearcast as nc

STATION, MARKET = nc.Point(2.3550, 48.8800), nc.Point(2.3640, 48.8710)


def around(place: nc.Point) -> nc.Circle:
    """What is within 500 metres."""
    return nc.Circle(place, 500)


def say(what: str, told: list[nc.Notification]) -> None:
    """What has changed, in words."""
    print(f"{what}: " + "; ".join(sorted(f"{each.kind} {each.message_id!r}" for each in told)))


def main() -> None:
    """Coffee, wherever she is; offers that are over are gone at once."""
    broker = nc.Broker()
    for text, place, expires in (
        ("Coffee to go", STATION, 3600.0),
        ("Coffee tasting", MARKET, 600.0),
    ):
        broker.publish(nc.Message(text, text=text, at=place, expires=expires))

    walker = nc.Subscription("walker", "coffee", around(STATION))
    say("at the station", broker.subscribe(walker, follows=True))
    say("at the market", broker.move("walker", around(MARKET)))
    cold = nc.Message("Cold coffee", text="Cold coffee", at=MARKET, time=60.0, expires=3600.0)
    say("a message comes", broker.publish(cold))
    say("ten minutes later", broker.advance(600.0))
    print("in her result:", broker.results("walker"))


if __name__ == "__main__":
    main()
