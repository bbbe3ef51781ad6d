"""Runs canonical SQL once, and judges every row before any of them is looked at."""

from __future__ import annotations

from collections.abc import Sequence

from kanon_pg.db.identifiers import Identifier
from kanon_pg.db.protocol import Database
from kanon_pg.db.queries import Statement, statement
from kanon_pg.enforce.questions import AnswerTable, Told
from kanon_pg.query.verdict import Verdict

_BACKED = "kanon_backed"


def run(db: Database, verdict: Verdict, values: Sequence[str | None], most_rows: int) -> Told:
    """Run the canonical SQL of an accepted question.

    Parameters
    ----------
    db : Database
        Has the rights of the reading role, cannot write, and has the snapshot of the check.
    verdict : Verdict
        Accepted.
    values : sequence of (str or None)
        Of the parameters, in the order of `verdict.parameters`.
    most_rows : int
        Rows above which there is no answer.

    Returns
    -------
    Told
        No answer if there are too many rows, or one has too few people behind it.

    Raises
    ------
    LimitExceeded
        If it takes too long.
    DatabaseError
        If the server gave up; its text must not be told.
    """
    command = Statement(_judged(verdict, most_rows + 1), ("text",) * len(verdict.parameters))
    if values:
        db.row(statement("plan_anew"))
    rows = db.rows_once(command, *values)
    if len(rows) > most_rows:
        return Told(None, "rows")
    if not all(row[_BACKED] for row in rows) or (not rows and verdict.empty_refused):
        return Told(None, "size")
    shown = [f"c{number}" for number in range(1, len(verdict.outputs) + 1)]
    return Told(
        AnswerTable(
            names=tuple(output.name for output in verdict.outputs),
            types=tuple(output.type_name for output in verdict.outputs),
            rows=tuple(tuple(row[name] for name in shown) for row in rows),
        )
    )


def _judged(verdict: Verdict, limit: int) -> str:
    """Return the canonical SQL with its outputs as text, and the hidden columns as one judgement."""
    shown = [Identifier.of(f"c{number}") for number in range(1, len(verdict.outputs) + 1)]
    hidden = [Identifier.of(f"h{number}") for number in range(1, len(verdict.hidden) + 1)]
    judged = [
        f"coalesce(q.{name} OPERATOR(pg_catalog.>=) {item.minimum}, false)"
        for name, item in zip(hidden, verdict.hidden, strict=True)
    ]
    texts = [f"CAST(q.{name} AS pg_catalog.text) AS {name}" for name in shown]
    texts.append(f"{' AND '.join(judged) or 'true'} AS {_BACKED}")
    columns = ", ".join(str(name) for name in (*shown, *hidden))
    return f"SELECT {', '.join(texts)} FROM ({verdict.canonical_sql}) AS q ({columns}) LIMIT {limit}"
