"""Publishes the further tables of linked ones: rows of published people, with pseudonyms as keys.

A table is stored with the rows that are shown. Their number for each person is what the person's class says:
a class of which somebody has other rows by now shows none. What was stored before the person table was
refreshed last, or before the table that it hangs on was, is not shown, so that a refresh of a single view
shows less or the same, whichever it is.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kanon_pg.db.catalog import RelationFacts, describe, describe_readable
from kanon_pg.db.identifiers import Fragment, Identifier, Literal, derived_name
from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.readers import SCHEMA as BASES_SCHEMA
from kanon_pg.db.readers import define_base, drop_base, gather_statistics, require_reader
from kanon_pg.db.statements import render, statement
from kanon_pg.errors import UnsuitableRelation
from kanon_pg.relations.canonical import CanonicalColumn
from kanon_pg.relations.subject import SUPPRESSED_COLUMN, Subject
from kanon_pg.release.linked.figures import there
from kanon_pg.release.linked.people import PeopleOfTables, there_of
from kanon_pg.release.linked.tables import LinkedTable, linked_rows
from kanon_pg.release.plan.base import OWNER
from kanon_pg.release.plan.planning import ReleasePlan, with_people
from kanon_pg.release.plan.pseudonyms import order_secret
from kanon_pg.release.plan.record import ReleaseRecord
from kanon_pg.release.publish.storage import model_checks, model_parts
from kanon_pg.release.publish.view import drop_storage, drop_view, name_storage, share_rights, show_view


@dataclass(frozen=True, slots=True)
class StoredTable:
    """A further table of a release as it is stored."""

    table: LinkedTable
    """What it is."""
    view: Identifier
    storage: Identifier
    source: Identifier
    """`view`, `storage`, `source`: the view that analysts read, the materialized view behind it, and what
    that reads."""
    columns: tuple[str, ...]
    """Published columns, in the table's order."""


def store_tables(
    db: Database, people: PeopleOfTables, plan: ReleasePlan, storage: Identifier
) -> tuple[StoredTable, ...]:
    """Create and fill the storages of all further tables.

    Parameters
    ----------
    storage : Identifier
        That of the person table.
    """
    person = Identifier.of(next(iter(people.planned.pseudonyms)))
    db.execute(statement("linked/unique", storage=storage, key=person))
    stored: dict[int, StoredTable] = {}
    reader = require_reader(db, plan.base)
    for table in people.group.tables:
        db.progress("writing linked tables")
        name = people.names[table.facts.oid]
        fresh = derived_name(people.planned.view.name, name)
        source, own = Identifier.of(BASES_SCHEMA, fresh), Identifier.of("kanon", fresh)
        columns = {f"c{number}": Fragment(str(one.identifier)) for number, one in enumerate(table.shown, 1)}
        columns |= {f"k{distance}": table.key_of(own) for distance, own in _further(table)}
        columns |= {one.alias.name: one.expression for one in people.constrained(table)}
        text = Fragment(f"SELECT * FROM {linked_rows(table, columns)} AS t")
        rows = db.row(statement("estimate_rows"), str(table.facts.identifier))["rows"]
        define_base(db, reader, source, text, rows=rows)
        parent = stored.get(table.parent.facts.oid) if table.parent is not None else None
        constrained = people.constrained(table)
        shown = _columns(table, constrained)
        db.execute(
            statement(
                "linked/create_rows",
                **_rows_parts(people, plan, table, storage),
                storage=own,
                source=source,
                parent_storage=None if parent is None else parent.storage,
                columns=[{"name": Identifier.of(name), "value": value} for name, value in shown],
            )
        )
        if table.key:
            db.execute(statement("linked/unique", storage=own, key=Identifier.of("kanon_row")))
        gather_statistics(db, own)
        view = Identifier.of("safe", name)
        names = [*(name for name, _ in shown), *([SUPPRESSED_COLUMN] if constrained else [])]
        stored[table.facts.oid] = StoredTable(table, view, own, source, tuple(names))
    return tuple(stored.values())


def _columns(table: LinkedTable, constrained: Sequence[CanonicalColumn]) -> list[tuple[str, Fragment]]:
    """Return the columns that are published of a table, in its order, with what each shows."""
    values = {one.name: Fragment(f"r.c{number}") for number, one in enumerate(table.shown, 1)}
    for one in constrained:
        cell = values[one.facts.name]
        values[one.facts.name] = Fragment(f"CASE WHEN r.{_holds(one)} THEN {cell} END")
    places = {above.facts.oid: number for number, above in enumerate(table.above, 1)}
    for name, of in table.pseudonyms().items():
        number = places.get(of.facts.oid)
        values[name] = Fragment("r.row_key") if number is None else Fragment(f"r.above_{number}")
    for distance, own in _further(table):  # a key that leads elsewhere by now is not shown
        for name in set(own) - {*table.up}:
            values[name] = Fragment(f"CASE WHEN {_agrees('r', distance)} THEN {values[name]} END")
    return [(column.name, values[column.name]) for column in table.facts.columns if column.name in values]


