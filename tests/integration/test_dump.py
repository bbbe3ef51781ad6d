"""A script of `kanon dump` makes tables of releases in a database without kanon, and nothing else."""

from __future__ import annotations

import io
import subprocess
import threading
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from kanon_pg import client
from kanon_pg.admin.cluster.programs import newest_with_python
from kanon_pg.cli import app
from kanon_pg.db.identifiers import Identifier
from kanon_pg.db.psycopg_adapter import connect
from kanon_pg.errors import DatabaseError, InputError, NotPermitted, ReleaseError, UnknownName
from kanon_pg.tables import published as publishing
from kanon_pg.tables.dump import dump
from kanon_pg.tables.published import published
from tests.docs.databases import environment
from tests.fixtures.databases import private_server, role
from tests.fixtures.examples import examples
from tests.fixtures.interfaces import Interface
from tests.fixtures.linked_tables import declare_clinic, fill_clinic


def script(dsn: str, *releases: str) -> str:
    made = io.BytesIO()
    with connect(dsn) as connection:
        dump(connection, made, releases)
    return made.getvalue().decode()


def psql(dsn: str, text: str) -> subprocess.CompletedProcess[str]:
    """Run a script as somebody does who pipes it into psql."""
    return subprocess.run(
        [newest_with_python().program("psql"), "--no-psqlrc"],
        env=environment(dsn),
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )


def restore(dsn: str, text: str) -> None:
    answer = psql(dsn, text)
    assert answer.returncode == 0, answer.stderr


def publish(connection: psycopg.Connection, name: str, query: str) -> None:
    """Make a view that looks like a release of this name."""
    view = Identifier.of("safe", name)
    connection.execute(f"CREATE VIEW {view} AS {query}".encode())
    connection.execute(f"ALTER VIEW {view} OWNER TO kanon_owner".encode())


def rows(connection: psycopg.Connection, table: str) -> list[tuple[Any, ...]]:
    """Return the rows as texts, in the order in which they are stored."""
    return connection.execute(f"SELECT t::text FROM {table} AS t".encode()).fetchall()


def tables(connection: psycopg.Connection) -> list[str]:
    found = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'safe' ORDER BY 1")
    return [name for (name,) in found]


def types(connection: psycopg.Connection, table: str) -> dict[str, str]:
    found = connection.execute(
        "SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute"
        " WHERE attrelid = %s::regclass AND attnum > 0 ORDER BY attnum",
        [table],
    )
    return dict(found.fetchall())


@pytest.fixture
def clinic(dsn: str, connection: psycopg.Connection) -> str:
    """Yield the DSN of a database with a release by hierarchies and suppression, and a plain one."""
    connection.execute(
        "CREATE SCHEMA hushed;"
        "CREATE TABLE hushed.wardens"
        " (number integer PRIMARY KEY, fullname text, age integer, town text, ill text);"
        "INSERT INTO hushed.wardens SELECT i, 'Hush ' || i, 20 + i % 61, 't' || i % 7, 'i' || i % 3"
        " FROM generate_series(1, 400) AS i;"
        "SELECT kanon_declare('hushed.wardens', identifiers => '{number,fullname}',"
        " quasi_identifiers => '{age,town}', sensitive => '{ill}');"
        "SELECT kanon_anonymize('hushed.wardens', 5, release => 'ages', time_limit => '2 seconds',"
        ' hierarchies => \'{"age": {"builder": "intervals", "width": 10}}\');'
        "SELECT kanon_anonymize('hushed.wardens', 7, '{town,age}', time_limit => '2 seconds',"
        " release => 'towns')"
    )
    return dsn


def test_tables_have_the_rows_of_the_releases_in_their_order(
    clinic: str, connection: psycopg.Connection, empty_dsn: str, empty_connection: psycopg.Connection
) -> None:
    restore(empty_dsn, script(clinic))
    assert tables(empty_connection) == ["ages", "towns"]
    for name in ("ages", "towns"):
        assert rows(empty_connection, f"safe.{name}") == rows(connection, f"safe.{name}")
        assert types(empty_connection, f"safe.{name}") == types(connection, f"safe.{name}")
    said = empty_connection.execute(
        "SELECT obj_description('safe.ages'::regclass), col_description('safe.ages'::regclass, 1)"
    ).fetchone()
    assert said is not None
    assert "shared by at least 5 people" in said[0]
    assert said[1] == "quasi-identifier"


