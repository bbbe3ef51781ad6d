"""A percentile is the mean over the people nearest in rank, and the ledger gets exactly these."""

from __future__ import annotations

import math
import struct
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg.rows import dict_row
from pyroaring import BitMap

from kanon_pg.queries.check.catalog import (
    CatalogSnapshot,
    Column,
    ColumnRole,
    Protection,
    Relation,
    RelationKind,
)
from kanon_pg.queries.check.checker import Verdict, check
from kanon_pg.worker.ledger.answers import AnswerSets, Population
from kanon_pg.worker.ledger.disclosure import DisclosureHistory
from kanon_pg.worker.ledger.rules import LedgerRules, Mode
from tests.fixtures.databases import Server
from tests.fixtures.examples import examples
from tests.fixtures.tracking import singled_out

K = 3


@dataclass(frozen=True)
class Row:
    """A row of the protected table."""

    number: int
    person: int
    g: str
    x: int | None


def catalog(*, unique: bool) -> CatalogSnapshot:
    columns = (
        Column("number", "int4", nullable=False, role=ColumnRole.WITHHELD),
        Column("person", "int4", nullable=False, role=ColumnRole.IDENTIFIER),
        Column("g", "text", nullable=False),
        Column("x", "int4", role=ColumnRole.SENSITIVE),
    )
    keys = (frozenset({"person"}),) if unique else ()
    return CatalogSnapshot(
        (
            Relation(
                1,
                "public",
                "facts",
                RelationKind.TABLE,
                columns,
                Protection(K, "person"),
                keys,
                single_table=True,
            ),
        )
    )


@pytest.fixture(scope="module")
def facts(server: Server) -> Iterator[psycopg.Connection[Any]]:
    with ExitStack() as stack:
        name = stack.enter_context(server.database("query_percentiles"))
        made = stack.enter_context(psycopg.connect(server.dsn(name), autocommit=True))
        made.execute("create table facts (number int, person int not null, g text not null, x int)")
        yield made


def window(rows: list[Row], fraction: Fraction) -> list[Row]:
    """Return the rows behind a percentile, by its definition."""
    ordered = sorted((row for row in rows if row.x is not None), key=lambda row: row.x or 0)
    most = max(Counter(row.person for row in ordered).values())
    size = (K + 2) * most
    middle = 1 + fraction * (len(ordered) - 1)
    start = min(math.ceil(middle - Fraction(size - 1, 2)), len(ordered) - size + 1)
    start = max(start, 1)
    values = {row.x for row in ordered[start - 1 : start - 1 + size]}
    return [row for row in ordered if row.x in values]


def asked(
    connection: psycopg.Connection[Any], rows: list[Row], verdict: Verdict
) -> tuple[list[tuple[Any, ...]] | None, dict[str, list[set[int]]]]:
    """Return the answer, None if it is withheld, and by group the rows of each percentile's set."""
    assert verdict.accepted, verdict.findings
    with connection.transaction(force_rollback=True):
        with connection.cursor() as cursor:
            values = [(row.number, row.person, row.g, row.x) for row in rows]
            cursor.executemany("insert into facts values (%s, %s, %s, %s)", values)
        places = {
            bytes(place): (number, g)
            for place, number, g in connection.execute("select tidsend(ctid), number, g from facts")
        }
        connection.execute("set local search_path = pg_catalog, pg_temp")
        found = psycopg.RawCursor(connection).execute((verdict.canonical_sql or "").encode()).fetchall()
        (item,) = (item for item in verdict.entity_sets if item.kind == "windows")
        cursor_of_sets = psycopg.RawCursor(connection, row_factory=dict_row)
        sets = cursor_of_sets.execute(item.sql.encode()).fetchone()
    assert sets is not None
    width = len(verdict.outputs)
    minimums = [hidden.minimum for hidden in verdict.hidden]
    backed = bool(found) and all(
        value is not None and value >= least
        for row in found
        for value, least in zip(row[width:], minimums, strict=True)
    )
    by_group: dict[str, list[set[int]]] = defaultdict(list)
    for number in range(1, len(item.filters) + 1):
        position = 0
        for (length,) in struct.iter_unpack(">q", sets[f"lengths_{number}"]):
            data = sets[f"row_ids_{number}"][position : position + length]
            position += length
            members = [places[data[start : start + 6]] for start in range(0, length, 6)]
            if members:
                by_group[members[0][1]].append({number for number, _ in members})
    return [row[:width] for row in found] if backed else None, by_group


ROWS = st.lists(
    st.tuples(st.integers(1, 14), st.sampled_from("uv"), st.none() | st.integers(0, 9)),
    min_size=1,
    max_size=50,
)
FRACTIONS = st.lists(st.integers(20, 80), min_size=1, max_size=3, unique=True)


