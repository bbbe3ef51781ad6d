"""What the reading of a query knows about the database, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum


class Role(Enum):
    """What a column of a protected relation may be used for."""

    KNOWN = "known"
    """Quasi-identifiers, insensitive columns and keys of links: whoever asks could know them."""
    SECRET = "secret"  # noqa: S105 - no password
    WITHHELD = "withheld"
    """Identifiers, and what is in no declaration: no query can name them, but links do."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a relation."""

    name: str
    number: int
    type_name: str
    """SQL of its type, qualified."""
    role: Role = Role.KNOWN
    is_built_in: bool = True
    """Whether its type, or that below its domains, is PostgreSQL's own or an enum: operators of others may
    run anything."""
    is_number: bool = False
    """Whether values can be added."""
    is_filled: bool = False
    """Whether it is NOT NULL."""

    @property
    def is_secret(self) -> bool:
        """Whether it is declared sensitive."""
        return self.role is Role.SECRET


@dataclass(frozen=True, slots=True)
class Link:
    """A validated foreign key that leads from the rows of a relation to a row of their person.

    The columns of both are in the same order; the parent is an OID.
    """

    columns: tuple[str, ...]
    parent: int
    parent_columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Protection:
    """How people are counted in a protected relation."""

    k: int
    """Fewest people, >= 2."""
    space: int
    """OID of the relation whose people these are: all relations with the same one share a record."""
    person: tuple[str, ...] = ()
    """The columns that identify a person in a relation that is no child of a link; else empty."""
    rules: int = 0
    """OID of the relation whose rules of ``kanon.protection`` hold; 0 if it answers no queries."""


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation that the analyst may name."""

    oid: int
    schema: str
    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()
    """Columns that are unique and never NULL; empty if there are none that are known."""
    unique_keys: tuple[frozenset[str], ...] = ()
    """All such sets of columns."""
    links: tuple[Link, ...] = ()
    protection: Protection | None = None
    """None for a public relation."""
    obstacle: tuple[str, str] | None = None
    """Why it cannot be queried, and what to do about it."""
    is_allowed: bool = True
    """False if the obstacle is that somebody lacks a right."""

    def column(self, name: str) -> Column | None:
        """Return the column of that name, or None."""
        return next((column for column in self.columns if column.name == name), None)


class Volatility(Enum):
    """What the value of a function depends on."""

    IMMUTABLE = "immutable"
    PINNED = "stable through settings that are pinned"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Facts:
    """The part of the catalog that a text names."""

    relations: tuple[Relation, ...]
    """Those that the analyst may name, and the parents of their links."""
    search_path: tuple[str, ...] = ("public",)
    functions: Mapping[str, Volatility] = field(default_factory=dict)
    """PostgreSQL's own functions whose names occur in the text."""

    def find(self, schema: str | None, name: str) -> Relation | None:
        """Return the relation that a name means under the search path, or None."""
        schemas = self.search_path if schema is None else (schema,)
        return next(
            (one for item in schemas for one in self.relations if (one.schema, one.name) == (item, name)),
            None,
        )

    def of(self, oid: int) -> Relation:
        """Return the relation with an OID."""
        return next(one for one in self.relations if one.oid == oid)
