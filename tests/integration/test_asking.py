"""Connections and commands that ask: the same answers as SQL, in the form of programs and people."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from typer.testing import CliRunner, Result

import kanon_pg
from kanon_pg.asking import Connection
from kanon_pg.cli import app
from kanon_pg.errors import AnswerWithheld, InputError, InstallError, NotPermitted, QuestionRefused
from tests.fixtures.questions import Guarded
from tests.query.hospital import ADA, SCHEMA

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
        with pytest.raises(QuestionRefused, match=r"\$1"):
            ada.execute(query)
        return
    row = ada.execute(query, parameters).fetchone()
    assert row is not None
    assert row[0] > 0


def test_refusals_are_those_of_the_functions(ada: Connection) -> None:
    for query in ("select name from patients", "delete from patients", "select 1; select 2", ""):
        with pytest.raises((QuestionRefused, InputError)):
            ada.execute(query)
    with pytest.raises(AnswerWithheld):
        ada.execute("select count(*) from patients where admission_date = '1900-01-01'")
    assert ada.execute("select count(*) from patients").fetchone() is not None
    with pytest.raises(InputError, match="no form in SQL"):
        ada.execute("select count(*) from patients where cost > %s", [object()])


def test_before_a_question_there_is_nothing_to_fetch(ada: Connection) -> None:
    with pytest.raises(InputError, match="no answer"):
        ada.cursor().fetchall()


def test_a_database_without_the_functions_says_so(ada: Connection, shared_hospital: Guarded) -> None:
    del ada
    with (
        kanon_pg.connect(make_conninfo(shared_hospital.dsn, dbname="postgres")) as other,
        pytest.raises(InstallError, match="no functions that answer"),
    ):
        other.execute("select 1")


def test_a_role_that_may_not_ask_is_told_what_it_lacks(shared_hospital: Guarded) -> None:
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


def test_a_question_that_can_be_asked_is_said_to_be_so(dsn: str) -> None:
    shown = kanon(dsn, "check-query", BY_WARD)
    assert (shown.exit_code, shown.stdout) == (0, "This can be asked.\n")
    found = json.loads(kanon(dsn, "check-query", BY_WARD, "--json").stdout)
    assert found["accepted"]
    assert found["canonical_sql"].startswith(("WITH", "SELECT"))