def _holds(column: CanonicalColumn) -> Identifier:
    """Return the name of what says whether a row's class satisfies the models in a column."""
    return Identifier.of(f"holds_{column.alias.name}")


def _agrees(row: str, distance: int) -> str:
    """Return whether a further foreign key of a row leads where its links do."""
    return f"{row}.k{distance} IS NOT DISTINCT FROM {row}.kanon_above_{distance}"


def _further(table: LinkedTable) -> list[tuple[int, tuple[str, ...]]]:
    """Return the foreign keys besides the link, and how far above is the table that each refers to."""
    places = {above.facts.oid: number for number, above in enumerate(table.above, 1)}
    return [(places[above.facts.oid], own) for above, own in table.references() if own != table.up]


def _rows_parts(
    people: PeopleOfTables, plan: ReleasePlan, table: LinkedTable, storage: Identifier
) -> dict[str, object]:
    group, figure = people.group, people.figure_of(table)
    person = next(iter(people.planned.pseudonyms))
    seed = render("linked/seed", secret=Literal(order_secret(people.secret)))
    parts: dict[str, object] = {
        "people": storage,
        "person": Identifier.of(person),
        "has_key": bool(table.key),
        "row_key": people.pseudonym(table, "s.kanon_key::text"),
        "place_key": Fragment(f'pg_catalog.hashtextextended(s.kanon_order::text COLLATE "C", {seed})'),
        "above": [
            {
                "name": Identifier.of(f"above_{number}"),
                "key": Identifier.of(f"kanon_above_{number}"),
                "value": people.pseudonym(above, f"d.kanon_above_{number}::text"),
            }
            for number, above in enumerate(table.above, 1)
        ],
        "person_key": Identifier.of(f"above_{table.depth}"),
        "parent_key": Identifier.of("above_1"),
        "agrees": Fragment(" AND ".join(["true", *(_agrees("s", n) for n, _ in _further(table))])),
        "there": None,
        **_model_parts(people, table),
    }
    if figure is None:
        return parts
    position = [column.facts.name for column in plan.quasi_identifiers].index(figure.name)
    fields = plan.levels
    level = f"(p.kanon_pattern >> {fields.offsets[position]}) & {(1 << fields.widths[position]) - 1}"
    now, nothing = there(table)
    return parts | {
        "there": Identifier.of(there_of(group, table)),
        "now_there": now,
        "nothing_there": nothing,
        "level": Fragment(level),
        "shown": figure.shown(table, "p.level", "d.siblings"),
    }


def _model_parts(people: PeopleOfTables, table: LinkedTable) -> dict[str, object]:
    """Return what the guard checks of a table: each constrained column in rows and in people."""
    constrained = people.constrained(table)
    checks = model_checks(constrained, has_entity=True)
    return {
        "models": model_parts(people.models),
        "model_checks": checks,
        "constrained": [
            {
                "holds": _holds(one),
                "label": Literal(one.facts.name),
                "satisfying": [check["satisfying"] for check in checks if check["value"] == one.alias],
            }
            for one in constrained
        ],
    }


def show_tables(
    db: Database,
    plan: ReleasePlan,
    people: PeopleOfTables,
    stored: Sequence[StoredTable],
    storage: Identifier,
) -> None:
    """Let the views that analysts read show the new storages from the commit on."""
    by_oid = {one.table.facts.oid: one for one in stored}
    for one in stored:
        chain = [by_oid[above.facts.oid].storage for above in one.table.above if above.parent is not None]
        create = statement(
            "linked/create_view",
            view=one.view,
            storage=one.storage,
            columns=[Identifier.of(name) for name in one.columns],
            chain=[*chain, storage],
        )
        comment = (
            f"Rows of {one.table.facts.identifier} whose people are in {plan.view}, a release made by "
            "kanon_pg; keys are pseudonyms."
        )
        is_new = not db.row(statement("view_exists"), one.view.name)["exists"]
        show_view(db, one.view, create, one.columns, comment=comment)
        if is_new:
            share_rights(db, one.view, of=plan.view)


def record_tables(db: Database, release: str, people: PeopleOfTables, stored: Sequence[StoredTable]) -> None:
    """Record the further tables."""
    views = {one.table.facts.oid: one.view.name for one in stored}
    views[people.group.people.facts.oid] = release
    for place, one in enumerate(stored, 1):
        table = one.table
        references = [
            {"columns": own, "view": views[above.facts.oid], "refers_to": above.key}
            for above, own in table.references()
        ]
        columns = {
            "release": release,
            "name": one.view.name,
            "relation": str(table.facts.oid),
            "place": place,
            "storage": str(one.storage),
            "source": str(one.source),
            "numbers_known": people.figure_of(table) is not None,
            "sensitive": [c.name for c in table.shown if c.name in table.roles.sensitive],
            "insensitive": [c.name for c in table.shown if c.name in table.roles.insensitive],
            "key_columns": table.key,
            "foreign_keys": references,
            "base_rows": 0,
            "rows": 0,
        }
        db.execute(statement("linked/store"), json.dumps(columns))


