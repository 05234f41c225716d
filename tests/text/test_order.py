import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearcast.text import Idf, Random, TermOrder, Tf

frequencies = st.lists(st.integers(0, 5)).map(lambda numbers: np.array(numbers, np.int64))


@given(frequencies)
def test_tf_puts_frequent_terms_first_and_idf_rare_ones(frequency):
    numbers = range(len(frequency))
    by_tf = sorted(numbers, key=lambda term: (-frequency[term], term))
    by_idf = sorted(numbers, key=lambda term: (frequency[term], term))
    assert Tf().order(frequency).tolist() == by_tf
    assert Idf().order(frequency).tolist() == by_idf


@given(frequencies, st.integers(0, 9))
def test_random_is_a_permutation_given_by_its_seed(frequency, seed):
    order = Random(seed).order(frequency)
    assert sorted(order.tolist()) == list(range(len(frequency)))
    assert order.tolist() == Random(seed).order(frequency).tolist()


@pytest.mark.parametrize("policy", [Tf(), Idf(), Random(3)])
def test_a_policy_is_a_value(policy):
    assert isinstance(policy, TermOrder)
    assert pickle.loads(pickle.dumps(policy)) == policy
    assert policy.order(np.array([4, 9, 4])).dtype == np.int64
