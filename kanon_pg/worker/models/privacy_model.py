"""What defines a privacy model, and how it constrains integer programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.packed import SensitiveColumn
from kanon_pg.core.privacy_models import PrivacyModels
from kanon_pg.worker.compiled import inner_kernel
from kanon_pg.worker.models.class_counts import ROWS, ClassCounts, ModelEvaluator

Numbers = NDArray[np.int64]
Reals = NDArray[np.float64]

SHARE_LEFT_OUT = 4
"""Part of the surplus of a value that is too frequent that is left out at a time.

Half and twice change the cells of the greedy method without an order: by -0.4 to +0.1 % with l = 2 by
entropy, by -2.0 to +1.7 % with t = 0.3 (Adult, CMC, hospital stays; k = 5 and 25).
"""


class HeldValues(NamedTuple):
    """Pairs of a class and a value that occur: the one of each pair, and class and value of each."""

    of_pair: Numbers
    owner: Numbers
    value: Numbers


class LinearProgram(Protocol):
    """An integer program over classes, seen through one sensitive column, counted in one unit.

    Pairs are those of a class and a row type that may be in it: `pair` is the column of the program that says
    how much of the row type is there, `owner` the class, `values` the sensitive value, `weight` what of the
    unit one of it is worth. `opened` has for each class the column that says whether it is used. `shares`
    and `cumulated` are those of the values in the whole table. `cuts` are shares learned so far.
    """

    pair: Numbers
    owner: Numbers
    opened: Numbers
    values: Numbers
    weight: Reals
    shares: Reals
    cumulated: Reals
    cuts: list[Reals]

    @property
    def total(self) -> Numbers:
        """Columns with the rows or people of each class."""

    @property
    def held(self) -> HeldValues:
        """Which values may occur in which class."""

    def new_columns(self, count: int, upper: float = np.inf) -> Numbers:
        """Add columns from 0 up to a limit; return their numbers."""

    def at_least_0(self, count: int) -> Numbers:
        """Add rows whose sum is at least 0; return their numbers."""

    def exactly_0(self, count: int) -> Numbers:
        """Add rows whose sum is 0; return their numbers."""

    def put(self, row: Numbers, column: Numbers, coefficient: Reals) -> None:
        """Add coefficients to rows; no place may be used twice."""


@inner_kernel
def whole_class(evaluator: ModelEvaluator, counts: ClassCounts, unit: int, column: int, demand: float) -> int:
    """Return the rows of a class: no model that closes in on the whole table limits what a part may have."""
    return int(counts.size[ROWS])


@inner_kernel
def nothing_to_leave_out(
    evaluator: ModelEvaluator, counts: ClassCounts, unit: int, column: int, demand: float
) -> tuple[int, int]:
    """Return that no value is too frequent, so that leaving rows out is of no use."""
    return 0, 0


class Kernels(NamedTuple):
    """What solvers evaluate of a class, compiled; arguments are evaluator, counts, unit, column, demand."""

    lack: Callable[..., Any]
    """How many rows (or people) a class lacks, at most 0 exactly if it satisfies the model."""
    largest: Callable[..., Any] = whole_class
    """At least the rows of the largest part of a class that satisfies the model in rows, 0 if none can."""
    surplus: Callable[..., Any] = nothing_to_leave_out
    """The value that is most above what it may have, and how many rows of it to leave out, 0 if that is of no
    use."""


class PrivacyModel:
    """One demand on the sensitive values of every class.

    Attributes
    ----------
    name : str
        Its name in `kanon_pg.core.privacy_models.MODELS`.
    kernels : Kernels
    is_monotone : bool
        Whether merging classes that satisfy it gives a class that does, as long as what is counted adds up.
        Then a demand is possible exactly if the whole table satisfies it.
    in_people : bool
        Whether it is demanded of people, too, where an entity tells them apart.
    learns : bool
        Whether its rows in an integer program are cuts that are learned from classes that violate it.
    needs_order : bool
        Whether the values need an order.
    """

    name: ClassVar[str]
    kernels: ClassVar[Kernels]
    is_monotone: ClassVar[bool] = True
    in_people: ClassVar[bool] = True
    learns: ClassVar[bool] = False
    needs_order: ClassVar[bool] = False

    def demand(self, models: PrivacyModels) -> float | None:
        """Return the model's parameter as kernels take it, None if the model is not requested."""
        asked = dict(models.demands())
        return self.threshold(asked[self.name]) if self.name in asked else None

    def threshold(self, number: float) -> float:
        """Return what kernels compare with for a number of a request."""
        return float(number)

    def least_values(self, demand: float) -> int:
        """Return how many different values every class that satisfies it has at least."""
        return 1

    def require_possible(
        self, models: PrivacyModels, column: SensitiveColumn, counts: Reals, unit: str
    ) -> None:
        """Raise if the whole table violates it.

        Parameters
        ----------
        counts : ndarray of float64
            Rows or people per value.
        unit : str
            Which of them.

        Raises
        ------
        InfeasibleError
            Says which parameter the column allows at most.
        """
        return  # the whole table satisfies it, whatever the parameter

    def write(self, program: LinearProgram, demand: float) -> None:
        """Add rows that hold for classes that satisfy it."""
        return  # the rows for `least_values` say it all


def leave_out(column: SensitiveColumn) -> str:
    """Return the hint for a column that allows no such demand at all."""
    return f'Leave column "{column.name}" out of the sensitive columns that the model looks at.'
