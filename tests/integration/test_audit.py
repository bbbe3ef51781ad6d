"""An audit finds what counting all sets of columns in SQL finds, needs no more than the right to read."""

import random
from dataclasses import asdict
from typing import Any

import pytest
from psycopg import sql

from kanon_pg.audit.findings import ViolatingSet
from tests.fixtures.audits import COLUMNS, minimal_in_sql
from tests.fixtures.interfaces import Interface
from tests.fixtures.releases import everything

_CELLS = {
    "a": ("integer", [1, 2, 2, 3]),
    "b": ("text", ["x", "y", None]),
    "c": ("numeric", ["1.0", "1.00", "2", None]),
    "d": ("float8", ["0", "-0", "NaN"]),
    "e": ("char(3)", ["u", "u ", "v"]),
}


def random_table(interface: Interface, name: str, seed: int) -> str | None:
    """Create a table; return the column that identifies people if it is declared."""
    chance = random.Random(seed)
    columns = ", ".join(f"{column} {kind}" for column, (kind, _) in _CELLS.items())
    interface.connection.execute(f"create table {name} ({columns}, who integer)".encode())
    people = chance.choice([3, 12, 40])
    rows = [
        [chance.choice(values) for _, values in _CELLS.values()] + [chance.choice([None, *range(people)])]
        for _ in range(chance.choice([5, 30, 90]))
    ]
    with interface.connection.cursor() as cursor:
        cursor.executemany(f"insert into {name} values (%s, %s, %s, %s, %s, %s)".encode(), rows)
    if seed % 2:
        interface.declare(name, quasi_identifiers=["a"], identifiers=["who"], entity="who")
        return "who"
    return None


@pytest.mark.parametrize("seed", range(6))
def test_all_sets_and_figures_are_those_of_plain_sql(audit_interface: Interface, seed: int) -> None:
    name = f"random_{seed}"
    person = random_table(audit_interface, name, seed)
    columns = [*_CELLS] if person else [*_CELLS, "who"]
    try:
        for k in (2, 3, 5):
            expected = list(minimal_in_sql(audit_interface.connection, name, columns, k, person))
            least = len(expected[0][0]) if expected else None
            found = audit_interface.audit(name, k)
            assert [one.columns for one in found] == [chosen for chosen, _ in expected]
            for one, (chosen, figures) in zip(found, expected, strict=True):
                assert (one.size, one.kind) == (
                    len(chosen),
                    "minimum" if len(chosen) == least else "minimal",
                )
                counted = asdict(one)
                assert {name: counted[name] for name in figures} == pytest.approx(figures)
    finally:
        if person is not None:
            audit_interface.undeclare(name)
        audit_interface.connection.execute(f"drop table {name}".encode())


def test_both_interfaces_say_the_same(audit_interfaces: tuple[Interface, Interface]) -> None:
    for relation, k, options in (
        ("people", 5, {"columns": ["sex", "ward", "age"]}),
        ("of_persons", 5, {}),
        ("of_persons", 40, {"max_columns": 1}),
    ):
        first, second = (interface.audit(relation, k, **options) for interface in audit_interfaces)
        assert first == second
        assert first
    for ask in (
        lambda interface: interface.identify("people", columns=[*COLUMNS, "illness"]),
        lambda interface: interface.risk("people", columns=COLUMNS, sensitive=["illness"]),
        lambda interface: [interface.is_anonymous("of_persons", k) for k in (2, 40)],
    ):
        first, second = map(ask, audit_interfaces)
        assert first == second
        assert first


def wide_table(interface: Interface) -> None:
    """Create a table of 40 columns and 20,000 rows whose minimal violating sets are beyond counting."""
    columns = sql.SQL(", ").join(
        sql.SQL("(hashint8(i * 40 + {0}) & 1)::int as {1}").format(sql.Literal(n), sql.Identifier(f"c{n}"))
        for n in range(40)
    )
    interface.connection.execute(
        sql.SQL("create table wide as select {} from generate_series(1, 20000) as i").format(columns)
    )


def test_when_the_time_is_over_what_is_proven_is_returned(audit_interface: Interface) -> None:
    wide_table(audit_interface)
    try:
        audit_interface.notices.clear()
        found = audit_interface.audit("wide", 2, time_limit=4)
        assert any("may be missing" in notice or "are known" in notice for notice in audit_interface.notices)
        for one in found[:3]:
            smaller = [audit_minus(one, name) for name in one.columns]
            assert small(audit_interface, "wide", one.columns) < 2
            assert all(small(audit_interface, "wide", columns) >= 2 for columns in smaller)
    finally:
        audit_interface.connection.execute("drop table wide")


def audit_minus(found: ViolatingSet, name: str) -> tuple[str, ...]:
    return tuple(column for column in found.columns if column != name)


def small(interface: Interface, table: str, columns: tuple[str, ...]) -> int:
    query = sql.SQL("select min(n) from (select count(*) as n from {} group by {}) as c").format(
        sql.Identifier(table), sql.SQL(", ").join(map(sql.Identifier, columns)) if columns else sql.SQL("()")
    )
    row: Any = interface.connection.execute(query).fetchone()
    return int(row[0])


def test_nothing_is_written_and_settings_stay(audit_interface: Interface) -> None:
    names = "work_mem", "enable_mergejoin", "datestyle", "statement_timeout", "application_name"
    shown = [audit_interface.connection.execute(f"show {name}".encode()).fetchone() for name in names]
    audit_interface.connection.execute("select kanon.grant_read('people')")
    audit_interface.connection.execute("set default_transaction_read_only = on")
    try:
        before = everything(audit_interface.connection)
        audit_interface.audit("people", 5, columns=COLUMNS)
        assert everything(audit_interface.connection) == before
    finally:
        audit_interface.connection.execute("reset default_transaction_read_only")
        audit_interface.connection.execute("select kanon.revoke_read('people')")
    assert [audit_interface.connection.execute(f"show {name}".encode()).fetchone() for name in names] == shown


def test_type_has_the_fields_of_the_dataclass(audit_interfaces: tuple[Interface, Interface]) -> None:
    rows = audit_interfaces[0].connection.execute(
        "select attname from pg_attribute where attrelid = 'kanon.violating_set'::regclass and attnum > 0"
        " order by attnum"
    )
    assert [name for (name,) in rows] == list(ViolatingSet.__dataclass_fields__)


# --- details, for reports ---------------------------------------------------------------------------------
