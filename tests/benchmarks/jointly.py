"""A release over time where who waits is chosen together with the classes, without knowing the future.

The rows that may enter with a version are anonymized by annealing in which a row may also wait: at what it
will probably cost later, as far as rows like it have come so far, and a price that moves until as many wait
as may. Beside it, whole classes of the greedy method wait, those that lose most against what their rows will
probably lose later. Both are experiments outside the server.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numba as nb
import numpy as np
from numpy.typing import NDArray

from tests.benchmarks.series import K, patterns_of

FORESIGHT = 0.8
"""Weight of what a row will probably cost later."""

_ENOUGH = 8
"""Rows to come that make a class as likely as not: more than `K`, since some of them find better ones."""

_STEPS, _FIRST_HEAT, _LAST_HEAT = 1_000_000, 1.0, 0.15
_EACH, _STRIDE = 200, 0.02
"""Steps after which the price of waiting moves, and how far."""

_NEVER = 20.0
"""What waiting costs a row that waited long enough: more than all its cells."""

_MOST_MEMBERS = 400
"""Rows that fit a class that is still tried: larger ones are the greedy method's already, and slow."""

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class _Pool(NamedTuple):
    """Rows that may enter, and where they are: `pattern` is -1 for who waits."""

    keys: NDArray[np.int32]
    members: NDArray[np.int32]
    begin: NDArray[np.int32]
    cells: Ints
    order: Ints
    wait: Floats
    pattern: Ints
    counts: NDArray[np.int32]
    log: Ints
    waiting: Ints
    price: Floats


def least_cells_jointly(codes: Ints, batches: int, longest: int, share: float) -> int:
    """Return the suppressed cells of published rows; see `tests.benchmarks.hindsight.least_cells`."""
    return _cells_of_history(codes, batches, longest, share, _entered)


def least_cells_by_class(codes: Ints, batches: int, longest: int, share: float) -> int:
    """Return them where all are anonymized, and then the classes wait that lose most against later."""
    return _cells_of_history(codes, batches, longest, share, _entered_by_class)


def _cells_of_history(
    codes: Ints, batches: int, longest: int, share: float, enter: Callable[[Ints, Floats, int], Ints]
) -> int:
    batch = np.concatenate(
        [np.full(len(rows), b) for b, rows in enumerate(np.array_split(np.arange(len(codes)), batches), 1)]
    )
    pending, total = np.empty(0, np.int64), 0
    for version in range(1, batches + 1):
        seen = int((batch <= version).sum())
        rows = np.concatenate([pending, np.flatnonzero(batch == version)])
        wait = FORESIGHT * _later(codes[:seen], version)[rows]
        wait[version - batch[rows] >= longest] = _NEVER
        most = int(share * seen)
        patterns = enter(codes[rows], wait, most)
        waits = patterns < 0
        assert waits.sum() <= most
        assert (wait[waits] < _NEVER).all()
        total += int(np.bitwise_count(patterns[~waits]).sum())
        pending = rows[waits]
    return total


def _entered_by_class(codes: Ints, wait: Floats, most: int) -> Ints:
    """Return the pattern of each row by the greedy method, -1 of the classes that wait."""
    patterns = patterns_of(codes)
    kept = (patterns[:, None] >> np.arange(codes.shape[1])) & 1 == 0
    cells = np.column_stack([np.where(kept, codes, -1), patterns])
    number = np.unique(cells, axis=0, return_inverse=True)[1].ravel()
    sizes = np.bincount(number)
    assert sizes.min() >= K
    gain = np.bincount(number, np.bitwise_count(patterns) - wait) / sizes
    blocked = np.bincount(number, wait >= _NEVER) > 0
    first = np.argsort(np.where(blocked, np.inf, -gain), kind="stable")
    waits = first[(np.cumsum(sizes[first]) <= most) & ~blocked[first]]
    return np.where(np.isin(number, waits), -1, patterns)


def _numbered(codes: Ints, pattern: int) -> Ints:
    """Return the number of the class of each row under a pattern."""
    number = np.zeros(len(codes), np.int64)
    for column in range(codes.shape[1]):
        if not pattern >> column & 1:
            number = number * (int(codes[:, column].max()) + 1) + codes[:, column]
    return np.unique(number, return_inverse=True)[1].ravel()


