"""An independent check of a solution: nothing here is shared with what found it.

The solvers compare 64-bit hashes of cells. This check takes the classes that they claim and compares the
cells themselves, so that even a collision of hashes cannot pass. Rows of one claimed class must look alike in
the release; then every real class has at least the people of a claimed one. What a column shows at a level of
its hierarchy is read from the packed buffers and nothing else.

Privacy models are checked by plain counting, too, in rows and in people; the definitions are those of
`kanon_pg.worker.models.evaluator`, of which nothing else is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.packed import PackedRowTypes
from kanon_pg.core.privacy_models import ModelRules, PrivacyModels
from kanon_pg.errors import DEFECT, SolverError
from kanon_pg.worker.packed_numbers import floats, integers
from kanon_pg.worker.solution import Solution


def _require(is_so: object, sentence: str) -> None:
    if not is_so:
        raise SolverError(sentence, hint=DEFECT)


class ShownColumn(NamedTuple):
    """What the parts of a solution show in one column."""

    identity: NDArray[np.int64]
    """Shape (q,). Identity of the published value or node among those of its level, 0 for a suppressed
    cell."""
    loss: NDArray[np.float64]
    """Shape (q,). Loss of one cell, before the column's weight."""
    is_hidden: NDArray[np.bool_]
    """Shape (q,). Whether the cell is suppressed."""


def shown_by(packed: PackedRowTypes, solution: Solution, column: int) -> ShownColumn:
    """Return what a solution shows in a column.

    Parameters
    ----------
    solution : Solution
        Parts of row types; their vectors hold the level of each column.

    Raises
    ------
    SolverError
        A vector holds a level that the hierarchy does not have or that lies below the lowest allowed
        one, or the hierarchy does not know a value.
    """
    fields = packed.level_fields
    level = (solution.vector >> fields.offsets[column]) & ((1 << fields.widths[column]) - 1)
    cells = integers(packed.cells[column])[solution.row_type]
    height = fields.heights[column]
    hierarchy = packed.hierarchies[column] if packed.hierarchies else None
    is_hidden = level == height
    if hierarchy is None:
        return ShownColumn(np.where(is_hidden, 0, cells), is_hidden.astype(np.float64), is_hidden)
    is_allowed = (level >= hierarchy.lowest) & (level <= height)
    _require(is_allowed.all(), "The solution uses a level that is not allowed.")
    known = integers(hierarchy.cells)
    order = np.argsort(known)
    place = np.searchsorted(known[order], cells)
    place[place == known.size] = 0
    value = order[place]
    _require(
        np.array_equal(known[value], cells), "The solution has a value that its hierarchy does not know."
    )
    identity = np.where(level == 0, cells, 0)
    for number, nodes in enumerate(hierarchy.nodes, start=1):
        here = level == number
        identity[here] = integers(nodes)[value[here]]
    losses = np.stack([np.frombuffer(one, dtype=">f8") for one in hierarchy.losses])
    return ShownColumn(identity, losses[level, value].astype(np.float64), is_hidden)


@dataclass(frozen=True, slots=True)
class CountedSolution:
    """The figures of a solution, recounted."""

    smallest: int
    """Distinct people of the smallest class."""
    suppressed_cells: int
    """Suppressed cells over all rows."""
    weighted_cost: float
    """Loss of all cells (1 for a suppressed one) with column weights."""
    average: float
    """Mean number of distinct people per class."""


def recount(
    packed: PackedRowTypes,
    solution: Solution,
    class_of: NDArray[np.int64],
    heartbeat: Callable[[], None] = lambda: None,
) -> CountedSolution:
    """Check claimed classes against the packed cells, and count people and costs.

    Parameters
    ----------
    solution : Solution
        Parts of row types with their pattern vectors.
    class_of : ndarray of int64, shape (q,)
        Claimed class of each part, numbered from 0 without gaps.
    heartbeat : callable, optional
        Called after each column; whatever it raises cancels.

    Raises
    ------
    SolverError
        Two row types of a claimed class do not look alike in the release, rows are lost or invented,
        or row types are divided although people are told apart by an entity.

    Notes
    -----
    O(n m); with an entity one sort of all pairs of row type and person.
    """
    patterns, rows = solution.vector, solution.rows
    _require_all_rows(packed, solution)
    representative = np.zeros(int(class_of.max()) + 1, dtype=np.int64)
    representative[class_of] = np.arange(class_of.size)
    model = representative[class_of]
    alike = patterns == patterns[model]
    cells, cost = 0, 0.0
    for number, column in enumerate(packed.columns):
        shown = shown_by(packed, solution, number)
        cells += int(rows[shown.is_hidden].sum())
        cost += column.weight * float((shown.loss * rows).sum())
        alike &= shown.identity == shown.identity[model]
        heartbeat()
    _require(alike.all(), "Two row types that differ in the release were taken for one class.")
    people = _class_people(packed, solution, class_of, representative.size)
    return CountedSolution(int(people.min()), cells, cost, float(people.mean()))


