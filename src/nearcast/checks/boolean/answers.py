"""Which messages satisfy which expressions, and how answers are told."""

from __future__ import annotations

import numpy as np

from nearcast.boolean import BooleanIndex
from nearcast.checks.boolean.samples import (
    SPACES,
    Check,
    MakeIndex,
    answer,
    assert_answers,
    batch_of,
    message_batch_of,
    some_messages,
    some_subscriptions,
)
from nearcast.model import ANY, Box, Id, Message, Point, Space, Subscription

_HERE = Point(0, 0)


def check_definition(make_index: MakeIndex) -> None:
    """Some hundreds of subscriptions and messages, all answers as the definitions read."""
    for space in SPACES:
        index = make_index(space=space)
        subscriptions = some_subscriptions(200, space, seed=11)
        index.insert_batch(batch_of(subscriptions, space))
        assert_answers(index, subscriptions, some_messages(60, space, seed=12))


def check_all_words_needed(make_index: MakeIndex) -> None:
    """Words side by side and in a list must all occur; more words in the message do no harm."""
    index = make_index(space=Space.EARTH)
    index.insert(Subscription(1, ["tea", "cake"]))
    index.insert(Subscription(2, "tea cake sale"))
    assert _who(index, "tea") == set()
    assert _who(index, "cake", "tea") == {1}
    assert _who(index, "cake", "x1", "tea", "cake", "sale") == {1, 2}


def check_or(make_index: MakeIndex) -> None:
    """Alternatives, each alone and several at once: one report, not one per alternative."""
    index = make_index(space=Space.EARTH)
    index.insert(Subscription("a", "tea OR cake OR (sale AND ipad)", Box(170, -10, -170, 10)))
    index.insert(Subscription("b", "tea OR cake", Box(-10, -10, 10, 10)))
    assert _who(index, "sale") == set()
    assert _who(index, "tea", "cake") == {"b"}
    across = Message(1, keywords=["tea", "cake", "sale", "ipad"], at=Box(160, -20, -160, 20))
    assert answer(index, across) == {"a"}


def check_not(make_index: MakeIndex) -> None:
    """A forbidden word spoils its own clause only."""
    index = make_index(space=Space.EARTH)
    index.insert(Subscription(1, "tea AND NOT cake"))
    index.insert(Subscription(2, "(tea AND NOT cake) OR (ipad AND NOT sale)"))
    assert _who(index, "tea") == {1, 2}
    assert _who(index, "tea", "cake") == set()
    assert _who(index, "tea", "cake", "ipad") == {2}
    assert _who(index, "tea", "cake", "ipad", "sale") == set()
    assert _who(index, "cake") == set()


def check_any(make_index: MakeIndex) -> None:
    """ANY wants every message of its region, even one without words."""
    index = make_index(space=Space.EARTH)
    index.insert(Subscription(1, ANY, Box(-1, -1, 1, 1)))
    assert _who(index) == _who(index, "tea") == _who(index, "never-heard") == {1}
    assert answer(index, Message(1, keywords=["tea"], at=Point(2, 0))) == set()


def check_words_of_all_scripts(make_index: MakeIndex) -> None:
    """Subscriptions and messages are read by the same tokenizer."""
    index = make_index(space=Space.EARTH)
    index.insert(Subscription(1, "ÉTÉ"))
    index.insert(Subscription(2, ["Straße", "茶"]))
    index.insert(Subscription(3, "#और"))
    assert _said(index, "un e\u0301te\u0301 chaud") == {1}  # letters and accents apart
    assert _said(index, "STRASSE: 茶!") == {2}
    assert _said(index, "और #été") == {1, 3}


def check_unknown_words(make_index: MakeIndex) -> None:
    """Words that no subscription has make no difference, and may be subscribed to later."""
    index = make_index(space=Space.EARTH)
    index.insert(Subscription(1, "tea"))
    assert _who(index, "new", "tea", "newer") == {1}
    index.insert(Subscription(2, "new AND NOT newer"))
    assert _who(index, "new", "tea", "newer") == {1}
    assert _who(index, "new", "tea") == {1, 2}


