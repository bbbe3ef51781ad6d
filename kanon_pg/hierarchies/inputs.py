"""Inputs of every builder of hierarchies: the different values of a column, and its keys."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, TypeVar

from kanon_pg.core.hierarchy import MAX_VALUES
from kanon_pg.core.json_numbers import is_number, is_whole
from kanon_pg.db.catalog import ColumnFacts, RelationFacts, require_equality
from kanon_pg.db.protocol import Database
from kanon_pg.db.readers import reading
from kanon_pg.db.statements import statement
from kanon_pg.errors import InputError, UnsuitableColumn

T = TypeVar("T")

_MOMENTS = frozenset({"date", "timestamp", "timestamptz"})
_NUMBERS = frozenset({"int2", "int4", "int8", "numeric", "float4", "float8"})


@dataclass(frozen=True, slots=True)
class ColumnValues:
    """The values of a column without NULL."""

    column: ColumnFacts
    texts: tuple[str, ...]
    """Each value once, in a text form that does not depend on the session."""
    rows: tuple[int, ...]
    """How many rows have it; 0 for values that are only expected."""
    checkpoint: Callable[[], None] = lambda: None
    """Raises if the user, or the time limit, has ended the call."""

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
        """Return the values as numbers, in their order."""
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
    """Read the different values of a column."""
    require_equality(db, (column,), "have a hierarchy")
    command = statement(
        "hierarchy_column_values",
        relation=relation.source,
        column=column.identifier,
        text=column.text(str(column.identifier)),
        is_zoned=column.base_type == "timestamptz",
        is_moment=column.base_type in _MOMENTS,
        most=MAX_VALUES + 1,
    )
    with reading(db, relation):
        values = db.read(command)
    if not values:
        raise InputError(
            f"Column {column.identifier} has no values.", hint="Build the hierarchy once the table has rows."
        )
    if len(values) > MAX_VALUES:
        raise InputError(
            f"Column {column.identifier} has more than {MAX_VALUES:,} different values.",
            hint="Round it in a view first, and use that.",
        )
    texts, rows = (tuple(row[name] for row in values) for name in ("value", "rows"))
    return ColumnValues(column, texts, rows, db.checkpoint)


class Spec:
    """A JSON object whose keys are taken one by one.

    Sentences name keys, never what stands there: a value may be one of the data.

    Parameters
    ----------
    given : mapping or None
        The object; None is an empty one.
    what : str
        The argument, for sentences: ``options``, ``spec``.
    """

    def __init__(self, given: Any, what: str) -> None:
        if given is not None and not isinstance(given, Mapping):
            raise InputError(
                f"Argument {what} must be a JSON object.", hint='For example: {"builder": "dates"}.'
            )
        self._left = dict(given or {})
        self._what = what
        self._known: list[str] = []

    def text(self, key: str, choices: Sequence[str] | None = None) -> str | None:
        """Take a text, None if it is not there."""
        wanted = "one of: " + ", ".join(choices) if choices else "a text"
        return self._take(key, wanted, str, lambda given: choices is None or given in choices)

    def flag(self, key: str) -> bool:
        """Take true or false; false if it is not there."""
        return self._take(key, "true or false", bool) or False

    def whole(self, key: str, least: int, most: int) -> int | None:
        """Take a whole number between two others, None if it is not there."""
        wanted = f"a whole number from {least} to {most}"
        return self._take(key, wanted, int, lambda given: is_whole(given) and least <= given <= most)

    def numbers(self, key: str) -> list[Decimal] | None:
        """Take a number or a list of numbers, None if it is not there."""
        given = self._take(
            key, "a number or a list of numbers", object, lambda given: _are(is_number, _listed(given))
        )
        return None if given is None else [Decimal(str(number)) for number in _listed(given)]

    def number_lists(self, key: str) -> list[list[Decimal]] | None:
        """Take a list of numbers, or a list of such lists, None if it is not there."""
        given = self._left.get(key)
        if not (isinstance(given, list) and given and isinstance(given[0], list)):
            numbers = self.numbers(key)
            return None if numbers is None else [numbers]
        wanted = "a list of numbers or a list of such lists"
        self._take(
            key, wanted, list, lambda _: all(isinstance(one, list) and _are(is_number, one) for one in given)
        )
        return [[Decimal(str(number)) for number in one] for one in given]

    def wholes(self, key: str, least: int, most: int) -> list[int] | None:
        """Take whole numbers between two others, or one, None if they are not there."""
        given = self._take(
            key,
            f"a whole number from {least} to {most}, or a list of such numbers",
            object,
            lambda given: all(is_whole(one) and least <= one <= most for one in _listed(given)),
        )
        return None if given is None else _listed(given)

    def texts(self, key: str) -> list[str] | None:
        """Take a list of texts, None if it is not there."""
        return self._take(
            key, "a list of texts", list, lambda given: all(isinstance(one, str) for one in given)
        )

    def has(self, key: str) -> bool:
        """Whether a key is there, and was not taken yet."""
        return self._left.get(key) is not None

    def done(self) -> None:
        """Refuse keys that nobody took, without naming them: a key may be a mistaken value."""
        if self._left:
            raise InputError(
                f"Argument {self._what}: {len(self._left)} of the keys cannot be used here.",
                hint=f"These are: {', '.join(self._known)}.",
            )

    def _take(
        self, key: str, wanted: str, kind: type[T], holds: Callable[[T], bool] = lambda _: True
    ) -> T | None:
        self._known.append(key)
        given = self._left.pop(key, None)
        if given is None:
            return None
        if not (isinstance(given, kind) and holds(given)):
            raise InputError(
                f'Argument {self._what}: "{key}" must be {wanted}.', hint="Correct it, or leave it out."
            )
        return given


def _listed(given: Any) -> list[Any]:
    return given if isinstance(given, list) else [given]


def _are(kind: Callable[[Any], bool], listed: list[Any]) -> bool:
    """Return whether a list has something, all of one kind."""
    return bool(listed) and all(map(kind, listed))
