"""What privacy models, and people who have several rows, demand of classes, as arrays that kernels read.

Bounds by prices know a privacy model as far as `KNOWN` does; what it leaves out allows more classes, so that
bounds stay valid. `demanded_classes` has the costliest class under the demands.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.packed import PackedRowTypes
from kanon_pg.core.privacy_models import ModelRules, PrivacyModels
from kanon_pg.worker.compiled import inner_kernel
from kanon_pg.worker.numbering import number_values
from kanon_pg.worker.packed_numbers import integers
from kanon_pg.worker.row_types import RowTypeTable, shared_people

_TOLERANCE = Fraction(1, 10**8)
"""More than distances that are held for equal differ by (1e-9), and than rounding adds."""

NO_CLASS = np.int64(-(1 << 62))
"""The gain where no class is allowed."""

SHARE_UNIT = 1 << 16
"""Shares of values are whole numbers of this fraction."""


class ClassDemands(NamedTuple):
    """What is demanded of classes besides k."""

    codes: NDArray[np.int32]
    """Shape (s, n). Value of each row type in each sensitive column, numbered from 0."""
    least: NDArray[np.int64]
    """Shape (s,). Fewest different values of each column; 1 demands nothing."""
    share: int
    """No value may have more than one in so many rows; 1 demands nothing."""
    quotas: NDArray[np.int64]
    """Shape (s, v). Share of each value in the whole table, in units of 1 / `SHARE_UNIT`, rounded up."""
    beyond: int
    """Largest share of rows of a class beyond these quotas, in the same unit; negative if any will do."""
    has_entity: int
    """1 if people are told apart by an entity, so that people and rows differ."""
    held: NDArray[np.int64]
    """Working array: rows per value."""
    taken: NDArray[np.float64]
    """Shape (n,). Rows of each member of the last group that the costliest class has; may be parts of
    rows."""
    begin: NDArray[np.int64]
    """Shape (n + 1,). Where the people of each row type begin in `shared`."""
    shared: NDArray[np.int64]
    """People who have rows of several row types, numbered from 0."""
    seen: NDArray[np.int64]
    """Working array: when each of them was last met; the last entry is the time."""

    def ordered(self, order: NDArray[np.int32]) -> ClassDemands:
        """Return the demands on some row types in some order."""
        codes = np.ascontiguousarray(self.codes[:, order])
        lengths = np.diff(self.begin)[order]
        begin = np.zeros(order.size + 1, dtype=np.int64)
        np.cumsum(lengths, out=begin[1:])
        places = np.repeat(self.begin[order] - begin[:-1], lengths) + np.arange(begin[-1])
        return self._replace(codes=codes, begin=begin, shared=self.shared[places])


def class_demands(row_types: PackedRowTypes | RowTypeTable, models: PrivacyModels) -> ClassDemands | None:
    """Return what models and people who have several rows demand of classes, None if that is nothing."""
    columns, rows = _sensitive(row_types)
    if not models:
        columns = []
    if not columns and not row_types.has_entity:
        return None
    codes = [number_values(cells)[0] for cells in columns]
    asked = [(rule, number) for rule, number in KNOWN.of(models) if rule is not None] if columns else []
    parts = [[rule(number, code, rows) for rule, number in asked] for code in codes]
    share = max((one.share for part in parts for one in part), default=1)
    least = [max((one.least for one in part), default=1) for part in parts]
    values = max((int(code.max()) for code in codes), default=-1) + 1
    quotas = np.zeros((len(codes), values), dtype=np.int64)
    for column, code in enumerate(codes):
        np.add.at(quotas[column], code, rows)
    beyond = max((one.beyond for part in parts for one in part), default=-1)
    begin, shared = _shared(row_types)
    seen = np.zeros(int(shared.max(initial=-1)) + 2, dtype=np.int64)
    return ClassDemands(
        np.array(codes, dtype=np.int32).reshape(len(codes), rows.size), np.array(least, dtype=np.int64),
        share, -(-quotas * SHARE_UNIT // rows.sum()), beyond, int(row_types.has_entity),
        np.zeros(values, dtype=np.int64), np.zeros(rows.size), begin, shared, seen,
    )  # fmt: skip


def _shared(row_types: PackedRowTypes | RowTypeTable) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if isinstance(row_types, RowTypeTable):
        return row_types.shared_start, row_types.shared_people
    return shared_people(row_types)


def _sensitive(
    row_types: PackedRowTypes | RowTypeTable,
) -> tuple[list[NDArray[np.int64]], NDArray[np.int64]]:
    """Return the values of each sensitive column, and the rows, of each row type."""
    if isinstance(row_types, RowTypeTable):
        return list(row_types.sensitive), row_types.rows
    buffers = [*row_types.sensitive_cells, row_types.rows]
    *columns, rows = [integers(one) for one in buffers]
    return columns, rows


class Known(NamedTuple):
    """What a bound knows of a model in one sensitive column, see `ClassDemands`."""

    least: int = 1
    share: int = 1
    beyond: int = -1


Restriction = Callable[[float, NDArray[np.int64], NDArray[np.int64]], Known]


def _of_values(number: float, _code: NDArray[np.int64], _rows: NDArray[np.int64]) -> Known:
    return Known(least=int(number))


def _of_shares(number: float, _code: NDArray[np.int64], _rows: NDArray[np.int64]) -> Known:
    return Known(least=int(number), share=int(number))


def _of_distance(number: float, code: NDArray[np.int64], rows: NDArray[np.int64]) -> Known:
    """Restrict the values of a class that is near enough to the whole table, and the share of each."""
    beyond = int(-(-(Fraction(number) + _TOLERANCE) * SHARE_UNIT // 1))
    held = np.zeros(int(code.max()) + 1, dtype=np.int64)
    np.add.at(held, code, rows)
    covered = np.cumsum(np.sort(held)[::-1])
    wanted = (1 - Fraction(number) - _TOLERANCE) * int(covered[-1])
    least = max(1, sum(int(together) < wanted for together in covered) + 1)
    greatest = Fraction(int(held.max()), int(covered[-1])) + Fraction(number) + _TOLERANCE
    return Known(least=least, share=max(1, int(1 / greatest)), beyond=beyond)


KNOWN: ModelRules[Restriction | None] = ModelRules(
    "bounds by prices",
    {
        "distinct": _of_values,
        "frequency": _of_shares,
        "entropy": _of_values,  # log l at most of fewer than l values
        "equal": _of_distance,
        "ordered": None,
    },
)
"""What bounds know of each model; what they do not know allows more classes, so that they stay valid."""


class PricedRows(NamedTuple):
    """Rows, people and price per row of row types."""

    rows: NDArray[np.int64]
    people: NDArray[np.int64]
    prices: NDArray[np.int64]


@inner_kernel
def empty_values(held: NDArray[np.int64], codes: NDArray[np.int32], members: NDArray[np.int32]) -> None:
    """Set the rows of all values of some members to 0."""
    if held.size <= members.size:
        held[:] = 0
        return
    for item in members:
        held[codes[item]] = 0
