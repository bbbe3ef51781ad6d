"""Tables of a release's own that say what is published of each value at each level, and what it costs.

Values that came after the release was made are unknown to them; a view counts these.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from kanon_pg.core.generalization import PackedHierarchy
from kanon_pg.core.hierarchy import names_with_two_meanings, two_meanings
from kanon_pg.core.packed import PackedRowTypes
from kanon_pg.db.identifiers import Fragment, Identifier, Literal, derived_name
from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.readers import gather_statistics
from kanon_pg.db.statements import render, statement
from kanon_pg.errors import DatabaseError, InputError, ReleaseBusy, UnsuitableColumn
from kanon_pg.relations.canonical import CanonicalColumn
from kanon_pg.release.plan.generalized import GeneralizedColumn, node_parts, values_of_other_type
from kanon_pg.release.plan.planning import ReleasePlan
from kanon_pg.release.plan.record import ReleaseRecord
from kanon_pg.release.publish.storage import StorageNames

_DATA_EXCEPTION, _INTEGRITY, _CANNOT_COERCE = "22", "23", "42846"


Hierarchies = tuple[PackedHierarchy | None, ...]
"""Per quasi-identifier its hierarchy, None if its cells are only suppressed; empty if none has one."""


def write_hierarchies(db: Database, plan: ReleasePlan, tables: tuple[Identifier, ...]) -> Hierarchies:
    """Copy the hierarchies of a release into tables of its own and return them as solvers see them.

    Raises
    ------
    UnsuitableColumn
        If a hierarchy does not fit its column.
    """
    if not plan.generalized:
        return ()
    db.progress("copying hierarchies")
    for generalized, table in zip(plan.generalized, tables, strict=True):
        create_node_table(db, generalized, table)
    return packed_hierarchies(db, plan, tables)


def packed_hierarchies(db: Database, plan: ReleasePlan, tables: tuple[Identifier, ...]) -> Hierarchies:
    """Return the hierarchies of a release, from tables of its own, as solvers see them.

    Raises
    ------
    UnsuitableColumn
        If a hierarchy does not fit its column.
    """
    if not plan.generalized:
        return ()
    packed = {
        generalized.number: packed_hierarchy(db, generalized, table)
        for generalized, table in zip(plan.generalized, tables, strict=True)
    }
    return tuple(packed.get(number) for number, _ in enumerate(plan.quasi_identifiers, 1))


def with_hierarchies(
    plan: ReleasePlan, row_types: PackedRowTypes, hierarchies: Hierarchies
) -> PackedRowTypes:
    """Give row types their hierarchies, which must know every value.

    Raises
    ------
    InputError
        With the column and the number of values that its hierarchy lacks.
    """
    if not hierarchies:
        return row_types
    require_complete(plan, row_types, hierarchies)
    return replace(row_types, hierarchies=hierarchies)


def drop_hierarchies(db: Database, record: ReleaseRecord) -> None:
    """Drop what a release has of hierarchies, after its storage."""
    if record.unknown is not None:
        db.execute(statement("drop_view", view=record.unknown))
    for table in record.nodes:
        db.execute(statement("drop_table", table=table))


def create_node_table(db: Database, generalized: GeneralizedColumn, table: Identifier) -> None:
    """Copy a hierarchy into a table of the release, with the types of column and output.

    Raises
    ------
    UnsuitableColumn
        If values or nodes are not of their types, or two values are equal in the column's type.
    """
    parts: dict[str, Any] = {
        "table": table,
        "nodes": node_parts(generalized),
        "type": Fragment(generalized.column.facts.undomained),
        "published": generalized.published_type,
    }
    db.execute(statement("create_values", **parts))
    if generalized.source is not None:
        _fill(db, generalized, parts, generalized.source)
    else:
        given = Identifier.of("kanon", derived_name(table.name, "given"))
        db.execute(statement("create_given", table=given))
        db.execute(statement("fill_given", table=given), generalized.rows)
        _fill(db, generalized, parts, Fragment(f"SELECT value, nodes FROM {given}"))
        db.execute(statement("drop_table", table=given))
    gather_statistics(db, table)


def _fill(db: Database, generalized: GeneralizedColumn, parts: dict[str, Any], source: Fragment) -> None:
    column = generalized.column
    body = render(
        "bind_block",
        **parts,
        source=source,
        column=column.facts.identifier,
        label=Literal(column.facts.name),
        spelled=column.expression,
        value_as_node=generalized.value_as_node,
        plain=_without_length(generalized),
    )
    try:
        with db.savepoint():
            db.execute(statement("bind_values", body=Literal(body.text)))
    except DatabaseError as error:
        raise _explained(error, generalized) from error


def _without_length(generalized: GeneralizedColumn) -> Identifier | None:
    """The type below a length or a precision, which an input function may cut values to without a word."""
    facts = generalized.column.facts
    return Identifier.of("pg_catalog", facts.base_type) if facts.has_typmod else None


def _explained(error: DatabaseError, generalized: GeneralizedColumn) -> Exception:
    state, column = error.server_state or "", generalized.column
    if state.startswith(_INTEGRITY):
        return UnsuitableColumn(
            f"The hierarchy of column {column.output} has values that are equal in the column's type "
            f"{column.facts.type}, or that it forbids.",
            hint="Give each value once, in the spelling of the column's type.",
        )
    if state.startswith(_DATA_EXCEPTION) or state == _CANNOT_COERCE:
        return values_of_other_type(column, f", or nodes that are not of type {generalized.output}")
    return error


def packed_hierarchy(db: Database, generalized: GeneralizedColumn, table: Identifier) -> PackedHierarchy:
    """Return a hierarchy as solvers see it: with NULL, which is a value that stays itself below the top.

    Raises
    ------
    UnsuitableColumn
        If values may be published at level 0 and look alike there, or nodes that neither holds the other
        have one name at different levels that may be published.
    """
    column = generalized.column
    value = type(column)(column.facts, Identifier.of("value"))
    nodes = node_parts(generalized)
    found = db.row(
        statement(
            "describe_values",
            table=table,
            nodes=nodes,
            identity=value.identity("known"),
        )
    )
    if generalized.requested.lowest == 0 and found["published"] < found["n"]:
        raise UnsuitableColumn(
            f"Different values of column {column.output} look alike as {generalized.output}.",
            hint='Publish it from level 1 on: {"lowest": 1}, or take a hierarchy with another output type.',
        )
    _require_one_meaning(generalized, found)
    null, tops = found["null_cell"], generalized.null_losses()
    levels = range(generalized.height)
    losses = [found[f"loss_{level}"] + struct.pack(">d", tops[level]) for level in levels]
    return PackedHierarchy(
        height=generalized.height,
        cells=found["cells"] + null,
        nodes=tuple(found[f"level_{level}"] + null for level in levels if level > 0),
        losses=(*losses, struct.pack(">d", tops[-1]) * (found["n"] + 1)),
        lowest=generalized.requested.lowest,
    )


def _require_one_meaning(generalized: GeneralizedColumn, found: Row) -> None:
    """Refuse what `hierarchy_of` refuses now, in hierarchies that were stored before it did."""
    levels = range(generalized.requested.lowest, generalized.height)
    count = names_with_two_meanings([_numbers(found[f"level_{level}"]) for level in levels])
    if count:
        raise UnsuitableColumn(
            two_meanings(count, f"the hierarchy of column {generalized.column.output}"),
            hint="Store it anew with different names, or publish from a higher level on.",
        )


def require_complete(plan: ReleasePlan, row_types: PackedRowTypes, hierarchies: Hierarchies) -> None:
    """Refuse hierarchies that lack values of the table, which was counted already.

    Raises
    ------
    InputError
        With the column and the number of values.
    """
    for column, cells, hierarchy in zip(plan.quasi_identifiers, row_types.cells, hierarchies, strict=True):
        if hierarchy is None:
            continue
        missing = len(_identities(cells) - _identities(hierarchy.cells))
        if missing and plan.people is not None and column.facts.name in plan.people.hierarchies:
            raise ReleaseBusy(
                "The linked tables changed during the call.",
                hint="Run it again, in a transaction that sees one state of them: BEGIN ISOLATION LEVEL "
                "REPEATABLE READ.",
            )
        if missing:
            raise InputError(
                f"The hierarchy of column {column.output} lacks {missing} of the values that the column has.",
                hint=f"Complete the hierarchy, or build it anew from the column.{_listing(plan, column)}",
            )


def _listing(plan: ReleasePlan, column: CanonicalColumn) -> str:
    """Return the sentence that names what lists missing values; none for a hierarchy that has no name."""
    name = next(one.requested.hierarchy for one in plan.generalized if one.column is column)
    return "" if name is None else _which(name, plan.base.identifier, column.output)


def _which(hierarchy: str, relation: Identifier, column: Identifier) -> str:
    arguments = ", ".join(str(Literal(one)) for one in (hierarchy, str(relation), column.name))
    return f" SELECT * FROM kanon_hierarchy_missing({arguments}) lists them."


def _identities(cells: bytes) -> set[int]:
    return set(_numbers(cells))


def _numbers(cells: bytes) -> array[int]:
    numbers = array("q")
    numbers.frombytes(cells)
    return numbers


def mark_seen(
    db: Database, plan: ReleasePlan, tables: Sequence[Identifier], rows: Fragment, *, spelled: bool = False
) -> None:
    """Note which values rows have: these are somebody's, and `forget_values` removes them with the last row.

    Parameters
    ----------
    rows : Fragment
        What has the rows, for FROM, with the columns of the base relation.
    spelled : bool
        Whether their columns have one spelling for each value and the names of that.
    """
    for generalized, table in zip(plan.generalized, tables, strict=True):
        db.execute(statement("mark_seen", **_value_parts(generalized, table, rows, spelled=spelled)))


def forget_values(
    db: Database, plan: ReleasePlan, tables: Sequence[Identifier], rows: Fragment, *, spelled: bool = False
) -> None:
    """Remove values that rows had and none has any more, from a release and the hierarchies that it names.

    Which of them a person had is not known: of somebody who left there are hashes and what was published.
    Values that no row ever had stay.
    """
    for generalized, table in zip(plan.generalized, tables, strict=True):
        parts = _value_parts(generalized, table, rows, spelled=spelled)
        name = generalized.column.facts.name
        try:
            with db.savepoint():
                found = db.row(statement("forget_values", **parts, typed=True), plan.name, name)
        except DatabaseError as error:
            # a later version of the hierarchy need not fit the column
            if not (error.server_state or "").startswith(_DATA_EXCEPTION):
                raise
            found = db.row(statement("forget_values", **parts, typed=False), plan.name, name)
        db.execute(statement("analyze", relation=table))
        if found["stored"]:
            db.execute(statement("hierarchy_recount"), found["hierarchy"])
        if found["gone"]:
            also = f" and from hierarchy {Identifier.of(found['hierarchy'])}" if found["stored"] else ""
            db.notice(
                f"{found['gone']} values of column {generalized.column.output} that no row has any more were "
                f"removed from {plan.view}{also}. Where rows may come with them again, store the hierarchy "
                "anew and publish anew."
            )


def _value_parts(
    generalized: GeneralizedColumn, table: Identifier, rows: Fragment, *, spelled: bool
) -> dict[str, Any]:
    column = generalized.column
    return {
        "table": table,
        "relation": rows,
        "known": generalized.known,
        "knows": generalized.knows(f"base.{column.alias}"),
        "column": column.facts.identifier,
        "expression": column.expression,
        "spelled": column.alias if spelled else column.expression,
        "alias": column.alias,
    }


def create_unknown_view(
    db: Database, plan: ReleasePlan, names: StorageNames, *, over_time: bool = False
) -> None:
    """Create the view that counts, at any time, rows with values that the hierarchies do not know.

    Parameters
    ----------
    over_time : bool
        Whether the source has columns as the base relation calls them.
    """
    if names.unknown is None:
        return
    is_plain = over_time or names.source is None
    parts = [
        {
            "alias": g.column.alias,
            "expression": g.column.expression if is_plain else g.column.alias,
            "known": g.known,
            "knows": g.knows(f"base.{g.column.alias}"),
            "count": Identifier.of(f"unknown_{position}"),
            "table": table,
        }
        for position, (g, table) in enumerate(zip(plan.generalized, names.nodes, strict=True))
    ]
    source = plan.base.identifier if names.source is None else Fragment(f"{names.source}()")
    db.execute(statement("create_unknown", view=names.unknown, relation=source, generalized=parts))


def notice_unknown(db: Database, record: ReleaseRecord, base: Identifier, *, over_time: bool = False) -> None:
    """Say of which columns a refresh suppressed values that their hierarchies do not know, or let them wait.

    Parameters
    ----------
    over_time : bool
        Whether it is one over time, whose rows with such values never enter.
    """
    outcome = "they are suppressed. Publish the release anew"
    if over_time:
        outcome = (
            """they wait for good. Start a new series ('{"over_time": {"new_series": true}}' in options)"""
        )
    if record.unknown is None:
        return
    counts = db.row(statement("count_unknown", view=record.unknown))
    named = {row["name"]: row["hierarchy"] for row in db.rows(statement("named_hierarchies"), record.name)}
    for position, name in enumerate(record.generalized):
        unknown = counts[f"unknown_{position}"]
        if unknown and record.people_view is not None and name not in named:
            db.notice(
                f"{unknown} people have values of {Identifier.of(name)} that were not there when it was "
                "published; they are suppressed, and rows with them are left out. Publish it anew with "
                "kanon_anonymize."
            )
        elif unknown:
            db.notice(
                f"{unknown} rows have values of column {Identifier.of(name)} that its hierarchy does not "
                f"know; {outcome} with a hierarchy that has these values."
                + (_which(named[name], base, Identifier.of(name)) if name in named else "")
            )
