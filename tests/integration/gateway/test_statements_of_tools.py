"""Statements of tools that are no packages (JDBC, Metabase, Superset, Grafana): tests/integration/clients.

What they ask of the catalog is answered; what they ask of tables has the answer that the superuser gets.
"""

import re
from pathlib import Path

import psycopg
import pytest

from tests.fixtures.gateways import ClinicGateway

FOLDER = Path(__file__).parents[1] / "clients"
_STATEMENT = re.compile(r"^-- (catalog|data): (.+)\n((?:.+\n)+?)(?:\n|\Z)", re.MULTILINE)

STATEMENTS = [
    pytest.param(kind, text.strip(), id=f"{path.stem}: {name}")
    for path in sorted(FOLDER.glob("*.sql"))
    for kind, name, text in _STATEMENT.findall(path.read_text(encoding="utf-8"))
]


def test_all_statements_are_read() -> None:
    marks = sum(path.read_text(encoding="utf-8").count(";\n") for path in FOLDER.glob("*.sql"))
    assert marks == len(STATEMENTS) > 30


@pytest.mark.parametrize(("kind", "text"), STATEMENTS)
def test_a_statement_of_a_tool_is_answered(
    gateway: ClinicGateway, client: psycopg.Connection, kind: str, text: str
) -> None:
    cursor = client.execute(text.encode())
    if kind == "catalog":
        return
    with psycopg.connect(gateway.clinic.superuser) as superuser:
        direct = superuser.execute(text.encode())
        assert sorted(map(str, cursor.fetchall())) == sorted(map(str, direct.fetchall()))
        assert [column.name for column in cursor.description or ()] == [
            column.name for column in direct.description or ()
        ]
