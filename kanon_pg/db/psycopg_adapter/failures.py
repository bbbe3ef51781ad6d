"""Turns errors of psycopg into those of this package."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from kanon_pg.db.failures import database_error
from kanon_pg.errors import by_sqlstate


@contextmanager
def mapped_errors() -> Iterator[None]:
    """Raise psycopg's errors as this package's errors; cancellation passes unchanged."""
    try:
        yield
    except psycopg.errors.QueryCanceled:
        raise
    except psycopg.Error as error:
        state, diag = error.sqlstate, error.diag
        if state is not None and state.startswith("KA"):
            kind = by_sqlstate(state)
            raise kind(
                (diag.message_primary or "").removeprefix("kanon: "),
                detail=diag.message_detail,
                hint=diag.message_hint,
            ) from error
        raise database_error(
            state, diag.message_primary or type(error).__name__, diag.message_hint
        ) from error
