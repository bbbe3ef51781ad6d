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
from kanon_pg.db.queries import statement
from kanon_pg.errors import InstallError, KanonError, NotPermitted
from kanon_pg.gateway.rewrite import Knowledge, Passed, Refused
from kanon_pg.gateway.session_settings import listed_path
from kanon_pg.gateway.vocabulary import Vocabulary
from kanon_pg.queries.answer import verdict_on
from kanon_pg.queries.check.catalog import CatalogSnapshot
from kanon_pg.queries.check.verdict import Verdict
from kanon_pg.queries.load_catalog import load_catalog

_KEPT_SECONDS = 30.0
_MOST_KEPT = 4_096
_LONGEST_KEPT = 8_192

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
        self._kept: OrderedDict[Key, tuple[float, object]] = OrderedDict()

    async def vocabulary(self) -> Vocabulary:
        """Return what the server has of catalogs and functions.

        Raises
        ------
        KanonError
            If it cannot be read, or kanon_pg is not installed.
        """
        return await self._once(("",), _vocabulary)

    async def start_path(self, role: str) -> tuple[str, ...]:
        """Return the search path with which a role's sessions begin."""
        return await self._once((role, "path"), lambda db: _start_path(db, role))

    async def knowledge(self, role: str, path: tuple[str, ...], names: frozenset[str]) -> Knowledge:
        """Return what is known on behalf of a role.

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
        vocabulary = await self.vocabulary()
        wanted = names - vocabulary.catalogs
        if not wanted:
            return Knowledge(CatalogSnapshot((), path), vocabulary, _refuse_all)
        return await self._once(
            (role, "relations", path, wanted), lambda db: _relations(db, role, path, wanted, vocabulary)
        )

    async def _once(self, key: Key, read: Callable[[PsycopgDatabase], Found]) -> Found:
        kept = self._look_up(key)
        if kept is None:
            async with self._lock:
                kept = self._look_up(key) or await asyncio.to_thread(self._read, read)
            self._keep(key, kept)
        return kept  # type: ignore[return-value]  # each kind of key has one type of value

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

    def result(self, key: Key) -> Passed | Refused | None:
        """Return what was remembered for a text."""
        return self._look_up(key)  # type: ignore[return-value]  # only `remember` stores under such keys

    def remember(self, key: Key, text: str, result: Passed | Refused) -> None:
        """Remember what is sent in place of a text, unless it is long."""
        if len(text) <= _LONGEST_KEPT:
            self._keep(key, result)

    def forget(self, role: str) -> None:
        """Have everything that concerns a role read anew."""
        for key in [key for key in self._kept if key[0] in (role, "")]:
            del self._kept[key]

    def close(self) -> None:
        """End the connection."""
        if self._connection is not None:
            with suppress(KanonError):
                self._connection.close()
        self._connection = None

    def _look_up(self, key: Key) -> object | None:
        expires, found = self._kept.get(key, (0.0, None))
        if expires < time.monotonic():
            return None
        self._kept.move_to_end(key)
        return found

    def _keep(self, key: Key, found: object) -> None:
        self._kept[key] = (time.monotonic() + _KEPT_SECONDS, found)
        while len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)


def _vocabulary(db: PsycopgDatabase) -> Vocabulary:
    row = db.row(statement("gateway_vocabulary"))
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
            f"GRANT SELECT ON kanon.declaration, kanon.protection, kanon.release TO {role};",
        )
    return Vocabulary(
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
    db: PsycopgDatabase, role: str, path: tuple[str, ...], names: frozenset[str], vocabulary: Vocabulary
) -> Knowledge:
    text = " ".join(str(Identifier((name,))) for name in sorted(names))
    loaded = load_catalog(db, text, path, role)

    def check(query: str, snapshot: CatalogSnapshot) -> Verdict:
        return verdict_on(query, snapshot, loaded.rules)

    return Knowledge(loaded.snapshot, vocabulary, check)


def _refuse_all(_text: str, _snapshot: CatalogSnapshot) -> Verdict:
    raise AssertionError("a text without relations is no query")
