"""What the PL/Python functions call that say which tables may be queried, and what was queried."""

from __future__ import annotations

from typing import Any

from kanon_pg.db.arguments import read_json
from kanon_pg.db.catalog import requesting_role
from kanon_pg.db.spi_adapter import serve
from kanon_pg.queries import ledgers
from kanon_pg.queries import protection as protecting
from kanon_pg.queries import record_states as states
from kanon_pg.server.values import SqlValue


def protect(relation: SqlValue, k: SqlValue, options: SqlValue) -> None:
    """Serve ``kanon_protect``; `options` is JSON text."""
    serve(
        lambda db: protecting.protect(
            db, relation, k, read_json(options), role=requesting_role(db, "protect")
        )
    )


def unprotect(relation: SqlValue) -> None:
    """Serve ``kanon_unprotect``."""
    serve(lambda db: protecting.unprotect(db, relation, role=requesting_role(db, "unprotect")))


def restart_ledger(relation: SqlValue) -> None:
    """Serve ``kanon.restart_ledger``."""
    serve(lambda db: ledgers.restart_record(db, relation, requesting_role(db, "restart_ledger")))


def record_states() -> list[dict[str, Any]]:
    """Serve ``kanon.record_states``."""
    return serve(states.record_states)


def query_log() -> list[dict[str, Any]]:
    """Serve ``kanon.query_log``."""
    return serve(ledgers.query_log)
