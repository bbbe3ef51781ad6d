"""What a heuristic reaches that knows all batches of a release over time beforehand.

Nobody who publishes can do this: it says how much knowing the future is worth, beside the bound that
`tests.benchmarks.waiting` proves for anybody. Rows wait at a price per version, so that a row in a class
of version v costs its suppressed cells and what it paid until then. Classes are formed in the order of the
highest cost of their rows, as long as the waiting they need has room; rows of the last versions may wait at
the end at what that costs. Then each version is anonymized anew by the greedy method.
"""

from __future__ import annotations

import numba as nb
import numpy as np
from numpy.typing import NDArray

from tests.benchmarks.series import K, patterns_of

PRICES = ((0.2, 2.0), (0.3, 2.0), (0.5, 2.5))
"""What waiting costs per version in cells, and waiting at the last one."""

_STEP = 0.25
"""Between the costs up to which classes are formed, in cells per row."""

Ints = NDArray[np.int64]


def least_cells(codes: Ints, batches: int, longest: int, share: float) -> int:
    """Return the fewest suppressed cells of published rows that some prices lead to.

    Parameters
    ----------
    codes : ndarray of int64, shape (n, m)
        Rows in their order, which are divided into batches of equal size.
    longest : int
        Versions after which nobody waits any longer.
    share : float
        Largest share of the rows so far that wait, at each version.
    """
    batch = np.concatenate(
        [np.full(len(rows), b) for b, rows in enumerate(np.array_split(np.arange(len(codes)), batches), 1)]
    )
    capacity = np.array([int(share * (batch <= u).sum()) for u in range(batches + 1)])
    keys = _keys(codes)
    found = []
    for each, last in PRICES:
        paid = each * np.arange(batches + 1.0)
        paid[batches] += last - each
        version = _enter(keys, batch, np.searchsorted(batch, np.arange(batches + 2)), paid, longest, capacity)
        _require_valid(version, batch, capacity, longest)
        cells = (np.bitwise_count(patterns_of(codes[version == v])).sum() for v in range(1, batches + 1))
        found.append(int(sum(cells)))
    return min(found)


def _keys(codes: Ints) -> NDArray[np.int32]:
    """Return the number of the class of each row under each pattern, those with fewer cells first."""
    width = codes.shape[1]
    patterns = sorted(range(1 << width), key=int.bit_count)
    keys = np.empty((len(patterns), len(codes)), np.int32)
    for place, pattern in enumerate(patterns):
        kept = [column for column in range(width) if not pattern >> column & 1]
        keys[place] = np.unique(codes[:, kept], axis=0, return_inverse=True)[1].ravel() if kept else 0
    return keys


def _require_valid(version: Ints, batch: Ints, capacity: Ints, longest: int) -> None:
    """Check who enters when by itself: that classes have k rows is checked where versions are anonymized."""
    last = len(capacity) - 1
    waits = np.array([((batch <= u) & (version > u)).sum() for u in range(last + 1)])
    assert (waits <= capacity).all()
    assert (version >= batch).all()
    assert (np.where(version > last, last, version) - batch <= longest).all()


@nb.njit  # type: ignore[untyped-decorator]
def _enter(
    keys: NDArray[np.int32],
    batch: Ints,
    begin: Ints,
    paid: NDArray[np.float64],
    longest: int,
    capacity: Ints,
) -> Ints:
    """Return the version with which each row enters; one after the last if it waits at the end.

    Rows that fit no class at any cost enter at once.
    """
    last, n = len(capacity) - 1, batch.size
    version, room = np.zeros(n, np.int64), capacity.copy()
    rows, verdict = np.zeros(n, np.int64), np.zeros(n, np.int64)
    waits = np.zeros((n, longest + 1), np.int64)
    width = int(np.log2(len(keys)))
    for limit in np.arange(0.0, width + 1 + _STEP, _STEP):
        for pattern in range(len(keys)):
            cells = _cells(pattern, width)
            if cells > limit:
                break
            for v in range(1, last + 1):
                first = max(1, v - longest)
                while first < v and cells + paid[v - 1] - paid[first - 1] > limit:
                    first += 1
                _form(
                    keys[pattern], version, batch, begin[first], begin[v + 1], v, rows, verdict, waits, room
                )
        for row in range(begin[max(1, last - longest)], n):
            if (
                version[row] == 0
                and paid[last] - paid[batch[row] - 1] <= limit
                and room[batch[row] :].min() > 0
            ):
                version[row] = last + 1
                room[batch[row] :] -= 1
    return np.where(version == 0, batch, version)


@nb.njit  # type: ignore[untyped-decorator]
def _cells(pattern: int, width: int) -> int:
    """Return how many cells the pattern at a place suppresses, in the order of `_keys`."""
    cells, patterns, passed = 0, 1, 1
    while passed <= pattern:
        patterns = patterns * (width - cells) // (cells + 1)
        cells += 1
        passed += patterns
    return cells


@nb.njit  # type: ignore[untyped-decorator]
def _form(
    keys: NDArray[np.int32],
    version: Ints,
    batch: Ints,
    begin: int,
    end: int,
    v: int,
    rows: Ints,
    verdict: Ints,
    waits: Ints,
    room: Ints,
) -> None:
    """Let rows from `begin` to `end` enter with version v in classes of at least k, where there is room."""
    for row in range(begin, end):
        if version[row] == 0:
            rows[keys[row]] += 1
            waits[keys[row], v - batch[row]] += 1
    for row in range(begin, end):
        key = keys[row]
        if version[row] != 0 or rows[key] < K:
            continue
        if verdict[key] == 0:
            verdict[key] = 1
            needed = 0
            for u in range(max(1, v - waits.shape[1] + 1), v):
                needed += waits[key, v - u]
                if needed > room[u]:
                    verdict[key] = 2
            if verdict[key] == 1:
                needed = 0
                for u in range(max(1, v - waits.shape[1] + 1), v):
                    needed += waits[key, v - u]
                    room[u] -= needed
        if verdict[key] == 1:
            version[row] = v
    for row in range(begin, end):
        rows[keys[row]] = 0
        verdict[keys[row]] = 0
        waits[keys[row]] = 0
