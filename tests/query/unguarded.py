"""The interface without a guard: runs every query as it stands, as a role that may read everything.

It shows that an attack would work, so that a test of its refusal means something.
"""

from collections.abc import Sequence
from typing import Any

import psycopg

from tests.query.harness import Answer, Interface, Refusal, Seen

TIMEOUT = "20s"


def unguarded(connection: psycopg.Connection[Any]) -> Interface:
    """Return an interface through which everything is run and rolled back."""
    connection.execute("set search_path = hospital, public")
    connection.execute(f"set statement_timeout = '{TIMEOUT}'")

    def ask(_role: str, text: str, params: Sequence[Any], _session: int) -> Seen:
        try:
            with connection.transaction(force_rollback=True):
                cursor = psycopg.RawCursor(connection)
                cursor.execute(text.encode(), params or None)
                return Answer.of(cursor.fetchall() if cursor.description else [()] * max(cursor.rowcount, 0))
        except psycopg.Error as error:
            return Refusal(explained=True, seen=f"{error.sqlstate} {error}".encode())

    return Interface(ask)
