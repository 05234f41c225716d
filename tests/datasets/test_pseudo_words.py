import numpy as np

from nearcast.datasets.pseudo_words import pseudo_words


def test_a_million_numbers_give_a_million_words():
    numbers = np.concatenate([np.arange(20_000), np.arange(1_009_000, 1_011_000)])
    words = pseudo_words(numbers).to_pylist()
    assert len(set(words)) == numbers.size
    assert {len(word) for word in words} == {4, 6, 8}


def test_a_word_depends_on_its_number_alone():
    assert pseudo_words(np.array([77])).to_pylist() == pseudo_words(np.arange(78)).to_pylist()[77:]


def test_no_words():
    assert pseudo_words(np.array([], np.int64)).to_pylist() == []
