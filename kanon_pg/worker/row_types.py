"""Row types as arrays: what every solver computes on.

A *row type* is a maximal set of rows that agree on all quasi-identifiers (Bredereck, Nichterlein and
Niedermeier 2013). A pattern vector applied to all rows of a type suppresses the same cells, so tables
shrink to their row types before anything is searched.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.packed import MAX_COLUMNS, PackedRowTypes, QuasiIdentifier, SensitiveColumn
from kanon_pg.errors import InputError, SolverError
from kanon_pg.worker.numbering import number_values
from kanon_pg.worker.packed_numbers import buffer_of, floats, integers

_SEED = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


Heartbeat = Callable[[], None]
"""Called every now and then during long work."""


def _no_heartbeat() -> None:
    """Do nothing between columns."""


@dataclass(frozen=True)
class RowTypeTable:
    """Distinct quasi-identifier tuples, their multiplicities and who stands behind them."""

    columns: tuple[QuasiIdentifier, ...]
    """The `m` quasi-identifiers."""
    cells: tuple[NDArray[np.int64], ...]
    """Shape (n,). Per column the identity of each cell; equal numbers are equal values. In either byte order:
    packed cells are read where they lie, in memory that the two processes share."""
    rows: NDArray[np.int64]
    """Shape (n,). Rows of each row type, >= 1."""
    people: NDArray[np.int64]
    """Shape (n,). Distinct people of each row type, >= 0."""
    values: tuple[NDArray[np.float64] | None, ...]
    """Values of the numeric columns."""
    shared_start: NDArray[np.int64]
    """Shape (n + 1,). Where the shared people of each row type begin in `shared_people`."""
    shared_people: NDArray[np.int64]
    """People that occur in more than one row type, numbered from 0, listed per row type. All other people
    count for one row type alone, so that class sizes add up."""
    sensitive: NDArray[np.int64] = field(default_factory=lambda: np.empty((0, 0), dtype=np.int64))
    """Shape (s, n). Identity of each row type's value in the columns of the privacy model; equal numbers are
    equal values. With such columns several row types may agree on all quasi-identifiers."""
    sensitive_columns: tuple[SensitiveColumn, ...] = ()
    """These columns."""
    sensitive_values: tuple[NDArray[np.float64] | None, ...] = ()
    """Of the numeric ones what puts their values in order."""
    has_entity: bool = False
    """Whether people are told apart by an entity column. Otherwise every row is a person."""
    heartbeat: Heartbeat = field(default=_no_heartbeat, repr=False, compare=False)
    """Called between the columns of what takes long on large tables; whatever it raises cancels."""

    def __len__(self) -> int:
        return int(self.rows.shape[0])

    @property
    def width(self) -> int:
        """Number of quasi-identifiers."""
        return len(self.columns)

    @property
    def has_shared_people(self) -> bool:
        """Whether somebody occurs in more than one row type."""
        return bool(self.shared_people.size)

    @cached_property
    def own(self) -> NDArray[np.int64]:
        """People of each row type that occur in no other row type, shape (n,)."""
        own: NDArray[np.int64] = self.people - np.diff(self.shared_start)
        return own

    @cached_property
    def shared_total(self) -> int:
        """Number of people that occur in more than one row type."""
        return int(self.shared_people.max()) + 1 if self.has_shared_people else 0

    @cached_property
    def total_people(self) -> int:
        """Number of distinct people in the table."""
        return int(self.own.sum()) + self.shared_total

    @cached_property
    def total_rows(self) -> int:
        """Number of rows in the table."""
        return int(self.rows.sum())

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """Cost of one suppressed cell per column, shape (m,)."""
        return np.array([column.weight for column in self.columns], dtype=np.float64)

    @cached_property
    def hashes(self) -> NDArray[np.uint64]:
        """Mixed 64-bit hash of each cell, salted per column, shape (m, n).

        The sum of the hashes of the kept columns is the key of a row type under a pattern vector.
        """
        hashes = np.empty((self.width, len(self)), dtype=np.uint64)
        for number in range(self.width):
            salt = mix(np.full(1, number + 1, dtype=np.uint64) * _SEED)
            hashes[number] = mix(native(self.cells[number]).view(np.uint64) + salt)
            self.heartbeat()
        return hashes

    @cached_property
    def codes(self) -> NDArray[np.int32]:
        """Values of each column numbered from 0, numeric columns in numeric order, shape (m, n)."""
        codes = np.empty((self.width, len(self)), dtype=np.int32)
        for number in range(self.width):
            codes[number] = _codes(self.cells[number], self.values[number])
            self.heartbeat()
        return codes

    @cached_property
    def cardinalities(self) -> NDArray[np.int64]:
        """Number of distinct values per column, shape (m,)."""
        # Not from `codes`: what needs no more than these numbers does without 4 bytes per cell.
        return np.array([number_values(cells)[1].size for cells in self.cells], dtype=np.int64)

    @classmethod
    def from_packed(cls, packed: PackedRowTypes, heartbeat: Heartbeat = _no_heartbeat) -> RowTypeTable:
        """Read packed row types.

        Parameters
        ----------
        packed : PackedRowTypes
            At least one row type with at least one quasi-identifier.
        heartbeat : callable, optional
            Kept by the table.

        Raises
        ------
        InputError
            There is no row, no quasi-identifier, too many of them, or a weight is not a positive
            finite number.
        """
        _require_columns(packed.columns)
        rows = integers(packed.rows)
        if not rows.size:
            raise InputError("The table has no rows.", hint="Fill the table before you anonymize it.")
        cells = tuple(np.frombuffer(buffer, dtype=">i8") for buffer in packed.cells)
        heartbeat()
        values = tuple(None if buffer is None else floats(buffer) for buffer in packed.values)
        people = integers(packed.people)
        start, shared = shared_people(packed)
        sensitive = np.empty((len(packed.sensitive_columns), rows.size), dtype=np.int64)
        for number, buffer in enumerate(packed.sensitive_cells):
            sensitive[number] = np.frombuffer(buffer, dtype=">i8")
        sensitive_values = tuple(None if one is None else floats(one) for one in packed.sensitive_values)
        return cls(
            packed.columns, cells, rows, people, values, start, shared,
            sensitive, packed.sensitive_columns, sensitive_values, packed.has_entity, heartbeat,
        )  # fmt: skip

    def divide(self, row_type: NDArray[np.int64], rows: NDArray[np.int64]) -> RowTypeTable:
        """Return a table of parts of these row types.

        Parameters
        ----------
        rows : ndarray of int64, shape (q,)
            Rows of each part; every row is a person.

        Raises
        ------
        SolverError
            People are told apart by an entity: nobody knows which of them a part would hold.
        """
        if self.has_entity:
            raise SolverError("Row types of a table with an entity cannot be divided.")
        return replace(
            self,
            cells=tuple(one[row_type] for one in self.cells),
            rows=rows,
            people=rows,
            values=tuple(None if one is None else one[row_type] for one in self.values),
            shared_start=np.zeros(row_type.size + 1, dtype=np.int64),
            sensitive=self.sensitive[:, row_type] if self.sensitive.size else self.sensitive,
            sensitive_values=tuple(None if one is None else one[row_type] for one in self.sensitive_values),
        )


def _require_columns(columns: tuple[QuasiIdentifier, ...]) -> None:
    if not columns:
        raise InputError(
            "There is no quasi-identifier.", hint="Declare or name at least one quasi-identifier."
        )
    if len(columns) > MAX_COLUMNS:
        raise InputError(
            f"{len(columns)} quasi-identifiers are too many: one release can have {MAX_COLUMNS}.",
            hint="Name fewer quasi-identifiers, or declare some columns as identifiers.",
        )
    for column in columns:
        if not (np.isfinite(column.weight) and column.weight > 0):
            raise InputError(
                f'The weight of column "{column.name}" is not a positive finite number.',
                hint="Weights are costs of one suppressed cell; leave a column out for weight 1.",
            )


def native(cells: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return cells in the byte order of the machine, as compiled code takes them."""
    return cells.astype(np.int64, copy=False)


