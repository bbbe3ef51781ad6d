"""Outcomes of queries are kept by the state of their table, and as many as the number alone says."""

from __future__ import annotations

import json
import zlib
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from kanon_pg.queries import outcome_cache, recording
from kanon_pg.queries.check.catalog import Relation, RelationKind
from kanon_pg.queries.check.verdict import EntitySet, OutputColumn, Verdict
from kanon_pg.queries.ledgers import LedgerContext
from kanon_pg.queries.outcome_cache import OutcomeCache, check_state, outcome_key, reads_clock
from kanon_pg.queries.recording import set_key
from kanon_pg.queries.request import AnswerTable, QueryOutcome, StateCheck

ANSWER = QueryOutcome(
    AnswerTable(("city", "count"), ("text", "int8"), (('a "b" \N{SNOWMAN}', "7"), (None, "12"))), key="one"
)
NO_DATABASE: Any = None
"""Whatever reads fails."""

TABLE = Relation(5, "public", "people", RelationKind.TABLE, ())
CONTEXT = LedgerContext("10:10:", True, "/records/5", "epoch", "UTC")
VERDICT = Verdict(True, canonical_sql="SELECT 1", outputs=(OutputColumn("count", "int8"),), relations=(1,))


def test_an_outcome_comes_back_as_it_was_and_in_its_own_state_only() -> None:
    kept = OutcomeCache()
    kept.remember(replace(ANSWER, sets={0: [b"x"]}, checked=StateCheck("a", "b")), "state")
    assert kept.find("one", "state") == ANSWER
    assert kept.find("one", "another state") is None
    assert kept.find("one", None) is None
    assert kept.find("two", "state") is None
    other = replace(ANSWER, answer=None, failure="size")
    kept.remember(other, "another state")
    assert kept.find("one", "state") is None
    assert kept.find("one", "another state") == other


def test_an_outcome_that_was_found_is_not_packed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = OutcomeCache()
    kept.remember(ANSWER, "state")
    monkeypatch.delattr(zlib, "compress")
    kept.remember(replace(ANSWER, checked=StateCheck("a", "b")), "state")
    assert kept.find("one", "state") == ANSWER
    with pytest.raises(AttributeError):
        kept.remember(ANSWER, "another state")


def test_nothing_is_kept_without_a_key_or_a_state() -> None:
    kept = OutcomeCache()
    kept.remember(ANSWER, None)
    kept.remember(replace(ANSWER, key=None), "state")
    assert kept.find("one", "state") is None


@pytest.mark.parametrize("count", [1, 10_000])
def test_how_many_are_kept_does_not_depend_on_their_size(count: int) -> None:
    kept = OutcomeCache()
    answer = AnswerTable(("city",), ("text",), (("a",),) * count)
    for number in range(40):
        kept.remember(replace(ANSWER, answer=answer if number else None, key=str(number)), "state")
        kept.find("0", "state")
    assert [number for number in range(40) if kept.find(str(number), "state")] == [0, *range(9, 40)]


def test_a_key_names_everything_that_an_outcome_depends_on() -> None:
    def key(
        text: str = "a", keys: tuple[str | None, ...] = ("k",), record: str = "r", **changes: str
    ) -> object:
        return outcome_key(VERDICT, text, keys, replace(CONTEXT, **changes), record)

    found = [key(), key("b"), key(keys=("l",)), key(record="s"), key(parent="/records/6"), key(epoch="next")]
    assert len({*found, outcome_key(replace(VERDICT, empty_refused=True), "a", ("k",), CONTEXT, "r")}) == 7
    renamed = replace(VERDICT, outputs=(OutputColumn("people", "int8"),))
    assert outcome_key(renamed, "a", ("k",), CONTEXT, "r") not in found
    assert key(keys=("k", None)) is None
    assert key() == key()


