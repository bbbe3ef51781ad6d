"""What annealing reaches that knows all batches of a release over time beforehand.

Nobody who publishes can do this: it says what knowing the future is worth, beside the bound that
`tests.benchmarks.waiting` proves for anybody. A row of batch b costs the suppressed cells of its class and,
for each version at which it waits, a price that moves until as many wait as may; a row of the last batches
may wait at the end at that alone. Each step takes a row and a class, of any version, that would be cheaper,
lets those enter it who gain (and as many others as it lacks), and sends the rest of the classes that broke to
the cheapest others. Dearer results are kept ever less often.
"""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np
from numpy.typing import NDArray

from tests.benchmarks.series import K, patterns_of

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_STEPS_PER_ROW = 1_000
"""Changes that are tried: within them the temperature falls from the first to the last one."""

_FIRST_HEAT, _LAST_HEAT = 0.7, 0.1
_FIRST_PRICE, _STRIDE, _MOVES = 0.8, 0.01, 16_000
"""Price of waiting at a version, how far it moves, and how often it does."""

_STRICT = 0.5
"""Share of the steps after which no more may wait than may, where the prices alone did not see to that."""

_MOST_MEMBERS = 400
"""Rows that fit a class that is looked at: larger ones are the greedy method's already, and slow."""

_LEAST_GAIN = -1.5
"""What a row may lose that enters a class because that needs it, in cells."""

_NO_CHANCE = 1e18


class _Fitting(NamedTuple):
    """Rows by the classes that they fit, under every pattern: the index that annealing works with.

    Parameters
    ----------
    keys : ndarray of int32, shape (2^m, n)
        Class of each row under each pattern, from 0 on.
    start : ndarray of int64, shape (2^m + 1,)
        Number of a pattern's first class among those of all patterns.
    members : ndarray of int32, shape (2^m, n)
        Rows under each pattern by their class, and by their number in each class.
    begin : ndarray of int32
        Place of the first member of each class in the members under its pattern.
    cells, order : ndarray of int64, shape (2^m,)
        Suppressed cells of each pattern, and the patterns, those with fewer cells first.
    candidates : ndarray of int64
        Patterns that may be worth a try for each row, those with fewer cells first.
    first : ndarray of int64, shape (n, m + 2)
        Place in `candidates` from which on the patterns of a row have so many cells at least.
    """

    keys: NDArray[np.int32]
    start: Ints
    members: NDArray[np.int32]
    begin: NDArray[np.int32]
    cells: Ints
    order: Ints
    candidates: Ints
    first: Ints


class _History(NamedTuple):
    """All rows, in the order of their batches, and where they are.

    `counts` has the rows of each class of each version (see `_class`). Who waits at the end is in the version
    after the last one. `arrival` is the first row of each batch, `paid` what waiting until the end of each
    version costs from the first one on.
    """

    fit: _Fitting
    batch: Ints
    arrival: Ints
    capacity: Ints
    longest: int
    version: Ints
    pattern: Ints
    counts: NDArray[np.int32]
    waiting: Ints
    price: Floats
    paid: Floats
    log: Ints


def least_cells(codes: Ints, batches: int, longest: int, share: float) -> int:
    """Return the fewest suppressed cells of published rows that were found.

    Parameters
    ----------
    codes : ndarray of int64, shape (n, m)
        Rows in their order, which are divided into batches of equal size.
    longest : int
        Versions after which nobody waits any longer.
    share : float
        Largest share of the rows so far that wait, at each version.
    """
    history = _history(codes, batches, longest, share)
    _anneal(history, _STEPS_PER_ROW * len(codes))
    _require_valid(history, codes)
    return int(history.fit.cells[history.pattern[history.version <= batches]].sum())


