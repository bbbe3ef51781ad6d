"""SQL expressions under which equal cells look equal.

``GROUP BY`` holds 1.0 and 1.00, -0.0 and 0.0, ``'Bob'::citext`` and ``'BOB'``, '1 day' and '24 hours'
equal, but a reader sees which is which. Published as stored, such spellings would split a class into
smaller ones. So every quasi-identifier passes through an expression that gives all equal values one
spelling: the class that SQL counts is the class that a reader sees.
"""

from __future__ import annotations

from dataclasses import dataclass

from kanon_pg.core.packed import ColumnKind, QuasiIdentifier
from kanon_pg.db.catalog import ColumnFacts, has_equality
from kanon_pg.db.identifiers import Fragment, Identifier
from kanon_pg.db.protocol import Database
from kanon_pg.relations.value_forms import SAME_IN_EVERY_SESSION, SENT, form_of, value_type

_INTEGERS = frozenset({"int2", "int4", "int8", "oid"})
_FLOATS = frozenset({"float4", "float8"})
_MOMENTS = frozenset({"date", "timestamp", "timestamptz"})
_EXACT = _INTEGERS | _MOMENTS | {
    "bool", "char", "name", "text", "varchar", "time", "uuid", "bytea", "macaddr", "macaddr8", "inet", "cidr"
}  # fmt: skip
"""Types of ``pg_catalog`` whose equal values are the same bytes and which can be hashed."""

_HASHED_AS_THEY_ARE = (_EXACT - SENT.keys()) | {"date", "bytea"}
"""Types whose own hash tells their values apart, and row types. Others of `SENT` have a weak one: 64-bit
integers and times are folded to 32 bits first, numeric forgets the sign and holds NaN and infinities equal,
and the hash of a floating-point zero is that of NULL."""

_PADDED = "bpchar"
"""Its values are equal whatever blanks they end in, and a cast to text takes these away."""

_COMPRESSIBLE = {"text": "text", "varchar": "character varying", "bpchar": "character", "bytea": "bytea"}
"""Types that can be stored compressed and are published as they are."""

_NULL_IDENTITY = 0x5DEECE66D1234567
"""Stands for NULL among the identities of cells; no small integer, and a hash only by chance."""


