"""Which columns a suppression curve is about, with the rights of whoever asks."""

from __future__ import annotations

import json
from dataclasses import dataclass

from kanon_pg.core.packed import MAX_COLUMNS
from kanon_pg.curves.request import CurveRequest
from kanon_pg.db.catalog import ColumnFacts, RelationFacts, describe, require_equality, require_readable
from kanon_pg.db.protocol import Database
from kanon_pg.db.queries import statement
from kanon_pg.errors import InputError, UnsuitableColumn
from kanon_pg.release.canonical import CanonicalColumn, canonical_columns
from kanon_pg.release.declaration import Declaration, check_roles, entity_column


@dataclass(frozen=True, slots=True)
class CurveSubject:
    """A relation with the columns of its row types.

    Parameters
    ----------
    relation : RelationFacts
        Table or view.
    columns : tuple of CanonicalColumn
        The quasi-identifiers with their weights, at least one.
    entity : CanonicalColumn or None
        What identifies a person; None: each row is a person.
    """

    relation: RelationFacts
    columns: tuple[CanonicalColumn, ...]
    entity: CanonicalColumn | None


def resolve_subject(db: Database, request: CurveRequest) -> CurveSubject:
    """Find out what to count, as ``kanon_anonymize`` would, and check that the caller may read it.

    Without a declaration, or without the right to read declarations, every column is a quasi-identifier
    except single-column keys.

    Raises
    ------
    InputError
        If the relation is NULL, or there is no quasi-identifier or too many.
    UnknownName
        If the relation or a column does not exist.
    UnsuitableColumn
        If a column cannot be a quasi-identifier.
    NotPermitted
        If the caller may not read the columns.
    """
    context = db.row(statement("measure_context"))
    facts = describe(db, request.relation, context["role"])
    declaration = _declared(db, facts) if context["declarations"] else None
    known = declaration or Declaration()
    if request.quasi_identifiers is not None:
        names = tuple(request.quasi_identifiers)
    elif declaration is not None:
        names = known.quasi_identifiers
    else:
        names = tuple(column.name for column in facts.columns if not column.is_key)
    check_roles(facts, Declaration((), names, entity=known.entity, weights=known.weights))
    _refuse_identifying(facts, known, names)
    quasi = tuple(facts.column(name) for name in names)
    entity = None if known.entity is None else entity_column(facts.column(known.entity))
    _check_columns(facts, quasi)
    _check_types(db, facts, quasi, entity, context["role"])
    return CurveSubject(facts, canonical_columns(quasi, dict(known.weights or {})), entity)


def _declared(db: Database, facts: RelationFacts) -> Declaration | None:
    found = db.rows(statement("curve_declared"), facts.oid)
    if not found:
        return None
    row = found[0]
    declaration = Declaration(
        identifiers=tuple(row["identifiers"]),
        quasi_identifiers=tuple(row["quasi_identifiers"]),
        entity=row["entity"],
        weights=json.loads(row["weights"]) if row["weights"] else None,
    )
    facts.require_declared(declaration.names())
    return declaration


def _refuse_identifying(facts: RelationFacts, declaration: Declaration, names: tuple[str, ...]) -> None:
    for name in names:
        if name == declaration.entity or name in declaration.identifiers:
            raise UnsuitableColumn(
                f"Column {facts.column(name).identifier} is declared to identify people; "
                "no release could publish it.",
                hint="Leave it out, or declare it with another role first.",
            )


def _check_columns(facts: RelationFacts, quasi: tuple[ColumnFacts, ...]) -> None:
    if not quasi:
        raise InputError(
            f"No quasi-identifier is left in {facts.identifier}.",
            hint="Name the columns that others could link: quasi_identifiers => '{zip,sex}'.",
        )
    if len(quasi) > MAX_COLUMNS:
        raise InputError(
            f"{len(quasi)} quasi-identifiers are more than the {MAX_COLUMNS} that a release can have.",
            hint="Name only those that others could link: quasi_identifiers => '{zip,sex}'.",
        )


def _check_types(
    db: Database,
    facts: RelationFacts,
    quasi: tuple[ColumnFacts, ...],
    entity: CanonicalColumn | None,
    role: str,
) -> None:
    require_readable(facts, quasi + (() if entity is None else (entity.facts,)), role)
    require_equality(db, facts, quasi)
    if entity is not None:
        require_equality(db, facts, (entity.facts,), "identify people")
