"""A release over time in which who waits is chosen against futures drawn from the rows so far.

For each version, the rows that may enter are looked at in several worlds: the present, and futures, each with
a batch drawn from the rows so far. Who waits enters a class in every future, or stays on there at what it
will probably cost later. Annealing lowers the cells of the present and those of the futures on average, while
a price moves until as many wait as may. So waiting is weighed against whom a row would meet later, and with
whom it would wait. An experiment outside the server, which does not know the future either.
"""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np
from numpy.typing import NDArray

from tests.benchmarks.fitting import Fitting, Floats, Ints, fitting
from tests.benchmarks.series import K, patterns_of

_FUTURES, _WEIGHT = 6, 0.8
"""Futures of each version, and the weight of what rows lose there against what they lose now."""

_ENOUGH, _STAYING = 8, 1.0
"""What it costs to stay on: this, and the cells of a class of which half so many rows come with a version."""

_STEPS_PER_ROW, _FIRST_HEAT, _LAST_HEAT = 100, 1.0, 0.12
_PRESENT, _WHO_WAITS = 0.4, 0.3
"""Share of the steps that change the present, and share of the others that are about rows that may wait."""

_FIRST_PRICE, _STRIDE, _EACH = 2.0, 0.01, 100
"""What waiting costs beside what is lost later, how far it moves, and the steps after which it does."""

_STRICT = 0.5
"""Share of the steps after which no more may wait than may, where the price alone did not see to that."""

_MOST_MEMBERS = 300
_LEAST_GAIN = -1.5
_NO_CHANCE = 1e18

_WAITS = -1
"""In place of the pattern of a row in the present."""

_ABSENT, _STAYS = -1, -2
"""In place of its pattern in a future."""


class _Choice(NamedTuple):
    """Rows that may enter, those of the drawn batches, and where they are.

    The first `pool` rows may enter now, and wait unless they are `due`; `arrival` is the first row of the
    batch of each future, of the first one at 1. World 0 is the present. `pattern` has a line for each world,
    `counts` the rows of each of its classes, `later` what each row that waits costs in the futures. `weight`
    is that of one future, `limits` how many may wait, `waiting` how many do.
    """

    fit: Fitting
    pool: int
    arrival: Ints
    weight: float
    staying: Floats
    due: NDArray[np.bool_]
    limits: Ints
    pattern: Ints
    counts: NDArray[np.int32]
    later: Floats
    waiting: Ints
    price: Floats
    log: Ints


def least_cells_by_futures(codes: Ints, batches: int, longest: int, share: float) -> int:
    """Return the suppressed cells of published rows; see `tests.benchmarks.hindsight.least_cells`."""
    draw = np.random.default_rng(1)
    batch = np.repeat(np.arange(1, batches + 1), [len(part) for part in np.array_split(codes, batches)])
    pending, total = np.empty(0, np.int64), 0
    for version in range(1, batches + 1):
        rows = np.concatenate([pending, np.flatnonzero(batch == version)])
        seen = np.flatnonzero(batch <= version)
        size = len(rows) - len(pending)
        known = np.setdiff1d(seen, rows) if version > 1 else seen
        futures = [codes[draw.choice(known, min(size, len(known)), replace=False)] for _ in range(_FUTURES)]
        choice = _choice(codes[rows], futures, version - batch[rows] >= longest, int(share * len(seen)))
        _anneal(choice, _STEPS_PER_ROW * choice.pattern.shape[1])
        _use_room(choice)
        patterns = choice.pattern[0, : len(rows)]
        _require_valid(choice, codes[rows])
        total += int(choice.fit.cells[patterns[patterns >= 0]].sum())
        pending = rows[patterns == _WAITS]
    return total


def _choice(pool: Ints, futures: list[Ints], due: NDArray[np.bool_], most: int) -> _Choice:
    codes = np.concatenate([pool, *futures])
    n, worlds = len(codes), 1 + len(futures)
    own = np.repeat(np.arange(worlds), [len(part) for part in (pool, *futures)])
    fit = fitting(codes, np.where(own == 0, 1.0, 1 / len(futures)), K - 2, _MOST_MEMBERS)
    pattern = np.full((worlds, n), _ABSENT, np.int64)
    for world, part in enumerate((pool, *futures)):
        pattern[world, own == world] = patterns_of(part)
    counts = np.zeros((worlds, int(fit.start[-1])), np.int32)
    for world, row in zip(*np.nonzero(pattern >= 0), strict=True):
        counts[world, fit.start[pattern[world, row]] + fit.keys[pattern[world, row], row]] += 1
    return _Choice(
        fit=fit,
        pool=len(pool),
        arrival=np.searchsorted(own, np.arange(worlds + 1)),
        weight=_WEIGHT / len(futures),
        staying=_STAYING + _later(fit, np.full(n, 1 / worlds)),
        due=due,
        limits=np.array([most]),
        pattern=pattern,
        counts=counts.ravel(),
        later=np.zeros(len(pool)),
        waiting=np.zeros(1, np.int64),
        price=np.array([_FIRST_PRICE]),
        log=np.empty((20 * n, 3), np.int64),
    )


