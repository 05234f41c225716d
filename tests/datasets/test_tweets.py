import numpy as np
import pytest

from nearcast.datasets import Tweets
from nearcast.text.tokens import tokenize

STREAM = Tweets(seed=3, vocabulary=20_000)


def words_of(batch, row):
    return batch.message(row).keywords


def test_the_same_seed_gives_the_same_tweets():
    one, other = STREAM.batch(500), Tweets(seed=3, vocabulary=20_000).batch(500)
    assert [one.message(i) for i in range(500)] == [other.message(i) for i in range(500)]


def test_another_seed_gives_other_tweets():
    one, other = STREAM.batch(50), Tweets(seed=4, vocabulary=20_000).batch(50)
    assert all(words_of(one, i) != words_of(other, i) for i in range(50))


def test_the_bits_are_the_same_on_every_machine():
    tweet = Tweets(seed=1).batch(1, first=123_456).message(0)
    assert " ".join(tweet.keywords) == "nuhu baba poxe liwuha zevu"
    assert (tweet.at.lon, tweet.at.lat, tweet.time) == (
        -82.89695289777829,
        29.62542101561093,
        123456.21726936613,
    )


def test_a_tweet_does_not_depend_on_the_others():
    alone = STREAM.take([700, 3])
    together = STREAM.batch(800)
    assert alone.message(0) == together.message(700)
    assert alone.message(1) == together.message(3)


def test_words_are_few_and_mostly_distinct():
    batch = STREAM.batch(20_000)
    lengths = np.diff(batch.word_start)
    assert (lengths.min(), lengths.max()) == (5, 13)
    assert 8.9 < lengths.mean() < 9.1
    repeated = [len(set(words_of(batch, i))) < lengths[i] for i in range(2000)]
    assert sum(repeated) < 20


def test_word_frequencies_fall_as_one_by_rank():
    batch = Tweets(seed=5).batch(50_000)
    frequency = np.sort(np.bincount(batch.words))[::-1] / batch.words.size
    # Three in four words are drawn from 1 / rank over 1.7M words, which is 1 / 15 for the first.
    assert 0.03 < frequency[0] < 0.06
    assert 7 < frequency[0] / frequency[9] < 13
    assert 7 < frequency[9] / frequency[99] < 15
    assert len(batch.lexicon) > 100_000


def test_a_batch_has_the_words_it_uses_and_no_others():
    batch = STREAM.batch(10)
    assert set(batch.words) == set(range(len(batch.lexicon)))
    words = batch.lexicon.to_pylist()
    assert len(set(words)) == len(words)
    assert all(tokenize(word) == [word] for word in words)


def test_places_are_in_bounds_and_clustered():
    batch = STREAM.batch(20_000)
    bounds = STREAM.bounds
    lon, lat = batch.at[:, 0], batch.at[:, 1]
    assert bounds.west <= lon.min() < lon.max() <= bounds.east
    assert bounds.south <= lat.min() < lat.max() <= bounds.north
    cells = np.histogram2d(lon, lat, bins=20)[0]
    # Were they spread evenly, the fullest of 400 cells would hold about 0.4%.
    assert cells.max() > 0.03 * len(batch)


def test_time_goes_on():
    assert (np.diff(STREAM.batch(1000).time) > 0).all()


def test_no_tweets_at_all():
    assert len(STREAM.batch(0)) == 0


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"vocabulary": 0}, "vocabulary 0 is not positive"),
        ({"shortest": 6, "longest": 5}, "6 to 5 words"),
        ({"shortest": 0}, "0 to 13 words"),
    ],
)
def test_impossible_streams_are_refused(arguments, complaint):
    with pytest.raises(ValueError, match=complaint):
        Tweets(**arguments)


def test_numbers_before_the_first_are_refused():
    with pytest.raises(ValueError, match="tweet -1 does not exist"):
        STREAM.take([5, -1])
