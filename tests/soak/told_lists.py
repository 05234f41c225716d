"""Top-k lists of which not every change is told: are those right that are told?"""

from bisect import bisect_right
from itertools import groupby
from math import inf, isclose


class ToldLists:
    """What lists were after each row of a stream, to compare with what a stream told of them.

    A list that several shards keep may not be known between two rows of a batch; by its end it is,
    and was told if it is another one. `tolerance`: how far scores may be apart, as a part of them.
    """

    def __init__(self, tolerance):
        self._tolerance = tolerance
        self._since = {}  # of each id: at which positions it got another list
        self._lists = {}  # and which; None: it has none
        self._begun = {}  # at which it began or ended

    def changed(self, position, id, ranked):
        """From this row on it is this list, ids with scores."""
        self._since.setdefault(id, []).append(position)
        self._lists.setdefault(id, []).append(ranked)

    def began(self, position, id, ranked):
        """With this row it began anew, or ended, which is None."""
        self.changed(position, id, ranked)
        self._begun.setdefault(id, []).append(position)

    def problems(self, found):
        """What is wrong with what was told; a table in the order of the stream, with `batch`."""
        wrong, told = [], {}
        rows = found.select(
            ["batch", "position", "kind", "subscription_id", "items", "entered", "left"]
        ).to_pylist()
        batches = [[*rows] for _, rows in groupby(rows, key=lambda row: row["batch"])]
        # A batch ends somewhere between the last row that told something and the first of the next.
        lasts = [*(batch[-1]["position"] for batch in batches[:-1]), inf]
        nexts = [*(batch[0]["position"] for batch in batches[1:]), inf]
        for batch, last, next_one in zip(batches, lasts, nexts, strict=True):
            for row in batch:
                if row["kind"] == "top":
                    wrong += self._missteps(row, told.get(row["subscription_id"]))
                    told[row["subscription_id"]] = row
            for id in self._lists:
                right = self._between(id, last, next_one)
                # One that is empty from the beginning is not told.
                if all(right) and not any(self._is(told.get(id), each) for each in right):
                    wrong.append(
                        f"after batch {batch[0]['batch']} the list of {id} should be one of "
                        f"{right}, told is {told.get(id)}"
                    )
        return wrong

    def _missteps(self, row, before):
        """A change leads from the list told before to another one."""
        names, begun = _names(row), self._begun.get(row["subscription_id"], ())
        entered, left = set(row["entered"]), set(row["left"])
        first = -1 if before is None else before["position"]
        is_new = any(first < position <= row["position"] for position in begun)
        is_right = entered <= set(names) and not left & set(names)
        if not is_new:
            had = set(_names(before)) if before else set()
            is_right &= (entered, left) == (set(names) - had, had - set(names))
            is_right &= before is None or row["items"] != before["items"]
        if not is_right:
            yield f"{row} does not follow {before}"

    def _between(self, id, position, next_one):
        """The lists that it had after the row at a position, and until the next one."""
        since = self._since[id]
        begin, end = bisect_right(since, position), bisect_right(since, next_one - 1)
        return [self._lists[id][begin - 1] if begin else None, *self._lists[id][begin:end]]

    def _is(self, row, ranked):
        return (
            row is not None
            and _names(row) == [name for name, _ in ranked]
            and all(
                isclose(item["score"], score, rel_tol=self._tolerance)
                for item, (_, score) in zip(row["items"], ranked, strict=True)
            )
        )


def _names(row):
    return [each["item"] for each in row["items"]]
