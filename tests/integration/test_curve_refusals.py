"""Who may ask for a suppression curve, and how it is stopped."""

from collections.abc import Callable, Iterator

import psycopg
import pytest
from psycopg.errors import QueryCanceled

from kanon_pg.errors import (
    DatabaseError,
    InfeasibleError,
    NotPermitted,
    UnsuitableRelation,
)
from tests.fixtures.audits import COLUMNS
from tests.fixtures.curves import KS, without_times
from tests.fixtures.interfaces import Interface, interface_of
from tests.fixtures.phases import Watched

# --- cancelling ---------------------------------------------------------------------------------------------


@pytest.fixture
def watched(audit_interface: Interface) -> Iterator[Watched]:
    audit_interface.curve("people", ks=[2], quasi_identifiers=COLUMNS)
    with psycopg.connect(audit_interface.dsn, autocommit=True) as watcher:
        yield Watched(audit_interface, watcher)


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


# who reads through the client's interface is a member of kanon_owner
@pytest.mark.only_through("server")
def test_a_curator_needs_the_right_to_read_the_columns(
    audit_interface: Interface, login: Callable[[str], str]
) -> None:
    curator = login("kanon_curator")
    with interface_of(curator, audit_interface) as own:
        with pytest.raises(NotPermitted, match="may not read"):
            own.curve("of_persons", ks=[5])
        audit_interface.connection.execute(
            f"grant select (age, ward, sex, person) on of_persons to {curator}".encode()
        )
        points = own.curve("of_persons", ks=[5], method="greedy")
    assert without_times(points) == without_times(
        audit_interface.curve("of_persons", ks=[5], method="greedy")
    )


def test_row_security_could_hide_rows_from_what_is_counted(audit_interface: Interface) -> None:
    audit_interface.connection.execute(
        "create table secret as table people; alter table secret enable row level security"
    )
    try:
        with pytest.raises(UnsuitableRelation, match="row-level security"):
            audit_interface.curve("secret", ks=[5], quasi_identifiers=COLUMNS)
    finally:
        audit_interface.connection.execute("drop table secret")


def test_code_of_others_runs_as_the_reader_which_cannot_write(audit_interface: Interface) -> None:
    audit_interface.connection.execute(
        "create table seen (role text); grant insert, select on seen to public;"
        " create function who() returns integer language sql as"
        " 'insert into public.seen values (current_user) returning 1';"
        " create function reader() returns text language sql as 'select current_user::text';"
        " create view writing with (security_invoker) as select who() as a from generate_series(1, 4);"
        " create view naming with (security_invoker) as"
        " select case when reader() like 'kanon_base_%' then i end as a from generate_series(1, 4) as i"
    )
    try:
        with pytest.raises(DatabaseError, match="read-only transaction"):
            audit_interface.curve("writing", ks=[2], quasi_identifiers=["a"])
        with pytest.raises(InfeasibleError):
            audit_interface.curve("naming", ks=[5], quasi_identifiers=["a"])
        (point,) = audit_interface.curve("naming", ks=[4], quasi_identifiers=["a"])
        assert point.suppressed_cells == 4  # the reader saw four values
        assert audit_interface.connection.execute("select role from seen").fetchall() == []
    finally:
        audit_interface.connection.execute(
            "drop view writing, naming; drop function who(), reader(); drop table seen"
        )


def test_analysts_may_not_call_it(
    audit_interfaces: tuple[Interface, Interface], login: Callable[[str], str]
) -> None:
    with (
        interface_of(login("kanon_analyst"), audit_interfaces[0]) as own,
        pytest.raises(DatabaseError) as refused,
    ):
        own.curve("people", ks=[2])
    assert refused.value.server_state == "42501"
