"""Reads a hierarchy from a table: a column per level, or entries with their parents."""

from __future__ import annotations

from typing import Any

from kanon_pg.core.hierarchy import MAX_VALUES, hierarchy_of
from kanon_pg.db.catalog import ColumnFacts, RelationFacts
from kanon_pg.db.identifiers import Identifier
from kanon_pg.db.protocol import Database
from kanon_pg.db.queries import statement
from kanon_pg.errors import InputError
from kanon_pg.hierarchies.definition import HierarchyDefinition, StoringOptions, take_storing_options
from kanon_pg.hierarchies.ranges import ELEMENTS, TEXT
from kanon_pg.hierarchies.spec import Spec
from kanon_pg.hierarchies.taxonomy import taxonomy

_MOST_ENTRIES = 2 * MAX_VALUES


def read_table(db: Database, relation: RelationFacts, options: Any = None) -> HierarchyDefinition:
    """Read a hierarchy from a table or view.

    Parameters
    ----------
    db : Database
        May read the relation; dates are written in ISO style.
    relation : RelationFacts
        Table or view.
    options : mapping, optional
        ``columns``: the column of the values and those of the levels, rising; all in the relation's order
        unless given. Or ``child`` and ``parent``: columns of a table of parents, with ``values`` 'leaves' or
        'all' and ``uneven`` 'refuse' or 'repeat', see `kanon_pg.hierarchies.taxonomy.taxonomy`. And
        those of `kanon_pg.hierarchies.definition.StoringOptions`.

    Returns
    -------
    HierarchyDefinition
        Checked; the output is a range type if all levels below the top are of that type.

    Raises
    ------
    InputError
        If the options do not fit the relation, or its rows are no hierarchy.
    """
    given = Spec(options, "options")
    child, parent = given.text("child"), given.text("parent")
    named = given.texts("columns")
    which, uneven = given.text("values", ("leaves", "all")), given.text("uneven", ("refuse", "repeat"))
    kept = take_storing_options(given)
    given.done()
    if child is None and parent is None:
        if which or uneven:
            raise InputError(
                '"values" and "uneven" are for tables with child and parent.', hint="Name both columns."
            )
        return _by_levels(db, relation, named, kept)
    if child is None or parent is None or named is not None:
        raise InputError(
            'A table of parents is given by "child" and "parent", without "columns".',
            hint='For example: {"child": "code", "parent": "belongs_to"}.',
        )
    rows = _rows(db, relation, (relation.column(child), relation.column(parent)))
    hierarchy = taxonomy(((a, b) for a, b in rows), with_inner=which == "all", repeats=uneven == "repeat")
    return HierarchyDefinition(hierarchy, TEXT, "taxonomy", _source(relation), kept)


def _by_levels(
    db: Database, relation: RelationFacts, named: list[str] | None, kept: StoringOptions
) -> HierarchyDefinition:
    columns = relation.columns if named is None else tuple(relation.column(name) for name in named)
    if not columns:
        raise InputError('"columns" must name at least the column of the values.', hint="Or leave it out.")
    hierarchy = hierarchy_of(_rows(db, relation, columns))
    kinds = {column.base_type for column in columns[1 : hierarchy.height]}
    output = kinds.pop() if len(kinds) == 1 else TEXT
    return HierarchyDefinition(
        hierarchy, output if output in ELEMENTS else TEXT, "table", _source(relation), kept
    )


def _rows(db: Database, relation: RelationFacts, columns: tuple[ColumnFacts, ...]) -> list[list[str | None]]:
    numbered = [(f"c{number}", column) for number, column in enumerate(columns)]
    command = statement(
        "hierarchy_table_rows",
        relation=relation.identifier,
        columns=[{"name": column.identifier, "alias": Identifier.of(alias)} for alias, column in numbered],
        most=_MOST_ENTRIES + 1,
    )
    found = db.rows_once(command)
    if len(found) > _MOST_ENTRIES:
        raise InputError(
            f"{relation.identifier} has more than {_MOST_ENTRIES:,} rows.",
            hint="A hierarchy of so many entries is no use; leave out by a view what no column has.",
        )
    return [[row[alias] for alias, _ in numbered] for row in found]


def _source(relation: RelationFacts) -> dict[str, str]:
    return {"relation": str(relation.identifier)}
