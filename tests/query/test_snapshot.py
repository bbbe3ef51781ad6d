"""The snapshot that tests of the checker use is what the server's catalog says."""

from __future__ import annotations

from tests.query.conftest import Worlds
from tests.query.hospital import FORBIDDEN, SCHEMA
from tests.query.people import World
from tests.query.snapshot import hospital

_COLUMNS = """
    select c.relname, a.attname, t.typname, not a.attnotnull
    from pg_attribute a
    join pg_class c on c.oid = a.attrelid
    join pg_type t on t.oid = a.atttypid
    where c.relnamespace = %s::regnamespace and c.relkind in ('r', 'p', 'v', 'm') and a.attnum > 0
    order by c.relname, a.attnum
"""


def test_columns_are_those_of_the_catalog(bare_worlds: Worlds) -> None:
    found = bare_worlds[World.AS_IS].execute(_COLUMNS, [SCHEMA]).fetchall()
    expected = [
        (relation.name, column.name, column.type_name, column.nullable)
        for relation in hospital().relations
        for column in relation.columns
    ]
    assert [row for row in found if row[0] not in FORBIDDEN] == expected


def test_protection_follows_the_declarations() -> None:
    relations = {relation.name: relation for relation in hospital().relations}
    declared = {
        name for name, relation in relations.items() if relation.protection and relation.protection.declared
    }
    dependent = {name for name, relation in relations.items() if relation.protection} - declared
    assert declared >= {"patients", "visits", "lab_results", "stays", "lab_results_2023"}
    assert dependent == {"weather", "monthly_report"}
    assert not set(FORBIDDEN) & set(relations)