@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(drawn=ROWS, percents=FRACTIONS, unique=st.booleans(), grouped=st.booleans(), descending=st.booleans())
def test_a_percentile_is_the_mean_of_k_people_whose_rows_the_ledger_gets(
    facts: psycopg.Connection[Any],
    drawn: list[tuple[int, str, int | None]],
    percents: list[int],
    unique: bool,
    grouped: bool,
    descending: bool,
) -> None:
    rows = [Row(n, n if unique else person, g, x) for n, (person, g, x) in enumerate(drawn)]
    listed = ", ".join(f"0.{one}" for one in percents)
    order = "x desc" if descending else "x"
    text = f"percentile_cont(array[{listed}]) within group (order by {order})"
    query = f"select g, {text} from facts group by g" if grouped else f"select 'all', {text} from facts"
    answer, sets = asked(facts, rows, check(query, catalog(unique=unique)))
    if answer is None:
        return
    for name, shown in answer:
        members = [row for row in rows if not grouped or row.g == name]
        expected = []
        for percent, value in zip(percents, shown, strict=True):
            share = Fraction(percent, 100)
            behind = window(members, 1 - share if descending else share)
            assert len({row.person for row in behind}) >= K
            assert value == pytest.approx(sum(row.x or 0 for row in behind) / len(behind))
            expected.append({row.number for row in behind})
        if grouped:
            # a level numbers the aggregates of an array from its end
            assert sets[name] == expected[::-1]


@pytest.mark.parametrize(
    ("kind", "values", "expected"),
    [
        ("date", "date '2024-01-01' + n", "2024-01-15"),
        ("timestamp", "timestamp '2024-01-01' + n * interval '1 hour'", "2024-01-01 14:00:00"),
        ("timestamptz", "timestamptz '2024-01-01 00:00Z' + n * interval '1 hour'", "2024-01-01 14:00:00+00"),
        ("time", "time '00:00' + n * interval '1 minute'", "00:14:00"),
        ("int2", "n::int2", "14"),
        ("int8", "n::int8", "14"),
        ("numeric", "n / 2.0", "7"),
        ("float4", "n::float4", "14"),
        ("float8", "n::float8", "14"),
    ],
)
def test_every_type_that_has_an_order_and_a_mean(
    facts: psycopg.Connection[Any], kind: str, values: str, expected: str
) -> None:
    shown, is_equal = median(facts, kind, values, expected)
    assert is_equal, shown


@pytest.mark.parametrize("kind", ["date", "timestamp", "timestamptz"])
@pytest.mark.parametrize("infinite", ["infinity", "-infinity"])
def test_a_window_with_infinite_values_shows_no_mean_over_fewer_people(
    facts: psycopg.Connection[Any], kind: str, infinite: str
) -> None:
    # of the three people in the middle one has a finite value
    rank = "n" if infinite == "infinity" else "28 - n"
    day = f"case when {rank} < 14 then {kind} '2024-01-01' else '{infinite}' end"
    assert median(facts, kind, day, "2024-01-01") == (None, None)


def median(
    connection: psycopg.Connection[Any], kind: str, values: str, expected: str
) -> tuple[str | None, bool | None]:
    """Return the median of a column with the values of n from 0 to 28, and whether it is as expected."""
    columns = (
        Column("person", "int4", nullable=False, role=ColumnRole.IDENTIFIER),
        Column("x", kind, nullable=False, role=ColumnRole.SENSITIVE),
    )
    relation = Relation(
        1, "public", "moments", RelationKind.TABLE, columns, Protection(K, "person"), (frozenset({"person"}),)
    )
    verdict = check(
        "select percentile_disc(0.5) within group (order by x) from moments", CatalogSnapshot((relation,))
    )
    assert verdict.accepted, verdict.findings
    with connection.transaction(force_rollback=True):
        connection.execute("set local timezone = 'UTC'")
        rows = f"select n as person, {values} as x from generate_series(0, 28) n"
        connection.execute(f"create table moments as {rows}".encode())
        connection.execute("set local search_path = pg_catalog, pg_temp")
        is_equal = f"p.percentile_disc = '{expected}'::{kind}"
        sql = f"select p.percentile_disc::text, {is_equal} from ({verdict.canonical_sql}) p"
        row = connection.execute(sql.encode()).fetchone()
    assert row is not None
    return row[0], row[1]


@st.composite
def repeated_sets(draw: st.DrawFn) -> tuple[list[int], list[tuple[frozenset[int], int]]]:
    """Draw everybody's value, and sets of people with the percent that is asked of each."""
    size = draw(st.integers(8, 20))
    values = draw(st.lists(st.integers(0, 30), min_size=size, max_size=size))
    groups = st.frozensets(st.integers(0, size - 1), min_size=2 * K)
    return values, draw(st.lists(st.tuples(groups, st.integers(30, 70)), min_size=1, max_size=8))


@settings(max_examples=examples(150))
@given(repeated_sets(), st.sampled_from(["pairwise", "linear"]))
def test_who_knows_all_windows_still_solves_for_nobody(
    drawn: tuple[list[int], list[tuple[frozenset[int], int]]], mode: Mode
) -> None:
    values, asked_for = drawn
    everybody = Population(BitMap(range(len(values))))
    ledger = DisclosureHistory(LedgerRules(K, mode, rank=64), bytes(range(16)))
    disclosed: list[frozenset[int]] = []
    for group, percent in asked_for:
        rows = [Row(number, number, "", values[number]) for number in sorted(group)]
        behind = frozenset(row.number for row in window(rows, Fraction(percent, 100)))
        decision = ledger.check(AnswerSets(((BitMap(group),), (BitMap(behind),))), everybody)
        if decision.allowed:
            ledger.disclose(decision)
            disclosed += [group, behind]
    assert not singled_out(disclosed, list(range(len(values))), K)
