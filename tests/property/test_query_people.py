"""An independent count of the people behind every row decides as the canonical SQL does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kanon_pg.queries.check.catalog import (
    CatalogSnapshot,
    Column,
    ColumnRole,
    Protection,
    Relation,
    RelationKind,
)
from kanon_pg.queries.check.checker import Options, check
from tests.fixtures.databases import Server
from tests.fixtures.examples import examples

K = 3


@dataclass(frozen=True)
class Row:
    """A row of the protected table."""

    person: int
    a: str
    b: int
    x: int | None
    c: int = 1


CATALOG = CatalogSnapshot(
    (
        Relation(
            1,
            "public",
            "facts",
            RelationKind.TABLE,
            (
                Column("person", "int4", nullable=False, role=ColumnRole.IDENTIFIER),
                Column("a", "text", nullable=False),
                Column("b", "int4", nullable=False),
                Column("x", "int4", role=ColumnRole.SENSITIVE),
                Column("c", "int4", nullable=False, role=ColumnRole.SENSITIVE),
            ),
            Protection(K, "person"),
        ),
    )
)
CONDITIONS: dict[str, Callable[[Row], bool]] = {
    "true": lambda row: True,
    "b > 1": lambda row: row.b > 1,
    "a = 'u' or b = 0": lambda row: row.a == "u" or row.b == 0,
    "x is not null and x > 2": lambda row: row.x is not None and row.x > 2,
    "not (a = 'v' and b = 2)": lambda row: not (row.a == "v" and row.b == 2),
}
KEYS: dict[str, Callable[[Row], Any]] = {
    "a": lambda row: row.a,
    "b": lambda row: row.b,
    "b % 2 = 0": lambda row: row.b % 2 == 0,
    "case when b > 1 then a else 'low' end": lambda row: row.a if row.b > 1 else "low",
}
ROWS = st.lists(
    st.builds(
        Row, st.integers(1, 12), st.sampled_from("uvw"), st.integers(0, 3), st.none() | st.integers(0, 4)
    ),
    max_size=40,
)
CHOSEN = st.lists(st.sampled_from(sorted(KEYS)), unique=True, max_size=2)
CONDITION = st.sampled_from(sorted(CONDITIONS))


@pytest.fixture(scope="module")
def facts(server: Server) -> Iterator[psycopg.Connection[Any]]:
    with server.database("query_people") as name, psycopg.connect(server.dsn(name), autocommit=True) as made:
        made.execute(
            "create table facts (person int not null, a text not null, b int not null, x int, c int not null)"
        )
        yield made


def people(rows: list[Row]) -> int:
    return len({row.person for row in rows})


def answered(connection: psycopg.Connection[Any], rows: list[Row], text: str, options: Options) -> Any:
    """Return the rows that would be shown, or None for a refusal."""
    verdict = check(text, CATALOG, options)
    assert verdict.accepted, verdict.findings
    with connection.transaction(force_rollback=True):
        with connection.cursor() as cursor:
            values = [(row.person, row.a, row.b, row.x, row.c) for row in rows]
            cursor.executemany("insert into facts values (%s, %s, %s, %s, %s)", values)
        connection.execute("set local search_path = pg_catalog, pg_temp")
        found = psycopg.RawCursor(connection).execute((verdict.canonical_sql or "").encode()).fetchall()
    width = len(verdict.outputs)
    minimums = [hidden.minimum for hidden in verdict.hidden]
    if verdict.empty_refused and not found:
        return None
    counts = [list(zip(row[width:], minimums, strict=True)) for row in found]
    if any(value is None or value < minimum for row in counts for value, minimum in row):
        return None
    return sorted((row[:width] for row in found), key=repr)


def grouped(rows: list[Row], keys: list[str], condition: str) -> dict[tuple[Any, ...], list[Row]]:
    groups: dict[tuple[Any, ...], list[Row]] = {} if keys else {(): []}
    for row in rows:
        if CONDITIONS[condition](row):
            groups.setdefault(tuple(KEYS[key](row) for key in keys), []).append(row)
    return groups


def query(keys: list[str], condition: str, condition_of_filter: str) -> str:
    outputs = [*keys, "count(*)", f"count(*) filter (where {condition_of_filter})"]
    grouping = f" group by {', '.join(str(place + 1) for place in range(len(keys)))}" if keys else ""
    return f"select {', '.join(outputs)} from facts where {condition}{grouping}"


def sets_of(rows: list[Row], condition: str) -> tuple[list[Row], list[Row], list[Row]]:
    taken = [row for row in rows if CONDITIONS[condition](row)]
    return rows, taken, [row for row in rows if row not in taken]


@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ROWS, CHOSEN, CONDITION, CONDITION)
def test_one_row_with_too_few_people_refuses_all(
    facts: psycopg.Connection[Any], rows: list[Row], keys: list[str], where: str, filtered: str
) -> None:
    groups = grouped(rows, keys, where)
    expected = []
    backed = bool(groups)
    for key, members in groups.items():
        everyone, taken, left_out = sets_of(members, filtered)
        backed &= people(everyone) >= K and people(taken) >= K and not 0 < people(left_out) < K
        expected.append((*key, len(everyone), len(taken)))
    found = answered(facts, rows, query(keys, where, filtered), Options())
    assert found == (sorted(expected, key=repr) if backed else None)


@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ROWS, CHOSEN, CONDITION, CONDITION)
def test_what_is_left_out_is_nobody_or_enough(
    facts: psycopg.Connection[Any], rows: list[Row], keys: list[str], where: str, filtered: str
) -> None:
    groups = grouped(rows, keys, where)
    options = Options(mode="suppress")
    found = answered(facts, rows, query(keys, where, filtered), options)
    assert found is not None
    shown = {row[: len(keys)]: row[len(keys) :] for row in found}
    for key, figures in shown.items():
        everyone, taken, left_out = sets_of(groups[key], filtered)
        assert figures == (len(everyone), len(taken))
        assert min(people(everyone), people(taken), people(left_out)) >= K
    hidden = [row for key, members in groups.items() if key not in shown for row in members]
    if shown:
        assert all(not 0 < people(part) < K for part in sets_of(hidden, filtered))
