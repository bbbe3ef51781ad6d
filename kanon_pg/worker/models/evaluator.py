"""Privacy models beside k-anonymity: what every class must satisfy for each sensitive column.

Definitions, all per class E and per sensitive column by itself (every column must satisfy them):

- **p-sensitivity** (Truta and Vinay 2006) and **distinct l-diversity** (Machanavajjhala, Kifer, Gehrke and
  Venkitasubramaniam 2007): E has at least p (l) different values.
- **frequency l-diversity** (Wong, Li, Fu and Wang 2006; Xiao and Tao 2006; Definition 4 of Bredereck,
  Nichterlein, Niedermeier and Philip 2014): l n(E, s) <= |E| for every value s.
- **entropy l-diversity** (Machanavajjhala et al. 2007): -sum_s p(E, s) ln p(E, s) >= ln l.
- **t-closeness** (Li, Li and Venkatasubramanian 2007): the earth mover's distance between the shares
  p(E, .) and the shares q of the whole table is at most t. With the *equal* ground distance it is half
  of sum_s |p(E, s) - q(s)|; with the *ordered* one, for the m values of the column in ascending order,
  sum_{i<m} |sum_{j<=i} (p(E, s_j) - q(s_j))| / (m - 1), and 0 for m = 1.

NULL is a value of its own, the last one in order. n(E, s) is the number of rows of E with value s, |E|
that of all rows, and p(E, s) = n(E, s) / sum_s n(E, s). Where people are told apart by an entity, E must
also satisfy everything with people instead of rows: n(E, s) is then the number of distinct people in E
with value s, |E| that of all people in E, and each is one if nobody is known (entity NULL throughout);
q is counted as if the whole table were one class. What a reader can count in a release are rows, and
what is to be protected are people. Entropies and distances are compared up to `TOLERANCE`.

These are the definitions of `kanon_pg.measure.measures.Measures`: a relation that satisfies the models is
measured to have at least this l and p, and at most this t.

Merging classes that satisfy a model gives a class that satisfies it as long as what is counted adds up
(rows always; people if nobody is in two row types and everybody is known): counts add up, entropy is
concave, and distances are convex in p. So if any release satisfies the models, the one whose cells are
all suppressed does.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.request import DISTANCES, DIVERSITIES, PrivacyModels
from kanon_pg.errors import InputError, UnknownName, UnsuitableColumn
from kanon_pg.worker.models.kernels import MODEL_COUNT, ModelEvaluator, evaluate_classes
from kanon_pg.worker.numbering import number_values
from kanon_pg.worker.row_types import RowTypeTable


@dataclass(frozen=True)
class Violations:
    """Which classes violate which model.

    Parameters
    ----------
    distinct, frequency, entropy, closeness : ndarray of bool, shape (c,)
        Whether each class has too few values, a value too often, too little entropy, or is too far from
        the whole table in any sensitive column, counted in rows or in people.
    """

    distinct: NDArray[np.bool_]
    frequency: NDArray[np.bool_]
    entropy: NDArray[np.bool_]
    closeness: NDArray[np.bool_]

    @property
    def any(self) -> NDArray[np.bool_]:
        """Whether each class violates any model, shape (c,)."""
        return self.distinct | self.frequency | self.entropy | self.closeness


def require_usable(table: RowTypeTable, models: PrivacyModels) -> None:
    """Check that models can be asked for and that the table has what they look at.

    Raises
    ------
    InputError
        A number is out of range, or there is no sensitive column.
    UnknownName
        There is no such diversity or distance.
    UnsuitableColumn
        The ordered distance is asked for and a sensitive column has no order.
    """
    if models.diversity not in DIVERSITIES:
        raise UnknownName(
            f'There is no diversity "{models.diversity}".', hint=f"There are: {', '.join(DIVERSITIES)}."
        )
    if models.distance not in DISTANCES:
        raise UnknownName(
            f'There is no distance "{models.distance}".', hint=f"There are: {', '.join(DISTANCES)}."
        )
    for name, number in (("l", models.l), ("p", models.p)):
        if number is not None and (isinstance(number, bool) or not isinstance(number, int) or number < 2):
            raise InputError(
                f"{name} is not a whole number of at least 2.", hint="Leave it out, or choose 2."
            )
    if models.t is not None and not 0 <= models.t < 1:
        raise InputError("t is not a number from 0 to below 1.", hint="Usual values are 0.1 to 0.5.")
    if models and not table.sensitive_columns:
        raise InputError(
            "l, p and t need a sensitive column.", hint="Name one, for example sensitive => '{diagnosis}'."
        )
    if models.t is not None and models.distance == "ordered":
        for column, values in zip(table.sensitive_columns, table.sensitive_values, strict=True):
            if values is None:
                raise UnsuitableColumn(
                    f'The values of sensitive column "{column.name}" have no numeric order.',
                    hint="Use the equal distance.",
                )


def evaluator_of(table: RowTypeTable, models: PrivacyModels) -> ModelEvaluator:
    """Return what the kernels need to judge classes of row types.

    Parameters
    ----------
    table : RowTypeTable
        With at least one sensitive column. Parts of row types have the same judge as the whole table
        but for their positions, see `RowTypeTable.divide`.

    Raises
    ------
    InputError
        See `require_usable`.
    """
    require_usable(table, models)
    columns = len(table.sensitive_columns)
    codes = np.empty((columns, len(table)), dtype=np.int32)
    first = np.zeros(columns + 1, dtype=np.int64)
    for column in range(columns):
        codes[column] = sensitive_codes(table, column)
        first[column + 1] = first[column] + int(codes[column].max()) + 1
    rows = np.concatenate([_totals(codes[column], table.rows, first, column) for column in range(columns)])
    people = rows
    if table.has_entity:
        people = np.concatenate([_people(table, codes[column], first, column) for column in range(columns)])
    most = int(np.diff(first).max())
    values = models.l if models.l is not None and models.diversity == "distinct" else 0
    return ModelEvaluator(
        codes, first,
        np.stack([_shares(rows, first), _shares(people, first)]),
        np.stack([_cumulated(rows, first), _cumulated(people, first)]),
        np.stack([_areas(rows, first), _areas(people, first)]),
        np.int64(max(values, models.p or 0)),
        np.int64(models.l if models.l is not None and models.diversity == "frequency" else 0),
        float(np.log(models.l)) if models.l is not None and models.diversity == "entropy" else 0.0,
        1.0 if models.t is None else float(models.t),
        np.int64(models.distance == "ordered"),
        table.rows, table.own, table.shared_start, table.shared_people, np.int64(table.shared_total),
        np.int64(table.has_entity),
        np.zeros(most, dtype=np.int64), np.zeros(most, dtype=np.int32),
    )  # fmt: skip


def violations(evaluator: ModelEvaluator, class_of: NDArray[np.int64], classes: int) -> Violations:
    """ModelEvaluator all classes.

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
    found = np.zeros((MODEL_COUNT, classes), dtype=np.bool_)
    evaluate_classes(evaluator, order, begin.astype(np.int64), found)
    return Violations(*found)


