"""Facts about a relation, as the catalog has them, and who may read it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kanon_pg.db.failures import (
    FEATURE_NOT_SUPPORTED,
    INSUFFICIENT_PRIVILEGE,
    INVALID_NAME,
    INVALID_PARAMETER_VALUE,
    SYNTAX_ERROR,
    UNDEFINED_FUNCTION,
    database_error,
)
from kanon_pg.db.identifiers import Fragment, Identifier, Literal
from kanon_pg.db.protocol import Database
from kanon_pg.db.statements import statement
from kanon_pg.errors import DatabaseError, InputError, NotPermitted, UnknownName, UnsuitableColumn, as_given

KINDS = {
    "r": "table",
    "p": "partitioned table",
    "v": "view",
    "m": "materialized view",
    "f": "foreign table",
}
"""Kinds of relation that have rows, by ``pg_class.relkind``."""

_LINKING = "be a quasi-identifier"

_LAST_OID = (1 << 32) - 1

_NO_NAME = (INVALID_NAME, SYNTAX_ERROR, FEATURE_NOT_SUPPORTED)
"""SQLSTATEs of texts that are no names, have too many parts, or name another database."""


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """A column of a relation."""

    name: str
    """Its name, unquoted."""
    type: str
    """Its type as SQL writes it, with modifier."""
    plain_type: str
    """The type below all domains, with the modifier of the column or a domain, and qualified."""
    base_type: str
    """The same without modifier: a bare name of ``pg_catalog`` or ``schema.name``."""
    base_kind: str
    """``pg_type.typtype`` of the base type (``b`` base, ``e`` enum, ``c`` composite, ``r`` range ...)."""
    has_own_typmod: bool
    """Whether the column itself fixes a length or scale."""
    has_typmod: bool
    """Whether it or one of its domains does."""
    deterministic: bool
    """Whether its collation holds only equal bytes equal."""
    collation_schema: str | None
    collation_name: str | None
    """`collation_schema`, `collation_name`: its collation; None for types without one."""
    selectable: bool
    """Whether the caller may read it."""
    is_key: bool
    """Whether it alone has a valid unique index or primary key."""
    below: str | None = None
    """Its type below all domains without modifier; None if it has no domain."""
    made_of: str | None = None
    """The base type and all types that it is made of, as JSON; None for plain types of ``pg_catalog``."""

    @property
    def identifier(self) -> Identifier:
        """The quoted name."""
        return Identifier.of(self.name)

    @property
    def runs_no_code(self) -> bool:
        """Whether a text becomes a value of the base type, and a value a text, by code of superusers alone.

        Of composite types, ranges and arrays that others made, elements may be domains or have functions.
        """
        _, dot, name = self.base_type.rpartition(".")
        return not dot or self.base_kind == "e" or (self.base_kind == "b" and not name.startswith("_"))

    @property
    def undomained(self) -> str:
        """Its type with modifier, without domains, whose checks would run code of whoever made them."""
        return self.plain_type

    def label(self, value: str) -> str:
        """Return the text of a value of an enumeration, which equals no other's."""
        below = f"{value}::{self.below}" if self.below else value
        return f'pg_catalog.textin(pg_catalog.enum_out({below})) COLLATE "C"'

    def text(self, value: str) -> Fragment:
        """Return the text of a value, as a cast gives it or, of a type of others, its output function.

        Whoever owns a type may have made a cast, which would run their code.
        """
        if "." not in self.base_type:
            return Fragment(f"{value}::pg_catalog.text")
        return Fragment(f"CASE WHEN {value} IS DISTINCT FROM NULL THEN pg_catalog.format('%s', {value}) END")


