"""What the PL/Python functions call that protect tables, answer queries about them and show their log.

Of those that answer queries, the outer ones run with the caller's rights and hand the query over; the inner
ones have the rights of the reading role.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from kanon_pg.db.catalog import requesting_role
from kanon_pg.db.operation import SqlValue
from kanon_pg.db.protocol import Database
from kanon_pg.db.spi_adapter import serve
from kanon_pg.queries import pending_query
from kanon_pg.queries import protection as protecting
from kanon_pg.queries.answering import Answered, answer, explained, understand
from kanon_pg.queries.noise import accounts as noise_accounts
from kanon_pg.queries.pending_query import PendingQuery
from kanon_pg.queries.reading.findings import Refusal
from kanon_pg.queries.record import records
from kanon_pg.queries.request import PROTECT, Asker, QueryRequest, given_text, given_texts


def read_blocks(sql: SqlValue, parameters: SqlValue, schemas: SqlValue) -> dict[str, Any]:
    """Serve ``kanon.read_blocks``: the rest, the rows of the blocks, and notices."""

    def operation(db: Database) -> dict[str, Any]:
        def reading(reader: Database, pending: PendingQuery) -> Answered:
            asker = Asker(pending.role, pending.login, pending.locked)
            return answer(reader, pending.query, asker, keep_marks=pending.marks.extend)

        request = QueryRequest(given_text(sql), given_texts("parameters", parameters), _path(schemas))
        found: Answered = pending_query.serve_as_reader(db, request, reading)
        return {"rest": found.sql, "rows": found.rows, "notices": list(found.notices)}

    return serve(operation)


def check_query(sql: SqlValue, schemas: SqlValue) -> dict[str, Any]:
    """Serve ``kanon_check_query``."""

    def operation(db: Database) -> dict[str, Any]:
        def reading(reader: Database, pending: PendingQuery) -> dict[str, Any]:
            try:
                understood = understand(reader, pending.query, pending.role)
            except Refusal as refusal:
                refused = {"canonical_sql": None, "noise": None}
                return {"accepted": False, "findings": json.dumps([asdict(refusal.finding)]), **refused}
            costs = [asdict(one) for one in understood.costs]
            noise = json.dumps(costs) if understood.is_noisy else None
            shown = {"canonical_sql": explained(understood), "noise": noise}
            return {"accepted": True, "findings": "[]", **shown}

        request = QueryRequest(given_text(sql), (), _path(schemas))
        found: dict[str, Any] = pending_query.serve_as_reader(db, request, reading)
        return found

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


def restart_record(relation: SqlValue) -> None:
    """Serve ``kanon.restart_record``."""
    serve(lambda db: records.restart_record(db, relation, requesting_role(db, "restart_record")))


def forget_answer(relation: SqlValue, entry: SqlValue) -> int:
    """Serve ``kanon.forget_answer``."""
    return serve(lambda db: records.forget_answer(db, relation, entry, requesting_role(db, "forget_answer")))


def record_states() -> list[dict[str, Any]]:
    """Serve ``kanon.record_states``."""
    return serve(records.record_states)


def accounts() -> list[dict[str, Any]]:
    """Serve ``kanon.accounts``."""
    return serve(noise_accounts.accounts)


def query_log() -> list[dict[str, Any]]:
    """Serve ``kanon.query_log``."""
    return serve(records.query_log)


def _path(schemas: SqlValue) -> tuple[str, ...]:
    named = (name for name in given_texts("schemas", schemas) if name is not None)
    return tuple(name for name in named if name != "pg_catalog" and not name.startswith("pg_temp"))
