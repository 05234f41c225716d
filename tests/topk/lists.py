"""When are two top-k lists the same?"""

ROUNDING = 1e-9


def assert_same_lists(found, expected):
    """Equal scores, best first, and the same messages but for those that rounding may swap."""
    assert len(found) == len(expected), (found, expected)
    for (_, score), (_, other) in zip(found, expected, strict=True):
        assert abs(score - other) <= ROUNDING * max(score, other), (found, expected)
    assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)
    lowest = expected[-1][1] if expected else 0.0
    scores = dict(expected)
    for id, score in found:
        # One that is not expected has the score of the last, which others outside may have too.
        close = scores.get(id, lowest)
        assert abs(score - close) <= ROUNDING * max(score, close), (found, expected)
