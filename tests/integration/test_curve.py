"""A suppression curve agrees with releases, needs no more than the right to read, and changes nothing."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, fields
from itertools import pairwise
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.errors import QueryCanceled
from typer.testing import CliRunner

from kanon_pg import client
from kanon_pg.cli import app
from kanon_pg.curves.points import CurvePoint
from kanon_pg.errors import (
    DatabaseError,
    InfeasibleError,
    InputError,
    KanonError,
    LimitExceeded,
    MemoryExceeded,
    NotPermitted,
    UnknownName,
    UnsuitableColumn,
)
from tests.fixtures.doors import ClientDoor, Door, door_of
from tests.fixtures.phases import Watched
from tests.fixtures.releases import everything

KS = [2, 3, 5, 10, 25]

_PREPARE = """
create table people as
    select i as id, i / 2 as person, i * i % 23 as age, i * 7 % 5 as ward,
        (array['f', 'm'])[1 + i * i % 3 % 2] as sex, '{}'::json as doc
    from generate_series(1, 211) as i;
alter table people add primary key (id);
create table empty (a integer);
create table of_persons as select * from people;
"""
COLUMNS = ["age", "ward", "sex"]


@pytest.fixture(scope="module")
def doors(both_doors: tuple[Door, Door]) -> tuple[Door, Door]:
    """Two doors to a database with tables."""
    both_doors[0].connection.execute(_PREPARE)
    both_doors[0].declare(
        "of_persons",
        identifiers=["id"],
        quasi_identifiers=COLUMNS,
        entity="person",
        weights={"age": 2.5},
    )
    return both_doors


@pytest.fixture(params=[0, 1], ids=["server", "client"])
def one(doors: tuple[Door, Door], request: pytest.FixtureRequest) -> Door:
    return doors[request.param]


def without_times(points: Sequence[CurvePoint]) -> list[dict[str, Any]]:
    return [asdict(point) | {"elapsed": None} for point in points]


def test_both_doors_give_the_same_curve(doors: tuple[Door, Door]) -> None:
    for relation, columns in (("people", COLUMNS), ("of_persons", None)):
        curves = [
            without_times(door.curve(relation, ks=KS, quasi_identifiers=columns, seed=3)) for door in doors
        ]
        assert curves[0] == curves[1]


@pytest.mark.parametrize("relation", ["people", "of_persons"])
def test_points_are_as_good_as_releases(one: Door, relation: str) -> None:
    """Declared weights and people count as they do for a release."""
    points = one.curve(relation, ks=KS[::-1], quasi_identifiers=COLUMNS, method="greedy")
    assert [point.k for point in points] == KS
    for point in points:
        release = one.anonymize(relation, point.k, quasi_identifiers=COLUMNS, method="greedy")
        assert point.weighted_cost <= release.weighted_cost
        assert point.lower_bound is not None
        assert release.lower_bound is not None
        assert release.lower_bound <= point.lower_bound <= point.weighted_cost
        if point.method == release.method and point.weighted_cost == release.weighted_cost:
            figures = ("suppressed_cells", "suppressed_share", "classes", "average_class")
            assert {name: getattr(point, name) for name in figures} == pytest.approx(
                {name: getattr(release, name) for name in figures}
            )
    for smaller, larger in pairwise(points):
        assert smaller.weighted_cost <= larger.weighted_cost
        assert (smaller.lower_bound or 0) <= (larger.lower_bound or 0)
    one.drop(relation)


def test_people_are_counted_not_rows(one: Door) -> None:
    """106 people have 211 rows: nobody can be hidden among 107."""
    assert one.curve("of_persons", ks=[106])[0].classes == 1
    with pytest.raises(InfeasibleError, match="has 106 people, fewer than k = 107 and 211"):
        one.curve("of_persons", ks=[2, 107, 211])


def test_wishes_for_patterns_are_heard(one: Door) -> None:
    free, bound = (
        one.curve("people", ks=[5], quasi_identifiers=COLUMNS, patterns=patterns)[0]
        for patterns in (None, {"never": ["age"]})
    )
    assert free.weighted_cost < bound.weighted_cost


def test_a_curve_works_where_nothing_can_be_written(one: Door) -> None:
    one.connection.execute("set default_transaction_read_only = on")
    try:
        before = everything(one.connection)
        assert len(one.curve("people", ks=KS, quasi_identifiers=COLUMNS)) == len(KS)
        assert everything(one.connection) == before
    finally:
        one.connection.execute("reset default_transaction_read_only")


def test_settings_of_the_session_stay(one: Door) -> None:
    names = "work_mem", "enable_mergejoin", "datestyle", "statement_timeout", "application_name"
    shown = [one.connection.execute(f"show {name}").fetchone() for name in names]
    one.curve("people", ks=[3], quasi_identifiers=COLUMNS)
    assert [one.connection.execute(f"show {name}").fetchone() for name in names] == shown


def test_each_k_is_a_phase(doors: tuple[Door, Door]) -> None:
    told: list[tuple[str, float | None]] = []
    doors[1].curve(
        "people", ks=[2, 5], quasi_identifiers=COLUMNS, on_progress=lambda *event: told.append(event)
    )
    phases = dict.fromkeys(phase for phase, _ in told)
    assert list(phases) == ["counting", "solving for k = 5", "solving for k = 2"]
    shares = [share for _, share in told if share is not None]
    assert shares == sorted(shares)
    assert 0 <= shares[0] <= shares[-1] <= 1


# --- refusals -----------------------------------------------------------------------------------------------

REFUSALS: list[tuple[dict[str, Any], type[KanonError], str]] = [
    ({"ks": None}, InputError, "ks is NULL."),
    ({"ks": []}, InputError, "ks is empty."),
    ({"ks": [2, None]}, InputError, "ks contains NULL."),
    ({"ks": [[2, 3], [4, 5]]}, InputError, "ks must be a plain list of integers."),
    ({"ks": [5, 1]}, InputError, "k must be at least 2, not 1."),
    ({"ks": [-3]}, InputError, "k must be at least 2, not -3."),
    ({"ks": [2, 5, 2]}, InputError, "k = 2 is given twice."),
    (
        {"ks": list(range(2, 103))},
        InputError,
        "101 values of k are more than the 100 that one call can have.",
    ),
    ({"ks": [2, 212]}, InfeasibleError, '"public"."people" has 211 rows, fewer than k = 212.'),
    (
        {"ks": [500, 300, 400]},
        InfeasibleError,
        '"public"."people" has 211 rows, fewer than k = 300, 400 and 500.',
    ),
    ({"method": "magic"}, UnknownName, "There is no such method."),
    ({"time_limit": 0}, InputError, "time_limit must be a positive interval."),
    ({"seed": -1}, InputError, "seed must not be negative."),
    ({"patterns": "age"}, InputError, "The patterns are neither a list nor an object of wishes."),
    (
        {"quasi_identifiers": ["height"]},
        UnknownName,
        'Relation "public"."people" has no column "height".',
    ),
    ({"quasi_identifiers": []}, InputError, 'No quasi-identifier is left in "public"."people".'),
    (
        {"quasi_identifiers": ["age", "age"]},
        UnsuitableColumn,
        'Column "age" is named twice: in quasi_identifiers.',
    ),
    (
        {"quasi_identifiers": ["doc"]},
        UnsuitableColumn,
        'Column "doc" of type json cannot be a quasi-identifier: the type has no equality.',
    ),
    ({"relation": "empty"}, InfeasibleError, '"public"."empty" is empty.'),
    ({"relation": None}, InputError, "The relation is NULL."),
    (
        {"relation": "of_persons", "quasi_identifiers": ["age", "person"]},
        UnsuitableColumn,
        'Column "person" is declared to identify people; no release could publish it.',
    ),
    (
        {"relation": "of_persons", "quasi_identifiers": ["age", "id"]},
        UnsuitableColumn,
        'Column "id" is declared to identify people; no release could publish it.',
    ),
]


@pytest.mark.parametrize(("changes", "kind", "sentence"), REFUSALS)
def test_refusals_are_the_same_through_both_doors(
    doors: tuple[Door, Door], changes: dict[str, Any], kind: type[KanonError], sentence: str
) -> None:
    usual = {"ks": [2]} if changes.get("relation") else {"ks": [2], "quasi_identifiers": COLUMNS}
    refusals = []
    for door in doors:
        options = {"relation": "people", **usual, **changes}
        with pytest.raises(KanonError) as raised:
            door.curve(options.pop("relation"), **options)
        refusals.append(raised.value)
    first, second = refusals
    assert (type(first), first.message) == (kind, sentence)
    assert first.hint
    assert (type(second), second.message, second.hint) == (kind, sentence, first.hint)


def test_too_large_k_are_refused_with_those_that_are_possible(one: Door) -> None:
    with pytest.raises(InfeasibleError) as raised:
        one.curve("people", ks=[300, 5, 2], quasi_identifiers=COLUMNS)
    assert raised.value.hint == "Ask for what is possible: ks => '{2,5}'."


def test_the_memory_budget_holds(one: Door) -> None:
    one.connection.execute("create table many as select i as a, i as b from generate_series(1, 30000) as i")
    one.connection.execute("set kanon.memory_budget = '1MB'")
    try:
        with pytest.raises(MemoryExceeded, match="memory budget"):
            one.curve("many", ks=[2])
    finally:
        one.connection.execute("reset kanon.memory_budget")
        one.connection.execute("drop table many")


# --- cancelling ---------------------------------------------------------------------------------------------


@pytest.fixture
def watched(one: Door) -> Iterator[Watched]:
    one.curve("people", ks=[2], quasi_identifiers=COLUMNS)
    with psycopg.connect(one.dsn, autocommit=True) as watcher:
        yield Watched(one, watcher)


def _nothing(_watched: Watched) -> None:
    """The limit itself interrupts."""


def test_time_limit_while_solving(watched: Watched) -> None:
    with watched.interrupting("solving", _nothing), pytest.raises(LimitExceeded, match="time limit passed"):
        watched.door.curve("people", ks=KS, quasi_identifiers=COLUMNS, time_limit=1)
    assert len(watched.door.curve("people", ks=KS, quasi_identifiers=COLUMNS)) == len(KS)


def test_cancel_while_solving(watched: Watched) -> None:
    if isinstance(watched.door, ClientDoor):
        pytest.skip("the session is idle then, and PostgreSQL cancels no idle session")
    with (
        watched.interrupting("solving", lambda w: w.watcher.execute("select pg_cancel_backend(%s)", [w.pid])),
        pytest.raises(QueryCanceled, match="due to user request"),
    ):
        watched.door.curve("people", ks=KS, quasi_identifiers=COLUMNS)


# --- rights -------------------------------------------------------------------------------------------------


@pytest.fixture
def login(doors: tuple[Door, Door]) -> Iterator[Callable[[str], str]]:
    connection, made = doors[0].connection, []

    def create(group: str) -> str:
        name = f"login_{secrets.token_hex(4)}"
        connection.execute(f"create role {name} login in role {group}".encode())
        made.append(name)
        return name

    yield create
    for name in made:
        connection.execute(f"drop owned by {name}".encode())
        connection.execute(f"drop role {name}".encode())


def test_a_curator_needs_the_right_to_read_the_columns(one: Door, login: Callable[[str], str]) -> None:
    curator = login("kanon_curator")
    with door_of(curator, one) as own:
        with pytest.raises(NotPermitted, match="may not read"):
            own.curve("of_persons", ks=[5])
        one.connection.execute(f"grant select (age, ward, sex, person) on of_persons to {curator}".encode())
        points = own.curve("of_persons", ks=[5])
    assert without_times(points) == without_times(one.curve("of_persons", ks=[5]))


def test_row_security_limits_what_is_counted(one: Door, login: Callable[[str], str]) -> None:
    curator = login("kanon_curator")
    one.connection.execute(
        f"create table secret as table people; grant select on secret to {curator};"
        f" alter table secret enable row level security;"
        f" create policy few on secret for select to {curator} using (id <= 50)".encode()
    )
    try:
        with door_of(curator, one) as own, pytest.raises(InfeasibleError, match="has 50 rows"):
            own.curve("secret", ks=[51], quasi_identifiers=COLUMNS)
    finally:
        one.connection.execute("drop table secret")


def test_code_of_others_runs_with_the_rights_of_the_caller(one: Door, login: Callable[[str], str]) -> None:
    curator = login("kanon_curator")
    one.connection.execute(
        "create table seen (role text); grant insert, select on seen to public;"
        " create function who() returns integer language sql as"
        " 'insert into public.seen values (current_user) returning 1';"
        " create view spying with (security_invoker) as select who() as a from generate_series(1, 4);"
        f" grant select on spying to {curator}".encode()
    )
    try:
        with door_of(curator, one) as own:
            own.curve("spying", ks=[2])
        found = {row[0] for row in one.connection.execute("select role from seen")}
        assert found == {curator}
    finally:
        one.connection.execute("drop view spying; drop function who(); drop table seen")


def test_analysts_may_not_call_it(doors: tuple[Door, Door], login: Callable[[str], str]) -> None:
    with door_of(login("kanon_analyst"), doors[0]) as own, pytest.raises(DatabaseError) as refused:
        own.curve("people", ks=[2])
    assert refused.value.server_state == "42501"


# --- without kanon in the database, and from a shell --------------------------------------------------------


def test_without_an_installation(empty_dsn: str) -> None:
    with psycopg.connect(empty_dsn, autocommit=True) as connection:
        connection.execute("create table t as select i % 3 as a, i % 2 as b from generate_series(1, 12) as i")
    found = client.curve(empty_dsn, "t", [2, 4])
    assert (found.rows, found.people, found.row_types, found.row_weight) == (12, 12, 6, 2.0)
    assert found.quasi_identifiers == ("a", "b")
    assert [point.suppressed_cells for point in found.points] == [0, 12]


def kanon(dsn: str, *arguments: str) -> Any:
    return CliRunner().invoke(app, ["curve", *arguments, "--dsn", dsn])


def test_command(one: Door) -> None:
    options = ["people", "--ks", "2,5,25", "--seed=1", *(f"--quasi-identifier={name}" for name in COLUMNS)]
    shown = kanon(one.dsn, *options, "--json")
    assert shown.exit_code == 0, shown.stderr
    found = json.loads(shown.stdout)
    points = [CurvePoint(**point) for point in found["points"]]
    assert without_times(points) == without_times(
        one.curve("people", ks=[2, 5, 25], quasi_identifiers=COLUMNS, seed=1)
    )
    assert (found["relation"], found["rows"]) == ('"public"."people"', 211)
    table = kanon(one.dsn, *options).stdout.splitlines()
    assert table[0].split()[:3] == ["k", "suppressed", "share"]
    assert [line.split()[0] for line in table[1:]] == ["2", "5", "25"]


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_command_draws(doors: tuple[Door, Door], tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"curve.{suffix}"
    drawn = kanon(doors[1].dsn, "of_persons", "--ks=2,5", "--plot", str(path))
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
def test_command_refuses(doors: tuple[Door, Door], arguments: list[str], sqlstate: str, words: str) -> None:
    answer = kanon(doors[1].dsn, *arguments, "--json")
    assert answer.exit_code == 1
    error = json.loads(answer.stderr)
    assert error["sqlstate"] == sqlstate
    assert words in error["message"]


def test_type_has_the_fields_of_the_dataclass_each_with_a_comment(doors: tuple[Door, Door]) -> None:
    rows = (
        doors[0]
        .connection.execute(
            "select attname, col_description(attrelid, attnum) from pg_attribute"
            " where attrelid = 'kanon.curve_point'::regclass and attnum > 0 order by attnum"
        )
        .fetchall()
    )
    assert [name for name, _ in rows] == [field.name for field in fields(CurvePoint)]
    assert all(comment for _, comment in rows)
