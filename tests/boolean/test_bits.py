"""Bits for the words of messages: lent clear, and wide enough."""

from nearcast.boolean._words import any_word
from nearcast.boolean.bits import Bits


def test_each_who_asks_gets_bits_of_their_own():
    bits = Bits()
    one, other = bits.lend(70), bits.lend(70)
    assert one is not other
    bits.take_back(other)
    bits.take_back(one)
    assert bits.lend(70) is one
    assert bits.lend(70) is other


def test_bits_that_have_become_too_few_are_forgotten():
    bits = Bits()
    few = bits.lend(0)
    assert any_word(few) == 0
    bits.take_back(few)
    more = bits.lend(1_000)
    assert any_word(more) >= 1_000
    assert more[-1] == 1
    assert not more[:-1].any()
