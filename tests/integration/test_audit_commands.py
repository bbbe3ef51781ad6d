"""The commands ``audit``, ``suggest``, ``risk`` and ``identify``."""

import json
import re
from typing import Any

import psycopg
import pytest
from typer.testing import CliRunner

from kanon_pg import client
from kanon_pg.admin.install.installer import install
from kanon_pg.cli import app
from tests.fixtures.audits import COLUMNS
from tests.fixtures.interfaces import Interface

OPTIONS = [f"--column={name}" for name in COLUMNS]


def kanon(dsn: str, *arguments: str) -> Any:
    return CliRunner().invoke(app, [*arguments, "--dsn", dsn])


def test_json_has_the_sets_of_the_functions_and_details(
    audit_interfaces: tuple[Interface, Interface],
) -> None:
    interface = audit_interfaces[0]
    shown = kanon(interface.dsn, "audit", "people", "-k", "5", *OPTIONS, "--json")
    assert shown.exit_code == 0, shown.stderr
    found = json.loads(shown.stdout)
    assert [tuple(one["columns"]) for one in found["sets"]] == [
        one.columns for one in interface.audit("people", 5, columns=COLUMNS)
    ]
    assert (found["k"], found["rows"], found["is_complete"]) == (5, 211, True)
    assert [one["name"] for one in found["column_figures"]] == COLUMNS


def test_terminal_and_markdown_start_with_sentences(audit_interfaces: tuple[Interface, Interface]) -> None:
    dsn = audit_interfaces[0].dsn
    shown = kanon(dsn, "audit", "of_persons", "-k5").stdout
    assert shown.startswith('Audit of "public"."of_persons", k = 5\n211 rows, 106 people')
    assert "By age, ward and sex together" in shown
    assert 'SELECT * FROM kanon_anonymize(\'"public"."of_persons"\', 5);' in shown
    markdown = kanon(dsn, "audit", "of_persons", "-k5", "--markdown").stdout
    assert markdown.startswith('# Audit of "public"."of\\_persons", k = 5\n')


@pytest.mark.parametrize(("condition", "code"), [("k<2", 4), ("k < 1000", 4), ("k<5", 4)])
def test_a_gate_that_fails(audit_interfaces: tuple[Interface, Interface], condition: str, code: int) -> None:
    shown = kanon(audit_interfaces[0].dsn, "audit", "people", "--fail-on", condition, "--json")
    assert shown.exit_code == code
    assert json.loads(shown.stdout)["k"] == int(condition.split("<")[1])
    assert "shared by fewer than" in shown.stderr


def test_a_gate_that_holds(audit_interfaces: tuple[Interface, Interface]) -> None:
    shown = kanon(audit_interfaces[0].dsn, "audit", "people", "--column=sex", "--fail-on=k<5", "-k", "100")
    assert shown.exit_code == 0, shown.stderr
    assert "k = 100" in shown.stdout


@pytest.mark.parametrize(
    ("arguments", "sqlstate", "words"),
    [
        (["people"], "KA100", "k is missing"),
        (["people", "--fail-on=risk>1"], "KA100", "not a condition that is known"),
        (["people", "--fail-on=k<1"], "KA100", "at least 2"),
        (["people", "-k1"], "KA100", "at least 2"),
        (["nowhere", "-k5"], "KA101", "no table or view"),
        (["empty", "-k5"], "KA100", "no rows"),
    ],
)
def test_refusals(
    audit_interfaces: tuple[Interface, Interface], arguments: list[str], sqlstate: str, words: str
) -> None:
    answer = kanon(audit_interfaces[1].dsn, "audit", *arguments, "--json")
    assert answer.exit_code == 1
    error = json.loads(answer.stderr)
    assert error["sqlstate"] == sqlstate
    assert words in error["message"]


