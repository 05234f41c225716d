"""Random numbers that depend on a seed and a row alone.

Every row owns a stream of draws, so that any row of a synthetic data set is made without the rows
before it. Integer mixing and plain IEEE arithmetic only: each machine gets the same bits.
"""

from numba import njit, uint64

_STEP = uint64(0x9E3779B97F4A7C15)
_FIRST = uint64(0xBF58476D1CE4E5B9)
_SECOND = uint64(0x94D049BB133111EB)
_TWO_POW_MINUS_53 = 1.0 / (1 << 53)


@njit(cache=True, nogil=True)
def mix(value: int) -> int:
    """Scramble 64 bits (the finaliser of splitmix64)."""
    value = uint64(value)
    value = (value ^ (value >> uint64(30))) * _FIRST
    value = (value ^ (value >> uint64(27))) * _SECOND
    return value ^ (value >> uint64(31))


@njit(cache=True, nogil=True)
def start_of_row(seed: int, row: int) -> int:
    """The state from which the draws of `row` begin."""
    return mix(mix(uint64(seed) + _STEP) ^ (uint64(row) * _STEP))


@njit(cache=True, nogil=True)
def following(state: int) -> int:
    """The state of the next draw."""
    return state + _STEP


@njit(cache=True, nogil=True)
def fraction(state: int) -> float:
    """This state's draw as a float64 in [0, 1)."""
    return float(mix(state) >> uint64(11)) * _TWO_POW_MINUS_53


@njit(cache=True, nogil=True)
def below(state: int, limit: int) -> int:
    """This state's draw as an integer in [0, limit), for limits far below 2**53."""
    return int(fraction(state) * limit)
