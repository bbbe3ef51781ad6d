"""The people of a linked table: those of the row that its chain of links leads to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kanon_pg.db.catalog import ColumnFacts, RelationFacts, describe, require_readable
from kanon_pg.db.identifiers import Fragment, Identifier, Literal
from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.statements import render, statement
from kanon_pg.errors import UnsuitableRelation


@dataclass(frozen=True, slots=True)
class LinkedPeople:
    """Where the people of a linked table are found."""

    relation: RelationFacts
    person: tuple[str, ...]
    column: ColumnFacts
    """What tells them apart in `source`."""
    source: Identifier | Fragment
    """The linked table; or a subquery, with an alias, that has its columns and `column`."""


def linked_people(db: Database, relation: RelationFacts, role: str) -> LinkedPeople | None:
    """Return whose people the rows of a table are, None if it is not linked.

    Refused if the links lead to nobody any more, through a table with row-level security, or through columns
    that the role may not read.
    """
    way = db.rows(statement("way_to_people"), relation.oid)
    if not way:
        return None
    if way[0]["person"] is None:
        raise leads_to_nobody(relation)
    tables = [relation, *(describe(db, str(row["parent"]), role) for row in way)]
    for table, row, before in zip(tables[1:], way, tables, strict=False):
        require_readable(before, tuple(before.column(name) for name in row["columns"]), role)
        if table.row_security:
            raise UnsuitableRelation(
                f"{relation.identifier} is linked through {table.identifier}, which has row-level security: "
                "people could be missing.",
                hint="Link the table to one without it.",
            )
    end, person, steps = tables[-1], way[0]["person"], list(way)
    columns = [end.column(name) for name in person]
    referred = dict(zip(way[-1]["parent_columns"], way[-1]["columns"], strict=True))
    if set(person) <= set(referred):
        # the last foreign key says who it is
        steps.pop()
        columns = [tables[-2].column(referred[name]) for name in person]
    require_readable(tables[len(steps)], tuple(columns), role)
    if not steps and len(columns) == 1:
        return LinkedPeople(end, tuple(person), columns[0], relation.identifier)
    taken = {column.name for column in relation.columns}
    name = "kanon_person"
    while name in taken:
        name = f"{name}_"
    column = replace(columns[0], name=name) if len(columns) == 1 else _text(name)
    return LinkedPeople(end, tuple(person), column, _source(tables, steps, columns, name))


def _source(
    tables: Sequence[RelationFacts], steps: Sequence[Row], columns: Sequence[ColumnFacts], name: str
) -> Fragment:
    return render(
        "linked_rows",
        relation=tables[0].identifier,
        columns=[column.identifier for column in columns],
        person=Identifier.of(name),
        last=Identifier.of(f"t{len(steps)}"),
        steps=[
            {
                "relation": table.identifier,
                "child": Identifier.of(f"t{number}"),
                "alias": Identifier.of(f"t{number + 1}"),
                "pairs": [
                    {"column": Identifier.of(own), "parent": Identifier.of(other)}
                    for own, other in zip(step["columns"], step["parent_columns"], strict=True)
                ],
            }
            for number, (step, table) in enumerate(zip(steps, tables[1:], strict=False))
        ],
    )


def _text(name: str) -> ColumnFacts:
    """Return a column that has the texts of several."""
    return ColumnFacts(
        name=name,
        type="text",
        plain_type="text",
        base_type="text",
        base_kind="b",
        has_own_typmod=False,
        has_typmod=False,
        deterministic=True,
        collation_schema="pg_catalog",
        collation_name="default",
        selectable=True,
        is_key=False,
    )


def leads_to_nobody(relation: RelationFacts) -> UnsuitableRelation:
    """Return the refusal of a table whose link relies on what is there no more."""
    name = Literal(str(relation.identifier))
    return UnsuitableRelation(
        f"The link of {relation.identifier} leads to nobody any more, so its people cannot be counted.",
        detail="A foreign key of the chain was dropped or is not validated, one of its columns may be NULL, "
        "or the table at its end is not declared any more.",
        hint=f"Link it anew (kanon_link), or forget the link: SELECT kanon_unlink({name});",
    )
