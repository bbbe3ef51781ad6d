"""What is known of a relation that is audited, with the rights of whoever asks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kanon_pg.core.packed import ColumnKind
from kanon_pg.db.catalog import ColumnFacts, RelationFacts, describe
from kanon_pg.db.identifiers import Fragment, Identifier
from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.queries import statement
from kanon_pg.measure.subject import RELEASE_SCHEMA, SUPPRESSED_COLUMN
from kanon_pg.release.canonical import CanonicalColumn
from kanon_pg.release.declaration import Declaration, entity_column


class AuditColumn(CanonicalColumn):
    """A column of which an audit needs to know only where its values are equal."""

    @property
    def kind(self) -> ColumnKind:
        """No distances."""
        return "categorical"

    @property
    def is_exact(self) -> bool:
        """Equal lists of suppressed columns are spelled the same."""
        return self.facts.base_type == "_name" or super().is_exact

    def value(self, table: str) -> Fragment | None:
        """No numbers."""
        del table
        return None


def audit_columns(facts: Sequence[ColumnFacts], first: int = 1) -> tuple[AuditColumn, ...]:
    """Number columns in order, as queries name them, beginning with `first`."""
    return tuple(AuditColumn(column, Identifier.of(f"q{place}")) for place, column in enumerate(facts, first))


@dataclass(frozen=True, slots=True)
class Known:
    """A relation and what is known of its columns.

    Parameters
    ----------
    relation : RelationFacts
        Table or view.
    declaration : Declaration or None
        Its roles, or those of a release; None if nothing is known, or not to the caller.
    is_release : bool
        Whether it is a view in which kanon publishes.
    role : str
        Whose rights count.
    knows_releases : bool
        Whether that role may read which releases there are.
    release : str or None
        Name of the release, if the caller may know of it.
    hidden_people : int or None
        People in a release that does not tell which rows are the same person's, when it was published.
    """

    relation: RelationFacts
    declaration: Declaration | None
    is_release: bool
    role: str
    knows_releases: bool
    release: str | None = None
    hidden_people: int | None = None

    @property
    def hides_people(self) -> bool:
        """Whether it is a release that does not tell which rows are the same person's."""
        return self.hidden_people is not None

    @property
    def entity(self) -> CanonicalColumn | None:
        """What identifies a person; None: each row is a person."""
        name = None if self.declaration is None else self.declaration.entity
        return None if name is None else entity_column(self.relation.column(name))

    def without_identifiers(self) -> tuple[ColumnFacts, ...]:
        """Return all columns but identifiers: declared ones, and keys that have no other role."""
        known = self.declaration or Declaration()
        roles = {name for group in known.roles().values() for name in group}
        hidden = {*known.identifiers, known.entity}
        return tuple(
            column
            for column in self.relation.columns
            if column.name not in hidden and (not column.is_key or column.name in roles)
        )

    def quasi_identifiers(self) -> tuple[ColumnFacts, ...]:
        """Return the quasi-identifiers, and in a release the list of suppressed columns."""
        if self.declaration is None:
            return self.without_identifiers()
        names = self.declaration.quasi_identifiers + ((SUPPRESSED_COLUMN,) if self.is_release else ())
        return tuple(self.relation.column(name) for name in names)

    def links_by(self, names: Sequence[str]) -> bool:
        """Return whether all of some columns are quasi-identifiers."""
        return {column.name for column in self.quasi_identifiers()}.issuperset(names)

    def role_of(self, name: str) -> str | None:
        """Return the declared role of a column."""
        known = self.declaration or Declaration()
        singular = {"identifiers": "identifier", "quasi_identifiers": "quasi_identifier"}
        for role, names in known.roles().items():
            if name in names:
                return singular.get(role, role)
        return None


def look_up(db: Database, relation: str | None) -> Known:
    """Find out what a relation is, and what the caller may know of it.

    Raises
    ------
    InputError
        If the relation is NULL.
    UnknownName
        If it does not exist.
    """
    context = db.row(statement("measure_context"))
    facts = describe(db, relation, context["role"])
    is_release = facts.schema == RELEASE_SCHEMA and any(
        column.name == SUPPRESSED_COLUMN and column.type == "name[]" for column in facts.columns
    )
    query, may_read = _source_of_roles(context, is_release)
    found = db.rows(statement(query), facts.oid) if may_read else []
    declaration, release, hidden_people = None, None, None
    if found:
        row = found[0]
        release, hidden_people = row["release"], row["hidden_people"]
        declaration = Declaration(
            identifiers=tuple(row["identifiers"]),
            quasi_identifiers=tuple(row["quasi_identifiers"]),
            sensitive=tuple(row["sensitive"]),
            insensitive=tuple(row["insensitive"]),
            entity=row["entity"],
        )
        if not is_release:
            facts.require_declared(declaration.names())
        if row.get("counts_people"):
            db.notice("Whose rows they are is not published, so each row counts as a person.")
    elif is_release:
        db.notice(
            "The roles of this release's columns are unknown; all of them are looked at, and each row counts "
            "as a person."
        )
    return Known(facts, declaration, is_release, context["role"], context["releases"], release, hidden_people)


def _source_of_roles(context: Row, is_release: bool) -> tuple[str, bool]:
    """Return the query for the roles of columns, and whether the caller may run it."""
    if not is_release:
        return "audit_declared", context["declarations"]
    if context["releases"]:
        return "audit_released", True
    return "audit_published", context["published_roles"]