def _history(codes: Ints, batches: int, longest: int, share: float) -> _History:
    """Return all rows where those of each batch enter at once, as the greedy method anonymizes them."""
    n = len(codes)
    batch = np.repeat(np.arange(1, batches + 1), [len(part) for part in np.array_split(codes, batches)])
    pattern = np.concatenate([patterns_of(codes[batch == b]) for b in range(1, batches + 1)])
    fit = _fitting(codes, K, _MOST_MEMBERS * (longest + 1))
    counts = np.zeros((batches + 1) * int(fit.start[-1]), np.int32)
    np.add.at(counts, batch * fit.start[-1] + fit.start[pattern] + fit.keys[pattern, np.arange(n)], 1)
    return _History(
        fit=fit,
        batch=batch,
        arrival=np.searchsorted(batch, np.arange(batches + 2)),
        capacity=np.array([int(share * (batch <= u).sum()) for u in range(batches + 1)]),
        longest=longest,
        version=batch.copy(),
        pattern=pattern,
        counts=counts,
        waiting=np.zeros(batches + 1, np.int64),
        price=np.full(batches + 1, _FIRST_PRICE),
        paid=np.zeros(batches + 1),
        log=np.empty((4 * n, 3), np.int64),
    )


def _require_valid(history: _History, codes: Ints) -> None:
    """Check who enters when, and count the classes anew."""
    version, batch, last = history.version, history.batch, len(history.capacity) - 1
    waits = np.array([((batch <= u) & (version > u)).sum() for u in range(last + 1)])
    assert (waits <= history.capacity).all()
    assert (version >= batch).all()
    assert (np.minimum(version, last) - batch <= history.longest).all()
    shown = version <= last
    suppressed = (history.pattern[:, None] >> np.arange(codes.shape[1])) & 1 == 1
    published = np.column_stack([version, history.pattern, np.where(suppressed, -1, codes)])[shown]
    assert np.unique(published, axis=0, return_counts=True)[1].min() >= K


def _fitting(codes: Ints, least: int, most: int) -> _Fitting:
    """Return the index of some rows; patterns are worth a try where so many rows fit."""
    n, width = codes.shape
    patterns = np.arange(1 << width)
    keys = np.array([_numbered(codes, pattern) for pattern in patterns], dtype=np.int32)
    sizes = [np.bincount(own) for own in keys]
    cells = np.bitwise_count(patterns).astype(np.int64)
    order = np.argsort(cells, kind="stable")
    fits = np.array([np.bincount(own)[own] for own in keys])[order]
    worth = ((fits >= least) & (fits <= most)).T
    row, place = np.nonzero(worth)
    first = np.cumsum([0, *np.bincount(row, minlength=n)])[:-1, None]
    fewer = [worth[:, cells[order] < count].sum(axis=1) for count in range(width + 2)]
    return _Fitting(
        keys=keys,
        start=np.cumsum([0, *(len(own) for own in sizes)]),
        members=np.argsort(keys, axis=1, kind="stable").astype(np.int32),
        begin=np.concatenate([np.cumsum(own) - own for own in sizes]).astype(np.int32),
        cells=cells,
        order=order,
        candidates=order[place],
        first=first + np.column_stack(fewer),
    )


def _numbered(codes: Ints, pattern: int) -> Ints:
    """Return the number of the class of each row under a pattern."""
    kept = [column for column in range(codes.shape[1]) if not pattern >> column & 1]
    if not kept:
        return np.zeros(len(codes), np.int64)
    return np.unique(codes[:, kept], axis=0, return_inverse=True)[1].ravel()


@nb.njit  # type: ignore[untyped-decorator]
def _cost_at(history: _History, row: int, version: int, pattern: int) -> float:
    """Return what a row costs in a class of a version, or at the end."""
    waited = history.paid[version - 1] - history.paid[history.batch[row] - 1]
    return float(waited) if version == len(history.capacity) else float(history.fit.cells[pattern] + waited)


@nb.njit  # type: ignore[untyped-decorator]
def _cost(history: _History, row: int) -> float:
    return _cost_at(history, row, history.version[row], history.pattern[row])


@nb.njit  # type: ignore[untyped-decorator]
def _class(history: _History, row: int, version: int, pattern: int) -> int:
    return int(version * history.fit.start[-1] + history.fit.start[pattern] + history.fit.keys[pattern, row])