def sensitive_codes(table: RowTypeTable, column: int) -> NDArray[np.int32]:
    """Number the values of a sensitive column from 0, numeric ones in order and NULL last, shape (n,)."""
    codes, first = number_values(np.ascontiguousarray(table.sensitive[column]))
    values = table.sensitive_values[column]
    if values is not None:
        rank = np.empty(first.size, dtype=np.int64)
        rank[np.argsort(values[first], kind="stable")] = np.arange(first.size)
        codes = rank[codes]
    return codes.astype(np.int32)


def _totals(
    codes: NDArray[np.int32], numbers: NDArray[np.int64], first: NDArray[np.int64], column: int
) -> NDArray[np.float64]:
    count = int(first[column + 1] - first[column])
    return np.bincount(codes, weights=numbers, minlength=count).astype(np.float64)


def _people(
    table: RowTypeTable, codes: NDArray[np.int32], first: NDArray[np.int64], column: int
) -> NDArray[np.float64]:
    """Count the distinct people per value in the whole table, at least one each."""
    people = _totals(codes, table.own, first, column)
    if table.has_shared_people:
        owner = np.repeat(codes.astype(np.int64), np.diff(table.shared_start))
        pairs = np.unique(owner * table.shared_total + table.shared_people)
        people += np.bincount(pairs // table.shared_total, minlength=people.size)
    return np.maximum(people, 1.0)


def _per_column(counts: NDArray[np.float64], first: NDArray[np.int64]) -> list[NDArray[np.float64]]:
    return [counts[begin:end] for begin, end in pairwise(first.tolist())]


def _shares(counts: NDArray[np.float64], first: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.concatenate([one / one.sum() for one in _per_column(counts, first)])


def _cumulated(counts: NDArray[np.float64], first: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.concatenate([np.cumsum(one) / one.sum() for one in _per_column(counts, first)])


def _areas(counts: NDArray[np.float64], first: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return per column the sums of the cumulated shares before each value, and of all of them."""
    cumulated = _per_column(_cumulated(counts, first), first)
    return np.concatenate([np.concatenate([[0.0], np.cumsum(one)]) for one in cumulated])