@dataclass(frozen=True, slots=True)
class RelationFacts:
    """A relation and its columns, as seen by one role."""

    oid: int
    """Its OID."""
    schema: str
    name: str
    """`schema`, `name`: its qualified name, unquoted."""
    kind: str
    """``pg_class.relkind``."""
    temporary: bool
    """Whether it belongs to one session."""
    row_security: bool
    """Whether row-level security is on."""
    is_own: bool
    """Whether it belongs to ``kanon_owner``, which owns nothing that others wrote. A name says nothing: who
    may create schemas could have made one of kanon's."""
    reachable: bool
    """Whether the role may use the schema."""
    selectable: bool
    """Whether the role may read the whole relation."""
    columns: tuple[ColumnFacts, ...]
    """In the relation's order."""
    people: Identifier | None = None
    """A view of kanon's own that is read in its place and has these columns."""

    @property
    def identifier(self) -> Identifier:
        """The quoted, qualified name."""
        return Identifier.of(self.schema, self.name)

    @property
    def source(self) -> Identifier:
        """What has its rows."""
        return self.people or self.identifier

    @property
    def can_have_key(self) -> bool:
        """Whether a primary key can be added to it if it has none."""
        return self.kind in ("r", "p")

    def column(self, name: str) -> ColumnFacts:
        """Return a column by name.

        Raises
        ------
        UnknownName
            If the relation has no such column.
        """
        for column in self.columns:
            if column.name == name:
                return column
        raise UnknownName(
            f"Relation {self.identifier} has no column {as_given(name)}.",
            detail="Columns: " + ", ".join(column.name for column in self.columns) + ".",
            hint="Column names are case-sensitive here; give them exactly as the relation has them.",
        )

    def require_declared(self, names: Iterable[str]) -> None:
        """Refuse a declaration that names what is no column any more.

        Parameters
        ----------
        names : iterable of str
            Columns that the relation's declaration names.

        Raises
        ------
        UnknownName
            With what to do.
        """
        have = {column.name for column in self.columns}
        for name in names:
            if name not in have:
                raise UnknownName(
                    f"The declaration of {self.identifier} names column {as_given(name)}, which was renamed "
                    "or dropped since.",
                    detail="Columns: " + ", ".join(column.name for column in self.columns) + ".",
                    hint="Declare the roles anew: "
                    f"SELECT kanon_declare({Literal(str(self.identifier))}, ...);",
                )


def caller(db: Database) -> str:
    """Return the role whose rights count; not for definer functions, see `requesting_role`."""
    role: str = db.row(statement("caller"))["role"]
    return role


def server_function(db: Database, name: str) -> Identifier:
    """Return a function that users call, where kanon has it: a search path could lead to others'.

    Raises
    ------
    DatabaseError
        If the server does not have it.
    """
    found = db.rows(statement("find_functions"))
    if not found:
        raise database_error(UNDEFINED_FUNCTION, f"function {name} does not exist")
    return Identifier.of(found[0]["schema"], name)


def requesting_role(db: Database, operation: str) -> str:
    """Return the role that called the API function which a definer function serves, once per call.

    Parameters
    ----------
    operation : str
        What the API function wrote down.

    Raises
    ------
    NotPermitted
        If no such function was called in this transaction.
    """
    found = db.rows(statement("take_request"), operation)
    if not found:
        raise NotPermitted("An inner function was called directly.", hint=f"Call kanon_{operation} instead.")
    role: str = found[0]["role"]
    return role


def describe(db: Database, relation: str | None, role: str | None = None) -> RelationFacts:
    """Look a relation up.

    Parameters
    ----------
    relation : str
        A relation's name as SQL writes it (quoted if need be), or ``regclass`` text.

    Raises
    ------
    InputError
        If `relation` is NULL.
    UnknownName
        If there is no such relation, or it has no rows by nature (index, sequence).
    """
    if relation is None:
        raise InputError("The relation is NULL.", hint="Name a table or view, for example 'patients'.")
    oid = _resolve(db, relation)
    role = caller(db) if role is None else role
    found = db.rows(statement("describe_relation"), oid, role) if oid is not None else []
    if not found:
        raise UnknownName(
            f"There is no table or view {as_given(relation)}.",
            hint="Check the spelling and the search_path, or write schema.table; quote mixed-case names.",
        )
    facts = found[0]
    if facts["kind"] not in KINDS:
        raise UnknownName(
            f"{Identifier((facts['schema'], facts['name']))} is not a table or view.",
            hint="Name a relation that has rows: " + ", ".join(f"a {kind}" for kind in KINDS.values()) + ".",
        )
    columns = tuple(ColumnFacts(**row) for row in db.rows(statement("describe_columns"), oid, role))
    return RelationFacts(
        oid=int(oid or 0),
        schema=facts["schema"],
        name=facts["name"],
        kind=facts["kind"],
        temporary=facts["persistence"] == "t",
        row_security=facts["row_security"],
        is_own=facts["is_own"],
        reachable=facts["schema_usable"],
        selectable=facts["selectable"],
        columns=columns,
    )


def is_reachable(db: Database, oid: int, role: str) -> bool:
    """Return whether a role may name what is in the schema of a relation."""
    usable: bool = db.row(statement("describe_relation"), oid, role)["schema_usable"]
    return usable


def describe_readable(db: Database, relation: str | None, role: str) -> RelationFacts:
    """Look a relation up that a role may read as a whole.

    Raises
    ------
    NotPermitted
        If it may not.
    """
    facts = describe(db, relation, role)
    require_readable(facts, facts.columns, role)
    return facts


