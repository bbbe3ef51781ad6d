"""A suppression curve agrees with releases, needs no more than the right to read, and changes nothing."""

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import psycopg
import pytest
from typer.testing import CliRunner

from kanon_pg import client
from kanon_pg.admin.install.installer import install
from kanon_pg.cli import app
from kanon_pg.curves import CurvePoint
from kanon_pg.errors import InstallError, NotPermitted
from tests.fixtures.audits import COLUMNS
from tests.fixtures.curves import KS, without_times
from tests.fixtures.databases import role
from tests.fixtures.interfaces import Interface, interface_of
from tests.fixtures.releases import everything


def test_both_interfaces_give_the_same_curve(audit_interfaces: tuple[Interface, Interface]) -> None:
    """All of it by the greedy method, which no clock ends; by a search, what is proven."""
    for relation, columns in (("people", COLUMNS), ("of_persons", None)):
        greedy, searched = (
            [
                interface.curve(relation, ks=KS, quasi_identifiers=columns, seed=3, method=method)
                for interface in audit_interfaces
            ]
            for method in ("greedy", "auto")
        )
        assert without_times(greedy[0]) == without_times(greedy[1])
        for server, client_ in zip(*searched, strict=True):
            assert server.k == client_.k
            assert (server.lower_bound or 0) <= client_.weighted_cost
            assert (client_.lower_bound or 0) <= server.weighted_cost
            if server.optimal and client_.optimal:
                assert server.weighted_cost == client_.weighted_cost


def test_a_curve_needs_a_reader_where_nothing_can_be_written(audit_interface: Interface) -> None:
    connection = audit_interface.connection
    connection.execute("set default_transaction_read_only = on")
    try:
        with pytest.raises(NotPermitted, match="has no reader"):
            audit_interface.curve("people", ks=KS, quasi_identifiers=COLUMNS)
        with connection.transaction():
            connection.execute("set transaction read write; select kanon.grant_read('people')")
        before = everything(connection)
        assert len(audit_interface.curve("people", ks=KS, quasi_identifiers=COLUMNS)) == len(KS)
        assert everything(connection) == before
    finally:
        connection.execute("reset default_transaction_read_only")
        connection.execute("select kanon.revoke_read('people')")


def test_a_curve_of_a_release_is_by_its_quasi_identifiers(interface: Interface) -> None:
    """Whoever may read it knows them; its other columns and the list of suppressed ones do not count."""
    interface.connection.execute(
        "create table t as"
        " select i % 7 as a, i % 5 as b, i % 2 as s, i as note from generate_series(1, 60) as i"
    )
    interface.declare("t", quasi_identifiers=["a", "b"], sensitive=["s"], insensitive=["note"])
    interface.anonymize("t", 4)
    ks = [2, 4, 25]
    found = without_times(interface.curve("safe.t", ks=ks, method="greedy"))
    named = interface.curve("safe.t", ks=ks, method="greedy", quasi_identifiers=["a", "b"])
    assert found == without_times(named)
    assert [point["suppressed_cells"] == 0 for point in found] == [True, True, False]
    with role(interface.dsn, "reader", "IN ROLE kanon_curator") as reader:
        interface.connection.execute(f"grant select on safe.t to {reader}".encode())
        with interface_of(reader, interface) as own:
            assert without_times(own.curve("safe.t", ks=ks, method="greedy")) == found
            assert not own.notices


def test_settings_of_the_session_stay(audit_interface: Interface) -> None:
    names = "work_mem", "enable_mergejoin", "datestyle", "statement_timeout", "application_name"
    shown = [audit_interface.connection.execute(f"show {name}").fetchone() for name in names]
    audit_interface.curve("people", ks=[3], quasi_identifiers=COLUMNS)
    assert [audit_interface.connection.execute(f"show {name}").fetchone() for name in names] == shown


