"""Queries through a trusted client have the answers and refusals of the functions in the server."""

from __future__ import annotations

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from kanon_pg import client
from kanon_pg.db.statements import statement
from kanon_pg.errors import AnswerWithheld, KanonError, QueryRefused
from tests.fixtures.queries import Guarded, protect
from tests.query.cases import Policy
from tests.query.hospital import SCHEMA

ANSWERED = [
    "select ward, count(*) as n, avg(cost) as average from patients group by ward order by ward",
    "select sex, count(distinct patient_id) from patients group by sex order by sex",
    "select count(*) filter (where sex = 'F') as women, count(*) as all from patients",
    "select date_trunc('year', admission_date) as year, sum(cost) from patients group by 1 order by 1",
]
REFUSED = [
    "select name from patients",
    "select * from nothing",
    "select ward, max(cost) from patients group by ward",
    "drop table patients",
]
WITHHELD = [
    "select avg(cost) from patients where ward = 'Nowhere'",
    "select zip, admission_date, ward from patients",
]


@pytest.fixture(scope="module")
def dsn(shared: Guarded) -> str:
    return make_conninfo(shared.dsn, options=f"-c search_path={SCHEMA},public")


@pytest.fixture(scope="module")
def shared(guarded_worlds: dict[object, Guarded]) -> Guarded:
    one = next(iter(guarded_worlds.values()))
    protect(one.admin, Policy(ledger="off"))
    return one


def in_the_server(dsn: str, text: str) -> list[list[str | None]]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        return [row[0] for row in connection.execute("select line from kanon.query_lines(%s)", [text])]


@pytest.mark.parametrize("text", ANSWERED)
def test_answers_are_the_same(dsn: str, text: str) -> None:
    answer = client.query(dsn, text)
    found = [list(answer.names), list(answer.types), *map(list, answer.rows)]
    assert found == in_the_server(dsn, text)


@pytest.mark.parametrize(
    ("text", "kind"),
    [(text, QueryRefused) for text in REFUSED] + [(text, AnswerWithheld) for text in WITHHELD],
)
def test_refusals_have_the_same_words(dsn: str, text: str, kind: type[KanonError]) -> None:
    with pytest.raises(kind) as ours:
        client.query(dsn, text)
    with pytest.raises(psycopg.Error) as servers:
        in_the_server(dsn, text)
    diag = servers.value.diag
    assert ours.value.sqlstate == diag.sqlstate
    assert (diag.message_primary or "").removeprefix("kanon: ") == ours.value.message
    assert (diag.message_detail, diag.message_hint) == (ours.value.detail, ours.value.hint)


def in_zone(dsn: str, zone: str) -> str:
    return make_conninfo(dsn, options=f"-c search_path={SCHEMA},public -c timezone={zone}")


@pytest.mark.parametrize("zone", ["AAA-9BBB99", "AAA-9BBB99,J100/0,J200/0", "<A1>-9<B1>9,J1,J2", "Aa/B9c"])
def test_a_session_that_says_when_clocks_are_set_gets_no_answer(dsn: str, zone: str) -> None:
    """Days that come twice would be two ranges of moments in one condition on a day."""
    test_refusals_have_the_same_words(in_zone(dsn, zone), ANSWERED[0], QueryRefused)


@pytest.mark.parametrize(
    "zone",
    ["UTC", "Europe/Berlin", "America/Port-au-Prince", "est5edt", "Etc/GMT+5", "<+02>-02", "GMT+2:30", "-3"],
)
def test_sessions_in_other_time_zones_get_answers(dsn: str, zone: str) -> None:
    test_answers_are_the_same(in_zone(dsn, zone), ANSWERED[0])


def test_every_time_zone_that_has_a_name_is_allowed(shared: Guarded) -> None:
    refused = []
    with psycopg.connect(shared.dsn) as connection:
        for (name,) in connection.execute("select name from pg_timezone_names").fetchall():
            connection.execute("select set_config('timezone', %s, true)", [name])
            found = connection.execute(statement("session_zone").text.encode()).fetchone()
            assert found is not None
            refused += [name] * found[1]
    assert refused == []
