"""People whom known columns choose, where they follow from the groups of an answer and are not read."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from kanon_pg.queries.check.checker import Options, check
from kanon_pg.queries.check.verdict import EntitySet, Verdict
from tests.query.honest import HonestQuery, register_workload
from tests.query.snapshot import registers

TID_BYTES, HASH_BYTES = 6, 8


def unions(verdict: Verdict) -> list[tuple[EntitySet, EntitySet]]:
    """Return the known sets that are not read, each with the groups that they follow from."""
    groups = {item.level: item for item in verdict.entity_sets if item.kind == "groups"}
    return [(item, groups[item.level]) for item in verdict.entity_sets if item.union]


def rows_of(connection: psycopg.Connection[Any], item: EntitySet, values: list[Any]) -> set[bytes]:
    """Return the TIDs of all pieces, or the hashes of the contents of rows."""
    size = TID_BYTES if item.seed is None else HASH_BYTES
    values = [*values, *(["7"] if item.seed is not None else [])]
    connection.execute("set search_path = pg_catalog, pg_temp")
    found = psycopg.RawCursor(connection).execute(item.sql.encode(), values or None).fetchone()
    assert found is not None
    row_ids = bytes(found[3])
    return {row_ids[place : place + size] for place in range(0, len(row_ids), size)}


def with_unions() -> list[HonestQuery]:
    found = [query for query in register_workload() if unions(check(query.text, registers()))]
    assert len(found) > 10
    return found


@pytest.mark.parametrize("query", with_unions(), ids=lambda query: f"{query.author}: {query.name}")
def test_they_are_the_rows_of_all_groups(query: HonestQuery, bare_registers: psycopg.Connection[Any]) -> None:
    values = [None if item.value is None else str(item.value) for item in query.parameters]
    for known, groups in unions(check(query.text, registers())):
        assert rows_of(bare_registers, known, values) == rows_of(bare_registers, groups, values)


@pytest.mark.parametrize(
    "text",
    [
        # a sensitive condition leaves out people whom known columns choose
        "select ward, count(*) from stays where sex = 'f' and cost > 1000 group by ward",
        # several groups of known people
        "select sex, ward, count(*) from stays group by sex, ward",
        "select ward, count(*), count(*) filter (where sex = 'f') from stays group by ward",
    ],
)
def test_what_does_not_follow_is_read(text: str) -> None:
    assert not unions(check(text, registers()))


def test_groups_that_are_left_out_say_nothing_about_all() -> None:
    text = "select grade, count(*) from employees where site = 'north' group by grade"
    assert unions(check(text, registers()))
    assert not unions(check(text, registers(), Options(mode="suppress")))
