"""Attacks on single answers fail by the checker and the counted columns alone, without a ledger."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any

import psycopg
import pytest

from kanon_pg.queries.check.checker import Options, Verdict, check
from tests.fixtures.databases import Server
from tests.query.cases import Attack, Policy, Via, flat
from tests.query.corpus import ATTACKS
from tests.query.harness import Answer, Door, Refusal, Run, Seen, complaints, run, worlds
from tests.query.people import World, load
from tests.query.snapshot import hospital

SINGLE = [
    attack
    for attack in ATTACKS
    if attack.policy.ledger == "off"
    and attack.policy.budget is None
    and all(step.via is Via.DOOR for step in flat(attack.steps))
]
WITHHELD = Refusal(explained=False, seen=b"withheld")


def is_backed(verdict: Verdict, rows: Sequence[Sequence[Any]]) -> bool:
    width = len(verdict.outputs)
    if verdict.empty_refused and not rows:
        return False
    return all(
        value is not None and value >= hidden.minimum
        for row in rows
        for hidden, value in zip(verdict.hidden, row[width:], strict=True)
    )


def guarded(connection: psycopg.Connection[Any], policy: Policy) -> Door:
    """Return a door that checks, runs the canonical SQL once and looks at the hidden columns."""
    options = Options(mode=policy.mode, strict=policy.strict, dominance=policy.dominance)  # type: ignore[arg-type]
    return Door(answers(connection, options))


def answers(connection: psycopg.Connection[Any], options: Options) -> Run:
    """Return what asks questions under some options."""

    def ask(_role: str, text: str, params: Sequence[Any], _session: int) -> Seen:
        verdict = check(text, hospital(), options)
        if not verdict.accepted:
            return Refusal(explained=True, seen=repr(verdict.findings).encode())
        try:
            with connection.transaction(force_rollback=True):
                connection.execute("set local search_path = pg_catalog, pg_temp")
                connection.execute("set local statement_timeout = '5s'")
                canonical = (verdict.canonical_sql or "").encode()
                rows = psycopg.RawCursor(connection).execute(canonical, params or None).fetchall()
        except psycopg.Error:
            return WITHHELD
        if not is_backed(verdict, rows):
            return WITHHELD
        return Answer.of([row[: len(verdict.outputs)] for row in rows])

    return ask


@pytest.fixture(scope="module")
def hospitals(server: Server) -> Iterator[dict[World, psycopg.Connection[Any]]]:
    with ExitStack() as stack:
        made = {}
        for world in World:
            name = stack.enter_context(server.database("query_attacks"))
            made[world] = stack.enter_context(psycopg.connect(server.dsn(name), autocommit=True))
            load(made[world], world)
        yield made


@pytest.mark.parametrize("attack", SINGLE, ids=lambda attack: f"{attack.kind}: {attack.name}")
def test_an_attack_on_one_answer_fails(
    attack: Attack, hospitals: dict[World, psycopg.Connection[Any]]
) -> None:
    first, second = (run(attack, guarded(hospitals[world], attack.policy)) for world in worlds(attack))
    assert complaints(attack, first, second) == []
