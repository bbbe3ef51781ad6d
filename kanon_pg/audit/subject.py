"""What is known of a relation that is audited, and which columns are meant, with the caller's rights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kanon_pg.core.packed import MAX_COLUMNS, ColumnKind
from kanon_pg.db.catalog import ColumnFacts, RelationFacts, describe, require_equality, require_readable
from kanon_pg.db.identifiers import Fragment, Identifier, Literal
from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.queries import statement
from kanon_pg.errors import InputError, UnsuitableColumn
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


@dataclass(frozen=True, slots=True)
class AuditSubject:
    """A relation with the columns that are looked at.

    Parameters
    ----------
    known : Known
        The relation.
    columns : tuple of AuditColumn
        At least one, in the relation's order.
    left_out : tuple of str
        Columns whose type has no equality.
    """

    known: Known
    columns: tuple[AuditColumn, ...]
    left_out: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(column.facts.name for column in self.columns)


def all_columns(db: Database, known: Known, columns: Sequence[str] | None) -> AuditSubject:
    """Return the columns to audit: the given ones, else all that are no identifiers.

    Parameters
    ----------
    db : Database
        Of the caller.
    known : Known
        The relation.
    columns : sequence of str, optional
        What the call names.

    Raises
    ------
    InputError
        If there is no column, or there are too many.
    UnknownName
        If a column does not exist.
    NotPermitted
        If the caller may not read the columns.
    UnsuitableColumn
        If the type of a given column has no equality, or that of the declared entity.
    """
    if columns is not None:
        return _subject(db, known, _named(known, columns), may_leave_out=False)
    if known.is_release and known.declaration is not None:
        return _subject(db, known, known.quasi_identifiers(), may_leave_out=False)
    return _subject(db, known, known.without_identifiers(), may_leave_out=True)


def linking_columns(
    db: Database, known: Known, columns: Sequence[str] | None, *, in_order: bool = False
) -> AuditSubject:
    """Return the columns by which people are linked: the given ones, else the quasi-identifiers.

    Parameters and errors are those of `all_columns`; with `in_order` the columns have the given order, else
    that of the relation.
    """
    if columns is None:
        return _subject(db, known, known.quasi_identifiers(), may_leave_out=known.declaration is None)
    chosen = tuple(known.relation.column(name) for name in columns) if in_order else _named(known, columns)
    return _subject(db, known, chosen, may_leave_out=False)


def sensitive_columns(
    db: Database, known: Known, columns: Sequence[str] | None, linking: AuditSubject
) -> tuple[AuditColumn, ...]:
    """Return the sensitive columns: the given ones, else the declared ones that are not linking.

    Parameters
    ----------
    db : Database
        Of the caller.
    known : Known
        The relation.
    columns : sequence of str, optional
        What the call names; none for an empty one.
    linking : AuditSubject
        What an attacker knows already.

    Raises
    ------
    InputError
        If a given column is linking.
    KanonError
        As `all_columns`.
    """
    if columns is None:
        names = () if known.declaration is None else known.declaration.sensitive
        chosen = tuple(known.relation.column(name) for name in names if name not in linking.names)
    else:
        chosen = _named(known, columns)
    for column in chosen:
        if column.name in linking.names:
            raise InputError(
                f"Column {column.identifier} is named both as sensitive and among those that link people.",
                hint="Name each column once.",
            )
    if not chosen:
        return ()
    require_readable(known.relation, chosen, known.role)
    require_equality(db, known.relation, chosen, "be compared")
    return audit_columns(chosen, first=len(linking.columns) + 1)


def _named(known: Known, columns: Sequence[str]) -> tuple[ColumnFacts, ...]:
    chosen = {known.relation.column(name).name for name in columns}
    return tuple(column for column in known.relation.columns if column.name in chosen)


def _subject(
    db: Database, known: Known, columns: tuple[ColumnFacts, ...], *, may_leave_out: bool
) -> AuditSubject:
    relation, entity = known.relation, known.entity
    if not columns:
        raise InputError(
            f"No column of {relation.identifier} is left to look at.",
            hint="Name at least one, for example columns => '{zip,birth_date,sex}'.",
        )
    require_readable(relation, columns + (() if entity is None else (entity.facts,)), known.role)
    kept = (comparable(db, known, columns) if may_leave_out else ()) or columns
    left_out = tuple(column.name for column in columns if column not in kept)
    if left_out:
        db.notice(f"Left out, because their types have no equality: {', '.join(left_out)}.")
    columns = kept
    require_equality(db, relation, columns, "be compared")
    if entity is not None:
        require_equality(db, relation, (entity.facts,), "identify people")
    if len(columns) > MAX_COLUMNS:
        raise InputError(
            f"{len(columns)} columns are more than the {MAX_COLUMNS} that can be looked at together.",
            hint=_whom_to_name(known),
        )
    return AuditSubject(known, audit_columns(columns), left_out)


def _whom_to_name(known: Known) -> str:
    """Return which columns to name in place of too many."""
    declared = () if known.declaration is None else known.declaration.quasi_identifiers
    if 0 < len(declared) <= MAX_COLUMNS:
        names = ", ".join(str(Literal(name)) for name in declared)
        return f"Name the declared quasi-identifiers: columns => ARRAY[{names}]."
    return (
        f"Name at most {MAX_COLUMNS} that somebody could link: columns => '{{zip,birth_date,sex}}'; "
        f"SELECT * FROM kanon_suggest({Literal(str(known.relation.identifier))}) proposes which."
    )


def comparable(db: Database, known: Known, columns: tuple[ColumnFacts, ...]) -> tuple[ColumnFacts, ...]:
    """Return those of some columns whose types have an equality.

    Parameters
    ----------
    db : Database
        Its role may read them.
    known : Known
        The relation.
    columns : tuple of ColumnFacts
        Columns of it.
    """
    if not columns or _can_be_compared(db, known.relation, columns):
        return columns
    return tuple(column for column in columns if _can_be_compared(db, known.relation, (column,)))


def _can_be_compared(db: Database, relation: RelationFacts, columns: tuple[ColumnFacts, ...]) -> bool:
    try:
        require_equality(db, relation, columns)
    except UnsuitableColumn:
        return False
    return True
