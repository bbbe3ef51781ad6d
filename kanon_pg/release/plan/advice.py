"""Notices for data owners about roles of columns that are probably not what they mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kanon_pg.db.catalog import ColumnFacts, RelationFacts, has_equality
from kanon_pg.db.citus import reads_tables_of_citus
from kanon_pg.db.identifiers import Identifier, Literal
from kanon_pg.db.protocol import Database
from kanon_pg.db.readers import reading
from kanon_pg.db.statements import statement
from kanon_pg.relations.canonical import as_seen
from kanon_pg.relations.subject import stored_declaration
from kanon_pg.release.plan.record import ReleaseRecord

_ROWS_LOOKED_AT = 100_000
_FEWEST_ROWS = 100
"""Of fewer rows it is no surprise that nearly all differ."""

_NEARLY_ALL = 0.9


def notice_undeclared(db: Database, relation: RelationFacts) -> None:
    """Say that roles were guessed, and how to find better ones."""
    db.notice(
        f"The roles of {relation.identifier}'s columns are not declared: all but keys count as "
        "quasi-identifiers, and each row as a person. "
        "SELECT * FROM kanon_suggest(...); proposes roles, SELECT kanon_declare(...); records them."
    )


def notice_repeated_identifiers(db: Database, relation: RelationFacts, identifiers: Sequence[str]) -> None:
    """Say which identifiers repeat, because people may have several rows then.

    Looks at 100,000 rows at most; a repetition that shows only in more of them is not found.

    Parameters
    ----------
    identifiers : sequence of str
        Names of its columns that are declared as identifiers, while no column is the entity.
    """
    columns = [c for c in map(relation.column, identifiers) if not c.is_key and has_equality(db, (c,))]
    if not columns or _rows_are_elsewhere(db, relation):
        return
    found = _columns_found_by(db, "repeated_identifiers", relation, columns)
    repeated = [column for column, repeats in zip(columns, found, strict=True) if repeats]
    if len(repeated) == 1:
        column = repeated[0]
        db.notice(
            f"Column {column.identifier} is declared as an identifier and repeats. If it names people, "
            f"declare it as entity => {Literal(column.name)}, too: else each row counts as a person."
        )
    elif repeated:
        names = ", ".join(str(column.identifier) for column in repeated)
        db.notice(
            f"Columns {names} are declared as identifiers and repeat. "
            "If one of them names people, declare it as the entity, too: else each row counts as a person."
        )


def notice_unique_published(
    db: Database, relation: RelationFacts, published: Sequence[ColumnFacts], sensitive: Sequence[ColumnFacts]
) -> None:
    """Say which published columns have a value of their own in nearly every row: they identify rows then.

    Looks at 100,000 rows at most.

    Parameters
    ----------
    published : sequence of ColumnFacts
        Columns that are published as they are.
    sensitive : sequence of ColumnFacts
        Those of them that are sensitive.
    """
    columns = list(published)
    if not columns or _rows_are_elsewhere(db, relation):
        return
    found = _columns_found_by(db, "distinct_values", relation, columns)
    for column, (values, distinct) in zip(columns, found, strict=True):
        if values >= _FEWEST_ROWS and distinct >= _NEARLY_ALL * values:
            role = "Sensitive" if column in sensitive else "Insensitive"
            db.notice(
                f"{role} column {column.identifier} has a value of its own in nearly every row, and is "
                "published as it is: who knows a value finds the row. Publish it coarser (a view that rounds "
                "it as the base), declare it as a quasi-identifier, or leave it out."
            )


def notice_empty(db: Database, base: RelationFacts, release: Identifier) -> None:
    """Say that a base relation is empty, if it is, so that a release that was brought up to date is, too.

    Publishing an empty relation is refused; that it was emptied later may be meant.
    """
    with reading(db, base):
        (found,) = db.read(statement("is_empty", relation=base.identifier))
    if found["empty"]:
        db.notice(
            f"{base.identifier} is empty, so {release} shows no rows. If a load has failed, load the data "
            "and call kanon_refresh again."
        )


def notice_redeclared(db: Database, base: RelationFacts, record: ReleaseRecord) -> None:
    """Say that a release is brought up to date by roles that its table's declaration contradicts by now.

    Columns that were renamed since are passed over: declaration or record knows them by other names.
    """
    declared = stored_declaration(db, base)
    if declared is None:
        return
    names = {column.name for column in base.columns}
    hidden = [
        name
        for name in record.published
        if name in names and name in (*declared.identifiers, declared.entity)
    ]
    found = []
    if hidden:
        columns = ", ".join(str(Identifier.of(name)) for name in hidden)
        found.append(f"shows {columns}, by now declared to identify people")
    if declared.entity != record.entity and {declared.entity, record.entity} <= {*names, None}:
        found.append(f"counts {_counted(record.entity)} instead of {_counted(declared.entity)}")
    if found:
        name = Literal(record.name)
        db.notice(
            f"Release {Identifier.of(record.name)} still {', and '.join(found)}: a refresh keeps the "
            "roles of when it was published. Publish it anew with kanon_anonymize, or take it back: "
            f"SELECT kanon_drop({name});"
        )


def _counted(entity: str | None) -> str:
    return "rows" if entity is None else f"people by {Identifier.of(entity)}"


def _rows_are_elsewhere(db: Database, relation: RelationFacts) -> bool:
    """Whether looking at some rows would bring them here from other nodes."""
    return reads_tables_of_citus(db, relation.oid)


def _columns_found_by(
    db: Database, query: str, relation: RelationFacts, columns: Sequence[ColumnFacts]
) -> list[Any]:
    """Return what a query says of each column, by looking at some rows."""
    aliases = [Identifier.of(f"c{number}") for number in range(len(columns))]
    command = statement(
        query,
        relation=relation.source,
        rows=_ROWS_LOOKED_AT,
        columns=[
            {"name": c.identifier, "seen": as_seen(db, c), "alias": a}
            for c, a in zip(columns, aliases, strict=True)
        ],
    )
    with reading(db, relation):
        (found,) = db.read(command)
    return [found[alias.name] for alias in aliases]
