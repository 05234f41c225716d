"""`MessageBatch`: many messages as columns."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearcast.batches._ids import check_ids, ids_to_arrow, joined_ids
from nearcast.batches._lexicon import Codes, check_lexicon, large, merged, without_unused
from nearcast.batches._place_rects import rects_of_places
from nearcast.batches._places import Flags, Floats, checked_places, place_of
from nearcast.batches._ragged import check_array, check_codes, check_start, joined_starts
from nearcast.batches._ragged_kernels import gather
from nearcast.batches._read_messages import read_messages
from nearcast.batches._rows import check_one_space, check_row, row_numbers
from nearcast.batches._times import check_times
from nearcast.batches.rejects import Rejects
from nearcast.model import Box, Message, Space


@dataclass(frozen=True, slots=True, eq=False)
class MessageBatch:
    """Messages as columns: ids, words, places, times; no Python object per row.

    ```
    ids         int64[n] or large_string[n]   Arrow, without nulls or repeats
    lexicon     large_string[w]    Arrow; the distinct words; an int32 code is a position in it
    word_start  int64[n+1]         message i has the words words[word_start[i]:word_start[i+1]]
    words       int32[]            codes in the order of the text, repeats kept
    at          float64[n, 4]      west, south, east, north as given; a point has lon, lat twice
    is_box      bool[n]            is the place a box, or a point?
    time        float64[n]
    expires     float64[n]         NaN where the message does not expire
    space                          what the coordinates mean
    rect_start  int32[n+1]         message i is at rects[rect_start[i]:rect_start[i+1]]
    rects       float64[r, 4]      planar rectangles with west <= east, made from `at`
    ```

    A message has more than one rectangle only at the antimeridian and the poles, where one spot has
    several coordinates; see `nearcast.space`.

    >>> table = pa.table({"id": [7, 8], "text": ["Hot tea tea!", "Cake"],
    ...                   "lon": [2.35, 180.0], "lat": [48.86, -16.9]})
    >>> batch = MessageBatch.from_arrow(table)
    >>> len(batch), batch.lexicon.to_pylist(), batch.word_start, batch.words
    (2, ['hot', 'tea', 'cake'], array([0, 3, 4]), array([0, 1, 1, 2], dtype=int32))
    >>> batch.rect_start.tolist(), batch.rects[1:].tolist()
    ([0, 1, 3], [[180.0, -16.9, 180.0, -16.9], [-180.0, -16.9, -180.0, -16.9]])
    >>> batch.message(0).keywords
    ('hot', 'tea', 'tea')
    """

    ids: pa.Array
    lexicon: pa.LargeStringArray
    word_start: npt.NDArray[np.int64]
    words: Codes
    at: Floats
    is_box: Flags
    time: Floats
    expires: Floats
    space: Space = Space.EARTH
    rect_start: npt.NDArray[np.int32] = field(init=False)
    rects: Floats = field(init=False)

    def __post_init__(self) -> None:
        check_start("word_start", self.word_start, len(self), len(self.words))
        check_codes("words", self.words, len(self.lexicon))
        check_lexicon(self.lexicon)
        n = len(self)
        check_array("at", self.at, np.float64, (n, 4))
        check_array("is_box", self.is_box, np.bool_, (n,))
        check_array("time", self.time, np.float64, (n,))
        check_array("expires", self.expires, np.float64, (n,))
        rejects = Rejects("message")
        check_ids(self.ids, rejects)
        at = checked_places(self.at, self.is_box, self.space, rejects)
        check_times(self.time, self.expires, rejects)
        rejects.raise_if_any(self.ids)
        rect_start, rects = rects_of_places(at, self.space)
        object.__setattr__(self, "at", at)
        object.__setattr__(self, "rect_start", rect_start)
        object.__setattr__(self, "rects", rects)

    def __len__(self) -> int:
        return len(self.ids)

    @classmethod
    def from_arrow(
        cls, table: pa.Table | pa.RecordBatch, *, space: Space = Space.EARTH
    ) -> MessageBatch:
        """Read a table; a row that breaks a rule is a `BadRows` error that tells of all such rows.

        Columns, and no others:

        - `id`: integers of any width that fit 64 bits with sign, or strings; each once
        - `text`: a string, or instead `keywords`: a list of strings
        - `lon`, `lat`: a point, or instead `west`, `south`, `east`, `north`: a box
        - `time`: seconds, 0 when the column is missing; `expires`: seconds, null for never
        """
        return cls(**read_messages(table, space))

    @classmethod
    def from_messages(
        cls, messages: Iterable[Message], *, space: Space = Space.EARTH
    ) -> MessageBatch:
        """The batch that holds these messages, in their order.

        >>> from nearcast.model import Point
        >>> one = Message(7, keywords=["hot", "tea"], at=Point(2.35, 48.86), time=3.0)
        >>> MessageBatch.from_messages([one]).message(0) == one
        True
        """
        rows = list(messages)
        rejects = Rejects("message")
        ids = ids_to_arrow([row.id for row in rows], rejects)
        codes: dict[str, int] = {}
        word_start, words = array("q", [0]), array("i")
        at = np.empty((len(rows), 4))
        for number, row in enumerate(rows):
            words.extend(codes.setdefault(word, len(codes)) for word in row.keywords)
            word_start.append(len(words))
            place = row.at
            if place.space is not space:
                rejects.add(number, f"{place} is not in {space}; a batch has one space for all")
            if isinstance(place, Box):
                at[number] = place.west, place.south, place.east, place.north
            else:
                at[number] = place.lon, place.lat, place.lon, place.lat
        rejects.raise_if_any(ids)
        return cls(
            ids=ids,
            lexicon=large(list(codes)),
            word_start=np.array(word_start, np.int64),
            words=np.array(words, np.int32),
            at=at,
            is_box=np.array([isinstance(row.at, Box) for row in rows], bool),
            time=np.array([row.time for row in rows], np.float64),
            expires=np.array(
                [np.nan if row.expires is None else row.expires for row in rows], np.float64
            ),
            space=space,
        )

    def middles(self) -> Floats:
        """lon, lat of the middle of each place, as `Message.middle`; float64[n, 2]."""
        west, south, east, north = self.at.T
        east = np.where(west <= east, east, east + 360.0)
        lon = (west + east) / 2.0
        if self.space is Space.EARTH:
            lon = np.where(lon <= 180.0, lon, lon - 360.0)
        return np.stack([lon, (south + north) / 2.0], axis=1)

    def message(self, row: int) -> Message:
        """The message of one row, with its words as `keywords`.  O(its size)."""
        check_row(row, len(self))
        codes = self.words[self.word_start[row] : self.word_start[row + 1]]
        expires = float(self.expires[row])
        return Message(
            self.ids[row].as_py(),
            keywords=[self.lexicon[code].as_py() for code in codes.tolist()],
            at=place_of(self.at, self.is_box, row, self.space),
            time=float(self.time[row]),
            expires=None if np.isnan(expires) else expires,
        )

    def take(self, rows: npt.ArrayLike) -> MessageBatch:
        """The batch of these rows, in this order, with no more words than they use."""
        chosen = row_numbers(rows, len(self))
        word_start, words = gather(self.word_start, self.words, chosen)
        lexicon, [words] = without_unused(self.lexicon, words)
        return MessageBatch(
            ids=self.ids.take(pa.array(chosen)),
            lexicon=lexicon,
            word_start=word_start,
            words=words,
            at=self.at[chosen],
            is_box=self.is_box[chosen],
            time=self.time[chosen],
            expires=self.expires[chosen],
            space=self.space,
        )

    @staticmethod
    def concat(batches: Sequence[MessageBatch]) -> MessageBatch:
        """The rows of all batches, one batch after the other; at least one batch is needed."""
        ids = joined_ids([batch.ids for batch in batches])
        check_one_space([batch.space for batch in batches])
        lexicon, codes = merged([batch.lexicon for batch in batches])
        words = [code[batch.words] for batch, code in zip(batches, codes, strict=True)]
        return MessageBatch(
            ids=ids,
            lexicon=lexicon,
            word_start=joined_starts([batch.word_start for batch in batches]),
            words=np.concatenate(words),
            at=np.concatenate([batch.at for batch in batches]),
            is_box=np.concatenate([batch.is_box for batch in batches]),
            time=np.concatenate([batch.time for batch in batches]),
            expires=np.concatenate([batch.expires for batch in batches]),
            space=batches[0].space,
        )
