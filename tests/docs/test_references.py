"""The reference pages say what the code says; `python -m tests.docs --write` brings them up to date."""

import inspect
import re

import psycopg

from kanon_pg import client
from kanon_pg.errors import KanonError
from tests.docs.__main__ import CLI, CODES, SQL
from tests.docs.pages import ROOT
from tests.docs.references import cli_reference, code_reference, error_tree, sql_reference


def test_sql_reference_is_not_stale(connection: psycopg.Connection) -> None:
    assert SQL.read_text(encoding="utf-8") == sql_reference(connection)


def test_cli_reference_is_not_stale() -> None:
    assert CLI.read_text(encoding="utf-8") == cli_reference()


def test_code_reference_is_not_stale() -> None:
    assert CODES.read_text(encoding="utf-8") == code_reference()


def test_python_reference_lists_every_function_with_its_parameters() -> None:
    text = (ROOT / "docs/reference/python.md").read_text(encoding="utf-8")
    listed = dict(re.findall(r"^\| `(\w+)\((.*?)\)` \|", text, re.MULTILINE))
    written = {
        name: list(inspect.signature(getattr(client, name)).parameters) for name in sorted(client.__all__)
    }
    assert {name: re.findall(r"\w+", arguments) for name, arguments in listed.items()} == written


def test_every_error_has_a_row() -> None:
    text = (ROOT / "docs/reference/errors.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| `KA")]
    wanted = [
        f"| `{kind.sqlstate}` | `{kind.__name__}` |"
        for _, kind in error_tree(KanonError)
        if kind.sqlstate.startswith("KA")  # the others are PostgreSQL's own, such as the protocol's
    ]
    assert [row for row, start in zip(rows, wanted, strict=True) if not row.startswith(start)] == []
