"""What is published."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from nearcast.model._checks import bag_of_words, finite_number
from nearcast.model.ids import Id, check_id
from nearcast.model.shapes import Box, Place, Point, Space
from nearcast.text.tokens import tokenize


@dataclass(frozen=True, slots=True, init=False)
class Message:
    """Words at a place and a time; `at` a Box makes it a range message.

    Give either `text` or `keywords` (strings, each cut into tokens). `keywords` is afterwards the
    tuple of all tokens, repeats kept; it may be empty. `text` is only kept for people to read.
    Times are in seconds; a message without `expires` lives for ever.

    >>> Message(7, text="Coffee, coffee!", at=Point(2.35, 48.86)).keywords
    ('coffee', 'coffee')
    >>> Message(7, keywords=["tea"], at=Point(2.35, 48.86), time=5, expires=4)
    Traceback (most recent call last):
    ValueError: message 7: expires 4.0 is before time 5.0; give a later one or none
    """

    id: Id
    text: str | None = field(compare=False)
    keywords: tuple[str, ...]
    at: Place
    time: float
    expires: float | None

    def __init__(
        self,
        id: Id,
        *,
        text: str | None = None,
        keywords: Iterable[str] | None = None,
        at: Place,
        time: float = 0.0,
        expires: float | None = None,
    ) -> None:
        id = check_id(id, "message")
        owner = f"message {id!r}"
        if not isinstance(at, Point | Box):
            raise TypeError(f"{owner}: at {at!r} is not a place; give a Point or a Box")
        time = finite_number(time, f"{owner}: time")
        if expires is not None:
            expires = finite_number(expires, f"{owner}: expires")
            if expires < time:
                raise ValueError(
                    f"{owner}: expires {expires} is before time {time}; give a later one or none"
                )
        object.__setattr__(self, "id", id)
        object.__setattr__(self, "text", text)
        object.__setattr__(self, "keywords", _keywords(text, keywords, owner))
        object.__setattr__(self, "at", at)
        object.__setattr__(self, "time", time)
        object.__setattr__(self, "expires", expires)

    @property
    def middle(self) -> Point:
        """Where the message counts as being when a distance is asked for: the middle of a box.

        >>> Message(1, text="storm", at=Box(170, 0, -170, 10)).middle
        Point(lon=180.0, lat=5.0, space=Space.EARTH)
        """
        at = self.at
        if isinstance(at, Point):
            return at
        east = at.east if at.west <= at.east else at.east + 360.0
        lon = (at.west + east) / 2.0
        if lon > 180.0 and at.space is Space.EARTH:
            lon -= 360.0
        return Point(lon, (at.south + at.north) / 2.0, space=at.space)


def _keywords(text: str | None, words: Iterable[str] | None, owner: str) -> tuple[str, ...]:
    if (text is None) == (words is None):
        number = "neither" if text is None else "both"
        raise ValueError(f"{owner}: {number} of text and keywords given; give one of them")
    if words is not None:
        return bag_of_words(words, owner)
    if not isinstance(text, str):
        raise TypeError(f"{owner}: text {text!r} is not a string; for a list give keywords")
    return tuple(tokenize(text))
