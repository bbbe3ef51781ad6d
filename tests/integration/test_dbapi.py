"""Connections and commands that run queries: the same answers as SQL, in the form of programs and people."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import psycopg
import pytest
from psycopg import rows as factories
from psycopg.conninfo import make_conninfo
from typer.testing import CliRunner, Result

import kanon_pg
from kanon_pg.cli import app
from kanon_pg.dbapi import Connection
from kanon_pg.errors import AnswerWithheld, InputError, InstallError, NotPermitted, QueryRefused
from tests.fixtures.queries import Guarded
from tests.query.hospital import ADA, SCHEMA

pytestmark = pytest.mark.slow

OF_WARD = "select ward, count(*) as n from patients where ward = %s group by ward"
BY_WARD = "select ward, count(*) as n, avg(cost) as average from patients group by ward order by ward"


def dsn_of(dsn: str, user: str) -> str:
    return make_conninfo(dsn, user=user, options=f"-c search_path={SCHEMA},public")


@pytest.fixture
def dsn(shared_hospital: Guarded) -> str:
    return dsn_of(shared_hospital.dsn, ADA)


@pytest.fixture
def ada(dsn: str) -> Iterator[Connection]:
    with kanon_pg.connect(dsn) as connection:
        yield connection


def test_values_have_the_types_of_the_answer(ada: Connection, shared_hospital: Guarded) -> None:
    cursor = ada.execute(BY_WARD)
    assert cursor.description is not None
    assert [column[0] for column in cursor.description] == ["ward", "n", "average"]
    rows = cursor.fetchall()
    assert cursor.rowcount == len(rows)
    assert {tuple(map(type, row)) for row in rows} == {(str, int, Decimal)}
    with psycopg.connect(dsn_of(shared_hospital.dsn, "postgres")) as admin:
        assert rows == admin.execute(BY_WARD).fetchall()


def test_rows_can_be_fetched_one_by_one_in_portions_and_all(ada: Connection) -> None:
    rows = ada.execute(BY_WARD).fetchall()
    with ada.cursor() as cursor:
        cursor.execute(BY_WARD)
        assert cursor.fetchone() == rows[0]
        assert cursor.fetchmany(2) == rows[1:3]
        assert list(cursor) == rows[3:]
        assert cursor.fetchone() is None
    assert cursor.description is None


@dataclass(frozen=True)
class Ward:
    ward: str
    n: int
    average: Decimal


FACTORIES: list[Callable[[Any], Callable[..., Any]]] = [
    factories.tuple_row,
    factories.dict_row,
    factories.namedtuple_row,
    factories.class_row(Ward),
    factories.args_row(Ward),
    factories.kwargs_row(dict),
    factories.scalar_row,
    lambda cursor: lambda values: [f"{c.name}={v}" for c, v in zip(cursor.description, values, strict=True)],
]


@pytest.mark.parametrize("factory", FACTORIES)
def test_row_factories_make_the_rows_that_psycopg_makes(
    dsn: str, shared_hospital: Guarded, factory: Any
) -> None:
    with psycopg.connect(dsn_of(shared_hospital.dsn, "postgres"), row_factory=factory) as admin:
        expected = admin.execute(BY_WARD).fetchall()
    with kanon_pg.connect(dsn, row_factory=factory) as connection:
        assert connection.execute(BY_WARD).fetchall() == expected
    with kanon_pg.connect(dsn) as connection:
        cursor = connection.cursor(row_factory=factory)
        cursor.execute(BY_WARD)
        rows = [cursor.fetchone(), *cursor.fetchmany(2), *cursor]
        assert rows == expected
        assert list(map(type, rows)) == list(map(type, expected))
        assert {type(row) for row in connection.execute(BY_WARD)} == {tuple}
        connection.row_factory = factory
        assert connection.execute(BY_WARD).fetchall() == expected


def test_a_row_factory_set_later_makes_the_rows_that_are_left(ada: Connection) -> None:
    cursor = ada.execute(BY_WARD)
    first = cursor.fetchone()
    assert isinstance(first, tuple)
    cursor.row_factory = factories.dict_row
    assert {tuple(row) for row in cursor} == {("ward", "n", "average")}


def test_columns_are_described_as_psycopg_describes_them(ada: Connection, shared_hospital: Guarded) -> None:
    with psycopg.connect(dsn_of(shared_hospital.dsn, "postgres")) as admin:
        expected = admin.execute(BY_WARD).description
    found = ada.execute(BY_WARD).description
    assert found is not None
    assert expected is not None
    assert [(c.name, c.type_code, c.type_display, len(c)) for c in found] == [
        (c.name, c.type_code, c.type_display, len(c)) for c in expected
    ]


def test_columns_that_a_row_factory_has_no_rows_for_are_named(ada: Connection) -> None:
    cursor = ada.cursor(row_factory=factories.namedtuple_row)
    with pytest.raises(InputError, match="row factory"):
        cursor.execute("select ward as a, count(*) as a from patients group by ward")
    with pytest.raises(InputError, match="no answer"):
        cursor.fetchall()


@pytest.mark.parametrize("factory", ["dict_row", {}, 1])
def test_what_is_no_row_factory_is_refused_before_anything_is_asked(dsn: str, factory: Any) -> None:
    with pytest.raises(InputError, match="function"):
        kanon_pg.connect(dsn, row_factory=factory)
    with kanon_pg.connect(dsn) as connection:
        with pytest.raises(InputError, match="function"):
            connection.cursor(row_factory=factory)
        with pytest.raises(InputError, match="function"):
            connection.row_factory = factory


def wards(ada: Connection) -> list[str]:
    return [row[0] for row in ada.execute(BY_WARD).fetchall()]


def test_many_queries_have_an_answer_each(ada: Connection) -> None:
    names = wards(ada)
    alone = [ada.execute(OF_WARD, [name]).fetchall() for name in names]
    cursor = ada.cursor()
    cursor.executemany(OF_WARD, ([name] for name in names), returning=True)
    assert cursor.rowcount == 1
    assert [each.fetchall() for each in cursor.results()] == alone
    assert cursor.nextset() is None
    assert cursor.set_result(0).fetchall() == alone[0]
    assert cursor.nextset()
    assert cursor.set_result(-1).fetchall() == alone[-1]
    with pytest.raises(IndexError):
        cursor.set_result(len(names))
    cursor.executemany(OF_WARD.replace("%s", "%(ward)s"), [{"ward": names[0]}], returning=True)
    assert cursor.fetchall() == alone[0]


def test_answers_that_are_not_returned_are_counted_and_not_kept(ada: Connection) -> None:
    names = wards(ada)
    cursor = ada.cursor()
    cursor.executemany(OF_WARD, [[name] for name in names])
    assert (cursor.rowcount, cursor.description) == (len(names), None)
    with pytest.raises(InputError, match="returning"):
        cursor.fetchall()
    assert list(cursor.results()) == []
    cursor.executemany(OF_WARD, [])
    assert cursor.rowcount == 0
    cursor.executemany(OF_WARD, [], returning=True)
    assert (cursor.rowcount, cursor.nextset()) == (-1, None)


def test_each_of_many_queries_is_recorded(ada: Connection, shared_hospital: Guarded) -> None:
    def recorded() -> int:
        row = shared_hospital.admin.execute("select count(*) from kanon.query_log").fetchone()
        assert row is not None
        return int(row[0])

    names, before = wards(ada), recorded()
    ada.cursor().executemany(OF_WARD, [[name] for name in names])
    assert recorded() == before + len(names)


def test_one_refusal_among_many_queries_leaves_no_answer(ada: Connection) -> None:
    name, cursor = wards(ada)[0], ada.cursor()
    cursor.execute(BY_WARD)
    query = "select avg(cost) from patients where ward = %s"
    for returning in (True, False):
        with pytest.raises(AnswerWithheld):
            cursor.executemany(query, [[name], ["Nowhere"], [name]], returning=returning)
        assert (cursor.rowcount, cursor.description) == (-1, None)
        with pytest.raises(InputError, match="no answer"):
            cursor.fetchall()
    with pytest.raises(InputError, match="sequence"):
        cursor.executemany(query, [name])


@pytest.mark.parametrize(
    "part", [{"autocommit": True}, {"cursor_factory": psycopg.Cursor}, {"prepare_threshold": 0}]
)
def test_what_is_no_part_of_a_dsn_is_refused(dsn: str, part: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="DSN"):
        kanon_pg.connect(dsn, **part)


def test_a_dsn_that_cannot_be_read_is_refused_without_quoting_it() -> None:
    with pytest.raises(InputError, match="DSN") as caught:
        kanon_pg.connect("host=localhost hush")
    assert "hush" not in str(caught.value) + str(caught.value.detail)


@pytest.mark.parametrize(
    ("query", "parameters"),
    [
        ("select count(*) from patients where admission_date >= %s", [datetime.date(1990, 1, 1)]),
        ("select count(*) from patients where cost >= %(least)s", {"least": Decimal("1.5")}),
        ("select count(*) from patients where cost >= $1 and ward like '%%'", None),
        ("select count(*) from patients where ward like '%%' and cost >= %s", [0]),
    ],
)
def test_parameters_are_values(ada: Connection, query: str, parameters: Any) -> None:
    if parameters is None:
        with pytest.raises(QueryRefused, match=r"\$1"):
            ada.execute(query)
        return
    row = ada.execute(query, parameters).fetchone()
    assert row is not None
    assert row[0] > 0


def test_refusals_are_those_of_the_functions(ada: Connection) -> None:
    for query in ("select name from patients", "delete from patients", "select 1; select 2", ""):
        with pytest.raises((QueryRefused, InputError)):
            ada.execute(query)
    with pytest.raises(AnswerWithheld):
        ada.execute("select count(*) from patients where admission_date = '1900-01-01'")
    assert ada.execute("select count(*) from patients").fetchone() is not None
    with pytest.raises(InputError, match="no form in SQL"):
        ada.execute("select count(*) from patients where cost > %s", [object()])


def test_before_a_query_there_is_nothing_to_fetch(ada: Connection) -> None:
    with pytest.raises(InputError, match="no answer"):
        ada.cursor().fetchall()


def test_a_database_without_the_functions_says_so(ada: Connection, shared_hospital: Guarded) -> None:
    del ada
    with (
        kanon_pg.connect(make_conninfo(shared_hospital.dsn, dbname="postgres")) as other,
        pytest.raises(InstallError, match="no functions that answer"),
    ):
        other.execute("select 1")


def test_a_role_without_the_right_learns_what_it_lacks(shared_hospital: Guarded) -> None:
    admin = shared_hospital.admin
    admin.execute("create role stranger login")
    try:
        with (
            kanon_pg.connect(dsn_of(shared_hospital.dsn, "stranger")) as stranger,
            pytest.raises(NotPermitted) as caught,
        ):
            stranger.execute("select 1")
        assert "superuser" in (caught.value.hint or "")
        assert "GRANT kanon_analyst" in (caught.value.hint or "")
    finally:
        admin.execute("drop role stranger")


def kanon(dsn: str, *arguments: str, text: str | None = None) -> Result:
    return CliRunner().invoke(app, [*arguments, "--dsn", dsn], input=text)


def test_the_command_shows_an_answer(dsn: str, ada: Connection) -> None:
    rows = ada.execute(BY_WARD).fetchall()
    shown = kanon(dsn, "query", BY_WARD)
    assert shown.exit_code == 0
    heading, *lines = shown.stdout.splitlines()
    assert heading.split() == ["ward", "n", "average"]
    assert [line.split()[-2:] for line in lines] == [[str(row[1]), str(row[2])] for row in rows]
    found = json.loads(kanon(dsn, "query", "-", "--json", text=BY_WARD).stdout)
    assert [column["type"] for column in found["columns"]] == ["text", "int8", "numeric"]
    assert [(row["ward"], row["n"]) for row in found["rows"]] == [(row[0], row[1]) for row in rows]


def test_the_command_takes_parameters(dsn: str) -> None:
    found = kanon(dsn, "query", "select count(*) as n from patients where cost >= $1", "-p", "0", "--json")
    assert json.loads(found.stdout)["rows"][0]["n"] > 0


def test_the_command_refuses_with_the_words_of_the_functions(dsn: str) -> None:
    refused = kanon(dsn, "query", "select name from patients", "--json")
    assert (refused.exit_code, json.loads(refused.stderr)["sqlstate"]) == (1, "KA901")
    withheld = kanon(dsn, "query", "select avg(cost) from patients where ward = 'Nowhere'", "--json")
    assert (withheld.exit_code, json.loads(withheld.stderr)["sqlstate"]) == (1, "KA902")


def test_findings_are_marked_in_the_text(dsn: str) -> None:
    shown = kanon(dsn, "check-query", "select ward,\n  max(cost)\nfrom patients group by ward")
    assert shown.exit_code == 1
    lines = shown.stdout.splitlines()
    place = next(number for number, line in enumerate(lines) if "^" in line)
    assert lines[place - 1].strip() == "max(cost)"
    assert lines[place].strip() == "^" * len("max(cost)")


def test_a_query_that_can_be_asked_is_said_to_be_so(dsn: str) -> None:
    shown = kanon(dsn, "check-query", BY_WARD)
    assert (shown.exit_code, shown.stdout) == (0, "The query is accepted.\n")
    found = json.loads(kanon(dsn, "check-query", BY_WARD, "--json").stdout)
    assert found["accepted"]
    assert found["canonical_sql"].startswith(("WITH", "SELECT"))
