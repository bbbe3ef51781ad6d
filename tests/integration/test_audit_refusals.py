"""What audits refuse, in the same words through both interfaces, and whose rights count."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kanon_pg.errors import (
    InputError,
    KanonError,
    MemoryExceeded,
    NotPermitted,
    UnknownName,
    UnsuitableColumn,
)
from tests.fixtures.audits import COLUMNS, audit, identify, is_anonymous, risk, suggest
from tests.fixtures.interfaces import Interface, interface_of

REFUSALS: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any], type[KanonError], str]] = [
    (audit, ("people", None), {}, InputError, "k is NULL."),
    (audit, ("people", 1), {}, InputError, "k must be at least 2, not 1."),
    (audit, (None, 5), {}, InputError, "The relation is NULL."),
    (audit, ("people", 5), {"max_columns": 0}, InputError, "max_columns must be an integer of at least 1."),
    (audit, ("people", 5), {"time_limit": 0}, InputError, "time_limit must be a positive interval."),
    (audit, ("people", 5), {"time_limit": None}, InputError, "time_limit must be a positive interval."),
    (
        audit,
        ("people", 5),
        {"columns": ["height"]},
        UnknownName,
        'Relation "public"."people" has no column "height".',
    ),
    (
        audit,
        ("people", 5),
        {"columns": []},
        InputError,
        'No column of "public"."people" is left to look at.',
    ),
    (
        audit,
        ("people", 5),
        {"columns": ["doc"]},
        UnsuitableColumn,
        'Column "doc" of type json cannot be compared: the type has no equality.',
    ),
    (audit, ("empty", 5), {}, InputError, 'Relation "public"."empty" has no rows.'),
    (is_anonymous, ("people", 1), {}, InputError, "k must be at least 2, not 1."),
    (is_anonymous, ("empty", 5), {}, InputError, 'Relation "public"."empty" has no rows.'),
    (identify, ("empty",), {}, InputError, 'Relation "public"."empty" has no rows.'),
    (identify, ("people",), {"time_limit": -1}, InputError, "time_limit must be a positive interval."),
    (suggest, ("empty",), {}, InputError, 'Relation "public"."empty" has no rows.'),
    (suggest, (None,), {}, InputError, "The relation is NULL."),
    (risk, ("people",), {"threshold": 1.0}, InputError, "threshold must be at least 0 and below 1."),
    (risk, ("people",), {"threshold": None}, InputError, "threshold must be at least 0 and below 1."),
    (
        risk,
        ("people",),
        {"sampling_fraction": 0.0},
        InputError,
        "sampling_fraction must be above 0 and at most 1.",
    ),
    (
        risk,
        ("people",),
        {"sampling_fraction": 0.5, "population": "register"},
        InputError,
        "Both a population table and a sampling fraction are given.",
    ),
    (
        risk,
        ("people",),
        {"columns": COLUMNS, "population": "coarse_register"},
        UnsuitableColumn,
        'Column "age" has type integer in "public"."people", but bigint in "public"."coarse_register".',
    ),
    (
        risk,
        ("people",),
        {"columns": ["age", "illness"], "population": "register"},
        UnknownName,
        'Relation "public"."register" has no column "illness".',
    ),
    (
        risk,
        ("people",),
        {"columns": ["age"], "sensitive": ["age"]},
        InputError,
        'Column "age" is named both as sensitive and among those that link people.',
    ),
]


@pytest.mark.parametrize(("ask", "arguments", "options", "kind", "sentence"), REFUSALS)
def test_refusals_are_the_same_through_both_interfaces(
    audit_interfaces: tuple[Interface, Interface],
    ask: Callable[..., Any],
    arguments: tuple[Any, ...],
    options: dict[str, Any],
    kind: type[KanonError],
    sentence: str,
) -> None:
    refusals = []
    for interface in audit_interfaces:
        with pytest.raises(KanonError) as raised:
            ask(interface, *arguments, **options)
        refusals.append(raised.value)
    assert [(type(refusal), refusal.message) for refusal in refusals] == [(kind, sentence)] * 2
    assert refusals[0].hint == refusals[1].hint
    assert refusals[0].hint or refusals[0].detail


def test_nested_and_null_names_are_refused(audit_interfaces: tuple[Interface, Interface]) -> None:
    for names in (["age", None], [["age"], ["sex"]]):
        with pytest.raises(InputError, match="plain list of column names"):
            audit(audit_interfaces[0], "people", 5, columns=names)


def test_too_many_columns_are_refused(audit_interface: Interface) -> None:
    columns = ", ".join(f"{number} as c{number}" for number in range(63))
    audit_interface.connection.execute(f"create table broad as select {columns}".encode())
    try:
        with pytest.raises(InputError, match="63 columns are more than the 62") as refused:
            audit(audit_interface, "broad", 2)
        assert 'SELECT * FROM kanon_suggest(\'"public"."broad"\') proposes which.' in (
            refused.value.hint or ""
        )
        audit_interface.declare("broad", quasi_identifiers=["c1", "c2"])
        with pytest.raises(InputError) as refused:
            audit(audit_interface, "broad", 2)
        assert refused.value.hint == "Name the declared quasi-identifiers: columns => ARRAY['c1', 'c2']."
        assert len(audit(audit_interface, "broad", 2, columns=["c1", "c2"])) == 1
    finally:
        audit_interface.undeclare("broad")
        audit_interface.connection.execute("drop table broad")


def test_the_memory_budget_holds(audit_interface: Interface) -> None:
    audit_interface.connection.execute(
        "create table many as select i as a, i as b from generate_series(1, 30000) as i"
    )
    audit_interface.connection.execute("set kanon.memory_budget = '1MB'")
    try:
        with pytest.raises(MemoryExceeded, match="memory budget"):
            audit(audit_interface, "many", 2)
    finally:
        audit_interface.connection.execute("reset kanon.memory_budget")
        audit_interface.connection.execute("drop table many")


# --- rights -----------------------------------------------------------------------------------------------


@pytest.fixture
def login(audit_interfaces: tuple[Interface, Interface]) -> Iterator[Callable[[str], str]]:
    connection, made = audit_interfaces[0].connection, []

    def create(group: str) -> str:
        name = f"login_{secrets.token_hex(4)}"
        connection.execute(f"create role {name} login in role {group}".encode())
        made.append(name)
        return name

    yield create
    for name in made:
        connection.execute(f"drop owned by {name}".encode())
        connection.execute(f"drop role {name}".encode())


def test_only_who_may_read_may_ask(audit_interface: Interface, login: Callable[[str], str]) -> None:
    with interface_of(login("kanon_analyst"), audit_interface) as own:
        for ask in (
            lambda: audit(own, "people", 5),
            lambda: is_anonymous(own, "people", 5),
            lambda: identify(own, "people"),
            lambda: suggest(own, "people"),
            lambda: risk(own, "people"),
        ):
            with pytest.raises(NotPermitted, match="may not read"):
                ask()


def test_the_right_to_read_some_columns_suffices_for_these(
    audit_interface: Interface, login: Callable[[str], str]
) -> None:
    analyst = login("kanon_analyst")
    audit_interface.connection.execute(f"grant select (age, ward) on people to {analyst}".encode())
    with interface_of(analyst, audit_interface) as own:
        own_columns = ["age", "ward"]
        assert audit(own, "people", 5, columns=own_columns) == audit(
            audit_interface, "people", 5, columns=own_columns
        )
        with pytest.raises(NotPermitted, match="may not read"):
            audit(own, "people", 5)


def test_a_register_that_may_not_be_read_is_refused(
    audit_interface: Interface, login: Callable[[str], str]
) -> None:
    analyst = login("kanon_analyst")
    audit_interface.connection.execute(f"grant select on people to {analyst}".encode())
    with interface_of(analyst, audit_interface) as own, pytest.raises(NotPermitted, match="register"):
        risk(own, "people", columns=COLUMNS, population="register")


def test_row_security_limits_what_is_counted(audit_interface: Interface, login: Callable[[str], str]) -> None:
    analyst = login("kanon_analyst")
    audit_interface.connection.execute(
        f"create table guarded as table people; grant select on guarded to {analyst};"
        f" alter table guarded enable row level security;"
        f" create policy few on guarded for select to {analyst} using (id <= 20);"
        f" create table first_ones as select * from people where id <= 20".encode()
    )
    try:
        with interface_of(analyst, audit_interface) as own:
            seen = audit(own, "guarded", 3, columns=COLUMNS)
        assert seen == audit(audit_interface, "first_ones", 3, columns=COLUMNS)
        assert seen != audit(audit_interface, "guarded", 3, columns=COLUMNS)
    finally:
        audit_interface.connection.execute("drop table guarded, first_ones")
