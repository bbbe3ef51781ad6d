"""The operations on hierarchies through either interface, see `kanon_pg.cli.interfaces`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from kanon_pg import client
from kanon_pg.core.hierarchy import GeneralizationHierarchy
from kanon_pg.db.catalog import describe
from kanon_pg.db.failures import UNDEFINED_FUNCTION
from kanon_pg.db.identifiers import Identifier
from kanon_pg.db.psycopg_adapter import Connection, PsycopgDatabase
from kanon_pg.db.queries import statement
from kanon_pg.errors import DatabaseError, InstallError

Options = Mapping[str, Any]
Rows = Sequence[Sequence[str | None]]


@dataclass(frozen=True, slots=True)
class ServerHierarchies:
    """Calls the functions in the server."""

    connection: Connection

    def define(self, name: str, rows: Rows, options: Options) -> int:
        """Store rows as a hierarchy; returns its version."""
        with self._calling() as db:
            call = statement("call_hierarchy_define")
            return int(db.row(call, _checked(name), json.dumps(rows), json.dumps(options))["version"])

    def load(self, name: str, relation: str, options: Options) -> int:
        """Store the hierarchy that a table has; returns its version."""
        with self._calling() as db:
            call, oid = statement("call_hierarchy_load"), describe(db, relation).oid
            return int(db.row(call, _checked(name), oid, json.dumps(options))["version"])

    def build(self, name: str, relation: str, column: str, spec: Any, options: Options) -> int:
        """Build a hierarchy over a column; returns its version."""
        with self._calling() as db:
            call, oid = statement("call_hierarchy_build"), describe(db, relation).oid
            texts = json.dumps(spec), json.dumps(options)
            return int(db.row(call, _checked(name), oid, _checked(column), *texts)["version"])

    def content(self, name: str) -> GeneralizationHierarchy:
        """Return a stored hierarchy."""
        with self._calling() as db:
            rows = db.rows(statement("call_hierarchy_values"), _checked(name))
            levels = zip(*(row["nodes"] for row in rows), strict=True)
            return GeneralizationHierarchy(tuple(row["value"] for row in rows), tuple(levels))

    def drop(self, name: str) -> None:
        """Forget a stored hierarchy."""
        with self._calling() as db:
            db.row(statement("call_hierarchy_drop"), _checked(name))

    @contextmanager
    def _calling(self) -> Iterator[PsycopgDatabase]:
        try:
            yield PsycopgDatabase(self.connection)
        except DatabaseError as error:
            if error.server_state != UNDEFINED_FUNCTION:
                raise
            raise InstallError(
                "The database has no kanon functions that this call could use.",
                hint="Run `kanon install`, or pass --client if its server has no Python.",
            ) from error


@dataclass(frozen=True, slots=True)
class ClientHierarchies:
    """Does the work of the functions over the connection."""

    connection: Connection

    def define(self, name: str, rows: Rows, options: Options) -> int:
        """Store rows as a hierarchy; returns its version."""
        return client.define_hierarchy(self.connection, name, rows, options).version

    def load(self, name: str, relation: str, options: Options) -> int:
        """Store the hierarchy that a table has; returns its version."""
        return client.load_hierarchy(self.connection, name, relation, options).version

    def build(self, name: str, relation: str, column: str, spec: Any, options: Options) -> int:
        """Build a hierarchy over a column; returns its version."""
        return client.build_hierarchy(self.connection, name, relation, column, spec, options).version

    def content(self, name: str) -> GeneralizationHierarchy:
        """Return a stored hierarchy."""
        return client.hierarchy_content(self.connection, name).hierarchy

    def drop(self, name: str) -> None:
        """Forget a stored hierarchy."""
        client.drop_hierarchy(self.connection, name)


def _checked(name: str) -> str:
    # A cast to `name` would cut a longer one off without a word.
    return Identifier.of(name).name
