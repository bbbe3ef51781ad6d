"""The catalog as the gateway needs it: read over a connection of its own, cached for a while.

The cache decides only how a statement is rewritten. The server checks every query again, in the
same snapshot in which it is answered.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from kanon_pg.db.identifiers import Identifier
from kanon_pg.db.psycopg_adapter import Connection, PsycopgDatabase, connect, repeatable_read
from kanon_pg.db.statements import statement
from kanon_pg.errors import InstallError, KanonError, NotPermitted
from kanon_pg.gateway.allowed_names import AllowedNames
from kanon_pg.gateway.rewrite import Refused, RewriteContext, Rewritten
from kanon_pg.gateway.statements import listed_path
from kanon_pg.queries.answer import verdict_on
from kanon_pg.queries.check.catalog import CatalogSnapshot
from kanon_pg.queries.check.verdict import Verdict
from kanon_pg.queries.load_catalog import load_catalog

_CACHE_SECONDS = 30.0
_MAX_CACHED = 4_096
_MAX_CACHED_CHARACTERS = 8_192

Found = TypeVar("Found")
Key = tuple[object, ...]


class DatabaseSource:
    """Reads the catalog as a role that has no right but that.

    Parameters
    ----------
    dsn : str
        Of the gateway's own connection.
    """

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._connection: Connection | None = None
        self._lock = asyncio.Lock()
        self._cache: OrderedDict[Key, tuple[float, object]] = OrderedDict()

    async def allowed_names(self) -> AllowedNames:
        """Return the catalogs and functions of the server that statements may name.

        Raises
        ------
        KanonError
            If it cannot be read, or kanon_pg is not installed.
        """
        return await self._cached(("",), _allowed_names)

    async def start_path(self, role: str) -> tuple[str, ...]:
        """Return the search path with which a role's sessions begin."""
        return await self._cached((role, "path"), lambda db: _start_path(db, role))

    async def context(self, role: str, path: tuple[str, ...], names: frozenset[str]) -> RewriteContext:
        """Return what the relations that a text names are to a role.

        Parameters
        ----------
        path : tuple of str
            The session's search path.
        names : frozenset of str
            Names of relations and schemas that a text has.

        Raises
        ------
        KanonError
            If it cannot be read.
        """
        allowed_names = await self.allowed_names()
        wanted = names - allowed_names.catalogs
        if not wanted:
            return RewriteContext(CatalogSnapshot((), path), allowed_names, _refuse_all)
        return await self._cached(
            (role, "relations", path, wanted), lambda db: _relations(db, role, path, wanted, allowed_names)
        )

    async def _cached(self, key: Key, read: Callable[[PsycopgDatabase], Found]) -> Found:
        kept = self._look_up(key)
        if kept is None:
            kept = await self._read_alone(key, read)
            self._store(key, kept)
        return kept  # type: ignore[return-value]  # each kind of key has one type of value

    async def _read_alone(self, key: Key, read: Callable[[PsycopgDatabase], object]) -> object:
        """Read in a thread that no other reading runs beside.

        A session that is cancelled stops to wait, but its thread goes on with the connection. So the end of
        the thread gives the lock back, not that of the session.
        """
        await self._lock.acquire()
        reading: asyncio.Future[object] | None = None
        try:
            kept = self._look_up(key)
            if kept is not None:
                return kept
            reading = asyncio.get_running_loop().run_in_executor(None, self._read, read)
            reading.add_done_callback(lambda _: self._lock.release())
        finally:
            if reading is None:
                self._lock.release()
        return await asyncio.shield(reading)

    def _read(self, read: Callable[[PsycopgDatabase], Found]) -> Found:
        """Read in one snapshot, once more if the connection turns out to be gone."""
        fresh = self._connection is None
        try:
            return self._read_once(read)
        except KanonError:
            gone = self._connection is None or self._connection.broken or self._connection.closed
            if fresh or not gone:
                raise
            self.close()
            return self._read_once(read)

    def _read_once(self, read: Callable[[PsycopgDatabase], Found]) -> Found:
        if self._connection is None:
            self._connection = connect(self._dsn)
        with repeatable_read(self._connection):
            return read(PsycopgDatabase(self._connection))

    def cached_result(self, key: Key) -> Rewritten | Refused | None:
        """Return the cached result for a text, None without one."""
        return self._look_up(key)  # type: ignore[return-value]  # only `store_result` stores under such keys

    def store_result(self, key: Key, text: str, result: Rewritten | Refused) -> None:
        """Cache the result for a text, unless the text is long."""
        if len(text) <= _MAX_CACHED_CHARACTERS:
            self._store(key, result)

    def invalidate(self, role: str) -> None:
        """Drop everything cached for a role."""
        for key in [key for key in self._cache if key[0] in (role, "")]:
            del self._cache[key]

    def close(self) -> None:
        """End the connection."""
        if self._connection is not None:
            with suppress(KanonError):
                self._connection.close()
        self._connection = None

    def _look_up(self, key: Key) -> object | None:
        expires, found = self._cache.get(key, (0.0, None))
        if expires < time.monotonic():
            return None
        self._cache.move_to_end(key)
        return found

    def _store(self, key: Key, found: object) -> None:
        self._cache[key] = (time.monotonic() + _CACHE_SECONDS, found)
        while len(self._cache) > _MAX_CACHED:
            self._cache.popitem(last=False)


def _allowed_names(db: PsycopgDatabase) -> AllowedNames:
    row = db.row(statement("gateway_allowed_names"))
    if row["api_schema"] is None or not row["views"]:
        raise InstallError(
            "The database has no kanon functions for queries.",
            hint="Run `kanon install`; the server needs PL/Python.",
        )
    if not row["permitted"]:
        role = Identifier((row["role"],))
        raise NotPermitted(
            f"Role {role} may not read which tables are protected.",
            hint=f"GRANT USAGE ON SCHEMA kanon TO {role}; "
            f"GRANT SELECT ON kanon.base, kanon.declaration, kanon.protection, kanon.release TO {role};",
        )
    return AllowedNames(
        catalogs=frozenset(row["catalogs"]),
        views=frozenset(row["views"]),
        view_functions=frozenset(row["view_functions"]),
        functions=frozenset(row["functions"]),
        api_schema=row["api_schema"],
    )


def _start_path(db: PsycopgDatabase, role: str) -> tuple[str, ...]:
    path: str = db.row(statement("gateway_search_path"), role)["path"]
    return tuple(role if one == "$user" else one for one in listed_path(path))


def _relations(
    db: PsycopgDatabase, role: str, path: tuple[str, ...], names: frozenset[str], allowed_names: AllowedNames
) -> RewriteContext:
    text = " ".join(str(Identifier((name,))) for name in sorted(names))
    loaded = load_catalog(db, text, path, role)

    def check(query: str, snapshot: CatalogSnapshot) -> Verdict:
        return verdict_on(query, snapshot, loaded.rules)

    return RewriteContext(loaded.snapshot, allowed_names, check)


def _refuse_all(_text: str, _snapshot: CatalogSnapshot) -> Verdict:
    raise AssertionError("a text without relations is no query")
