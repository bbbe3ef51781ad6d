"""psql through the gateway: its own commands, several statements, variables."""

import os
import subprocess

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


def test_information_schema(gateway: ClinicGateway) -> None:
    tables = "select table_name from information_schema.tables where table_schema = 'public' order by 1;"
    columns = (
        "select column_name, data_type, is_nullable from information_schema.columns"
        " where table_name = 'patients' order by ordinal_position limit 2;"
    )
    assert lines(gateway, tables) == ["wards"]
    assert not lines(gateway, columns)


def test_variables_and_several_statements_in_one_line(gateway: ClinicGateway) -> None:
    found = lines(
        gateway,
        r"\set ward Surgery",
        "select count(*) from patients where ward = :'ward';",
        r"select 1\; select 3;",
        r"select count(*) as n from patients \gset",
        r"\echo :n",
    )
    assert found == ["400", "1", "3", "1200"]


def test_fetching_in_portions(gateway: ClinicGateway) -> None:
    assert (
        len(lines(gateway, r"\set FETCH_COUNT 2", "select ward, count(*) from patients group by ward;")) == 3
    )


def test_copying_to_a_file_of_the_client(gateway: ClinicGateway) -> None:
    found = lines(
        gateway, r"\copy (select ward, count(*) from patients group by ward order by ward) to stdout csv"
    )
    assert found == ["Cardiology,400", "Oncology,400", "Surgery,400"]
    assert "permission denied" in psql(gateway, r"\copy wards from stdin", "x", r"\.").stderr


def test_options_of_the_connection(gateway: ClinicGateway) -> None:
    allowed = psql(gateway, "show statement_timeout;", PGOPTIONS="-c statement_timeout=7s")
    assert allowed.stdout == "7s\n"
    refused = psql(gateway, "select 1;", PGOPTIONS="-c session_replication_role=replica")
    assert "permission denied to set parameter" in refused.stderr


def test_a_wrong_password_is_refused_by_the_server(gateway: ClinicGateway) -> None:
    assert "password authentication failed" in psql(gateway, "select 1;", PGPASSWORD="wrong").stderr
    assert "another database" in psql(gateway, "select 1;", PGDATABASE="postgres").stderr
