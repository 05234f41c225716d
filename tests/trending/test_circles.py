"""Small circles on the Earth: what is told without trigonometry is what the definition tells."""

import numpy as np

from nearcast.model import Circle, Message, Point, TrendingSubscription
from nearcast.space import is_in
from nearcast.trending import CellRows


def test_documents_near_the_border_of_circles_at_all_latitudes():
    draw = np.random.default_rng(5)
    for lat in (0.0, 40.0, -74.9, 80.0):
        for radius in (1000.0, 49_999.0):
            circle = Circle(Point(20.0, lat), radius)
            index = CellRows(half_life=1.0)
            index.subscribe(TrendingSubscription("s", circle, k=200))
            inside = set()
            for number in range(60):
                away, angle = radius * draw.choice([0.5, 0.9, 0.97, 1.03, 1.1]), draw.random() * 6.3
                up = away * np.sin(angle) / 111_195.0
                across = away * np.cos(angle) / 111_195.0 / np.cos(np.radians(lat))
                at = Point(20.0 + across, lat + up)
                # Two terms, one of them said before: both ways to count are taken.
                words = [f"w{number}", f"w{number // 2}"]
                index.publish(Message(number, keywords=words, at=at))
                if is_in(at, circle):
                    inside.update(words)
            assert {term for term, _ in index.top("s")} == inside
            index.check()