def mix(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scramble all bits (finalizer of Steele, Lea and Flood's SplitMix, 2014)."""
    mixed = (numbers ^ (numbers >> np.uint64(30))) * _FIRST
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _SECOND
    return mixed ^ (mixed >> np.uint64(31))


def _codes(cells: NDArray[np.int64], values: NDArray[np.float64] | None) -> NDArray[np.int32]:
    codes, first = number_values(cells)
    if values is not None:
        rank = np.empty(first.size, dtype=np.int64)
        rank[np.argsort(values[first], kind="stable")] = np.arange(first.size)
        codes = rank[codes]
    return codes.astype(np.int32)


def with_distinct_pairs(packed: PackedRowTypes) -> PackedRowTypes:
    """Return row types whose pairs with people are distinct and whose people are counted.

    Notes
    -----
    O(n log n) for n pairs: each becomes one number, and these are sorted. `packed` itself if it says how many
    people it has.
    """
    if packed.people or not packed.keys:
        return packed
    keys, persons = integers(packed.keys), integers(packed.pair_people)
    number, first = number_values(persons)
    # numpy.unique alone would hash: a million pairs took 1.0 s, sorting them 0.05
    code = np.sort(_row_type_of_pairs(packed) * max(1, first.size) + number)
    code = code[np.diff(code, prepend=-1) > 0]
    row_type, number = np.divmod(code, max(1, first.size))
    return replace(
        packed,
        people=buffer_of(np.bincount(row_type, minlength=keys.size)),
        pair_keys=buffer_of(keys[row_type]),
        pair_people=buffer_of(persons[first][number]),
    )


def _row_type_of_pairs(packed: PackedRowTypes) -> NDArray[np.int64]:
    keys = integers(packed.keys)
    order = np.argsort(keys, kind="stable")
    of_pair, first = number_values(pair_keys := integers(packed.pair_keys))
    row_types: NDArray[np.int64] = order[np.searchsorted(keys[order], pair_keys[first])][of_pair]
    return row_types


def shared_people(packed: PackedRowTypes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the incidence of people that occur in more than one row type (start, people)."""
    count = len(packed)
    if not packed.has_entity:
        return np.zeros(count + 1, dtype=np.int64), np.empty(0, dtype=np.int64)
    row_type = _row_type_of_pairs(packed)
    person, first = number_values(integers(packed.pair_people))
    is_shared = np.bincount(person, minlength=first.size) > 1
    keep = is_shared[person]
    number = np.cumsum(is_shared) - 1
    row_type, person = row_type[keep], number[person[keep]]
    by_row_type = np.argsort(row_type, kind="stable")
    start = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.bincount(row_type, minlength=count), out=start[1:])
    return start, person[by_row_type].astype(np.int64)


def by_content(table: RowTypeTable) -> tuple[RowTypeTable, NDArray[np.intp]]:
    """Return the row types in the order of a hash of all their values, and the position of each before.

    Ties between row types, which may agree on all quasi-identifiers, are then broken by content alone.
    """
    content = table.hashes.sum(axis=0, dtype=np.uint64)
    for number, cells in enumerate(table.sensitive):
        content += mix(cells.view(np.uint64) + np.uint64(number + 1))
    order = np.argsort(content, kind="stable")
    lengths = np.diff(table.shared_start)[order]
    start = np.zeros(len(table) + 1, dtype=np.int64)
    np.cumsum(lengths, out=start[1:])
    places = np.repeat(table.shared_start[:-1][order] - start[:-1], lengths) + np.arange(start[-1])
    return replace(
        table,
        cells=tuple(one[order] for one in table.cells),
        rows=table.rows[order],
        people=table.people[order],
        values=tuple(None if one is None else one[order] for one in table.values),
        shared_start=start,
        shared_people=table.shared_people[places],
        sensitive=np.ascontiguousarray(table.sensitive[:, order]),
        sensitive_values=tuple(None if one is None else one[order] for one in table.sensitive_values),
    ), order