def test_the_sets_of_a_key_have_parameters_and_time_zone() -> None:
    item = EntitySet(1, "s1", 1, "SELECT 1")
    assert (
        len({set_key(VERDICT, item, *rest) for rest in [(("1",), "UTC"), (("2",), "UTC"), (("1",), "GMT")]})
        == 3
    )
    assert set_key(replace(VERDICT, relations=(1, 2)), item, (), "UTC") is None


@pytest.mark.parametrize("sql", ["age(CURRENT_DATE, x)", "LOCALTIME", "pg_catalog.statement_timestamp()"])
def test_a_statement_that_reads_the_clock_is_known(sql: str) -> None:
    assert reads_clock(sql)
    assert not reads_clock("SELECT 1")


@pytest.mark.parametrize("sql", ["SELECT CURRENT_DATE", "SELECT pg_catalog.now()", "SELECT LOCALTIMESTAMP"])
def test_an_outcome_that_follows_the_clock_has_no_key(sql: str) -> None:
    assert outcome_key(replace(VERDICT, canonical_sql=sql), "a", ("k",), CONTEXT, "r") is None


def test_a_view_is_never_in_an_earlier_state() -> None:
    state = json.dumps({"snapshot": CONTEXT.snapshot, "version": None})
    view = Relation(5, "public", "seen", RelationKind.VIEW, ())
    assert check_state(NO_DATABASE, TABLE, CONTEXT, state) == StateCheck(state, state)
    assert check_state(NO_DATABASE, view, CONTEXT, state) == StateCheck(state, None)


def test_a_state_from_after_the_snapshot_says_nothing_about_it() -> None:
    state = json.dumps({"snapshot": "another", "version": [3, 7, "files", CONTEXT.horizon + 1]})
    assert check_state(NO_DATABASE, TABLE, CONTEXT, state) == StateCheck(state, None)


def test_a_check_of_another_state_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    theirs, mine, renewed = {"state": "theirs"}, {"state": "mine"}, {"state": "new"}
    again = StateCheck("new", "newer")
    monkeypatch.setattr(recording, "renewed_state", lambda *_: (again, renewed))
    outcome = replace(ANSWER, checked=StateCheck("mine", "old"))
    query = recording._Recording(NO_DATABASE, None, None, None, {}, CONTEXT, outcome, None)
    assert query._checked(TABLE, "name", theirs) == (again, renewed)
    assert query._checked(TABLE, "name", mine) == (StateCheck("mine", "old"), mine)
    assert query._state(None, TABLE, mine, StateCheck("mine", "old")) == ("mine", "old", None)


@pytest.mark.parametrize("holds", [True, False])
def test_a_newer_state_is_taken_where_ones_own_does_not_hold(
    monkeypatch: pytest.MonkeyPatch, holds: bool
) -> None:
    asked: list[dict[str, Any]] = []

    def states(parent: str, epoch: str, names: list[str], checkpoint: Any, **options: Any) -> Any:
        asked.append({"parent": parent, "epoch": epoch, "names": names, **options})
        return [{"state": "new"}]

    def check(*arguments: Any) -> StateCheck:
        state = arguments[-1]
        return StateCheck(state, "newer" if state == "new" and holds else None)

    monkeypatch.setattr(outcome_cache.ledger_parent, "states", states)
    monkeypatch.setattr(outcome_cache, "check_state", check)
    database: Any = SimpleNamespace(checkpoint=None)
    found = outcome_cache.renewed_state(database, TABLE, CONTEXT, "name", {"state": "old"})
    assert found == (StateCheck("new", "newer" if holds else None), {"state": "new"})
    assert asked == [{"parent": "/records/5", "epoch": "epoch", "names": ["name"], "renew": True}]


def test_a_state_that_holds_is_not_exchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outcome_cache, "check_state", lambda *arguments: StateCheck("old", "present"))
    mine = {"state": "old"}
    found = outcome_cache.renewed_state(NO_DATABASE, TABLE, CONTEXT, "name", mine)
    assert found == (StateCheck("old", "present"), mine)
