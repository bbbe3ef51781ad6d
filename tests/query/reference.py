"""The smallest interface that enforces: check, run once, look at the hidden columns. No ledger, no budget.

It follows what the head of `kanon_pg.queries.check.checker` says and nothing else, so that the checker can
be attacked without the services around it, and so that interfaces have something to be compared with.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import psycopg

from kanon_pg.queries.check.checker import Options, Verdict, check
from tests.query.cases import Policy
from tests.query.harness import Answer, Interface, Refusal, Run, Seen
from tests.query.snapshot import hospital

WITHHELD = Refusal(explained=False, seen=b"The answer is withheld.")


def reference_interface(connection: psycopg.Connection[Any], policy: Policy) -> Interface:
    """Return an interface to a database; the connection may read everything."""
    options = Options(mode=policy.mode, strict=policy.strict, dominance=policy.dominance)  # type: ignore[arg-type]
    return Interface(run_on(connection, options))


def run_on(connection: psycopg.Connection[Any], options: Options) -> Run:
    """Return what runs queries under some options; the connection may read everything."""
    connection.execute("set search_path = pg_catalog, pg_temp")
    connection.execute("set statement_timeout = '20s'")

    def ask(_role: str, text: str, params: Sequence[Any], _session: int) -> Seen:
        verdict = check(text, hospital(), options)
        if not verdict.accepted:
            return Refusal(explained=True, seen=repr(verdict.findings).encode())
        return _answer(connection, verdict, params)

    return ask


def _answer(connection: psycopg.Connection[Any], verdict: Verdict, params: Sequence[Any]) -> Seen:
    rows = answer_rows(connection, verdict, params)
    return WITHHELD if rows is None else Answer.of(rows)


def answer_rows(
    connection: psycopg.Connection[Any], verdict: Verdict, params: Sequence[Any]
) -> list[tuple[Any, ...]] | None:
    """Return the rows that an accepted query answers, None if they are withheld."""
    values = [None if value is None else str(value) for value in params]
    try:
        with connection.transaction(force_rollback=True):
            connection.execute("set transaction read only")
            cursor = psycopg.RawCursor(connection)
            cursor.execute((verdict.canonical_sql or "").encode(), values or None)
            rows = cursor.fetchall()
    except (psycopg.Error, ValueError):
        return None
    shown = len(verdict.outputs)
    for row in rows:
        for value, hidden in zip(row[shown:], verdict.hidden, strict=True):
            if value is None or value < hidden.minimum:
                return None
    if not rows and verdict.empty_refused:
        return None
    return [row[:shown] for row in rows]