def require_readable(relation: RelationFacts, columns: tuple[ColumnFacts, ...], role: str) -> None:
    """Refuse unless a role may read the relation, or at least all of the columns.

    Raises
    ------
    NotPermitted
        If it may not.
    """
    if relation.reachable and (relation.selectable or all(column.selectable for column in columns)):
        return
    grant = f"GRANT SELECT ON {relation.identifier} TO {Identifier((role,))};"
    raise NotPermitted(
        f"Role {Identifier((role,))} may not read {relation.identifier}.",
        hint=f"Its owner can let it read every row: {grant} "
        "A protected table is queried through kanon_query instead.",
    )


def require_equality(
    db: Database,
    columns: tuple[ColumnFacts, ...],
    purpose: str = _LINKING,
) -> None:
    """Refuse columns that GROUP BY and PARTITION BY cannot compare, as the planner finds by itself.

    Parameters
    ----------
    purpose : str
        What they are to do, for the sentence.

    Raises
    ------
    UnsuitableColumn
        Names the first column whose type has no equality or no order.
    """
    if has_equality(db, columns):
        return
    for column in columns:
        lacks = _what_lacks(db, (column,))
        if lacks is not None:
            other = "Take another column"
            if purpose == _LINKING:
                other = "Declare it as sensitive, insensitive or identifier"
            raise UnsuitableColumn(
                f"Column {column.identifier} of type {column.type} cannot {purpose}: "
                f"the type has no {lacks}.",
                hint=f"{other}, or cast it in a view (for example json to jsonb).",
            )


def has_equality(db: Database, columns: tuple[ColumnFacts, ...]) -> bool:
    """Return whether GROUP BY can compare all of some columns."""
    return not columns or _what_lacks(db, columns) is None


def equality(db: Database, relation: RelationFacts, column: ColumnFacts, one: str, other: str) -> Fragment:
    """Return whether two values of a column are equal, as GROUP BY finds whatever casts others made.

    A bare ``=`` on a type of an extension that is not on the path would compare something else (citext
    as text). On a type that somebody made, the one that takes all types competes with those that its
    casts lead to; records compare their fields as GROUP BY does, but cannot be hashed.
    """
    own = db.rows(statement("measure_equality"), relation.oid, column.name)
    if own:
        return Fragment(f"{one} OPERATOR({Identifier.of(own[0]['schema'])}.{own[0]['name']}) {other}")
    if column.base_kind == "e":
        return Fragment(f"{column.label(one)} OPERATOR(pg_catalog.=) {column.label(other)}")
    if "." in column.base_type:
        one, other = (f"ROW({value})::pg_catalog.record" for value in (one, other))
    return Fragment(f"{one} OPERATOR(pg_catalog.=) {other}")


def _what_lacks(db: Database, columns: tuple[ColumnFacts, ...]) -> str | None:
    probe = statement("probe_grouping", types=[Fragment(column.plain_type) for column in columns])
    try:
        with db.savepoint():
            db.rows(probe)
    except DatabaseError as error:
        if error.server_state == UNDEFINED_FUNCTION:
            return "equality"
        if error.server_state == FEATURE_NOT_SUPPORTED:
            return "order"
        # Who may not use a type's schema cannot name the type; the reader, as which its values are read, can.
        if error.server_state != INSUFFICIENT_PRIVILEGE:
            raise
    return None


def _resolve(db: Database, relation: str) -> int | None:
    if relation.isascii() and relation.isdigit():
        return int(relation) if int(relation) <= _LAST_OID else None
    oid: int | None
    try:
        with db.savepoint(), db.naming():
            oid = db.row(statement("resolve_relation"), relation)["oid"]
    except DatabaseError as error:
        if error.server_state == INSUFFICIENT_PRIVILEGE:
            # Who may not use the schema is refused later, by a sentence that says so.
            oid = db.row(statement("find_relation"), relation)["oid"]
            return oid
        if error.server_state not in _NO_NAME:
            raise
        raise UnknownName(
            f"{as_given(relation)} is not a valid SQL name of a relation.",
            hint='Write it as in SQL, for example public.patients or "My Table".',
        ) from error
    return oid


def parsed_name(db: Database, text: str) -> list[str] | None:
    """Return the parts of a name as SQL writes it; None if the text is none."""
    try:
        with db.savepoint():
            parts: list[str] = db.row(statement("parse_name"), text)["parts"]
    except DatabaseError as error:
        if error.server_state != INVALID_PARAMETER_VALUE:
            raise
        return None
    return parts
