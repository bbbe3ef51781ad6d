"""Arrays as the numbers that travel between processes: of 64 bits, big-endian."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def integers(buffer: bytes) -> NDArray[np.int64]:
    """Return the numbers in a buffer."""
    return np.frombuffer(buffer, dtype=">i8").astype(np.int64)


def floats(buffer: bytes) -> NDArray[np.float64]:
    """Return the floating point numbers in a buffer."""
    return np.frombuffer(buffer, dtype=">f8").astype(np.float64)


def buffer_of(numbers: NDArray[np.int64]) -> bytes:
    """Return a buffer of numbers."""
    return numbers.astype(">i8").tobytes()