# --- without kanon in the database, and from a shell --------------------------------------------------------
def test_nothing_reads_without_an_installation(empty_dsn: str) -> None:
    with psycopg.connect(empty_dsn, autocommit=True) as connection:
        connection.execute("create table t as select i % 3 as a, i % 2 as b from generate_series(1, 12) as i")
    with pytest.raises(InstallError, match="not installed"):
        client.curve(empty_dsn, "t", [2, 4])


def test_what_the_client_returns(empty_dsn: str) -> None:
    install(empty_dsn)
    with psycopg.connect(empty_dsn, autocommit=True) as connection:
        connection.execute("create table t as select i % 3 as a, i % 2 as b from generate_series(1, 12) as i")
    found = client.curve(empty_dsn, "t", [2, 4])
    assert (found.rows, found.people, found.row_types, found.row_weight) == (12, 12, 6, 2.0)
    assert found.quasi_identifiers == ("a", "b")
    assert [point.suppressed_cells for point in found.points] == [0, 12]


def kanon(dsn: str, *arguments: str) -> Any:
    return CliRunner().invoke(app, ["curve", *arguments, "--dsn", dsn])


def test_command(audit_interface: Interface) -> None:
    options = [
        "people",
        "--ks=2,5,25",
        "--seed=1",
        "--method=greedy",
        *(f"--quasi-identifier={name}" for name in COLUMNS),
    ]
    shown = kanon(audit_interface.dsn, *options, "--json")
    assert shown.exit_code == 0, shown.stderr
    found = json.loads(shown.stdout)
    points = [CurvePoint(**point) for point in found["points"]]
    assert without_times(points) == without_times(
        audit_interface.curve("people", ks=[2, 5, 25], quasi_identifiers=COLUMNS, seed=1, method="greedy")
    )
    assert (found["relation"], found["rows"]) == ('"public"."people"', 211)
    table = kanon(audit_interface.dsn, *options).stdout.splitlines()
    assert table[0].split()[:3] == ["k", "suppressed", "share"]
    assert [line.split()[0] for line in table[1:]] == ["2", "5", "25"]


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_command_draws(audit_interfaces: tuple[Interface, Interface], tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"curve.{suffix}"
    drawn = kanon(audit_interfaces[1].dsn, "of_persons", "--ks=2,5", "--plot", str(path))
    assert drawn.exit_code == 0, drawn.stderr
    assert path.stat().st_size > 1000
    assert f"the figure is in {path}" in drawn.stderr


@pytest.mark.parametrize(
    ("arguments", "sqlstate", "words"),
    [
        (["people", "--ks=2;5"], "KA100", "whole numbers with commas"),
        (["people", "--ks="], "KA100", "whole numbers with commas"),
        (["people", "--ks=2,2"], "KA100", "given twice"),
        (["people", "--plot=curve.gif"], "KA100", "which format"),
        (["nowhere"], "KA101", "no table or view"),
        (["empty"], "KA200", "is empty"),
        (["people", "--patterns={"], "KA100", "not valid JSON"),
    ],
)
def test_command_refuses(
    audit_interfaces: tuple[Interface, Interface], arguments: list[str], sqlstate: str, words: str
) -> None:
    answer = kanon(audit_interfaces[1].dsn, *arguments, "--json")
    assert answer.exit_code == 1
    error = json.loads(answer.stderr)
    assert error["sqlstate"] == sqlstate
    assert words in error["message"]


def test_type_has_the_fields_of_the_dataclass_each_with_a_comment(
    audit_interfaces: tuple[Interface, Interface],
) -> None:
    rows = (
        audit_interfaces[0]
        .connection.execute(
            "select attname, col_description(attrelid, attnum) from pg_attribute"
            " where attrelid = 'kanon.curve_point'::regclass and attnum > 0 order by attnum"
        )
        .fetchall()
    )
    assert [name for name, _ in rows] == [field.name for field in fields(CurvePoint)]
    assert all(comment for _, comment in rows)
