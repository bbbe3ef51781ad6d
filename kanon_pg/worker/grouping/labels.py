"""Labels without order -> groups: the min-max bin covering of the paper's section 4.

*The relaxed approximation scheme* (Theorem 11). It may fill classes a little less than requested, and comes
close to the optimum then. As k is guaranteed here, the scheme gets a larger K, so that "a little less" is
still k.

Where the paper is loose, and what is done instead:

- All *types* are to be enumerated, "a polynomial of very high degree". Instead a constraint solver looks for
  a type with the two properties that the proof uses: weakly feasible, and room below M for all small values.
  The least M for which there is one is at most the optimum, because the type of an optimal solution has both.
- Sizes are rounded to powers of 1 + e; here to the lightest value within a factor of 1 + e, which is all
  that the proof needs, and gives no more groups.
- Total of the nominal values below 1: oversize values are to be reduced "by 1 - t0", which is meant to be
  t0 - 1, and are said to be at most 2 then. They need not be (t0 = 1 beside 10). But if one has t0 plus all
  nominal weight, putting the latter onto t0 is optimal, and if none has, all are below 2. Nor does a solution
  of the reduced instance say anything about the original one unless each class has exactly one oversize
  value, so only such configurations are allowed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.grouping import DEFAULT_EPSILON
from kanon_pg.errors import InfeasibleError, InputError
from kanon_pg.worker.clock import Clock, TimeOver
from kanon_pg.worker.grouping.constraint_solver import is_within_64_bits, new_model, solve_model
from kanon_pg.worker.grouping.result import (
    CostKind,
    Numbers,
    SingleAttribute,
    Weights,
    checked_weights,
    finished,
    lower_bound,
)
from kanon_pg.worker.grouping.spread import Bins, fold, level_out, spread

MOST_VARIABLES = 100_000
"""Different weights times classes up to which a model is built: some seconds."""

PROOF = "constraint programming"


def exact_labels(
    weights: NDArray[np.integer] | Sequence[int],
    k: int,
    cost_kind: CostKind = "max",
    clock: Clock | None = None,
) -> SingleAttribute:
    """Group labels at the least cost, as far as the time allows.

    The problem is NP-hard in the strong sense (Theorem 5 of the paper). Begins with `spread`; if the bound on
    volume does not prove it optimal, CP-SAT decides how many values of each weight go into each class. The
    result is never worse than that of `spread`, and its bound is proven whether the solver finishes or not.
    Tables with too many different weights and classes stay with `spread`.
    """
    array = checked_weights(weights, k)
    known = spread(array, k, cost_kind)
    if known.optimal:
        return known
    different, counts = np.unique(array, return_counts=True)
    light = int(array[array < k].sum())
    most = int((array >= k).sum()) + light // k
    if different.size * most > MOST_VARIABLES or not is_within_64_bits(int(array.sum()), cost_kind):
        return known
    model, counts_of = _model(different.tolist(), counts.tolist(), most, known, array)
    solved = solve_model(model, [one for row in counts_of for one in row], clock or Clock())
    bound, proof = lower_bound(array, k, cost_kind)
    if solved.bound is not None and solved.bound > bound:
        bound, proof = min(solved.bound, known.cost), PROOF
    class_of, method = known.class_of, known.method
    if solved.values is not None:
        solution = _spread_out(array, np.array(solved.values).reshape(len(counts_of), most))
        if finished(array, k, solution, cost_kind, 0, PROOF, proof).cost < known.cost:
            class_of, method = solution, PROOF
    return finished(array, k, class_of, cost_kind, bound, method, proof)


def _model(
    different: Sequence[int], counts: Sequence[int], most: int, known: SingleAttribute, weights: Weights
) -> tuple[Any, list[list[Any]]]:
    """Return the model and its variables: how many values of each weight each class holds.

    Classes are ordered by size, the unused ones last, so that no solution occurs in several orders.
    """
    model, k, total = new_model(), known.k, sum(w * n for w, n in zip(different, counts, strict=True))
    largest = known.cost if known.cost_kind == "max" else total
    counts_of = [[model.new_int_var(0, count, "") for _ in range(most)] for count in counts]
    levels = [model.new_int_var(0, largest, "") for _ in range(most)]
    used = [model.new_bool_var("") for _ in range(most)]
    for row, count in zip(counts_of, counts, strict=True):
        model.add(sum(row) == count)
    for place, (level, is_used) in enumerate(zip(levels, used, strict=True)):
        model.add(level == sum(w * row[place] for w, row in zip(different, counts_of, strict=True)))
        model.add(level >= k * is_used)
        model.add(level <= largest * is_used)
        for row, count in zip(counts_of, counts, strict=True):
            model.add(row[place] <= count * is_used)
        if place:
            model.add(levels[place - 1] >= level)
    model.minimize(_objective(model, levels, k, largest, known))
    _hint(model, counts_of, different, known, weights)
    return model, counts_of


def _objective(model: Any, levels: Sequence[Any], k: int, largest: int, known: SingleAttribute) -> Any:
    if known.cost_kind == "max":
        model.add(levels[0] >= known.lower_bound)
        return levels[0]
    squares = []
    for level in levels:
        square = model.new_int_var(0, largest * largest, "")
        model.add_multiplication_equality(square, [level, level])
        squares.append(square)
    return sum(squares) - k * sum(levels)


def _hint(
    model: Any, counts_of: list[list[Any]], different: Sequence[int], known: SingleAttribute, weights: Weights
) -> None:
    place_of = np.empty(known.sizes.size, dtype=np.int64)
    place_of[np.argsort(-known.sizes, kind="stable")] = np.arange(known.sizes.size)
    begun = np.zeros((len(counts_of), len(counts_of[0])), dtype=np.int64)
    np.add.at(begun, (np.searchsorted(different, weights), place_of[known.class_of]), 1)
    for row, numbers in zip(counts_of, begun.tolist(), strict=True):
        for variable, number in zip(row, numbers, strict=True):
            model.add_hint(variable, number)


def _spread_out(weights: Weights, counts_of: NDArray[np.int64]) -> Numbers:
    """Return the class of each value, given how many of each weight each class holds."""
    class_of = np.empty(weights.size, dtype=np.int64)
    order = np.argsort(weights, kind="stable")
    class_of[order] = np.concatenate([np.repeat(np.arange(row.size), row) for row in counts_of])
    return class_of


MOST_CONFIGURATIONS = 20_000
"""Ways to fill a class with large values that a model may have."""


def group_labels(
    weights: NDArray[np.integer] | Sequence[int],
    k: int,
    method: str = "spread",
    cost_kind: CostKind = "max",
    *,
    epsilon: float = DEFAULT_EPSILON,
    clock: Clock | None = None,
) -> SingleAttribute:
    """Group labels into classes of at least k.

    Parameters
    ----------
    method : str
        One of `LABEL_METHODS`: within 5/2 of the least largest class, within 3, proven optimal if the time
        allows, or the relaxed scheme.
    """
    if method == "fold":
        return fold(weights, k, cost_kind)
    if method == "spread":
        return spread(weights, k, cost_kind)
    if method == "exact":
        return exact_labels(weights, k, cost_kind, clock)
    return relaxed(weights, k, cost_kind, epsilon, clock)


def relaxed(
    weights: NDArray[np.integer] | Sequence[int],
    k: int,
    cost_kind: CostKind = "max",
    epsilon: float = DEFAULT_EPSILON,
    clock: Clock | None = None,
) -> SingleAttribute:
    """Group labels into classes of at least k by the relaxed scheme for ``K = k / (1 - 2 epsilon)``.

    The largest class has at most ``(1 + epsilon) (Opt(K) + epsilon K)``. The bound in the result is for k.

    Small epsilons have too many configurations.

    Notes
    -----
    If the time is over before the search has an answer, the classes are those of `spread`, which have k.
    """
    array = checked_weights(weights, k)
    step = Fraction(epsilon).limit_denominator(10_000)
    nominal = -(-k // (1 - 2 * step))
    if int(array.sum()) < nominal:
        raise InfeasibleError(
            f"The relaxed scheme needs {nominal:,} in all for k = {k:,} and this epsilon.",
            hint="Choose a smaller epsilon, or another method.",
        )
    try:
        class_of = relaxed_classes(array, nominal, step, clock or Clock())
    except TimeOver:
        return spread(array, k, cost_kind)
    bound, proof = lower_bound(array, k, cost_kind)
    return finished(array, k, class_of, cost_kind, bound, f"relaxed scheme for K = {nominal}", proof)


def relaxed_classes(weights: Weights, k: int, epsilon: Fraction, clock: Clock) -> Numbers:
    """Return classes of at least ``(1 - 2 epsilon) k``, none above ``(1 + epsilon) (Opt(k) + epsilon k)``."""
    is_oversize = weights >= k
    nominal = int(weights[~is_oversize].sum())
    if nominal >= k:
        if int(weights.max()) >= 3 * k:
            return fold(weights, k).class_of  # its other classes are below 3k
        return _scheme(weights, k, epsilon, clock)
    smallest = int(weights[is_oversize].min())
    if int(weights.max()) >= smallest + nominal:
        class_of = np.where(is_oversize, np.cumsum(is_oversize), 0)
        class_of[~is_oversize] = class_of[np.flatnonzero(weights == smallest)[0]]
        return class_of
    reduced = np.where(is_oversize, weights - (smallest - k), weights)
    return _scheme(reduced, k, epsilon, clock, one_oversize=True)


@dataclass(frozen=True, slots=True)
class _Rounded:
    """The large values of an instance in groups, and what is small."""

    groups: list[list[int]]
    """Places of the values of each group, of similar weight."""
    weights: list[int]
    """The least weight of each group, to which the others are rounded."""
    small: list[int]
    """Places of the small values, the heaviest first."""
    small_weight: int
    """Their weight."""

    @classmethod
    def of(cls, weights: Weights, k: int, epsilon: Fraction) -> _Rounded:
        """Round the weights of values: those below ``epsilon k`` are small."""
        groups: list[list[int]] = []
        small: list[int] = []
        first = 0
        for place in np.argsort(weights, kind="stable").tolist():
            weight = int(weights[place])
            if weight < epsilon * k:
                small.append(place)
            elif groups and weight <= (1 + epsilon) * first and (weight >= k) == (first >= k):
                groups[-1].append(place)
            else:
                groups.append([place])
                first = weight
        return cls(
            groups, [int(weights[group[0]]) for group in groups], small[::-1], int(weights[small].sum())
        )

    def configurations(self, limit: int) -> Iterator[tuple[int, ...]]:
        """Yield every way to fill a class with large values up to a limit, the empty one too."""
        ways = 0
        open_ways: list[tuple[tuple[int, ...], int]] = [((), 0)]
        while open_ways:
            way, level = open_ways.pop()
            place = len(way)
            if place == len(self.weights):
                ways += 1
                if ways > MOST_CONFIGURATIONS:
                    raise InputError(
                        "There are too many ways to fill a class for this epsilon.",
                        hint="Choose a larger epsilon, or another method.",
                    )
                yield way
                continue
            weight = self.weights[place]
            most = min(len(self.groups[place]), (limit - level) // weight)
            open_ways += [((*way, number), level + number * weight) for number in range(most + 1)]


def _scheme(
    weights: Weights, k: int, epsilon: Fraction, clock: Clock, *, one_oversize: bool = False
) -> Numbers:
    rounded, limit = _Rounded.of(weights, k, epsilon), spread(weights, k).cost
    ways = list(rounded.configurations(limit))
    if one_oversize:
        is_oversize = np.array(rounded.weights) >= k
        ways = [way for way in ways if int(np.array(way)[is_oversize].sum()) == 1]
    levels = [sum(n * w for n, w in zip(way, rounded.weights, strict=True)) for way in ways]
    types = _Types(rounded, ways, levels, (1 - epsilon) * k, clock)
    return _completed(rounded, weights, ways, types.best(k, limit))


@dataclass(frozen=True, slots=True)
class _Types:
    """Types of solutions: how many classes have each configuration."""

    rounded: _Rounded
    ways: list[tuple[int, ...]]
    """The configurations, and in `levels` their weights."""
    levels: list[int]
    least: Fraction
    """What a class must have in all."""
    clock: Clock

    def best(self, low: int, high: int) -> tuple[int, ...]:
        """Return the type of the least M, between two sizes, that leaves room for small values."""
        best = self._below(high)
        while low < high:
            middle = (low + high) // 2
            one = self._below(middle)
            if one is None:
                low = middle + 1
            else:
                best, high = one, middle
        assert best is not None  # noqa: S101 - the solution that gave the upper limit is of such a type
        return best

    def _below(self, most: int) -> tuple[int, ...] | None:
        """Return a weakly feasible type with room for the small values below a size, None without one."""
        model, least, small = new_model(), self.least, self.rounded.small_weight
        groups = list(zip(self.rounded.groups, self.rounded.weights, strict=True))
        total = small + sum(len(group) * weight for group, weight in groups)
        if not is_within_64_bits(total, "max"):
            raise InputError("The weights are too large for this method.", hint="Give them in a larger unit.")
        usable = [place for place, level in enumerate(self.levels) if level <= most]
        number = {place: model.new_int_var(0, int(total // least) + 1, "") for place in usable}
        for group, (values, _) in enumerate(groups):
            model.add(sum(self.ways[place][group] * number[place] for place in usable) == len(values))
        gaps = {place: max(Fraction(0), least - self.levels[place]) * least.denominator for place in usable}
        model.add(sum(int(gaps[place]) * number[place] for place in usable) <= small * least.denominator)
        model.add(sum((most - self.levels[place]) * number[place] for place in usable) >= small)
        solved = solve_model(model, [number[place] for place in usable], self.clock)
        if solved.values is None:
            if not solved.is_infeasible:
                raise TimeOver
            return None
        counts = [0] * len(self.ways)
        for place, times in zip(usable, solved.values, strict=True):
            counts[place] = times
        return tuple(counts)


def _completed(
    rounded: _Rounded, weights: Weights, ways: Sequence[tuple[int, ...]], counts: Sequence[int]
) -> Numbers:
    """Return the greedy completion of a type: each small value goes into the smallest class, as rounded."""
    flat = weights.copy()
    for group, weight in zip(rounded.groups, rounded.weights, strict=True):
        flat[group] = weight
    bins = Bins(flat, 1)
    left = [list(group) for group in rounded.groups]
    for way, times in zip(ways, counts, strict=True):
        for _ in range(times):
            number = bins.open()
            for values, inside in zip(left, way, strict=True):
                for _ in range(inside):
                    bins.put(values.pop(), number)
    level_out(bins, rounded.small)
    return bins.class_of
