"""Privacy models besides k-anonymity, all together: what every class must satisfy for each sensitive column.

Each model is a file beside this one, with its definition, and a line in `MODELS`. Every column must satisfy
every model that is demanded, by itself. NULL is a value of its own, the last one in order. n(E, s) is the
number of rows of class E with value s, |E| that of all rows, and p(E, s) = n(E, s) / sum_s n(E, s).

Where people are told apart by an entity, E must also satisfy everything with people instead of rows: n(E, s)
is then the number of distinct people in E with value s, |E| that of all people in E, and each is one if
nobody is known (entity NULL throughout); q is counted as if the whole table were one class. What a reader can
count in a release are rows, and what is to be protected are people. Entropies and distances are compared up
to `TOLERANCE`. k is no model: it looks at no value, and every kernel takes it beside the models.

These are the definitions of `kanon_pg.measures.Measures`: a relation that satisfies the models is
measured to have at least this l and p, and at most this t.

Merging classes that satisfy a monotone model gives a class that satisfies it as long as what is counted adds
up (rows always; people if nobody is in two row types and everybody is known): counts add up, entropy is
concave, and distances are convex in p. So if any release satisfies the models, the one whose cells are
all suppressed does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.json_numbers import is_whole
from kanon_pg.core.privacy_models import MODEL_OPTIONS, MODEL_PARAMETERS, ModelRules, PrivacyModels
from kanon_pg.errors import InputError, UnknownName, UnsuitableColumn, in_words
from kanon_pg.worker.compiled import inner_kernel, kernel
from kanon_pg.worker.models.class_counts import (
    PEOPLE,
    ROWS,
    ClassCounts,
    ModelEvaluator,
    count_class,
    counts_for,
)
from kanon_pg.worker.models.closeness import EqualCloseness, OrderedCloseness
from kanon_pg.worker.models.distinct_values import DistinctValues
from kanon_pg.worker.models.entropy import Entropy
from kanon_pg.worker.models.frequency import Frequency
from kanon_pg.worker.models.privacy_model import PrivacyModel
from kanon_pg.worker.numbering import number_values
from kanon_pg.worker.row_types import RowTypeTable

MODELS: tuple[PrivacyModel, ...] = (
    DistinctValues(),
    Frequency(),
    Entropy(),
    EqualCloseness(),
    OrderedCloseness(),
)
"""All privacy models. Which rows are left out of a group is decided by the first one that it violates."""

EVALUATED = ModelRules("the evaluation of classes", {model.name: model for model in MODELS})

_COUNT = len(MODELS)
_NOT_DEMANDED = -1.0


def _by_number(name: str) -> Callable[..., Any]:
    """Return a kernel that calls the kernel of some name of the model of a number, with the demand on it."""

    def build(number_of_this: int) -> Callable[..., Any]:
        here = getattr(MODELS[number_of_this].kernels, name)

        def last(number: int, evaluator: ModelEvaluator, counts: ClassCounts, unit: int, column: int) -> Any:
            return here(evaluator, counts, unit, column, evaluator.demands[number_of_this])

        def this_or_other(
            number: int, evaluator: ModelEvaluator, counts: ClassCounts, unit: int, column: int
        ) -> Any:
            if number == number_of_this:
                return here(evaluator, counts, unit, column, evaluator.demands[number_of_this])
            return others(number, evaluator, counts, unit, column)

        if number_of_this == _COUNT - 1:
            function = last
        else:
            others, function = build(number_of_this + 1), this_or_other
        # Compiled code is linked by this name: what was kept by two processes must not have one name.
        function.__qualname__ = f"{name}_of_{number_of_this}"
        return inner_kernel(function)

    return build(0)


_lack_of, _largest_of, _surplus_of = _by_number("lack"), _by_number("largest"), _by_number("surplus")


@inner_kernel
def _lacking(number: int, evaluator: ModelEvaluator, counts: ClassCounts, unit: int, column: int) -> float:
    """Return how many rows (or people) a class lacks of a model, at most 0 if it satisfies it."""
    evaluator.work[0] += 1 + counts.different[column]
    return float(_lack_of(number, evaluator, counts, unit, column))


@inner_kernel
def _units(evaluator: ModelEvaluator, number: int) -> int:
    """Return in how many units a model is demanded, 0 if it is not."""
    if evaluator.demands[number] < 0.0:
        return 0
    return 2 if evaluator.has_entity == 1 and evaluator.in_people[number] else 1


@inner_kernel
def is_class(evaluator: ModelEvaluator, items: NDArray[np.int32], k: int) -> bool:
    """Return whether some row types, at least one, have k people and satisfy all models."""
    counts = evaluator.counts
    count_class(evaluator, counts, items)
    if counts.size[PEOPLE] < k:
        return False
    for column in range(evaluator.codes.shape[0]):
        for number in range(_COUNT):
            for unit in range(_units(evaluator, number)):
                if _lacking(number, evaluator, counts, unit, column) > 0.0:
                    return False
    return True


@inner_kernel
def lack(evaluator: ModelEvaluator, counts: ClassCounts, k: int) -> float:
    """Add up what a class lacks of k people and of every model, in rows; 0 if it satisfies everything.

    People of several row types are left out, so with them 0 does not prove it.
    """
    total = float(max(0, k - counts.size[PEOPLE]))
    if counts.size[ROWS] == 0:
        return total
    for column in range(evaluator.codes.shape[0]):
        for number in range(_COUNT):
            if _units(evaluator, number) > 0:
                total += max(0.0, _lacking(number, evaluator, counts, ROWS, column))
    return total


@inner_kernel
def may_hold_class(evaluator: ModelEvaluator, items: NDArray[np.int32], people: int, k: int) -> bool:
    """Return whether some subset of row types may be a class: a necessary condition.

    Parameters
    ----------
    items : ndarray of int32
        Row types that agree under a vector.
    people : int
        At least as many as the distinct people of `items`.
    """
    if people < k:
        return False
    counts = evaluator.counts
    count_class(evaluator, counts, items)
    fewest = 1 if evaluator.has_entity == 1 else k
    for column in range(evaluator.codes.shape[0]):
        for number in range(_COUNT):
            is_constrained = _units(evaluator, number) > 0
            if is_constrained and _largest_of(number, evaluator, counts, ROWS, column) < fewest:
                return False
    return True


@inner_kernel
def surplus(evaluator: ModelEvaluator, counts: ClassCounts, column: int) -> tuple[bool, int, int]:
    """Return whether a column violates a model in rows, and which value to leave out how many rows of."""
    for number in range(_COUNT):
        if _units(evaluator, number) > 0 and _lacking(number, evaluator, counts, ROWS, column) > 0.0:
            value, rows = _surplus_of(number, evaluator, counts, ROWS, column)
            return True, value, rows
    return False, 0, 0


@kernel
def _find_violations(
    evaluator: ModelEvaluator, order: NDArray[np.int32], begin: NDArray[np.int64], found: NDArray[np.bool_]
) -> None:
    """Note for each model and class, whose row types are listed in `order`, whether it is violated."""
    for of in range(begin.size - 1):
        if begin[of] == begin[of + 1]:
            continue
        count_class(evaluator, evaluator.counts, order[begin[of] : begin[of + 1]])
        for column in range(evaluator.codes.shape[0]):
            for number in range(_COUNT):
                for unit in range(_units(evaluator, number)):
                    if _lack_of(number, evaluator, evaluator.counts, unit, column) > 0.0:
                        found[number, of] = True


@dataclass(frozen=True)
class Violations:
    """Which classes violate which model."""

    found: NDArray[np.bool_]
    """Shape (models, c). In the order of `MODELS`, in any sensitive column, counted in rows or in people."""

    @property
    def any(self) -> NDArray[np.bool_]:
        """Whether each class violates any model, shape (c,)."""
        return np.asarray(self.found.any(axis=0))

    @property
    def to_learn_from(self) -> NDArray[np.bool_]:
        """Whether each class violates a model whose rows in an integer program are learned, shape (c,)."""
        learning = np.array([model.learns for model in MODELS])
        return np.asarray(self.found[learning].any(axis=0))


def violations(evaluator: ModelEvaluator, class_of: NDArray[np.int64], classes: int) -> Violations:
    """Evaluate the models on all classes.

    Parameters
    ----------
    evaluator : ModelEvaluator
        Of the table whose row types (or parts of row types) are in the classes.
    class_of : ndarray of int64, shape (n,)
        Class of each row type, numbered from 0.
    classes : int
        Number of classes; one without row types satisfies everything.

    Notes
    -----
    O(n s), with the ordered distance plus O(d log m) per class with d of m values; with people in
    several row types their incidences are sorted per class.
    """
    order = np.argsort(class_of, kind="stable").astype(np.int32)
    begin = np.searchsorted(class_of[order], np.arange(classes + 1))
    found = np.zeros((_COUNT, classes), dtype=np.bool_)
    _find_violations(evaluator, order, begin.astype(np.int64), found)
    return Violations(found)


def demanded(models: PrivacyModels) -> list[tuple[PrivacyModel, float]]:
    """Return the models that are demanded with their parameters.

    Raises
    ------
    SolverError
        One of them has no kernels.
    """
    for _ in EVALUATED.of(models):
        pass
    return [(model, demand) for model in MODELS if (demand := model.demand(models)) is not None]


def require_valid_models(table: RowTypeTable, models: PrivacyModels) -> None:
    """Check the parameters of models, and that the table has the columns that they need.

    Raises
    ------
    InputError
        A number is out of range, or there is no sensitive column.
    UnknownName
        There is no such diversity or distance.
    UnsuitableColumn
        The ordered distance is requested and a sensitive column has no order.
    """
    for option, choices in MODEL_OPTIONS.items():
        if getattr(models, option) not in choices:
            raise UnknownName(
                f'There is no {option} "{getattr(models, option)}".', hint=f"There are: {', '.join(choices)}."
            )
    for name, parameter in MODEL_PARAMETERS.items():
        number = getattr(models, name)
        if number is None:
            continue
        least = parameter.weakest
        if least is not None and (not is_whole(number) or number < least):
            raise InputError(
                f"{name} is not a whole number of at least {least}.", hint=f"Leave it out, or choose {least}."
            )
        if least is None and not 0 <= number < 1:
            raise InputError(
                f"{name} is not a number from 0 to below 1.", hint="Usual values are 0.1 to 0.5."
            )
    if models and not table.sensitive_columns:
        raise InputError(
            f"{in_words(tuple(MODEL_PARAMETERS))} need a sensitive column.",
            hint="Name one, for example sensitive => '{diagnosis}'.",
        )
    if any(model.needs_order for model, _ in EVALUATED.of(models)):
        for column, values in zip(table.sensitive_columns, table.sensitive_values, strict=True):
            if values is None:
                raise UnsuitableColumn(
                    f'The values of sensitive column "{column.name}" have no numeric order.',
                    hint="Use the equal distance.",
                )


def require_feasible(table: RowTypeTable, models: PrivacyModels) -> None:
    """Raise if the whole table violates a monotone model, which proves that every release does.

    Values that are too few or too often in the whole table are so in some class of every release.

    Raises
    ------
    InfeasibleError
        Says which number the sensitive column allows at most.

    Notes
    -----
    People are looked at only if their counts add up: nobody is in two row types, everybody is known.
    """
    require_valid_models(table, models)
    for number, column in enumerate(table.sensitive_columns if models else ()):
        codes = sensitive_codes(table, number)
        for model, _ in demanded(models):
            if not model.is_monotone:
                continue
            rows = np.bincount(codes, weights=table.rows).astype(np.float64)
            model.require_possible(models, column, rows, "rows")
            if model.in_people and table.has_entity and adds_up(table):
                people = np.bincount(codes, weights=table.people).astype(np.float64)
                model.require_possible(models, column, people, "people")


def adds_up(table: RowTypeTable) -> bool:
    """Return whether people of disjoint sets of row types add up to those of their union."""
    return not table.has_entity or not (table.has_shared_people or (table.people == 0).any())


def evaluator_of(table: RowTypeTable, models: PrivacyModels) -> ModelEvaluator:
    """Return what kernels need to evaluate the models on classes of row types.

    Parameters
    ----------
    table : RowTypeTable
        With at least one sensitive column if models are demanded. Parts of row types have the same evaluator
        as the whole table but for their positions, see `RowTypeTable.divide`.
    models : PrivacyModels
        Without any, people alone are counted, and every class satisfies everything.

    Raises
    ------
    InputError
        See `require_valid_models`.
    """
    require_valid_models(table, models)
    columns = len(table.sensitive_columns) if models else 0
    codes = np.empty((columns, len(table)), dtype=np.int32)
    first = np.zeros(columns + 1, dtype=np.int64)
    for column in range(columns):
        codes[column] = sensitive_codes(table, column)
        first[column + 1] = first[column] + int(codes[column].max()) + 1
    numbers = [[_totals(codes[column], table.rows) for column in range(columns)]]
    numbers.append([_people(table, one) for one in codes] if table.has_entity else numbers[0])
    asked = dict(demanded(models))
    demands = [asked.get(model) for model in MODELS]
    return ModelEvaluator(
        codes, first, _lines(numbers, _shares), _lines(numbers, _cumulated), _lines(numbers, _areas),
        np.array([_NOT_DEMANDED if one is None else one for one in demands], dtype=np.float64),
        np.array([model.in_people for model in MODELS]),
        table.rows, table.own, table.shared_start, table.shared_people, np.int64(table.shared_total),
        np.int64(table.has_entity), counts_for(columns, int(first[-1])), np.zeros(1, dtype=np.int64),
    )  # fmt: skip


def sensitive_codes(table: RowTypeTable, column: int) -> NDArray[np.int32]:
    """Number the values of a sensitive column from 0, numeric ones in order and NULL last, shape (n,)."""
    codes, first = number_values(np.ascontiguousarray(table.sensitive[column]))
    values = table.sensitive_values[column]
    if values is not None:
        rank = np.empty(first.size, dtype=np.int64)
        rank[np.argsort(values[first], kind="stable")] = np.arange(first.size)
        codes = rank[codes]
    return codes.astype(np.int32)


def _totals(codes: NDArray[np.int32], numbers: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.bincount(codes, weights=numbers).astype(np.float64)


def _people(table: RowTypeTable, codes: NDArray[np.int32]) -> NDArray[np.float64]:
    """Count the distinct people per value in the whole table, at least one each."""
    people = _totals(codes, table.own)
    if table.has_shared_people:
        owner = np.repeat(codes.astype(np.int64), np.diff(table.shared_start))
        pairs = np.unique(owner * table.shared_total + table.shared_people)
        people += np.bincount(pairs // table.shared_total, minlength=people.size)
    return np.maximum(people, 1.0)


def _lines(
    numbers: list[list[NDArray[np.float64]]], what: Callable[[NDArray[np.float64]], NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Return something of the numbers per value, column after column, one line in rows and one in people."""
    return np.stack([np.concatenate([np.empty(0), *map(what, columns)]) for columns in numbers])


def _shares(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    shares: NDArray[np.float64] = numbers / numbers.sum()
    return shares


def _cumulated(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    cumulated: NDArray[np.float64] = np.cumsum(numbers) / numbers.sum()
    return cumulated


def _areas(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sums of the cumulated shares before each value, and of all of them."""
    return np.concatenate([[0.0], np.cumsum(_cumulated(numbers))])
