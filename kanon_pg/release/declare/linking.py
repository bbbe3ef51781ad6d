"""Links tables: the rows of one belong to the person of the row that its foreign key refers to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from kanon_pg.db.catalog import RelationFacts, caller, describe_readable
from kanon_pg.db.history import record_event
from kanon_pg.db.identifiers import Identifier, Literal
from kanon_pg.db.operation import Argument, Operation
from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.readers import require_reader
from kanon_pg.db.statements import statement
from kanon_pg.errors import InputError, UnknownName, UnsuitableColumn, UnsuitableRelation, as_given
from kanon_pg.relations.subject import stored_declaration
from kanon_pg.release.declare.declaration import renew_linked, renew_row_types


@dataclass(frozen=True, slots=True)
class LinkRequest:
    """The arguments of ``kanon_link``."""

    child: Annotated[str, Argument("regclass", "Table whose rows belong to somebody.")]
    parent: Annotated[str, Argument("regclass", "Table that its foreign key refers to.")]
    """`child`, `parent`: relations, as SQL writes them."""
    columns: Annotated[
        Sequence[str] | None, Argument("name[]", "Columns of the foreign key, where several lead there.")
    ] = None
    """Columns of the foreign key, in any order."""
    foreign_key: Annotated[str | None, Argument("name", "Or its name.")] = None
    """Its name."""


LINK = Operation(LinkRequest)


def link(db: Database, request: LinkRequest, *, role: str | None = None) -> None:
    """Record that the rows of a table belong to the people that its foreign key leads to.

    An earlier link of the table is replaced.

    Parameters
    ----------
    role : str, optional
        Whose rights count; the caller's unless given.

    Raises
    ------
    InputError
        If the child has an entity of its own, answers queries already, or the chain is a circle or ends at a
        table whose people are not declared.
    UnknownName
        If there is no such foreign key, or several.
    UnsuitableRelation, UnsuitableColumn
        If the foreign key does not lead from every row to exactly one.
    NotPermitted
        If the role may not declare both tables.
    """
    role = caller(db) if role is None else role
    child, parent = (describe_readable(db, one, role) for one in (request.child, request.parent))
    for facts in (child, parent):
        if not facts.can_have_key or facts.temporary:
            raise UnsuitableRelation(
                f"{facts.identifier} is no ordinary table, so no foreign key leads from it or to it.",
                hint="Link the table that it reads; views are declared by themselves.",
            )
        require_reader(db, facts)
    _require_no_own_people(db, child, parent)
    _require_no_strangers(db, child, parent)
    key = _foreign_key(db, child, parent, request)
    _require_sound(child, parent, key)
    db.execute(
        statement("store_link"),
        child.oid,
        parent.oid,
        list(key["columns"]),
        list(key["parent_columns"]),
        role,
    )
    (first, *_) = db.rows(statement("way_to_people"), child.oid)
    if first["person"] is None:
        raise InputError(
            f"The chain of links from {child.identifier} ends at a table that says nothing of people.",
            hint=f"Declare the people of {parent.identifier} first, with an entity or a primary key "
            f"(SELECT kanon_declare({_named(parent)}, ...)), or link it further.",
        )
    renew_row_types(db, child, role)
    renew_linked(db, child, role)
    record_event(db, "link", child.identifier, role, parent=parent.identifier, columns=key["columns"])


def unlink(db: Database, relation: str, *, role: str | None = None) -> tuple[int, ...]:
    """Forget the link of a table; returns the tables that it led to.

    Raises
    ------
    UnknownName
        If the relation does not exist or is not linked.
    InputError
        If it, or a table that is linked to it, answers queries.
    """
    role = caller(db) if role is None else role
    child = describe_readable(db, relation, role)
    above = tuple(row["oid"] for row in db.rows(statement("linked_above"), child.oid))
    if not db.rows(statement("forget_link"), child.oid):
        raise UnknownName(
            f"Relation {child.identifier} is not linked.", hint="SELECT * FROM kanon.links lists the links."
        )
    _require_unprotected(db, child)
    renew_row_types(db, child, role)
    renew_linked(db, child, role)
    record_event(db, "unlink", child.identifier, role)
    return above


def links(db: Database) -> Sequence[Row]:
    """Return all links, by table."""
    return db.rows(statement("list_links"))


def _named(relation: RelationFacts) -> Literal:
    return Literal(str(relation.identifier))


def _require_no_own_people(db: Database, child: RelationFacts, parent: RelationFacts) -> None:
    above = {parent.oid, *(row["oid"] for row in db.rows(statement("linked_above"), parent.oid))}
    if child.oid in above:
        raise InputError(
            f"The links from {child.identifier} would lead back to it.",
            hint="Link the tables in one direction, to the table that has the people.",
        )
    roles = stored_declaration(db, child)
    if roles is not None and roles.entity is not None:
        raise InputError(
            f"{child.identifier} is declared with an entity of its own, {Identifier.of(roles.entity)}.",
            hint=f"Declare it without one first: SELECT kanon_declare({_named(child)}, ...);",
        )
    _require_unprotected(db, child)


def _require_no_strangers(db: Database, child: RelationFacts, parent: RelationFacts) -> None:
    """Refuse a table whose owner may not read what its reader is to read: the table's code runs as that."""
    above = {parent.oid, *(row["oid"] for row in db.rows(statement("linked_above"), parent.oid))}
    for row in db.rows(statement("linked/strangers"), [child.oid, *above]):
        if row["own"] == child.oid:
            raise UnsuitableRelation(
                f"{Identifier((row['owner'],))}, who owns {child.identifier}, may not read all tables that "
                "the link "
                "leads to; what the table brings along would run with the rights of a role that may.",
                hint=f"Let its owner read them: GRANT SELECT ON {parent.identifier} TO ...; or link the "
                "table of an "
                "owner who may.",
            )


