"""What the PL/Python functions call that protect tables, answer queries about them and show the ledger.

Of those that answer queries, the outer ones run with the caller's rights and hand the query over; the inner
ones have the rights of the reading role.
"""

from __future__ import annotations

from typing import Any

from kanon_pg.db.catalog import requesting_role
from kanon_pg.db.operation import SqlValue
from kanon_pg.db.protocol import Database
from kanon_pg.db.spi_adapter import serve
from kanon_pg.queries import formats, ledgers, pending_query
from kanon_pg.queries import ledger_states as states
from kanon_pg.queries import protection as protecting
from kanon_pg.queries.answer import answer_query
from kanon_pg.queries.answer import check_query as check_text
from kanon_pg.queries.check.verdict import Verdict
from kanon_pg.queries.pending_query import PendingQuery
from kanon_pg.queries.request import PROTECT, AnswerTable, QueryRequest, given_text, given_texts, refused
from kanon_pg.runner.limits import keep_freed_memory


def query(sql: SqlValue, parameters: SqlValue, schemas: SqlValue) -> list[str]:
    """Serve ``kanon_query``: JSON objects as texts."""
    return serve(lambda db: formats.as_objects(_answer(db, sql, parameters, schemas)))


def query_lines(sql: SqlValue, parameters: SqlValue, schemas: SqlValue) -> list[list[str | None]]:
    """Serve ``kanon.query_lines``: names, types, rows."""
    return serve(lambda db: formats.as_lines(_answer(db, sql, parameters, schemas)))


def check_query(sql: SqlValue, schemas: SqlValue) -> dict[str, Any]:
    """Serve ``kanon_check_query``."""
    return serve(lambda db: formats.verdict_row(_verdict(db, sql, schemas)))


def typed_statement(sql: SqlValue, schemas: SqlValue) -> dict[str, str]:
    """Serve ``kanon.typed_statement``: what ``kanon_query_record`` runs, or the refusal."""

    def operation(db: Database) -> dict[str, str]:
        verdict = _verdict(db, sql, schemas)
        if not verdict.accepted:
            raise refused(verdict.findings)
        return {
            "statement": formats.typed_statement(verdict.outputs),
            "columns": formats.column_definitions(verdict.outputs),
        }

    return serve(operation)


def hold_relations() -> None:
    """Serve ``kanon.hold_relations``."""
    serve(pending_query.lock_pending)


def serve_query() -> None:
    """Serve ``kanon.serve_query``."""
    serve(pending_query.serve_pending)


def keep_marks() -> None:
    """Serve ``kanon.keep_marks``."""
    serve(pending_query.keep_pending_marks)


def protect(*arguments: SqlValue) -> None:
    """Serve ``kanon_protect``."""

    def operation(db: Database) -> None:
        request = PROTECT.request(*arguments)
        role = requesting_role(db, "protect")
        protecting.protect(db, request.relation, request.k, request.options, role=role)

    serve(operation)


def unprotect(relation: SqlValue) -> None:
    """Serve ``kanon_unprotect``."""
    serve(lambda db: protecting.unprotect(db, relation, role=requesting_role(db, "unprotect")))


def restart_ledger(relation: SqlValue) -> None:
    """Serve ``kanon.restart_ledger``."""
    serve(lambda db: ledgers.restart_ledger(db, relation, requesting_role(db, "restart_ledger")))


def ledger_states() -> list[dict[str, Any]]:
    """Serve ``kanon.ledger_states``."""
    return serve(states.ledger_states)


def query_log() -> list[dict[str, Any]]:
    """Serve ``kanon.query_log``."""
    return serve(ledgers.query_log)


def _answer(db: Database, sql: SqlValue, parameters: SqlValue, schemas: SqlValue) -> AnswerTable:
    def operation(reader: Database, pending: PendingQuery) -> AnswerTable:
        return answer_query(
            reader,
            pending.query,
            pending.role,
            pending.login,
            locked=pending.locked,
            keep_marks=pending.marks.extend,
        )

    request = QueryRequest(given_text(sql), given_texts("parameters", parameters), _path(schemas))
    keep_freed_memory()
    answer: AnswerTable = pending_query.serve_as_reader(db, request, operation)
    return answer


def _verdict(db: Database, sql: SqlValue, schemas: SqlValue) -> Verdict:
    def operation(reader: Database, pending: PendingQuery) -> Verdict:
        return check_text(reader, pending.query.text, pending.role, search_path=pending.query.search_path)

    verdict: Verdict = pending_query.serve_as_reader(
        db, QueryRequest(given_text(sql), (), _path(schemas)), operation
    )
    return verdict


def _path(schemas: SqlValue) -> tuple[str, ...]:
    named = (name for name in given_texts("schemas", schemas) if name is not None)
    return tuple(name for name in named if name != "pg_catalog" and not name.startswith("pg_temp"))
