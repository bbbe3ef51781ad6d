"""Constants inside aggregates show nothing beyond a few sums, and mean what they meant.

In two tables with the same sums and sums of squares, but other values, every figure is the same then,
whatever the constants are. Figures that are rounded row by row are not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from kanon_pg.queries.check.catalog import (
    CatalogSnapshot,
    Column,
    ColumnRole,
    Protection,
    Relation,
    RelationKind,
)
from kanon_pg.queries.check.checker import check
from tests.fixtures.databases import Server
from tests.query.reference import answer_rows

EXAM = CatalogSnapshot(
    (
        Relation(
            1,
            "public",
            "exam",
            RelationKind.TABLE,
            (
                Column("id", "int4", nullable=False, role=ColumnRole.IDENTIFIER),
                Column("score", "int4", nullable=False, role=ColumnRole.SENSITIVE),
                Column("fee", "numeric", nullable=False, role=ColumnRole.SENSITIVE),
                Column("ratio", "float8", nullable=False, role=ColumnRole.SENSITIVE),
                Column("taken", "timestamp", nullable=False, role=ColumnRole.SENSITIVE),
                Column("days", "int4", nullable=False),
                Column("share", "float8", nullable=False),
            ),
            Protection(5, "id"),
            (frozenset({"id"}),),
        ),
        Relation(
            2,
            "public",
            "chosen",
            RelationKind.TABLE,
            (Column("days", "int4", nullable=False), Column("price", "numeric", nullable=False)),
            unique_keys=(frozenset({"days"}),),
        ),
    )
)
WORLDS = ((0, 4, 5), (1, 2, 6))
"""Both have the sum 9 and the sum of squares 41."""

COLUMNS = (
    "score, score * 1.13 as fee, (score / 4.0)::float8 as ratio,"
    " timestamp '2024-01-01' + score * interval '1 day 0.123457 seconds' as taken,"
    " days, (days / 8.0)::float8 as share"
)


@pytest.fixture(scope="module")
def worlds(server: Server) -> Iterator[list[psycopg.Connection[Any]]]:
    with (
        server.database("sums_one") as one,
        server.database("sums_other") as other,
        psycopg.connect(server.dsn(one), autocommit=True) as first,
        psycopg.connect(server.dsn(other), autocommit=True) as second,
    ):
        for connection, values in zip((first, second), WORLDS, strict=True):
            connection.execute(
                f"create table exam as select row_number() over () as id, {COLUMNS} from"
                f" (select score, days from unnest(array{list(values)}) score, generate_series(1, 5) i,"
                " unnest(array[3, 7]) days) x"
            )
            connection.execute("create table chosen as values (3, 4.32109876543217), (7, 0.987654321)")
            connection.execute("alter table chosen rename column1 to days")
            connection.execute("alter table chosen rename column2 to price")
            connection.execute("set search_path = pg_catalog, pg_temp")
        yield [first, second]


CONSTANTS = ("7.0", "11.0", "13.0", "99.7", "123456.789", "987654321.0", "0.00017", "31.4159265358979")

FIGURES = [
    "sum(score / {c})",
    "avg(score / {c})",
    "sum(fee / {c})",
    "avg(-fee / {c})",
    "sum(score / {c} + score / 3.0)",
    "sum((score * 123456789012.0 * {c})::float8)",
    "sum(score::float8 * {c})",
    "stddev(score / {c})",
    "variance(fee / {c})",
    "stddev(score::float8 / {c})",
    "avg(extract(epoch from taken - timestamp '2020-01-01') / {c})",
    "avg(date_part('epoch', taken - timestamp '2020-01-01 00:00:00.654321') / {c})",
    "sum(score::numeric / nullif(days, 0) / {c})",
    "sum(score / (days * {c}))",
    "sum(fee * {c} / share)",
]


def answer(connection: psycopg.Connection[Any], text: str) -> list[tuple[Any, ...]]:
    verdict = check(text, EXAM)
    assert verdict.accepted, verdict.findings
    found = answer_rows(connection, verdict, [])
    assert found is not None
    return found


@pytest.mark.parametrize("figure", FIGURES)
def test_equal_sums_give_equal_figures_whatever_the_constants(
    figure: str, worlds: list[psycopg.Connection[Any]]
) -> None:
    for constant in CONSTANTS:
        one, other = (answer(world, f"select {figure.format(c=constant)} from exam") for world in worlds)
        assert one == other


def test_quotients_by_numbers_that_an_attacker_chose_are_functions_of_the_sums(
    worlds: list[psycopg.Connection[Any]],
) -> None:
    text = "select sum(e.score / c.price), sum(e.fee * 7 / c.price) from exam e join chosen c using (days)"
    one, other = (answer(world, text) for world in worlds)
    assert one == other


SAME = [
    *FIGURES,
    "sum(fee * {c})",
    "percentile_disc(0.5) within group (order by days * {c})",
    "percentile_cont(0.5) within group (order by days / -{c})",
    "stddev_pop((fee + {c}) * 3)",
    "var_samp(ratio * {c})",
    "avg(ratio / {c})",
    "sum(coalesce(fee / {c}, 5))",
    "corr(fee * {c}, 5 - days * 2)",
    "covar_samp(fee * {c}, -days)",
    "regr_slope(fee / {c}, days * 3 + 1)",
    "regr_intercept(fee * {c}, days * 2)",
    "sum(score * 3)",
    "sum(-score), avg(-score)",
]


@pytest.mark.parametrize("figure", SAME)
def test_a_figure_is_that_of_the_query_as_written(figure: str, worlds: list[psycopg.Connection[Any]]) -> None:
    connection = worlds[0]
    # somebody's days decide nothing here: windows and lists of days are of one value
    where = " where days = 3" if figure.startswith("percentile") else ""
    for constant in CONSTANTS[:5]:
        text = f"select {figure.format(c=constant)} from exam{where}"
        answered = answer(connection, text)
        connection.execute("set search_path = public")
        cursor = connection.execute(text.encode())
        written = cursor.fetchall()
        connection.execute("set search_path = pg_catalog, pg_temp")
        for one, other in zip(answered[0], written[0], strict=True):
            assert float(one) == pytest.approx(float(other), rel=1e-12, abs=1e-6)
        verdict = check(text, EXAM)
        described = [
            "numeric" if item.type_name.startswith("int") else item.type_name for item in verdict.outputs
        ]
        # whole numbers that are calculated as decimals cannot overflow
        names = {20: "numeric", 23: "numeric", 701: "float8", 1700: "numeric"}
        assert described == [names[column.type_code] for column in cursor.description or ()]