def _require_unprotected(db: Database, child: RelationFacts) -> None:
    """Refuse to change whose people the rows of a table are while it answers queries."""
    found = [child.identifier] if db.row(statement("is_protected"), child.oid)["protected"] else []
    found += [
        Identifier((row["schema"], row["name"]))
        for row in db.rows(statement("linked_below"), child.oid)
        if row["protected"]
    ]
    for name in found:
        raise InputError(
            f"Relation {name} answers queries, which count its people.",
            hint=f"End them first: SELECT kanon_unprotect({Literal(str(name))});",
        )


def _foreign_key(db: Database, child: RelationFacts, parent: RelationFacts, request: LinkRequest) -> Row:
    """Return the foreign key that is meant."""
    found = db.rows(statement("find_foreign_keys"), child.oid, parent.oid)
    if not found:
        raise UnknownName(
            f"No foreign key leads from {child.identifier} to {parent.identifier}.",
            hint=f"ALTER TABLE {child.identifier} ADD FOREIGN KEY (...) REFERENCES {parent.identifier};",
        )
    meant = [
        key
        for key in found
        if (request.columns is None or sorted(request.columns) == sorted(key["columns"]))
        and request.foreign_key in (None, key["name"])
    ]
    choices = "; ".join(f"{Identifier((key['name'],))} ({', '.join(key['columns'])})" for key in found)
    if not meant:
        given = request.foreign_key if request.columns is None else ", ".join(request.columns)
        raise UnknownName(
            f"No foreign key {as_given(given)} leads from {child.identifier} to {parent.identifier}.",
            detail=f"There are: {choices}.",
            hint="Name one by its columns or its name.",
        )
    if len({tuple(key["columns"]) for key in meant}) > 1:
        raise InputError(
            f"Several foreign keys lead from {child.identifier} to {parent.identifier}.",
            detail=f"They are: {choices}.",
            hint=f"Name the columns of one: columns => '{{{','.join(meant[0]['columns'])}}}'.",
        )
    sound = [key for key in meant if key["validated"]]
    return (sound or meant)[0]


def _require_sound(child: RelationFacts, parent: RelationFacts, key: Row) -> None:
    """Refuse a foreign key that does not lead from every row to exactly one."""
    name = Identifier((key["name"],))
    if not key["validated"]:
        raise UnsuitableRelation(
            f"The foreign key {name} of {child.identifier} is not validated or not enforced, so it may lead "
            "to nobody.",
            hint=f"ALTER TABLE {child.identifier} VALIDATE CONSTRAINT {name};",
        )
    if key["nullable"]:
        column = Identifier((key["nullable"][0],))
        raise UnsuitableColumn(
            f"Column {column} of {child.identifier} may be NULL: such rows would be nobody's.",
            hint=f"ALTER TABLE {child.identifier} ALTER COLUMN {column} SET NOT NULL;",
        )
    if key["inherited"]:
        raise UnsuitableRelation(
            f"{child.identifier} or {parent.identifier} has inheritance children, for whose rows foreign "
            "keys do not hold.",
            hint="Use partitions, or link the children.",
        )