def _later(fit: Fitting, come: Floats) -> Floats:
    """Return the cells that each row will probably lose a version later, by how many come that fit it."""
    width, n = int(fit.cells.max()), fit.keys.shape[1]
    most = np.zeros((width + 1, n))
    for pattern, key in enumerate(fit.keys):
        level = most[fit.cells[pattern]]
        np.maximum(level, np.bincount(key, come)[key] - come, out=level)
    most[width] = np.inf
    lost, rest = np.zeros(n), np.ones(n)
    for cells, rows in enumerate(most):
        likely = 1 / (1 + (_ENOUGH / np.maximum(rows, 1e-9)) ** 2)
        lost += rest * likely * cells
        rest *= 1 - likely
    return lost


def _require_valid(choice: _Choice, codes: Ints) -> None:
    """Check who waits, and count the classes of the present anew."""
    patterns = choice.pattern[0, : choice.pool]
    waits = patterns == _WAITS
    assert waits.sum() <= choice.limits[0]
    assert not (waits & choice.due).any()
    suppressed = (patterns[:, None] >> np.arange(codes.shape[1])) & 1 == 1
    published = np.column_stack([patterns, np.where(suppressed, -1, codes)])[~waits]
    assert np.unique(published, axis=0, return_counts=True)[1].min() >= K


@nb.njit  # type: ignore[untyped-decorator]
def _cost(choice: _Choice, world: int, row: int, pattern: int) -> float:
    """Return what a row costs in a world, in cells of the present; of one that waits, without the futures."""
    if world == 0:
        return float(choice.fit.cells[pattern]) if pattern >= 0 else float(choice.price[0])
    if pattern >= 0:
        return float(choice.weight * choice.fit.cells[pattern])
    return float(choice.weight * choice.staying[row]) if pattern == _STAYS else 0.0


@nb.njit  # type: ignore[untyped-decorator]
def _class(choice: _Choice, world: int, row: int, pattern: int) -> int:
    return int(world * choice.fit.start[-1] + choice.fit.start[pattern] + choice.fit.keys[pattern, row])


@nb.njit  # type: ignore[untyped-decorator]
def _assign(choice: _Choice, world: int, row: int, pattern: int) -> None:
    old = choice.pattern[world, row]
    if old >= 0:
        choice.counts[_class(choice, world, row, old)] -= 1
    if pattern >= 0:
        choice.counts[_class(choice, world, row, pattern)] += 1
    if world == 0:
        choice.waiting[0] += (pattern == _WAITS) - (old == _WAITS)
    elif row < choice.pool:
        choice.later[row] += _cost(choice, world, row, pattern) - _cost(choice, world, row, old)
    choice.pattern[world, row] = pattern


@nb.njit  # type: ignore[untyped-decorator]
def _put(choice: _Choice, world: int, row: int, pattern: int, place: int) -> float:
    """Move a row in one world, record where it was, and return how the cost changes."""
    old = choice.pattern[world, row]
    choice.log[place, 0], choice.log[place, 1], choice.log[place, 2] = world, row, old
    _assign(choice, world, row, pattern)
    return _cost(choice, world, row, pattern) - _cost(choice, world, row, old)


@nb.njit  # type: ignore[untyped-decorator]
def _move(choice: _Choice, world: int, row: int, pattern: int, place: int) -> tuple[float, int]:
    """Move a row; one that waits from now on enters every future, and one that no longer does leaves them."""
    old = choice.pattern[world, row]
    change = _put(choice, world, row, pattern, place)
    place += 1
    if world == 0 and (old == _WAITS) != (pattern == _WAITS):
        for future in range(1, len(choice.pattern)):
            to = _cheapest(choice, future, row) if pattern == _WAITS else _ABSENT
            change += _put(choice, future, row, to, place)
            place += 1
    return change, place


