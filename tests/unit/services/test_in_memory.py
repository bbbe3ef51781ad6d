"""The database in memory keeps transactions, rights and faults as PostgreSQL does."""

from __future__ import annotations

from contextlib import suppress

import pytest

from kanon_pg.db.identifiers import Fragment, Identifier
from kanon_pg.db.statements import Statement, statement
from kanon_pg.errors import DatabaseError
from tests.fixtures.memory import Cancelled, InMemoryDatabase, State, with_kanon
from tests.fixtures.memory.values import spelled, sql_type

PROBE = statement("probe_grouping", types=[Fragment("integer")])
LOCK = statement("lock_release_name")


@pytest.fixture
def db() -> InMemoryDatabase:
    state = with_kanon(State(roles={"kanon_owner": (), "analyst": ()}))
    state.table("t", {"a": "integer", "doc": "json"}, [(1, "{}")])
    return InMemoryDatabase(state)


def test_a_statement_that_nothing_answers_is_named(db: InMemoryDatabase) -> None:
    with pytest.raises(AssertionError, match="drop_schema"):
        db.execute(statement("drop_schema", schema=Identifier.of("s")))
    with pytest.raises(AssertionError, match="SELECT 1"):
        db.rows(Statement("SELECT 1"))


def test_arguments_are_counted_and_portable(db: InMemoryDatabase) -> None:
    with pytest.raises(AssertionError, match="other parameters"):
        db.row(LOCK)
    with pytest.raises(AssertionError, match="what no database takes"):
        db.row(LOCK, {"a"})


def test_what_a_savepoint_holds_is_undone(db: InMemoryDatabase) -> None:
    with db.transaction():
        db.row(LOCK, "kept")
        with suppress(RuntimeError), db.savepoint():
            db.row(LOCK, "undone")
            raise RuntimeError
        assert db.state.generations == {"kept": 1}


def test_a_transaction_that_fails_leaves_nothing(db: InMemoryDatabase) -> None:
    before = db.state.copy()
    with suppress(RuntimeError), db.transaction():
        db.row(LOCK, "undone")
        raise RuntimeError
    assert db.state == before


def test_after_an_error_nothing_runs_but_what_a_savepoint_saves(db: InMemoryDatabase) -> None:
    db.fail_on("probe_grouping", "42883", "42883")
    with db.transaction():
        with pytest.raises(DatabaseError), db.savepoint():
            db.rows(PROBE)
        db.row(LOCK, "a")
        with pytest.raises(DatabaseError):
            db.rows(PROBE)
        with pytest.raises(DatabaseError) as refused:
            db.row(LOCK, "a")
        assert refused.value.server_state == "25P02"


def test_the_nth_statement_fails(db: InMemoryDatabase) -> None:
    with db.transaction():
        db.rows(PROBE)
        db.fail_at(2, "53100")
        db.rows(PROBE)
        with pytest.raises(DatabaseError) as refused:
            db.rows(PROBE)
    assert refused.value.server_state == "53100"
    with db.transaction():
        db.rows(PROBE)


def test_cancelling(db: InMemoryDatabase) -> None:
    db.checkpoint()
    db.cancel_at_checkpoint(2)
    db.checkpoint()
    with pytest.raises(Cancelled) as raised:
        db.checkpoint()
    assert db.was_cancelled(raised.value)
    assert not db.was_cancelled(ValueError())


def test_nothing_is_written_in_a_read_only_transaction(db: InMemoryDatabase) -> None:
    db.read_only = True
    with pytest.raises(DatabaseError) as refused, db.transaction():
        db.row(LOCK, "a")
    assert refused.value.server_state == "25006"


@pytest.mark.parametrize(
    ("kind", "one", "other", "equal"),
    [
        ("numeric", 1, 1.0, True),
        ("double precision", float("nan"), float("nan"), True),
        ("double precision", 0.0, -0.0, True),
        ("character(5)", "a", "a  ", True),
        ("text", "a", "a ", False),
        ("text", None, "", False),
        ("public.citext", "a", "A", True),
        ("jsonb", '{"a": 1, "b": 2}', '{"b":2,"a":1}', True),
        ("text[]", ["a"], ["a"], True),
    ],
)
def test_equal_values_have_one_key(kind: str, one: object, other: object, equal: bool) -> None:
    found = sql_type(kind)
    assert (found.key(one) == found.key(other)) == equal
    assert (found.order(one) == found.order(other)) == equal


def test_nulls_and_nans_come_last() -> None:
    kind = sql_type("double precision")
    values = [None, float("nan"), 2.0, -1.0]
    assert [spelled(value) for value in sorted(values, key=kind.order)] == ["-1", "2", "NaN", None]
