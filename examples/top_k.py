"""The best messages near a place, kept current: a list that changes as messages come and go.

Prints:
    'Ramen, fresh noodles': the list is now 0 (0.82); left: ()
    'Noodles and tea': the list is now 0 (0.82), 1 (0.64); left: ()
    'Ramen noodles!': the list is now 3 (0.99), 0 (0.82); left: (1,)
    not listed: 2 are better
      score:  0.7 = 0.4 x nearness 1 + 0.6 x words 0.5
      near:   less than 1 m away
      words:  0.707 x 0.707 ('ramen')
      wanted: the 2 best for 'noodles ramen', at 139.701, 35.6896
      said:   'Ramen bar', at 139.701, 35.6896
"""

import nearcast as nc
from nearcast.topk import CountWindow, WordLists


def main() -> None:
    """Lunch within reach: what counts is the words and, a little less, the way there."""
    # The last 1,000 messages; what is 5 km away or farther has nothing for its place.
    broker = nc.Broker(top=WordLists(CountWindow(1000), max_dist=5_000))
    office = nc.Point(139.7006, 35.6896)
    broker.subscribe(nc.TopKSubscription("lunch", "ramen noodles", office, k=2, alpha=0.4))

    for number, (text, lon, lat) in enumerate(
        [
            ("Ramen, fresh noodles", 139.7100, 35.6900),
            ("Noodles and tea", 139.7010, 35.6890),
            ("Jazz tonight", 139.7006, 35.6896),
            ("Ramen noodles!", 139.7020, 35.6900),
        ]
    ):
        for told in broker.publish(nc.Message(number, text=text, at=nc.Point(lon, lat))):
            best = ", ".join(f"{id} ({score:.2f})" for id, score in told.results or ())
            print(f"{text!r}: the list is now {best}; left: {told.left}")

    print(broker.explain("lunch", nc.Message(9, text="Ramen bar", at=office)))


if __name__ == "__main__":
    main()
