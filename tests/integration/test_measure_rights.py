"""Measures for whom they are not: refusals, rights, databases without kanon, the command."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields, replace

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from typer.testing import CliRunner

from kanon_pg import client
from kanon_pg.admin.install.installer import install
from kanon_pg.cli import app
from kanon_pg.errors import InstallError, NotPermitted, UnsuitableRelation
from kanon_pg.measures import Measures
from kanon_pg.relations.subject import LOSSES
from tests.fixtures.analyses import create, measure
from tests.fixtures.databases import role
from tests.fixtures.interfaces import Interface


@pytest.fixture
def analyst(dsn: str) -> Iterator[str]:
    with role(dsn, "analyst", "IN ROLE kanon_analyst") as name:
        yield name


@pytest.mark.only_through("server")
def test_the_callers_own_rights_count(interface: Interface, analyst: str) -> None:
    create(interface, "t", "a integer, s text", "(1, 'x'), (1, 'y')")
    interface.connection.execute("revoke all on t from public; select kanon.grant_read('t')")
    with psycopg.connect(make_conninfo(interface.dsn, user=analyst), autocommit=True) as connection:
        own = type(interface)(interface.dsn, connection)  # type: ignore[call-arg]
        with pytest.raises(NotPermitted, match="may not read"):
            measure(own, "t", ["a"])
        interface.connection.execute(f"grant select (a) on t to {analyst}".encode())
        assert measure(own, "t", ["a"]).k == 2
        with pytest.raises(NotPermitted, match="may not read"):
            measure(own, "t", ["a"], ["s"])


@pytest.mark.parametrize("plpython", [True, False])
def test_analysts_know_the_roles_of_releases_that_they_may_read(
    empty_dsn: str, empty_connection: psycopg.Connection, plpython: bool
) -> None:
    connection = empty_connection
    install(empty_dsn, plpython=plpython)
    connection.execute(
        "create table visits as select i as id, i / 2 as patient, i % 4 as age, 'd' || i % 3 as diagnosis,"
        " i as cost from generate_series(1, 60) as i"
    )
    client.declare(
        connection,
        "visits",
        quasi_identifiers=["age"],
        sensitive=["diagnosis"],
        insensitive=["cost"],
        entity="patient",
    )
    client.anonymize(connection, "visits", 5)
    client.anonymize(connection, "visits", 6, release="closed")
    connection.execute("revoke select on safe.closed from kanon_analyst")
    with role(empty_dsn, "analyst", "IN ROLE kanon_analyst") as name:
        owners = client.measure(connection, "safe.visits")
        assert owners.k == 15
        assert owners.distinct_l is not None
        with psycopg.connect(make_conninfo(empty_dsn, user=name), autocommit=True) as own:
            said: list[str] = []
            own.add_notice_handler(lambda notice: said.append(notice.message_primary or ""))
            found = client.measure(own, "safe.visits", on_progress=lambda *phase: said.append(phase[0]))
            # what the release lost compares it with the table, which analysts do not see
            assert found == replace(owners, **dict.fromkeys(LOSSES))
            if plpython:
                row = own.execute("select k, distinct_l from kanon_measure('safe.visits')").fetchone()
                assert row == (owners.k, owners.distinct_l)
                # its insensitive column has another value in each row, and readers see it
                audited = own.execute("select columns from kanon_audit('safe.visits', 5)").fetchall()
                assert audited == [(["cost"],)]
                assert "Whose rows they are is not published, so each row counts as a person." in said
            assert not [one for one in said if "unknown" in one]
            known = "select view::text, quasi_identifiers::text[], counts_people from kanon.published_roles"
            assert own.execute(known).fetchall() == [("safe.visits", ["age"], True)]
            for closed in ("kanon.releases", "kanon.release", "kanon.declarations"):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    own.execute(f"select * from {closed}".encode())


def test_a_type_may_be_of_a_schema_that_whoever_measures_may_not_use(
    empty_dsn: str, empty_connection: psycopg.Connection
) -> None:
    install(empty_dsn, plpython=True)
    empty_connection.execute(
        "create schema hidden; create type hidden.mood as enum ('low', 'high');"
        " create table moods as select (array['low', 'high'])[1 + i % 2]::hidden.mood as mood"
        " from generate_series(1, 9) as i; select kanon.grant_read('moods')"
    )
    with role(empty_dsn, "analyst", "IN ROLE kanon_analyst") as name:
        empty_connection.execute(f"grant select on moods to {name}".encode())
        with psycopg.connect(make_conninfo(empty_dsn, user=name), autocommit=True) as own:
            assert own.execute("select k from kanon_measure('moods')").fetchone() == (4,)


def test_row_security_could_hide_rows_from_what_measures(interface: Interface) -> None:
    create(interface, "t", "a integer", "(1), (1), (2)")
    interface.connection.execute("alter table t enable row level security")
    with pytest.raises(UnsuitableRelation, match="row-level security"):
        measure(interface, "t")


# --- without kanon in the database, and from a shell --------------------------------------------------------


def test_nothing_reads_without_an_installation(empty_dsn: str) -> None:
    with psycopg.connect(empty_dsn, autocommit=True) as connection:
        connection.execute("create table t as select i % 3 as a from generate_series(1, 9) as i")
    with pytest.raises(InstallError, match="not installed"):
        client.measure(empty_dsn, "t")


def test_command(empty_dsn: str) -> None:
    install(empty_dsn)
    with psycopg.connect(empty_dsn, autocommit=True) as connection:
        connection.execute("create table t as select i % 3 as a, i % 2 as b from generate_series(1, 12) as i")
    options = ["measure", "t", "--qi", "a", "--sensitive", "b", "--dsn", empty_dsn]
    done = CliRunner().invoke(app, [*options, "--json"])
    assert done.exit_code == 0, done.output
    assert Measures(**json.loads(done.stdout)) == client.measure(empty_dsn, "t", ["a"], ["b"])
    assert "k                  4 " in CliRunner().invoke(app, options).stdout
    refused = CliRunner().invoke(app, ["measure", "t", "--qi", "nosuch", "--dsn", empty_dsn])
    assert refused.exit_code == 1


def test_type_has_the_fields_of_the_dataclass_each_with_a_comment(connection: psycopg.Connection) -> None:
    rows = connection.execute(
        "select attname, col_description(attrelid, attnum) from pg_attribute"
        " where attrelid = 'kanon.measures'::regclass and attnum > 0 order by attnum"
    ).fetchall()
    assert [name for name, _ in rows] == [field.name for field in fields(Measures)]
    assert all(comment for _, comment in rows)
