"""Which values of a column a hierarchy lacks, for whoever may read the column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kanon_pg.db.catalog import caller, describe, require_readable
from kanon_pg.db.identifiers import Fragment, Identifier, Literal
from kanon_pg.db.protocol import Database
from kanon_pg.db.readers import reading
from kanon_pg.db.settings import exact_text
from kanon_pg.db.statements import statement
from kanon_pg.errors import DatabaseError, InputError
from kanon_pg.relations.canonical import CanonicalColumn
from kanon_pg.release.plan.generalized import HierarchyRequest, require_fit, values_of_other_type

_DATA_EXCEPTION, _CANNOT_COERCE = "22", "42846"


@dataclass(frozen=True, slots=True)
class MissingValue:
    """A value that a hierarchy lacks, as text, and how many rows have it."""

    value: str
    rows: int


def missing_values(
    db: Database, relation: str, column_name: str | None, known: Sequence[str]
) -> tuple[MissingValue, ...]:
    """List the values of a column that are not among some known ones, the most frequent first.

    It reads with the rights of the caller, who must be allowed to read the column.

    Raises
    ------
    UnsuitableColumn
        If known values are not of the column's type.
    """
    role = caller(db)
    facts = describe(db, relation, role)
    if column_name is None:
        raise InputError("The column is NULL.", hint="Name the column that the hierarchy is for.")
    target = facts.column(column_name)
    require_readable(facts, (target,), role)
    column = CanonicalColumn(target, Identifier.of("q1"))
    require_fit(column, HierarchyRequest(target.name), 1)
    command = statement(
        "missing_values",
        relation=facts.identifier,
        column=target.identifier,
        label=Literal(target.name),
        type=Fragment(target.undomained),
        spelled=column.expression,
        text=target.text(str(target.identifier)),
    )
    try:
        with exact_text(db), reading(db, facts):
            return tuple(MissingValue(**row) for row in db.read(command, list(known)))
    except DatabaseError as error:
        if (error.server_state or "").startswith(_DATA_EXCEPTION) or error.server_state == _CANNOT_COERCE:
            raise values_of_other_type(column) from None
        raise
