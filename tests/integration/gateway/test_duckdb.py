"""DuckDB's extension for PostgreSQL through the gateway: attached tables, and queries for the server.

In a process of its own, because DuckDB keeps Python's lock while it waits, and here the gateway is a thread.
"""

import json
import subprocess
import sys

import pytest

from tests.fixtures.gateways import ClinicGateway

_MISSING = "DUCKDB IS NOT TESTED: install duckdb-extension-postgres-scanner (make development does)"
pytest.importorskip("duckdb", reason=_MISSING)
pytest.importorskip("duckdb_extension_postgres_scanner", reason=_MISSING)

_PROGRAM = """
import json
import sys
from pathlib import Path

import duckdb
import duckdb_extension_postgres_scanner as extension

dsn, *statements = sys.argv[1:]
(file,) = Path(extension.__file__).parent.rglob("*.duckdb_extension")
connection = duckdb.connect()
connection.execute("SET enable_progress_bar = false")  # it would be printed between the answers
connection.execute(f"LOAD '{file}'")
dsn = dsn.replace("'", "''")
connection.execute(f"ATTACH '{dsn}' AS clinic (TYPE postgres, READ_ONLY, ISOLATION_LEVEL 'READ COMMITTED')")
for statement in statements:
    try:
        print(json.dumps(connection.execute(statement).fetchall()))
    except duckdb.Error as error:
        print(json.dumps(str(error)))
"""


def answers(gateway: ClinicGateway, *statements: str) -> list[object]:
    """Return what each statement gives with the clinic attached: rows, or an error's text."""
    run = subprocess.run(
        [sys.executable, "-c", _PROGRAM, gateway.dsn(), *statements],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return [json.loads(line) for line in run.stdout.splitlines()]


def test_attached_tables_are_listed_and_read(gateway: ClinicGateway) -> None:
    assert answers(
        gateway,
        "SELECT schema, name FROM (SHOW ALL TABLES) WHERE schema = 'safe' ORDER BY ALL",
        "SELECT sum(floor)::INTEGER FROM clinic.wards",
        "SELECT count(*) FROM clinic.safe.numbers",
    ) == [[["safe", "numbers"]], [[6]], [[30_000]]]


def test_queries_of_protected_tables_run_in_the_server(gateway: ClinicGateway) -> None:
    query = "SELECT sex, count(*) AS n FROM patients GROUP BY sex"
    found, error = answers(
        gateway,
        f"FROM postgres_query('clinic', '{query}') ORDER BY sex",
        "SELECT name FROM clinic.patients",
    )
    assert found == [["F", 600], ["M", 600]]
    assert "Rows of single people are not shown" in str(error)