def test_suggestions(audit_interfaces: tuple[Interface, Interface]) -> None:
    dsn = audit_interfaces[0].dsn
    found = json.loads(kanon(dsn, "suggest", "people", "--json").stdout)
    assert {one["column"]: one["role"] for one in found}["id"] == "identifier"
    shown = kanon(dsn, "suggest", "people")
    assert shown.stdout.split()[:2] == ["column", "role"]
    proposed = re.search(r"note: Nothing was declared\. To do as proposed: (SELECT .*;)", shown.stderr)
    assert proposed is not None
    try:
        audit_interfaces[0].connection.execute(proposed[1])
        roles = (
            audit_interfaces[0]
            .connection.execute(
                "select identifiers, quasi_identifiers from kanon.declarations"
                " where relation = 'people'::regclass"
            )
            .fetchone()
        )
    finally:
        kanon(dsn, "undeclare", "people")
    assert roles == (["id", "doc"], ["age", "ward", "sex"])


def test_tables_that_nobody_declared(empty_dsn: str) -> None:
    install(empty_dsn)
    with psycopg.connect(empty_dsn, autocommit=True) as connection:
        connection.execute("create table t as select i % 3 as a, i % 4 as b from generate_series(1, 12) as i")
    found = client.audit(empty_dsn, "t", 2, details=True)
    assert [one.columns for one in found.sets] == [("a", "b")]
    assert not client.is_anonymous(empty_dsn, "t", 2)
    assert len(client.identify(empty_dsn, "t")) == 2
    assert len(client.suggest(empty_dsn, "t")) == 2
    assert len(client.risk(empty_dsn, "t")) == 1


def test_risk(audit_interfaces: tuple[Interface, Interface]) -> None:
    interface = audit_interfaces[0]
    shown = kanon(interface.dsn, "risk", "people", *OPTIONS, "--sensitive=illness", "--population=register")
    assert shown.exit_code == 0, shown.stderr
    (expected,) = interface.risk("people", columns=COLUMNS, sensitive=["illness"], population="register")
    for text in (
        '"public"."people"',
        f"{expected.prosecutor_risk:.2%} at worst, {expected.prosecutor_average:.2%} on average",
        "(from: population table)",
        "alone by 2 columns",
        "illness is disclosed",
    ):
        assert text in shown.stdout
    (found,) = json.loads(kanon(interface.dsn, "risk", "people", *OPTIONS, "--json").stdout)
    assert (found["columns"], found["rows"], found["classes"]) == (COLUMNS, 211, expected.classes)


def test_identify(audit_interfaces: tuple[Interface, Interface]) -> None:
    interface = audit_interfaces[0]
    shown = kanon(interface.dsn, "identify", "people", *OPTIONS)
    assert shown.exit_code == 0, shown.stderr
    assert shown.stdout.split()[:2] == ["columns", "size"]
    found = json.loads(kanon(interface.dsn, "identify", "people", *OPTIONS, "--json").stdout)
    expected = interface.identify("people", columns=COLUMNS)
    assert [tuple(one["columns"]) for one in found] == [one.columns for one in expected]


@pytest.mark.parametrize(
    "arguments",
    [
        ("risk", "people", "--threshold=1"),
        ("risk", "people", "--sampling-fraction=0"),
        ("risk", "people", "--sampling-fraction=0.5", "--population=register"),
        ("identify", "people", "--time-limit=0"),
        ("identify", "empty"),
        ("risk", "empty"),
    ],
)
def test_refusals_of_risk_and_identify(
    audit_interfaces: tuple[Interface, Interface], arguments: tuple[str, ...]
) -> None:
    answer = kanon(audit_interfaces[1].dsn, *arguments, "--json")
    assert answer.exit_code == 1
    assert json.loads(answer.stderr)["sqlstate"] == "KA100"


@pytest.mark.parametrize(("condition", "code"), [("k<2", 0), ("k<5", 4)])
def test_a_gate_is_decided_for_a_table_with_several_releases(
    dsn: str, connection: psycopg.Connection, condition: str, code: int
) -> None:
    connection.execute(
        "create table people as select i as id, i / 4 as age from generate_series(0, 39) as i;"
        "alter table people add primary key (id)"
    )
    for name in ("one", "two"):
        connection.execute(
            "select kanon_anonymize('people', 4, '{age}', release => %s, options => '{\"remember\": 1}')",
            [name],
        )
    done = kanon(dsn, "audit", "people", "--column=age", "--fail-on", condition, "--json")
    assert done.exit_code == code, done.stderr
    assert ["one", "two"] in [together["releases"] for together in json.loads(done.stdout)["together"]]