def check_many_words(make_index: MakeIndex) -> None:
    """Long subscriptions, long messages, many alternatives."""
    index = make_index(space=Space.EARTH)
    words = [f"word{number}" for number in range(400)]
    index.insert(Subscription("all", words))
    index.insert(Subscription("one", " OR ".join(words)))
    index.insert(Subscription("none", "tea " + " ".join(f"NOT {word}" for word in words)))
    assert _who(index, *words) == {"all", "one"}
    assert _who(index, *words[1:], "tea") == {"one"}
    assert _who(index, "tea") == {"none"}


def check_match_is_a_batch_of_one(make_index: MakeIndex) -> None:
    """`match_batch` gives, row by row, what `match` gives."""
    for space in SPACES:
        index = make_index(space=space)
        index.insert_batch(batch_of(some_subscriptions(100, space), space))
        messages = some_messages(40, space)
        matches = index.match_batch(message_batch_of(messages, space))
        assert matches.message_ids.to_pylist() == [message.id for message in messages]
        for row, message in enumerate(messages):
            assert set(matches.for_message(row)) == answer(index, message)
        table = matches.to_arrow()
        assert table.column_names == ["message_id", "subscription_id"]
        assert table.num_rows == len(matches)


def check_threads(make_index: MakeIndex) -> None:
    """Any number of threads gives the same answer, more threads than messages included."""
    index = make_index(space=Space.EARTH)
    index.insert_batch(batch_of(some_subscriptions(100, Space.EARTH)))
    for count in (0, 1, 2, 31):
        batch = message_batch_of(some_messages(count, Space.EARTH))
        alone = index.match_batch(batch)
        for threads in (1, 2, 3, 7):
            matches = index.match_batch(batch, threads=threads)
            assert np.array_equal(matches.start, alone.start)
            assert matches.subscription_ids.equals(alone.subscription_ids)
            assert matches.message_ids.equals(alone.message_ids)
            assert matches.candidates == alone.candidates


def check_ids_of_every_kind(make_index: MakeIndex) -> None:
    """The largest integers, the empty string and any letters are ids, given back as they are."""
    integers = [0, -1, 7, 2**63 - 1, -(2**63), 10**18]
    strings = ["", "7", "été", "茶\n", "a" * 1000, "0x7", "\x00"]
    for ids in (integers, strings):
        index = make_index(space=Space.EARTH)
        for id_ in ids:
            index.insert(Subscription(id_, "tea"))
        assert _who(index, "tea") == set(ids)
        for id_ in ids:
            assert index.subscription(id_).id == id_
            index.remove(id_)
        assert len(index) == 0


def check_integers_beside_strings(make_index: MakeIndex) -> None:
    """7 and "7" are two ids, live at once, and `match` tells them apart."""
    index = make_index(space=Space.EARTH)
    index.insert(Subscription(7, "tea OR cake"))
    index.insert(Subscription("7", "tea OR sale"))
    assert set(index.ids()) == {7, "7"}
    assert index.match(Message(1, keywords=["cake"], at=_HERE)) == [7]
    assert index.match(Message(1, keywords=["sale"], at=_HERE)) == ["7"]
    assert _who(index, "tea") == {7, "7"}
    index.remove("7")
    assert _who(index, "tea") == {7}


def _who(index: BooleanIndex, *words: str) -> set[Id]:
    return answer(index, Message(1, keywords=words, at=_HERE))


def _said(index: BooleanIndex, text: str) -> set[Id]:
    return answer(index, Message(1, text=text, at=_HERE))


ANSWERS: tuple[Check, ...] = (
    check_definition,
    check_all_words_needed,
    check_or,
    check_not,
    check_any,
    check_words_of_all_scripts,
    check_unknown_words,
    check_many_words,
    check_match_is_a_batch_of_one,
    check_threads,
    check_ids_of_every_kind,
    check_integers_beside_strings,
)
