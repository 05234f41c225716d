"""What is talked about, in a region and around a point, lately.

Prints:
    old town: concert, fireworks
    around me: concert, fireworks
    old town after a storm: storm, concert
    entered: ('storm',), left: ('fireworks',)
    a day later, scores have halved 24 times: storm 0.0000002
"""

import nearcast as nc
from nearcast.trending import CellRows

OLD_TOWN = nc.Box(2.33, 48.85, 2.37, 48.87)
HOUR = 3600.0


def main() -> None:
    """A document counts half after an hour; stop words do not count."""
    broker = nc.Broker(trending=CellRows(half_life=HOUR, horizon=30))
    broker.subscribe(nc.TrendingSubscription("old town", OLD_TOWN, k=2))
    for number, (text, lon, lat) in enumerate(
        [
            ("The concert starts", 2.34, 48.86),
            ("What a concert, and fireworks", 2.35, 48.86),
            ("Fireworks over the concert", 2.36, 48.86),
            ("Traffic, traffic, traffic", 2.50, 48.90),
        ]
    ):
        broker.publish(nc.Message(number, text=text, at=nc.Point(lon, lat)))
    print("old town:", ", ".join(term for term, _ in broker.results("old town")))

    broker.subscribe(nc.NearbyTrendingSubscription("me", nc.Point(2.35, 48.86), k=2))
    print("around me:", ", ".join(term for term, _ in broker.results("me")))

    storm = nc.Message(9, text="Storm! Storm! Storm!", at=nc.Point(2.35, 48.86), time=1.0)
    [change] = [told for told in broker.publish(storm) if told.subscription_id == "old town"]
    print("old town after a storm:", ", ".join(term for term, _ in broker.results("old town")))
    print(f"entered: {change.entered}, left: {change.left}")

    broker.advance(1.0 + 24 * HOUR)
    term, score = broker.results("old town")[0]
    print(f"a day later, scores have halved 24 times: {term} {score:.7f}")


if __name__ == "__main__":
    main()
