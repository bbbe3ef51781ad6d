"""What a suppression curve refuses, who may ask for one, and how it is stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from psycopg.errors import QueryCanceled

from kanon_pg.errors import (
    DatabaseError,
    InfeasibleError,
    InputError,
    KanonError,
    NotPermitted,
    UnknownName,
    UnsuitableColumn,
)
from tests.fixtures.curves import COLUMNS, KS, without_times
from tests.fixtures.interfaces import Interface, interface_of
from tests.fixtures.phases import Watched

REFUSALS: list[tuple[dict[str, Any], type[KanonError], str]] = [
    ({"ks": None}, InputError, "ks is NULL."),
    ({"ks": [[2, 3], [4, 5]]}, InputError, "ks must be a plain list of integers."),
    ({"ks": [2, 212]}, InfeasibleError, '"public"."people" has 211 rows, fewer than k = 212.'),
    ({"method": "magic"}, UnknownName, 'There is no method "magic".'),
    ({"patterns": "age"}, InputError, "The patterns are neither a list nor an object of constraints."),
    (
        {"quasi_identifiers": ["doc"]},
        UnsuitableColumn,
        'Column "doc" of type json cannot be a quasi-identifier: the type has no equality.',
    ),
]
"""Some of each kind; all others are in ``tests/unit/services``."""


@pytest.mark.parametrize(("changes", "kind", "sentence"), REFUSALS)
def test_refusals_are_the_same_through_both_interfaces(
    curve_interfaces: tuple[Interface, Interface],
    changes: dict[str, Any],
    kind: type[KanonError],
    sentence: str,
) -> None:
    usual = {"ks": [2]} if changes.get("relation") else {"ks": [2], "quasi_identifiers": COLUMNS}
    refusals = []
    for interface in curve_interfaces:
        options = {"relation": "people", **usual, **changes}
        with pytest.raises(KanonError) as raised:
            interface.curve(options.pop("relation"), **options)
        refusals.append(raised.value)
    first, second = refusals
    assert (type(first), first.message) == (kind, sentence)
    assert first.hint
    assert (type(second), second.message, second.hint) == (kind, sentence, first.hint)


# --- cancelling ---------------------------------------------------------------------------------------------


@pytest.fixture
def watched(curve_interface: Interface) -> Iterator[Watched]:
    curve_interface.curve("people", ks=[2], quasi_identifiers=COLUMNS)
    with psycopg.connect(curve_interface.dsn, autocommit=True) as watcher:
        yield Watched(curve_interface, watcher)


def test_a_curve_does_not_fail_when_its_time_is_over(watched: Watched) -> None:
    with watched.delaying("solving", 0.5):
        points = watched.interface.curve("people", ks=KS, quasi_identifiers=COLUMNS, time_limit=0.1)
    assert [point.k for point in points] == sorted(KS)


# the client's session is idle then, and PostgreSQL cancels no idle session
@pytest.mark.only_through("server")
def test_cancel_while_solving(watched: Watched) -> None:
    with (
        watched.interrupting("solving", lambda w: w.watcher.execute("select pg_cancel_backend(%s)", [w.pid])),
        pytest.raises(QueryCanceled, match="due to user request"),
    ):
        watched.interface.curve("people", ks=KS, quasi_identifiers=COLUMNS)


# --- rights -------------------------------------------------------------------------------------------------


def test_a_curator_needs_the_right_to_read_the_columns(
    curve_interface: Interface, login: Callable[[str], str]
) -> None:
    curator = login("kanon_curator")
    with interface_of(curator, curve_interface) as own:
        with pytest.raises(NotPermitted, match="may not read"):
            own.curve("of_persons", ks=[5])
        curve_interface.connection.execute(
            f"grant select (age, ward, sex, person) on of_persons to {curator}".encode()
        )
        points = own.curve("of_persons", ks=[5], method="greedy")
    assert without_times(points) == without_times(
        curve_interface.curve("of_persons", ks=[5], method="greedy")
    )


def test_row_security_limits_what_is_counted(curve_interface: Interface, login: Callable[[str], str]) -> None:
    curator = login("kanon_curator")
    curve_interface.connection.execute(
        f"create table secret as table people; grant select on secret to {curator};"
        f" alter table secret enable row level security;"
        f" create policy few on secret for select to {curator} using (id <= 50)".encode()
    )
    try:
        with (
            interface_of(curator, curve_interface) as own,
            pytest.raises(InfeasibleError, match="has 50 rows"),
        ):
            own.curve("secret", ks=[51], quasi_identifiers=COLUMNS)
    finally:
        curve_interface.connection.execute("drop table secret")


def test_code_of_others_runs_with_the_rights_of_the_caller(
    curve_interface: Interface, login: Callable[[str], str]
) -> None:
    curator = login("kanon_curator")
    curve_interface.connection.execute(
        "create table seen (role text); grant insert, select on seen to public;"
        " create function who() returns integer language sql as"
        " 'insert into public.seen values (current_user) returning 1';"
        " create view spying with (security_invoker) as select who() as a from generate_series(1, 4);"
        f" grant select on spying to {curator}".encode()
    )
    try:
        with interface_of(curator, curve_interface) as own:
            own.curve("spying", ks=[2])
        found = {row[0] for row in curve_interface.connection.execute("select role from seen")}
        assert found == {curator}
    finally:
        curve_interface.connection.execute("drop view spying; drop function who(); drop table seen")


def test_analysts_may_not_call_it(
    curve_interfaces: tuple[Interface, Interface], login: Callable[[str], str]
) -> None:
    with (
        interface_of(login("kanon_analyst"), curve_interfaces[0]) as own,
        pytest.raises(DatabaseError) as refused,
    ):
        own.curve("people", ks=[2])
    assert refused.value.server_state == "42501"