@nb.njit  # type: ignore[untyped-decorator]
def _assign(history: _History, row: int, version: int, pattern: int) -> None:
    end, old = len(history.capacity), history.version[row]
    if old < end:
        history.counts[_class(history, row, old, history.pattern[row])] -= 1
    if version < end:
        history.counts[_class(history, row, version, pattern)] += 1
    for u in range(old, version):
        history.waiting[u] += 1
    for u in range(version, old):
        history.waiting[u] -= 1
    history.version[row], history.pattern[row] = version, pattern


@nb.njit  # type: ignore[untyped-decorator]
def _put(history: _History, row: int, version: int, pattern: int, place: int) -> float:
    """Move a row, record where it was, and return how the cost changes."""
    before = _cost(history, row)
    history.log[place, 0], history.log[place, 1] = row, history.version[row]
    history.log[place, 2] = history.pattern[row]
    _assign(history, row, version, pattern)
    return _cost(history, row) - before


@nb.njit  # type: ignore[untyped-decorator]
def _cheapest(history: _History, row: int) -> tuple[int, int]:
    """Return version and pattern of the cheapest class that a row fits, version 0 if there is none."""
    last, batch = len(history.capacity) - 1, history.batch[row]
    best, version, pattern = _NO_CHANCE, 0, 0
    if batch >= last - history.longest:
        best, version = _cost_at(history, row, last + 1, 0), last + 1
    for v in range(batch, min(last, batch + history.longest) + 1):
        for p in history.fit.order:
            cost = _cost_at(history, row, v, p)
            if cost >= best:
                break
            if history.counts[_class(history, row, v, p)] >= K:
                best, version, pattern = cost, v, p
    return version, pattern


@nb.njit  # type: ignore[untyped-decorator]
def _range(history: _History, row: int, version: int, pattern: int) -> tuple[int, int]:
    """Return which members of a class may enter it with a version."""
    number = history.fit.start[pattern] + history.fit.keys[pattern, row]
    low, end = history.fit.begin[number], history.fit.keys.shape[1]
    if number + 1 < history.fit.start[pattern + 1]:
        end = history.fit.begin[number + 1]
    members = history.fit.members[pattern, low:end]
    first, after = history.arrival[max(1, version - history.longest)], history.arrival[version + 1]
    return low + np.searchsorted(members, first), low + np.searchsorted(members, after)


@nb.njit  # type: ignore[untyped-decorator]
def _dissolve_broken(history: _History, change: float, place: int) -> tuple[float, int]:
    """Send the rows of classes that became too small to the cheapest others."""
    seen = 0
    while seen < place:
        row, version, pattern = history.log[seen]
        seen += 1
        if version == len(history.capacity):
            continue
        number = _class(history, row, version, pattern)
        if not 0 < history.counts[number] < K:
            continue
        low, high = _range(history, row, version, pattern)
        for other in history.fit.members[pattern, low:high]:
            if history.version[other] == version and history.pattern[other] == pattern:
                to, cheapest = _cheapest(history, other)
                if to == 0:
                    return _NO_CHANCE, place
                change += _put(history, other, to, cheapest, place)
                place += 1
    return change, place


@nb.njit  # type: ignore[untyped-decorator]
def _is_hopeless(history: _History, row: int, version: int, pattern: int, most: float) -> bool:
    """Return whether forming a class costs more than `most`, even if no other class breaks."""
    low, high = _range(history, row, version, pattern)
    lacking = K - history.counts[_class(history, row, version, pattern)]
    change, few, more = 0.0, 0, 0
    for other in history.fit.members[pattern, low:high]:
        if history.version[other] == version and history.pattern[other] == pattern:
            continue
        gain = _cost(history, other) - _cost_at(history, other, version, pattern)
        if gain > 0 or other == row:
            lacking -= 1
            change -= gain
        elif gain >= -0.5:
            few += 1
        elif gain >= _LEAST_GAIN:
            more += 1
    if lacking > few + more:
        return True
    # Those that lose at least half a cell; one cell less, since rows of classes that break may gain.
    return change + 0.5 * max(0, lacking - few) - 1 > most