def require_k(found: CountedSolution, k: int) -> None:
    """Raise unless every class has at least k people.

    Raises
    ------
    SolverError
        The recount found a smaller class.
    """
    _require(
        found.smallest >= k,
        f"The recount of the solution found a class of {found.smallest} people, fewer than {k}.",
    )


def require_subsets(
    packed: PackedRowTypes,
    solution: Solution,
    k: int,
    size: int,
    heartbeat: Callable[[], None] = lambda: None,
) -> None:
    """Raise unless at least k people share each combination that some of the columns show.

    Parameters
    ----------
    size : int
        Of how many columns, >= 1.

    Raises
    ------
    SolverError
        The recount found a combination of fewer people.

    Notes
    -----
    O(q log q) for each combination of columns and each of its columns.
    """
    cells = []
    for column in range(len(packed.columns)):
        shown = shown_by(packed, solution, column)
        pairs = np.stack([shown.identity, shown.is_hidden.astype(np.int64)])
        cells.append(np.unique(pairs, axis=1, return_inverse=True)[1].ravel().astype(np.int64))
    for chosen in combinations(cells, size):
        combination = np.zeros(solution.vector.size, dtype=np.int64)
        for cell in chosen:
            numbers = combination * (int(cell.max()) + 1) + cell
            combination = np.unique(numbers, return_inverse=True)[1].astype(np.int64)
        people = _class_people(packed, solution, combination, int(combination.max()) + 1)
        _require(
            people.min() >= k,
            f"The recount found a combination of {size} columns of {people.min()} people, fewer than {k}.",
        )
        heartbeat()


def _require_all_rows(packed: PackedRowTypes, solution: Solution) -> None:
    held = np.zeros(len(packed), dtype=np.int64)
    np.add.at(held, solution.row_type, solution.rows)
    _require(
        np.array_equal(held, integers(packed.rows)) and solution.rows.min() >= 1,
        "The solution does not hold every row exactly once.",
    )
    _require(
        not (packed.has_entity and solution.is_divided),
        "The solution divides row types whose people are told apart by an entity.",
    )


def _class_people(
    packed: PackedRowTypes, solution: Solution, class_of: NDArray[np.int64], classes: int
) -> NDArray[np.int64]:
    people = np.zeros(classes, dtype=np.int64)
    if not packed.has_entity:
        np.add.at(people, class_of, solution.rows)
        return people
    keys = integers(packed.keys)
    order = np.argsort(keys)
    owner = class_of[order[np.searchsorted(keys[order], integers(packed.pair_keys))]]
    person = integers(packed.pair_people)
    sequence = np.lexsort((person, owner))
    owner, person = owner[sequence], person[sequence]
    is_new = np.ones(owner.size, dtype=np.bool_)
    is_new[1:] = (owner[1:] != owner[:-1]) | (person[1:] != person[:-1])
    np.add.at(people, owner[is_new], 1)
    return people


_TOLERANCE = 1e-9
_MOST_AT_ONCE = 4_000_000


class _Counts(NamedTuple):
    """How often each value occurs in each class, for pairs that occur, by class; and class sizes."""

    owner: NDArray[np.int64]
    value: NDArray[np.int64]
    number: NDArray[np.float64]
    size: NDArray[np.float64]
    whole: NDArray[np.float64]


def require_models(
    packed: PackedRowTypes,
    solution: Solution,
    class_of: NDArray[np.int64],
    models: PrivacyModels,
    heartbeat: Callable[[], None] = lambda: None,
) -> None:
    """Raise unless every class satisfies every privacy model in every sensitive column.

    Parameters
    ----------
    solution : Solution
        Parts of row types with their pattern vectors.
    class_of : ndarray of int64, shape (q,)
        Class of each part, numbered from 0 without gaps, as `recount` confirmed.
    heartbeat : callable, optional
        Called now and then; whatever it raises cancels.

    Raises
    ------
    SolverError
        A class violates a model.

    Notes
    -----
    O(q log q) per sensitive column; with the ordered distance O(c m) for c classes and m values.
    """
    if not models:
        return
    for column in range(len(packed.sensitive_columns)):
        values = _values(packed, column)[solution.row_type]
        counts = [_count_rows(values, solution, class_of)]
        if packed.has_entity:
            counts.append(_count_people(packed, values, solution, class_of))
        heartbeat()
        for counted in counts:
            for rule, number in RECOUNTED.of(models):
                for is_satisfied in rule.check(counted, number):
                    _require(
                        np.all(is_satisfied),
                        f"The recount of the solution found a class that violates {rule.name}.",
                    )
                    heartbeat()


