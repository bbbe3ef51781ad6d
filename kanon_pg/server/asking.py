"""What the PL/Python functions for questions call; `kanon_pg.server` offers them to the bodies.

The outer ones run with the caller's rights and hand the question over; the inner ones have the rights of the
reading role.
"""

from __future__ import annotations

from typing import Any

from kanon_pg.db.protocol import Database
from kanon_pg.db.spi_adapter import serve
from kanon_pg.errors import InputError
from kanon_pg.queries import answer as service
from kanon_pg.queries import formats as shapes
from kanon_pg.queries import hold as handover
from kanon_pg.queries.check.verdict import Verdict
from kanon_pg.queries.hold import Call
from kanon_pg.queries.request import AnswerTable, Question, refused
from kanon_pg.server.values import SqlValue


def query(sql: SqlValue, parameters: SqlValue, schemas: SqlValue) -> list[str]:
    """Serve ``kanon_query``: JSON objects as texts."""
    return serve(lambda db: shapes.as_objects(_answer(db, sql, parameters, schemas)))


def ask(sql: SqlValue, parameters: SqlValue, schemas: SqlValue) -> list[list[str | None]]:
    """Serve ``kanon.ask``: names, types, rows."""
    return serve(lambda db: shapes.as_lines(_answer(db, sql, parameters, schemas)))


def check_query(sql: SqlValue, schemas: SqlValue) -> dict[str, Any]:
    """Serve ``kanon_check_query``."""
    return serve(lambda db: shapes.verdict_row(_verdict(db, sql, schemas)))


def record_query(sql: SqlValue, schemas: SqlValue) -> dict[str, str]:
    """Serve ``kanon.record_query``: what ``kanon_query_record`` runs, or the refusal."""

    def operation(db: Database) -> dict[str, str]:
        verdict = _verdict(db, sql, schemas)
        if not verdict.accepted:
            raise refused(verdict.findings)
        return {
            "statement": shapes.typed_statement(verdict.outputs),
            "columns": shapes.column_list(verdict.outputs),
        }

    return serve(operation)


def hold_relations() -> None:
    """Serve ``kanon.hold_relations``."""
    serve(handover.hold)


def serve_question() -> None:
    """Serve ``kanon.serve_question``."""
    serve(handover.serve)


def _answer(db: Database, sql: SqlValue, parameters: SqlValue, schemas: SqlValue) -> AnswerTable:
    def operation(reader: Database, call: Call) -> AnswerTable:
        return service.ask(reader, call.question, call.role, call.login, held=call.held)

    question = Question(_text(sql), _texts("parameters", parameters), _path(schemas))
    answer: AnswerTable = handover.hand_over(db, question, operation)
    return answer


def _verdict(db: Database, sql: SqlValue, schemas: SqlValue) -> Verdict:
    def operation(reader: Database, call: Call) -> Verdict:
        return service.check_query(
            reader, call.question.text, call.role, search_path=call.question.search_path
        )

    verdict: Verdict = handover.hand_over(db, Question(_text(sql), (), _path(schemas)), operation)
    return verdict


def _text(sql: SqlValue) -> str:
    if sql is None or not sql.strip():
        raise InputError(
            "There is no question: the text is NULL or empty.",
            hint="SELECT * FROM kanon_query('SELECT ward, count(*) FROM patients GROUP BY ward');",
        )
    text: str = sql
    return text


def _path(schemas: SqlValue) -> tuple[str, ...]:
    named = (name for name in _texts("schemas", schemas) if name is not None)
    return tuple(name for name in named if name != "pg_catalog" and not name.startswith("pg_temp"))


def _texts(argument: str, values: SqlValue) -> tuple[str | None, ...]:
    if values is None:
        return ()
    if not all(value is None or isinstance(value, str) for value in values):
        raise InputError(f"Argument {argument} must be a plain list.", hint="For example: ARRAY['a', 'b'].")
    return tuple(values)