def test_a_server_has_nothing_beyond_the_releases(clinic: str) -> None:
    text = script(clinic)
    with private_server("bare") as bare:
        dsn = bare.dsn("postgres")
        restore(dsn, text)
        whole = subprocess.run(
            [newest_with_python().program("pg_dumpall")],
            env=environment(dsn),
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        with psycopg.connect(dsn) as connection:
            made = connection.execute(
                "SELECT relkind, count(*) FROM pg_class"
                " WHERE oid >= 16384 AND relnamespace <> 'pg_toast'::regnamespace GROUP BY relkind"
            ).fetchall()
            assert made == [("r", 2)]
            nothing = {
                "pg_proc": 0,
                "pg_rewrite": 0,
                "pg_statistic_ext": 0,
                "pg_authid": 0,
                "pg_namespace": 1,
            }
            for catalog, most in nothing.items():
                found = connection.execute(f"SELECT count(*) FROM {catalog} WHERE oid >= 16384".encode())
                assert found.fetchone() == (most,), catalog
            statistics = connection.execute("SELECT count(*) FROM pg_statistic WHERE starelid >= 16384")
            assert statistics.fetchone() == (0,)
    for found in (text, whole):
        for hidden in ("hush", "warden", "fullname", "number", "kanon_owner", "intervals", "view"):
            assert hidden not in found.lower(), hidden


HOSTILE = (
    'a "b"',
    "a'b",
    "a\nb",
    "$kanon$ $$",
    "back\\slash \\! touch hushed",
    "; DROP SCHEMA safe; --",
    ":name :'name'",
    "\\.",
    "*/ /*",
    "Größe 日本",
    "%I %s",
    "n" * 63,
    "safe.x",
)
VALUES = (
    *HOSTILE,
    "",
    "\\N",
    "a\tb",
    "\r\n",
    "\n\\.\nROLLBACK;\nDROP SCHEMA safe CASCADE;\n\\q\n",
    "NULL",
    "{}",
)


@pytest.mark.parametrize("name", HOSTILE)
def test_names_of_any_characters_stay_names(
    dsn: str,
    connection: psycopg.Connection,
    empty_dsn: str,
    empty_connection: psycopg.Connection,
    name: str,
) -> None:
    column = Identifier.of(name)
    publish(connection, name, f"SELECT 'x'::text AS {column}, '{{}}'::name[] AS kanon_suppressed")
    restore(empty_dsn, script(dsn) + script(dsn, str(column)))
    assert tables(empty_connection) == [name]
    found = empty_connection.execute(f"SELECT {column} FROM {Identifier.of('safe', name)}".encode())
    assert found.fetchall() == [("x",)]


def test_values_of_any_characters_stay_values(
    dsn: str, connection: psycopg.Connection, empty_dsn: str, empty_connection: psycopg.Connection
) -> None:
    connection.execute("CREATE TABLE t (v text); GRANT SELECT ON t TO kanon_owner")
    with connection.cursor() as cursor:
        cursor.executemany("INSERT INTO t VALUES (%s)", [(value,) for value in (*VALUES, None)])
    publish(connection, "t", "SELECT v, ARRAY[v]::name[] AS kanon_suppressed FROM t")
    restore(empty_dsn, script(dsn))
    assert empty_connection.execute("SELECT v FROM safe.t").fetchall() == [(v,) for v in (*VALUES, None)]


def test_types_that_others_lack_become_text(
    dsn: str, connection: psycopg.Connection, empty_dsn: str, empty_connection: psycopg.Connection
) -> None:
    connection.execute(
        "CREATE TYPE mood AS ENUM ('sad', 'so so'); CREATE TYPE pair AS (a integer, b text);"
        "CREATE DOMAIN grade AS numeric(4,1) CHECK (value < 9)"
    )
    publish(
        connection,
        "t",
        "SELECT 'so so'::mood AS m, '{sad}'::mood[] AS ms, ROW(1, 'x, y')::pair AS p, 1.5::grade AS g,"
        " 'public.t'::name AS n, 'pg_class'::regclass AS r, '12:30+02'::timetz AS z, 'P1Y2M'::interval AS i,"
        " '1.234'::money AS c, 'abc'::varchar(5) AS v, '[1,5)'::int4range AS w, B'101'::bit(3) AS b,"
        " '\\xff00'::bytea AS y, 1e-300::float8 AS f, '2024-01-01 12:00+02'::timestamptz AS s",
    )
    restore(empty_dsn, script(dsn))
    assert types(empty_connection, "safe.t") == {
        "m": "text",
        "ms": "text",
        "p": "text",
        "g": "numeric(4,1)",
        "n": "name",
        "r": "text",
        "z": "time with time zone",
        "i": "interval",
        "c": "money",
        "v": "character varying(5)",
        "w": "int4range",
        "b": "bit(3)",
        "y": "bytea",
        "f": "double precision",
        "s": "timestamp with time zone",
    }
    assert rows(empty_connection, "safe.t") == rows(connection, "safe.t")


def test_a_script_does_not_depend_on_the_sessions_that_write_and_run_it(
    dsn: str, connection: psycopg.Connection, empty_dsn: str, empty_connection: psycopg.Connection
) -> None:
    publish(
        connection,
        "t",
        "SELECT '2024-02-03'::date AS d, '-1 year +2 days'::interval AS i, 1/3::float8 AS f,"
        " '2024-01-01 00:00Z'::timestamptz AS z, E'a\\\\b'::text AS s",
    )
    made = io.BytesIO()
    odd = (
        "\\set ON_ERROR_ROLLBACK on\n\\set AUTOCOMMIT off\n\\set QUIET on\n"
        "SET datestyle = 'German'; SET timezone = 'Asia/Tokyo'; SET extra_float_digits = -10;"
        "SET intervalstyle = 'sql_standard'; SET standard_conforming_strings = off;"
        "SET client_encoding = 'LATIN1';"
    )
    with connect(dsn) as writing:
        writing.execute("SET datestyle = 'German'; SET timezone = 'Asia/Tokyo'; SET extra_float_digits = -10")
        writing.commit()
        dump(writing, made)
    restore(empty_dsn, odd + made.getvalue().decode())
    assert rows(empty_connection, "safe.t") == rows(connection, "safe.t")


def test_a_script_takes_the_place_of_an_earlier_one_and_of_nothing_else(
    dsn: str, connection: psycopg.Connection, empty_dsn: str, empty_connection: psycopg.Connection
) -> None:
    for name in ("a", "b"):
        publish(connection, name, "SELECT 1 AS version")
    restore(empty_dsn, script(dsn))
    empty_connection.execute("CREATE TABLE safe.own AS SELECT 1 AS one")
    connection.execute("DROP VIEW safe.b; CREATE OR REPLACE VIEW safe.a AS SELECT 2 AS version")
    restore(empty_dsn, script(dsn, "a"))
    assert tables(empty_connection) == ["a", "b", "own"]
    restore(empty_dsn, script(dsn))
    assert tables(empty_connection) == ["a", "own"]
    assert empty_connection.execute("SELECT version FROM safe.a").fetchall() == [(2,)]


def test_a_script_changes_nothing_where_kanon_publishes(clinic: str, connection: psycopg.Connection) -> None:
    before = rows(connection, "safe.ages")
    answer = psql(clinic, script(clinic))
    assert answer.returncode == 3
    assert tables(connection) == []
    assert rows(connection, "safe.ages") == before


@settings(
    max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.floats(0, 1, exclude_max=True))
def test_a_script_that_is_cut_off_changes_nothing(
    dsn: str,
    connection: psycopg.Connection,
    empty_dsn: str,
    empty_connection: psycopg.Connection,
    part: float,
) -> None:
    if not tables(empty_connection):
        publish(connection, "t", "SELECT i AS version, ':x''\\' AS s FROM generate_series(1, 30) AS i")
        restore(empty_dsn, script(dsn))
    text = script(dsn).removesuffix("\n").removesuffix("COMMIT;")
    psql(empty_dsn, text[: round(len(text) * part)])
    assert tables(empty_connection) == ["t"]
    assert empty_connection.execute("SELECT count(*) FROM safe.t").fetchone() == (30,)


def test_no_row_is_taken_for_a_statement_where_its_table_cannot_be_made(
    dsn: str, connection: psycopg.Connection, empty_dsn: str, empty_connection: psycopg.Connection
) -> None:
    publish(connection, "t", "SELECT 'ROLLBACK; CREATE TABLE public.harm (i integer);'::text AS s")
    psql(empty_dsn, script(dsn).replace("CREATE TABLE", "CREATE TABLET"))
    assert empty_connection.execute("SELECT to_regclass('public.harm')").fetchone() == (None,)


def test_a_reader_with_an_older_snapshot_sees_the_new_table_whole(
    dsn: str, connection: psycopg.Connection, empty_dsn: str, empty_connection: psycopg.Connection
) -> None:
    publish(connection, "t", "SELECT i FROM generate_series(1, 30) AS i")
    restore(empty_dsn, script(dsn))
    with psycopg.connect(empty_dsn) as reader:
        reader.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        reader.execute("SELECT 1")
        restore(empty_dsn, script(dsn))
        assert reader.execute("SELECT count(*) FROM safe.t").fetchone() == (30,)


def test_nothing_is_published_or_refreshed_while_releases_are_written(
    clinic: str, connection: psycopg.Connection
) -> None:
    found = connection.execute("SELECT storage FROM kanon.releases WHERE release = 'towns'").fetchone()
    assert found is not None
    connection.execute("DELETE FROM hushed.wardens WHERE number <= 100; SET lock_timeout = '50ms'")
    refreshing = threading.Thread(target=_refresh, args=(clinic,))
    with connect(clinic) as reading, published(reading):
        for change in (f"REFRESH MATERIALIZED VIEW {found[0]}", "DROP VIEW safe.ages"):
            with pytest.raises(psycopg.errors.LockNotAvailable):
                connection.execute(change.encode())
        refreshing.start()
        refreshing.join(2)
        assert refreshing.is_alive()
        assert len(rows(reading, "safe.towns")) == 400
    refreshing.join()
    assert len(rows(connection, "safe.towns")) == 300


def _refresh(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as other:
        other.execute("SELECT kanon_refresh('towns')")


def test_what_is_published_while_releases_are_looked_up_is_read_whole(
    dsn: str, connection: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(connection, "a", "SELECT 1 AS version")
    publish(connection, "gone", "SELECT 1 AS version")
    hold, changed = publishing._hold, []

    def late(db: Any, row: Any) -> None:
        if not changed:
            changed.append(True)
            publish(connection, "b", "SELECT 1 AS version")
            connection.execute("DROP VIEW safe.gone; DROP VIEW safe.a")
            publish(connection, "a", "SELECT 2 AS version")
        hold(db, row)

    monkeypatch.setattr(publishing, "_hold", late)
    with connect(dsn) as reading, published(reading) as (_, found):
        assert [one.name for one in found] == ["a", "b"]
        assert rows(reading, "safe.a") == [("(2)",)]


def test_one_may_dump_what_one_may_read(
    clinic: str, connection: psycopg.Connection, empty_dsn: str, empty_connection: psycopg.Connection
) -> None:
    with role(clinic, "guest") as guest, psycopg.connect(clinic) as login:
        login.execute(f"SET ROLE {guest}".encode())
        login.commit()
        with pytest.raises(UnknownName, match="no release that you may read"):
            dump(login, io.BytesIO())
        connection.execute(
            f"GRANT USAGE ON SCHEMA safe TO {guest}; GRANT SELECT ON safe.towns TO {guest}".encode()
        )
        with pytest.raises(UnknownName, match="no release"):
            dump(login, io.BytesIO(), ["ages"])
        made = io.BytesIO()
        assert dump(login, made).releases == ("towns",)
        restore(empty_dsn, made.getvalue().decode())
        assert rows(empty_connection, "safe.towns") == rows(connection, "safe.towns")


def test_the_client_writes_the_same_script(
    clinic: str, empty_dsn: str, empty_connection: psycopg.Connection
) -> None:
    made = io.BytesIO()
    assert client.dump(clinic, made, "safe.towns", '"ages"', "towns").releases == ("towns", "ages")
    restore(empty_dsn, made.getvalue().decode())
    assert tables(empty_connection) == ["ages", "towns"]
    for wrong in (5, None, "", "nothing"):
        with pytest.raises(InputError):
            client.dump(clinic, io.BytesIO(), wrong)
    with psycopg.connect(clinic) as connection:
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        connection.execute("SELECT 1")
        with pytest.raises(DatabaseError):
            client.dump(connection, io.BytesIO())


def test_keys_join_and_lead_to_tables_of_the_script(
    interface: Interface, empty_dsn: str, empty_connection: psycopg.Connection
) -> None:
    fill_clinic(interface.connection, 1)
    declare_clinic(interface)
    tables = ["admissions", "lab_results", "invoices"]
    interface.anonymize("patients", 3, tables=tables, time_limit=1.0, l=2)  # with cells that are suppressed
    dsn = interface.dsn
    restore(empty_dsn, script(dsn) + script(dsn))
    kinds = empty_connection.execute(
        "SELECT conrelid::regclass::text, contype, confrelid::regclass::text FROM pg_constraint"
        " WHERE connamespace = 'safe'::regnamespace AND contype IN ('p', 'f') ORDER BY 1, 2, 3"
    ).fetchall()
    assert kinds == [
        ("safe.admissions", "f", "safe.patients"),
        ("safe.admissions", "p", "-"),
        ("safe.invoices", "f", "safe.patients"),
        ("safe.lab_results", "f", "safe.admissions"),
        ("safe.lab_results", "f", "safe.patients"),
        ("safe.patients", "p", "-"),
    ]
    for table in ("patients", *tables):
        view = f"safe.{table}"
        assert rows(empty_connection, view) == rows(interface.connection, view)
    interface.refresh("patients")
    restore(empty_dsn, script(dsn, "lab_results"))
    for table in ("patients", *tables):
        view = f"safe.{table}"
        assert rows(empty_connection, view) == rows(interface.connection, view)


@pytest.mark.parametrize("named", ["patients", "safe.admissions", "lab_results"])
def test_naming_one_of_linked_tables_writes_all_and_says_so(interface: Interface, named: str) -> None:
    fill_clinic(interface.connection, 1)
    declare_clinic(interface)
    interface.anonymize("patients", 3, tables=["admissions", "lab_results"], time_limit=1.0)
    interface.anonymize("patients", 3, time_limit=1.0, release="stranger")
    answer = CliRunner().invoke(app, ["dump", named, "--dsn", interface.dsn])
    assert answer.exit_code == 0
    assert "written together" in answer.stderr
    for table in ("patients", "admissions", "lab_results"):
        assert table in answer.stderr
        assert f'RENAME TO "{table}"' in answer.stdout
    assert "stranger" not in answer.output


def test_no_table_refers_to_one_that_the_login_may_not_read(interface: Interface) -> None:
    fill_clinic(interface.connection, 1)
    declare_clinic(interface)
    interface.anonymize("patients", 3, tables=["admissions", "lab_results"], time_limit=1.0)
    with (
        role(interface.dsn, "guest") as guest,
        psycopg.connect(interface.dsn) as login,
    ):
        interface.connection.execute(
            f"GRANT USAGE ON SCHEMA safe, kanon TO {guest};"
            f"GRANT SELECT ON safe.patients, kanon.published_roles, kanon.published_keys TO {guest}".encode()
        )
        login.execute(f"SET ROLE {guest}".encode())
        login.commit()
        assert dump(login, io.BytesIO(), ["patients"]).releases == ("patients",)
        interface.connection.execute(f"GRANT SELECT ON safe.lab_results TO {guest}".encode())
        for names in (["lab_results"], []):
            with pytest.raises(NotPermitted, match="may not read"):
                dump(login, io.BytesIO(), names)


def test_tables_that_wait_for_a_refresh_are_not_handed_over_without_their_rows(interface: Interface) -> None:
    fill_clinic(interface.connection, 1)
    declare_clinic(interface)
    interface.anonymize("patients", 3, tables=["admissions", "invoices"], time_limit=1.0)
    interface.connection.execute("REFRESH MATERIALIZED VIEW kanon.patients_storage")
    with pytest.raises(ReleaseError, match="shows no rows since"):
        script(interface.dsn)
    interface.refresh("patients")
    assert "safe" in script(interface.dsn)
    # nobody has invoices any more: that is how it is
    interface.connection.execute("TRUNCATE invoices")
    interface.refresh("patients")
    assert "invoices" in script(interface.dsn)
