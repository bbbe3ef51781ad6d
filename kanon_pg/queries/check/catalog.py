"""What the checker knows about the database: relations and columns by OID, as plain data.

A caller with a connection fills a `CatalogSnapshot`; the checker uses no database. Everything that
a field leaves open is refused: a relation that is not in the snapshot does not exist for the analyst, a
column whose type is not on the list of `kanon_pg.queries.check.types` cannot be used.

Rules for loaders of snapshots
------------------------------
* Only relations that the analyst may know are loaded. A relation with ``protection`` is answered under
  the rule of k; one without is *public*: the analyst holds SELECT on it, and nothing in it depends on a
  protected relation (releases excepted, they are published).
* Protection is inherited: a partition or inheritance child of a declared table carries the declaration
  of its parent; a view or materialized view over a protected relation is ``protected`` and, unless it
  was declared itself, has ``declared=False`` (the checker then refuses it).
* ``search_path`` is the analyst's, without ``pg_temp`` and ``"$user"`` resolved, ``pg_catalog`` left out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Final

ENUM: Final = "enum"
"""Name of the type of all columns whose values are labels of an enum."""

ENUM_OF_OTHERS: Final = "enum of others"
"""The same, where somebody could rename labels who owns neither the relation nor the server."""


class ColumnRole(Enum):
    """What a column of a protected relation may be used for."""

    IDENTIFIER = "identifier"
    """Names a person: never shown, grouped or compared; joins protected relations only."""
    QUASI_IDENTIFIER = "quasi-identifier"
    SENSITIVE = "sensitive"
    INSENSITIVE = "insensitive"
    WITHHELD = "withheld"
    """Not mentioned in a declaration: cannot be used at all."""


class RelationKind(Enum):
    """Kinds of relations; all others are refused."""

    TABLE = "table"
    PARTITIONED = "partitioned table"
    VIEW = "view"
    MATERIALIZED = "materialized view"
    FOREIGN = "foreign table"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Column:
    """A user column of a relation.

    Parameters
    ----------
    name : str
        Name as stored in the catalog.
    type_name : str
        ``pg_type.typname`` if the type lives in ``pg_catalog``, `ENUM` or `ENUM_OF_OTHERS` for
        an enum, otherwise ``schema.name`` (and refused). For a domain that of the type below it.
    nullable : bool
        False only if the catalog proves that no NULL can occur.
    role : ColumnRole
        Ignored in public relations.
    collation : int
        ``pg_attribute.attcollation``: 0 for types without collation, 100 for the database's default.
    deterministic : bool
        Whether equality of the column's collation is equality of bytes (True for types without collation).
    one_scale : bool
        Whether the type gives all its numbers the same decimals, as ``numeric(10, 2)`` does.
    is_domain : bool
        Whether the type is a domain.
    shown_type : str
        The type as messages name it; empty for that of `type_name`.
    """

    name: str
    type_name: str
    nullable: bool = True
    role: ColumnRole = ColumnRole.QUASI_IDENTIFIER
    deterministic: bool = True
    collation: int = 100
    one_scale: bool = False
    is_domain: bool = False
    shown_type: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Protection:
    """How people are counted in a protected relation.

    Parameters
    ----------
    k : int
        Fewest people behind every output row, >= 2 (a smaller number refuses every query).
    entity : str or None
        Column that identifies a person; None if every row is a person.
    declared : bool
        Whether the relation has a declaration of its own or of its partitioned parent. A relation that
        is protected by dependency alone (a view over a declared table) cannot be queried.
    extremes : str
        Columns whose smallest and largest value may be queried, which is one person's: 'never',
        'insensitive' or 'always'. With 'insensitive', neither sensitive columns nor quasi-identifiers.
    """

    k: int
    entity: str | None = None
    declared: bool = True
    extremes: str = "insensitive"


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why a relation that the analyst may know cannot be queried, in the words of the loader of the snapshot.

    Parameters
    ----------
    sentence, hint : str
        As in `kanon_pg.queries.check.findings.Finding`.
    lasting : bool
        Whether it lies in what the relation is, so that no right and no ledger would change it.
    """

    sentence: str
    hint: str
    lasting: bool = False


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation that the analyst may name.

    Parameters
    ----------
    oid : int
        ``pg_class.oid``.
    schema, name : str
        As stored in the catalog.
    kind : RelationKind
        Foreign tables and unknown kinds are refused.
    columns : tuple of Column
        In the order of their numbers, dropped ones left out.
    protection : Protection or None
        None for a public relation.
    unique_keys : tuple of frozenset of str
        Sets of columns that are unique and immediate (valid, not partial, without expressions, every
        column NOT NULL). They decide which joins keep rows single.
    safe_to_read : bool
        False if reading the relation may run code of other people: row security, a view whose
        definition calls functions outside ``pg_catalog`` or whose owner is not trusted.
    obstacle : Obstacle or None
        Set if the relation cannot be queried for a reason that the loader knows.
    single_table : bool
        True only if all rows stand in one table: no view, no partitions, no children.
    """

    oid: int
    schema: str
    name: str
    kind: RelationKind
    columns: tuple[Column, ...]
    protection: Protection | None = None
    unique_keys: tuple[frozenset[str], ...] = ()
    safe_to_read: bool = True
    obstacle: Obstacle | None = None
    single_table: bool = False

    def column(self, name: str) -> Column | None:
        """Return the column of that name, or None."""
        return next((column for column in self.columns if column.name == name), None)


@dataclass(frozen=True, slots=True)
class CatalogSnapshot:
    """Everything that a check may depend on besides the text and the options.

    Parameters
    ----------
    relations : tuple of Relation
        What the analyst may name.
    search_path : tuple of str
        Schemas tried, in order, for names without a schema.
    in_utc : bool
        Whether the time zone of the session is UTC.
    """

    relations: tuple[Relation, ...]
    search_path: tuple[str, ...] = ("public",)
    in_utc: bool = False
    _by_name: dict[tuple[str, str], Relation] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        index = {(relation.schema, relation.name): relation for relation in self.relations}
        object.__setattr__(self, "_by_name", index)

    def find(self, schema: str | None, name: str) -> Relation | None:
        """Return the relation that the name means under the search path, or None.

        Parameters
        ----------
        schema : str or None
            Schema as written, None to try the search path.
        name : str
            Name of the relation, folded as PostgreSQL folds it.
        """
        schemas = self.search_path if schema is None else (schema,)
        return next((self._by_name[item, name] for item in schemas if (item, name) in self._by_name), None)
