"""Random numbers inside kernels, the same for the same seed on every machine."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.compiled import kernel

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


def random_state(seed: int) -> NDArray[np.uint64]:
    """Return the state of a generator, shape (1,)."""
    return np.array([seed & 0xFFFFFFFFFFFFFFFF], dtype=np.uint64)


@kernel
def below(state: NDArray[np.uint64], number: int) -> int:
    """Draw a whole number from 0 to ``number - 1`` (SplitMix, Steele, Lea and Flood 2014)."""
    state[0] += _STEP
    mixed = (state[0] ^ (state[0] >> np.uint64(30))) * _FIRST
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _SECOND
    mixed ^= mixed >> np.uint64(31)
    return int(np.int64(mixed >> np.uint64(11)) % number)


@kernel
def share(state: NDArray[np.uint64]) -> float:
    """Draw a number from 0 (included) to 1 (excluded)."""
    return below(state, 1 << 53) / float(1 << 53)