def _later(seen: Ints, versions: int) -> Floats:
    """Return the cells that each row will probably lose a version later, by how many fitted it so far."""
    width = seen.shape[1]
    come = np.zeros((width + 1, len(seen)))
    for pattern in range(1 << width):
        number = _numbered(seen, pattern)
        level = come[pattern.bit_count()]
        np.maximum(level, (np.bincount(number)[number] - 1) / versions, out=level)
    come[width] = np.inf
    lost, rest = np.zeros(len(seen)), np.ones(len(seen))
    for cells, rows in enumerate(come):
        likely = 1 / (1 + (_ENOUGH / np.maximum(rows, 1e-9)) ** 2)
        lost += rest * likely * cells
        rest *= 1 - likely
    return lost


def _entered(codes: Ints, wait: Floats, most: int) -> Ints:
    """Return the pattern of each row, -1 of those that wait, `most` of them at most."""
    pool = _pool_of(codes, wait)
    pool.price[0] = 2.0
    _anneal(pool, most, 1, _STEPS)
    # The price leaves a few too many or too few.
    waits = np.flatnonzero(pool.pattern < 0)
    classes = np.array([_cheapest(pool, row) for row in waits], dtype=np.int64)
    excess = np.where(classes < 0, np.inf, pool.cells[classes] - wait[waits])
    for place in np.argsort(excess, kind="stable")[: max(0, len(waits) - most)]:
        _assign(pool, waits[place], classes[place])
    if pool.waiting[0] > most or (pool.pattern[wait >= _NEVER] < 0).any():
        # Of few rows, some that have to enter may fit no class that is left.
        return _entered_by_class(codes, wait, most)
    costly = np.argsort(wait - np.where(pool.pattern < 0, -np.inf, pool.cells[pool.pattern]), kind="stable")
    for row in costly:
        pattern = pool.pattern[row]
        if pool.waiting[0] >= most:
            break
        if pattern >= 0 and wait[row] < _NEVER and pool.counts[pattern, pool.keys[pattern, row]] > K:
            _assign(pool, row, -1)
    filled = pool.counts[pool.counts > 0]
    assert filled.min() >= K
    return pool.pattern


def _pool_of(codes: Ints, wait: Floats) -> _Pool:
    n, width = codes.shape
    patterns = 1 << width
    keys, members = np.empty((patterns, n), np.int32), np.empty((patterns, n), np.int32)
    begin = np.full((patterns, n + 1), n, np.int32)
    for vector in range(patterns):
        keys[vector] = number = _numbered(codes, vector)
        members[vector] = np.argsort(number, kind="stable")
        sizes = np.bincount(number)
        begin[vector, : len(sizes) + 1] = [0, *np.cumsum(sizes)]
    pattern = patterns_of(codes)
    counts = np.zeros((patterns, n), np.int32)
    np.add.at(counts, (pattern, keys[pattern, np.arange(n)]), 1)
    cells = np.bitwise_count(np.arange(patterns)).astype(np.int64)
    order = np.argsort(cells, kind="stable")
    log, none = np.empty((8 * n, 2), np.int64), np.zeros(1, np.int64)
    return _Pool(keys, members, begin, cells, order, wait, pattern, counts, log, none, np.zeros(1))


@nb.njit  # type: ignore[untyped-decorator]
def _cheapest(pool: _Pool, row: int) -> int:
    """Return the pattern of the cheapest class that a row fits."""
    for pattern in pool.order:
        if pool.counts[pattern, pool.keys[pattern, row]] >= K:
            return int(pattern)
    return -1


@nb.njit  # type: ignore[untyped-decorator]
def _cost(pool: _Pool, row: int) -> float:
    pattern = pool.pattern[row]
    return float(pool.cells[pattern] if pattern >= 0 else pool.wait[row] + pool.price[0])


@nb.njit  # type: ignore[untyped-decorator]
def _assign(pool: _Pool, row: int, pattern: int) -> None:
    old = pool.pattern[row]
    if old >= 0:
        pool.counts[old, pool.keys[old, row]] -= 1
    else:
        pool.waiting[0] -= 1
    pool.pattern[row] = pattern
    if pattern >= 0:
        pool.counts[pattern, pool.keys[pattern, row]] += 1
    else:
        pool.waiting[0] += 1


