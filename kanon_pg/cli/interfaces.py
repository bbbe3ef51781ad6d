"""The operations on releases through either interface, behind one set of functions.

The server's interface calls the SQL functions; the client's interface does their work over the connection,
for servers without PL/Python.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from kanon_pg import client
from kanon_pg.cli.connection import connected, installed
from kanon_pg.cli.output import Advance, note, with_notes
from kanon_pg.core.termination import Termination
from kanon_pg.db.catalog import describe
from kanon_pg.db.identifiers import Identifier
from kanon_pg.db.psycopg_adapter import Connection, PsycopgDatabase
from kanon_pg.db.queries import statement
from kanon_pg.release.report import ReleaseReport
from kanon_pg.release.request import ANONYMIZE

_PROGRESS = re.compile(r"kanon: (.+?)(?: (\d+)%)?")


@dataclass(frozen=True, slots=True)
class Roles:
    """Roles of columns to declare; see `kanon_pg.release.declaration.Declaration`."""

    identifiers: Sequence[str]
    quasi_identifiers: Sequence[str]
    sensitive: Sequence[str]
    insensitive: Sequence[str]
    entity: str | None
    weights: Mapping[str, float] | None

    def names(self) -> Iterator[str]:
        """Yield every column named."""
        for group in (self.identifiers, self.quasi_identifiers, self.sensitive, self.insensitive):
            yield from group
        yield from (self.weights or {})
        if self.entity is not None:
            yield self.entity


@dataclass(frozen=True, slots=True)
class ServerInterface:
    """Calls the functions in the server."""

    connection: Connection

    def anonymize(self, arguments: Mapping[str, Any], advance: Advance) -> ReleaseReport:
        """Publish a release, see `kanon_pg.client.anonymize`."""
        with self._calling() as db:
            columns = [*(arguments["quasi_identifiers"] or ()), *(arguments["sensitive"] or ())]
            oid = _oid(db, arguments["relation"], columns)
            db.row(statement("set_progress_notices"))
            self.connection.add_notice_handler(lambda notice: _hear(notice.message_primary or "", advance))
            given = {**arguments, "relation": oid, "release": _checked(arguments["release"])}
            row = db.row(ANONYMIZE.statement("call_anonymize"), *ANONYMIZE.values(given))
            return ReleaseReport(**{**row, "termination": Termination(row["termination"])})

    def declare(self, relation: str, roles: Roles) -> None:
        """Record roles, see `kanon_pg.client.declare`."""
        with self._calling() as db:
            self._pass_on_notices()
            db.row(
                statement("call_declare"),
                _oid(db, relation, list(roles.names())),
                list(roles.identifiers),
                list(roles.quasi_identifiers),
                list(roles.sensitive),
                list(roles.insensitive),
                roles.entity,
                None if roles.weights is None else json.dumps(roles.weights),
            )

    def undeclare(self, relation: str) -> None:
        """Forget roles, see `kanon_pg.client.undeclare`."""
        with self._calling() as db:
            db.row(statement("call_undeclare"), _oid(db, relation))

    def refresh(self, release: str) -> None:
        """Bring a release up to date, see `kanon_pg.client.refresh`."""
        with self._calling() as db:
            self._pass_on_notices()
            db.row(statement("call_refresh"), _checked(release))

    def drop(self, release: str) -> None:
        """Remove a release, see `kanon_pg.client.drop`."""
        with self._calling() as db:
            db.row(statement("call_drop"), _checked(release))

    def _pass_on_notices(self) -> None:
        self.connection.add_notice_handler(lambda notice: note(notice.message_primary or ""))

    @contextmanager
    def _calling(self) -> Iterator[PsycopgDatabase]:
        with installed(self.connection):
            yield PsycopgDatabase(self.connection)


@dataclass(frozen=True, slots=True)
class ClientInterface:
    """Does the work of the functions over the connection."""

    connection: Connection

    def anonymize(self, arguments: Mapping[str, Any], advance: Advance) -> ReleaseReport:
        """Publish a release, see `kanon_pg.client.anonymize`."""
        return client.anonymize(self.connection, on_progress=with_notes(advance), **arguments)

    def declare(self, relation: str, roles: Roles) -> None:
        """Record roles, see `kanon_pg.client.declare`."""
        client.declare(
            self.connection,
            relation,
            identifiers=roles.identifiers,
            quasi_identifiers=roles.quasi_identifiers,
            sensitive=roles.sensitive,
            insensitive=roles.insensitive,
            entity=roles.entity,
            weights=roles.weights,
            on_progress=with_notes(lambda _phase, _share: None),
        )

    def undeclare(self, relation: str) -> None:
        """Forget roles, see `kanon_pg.client.undeclare`."""
        client.undeclare(self.connection, relation)

    def refresh(self, release: str) -> None:
        """Bring a release up to date, see `kanon_pg.client.refresh`."""
        client.refresh(self.connection, release, on_progress=with_notes(lambda _phase, _share: None))

    def drop(self, release: str) -> None:
        """Remove a release, see `kanon_pg.client.drop`."""
        client.drop(self.connection, release)


Interface = ServerInterface | ClientInterface


def _hear(message: str, advance: Advance) -> None:
    progress = _PROGRESS.fullmatch(message)
    if progress is None:
        note(message)
    else:
        advance(progress[1], None if progress[2] is None else int(progress[2]) / 100)


def _checked(name: str | None) -> str | None:
    # A cast to `name` would cut a longer one off without a word.
    return None if name is None else Identifier.of(name).name


def _oid(db: PsycopgDatabase, relation: str, columns: Sequence[str] = ()) -> int:
    for column in columns:
        _checked(column)
    return describe(db, relation).oid


@contextmanager
def opened_interface(dsn: str | None, is_client: bool) -> Iterator[Interface]:
    """Open a connection and the interface that was asked for, for as long as the block lasts."""
    with connected(dsn) as connection:
        yield ClientInterface(connection) if is_client else ServerInterface(connection)
