"""The names of protected relations, read over a connection of the gateway's own and kept for some seconds.

They only decide which statements the server is asked about as queries. A statement about a table of people
that is not recognized passes, and the server refuses it: no analyst has rights on the table itself.
"""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress

from kanon_pg.db.identifiers import Identifier
from kanon_pg.db.psycopg_adapter import Connection, PsycopgDatabase, connect, repeatable_read
from kanon_pg.db.statements import statement
from kanon_pg.errors import InstallError, KanonError, NotPermitted

_log = logging.getLogger("kanon_pg.gateway")
_KEPT_SECONDS = 5.0


class ProtectedNames:
    """Knows the names of protected relations, by a connection of the gateway's own."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._connection: Connection | None = None
        self._names = frozenset[str]()
        self._expires = 0.0
        self._lock = asyncio.Lock()

    async def start(self) -> None:
        """Read the names for the first time."""
        self._names = await asyncio.to_thread(self._read, first=True)

    async def current(self) -> frozenset[str]:
        """Return the names; those of before where the server does not answer."""
        if time.monotonic() < self._expires:
            return self._names
        async with self._lock:
            if time.monotonic() >= self._expires:
                try:
                    self._names = await asyncio.to_thread(self._read)
                except KanonError as error:
                    _log.error("the names of protected relations cannot be read: %s", error.message)
                self._expires = time.monotonic() + _KEPT_SECONDS
        return self._names

    def expire(self) -> None:
        """Have the names read again before they are used: the server knew better."""
        self._expires = 0.0

    def stand_in(self, message: str) -> bool:
        """Whether a message of the server names one of them."""
        return any(name in message for name in self._names)

    def _read(self, *, first: bool = False) -> frozenset[str]:
        if self._connection is None or self._connection.closed or self._connection.broken:
            self._connection = connect(self._dsn)
        try:
            with repeatable_read(self._connection):
                db = PsycopgDatabase(self._connection)
                if first:
                    _check(db)
                return frozenset(db.row(statement("protected_names"))["names"] or ())
        except KanonError:
            self.close()
            raise

    def close(self) -> None:
        """End the connection."""
        if self._connection is not None:
            with suppress(KanonError):
                self._connection.close()
        self._connection = None


def _check(db: PsycopgDatabase) -> None:
    rights = db.row(statement("gateway_rights"))
    if not rights["is_installed"]:
        raise InstallError(
            "The database has no kanon functions for queries.",
            hint="Run `kanon install`; the server needs PL/Python.",
        )
    if not rights["is_permitted"]:
        role = Identifier((rights["role"],))
        raise NotPermitted(
            f"Role {role} may not read the names of protected relations.",
            hint=f"GRANT USAGE ON SCHEMA kanon TO {role}; GRANT SELECT ON kanon.protected_names TO {role};",
        )