@nb.njit  # type: ignore[untyped-decorator]
def _form(history: _History, row: int, version: int, pattern: int, most: float) -> tuple[float, int]:
    """Form a class of the row and of rows that cost more elsewhere, or a little less if it needs them."""
    low, high = _range(history, row, version, pattern)
    number = _class(history, row, version, pattern)
    is_open = history.counts[number] >= K
    if high - low < K or (high - low > _MOST_MEMBERS and not is_open):
        return _NO_CHANCE, 0
    if not is_open and _is_hopeless(history, row, version, pattern, most):
        return _NO_CHANCE, 0
    change, place = _put(history, row, version, pattern, 0), 1
    offset = np.random.randint(high - low)
    for least in (0.0, -0.5, _LEAST_GAIN):
        for step in range(min(high - low, _MOST_MEMBERS)):
            if least < 0 and history.counts[number] >= K:
                break
            other = history.fit.members[pattern, low + (step + offset) % (high - low)]
            old, had = history.version[other], history.pattern[other]
            if old == version and had == pattern:
                continue
            gain = _cost(history, other) - _cost_at(history, other, version, pattern)
            if gain < least or (least == 0 and gain == 0):
                continue
            breaks = old < len(history.capacity) and history.counts[_class(history, other, old, had)] <= K
            if least == 0 and breaks and np.random.random() < 0.3:
                continue
            change += _put(history, other, version, pattern, place)
            place += 1
    if history.counts[number] < K:
        return _NO_CHANCE, place
    return _dissolve_broken(history, change, place)


@nb.njit  # type: ignore[untyped-decorator]
def _try(history: _History, row: int, most: float) -> tuple[float, int]:
    """Change where a row is, in a random way."""
    last, batch = len(history.capacity) - 1, history.batch[row]
    if np.random.random() < 0.05:
        if batch < last - history.longest or history.version[row] > last:
            return _NO_CHANCE, 0
        return _dissolve_broken(history, _put(history, row, last + 1, 0, 0), 1)
    version = batch + np.random.randint(min(last, batch + history.longest) - batch + 1)
    # Up to one cell more than it costs now.
    room = int(np.ceil(_cost(history, row) + 1 - _cost_at(history, row, version, 0)))
    first, end = (
        history.fit.first[row, 0],
        history.fit.first[row, max(0, min(room, history.fit.first.shape[1] - 1))],
    )
    if first >= end:
        return _NO_CHANCE, 0
    pattern = history.fit.candidates[first + np.random.randint(end - first)]
    if version == history.version[row] and pattern == history.pattern[row]:
        return _NO_CHANCE, 0
    return _form(history, row, version, pattern, most)


@nb.njit  # type: ignore[untyped-decorator]
def _anneal(history: _History, steps: int) -> None:
    """Try changes at random, and take the dearer ones ever less often, while the prices find their level."""
    np.random.seed(1)
    before = history.waiting.copy()
    each = max(1, steps // _MOVES)
    for step in range(steps):
        done = step / steps
        if step % each == 0:
            for u in range(1, len(history.capacity)):
                upward = 1 if history.waiting[u] >= history.capacity[u] else -1
                history.price[u] = max(0.0, history.price[u] + _STRIDE * (1 - 0.9 * done) * upward)
                history.paid[u] = history.paid[u - 1] + history.price[u]
        heat = _FIRST_HEAT * (_LAST_HEAT / _FIRST_HEAT) ** done
        most = -heat * np.log(1 - np.random.random())
        before[:] = history.waiting
        change, place = _try(history, np.random.randint(len(history.batch)), most)
        too_many = (history.waiting > np.maximum(before, history.capacity)).any()
        if change > most or (too_many and done > _STRICT):
            for number in range(place - 1, -1, -1):
                row, version, pattern = history.log[number]
                _assign(history, row, version, pattern)