def _values(packed: PackedRowTypes, column: int) -> NDArray[np.int64]:
    """Number the values of a sensitive column; numbers ascending, NULL last."""
    cells = integers(packed.sensitive_cells[column])
    buffer = packed.sensitive_values[column]
    kinds, place, values = np.unique(cells, return_index=True, return_inverse=True)
    if buffer is None:
        return values
    numbers = floats(buffer)[place]
    rank = np.empty(kinds.size, dtype=np.int64)
    rank[np.lexsort((kinds, numbers))] = np.arange(kinds.size)
    return rank[values]


def _count_rows(values: NDArray[np.int64], solution: Solution, class_of: NDArray[np.int64]) -> _Counts:
    width = int(values.max()) + 1
    pairs, place = np.unique(class_of * width + values, return_inverse=True)
    return _Counts(
        pairs // width,
        pairs % width,
        _sums(place, solution.rows),
        _sums(class_of, solution.rows),
        _sums(values, solution.rows),
    )


def _sums(group: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.bincount(group, weights=rows).astype(np.float64)


def _count_people(
    packed: PackedRowTypes, values: NDArray[np.int64], solution: Solution, class_of: NDArray[np.int64]
) -> _Counts:
    """Count distinct people; parts are whole row types, because those of an entity are never divided."""
    keys = integers(packed.keys)[solution.row_type]
    order = np.argsort(keys)
    part = order[np.searchsorted(keys[order], integers(packed.pair_keys))]
    person = np.unique(integers(packed.pair_people), return_inverse=True)[1]
    width = int(values.max()) + 1
    pairs = np.unique(class_of * width + values)
    known = np.searchsorted(pairs, class_of[part] * width + values[part])
    return _Counts(
        pairs // width,
        pairs % width,
        _distinct(known, person, pairs.size),
        _distinct(class_of[part], person, int(class_of.max()) + 1),
        _distinct(values[part], person, width),
    )


def _distinct(group: NDArray[np.int64], person: NDArray[np.int64], groups: int) -> NDArray[np.float64]:
    """Count the distinct people of each group, at least one."""
    met = np.unique(np.stack([group, person]), axis=1)
    return np.maximum(np.bincount(met[0], minlength=groups), 1).astype(np.float64)


Satisfied = Iterator[NDArray[np.bool_]]


def _has_values(counts: _Counts, number: float) -> Satisfied:
    yield np.bincount(counts.owner, minlength=counts.size.size) >= number


def _has_no_frequent_value(counts: _Counts, number: float) -> Satisfied:
    yield counts.number * number <= counts.size[counts.owner]


def _has_entropy(counts: _Counts, number: float) -> Satisfied:
    classes = counts.size.size
    total = np.bincount(counts.owner, weights=counts.number, minlength=classes)
    share = counts.number / total[counts.owner]
    entropy = np.bincount(counts.owner, weights=-share * np.log(share), minlength=classes)
    yield entropy >= np.log(number) - _TOLERANCE


def _is_near(counts: _Counts, number: float) -> Satisfied:
    for differences in _differences(counts):
        yield np.abs(differences).sum(axis=1) / 2 <= number + _TOLERANCE


def _is_near_in_order(counts: _Counts, number: float) -> Satisfied:
    steps = max(1, counts.whole.size - 1)
    for differences in _differences(counts):
        moved = np.abs(np.cumsum(differences, axis=1)[:, :-1]).sum(axis=1)
        yield moved / steps <= number + _TOLERANCE


def _differences(counts: _Counts) -> Iterator[NDArray[np.float64]]:
    """Yield the shares of some classes at a time less those of the table."""
    classes, width = counts.size.size, counts.whole.size
    whole = counts.whole / counts.whole.sum()
    step = max(1, _MOST_AT_ONCE // width)
    for begin in range(0, classes, step):
        low, high = np.searchsorted(counts.owner, [begin, begin + step])
        shares = np.zeros((min(step, classes - begin), width))
        shares[counts.owner[low:high] - begin, counts.value[low:high]] = counts.number[low:high]
        yield shares / shares.sum(axis=1, keepdims=True) - whole


class _Recounted(NamedTuple):
    """How a model is called, and whether classes satisfy it."""

    name: str
    check: Callable[[_Counts, float], Satisfied]


RECOUNTED = ModelRules(
    "the recount of a solution",
    {
        "distinct": _Recounted("distinct values", _has_values),
        "frequency": _Recounted("frequency l-diversity", _has_no_frequent_value),
        "entropy": _Recounted("entropy l-diversity", _has_entropy),
        "equal": _Recounted("t-closeness", _is_near),
        "ordered": _Recounted("t-closeness by the ordered distance", _is_near_in_order),
    },
)
