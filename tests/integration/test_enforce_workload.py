"""Honest queries through a real server: accepted as by the checker, and answered rightly."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import psycopg
import pytest

from kanon_pg.db.psycopg_adapter import PsycopgDatabase
from kanon_pg.queries.check.catalog import Relation
from kanon_pg.queries.check.checker import check
from kanon_pg.queries.load_catalog import READER, load_catalog
from tests.fixtures.queries import Guarded
from tests.query.harness import Answer, Refusal
from tests.query.honest import Expected, HonestQuery, workload
from tests.query.hospital import ADA, DECLARATIONS, DEPENDENT, FORBIDDEN, PUBLIC, SCHEMA
from tests.query.snapshot import hospital

NAMES = (*(made.table for made in DECLARATIONS), *DEPENDENT, *PUBLIC, *FORBIDDEN)


def named(query: HonestQuery) -> str:
    return f"{query.author}: {query.name}"


def asked(one: Guarded, query: HonestQuery) -> Answer | Refusal:
    return one.interface().ask(ADA, query.text, [parameter.value for parameter in query.parameters], 1)


Rows = list[tuple[str | None, ...]]


def comparable(rows: list[list[str | None]], types: list[str]) -> Rows:
    """Return rows in one order, numbers by value: floating point as exactly as any order of adding gives."""
    return sorted(
        (tuple(_by_value(cell, kind) for cell, kind in zip(row, types, strict=True)) for row in rows),
        key=repr,
    )


def _by_value(cell: str | None, kind: str) -> str | None:
    if cell is None:
        return None
    if kind.startswith("float"):
        return f"{float(cell):.9g}"
    # what is shown of people has one spelling for equal values
    return f"{Decimal(cell).normalize():f}" if kind == "numeric" else cell


def by_a_superuser(
    admin: psycopg.Connection[Any], query: HonestQuery, types: list[str]
) -> list[list[str | None]]:
    columns = [f"c{number}" for number in range(len(types))]
    texts = ", ".join(
        f"cast({column} as pg_catalog.{kind})::text" for column, kind in zip(columns, types, strict=True)
    )
    with admin.transaction(force_rollback=True):
        admin.execute(f"set local search_path = {SCHEMA}, public")
        admin.execute("set local datestyle = 'ISO, YMD'")
        cursor = psycopg.RawCursor(admin)
        texts_query = f"select array[{texts}] from ({query.text}) as q({', '.join(columns)})"
        cursor.execute(texts_query.encode(), [parameter.value for parameter in query.parameters] or None)
        return [row[0] for row in cursor.fetchall()]


@pytest.mark.parametrize("query", workload(), ids=named)
def test_an_honest_query_is_accepted_as_by_the_checker(query: HonestQuery, shared_hospital: Guarded) -> None:
    seen = asked(shared_hospital, query)
    accepted = check(query.text, hospital()).accepted
    assert accepted != (isinstance(seen, Refusal) and seen.explained)
    if query.expected is Expected.ANSWERED:
        assert isinstance(seen, Answer)


@pytest.mark.parametrize(
    "query", [one for one in workload() if one.expected is not Expected.REFUSED], ids=named
)
def test_an_answer_is_what_a_superuser_sees(query: HonestQuery, shared_hospital: Guarded) -> None:
    values = [parameter.value for parameter in query.parameters]
    if isinstance(shared_hospital.interface().ask(ADA, query.text, values, 1), Refusal):
        assert query.expected is not Expected.ANSWERED
        return
    ada = shared_hospital.sessions.of(ADA, 1)
    asked_for = ada.execute("select line from kanon.query_lines(%s, %s::text[])", [query.text, values])
    (_, types, *rows) = [row[0] for row in asked_for]
    expected = by_a_superuser(shared_hospital.admin, query, types)
    if "percentile" in query.text.lower():
        # means over people near in rank, which have a test of their own
        assert len(rows) == len(expected)
        return
    assert comparable(rows, types) == comparable(expected, types)


def loaded(one: Guarded) -> dict[str, Relation]:
    with psycopg.connect(one.dsn) as connection:
        connection.execute("set role kanon_reader")
        found = load_catalog(PsycopgDatabase(connection), " ".join(NAMES), (SCHEMA, "public"), ADA)
    return {relation.name: relation for relation in found.snapshot.relations}


def test_the_catalog_is_what_the_tests_of_the_checker_use(shared_hospital: Guarded) -> None:
    found = loaded(shared_hospital)
    expected = {relation.name: relation for relation in hospital().relations}
    assert found.keys() == expected.keys()
    for name, relation in expected.items():
        if relation.protection is not None and not relation.protection.declared:
            assert found[name].protection is not None
            assert not found[name].protection.declared  # type: ignore[union-attr]
            continue
        obstacle = found[name].obstacle
        if name in DEPENDENT and obstacle is not None:
            # the reading role may read the parent, not its parts: these can be asked through it only
            assert READER in obstacle.sentence
            continue
        there = replace(
            found[name],
            oid=relation.oid,
            # types without a collation have the number 0 in the catalog
            columns=tuple(replace(one, collation=one.collation or 100) for one in found[name].columns),
        )
        if name == "visits":
            # an inheritance child may repeat what is unique in its parent
            assert there.unique_keys == ()
            there = replace(there, unique_keys=relation.unique_keys)
        assert there == relation, name


def test_what_an_analyst_may_not_read_is_not_in_the_catalog(shared_hospital: Guarded) -> None:
    assert not set(FORBIDDEN) & loaded(shared_hospital).keys()