@nb.njit  # type: ignore[untyped-decorator]
def _cheapest(choice: _Choice, world: int, row: int) -> int:
    """Return the pattern of the cheapest class that a row fits; `_STAYS` or (now) `_WAITS` if none."""
    for pattern in choice.fit.order:
        if world > 0 and choice.fit.cells[pattern] >= choice.staying[row]:
            break
        if choice.counts[_class(choice, world, row, pattern)] >= K:
            return int(pattern)
    return _STAYS if world > 0 else _WAITS


@nb.njit  # type: ignore[untyped-decorator]
def _cost_of_waiting(choice: _Choice, row: int) -> float:
    """Return what it would cost if a row waited, without changing any class."""
    cost = choice.price[0]
    for future in range(1, len(choice.pattern)):
        cost += _cost(choice, future, row, _cheapest(choice, future, row))
    return float(cost)


@nb.njit  # type: ignore[untyped-decorator]
def _members(choice: _Choice, world: int, row: int, pattern: int) -> NDArray[np.int32]:
    """Return the rows that fit a class of a world, those that may enter now first."""
    number = choice.fit.start[pattern] + choice.fit.keys[pattern, row]
    end = choice.fit.keys.shape[1]
    if number + 1 < choice.fit.start[pattern + 1]:
        end = choice.fit.begin[number + 1]
    members = choice.fit.members[pattern, choice.fit.begin[number] : end]
    own = members[: np.searchsorted(members, choice.pool)]
    if world == 0:
        return own
    first, after = (
        np.searchsorted(members, choice.arrival[world]),
        np.searchsorted(members, choice.arrival[world + 1]),
    )
    return np.concatenate((own, members[first:after]))


@nb.njit  # type: ignore[untyped-decorator]
def _dissolve_broken(choice: _Choice, change: float, place: int) -> tuple[float, int]:
    """Send the rows of classes that became too small to the cheapest others, or let them wait."""
    seen = 0
    while seen < place:
        world, row, pattern = choice.log[seen]
        seen += 1
        if pattern < 0 or not 0 < choice.counts[_class(choice, world, row, pattern)] < K:
            continue
        for other in _members(choice, world, row, pattern):
            if choice.pattern[world, other] != pattern:
                continue
            to = _cheapest(choice, world, other)
            if world == 0 and choice.due[other]:
                if to == _WAITS:
                    return _NO_CHANCE, place
            elif world == 0 and to >= 0 and choice.fit.cells[to] > _cost_of_waiting(choice, other):
                to = _WAITS
            more, place = _move(choice, world, other, to, place)
            change += more
            if place > len(choice.log) // 2:
                return _NO_CHANCE, place
    return change, place


@nb.njit  # type: ignore[untyped-decorator]
def _gain(choice: _Choice, world: int, row: int, pattern: int) -> float:
    """Return what a row saves by a pattern, in cells of its world; minus infinity if it cannot have it."""
    old = choice.pattern[world, row]
    if old == pattern or (world > 0 and old == _ABSENT):
        return -_NO_CHANCE
    saved = _cost(choice, world, row, old) - _cost(choice, world, row, pattern)
    if world > 0:
        return saved / choice.weight
    return saved + choice.later[row] if old == _WAITS else saved


@nb.njit  # type: ignore[untyped-decorator]
def _is_hopeless(
    choice: _Choice, world: int, row: int, pattern: int, members: NDArray[np.int32], most: float
) -> bool:
    """Return whether forming a class costs more than `most`, even if no other class breaks."""
    lacking, change, few, more = K - choice.counts[_class(choice, world, row, pattern)], 0.0, 0, 0
    for other in members:
        gain = _gain(choice, world, other, pattern)
        if gain > 0 or (other == row and gain > -_NO_CHANCE):
            lacking -= 1
            change -= gain
        elif gain >= -0.5:
            few += 1
        elif gain >= _LEAST_GAIN:
            more += 1
    return lacking > few + more or change + 0.5 * max(0, lacking - few) - 0.5 > most


