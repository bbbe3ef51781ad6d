"""The operations on releases and hierarchies: calls of the SQL functions, with notices and progress shown."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kanon_pg.before_after.request import RELEASE_REPORT
from kanon_pg.cli.connection import connected, installed
from kanon_pg.cli.output import Advance, note
from kanon_pg.core.hierarchy import GeneralizationHierarchy
from kanon_pg.core.termination import Termination
from kanon_pg.db.catalog import describe, server_function
from kanon_pg.db.identifiers import Identifier
from kanon_pg.db.operation import Operation
from kanon_pg.db.protocol import Row
from kanon_pg.db.psycopg_adapter import Connection, PsycopgDatabase
from kanon_pg.db.statements import statement
from kanon_pg.hierarchies.operations import (
    BUILD_HIERARCHY,
    DEFINE_HIERARCHY,
    LOAD_HIERARCHY,
    MISSING_VALUES,
)
from kanon_pg.hierarchies.storage import hierarchy_in
from kanon_pg.queries.request import PROTECT
from kanon_pg.relations.arguments import check_time_limit
from kanon_pg.release.certificate import CERTIFICATE
from kanon_pg.release.compare.composition import COMPOSITION, Composition
from kanon_pg.release.declare.linking import LINK
from kanon_pg.release.missing import MissingValue
from kanon_pg.release.plan.request import ANONYMIZE, DECLARE
from kanon_pg.release.publish.report import ReleaseReport

if TYPE_CHECKING:
    from kanon_pg.before_after.reporting import Report

Arguments = Mapping[str, Any]
"""The arguments of a SQL function, by the names of its request's fields."""

_PROGRESS = re.compile(r"kanon: (.+?)(?: (\d+)%)?")


