"""Declares the roles of a relation's columns, and keeps a view of its row types."""

from __future__ import annotations

import json
from typing import Any

from kanon_pg.db.catalog import RelationFacts, caller, describe, describe_readable, require_readable
from kanon_pg.db.history import record_event
from kanon_pg.db.identifiers import Identifier, Literal, derived_name
from kanon_pg.db.protocol import Database
from kanon_pg.db.readers import SCHEMA as BASES_SCHEMA
from kanon_pg.db.readers import define_base, drop_base, require_reader
from kanon_pg.db.statements import render, statement
from kanon_pg.errors import InputError, UnknownName, UnsuitableColumn
from kanon_pg.relations.canonical import CanonicalColumn, canonical_columns
from kanon_pg.relations.links import linked_people
from kanon_pg.relations.subject import Roles, Subject, require_usable, stored_declaration
from kanon_pg.release.plan.advice import notice_repeated_identifiers
from kanon_pg.release.plan.base import require_suitable
from kanon_pg.release.plan.request import DeclareRequest


def declare(db: Database, request: DeclareRequest, *, role: str | None = None) -> None:
    """Record the roles of a relation's columns and create its view of row types.

    An earlier declaration is replaced.

    Raises
    ------
    InputError
        If nothing is declared; for unknown or repeated columns, an entity that would be published,
        unsuitable types, bad weights and missing rights.
    """
    role = caller(db) if role is None else role
    facts = describe_readable(db, request.relation, role)
    require_suitable(db, facts)
    roles = Roles(
        identifiers=tuple(request.identifiers or ()),
        quasi_identifiers=tuple(request.quasi_identifiers or ()),
        sensitive=tuple(request.sensitive or ()),
        insensitive=tuple(request.insensitive or ()),
        entity=request.entity,
        weights=request.weights,
    )
    _require_something(facts, roles)
    roles.check(facts)
    _require_entity_unpublished(facts, roles)
    people = linked_people(db, facts, role)
    if people is not None and roles.entity is not None:
        raise InputError(
            f"{facts.identifier} is linked: its rows belong to the people of {people.relation.identifier}.",
            hint="Declare it without an entity, or forget the link first: "
            f"SELECT kanon_unlink({Literal(str(facts.identifier))});",
        )
    subject = Subject(facts, role, roles, people=people)
    require_usable(db, subject, subject.columns(roles.quasi_identifiers))
    _store(db, subject, roles)
    if roles.entity is None and people is None:
        notice_repeated_identifiers(db, facts, roles.identifiers)
    renew_linked(db, facts, role)
    declared: dict[str, Any] = {**roles.groups(), "entity": roles.entity}
    record_event(db, "declare", facts.identifier, role, **declared)


def renew_row_types(db: Database, facts: RelationFacts, role: str) -> None:
    """Have the view of row types of a declared relation count the people that its rows have now."""
    roles = stored_declaration(db, facts)
    if roles is not None:
        _store(db, Subject(facts, role, roles, people=linked_people(db, facts, role)), roles)


def renew_linked(db: Database, relation: RelationFacts, role: str) -> None:
    """Do so for all tables that are linked to a relation, whose people changed."""
    for row in db.rows(statement("linked_below"), relation.oid):
        facts = describe(db, str(row["oid"]), role)
        try:
            with db.savepoint():
                require_readable(facts, facts.columns, role)
                renew_row_types(db, facts, role)
        except InputError as error:
            db.notice(f"The row types of {facts.identifier} were not counted anew. {error.message}")


def _store(db: Database, subject: Subject, roles: Roles) -> None:
    """Record the roles of a relation's columns, with a new view of its row types."""
    quasi = subject.columns(roles.quasi_identifiers)
    for row in db.rows(statement("fetch_declaration"), subject.relation.oid):
        _drop_row_types_view(db, row["row_types_view"])
    view = _create_row_types_view(db, subject, canonical_columns(quasi, {})) if quasi else None
    db.execute(
        statement("store_declaration"),
        subject.relation.oid,
        *(list(names) for names in roles.groups().values()),
        roles.entity,
        json.dumps(dict(roles.weights)) if roles.weights else None,
        view,
        subject.role,
    )


