"""Queries through a trusted client have the answers and refusals of the functions in the server."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from kanon_pg import client
from kanon_pg.errors import AnswerWithheld, DatabaseError, KanonError, QueryRefused
from tests.fixtures.databases import Server
from tests.fixtures.queries import guarded_clone, protect
from tests.query.cases import Policy
from tests.query.hospital import DECLARATIONS, SCHEMA, K
from tests.query.people import World

ANSWERED = [
    "select ward, count(*) as n, avg(cost) as average from patients group by ward order by ward",
    "select sex, count(distinct patient_id) as n from patients group by sex order by sex",
    "select count(*) filter (where sex = 'F') as women, count(*) as people from patients",
    "select date_trunc('year', admission_date) as y, sum(cost) as n from patients group by 1 order by 1",
]
REFUSED = [
    "select name from patients",
    "select ward, max(cost) from patients group by ward",
    "drop table patients",
]
WITHHELD = ["select avg(cost) from patients where ward = 'Nowhere'"]
UNKNOWN = "select * from nothing"
"""It names no table of people: PostgreSQL answers, or says what is wrong."""
ZONES = ["UTC", "Europe/Berlin", "America/Port-au-Prince", "Etc/GMT+5", "<+02>-02", "-3"]


@dataclass(frozen=True)
class Both:
    """One database, asked through the server and through a client, and what the server said."""

    dsn: str
    folder: Path
    said: Mapping[tuple[str, str], Any]


def in_zone(dsn: str, zone: str) -> str:
    return make_conninfo(dsn, options=f"-c search_path={SCHEMA},public -c timezone={zone}")


def in_the_server(dsn: str, text: str) -> Any:
    """Return rows, or what was said instead."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        try:
            return [row[0] for row in connection.execute("select kanon_query(%s)", [text])]
        except psycopg.Error as error:
            diag = error.diag
            words = (diag.message_primary or "").removeprefix("kanon: ")
            return diag.sqlstate, words, diag.message_detail, diag.message_hint


@pytest.fixture(scope="module")
def both(
    server: Server,
    kanon_template: str,
    hospitals: Mapping[World, str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Both]:
    asked = [(text, "UTC") for text in (*ANSWERED, *REFUSED, *WITHHELD, UNKNOWN)]
    asked += [(ANSWERED[0], zone) for zone in ZONES]
    with guarded_clone(server, hospitals[World.AS_IS], kanon_template) as one:
        protect(one.admin, Policy(), 600)
        said = {(text, zone): in_the_server(in_zone(one.dsn, zone), text) for text, zone in asked}
        # a client's records are files of its own machine
        one.admin.execute("delete from kanon.record")
        folder = tmp_path_factory.mktemp("records")
        for made in DECLARATIONS:
            options = {"mode": "reject", "seconds": 600, "beside_releases": "allow"}
            client.protect(one.dsn, f"{SCHEMA}.{made.table}", K, options, ledger_folder=str(folder))
        yield Both(one.dsn, folder, said)


def answer(both: Both, text: str, zone: str = "UTC") -> list[dict[str, Any]]:
    """Return rows as the server's JSON has them."""
    rows = client.query(in_zone(both.dsn, zone), text, ledger_folder=str(both.folder))
    with psycopg.connect(in_zone(both.dsn, zone)) as connection:
        found = connection.execute(
            "select jsonb_agg(to_jsonb(r)) from jsonb_array_elements(%s) as r",
            [json.dumps([dict(row) for row in rows], default=str)],
        ).fetchone()
    return found[0] if found and found[0] else []


def plain(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows whose numbers and moments are written in one way."""
    return [
        {
            name: float(value) if str(value).replace(".", "", 1).isdigit() else str(value).replace("T", " ")
            for name, value in row.items()
        }
        for row in rows
    ]


@pytest.mark.parametrize("text", ANSWERED)
def test_answers_are_the_same(both: Both, text: str) -> None:
    said = both.said[text, "UTC"]
    assert said
    assert plain(answer(both, text)) == plain(said)


@pytest.mark.parametrize("zone", ZONES)
def test_sessions_in_other_time_zones_get_answers(both: Both, zone: str) -> None:
    assert plain(answer(both, ANSWERED[0], zone)) == plain(both.said[ANSWERED[0], zone])


def test_what_reads_nobody_is_postgresqls(both: Both) -> None:
    text = "select * from nothing"
    assert in_the_server(in_zone(both.dsn, "UTC"), text)[0] == psycopg.errors.UndefinedTable.sqlstate
    with pytest.raises(DatabaseError, match='relation "nothing" does not exist'):
        client.query(in_zone(both.dsn, "UTC"), text, ledger_folder=str(both.folder))


@pytest.mark.parametrize(
    ("text", "kind"),
    [(text, QueryRefused) for text in REFUSED] + [(text, AnswerWithheld) for text in WITHHELD],
)
def test_refusals_have_the_same_words(both: Both, text: str, kind: type[KanonError]) -> None:
    with pytest.raises(kind) as ours:
        client.query(in_zone(both.dsn, "UTC"), text, ledger_folder=str(both.folder))
    error = ours.value
    assert (error.sqlstate, error.message, error.detail, error.hint) == both.said[text, "UTC"]


def test_what_names_no_table_of_people_is_postgresqls_to_refuse(both: Both) -> None:
    with pytest.raises(DatabaseError, match='relation "nothing" does not exist'):
        client.query(in_zone(both.dsn, "UTC"), UNKNOWN, ledger_folder=str(both.folder))
    sqlstate, words, *_ = both.said[UNKNOWN, "UTC"]
    assert (sqlstate, words) == ("42P01", 'relation "nothing" does not exist')