@dataclass(frozen=True, slots=True)
class ServerInterface:
    """Calls the functions in the server."""

    connection: Connection

    def anonymize(self, arguments: Arguments, advance: Advance) -> ReleaseReport:
        """Publish a release, see `kanon_pg.client.anonymize`."""
        with self._reporting(advance) as db:
            row = _call(db, ANONYMIZE, "call_anonymize", arguments)
            return ReleaseReport(**{**row, "termination": Termination(row["termination"])})

    def certificate(self, arguments: Arguments, advance: Advance) -> str:
        """Return what proves the bound of a release, see `kanon_pg.client.certificate`."""
        with self._reporting(advance) as db:
            text: str = _call(db, CERTIFICATE, "call_certificate", arguments)["certificate"]
            return text

    def composition(self, arguments: Arguments, advance: Advance) -> tuple[Composition, ...]:
        """Say what releases disclose together, see `kanon_pg.client.composition`."""
        with self._reporting(advance) as db:
            call = COMPOSITION.statement("call_composition", server_function(db, "kanon_composition"))
            rows = db.rows(call, *COMPOSITION.values(arguments))
            return tuple(Composition(**{**row, "releases": tuple(row["releases"])}) for row in rows)

    def release_report(self, arguments: Arguments, advance: Advance) -> Report:
        """Say what a release keeps of its table, see `kanon_pg.client.release_report`."""
        with self._reporting(advance) as db:
            report: Report = json.loads(_call(db, RELEASE_REPORT, "call_release_report", arguments)["report"])
            return report

    def declare(self, arguments: Arguments) -> None:
        """Record roles, see `kanon_pg.client.declare`."""
        with self._reporting() as db:
            _call(db, DECLARE, "call_declare", arguments)

    def link(self, arguments: Arguments) -> None:
        """Link a table, see `kanon_pg.client.link`."""
        with self._calling() as db:
            _call(db, LINK, "call_link", arguments)

    def protect(self, arguments: Arguments) -> None:
        """Let a table answer queries, see `kanon_pg.client.protect`."""
        with self._reporting() as db:
            _call(db, PROTECT, "call_protect", arguments)

    def erase(self, release: str, person: Sequence[str]) -> None:
        """Erase a person, see `kanon_pg.client.erase`."""
        with self._reporting() as db:
            function = server_function(db, "kanon_erase")
            db.row(statement("call_erase", function=function), _checked(release), list(person))

    def run(self, function: str, name: str) -> None:
        """Call a function of one release or hierarchy that returns nothing, like ``kanon_refresh``."""
        with self._reporting() as db:
            db.row(statement("call_by_name", function=server_function(db, function)), _checked(name))

    def run_on_table(self, function: str, relation: str) -> None:
        """Call a function of one table that returns nothing, like ``kanon_undeclare``."""
        with self._reporting() as db:
            name = str(describe(db, relation).identifier)
            db.row(statement("call_by_name", function=server_function(db, function)), name)

    def define_hierarchy(self, arguments: Arguments) -> int:
        """Store rows as a hierarchy; returns its version."""
        with self._calling() as db:
            return int(_call(db, DEFINE_HIERARCHY, "call_hierarchy_define", arguments)["version"])

    def load_hierarchy(self, arguments: Arguments) -> int:
        """Store the hierarchy that a table has; returns its version."""
        with self._calling() as db:
            return int(_call(db, LOAD_HIERARCHY, "call_hierarchy_load", arguments)["version"])

    def build_hierarchy(self, arguments: Arguments) -> int:
        """Build a hierarchy over a column; returns its version."""
        with self._calling() as db:
            return int(_call(db, BUILD_HIERARCHY, "call_hierarchy_build", arguments)["version"])

    def hierarchy_content(self, name: str) -> GeneralizationHierarchy:
        """Return a stored hierarchy."""
        with self._calling() as db:
            function = server_function(db, "kanon_hierarchy_values")
            return hierarchy_in(
                db.rows(statement("call_hierarchy_values", function=function), _checked(name))
            )

    def missing_values(self, arguments: Arguments) -> tuple[MissingValue, ...]:
        """List values that a hierarchy lacks, see `kanon_pg.client.missing_values`."""
        with self._calling() as db:
            given = {**arguments, "relation": describe(db, arguments["relation"]).oid}
            function = server_function(db, "kanon_hierarchy_missing")
            call = MISSING_VALUES.statement("call_hierarchy_missing", function)
            rows = db.rows(call, *MISSING_VALUES.values(given))
            return tuple(MissingValue(**row) for row in rows)

    @contextmanager
    def _reporting(self, advance: Advance | None = None) -> Iterator[PsycopgDatabase]:
        """Open a call whose notices become notes; with `advance`, the server says how far it is."""
        with self._calling() as db:
            if advance is not None:
                db.row(statement("set_progress_notices"))

            def hear(notice: Any) -> None:
                _pass_on(notice.message_primary or "", advance)

            self.connection.add_notice_handler(hear)
            try:
                yield db
            finally:  # of several calls of one connection, each hears its own
                self.connection.remove_notice_handler(hear)

    @contextmanager
    def _calling(self) -> Iterator[PsycopgDatabase]:
        with installed(self.connection):
            yield PsycopgDatabase(self.connection)


def _pass_on(message: str, advance: Advance | None) -> None:
    progress = _PROGRESS.fullmatch(message)
    if advance is None or progress is None:
        note(message)
    else:
        advance(progress[1], None if progress[2] is None else int(progress[2]) / 100)


def _call(db: PsycopgDatabase, operation: Operation[Any], name: str, arguments: Arguments) -> Row:
    """Call an operation's function through a named statement; a relation is passed by its OID."""
    given = dict(arguments)
    if "time_limit" in given:
        check_time_limit(given["time_limit"])  # no interval can carry what is no number
    for relation in given.keys() & {"relation", "child", "parent"}:
        given[relation] = describe(db, given[relation]).oid
    if given.get("tables"):
        given["tables"] = [describe(db, table).oid for table in given["tables"]]
    function = server_function(db, name.replace("call_", "kanon_"))
    return db.row(operation.statement(name, function), *operation.values(given))


def _checked(name: str) -> str:
    return Identifier.of(name).name


@contextmanager
def opened_interface(dsn: str | None) -> Iterator[ServerInterface]:
    """Open a connection and the functions of its database, for as long as the block lasts."""
    with connected(dsn) as connection:
        yield ServerInterface(connection)