def undeclare(db: Database, relation: str, *, role: str | None = None) -> None:
    """Forget a declaration and drop its view of row types.

    Raises
    ------
    UnknownName
        If the relation does not exist or has no declaration.
    InputError
        If the relation answers queries.
    """
    role = caller(db) if role is None else role
    facts = describe_readable(db, relation, role)
    if db.row(statement("is_protected"), facts.oid)["protected"]:
        raise InputError(
            f"Relation {facts.identifier} answers queries under the rules of its declaration.",
            hint="Declare it anew instead, or end the queries first: SELECT kanon_unprotect(...);",
        )
    linked = db.rows(statement("linked_below"), facts.oid)
    if linked and not db.rows(statement("way_to_people"), facts.oid):
        name = Identifier((linked[0]["schema"], linked[0]["name"]))
        raise InputError(
            f"Rows of {name} belong to the people of {facts.identifier}: its declaration says who they are.",
            hint=f"Forget that first: SELECT kanon_unlink({Literal(str(name))});",
        )
    found = db.rows(statement("forget_declaration"), facts.oid)
    if not found:
        raise UnknownName(
            f"Relation {facts.identifier} has no declaration.",
            hint="SELECT * FROM kanon.declarations lists them.",
        )
    _drop_row_types_view(db, found[0]["row_types_view"])
    record_event(db, "undeclare", facts.identifier, role)


def _drop_row_types_view(db: Database, name: str | None) -> None:
    if name:
        db.execute(statement("drop_view", view=Identifier.of("kanon", name)))
        drop_base(db, name, shown=True)


def _require_something(facts: RelationFacts, roles: Roles) -> None:
    if not any(roles.groups().values()) and roles.entity is None and not roles.weights:
        raise InputError(
            f"No column of {facts.identifier} is given a role.",
            hint="Name at least the columns that others could link: quasi_identifiers => '{zip,sex}'. "
            "To forget a declaration: SELECT kanon_undeclare(...);",
        )


def _require_entity_unpublished(facts: RelationFacts, roles: Roles) -> None:
    """Refuse a column that identifies people and has a role whose columns are published."""
    if roles.entity is None or roles.role_of(roles.entity) in (None, "identifier"):
        return
    role = next(role for role, names in roles.groups().items() if roles.entity in names)
    raise UnsuitableColumn(
        f"Column {facts.column(roles.entity).identifier} identifies people (entity), which is never "
        f"published, and is also named in {role}.",
        hint=f"Leave it out of {role}; people are still counted by it. It may be named in identifiers.",
    )


_ROW_TYPES = 1000
"""Row types that the planner expects of a relation."""


def _create_row_types_view(db: Database, subject: Subject, columns: tuple[CanonicalColumn, ...]) -> str:
    facts, entity = subject.relation, subject.entity
    name = derived_name(facts.schema, facts.name, "row_types")
    if db.rows(statement("other_row_types_view"), name, facts.oid):
        name = derived_name(facts.schema, facts.name, "row_types", str(facts.oid))
    taken = {column.facts.name for column in columns}
    text = render(
        "row_types",
        relation=subject.source,
        relation_name=Literal(str(facts.identifier)),
        columns=[
            {"expression": c.expression, "alias": c.alias, "output": c.output, "name": Literal(c.facts.name)}
            for c in columns
        ],
        entity=None if entity is None else {"expression": entity.expression},
        rows=Identifier.of(_free_name("rows", taken)),
        people=Identifier.of(_free_name("people", taken)),
    )
    reader = require_reader(db, facts)
    if db.rows(statement("left_base"), name):
        # of a database that was copied without what was declared
        _drop_row_types_view(db, name)
    source = define_base(db, reader, Identifier.of(BASES_SCHEMA, name), text, rows=_ROW_TYPES, shown=True)
    view = Identifier.of("kanon", name)
    db.execute(statement("create_row_types_view", view=view, source=source))
    role = Identifier((subject.role,))
    db.execute(statement("grant_select", relation=view, column=None, role=role, grantable=False))
    return name


def _free_name(name: str, taken: set[str]) -> str:
    while name in taken:
        name = f"{name}_"
    return name
