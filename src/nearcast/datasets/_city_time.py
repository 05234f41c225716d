"""Times of the simulated city's day, in minutes after midnight."""

DAY = 24 * 60

_PARTS = ((0, "night"), (6, "morning"), (12, "afternoon"), (18, "evening"), (22, "night"))


def is_within(minute: int, hours: tuple[int, int]) -> bool:
    """Is it?  Hours may go beyond midnight.

    >>> [is_within(60 * hour, (18, 26)) for hour in (1, 2, 17, 18)]
    [True, False, False, True]
    """
    begin, end = hours
    return begin <= minute / 60 < end or begin <= minute / 60 + 24 < end


def clock(minute: int) -> str:
    """As a clock shows it.

    >>> clock(490)
    '08:10'
    """
    return f"{minute // 60:02}:{minute % 60:02}"


def part_of_day(minute: int) -> str:
    """As people say it.

    >>> part_of_day(490)
    'morning'
    """
    return next(name for hour, name in reversed(_PARTS) if minute >= 60 * hour)