@nb.njit  # type: ignore[untyped-decorator]
def _form(choice: _Choice, world: int, row: int, pattern: int, most: float) -> tuple[float, int]:
    """Form a class of the row and of rows that cost more elsewhere, or a little less if it needs them."""
    members, number = _members(choice, world, row, pattern), _class(choice, world, row, pattern)
    if len(members) < K or _is_hopeless(choice, world, row, pattern, members, most):
        return _NO_CHANCE, 0
    change, place = _move(choice, world, row, pattern, 0)
    offset = np.random.randint(len(members))
    for least in (0.0, -0.5, _LEAST_GAIN):
        for step in range(len(members)):
            if least < 0 and choice.counts[number] >= K:
                break
            other = members[(step + offset) % len(members)]
            gain, old = _gain(choice, world, other, pattern), choice.pattern[world, other]
            if gain < least or (least == 0 and gain == 0):
                continue
            breaks = old >= 0 and choice.counts[_class(choice, world, other, old)] <= K
            if least == 0 and breaks and np.random.random() < 0.3:
                continue
            risen, place = _move(choice, world, other, pattern, place)
            change += risen
            if place > len(choice.log) // 2:
                return _NO_CHANCE, place
    if choice.counts[number] < K:
        return _NO_CHANCE, place
    return _dissolve_broken(choice, change, place)


@nb.njit  # type: ignore[untyped-decorator]
def _try(choice: _Choice, world: int, row: int, most: float) -> tuple[float, int]:
    """Change where a row is in a world in a random way; `most` is in cells of that world."""
    old, unit = choice.pattern[world, row], choice.weight if world > 0 else 1.0
    if world > 0 and old == _ABSENT:
        return _NO_CHANCE, 0
    cost = _cost(choice, world, row, old) / unit
    if old == _WAITS and world == 0:
        cost += choice.later[row]
    if np.random.random() < (0.15 if world == 0 else 0.05):
        if old < 0 or (world == 0 and choice.due[row]):
            return _NO_CHANCE, 0
        without = _cost_of_waiting(choice, row) if world == 0 else choice.staying[row]
        if without - cost - 0.5 > most:
            return _NO_CHANCE, 0
        change, place = _move(choice, world, row, _WAITS if world == 0 else _STAYS, 0)
        return _dissolve_broken(choice, change, place)
    # Up to one cell more than it costs now.
    room = max(0, min(int(np.ceil(cost + 1)), choice.fit.first.shape[1] - 1))
    first, end = choice.fit.first[row, 0], choice.fit.first[row, room]
    if first >= end:
        return _NO_CHANCE, 0
    pattern = choice.fit.candidates[first + np.random.randint(end - first)]
    return (_NO_CHANCE, 0) if pattern == old else _form(choice, world, row, pattern, most)


@nb.njit  # type: ignore[untyped-decorator]
def _anneal(choice: _Choice, steps: int) -> None:
    """Try changes at random, and take the dearer ones ever less often, while the price finds its level."""
    np.random.seed(1)
    limit = choice.limits[0]
    for step in range(steps):
        done = step / steps
        if step % _EACH == 0:
            upward = 1 if choice.waiting[0] >= limit else -1
            choice.price[0] = max(0.0, choice.price[0] + _STRIDE * (1 - 0.8 * done) * upward)
        world = 0 if np.random.random() < _PRESENT else np.random.randint(1, len(choice.pattern))
        row = np.random.randint(choice.arrival[world], choice.arrival[world + 1])
        if world > 0 and np.random.random() < _WHO_WAITS:
            row = np.random.randint(choice.pool)
        unit = choice.weight if world > 0 else 1.0
        most = -_FIRST_HEAT * (_LAST_HEAT / _FIRST_HEAT) ** done * np.log(1 - np.random.random())
        waited = choice.waiting[0]
        change, place = _try(choice, world, row, most)
        too_many = done > _STRICT and choice.waiting[0] > max(limit, waited)
        if change > most * unit or too_many:
            for number in range(place - 1, -1, -1):
                world, row, pattern = choice.log[number]
                _assign(choice, world, row, pattern)


@nb.njit  # type: ignore[untyped-decorator]
def _use_room(choice: _Choice) -> None:
    """Let those wait who gain most by it, where the price left too few waiting."""
    while choice.waiting[0] < choice.limits[0]:
        least, best = 0.0, -1
        for row in range(choice.pool):
            pattern = choice.pattern[0, row]
            if pattern < 0 or choice.due[row] or choice.counts[_class(choice, 0, row, pattern)] <= K:
                continue
            rise = _cost_of_waiting(choice, row) - choice.price[0] - choice.fit.cells[pattern]
            if rise < least:
                least, best = rise, row
        if best < 0:
            break
        _move(choice, 0, best, _WAITS, 0)
