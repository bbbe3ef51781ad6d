"""The harness complains about interfaces that let attacks through, and about nothing else."""

from collections.abc import Iterable, Sequence
from typing import Any

import psycopg
import pytest

from tests.query import state
from tests.query.cases import Attack, Channel, Via, flat
from tests.query.corpus import ATTACKS
from tests.query.harness import (
    Answer,
    Interface,
    Refusal,
    Run,
    Seen,
    Trial,
    complaints,
    constant_words,
    run,
    worlds,
)
from tests.query.people import World

WITHHELD = Refusal(explained=False, seen=b"The answer is withheld.")


def refuses(_role: str, text: str, _params: Sequence[Any], _session: int) -> Seen:
    return Refusal(explained=True, seen=f"Q000 {len(text)}".encode())


def withholds(_role: str, _text: str, _params: Sequence[Any], _session: int) -> Seen:
    return WITHHELD


def nothing(_text: str) -> None:
    return None


def tells(world: World) -> Interface:
    def ask(_role: str, _text: str, _params: Sequence[Any], _session: int) -> Seen:
        return Answer.of([(world.value,)])

    return Interface(ask, ask, nothing)


def blamed_for(attack: Attack, interfaces: Sequence[Interface]) -> list[str]:
    first, second = (run(attack, interface) for interface in interfaces)
    return complaints(attack, first, second)


def names(attacks: Iterable[Attack]) -> list[str]:
    return [f"{attack.kind}: {attack.name}" for attack in attacks]


@pytest.mark.parametrize("ask", [refuses, withholds])
def test_an_interface_that_refuses_everything_is_blamed_for_nothing(ask: Run) -> None:
    interface = Interface(ask, ask, nothing)
    assert all(map(interface.can_run, ATTACKS))
    assert not names(attack for attack in ATTACKS if blamed_for(attack, (interface, interface)))


def test_an_interface_that_reveals_the_world_is_blamed() -> None:
    blamed = [attack for attack in ATTACKS if blamed_for(attack, [tells(world) for world in worlds(attack)])]
    may_differ = [attack for attack in ATTACKS if attack.expect.may_differ and not attack.expect.in_any_step]
    assert may_differ
    assert names(blamed) == names(attack for attack in ATTACKS if attack not in may_differ)


def test_a_refusal_whose_words_depend_on_the_world_is_blamed() -> None:
    def speaks_of(world: World) -> Interface:
        def ask(_role: str, _text: str, _params: Sequence[Any], _session: int) -> Seen:
            return Refusal(explained=False, seen=world.value.encode())

        return Interface(ask, ask, nothing)

    alike = [attack for attack in ATTACKS if not attack.expect.may_differ]
    assert alike
    assert not names(
        attack
        for attack in alike
        if "what is seen depends on the victim"
        not in blamed_for(attack, [speaks_of(world) for world in worlds(attack)])
    )


def test_an_interface_without_sessions_cannot_run_attacks_on_sessions() -> None:
    in_sessions = [
        attack for attack in ATTACKS if any(step.via is Via.SESSION for step in flat(attack.steps))
    ]
    assert in_sessions
    assert not any(Interface(refuses).can_run(attack) for attack in in_sessions)
    assert all(Interface(refuses).can_run(attack) for attack in ATTACKS if attack.channel is Channel.ROWS)


def test_constant_words_are_counted() -> None:
    other = Refusal(explained=False, seen=b"The answer is withheld!")
    found = Refusal(explained=True, seen=b"Q001")
    assert constant_words([Trial((WITHHELD, found)), Trial((WITHHELD,))]) == {WITHHELD.seen}
    assert len(constant_words([Trial((WITHHELD,)), Trial((other,))])) == 2


@pytest.mark.parametrize(
    ("change", "subject"),
    [
        ("insert into people values (2)", "content of public.people"),
        ("select nextval('numbers')", "content of public.numbers"),
        ("create view seen as select * from people", "relations"),
        ("create function f() returns integer language sql as 'select 1'", "functions"),
        ("select lo_create(0)", "large objects"),
        ("comment on table people is 'x'", "comments"),
        ("select pg_advisory_lock(42)", "advisory locks"),
        ("grant select on people to public", "relations"),
    ],
)
def test_what_is_left_behind_is_seen(change: str, subject: str, empty_connection: psycopg.Connection) -> None:
    empty_connection.execute("create table people as select 1 as person")
    empty_connection.execute("create sequence numbers")
    before = state.of_database(empty_connection)
    assert not state.changes(before, state.of_database(empty_connection))
    empty_connection.execute(change.encode())
    assert subject in state.changes(before, state.of_database(empty_connection))


@pytest.mark.parametrize(
    ("change", "subject"),
    [
        ("set work_mem = '4GB'", "settings"),
        ("prepare p as select 1", "prepared statements"),
        ("declare c cursor with hold for select 1", "cursors"),
        ("listen evil", "channels"),
        ("create temp table t (a integer)", "temporary objects"),
        ("set role pg_monitor", "role"),
    ],
)
def test_what_a_session_remembers_is_seen(
    change: str, subject: str, empty_connection: psycopg.Connection
) -> None:
    before = state.of_session(empty_connection)
    assert not state.changes(before, state.of_session(empty_connection))
    empty_connection.execute(change.encode())
    assert subject in state.changes(before, state.of_session(empty_connection))