@nb.njit  # type: ignore[untyped-decorator]
def _put(pool: _Pool, row: int, pattern: int, place: int) -> float:
    """Move a row, record where it was, and return how the cost changes."""
    before = _cost(pool, row)
    pool.log[place, 0], pool.log[place, 1] = row, pool.pattern[row]
    _assign(pool, row, pattern)
    return _cost(pool, row) - before


@nb.njit  # type: ignore[untyped-decorator]
def _dissolve(pool: _Pool, pattern: int, key: int, place: int) -> tuple[float, int]:
    """Let the rows of a class that is too small enter the cheapest other class, or wait."""
    change = 0.0
    for number in range(pool.begin[pattern, key], pool.begin[pattern, key + 1]):
        row = pool.members[pattern, number]
        if pool.pattern[row] == pattern:
            to = _cheapest(pool, row)
            if to >= 0 and pool.cells[to] >= pool.wait[row] + pool.price[0]:
                to = -1
            change += _put(pool, row, to, place)
            place += 1
    return change, place


@nb.njit  # type: ignore[untyped-decorator]
def _form(pool: _Pool, row: int, pattern: int) -> tuple[float, int]:
    """Form a class of the row and of rows that cost more elsewhere, or a little less if it needs them."""
    key, cells, change, place = pool.keys[pattern, row], pool.cells[pattern], 0.0, 0
    first, end = pool.begin[pattern, key], pool.begin[pattern, key + 1]
    if end - first < K or end - first > _MOST_MEMBERS:
        return np.inf, 0
    for least in (1.0 * cells, cells - 1.5):
        offset = np.random.randint(end - first)
        for number in range(end - first):
            other = pool.members[pattern, first + (number + offset) % (end - first)]
            old = pool.pattern[other]
            if old == pattern or (least < cells and pool.counts[pattern, key] >= K):
                continue
            if other != row and _cost(pool, other) <= least:
                continue
            breaks = old >= 0 and pool.counts[old, pool.keys[old, other]] <= K
            if least == cells and other != row and breaks and np.random.random() < 0.3:
                continue
            change += _put(pool, other, pattern, place)
            place += 1
    if pool.counts[pattern, key] < K:
        return np.inf, place
    for number in range(place):
        old = pool.log[number, 1]
        if old >= 0:
            left = pool.keys[old, pool.log[number, 0]]
            if 0 < pool.counts[old, left] < K:
                more, place = _dissolve(pool, old, left, place)
                change += more
    return change, place


@nb.njit  # type: ignore[untyped-decorator]
def _leave(pool: _Pool, row: int) -> tuple[float, int]:
    """Let a row wait, and its class come apart if it is too small without it."""
    pattern = pool.pattern[row]
    if pattern < 0:
        return np.inf, 0
    key = pool.keys[pattern, row]
    change = _put(pool, row, -1, 0)
    if pool.counts[pattern, key] >= K:
        return change, 1
    more, place = _dissolve(pool, pattern, key, 1)
    return change + more, place


@nb.njit  # type: ignore[untyped-decorator]
def _anneal(pool: _Pool, most: int, seed: int, steps: int) -> None:
    """Try classes at random, and take the worse ones ever less often, while the price finds its level."""
    np.random.seed(seed)
    for step in range(steps):
        done = step / steps
        if step % _EACH == 0:
            pool.price[0] += _STRIDE * (1 - 0.8 * done) * np.sign(pool.waiting[0] - most)
        row = np.random.randint(len(pool.pattern))
        if np.random.random() < 0.1:
            change, used = _leave(pool, row)
        else:
            pattern, dear = np.random.randint(len(pool.cells)), max(_cost(pool, row), 0.0) + 1
            while pool.cells[pattern] >= dear:
                pattern = np.random.randint(len(pool.cells))
            if pattern == pool.pattern[row]:
                continue
            change, used = _form(pool, row, pattern)
        heat = _FIRST_HEAT * (_LAST_HEAT / _FIRST_HEAT) ** done
        if change > 0 and np.random.random() >= np.exp(-change / heat):
            for number in range(used - 1, -1, -1):
                _assign(pool, pool.log[number, 0], pool.log[number, 1])