def count_tables(db: Database, release: str) -> None:
    """Count the rows of the further tables and of their views, record and say both."""
    for row in tables_of(db, release):
        if not row["is_shown"]:  # dropped by hand
            continue
        relation, view = Identifier.of(*row["relation_name"]), Identifier.of("safe", row["name"])
        shown = db.row(statement("count_rows", relation=view))["rows"]
        (there,) = db.read(statement("count_rows", relation=relation))
        db.execute(statement("linked/count"), release, row["name"], there["rows"], shown)
        if not row["numbers_known"]:
            db.notice(
                f"{view} shows how many rows of {relation} a person has: nobody can know it, as was declared."
            )
        if row["has_models"]:
            hidden = db.row(statement("linked/suppressed_rows", view=view))["rows"]
            db.notice(
                f"{view} suppresses sensitive cells in {hidden} of {shown} rows, of classes that do not "
                "satisfy l, p or t."
            )
        if shown < there["rows"]:
            db.notice(
                f"{view} shows {shown} of {there['rows']} rows of {relation}: the others would show numbers "
                "that fewer than k people share, hang on rows that are not shown or have changed meanwhile, "
                "or are more than option rows allows."
            )


def tables_of(db: Database, release: str) -> Sequence[Row]:
    """Return what is recorded of the further tables of a release, in the order of publishing."""
    return db.rows(statement("linked/tables"), release)


def read_tables(db: Database, release: str) -> tuple[RelationFacts, ...]:
    """Return the further tables of a release that are there."""
    names = [row["relation_name"] for row in tables_of(db, release)]
    return tuple(describe(db, str(Identifier.of(*name)), OWNER) for name in names if name is not None)


def published_people(db: Database, record: ReleaseRecord, subject: Subject, role: str) -> Subject:
    """Return the base relation of a release as it reads it: with the people of linked tables in its place.

    Raises
    ------
    NotPermitted
        If the role may not read all of these tables.
    UnsuitableRelation
        If one of them was dropped.
    """
    if record.people_view is None:
        return subject
    for table in tables_of(db, record.name):
        if table["relation_name"] is None:
            raise UnsuitableRelation(
                f"The table behind {Identifier.of('safe', table['name'])} was dropped.",
                hint=f"Publish release {Identifier.of(record.name)} anew with kanon_anonymize, without it.",
            )
        describe_readable(db, str(Identifier.of(*table["relation_name"])), role)
    roles = None if subject.roles is None else replace(subject.roles, entity=None)
    return replace(subject, relation=with_people(db, record, subject.relation), roles=roles)


def forget_tables(db: Database, release: str) -> Sequence[Row]:
    """Remove what is recorded of the further tables of a release, and return it."""
    found = tables_of(db, release)
    db.execute(statement("linked/forget"), release)
    return found


def drop_tables(db: Database, tables: Sequence[Row], *, but: Sequence[str] | None = None) -> None:
    """Drop further tables of a release, before the person table's relations.

    Parameters
    ----------
    but : sequence of str, optional
        Views that stay, because they show something else by now; None if the release is dropped.
    """
    for row in reversed(tables):
        if row["name"] not in (but or ()) and row["is_shown"]:
            if but is not None:
                db.notice(
                    f"{Identifier.of('safe', row['name'])} is no longer published, and its rights are gone."
                )
            drop_view(db, Identifier.of("safe", row["name"]))
        if row["storage_name"] is not None:
            drop_storage(db, Identifier.of(*row["storage_name"]))
    for row in tables:  # dropping a table with CASCADE takes what reads it along
        if row["source_name"] is not None:
            drop_base(db, row["source_name"])


def refresh_tables(db: Database, release: str) -> None:
    """Fill the further tables anew, after the person table."""
    for row in tables_of(db, release):
        if row["storage_name"] is None:
            db.notice(
                f"{Identifier.of('safe', row['name'])} was dropped, with its table or a column that it "
                "showed. "
                "kanon_anonymize publishes what is left anew."
            )
            continue
        storage = Identifier.of(*row["storage_name"])
        db.execute(statement("refresh_storage", storage=storage))
        gather_statistics(db, storage)


def name_tables(db: Database, stored: Sequence[StoredTable]) -> None:
    """Give the new storages the names that those before had."""
    for one in stored:
        name_storage(db, one.view.name, one.storage)
