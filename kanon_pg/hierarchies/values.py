"""The different values of a column, as builders see them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TypeVar

from kanon_pg.core.hierarchy import MAX_VALUES
from kanon_pg.db.catalog import ColumnFacts, RelationFacts, require_equality
from kanon_pg.db.protocol import Database
from kanon_pg.db.queries import statement
from kanon_pg.errors import InputError, UnsuitableColumn

T = TypeVar("T")

_MOMENTS = frozenset({"date", "timestamp", "timestamptz"})
_NUMBERS = frozenset({"int2", "int4", "int8", "numeric", "float4", "float8"})


@dataclass(frozen=True, slots=True)
class ColumnValues:
    """The values of a column without NULL.

    Parameters
    ----------
    column : ColumnFacts
        The column.
    texts : tuple of str
        Each value once, in a text form that does not depend on the session.
    rows : tuple of int
        How many rows have it; 0 for values that are only expected.
    checkpoint : callable
        Raises if the user, or the time limit, has ended the call.
    """

    column: ColumnFacts
    texts: tuple[str, ...]
    rows: tuple[int, ...]
    checkpoint: Callable[[], None] = lambda: None

    def with_expected(self, texts: Iterable[str]) -> ColumnValues:
        """Return these values and others that the column may have one day."""
        known = set(self.texts)
        more = tuple(text for text in texts if text not in known)
        return replace(self, texts=self.texts + more, rows=self.rows + (0,) * len(more))

    def by_level(self, levels: Iterable[T]) -> Iterator[T]:
        """Yield what makes the levels one by one: a level of many values takes time, and the call may end."""
        for level in levels:
            self.checkpoint()
            yield level

    def numbers(self) -> list[Decimal]:
        """Return the values as numbers, in their order.

        Raises
        ------
        UnsuitableColumn
            If the column has no numbers, or infinity or NaN among them.
        """
        if self.column.base_type not in _NUMBERS:
            raise self.unsuitable("intervals of numbers", "numbers")
        numbers = [Decimal(text) for text in self.texts]
        if not all(number.is_finite() for number in numbers):
            raise UnsuitableColumn(
                f"Column {self.column.identifier} has infinity or NaN among its numbers.",
                hint="Replace these by NULL in a view, and use that.",
            )
        return numbers

    @property
    def are_moments(self) -> bool:
        """Whether they are dates or timestamps."""
        return self.column.base_type in _MOMENTS

    def unsuitable(self, builder: str, wanted: str) -> UnsuitableColumn:
        """Return the error for a builder that is not for columns of this type."""
        return UnsuitableColumn(
            f"Column {self.column.identifier} of type {self.column.type} cannot have {builder}.",
            hint=f"That builder is for {wanted}; 'prefix' and 'priority' are for any type.",
        )


def column_values(db: Database, relation: RelationFacts, column: ColumnFacts) -> ColumnValues:
    """Read the different values of a column.

    Parameters
    ----------
    db : Database
        May read the column.
    relation : RelationFacts
        Table or view.
    column : ColumnFacts
        A column of it.

    Raises
    ------
    UnsuitableColumn
        If the type has no equality.
    InputError
        If the column has no values but NULL, or too many.
    """
    require_equality(db, relation, (column,), "have a hierarchy")
    command = statement(
        "hierarchy_column_values",
        relation=relation.identifier,
        column=column.identifier,
        is_moment=column.base_type in _MOMENTS,
        most=MAX_VALUES + 1,
    )
    found = db.rows_once(command)
    if not found:
        raise InputError(
            f"Column {column.identifier} has no values.", hint="Build the hierarchy once the table has rows."
        )
    if len(found) > MAX_VALUES:
        raise InputError(
            f"Column {column.identifier} has more than {MAX_VALUES:,} different values.",
            hint="Round it in a view first, and use that.",
        )
    texts, rows = (tuple(row[name] for row in found) for name in ("value", "rows"))
    return ColumnValues(column, texts, rows, db.checkpoint)
