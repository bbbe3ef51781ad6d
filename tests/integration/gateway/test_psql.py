"""psql through the gateway: its own commands, several statements, variables."""

from __future__ import annotations

import os
import subprocess

import psycopg
import pytest

from kanon_pg.admin.cluster.programs import newest_with_python
from tests.fixtures.gateways import ANALYST, PASSWORD, ClinicGateway


def psql(gateway: ClinicGateway, *commands: str, **environment: str) -> subprocess.CompletedProcess[str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    where = {
        "PGHOST": "127.0.0.1",
        "PGPORT": str(gateway.port),
        "PGUSER": ANALYST,
        "PGPASSWORD": PASSWORD,
        "PGDATABASE": gateway.clinic.database,
    }
    program = newest_with_python().program("psql")
    return subprocess.run(
        [program, "--no-psqlrc", "--no-align", "--tuples-only", "--file=-"],
        env=own | where | environment,
        input="\n".join(commands) + "\n",
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def lines(gateway: ClinicGateway, *commands: str) -> list[str]:
    answer = psql(gateway, *commands)
    assert not answer.stderr
    return answer.stdout.splitlines()


def test_tables_are_those_that_may_be_read_or_asked(gateway: ClinicGateway) -> None:
    assert [line.split("|")[:3] for line in lines(gateway, r"\dt")] == [
        ["public", "patients", "table"],
        ["public", "wards", "table"],
    ]
    assert [line.split("|")[1] for line in lines(gateway, r"\dv safe.*")] == ["numbers"]
    assert lines(gateway, r"\dn") == ["public|pg_database_owner", "safe|kanon_owner"]


def test_a_protected_table_is_described_by_its_columns(gateway: ClinicGateway) -> None:
    found = lines(gateway, r"\d patients")
    assert [line.split("|")[0] for line in found[:10]] == [
        *("admission", "patient_id", "name", "ssn", "birth_date", "sex", "zip", "ward", "diagnosis", "cost"),
    ]
    assert [line.split("|")[1] for line in lines(gateway, r"\di")] == [
        "patients_pkey",
        "wards_pkey",
    ]


@pytest.mark.parametrize(
    "name", ["salaries", "hidden_view", "visits", "kanon.protection", "kanon_catalog.tables"]
)
def test_what_may_not_be_read_or_asked_is_not_found(gateway: ClinicGateway, name: str) -> None:
    assert "Did not find any relation" in psql(gateway, rf"\d {name}").stderr


@pytest.mark.parametrize(
    "command",
    [
        r"\l", r"\l+", r"\df", r"\df+ kanon_query", r"\du", r"\dp", r"\dp patients", r"\di", r"\di+", r"\ds",
        r"\dm",
        r"\dT", r"\dT+", r"\dx", r"\dx+ plpgsql", r"\dt+", r"\d+ patients", r"\d+ wards", r"\d+ safe.numbers",
        r"\dn+", r"\dc", r"\dC", r"\dO", r"\do ||", r"\da count", r"\db", r"\des", r"\det", r"\dew",
        r"\dg",
        r"\dL", r"\dF", r"\dRp", r"\drds", r"\dy", r"\dA", r"\dP", r"\dX", r"\dconfig work_mem", r"\ddp",
        r"\sv safe.numbers", r"\encoding", r"\conninfo", r"\dS pg_class", r"\d pg_catalog.pg_class",
        r"\dt *.*",
    ],
)  # fmt: skip
def test_commands_that_look_at_catalogs(gateway: ClinicGateway, command: str) -> None:
    answer = psql(gateway, command)
    # "Did not find any" is an answer
    assert "ERROR" not in answer.stderr, answer.stderr


@pytest.mark.parametrize(
    "query",
    [
        "select relname, reltuples from pg_class where relname = 'patients'",
        "select relname, reltuples from pg_catalog.pg_class where oid = 'patients'::regclass",
        'select relname, reltuples from "pg_catalog"."pg_class" where relname = \'patients\'',
    ],
)
def test_the_number_of_rows_is_not_shown(gateway: ClinicGateway, query: str) -> None:
    with psycopg.connect(gateway.clinic.superuser, autocommit=True) as connection:
        connection.execute("analyze patients")
    assert lines(gateway, query + ";") == ["patients|-1"]
    assert lines(gateway, "select pg_table_size('patients'), pg_relation_size('patients', 'main');") == ["|"]


def test_definitions_with_values_are_not_shown(gateway: ClinicGateway) -> None:
    found = lines(
        gateway,
        "select pg_get_viewdef('hidden_view'::regclass);",
        "select count(*) from pg_constraint where contype = 'c' and conrelid <> 0;",
        "select count(*) from pg_views where viewname = 'hidden_view';",
        "select pg_get_viewdef('safe.numbers'::regclass) <> '';",
    )
    assert found == ["", "0", "0", "t"]


@pytest.mark.parametrize(
    "catalog",
    [
        "pg_stats",
        "pg_statistic",
        "pg_stat_activity",
        "pg_stat_all_tables",
        "pg_authid",
        "pg_locks",
        "pg_shadow",
    ],
)
def test_catalogs_with_statistics_or_secrets_are_refused(gateway: ClinicGateway, catalog: str) -> None:
    for name in (catalog, f"pg_catalog.{catalog}", f'"{catalog}"'):
        assert "does not pass the gateway" in psql(gateway, f"select * from {name};").stderr


def test_information_schema(gateway: ClinicGateway) -> None:
    tables = "select table_name from information_schema.tables where table_schema = 'public' order by 1;"
    columns = (
        "select column_name, data_type, is_nullable from information_schema.columns"
        " where table_name = 'patients' order by ordinal_position limit 2;"
    )
    assert lines(gateway, tables) == ["patients", "wards"]
    assert lines(gateway, columns) == ["admission|integer|NO", "patient_id|integer|NO"]


def test_variables_and_several_statements_in_one_line(gateway: ClinicGateway) -> None:
    found = lines(
        gateway,
        r"\set ward Surgery",
        "select count(*) from patients where ward = :'ward';",
        r"select 1\; select count(*) from patients\; select 3;",
        r"select count(*) as n from patients \gset",
        r"\echo :n",
    )
    assert found == ["400", "1", "1200", "3", "1200"]


def test_one_refused_statement_refuses_the_whole_text(gateway: ClinicGateway) -> None:
    answer = psql(gateway, r"select 1\; select name from patients\; select 3;", "select 4;")
    assert answer.stdout == "4\n"
    assert "names people" in answer.stderr


def test_fetching_in_portions(gateway: ClinicGateway) -> None:
    assert (
        len(lines(gateway, r"\set FETCH_COUNT 2", "select ward, count(*) from patients group by ward;")) == 3
    )


def test_copying_to_a_file_of_the_client(gateway: ClinicGateway) -> None:
    found = lines(
        gateway, r"\copy (select ward, count(*) from patients group by ward order by ward) to stdout csv"
    )
    assert found == ["Cardiology,400", "Oncology,400", "Surgery,400"]
    assert "Only queries are copied" in psql(gateway, r"\copy wards from stdin", "x", r"\.").stderr


def test_options_of_the_connection(gateway: ClinicGateway) -> None:
    allowed = psql(gateway, "show statement_timeout;", PGOPTIONS="-c statement_timeout=7s")
    assert allowed.stdout == "7s\n"
    for options in ("-c session_replication_role=replica", "-c standard_conforming_strings=off", "--x"):
        assert "may not start with" in psql(gateway, "select 1;", PGOPTIONS=options).stderr
    assert "may not start with" in psql(gateway, "select 1;", PGCLIENTENCODING="LATIN1").stderr


def test_a_wrong_password_is_refused_by_the_server(gateway: ClinicGateway) -> None:
    assert "password authentication failed" in psql(gateway, "select 1;", PGPASSWORD="wrong").stderr
    assert "another database" in psql(gateway, "select 1;", PGDATABASE="postgres").stderr