@dataclass(frozen=True, slots=True)
class CanonicalColumn:
    """A column of the base relation as it takes part in classes."""

    facts: ColumnFacts
    alias: Identifier
    """Name inside the queries (``q1``, ``q2`` ...), free of the user's names."""
    weight: float = 1.0
    """Cost of one suppressed cell, > 0."""

    @property
    def output(self) -> Identifier:
        """Published name."""
        return self.facts.identifier

    @property
    def is_exact(self) -> bool:
        """Whether equal values are spelled the same without further ado."""
        facts = self.facts
        if not facts.deterministic:
            return False
        if facts.base_type in {"bpchar", "numeric"}:
            return facts.has_typmod
        return facts.base_kind == "e" or facts.base_type in _EXACT

    @property
    def is_spelled_by_others(self) -> bool:
        """Whether which spelling a value gets depends on all rows that have it."""
        if self.is_exact or self.facts.base_type in {"numeric", *_FLOATS}:
            return False
        return not (self.facts.base_type == _PADDED and self.facts.deterministic)

    @property
    def expression(self) -> Fragment:
        """The column in one spelling per value, below its domains, in terms of the base relation.

        No value is made of text, so that no setting changes it and no cast or check of others runs.
        """
        value, base = self._below(f"{self.facts.identifier}"), self.facts.base_type
        if self.is_exact:
            return Fragment(value)
        if base == "numeric":
            return Fragment(f"pg_catalog.trim_scale({value})")
        if base in _FLOATS:
            is_nan = f"{value} OPERATOR(pg_catalog.=) 'NaN'"
            return Fragment(f"CASE WHEN {is_nan} THEN 'NaN' ELSE {value} OPERATOR(pg_catalog.+) '0' END")
        if base == _PADDED:
            value = f"({value}::pg_catalog.text)::pg_catalog.bpchar"
        if not self.is_spelled_by_others:
            return Fragment(value)
        first = f"pg_catalog.first_value({value}) OVER (PARTITION BY {value} ORDER BY {self.look(value)})"
        return Fragment(f"({first})::{self.facts.plain_type}" if self.facts.has_own_typmod else first)

    def _below(self, value: str) -> str:
        """Return a value of the column in the type below its domains, which is the same value."""
        return f"{value}::{self.facts.below}" if self.facts.below else value

    @property
    def suppressed(self) -> Fragment:
        """NULL of the column's type; a bare one would lose the modifier (``char(3)`` would be ``bpchar``).

        A column of a domain is published in its base type, because a domain may forbid NULL.
        """
        return Fragment(f"NULL::{self.facts.plain_type}" if self.facts.has_own_typmod else "NULL")

    def stored(self, table: str) -> Fragment:
        """The cell as the release stores it: bytes as they are, not as the base relation compressed them.

        Whether a long text is stored compressed depends on its whole row; ``pg_column_size`` would tell
        rows of one class apart by it.
        """
        cell, facts = f"{table}.{self.alias}", self.facts
        own_type = _COMPRESSIBLE.get(facts.base_type)
        if own_type is None or not self.is_exact:
            return Fragment(cell)
        if facts.below is None:
            return Fragment(f"({cell} || '')::{facts.type}")
        # A domain; padding could not be restored without its length.
        return Fragment(cell if own_type == "character" else f"({cell} || '')::{own_type}")

    def hashed(self, table: str) -> Fragment:
        """Form of the column in a hash: stable across servers and sessions, equal for equal cells."""
        cell = f"{table}.{self.alias}"
        if self.facts.base_type == _PADDED:
            return Fragment(f'{self._below(cell)}::pg_catalog.text COLLATE "C"')
        return self.look(cell)

    def look(self, value: str) -> Fragment:
        """Form of a value as readers see it: different for values that look different."""
        facts = self.facts
        if facts.deterministic and facts.base_type in _HASHED_AS_THEY_ARE:
            return Fragment(value)
        value = self._below(value)
        if facts.base_type in SENT:
            return Fragment(f"pg_catalog.{SENT[facts.base_type]}({value})")
        if facts.base_type == _PADDED:
            return Fragment(f'pg_catalog.textin(pg_catalog.bpcharout({value})) COLLATE "C"')
        if facts.base_type in SAME_IN_EVERY_SESSION:
            return Fragment(f'{value}::pg_catalog.text COLLATE "C"')
        if facts.base_kind == "e":
            return Fragment(facts.label(value))
        kind = value_type(facts)
        return Fragment(f'kanon.spelled({value}) COLLATE "C"' if kind is None else form_of(kind, value))

    def identity(self, table: str) -> Fragment:
        """A bigint per cell, equal exactly for equal cells (up to a 64-bit hash), never NULL."""
        cell = f"{table}.{self.alias}"
        if self.facts.base_type in {"int2", "int4", "oid"}:
            return Fragment(f"coalesce({cell}::bigint, {_NULL_IDENTITY})")
        if self.facts.base_type in {"text", "varchar"} and self.facts.deterministic:
            return Fragment(f"coalesce(pg_catalog.hashtextextended({cell}, 0), {_NULL_IDENTITY})")
        return Fragment(f"pg_catalog.hash_record_extended(ROW({self.hashed(table)}), 0)")

    @property
    def kind(self) -> ColumnKind:
        """Whether the values have a distance."""
        base = self.facts.base_type
        has_distance = base in _FLOATS or base in _MOMENTS or base in {"int2", "int4", "int8", "numeric"}
        return "numeric" if has_distance else "categorical"

    def value(self, table: str) -> Fragment | None:
        """The cell as double precision, NaN for NULL; None for categorical columns.

        Clamped to +-1e300, because a numeric may exceed the range and a date may be infinite.
        """
        if self.kind == "categorical":
            return None
        cell = number = f"{table}.{self.alias}"
        if self.facts.base_type == "date":  # which reaches further than moments do
            days = f"({cell} - '1970-01-01'::pg_catalog.date) * 86400::double precision"
            infinite = f"pg_catalog.date_part('epoch', {cell})"
            number = f"CASE WHEN pg_catalog.isfinite({cell}) THEN {days} ELSE {infinite} END"
        elif self.facts.base_type in _MOMENTS:
            number = f"pg_catalog.date_part('epoch', {cell})"
        elif self.facts.base_type == "numeric":
            number = f"pg_catalog.round(LEAST(GREATEST({cell}, -1e300), 1e300), 100)"
        clamped = f"LEAST(GREATEST(({number})::double precision, -1e300), 1e300)"
        return Fragment(f"CASE WHEN {cell} IS NULL THEN 'NaN' ELSE {clamped} END")

    def for_solver(self) -> QuasiIdentifier:
        """Return the column as solvers see it."""
        return QuasiIdentifier(self.facts.name, self.kind, self.weight)


def canonical_columns(
    facts: tuple[ColumnFacts, ...], weights: dict[str, float]
) -> tuple[CanonicalColumn, ...]:
    """Number quasi-identifiers in order; column ``j`` is bit ``j`` of a pattern vector."""
    return tuple(
        CanonicalColumn(column, Identifier.of(f"q{number}"), weights.get(column.name, 1.0))
        for number, column in enumerate(facts, 1)
    )


def as_seen(db: Database, column: ColumnFacts) -> Fragment:
    """Return the form of a column that GROUP BY compares: its values, or what readers see of them.

    Types without an equality (json, point) tell rows apart like any others.
    """
    name = column.identifier
    if has_equality(db, (column,)):
        return Fragment(f"{name}")
    return CanonicalColumn(column, name).look(f"{name}")
