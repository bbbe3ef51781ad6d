"""Python API: the operations of ``kanon_...`` functions over a psycopg connection.

Works with any PostgreSQL that `kanon_pg.admin.install` has prepared, also without PL/Python in the server.
Each operation is one ``REPEATABLE READ`` transaction: a release is counted, solved and written from
one and the same state of the table.

`target` is a DSN, or an open connection of psycopg that is not inside a transaction. ``*arguments`` and
``**options`` are further fields of the request that a function names. `on_progress` receives a phase and the
share of it that is done, between 0 and 1, or None. Each function raises the errors of `kanon_pg.errors`;
nothing is changed then.

What reads relations with the rights of the login works with any PostgreSQL, also one that was never prepared.
What stores something acts as the owner role; what answers queries acts as the role that reads the tables, so
the process has to be trusted. Where the functions are in the server, ``kanon_query`` needs no such right.

Examples
--------
>>> from kanon_pg import client
>>> report = client.anonymize("dbname=clinic", "patients", 5)  # doctest: +SKIP
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol, TypeVar
from weakref import WeakKeyDictionary

from kanon_pg import curves, measures
from kanon_pg.audit import assessing, auditing, suggesting
from kanon_pg.audit.findings import AuditResult, IdentifyingSet, RiskFigures, Suggestion
from kanon_pg.audit.request import (
    AnonymityRequest,
    AuditRequest,
    IdentifyRequest,
    RiskRequest,
    SuggestRequest,
)
from kanon_pg.before_after import reporting
from kanon_pg.before_after.request import ReleaseReportRequest
from kanon_pg.core.hierarchy import GeneralizationHierarchy
from kanon_pg.core.shown import ResultRows
from kanon_pg.curves import Curve, CurveRequest
from kanon_pg.db.catalog import caller, describe
from kanon_pg.db.failures import INSUFFICIENT_PRIVILEGE, SERIALIZATION_FAILURE
from kanon_pg.db.identifiers import Identifier
from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.psycopg_adapter import (
    Connection,
    PsycopgDatabase,
    connected_to,
    mapped_errors,
    pinned,
    repeatable_read,
)
from kanon_pg.db.python_arguments import check_argument, request_of
from kanon_pg.db.settings import created_here, exact_text
from kanon_pg.db.statements import Statement, statement
from kanon_pg.errors import DatabaseError, NotPermitted, ReleaseBusy
from kanon_pg.grouping import classifying
from kanon_pg.grouping.classes import Grouped
from kanon_pg.grouping.request import IntervalsRequest, LabelsRequest, RectanglesRequest, RegionsRequest
from kanon_pg.hierarchies import operations, storage
from kanon_pg.hierarchies.definition import HierarchyDefinition
from kanon_pg.hierarchies.operations import (
    BuildHierarchyRequest,
    DefineHierarchyRequest,
    HierarchyContent,
    LoadHierarchyRequest,
    MissingValuesRequest,
    ShowHierarchyRequest,
)
from kanon_pg.hierarchies.storage import StoredHierarchy
from kanon_pg.measures import MeasureRequest, Measures
from kanon_pg.monitoring import states
from kanon_pg.monitoring.states import HealthState, HistoryEntry
from kanon_pg.policy.applying import apply as apply_changes
from kanon_pg.policy.applying import changes_of
from kanon_pg.policy.differences import Change
from kanon_pg.policy.existing import existing
from kanon_pg.queries import protection as protecting
from kanon_pg.queries.in_server import answered_blocks
from kanon_pg.queries.pending_query import lock_relations
from kanon_pg.queries.reading.findings import Refusal
from kanon_pg.queries.reading.load_facts import READER
from kanon_pg.queries.request import Asker, ProtectRequest, QueryRequest, given_text, given_texts, refused
from kanon_pg.release import certificate as certificates
from kanon_pg.release import missing, releasing
from kanon_pg.release.certificate import CertificateRequest
from kanon_pg.release.compare import composition as compositions
from kanon_pg.release.compare.composition import Composition, CompositionRequest
from kanon_pg.release.declare import declaration, linking
from kanon_pg.release.declare.linking import LinkRequest
from kanon_pg.release.missing import MissingValue
from kanon_pg.release.plan.base import OWNER
from kanon_pg.release.plan.request import AnonymizeRequest, DeclareRequest
from kanon_pg.release.publish.report import ReleaseReport
from kanon_pg.tables import dump as dumping
from kanon_pg.tables.dump import DumpReport

if TYPE_CHECKING:
    from kanon_pg.queries.answering import Understood

Progress = Callable[[str, float | None], None]


@contextmanager
def _transaction(target: str | Connection) -> Iterator[Connection]:
    with _opened(target) as connection, pinned(connection):
        yield connection


@contextmanager
def _opened(target: str | Connection) -> Iterator[Connection]:
    connection = connected_to(target)
    if connection in _joined:
        _act_as(_joined[connection], PsycopgDatabase(connection), _joined[connection])
        yield connection
        return
    try:
        with repeatable_read(connection):
            yield connection
    except DatabaseError as error:
        if error.server_state != SERIALIZATION_FAILURE:
            raise
        raise ReleaseBusy(
            "Another call changed the same at the same time.", hint="Run it again to build on its result."
        ) from error
    finally:
        if isinstance(target, str):
            connection.close()


_joined: WeakKeyDictionary[Connection, str] = WeakKeyDictionary()
"""Connections whose calls are one transaction, with their roles."""


@contextmanager
def one_transaction(target: str | Connection) -> Iterator[Connection]:
    """Run calls of this module on the connection that is yielded as one transaction: all of them or none."""
    with _opened(target) as connection:
        _joined[connection] = caller(PsycopgDatabase(connection))
        try:
            yield connection
        finally:
            del _joined[connection]


@contextmanager
def as_owner(
    target: str | Connection,
    relation: str | None = None,
    on_progress: Progress | None = None,
    *,
    granting: str = "grant_read",
    along: Sequence[str] = (),
) -> Iterator[tuple[PsycopgDatabase, str]]:
    """Open a transaction that acts as the owner role; yields it with the requesting role.

    The reader of the relation may read the tables `along`, too, as far as the role can allow it.
    """
    with _transaction(target) as connection:
        db = PsycopgDatabase(connection, on_progress)
        role = caller(db)
        if relation is not None:
            oid = describe(db, relation, role).oid
            db.row(statement(granting), oid)
            if along:
                db.row(statement("grant_read_tables"), oid, [describe(db, one, role).oid for one in along])
        _act_as(OWNER, db, role)
        with created_here(db):
            yield db, role


@contextmanager
def as_login(target: str | Connection, on_progress: Progress | None) -> Iterator[PsycopgDatabase]:
    """Open a transaction that acts with the rights of the login."""
    with _transaction(target) as connection:
        yield PsycopgDatabase(connection, on_progress)


def _act_as(actor: str, db: PsycopgDatabase, role: str) -> None:
    try:
        db.execute(statement("act_as", role=Identifier.of(actor)))
    except DatabaseError as error:
        if error.server_state != INSUFFICIENT_PRIVILEGE:
            raise
        raise NotPermitted(
            f"Role {Identifier((role,))} may not act as {actor}, which the client's interface does.",
            hint="Call the functions in the server, which need no such right; kanon_query is one of them. "
            f"This interface is for those who may read every base table: members of {OWNER}.",
        ) from error


@contextmanager
def as_reader(target: str | Connection) -> Iterator[tuple[PsycopgDatabase, str, Row]]:
    """Open a transaction that acts as the reading role; yields it with the caller and its session."""
    with _opened(target) as connection, pinned(connection) as schemas:
        db = PsycopgDatabase(connection)
        role, session = caller(db), {**db.row(statement("session_path")), "path": schemas}
        _act_as(READER, db, role)
        db.row(statement("pin_query_settings"))
        yield db, role, session


def revoke_read(db: Database, relation: str, role: str) -> None:
    """Revoke rights to read a relation that nothing needs any more; the transaction is the login's then.

    Parameters
    ----------
    db : Database
        Acts with the rights of the owner role.
    role : str
        The login, who granted and may revoke them.
    """
    oid = describe(db, relation, role).oid
    db.execute(statement("act_as", role=Identifier.of(role)))
    db.row(statement("revoke_read"), oid)


__all__ = [
    "anonymize",
    "apply_policy",
    "ask",
    "audit",
    "build_hierarchy",
    "certificate",
    "check_query",
    "composition",
    "curve",
    "declare",
    "define_hierarchy",
    "drop",
    "drop_hierarchy",
    "dump",
    "erase",
    "groups",
    "health",
    "hierarchies",
    "hierarchy_content",
    "history",
    "identify",
    "intervals",
    "is_anonymous",
    "link",
    "links",
    "load_hierarchy",
    "measure",
    "missing_values",
    "one_transaction",
    "policy",
    "protect",
    "query",
    "rectangles",
    "refresh",
    "regions",
    "release_report",
    "releases",
    "risk",
    "show_hierarchy",
    "suggest",
    "undeclare",
    "unlink",
    "unprotect",
]


class _Checked(Protocol):
    def check(self) -> None: ...


Request = TypeVar("Request", bound=_Checked)
Result = TypeVar("Result")
Target = str | Connection


def _as_login(
    target: Target,
    on_progress: Progress | None,
    service: Callable[[Database, Request], Result],
    request: Request,
) -> Result:
    """Refuse a wrong request before there is a connection, then serve it with the rights of the login."""
    request.check()
    with as_login(target, on_progress) as db:
        return service(db, request)


def declare(target: Target, relation: str, *, on_progress: Progress | None = None, **options: Any) -> None:
    """Record the roles of a relation's columns, see `DeclareRequest`; replaces an earlier declaration."""
    request = request_of(DeclareRequest, (relation,), options)
    with as_owner(target, relation, on_progress) as (db, role):
        declaration.declare(db, request, role=role)


def undeclare(target: Target, relation: str) -> None:
    """Forget the roles of a relation's columns, and revoke rights to read it that nothing needs any more."""
    check_argument("relation", "regclass", relation)
    with as_owner(target) as (db, role):
        declaration.undeclare(db, relation, role=role)
        revoke_read(db, relation, role)


def link(target: Target, child: str, parent: str, **options: Any) -> None:
    """Say that rows of one table belong to the people of another, see `LinkRequest`."""
    request = request_of(LinkRequest, (child, parent), options)
    with _transaction(target) as connection:
        db = PsycopgDatabase(connection)
        role = caller(db)
        below, above = (describe(db, one, role).oid for one in (child, parent))
        for oid in (above, below):
            db.row(statement("grant_read"), oid)
        db.rows(statement("grant_read_along"), below, above)
        _act_as(OWNER, db, role)
        with created_here(db):
            linking.link(db, request, role=role)


def unlink(target: Target, child: str) -> None:
    """Forget the link of a table, and revoke rights to read that nothing needs any more."""
    check_argument("child", "regclass", child)
    with as_owner(target) as (db, role):
        above = linking.unlink(db, child, role=role)
        oid = describe(db, child, role).oid
        db.execute(statement("act_as", role=Identifier.of(role)))
        db.row(statement("revoke_read_along"), oid, list(above))
        db.row(statement("revoke_read"), oid)


def links(target: Target) -> ResultRows:
    """Return all links between tables, by table."""
    with as_owner(target) as (db, _):
        return ResultRows(linking.links(db))


def anonymize(
    target: Target, relation: str, k: int, *, on_progress: Progress | None = None, **options: Any
) -> ReleaseReport:
    """Publish a release, see `AnonymizeRequest`; returns recounted figures and proven bounds."""
    request = request_of(AnonymizeRequest, (relation, k), options)
    request.check()
    with as_owner(target, relation, on_progress, along=request.tables or ()) as (db, role):
        return releasing.anonymize(db, request, role=role)


def certificate(
    target: Target, release: str, *arguments: Any, on_progress: Progress | None = None, **options: Any
) -> str:
    """Return what proves the bound of a release, in JSON, see `CertificateRequest`; treat it as the table."""
    request = request_of(CertificateRequest, (release, *arguments), options)
    request.check()
    with as_owner(target, on_progress=on_progress) as (db, role):
        return certificates.certificate(db, request, role=role)


def composition(
    target: Target,
    releases: Sequence[str],
    *arguments: Any,
    on_progress: Progress | None = None,
    **options: Any,
) -> tuple[Composition, ...]:
    """Say what several releases of a table disclose together, see `CompositionRequest`."""
    request = request_of(CompositionRequest, (releases, *arguments), options)
    request.check()
    with as_owner(target, on_progress=on_progress) as (db, role):
        return compositions.composition(db, request, role=role)


def release_report(
    target: Target, release: str, *arguments: Any, on_progress: Progress | None = None, **options: Any
) -> reporting.Report:
    """Say what a release keeps of its relation, in values that JSON has, see `ReleaseReportRequest`."""
    request = request_of(ReleaseReportRequest, (release, *arguments), options)
    request.check()
    with as_owner(target, on_progress=on_progress) as (db, role):
        return reporting.release_report(db, request, role=role)


def refresh(target: Target, release: str, *, on_progress: Progress | None = None) -> None:
    """Bring a release up to date with its base relation."""
    check_argument("release", "name", release)
    with as_owner(target, on_progress=on_progress) as (db, role):
        releasing.refresh(db, release, role=role)


def drop(target: Target, release: str) -> None:
    """Remove a release with everything behind it."""
    check_argument("release", "name", release)
    with as_owner(target) as (db, role):
        releasing.drop(db, release, role=role)


def erase(target: Target, release: str, *person: str) -> None:
    """Erase what a release over time keeps of a person, and publish a version without their cohorts."""
    check_argument("release", "name", release)
    given_texts("person", person)
    with as_owner(target) as (db, role):
        releasing.erase(db, release, person, role=role)


def releases(target: Target) -> ResultRows:
    """Return all releases with their certificates, by name."""
    with as_owner(target) as (db, _):
        return ResultRows(releasing.releases(db))


def dump(target: Target, file: BinaryIO, *releases: str) -> DumpReport:
    """Write releases, all that the login may read if none is named, as a script for psql."""
    for release in releases:
        check_argument("releases", "name", release)
    connection = connected_to(target)
    try:
        with mapped_errors():
            return dumping.dump(connection, file, releases)
    finally:
        if isinstance(target, str):
            connection.close()


def health(target: Target) -> list[HealthState]:
    """Say how each release and each table that answers queries is, and what needs doing."""
    with as_owner(target) as (db, _):
        return states.health(db)


def history(target: Target, most: int | None = None) -> list[HistoryEntry]:
    """Return who did what when, the latest last; all of it, or the last `most` entries."""
    with as_owner(target) as (db, _):
        return states.history(db, most)


def measure(
    target: Target, relation: str, *arguments: Any, on_progress: Progress | None = None, **options: Any
) -> Measures:
    """Measure a table, view or release, see `MeasureRequest`."""
    request = request_of(MeasureRequest, (relation, *arguments), options)
    with as_login(target, on_progress) as db:
        return measures.measure(db, request)


def curve(
    target: Target, relation: str, *arguments: Any, on_progress: Progress | None = None, **options: Any
) -> Curve:
    """Find out what each of several k would cost, with proven bounds, see `CurveRequest`."""
    return _as_login(
        target, on_progress, curves.curve, request_of(CurveRequest, (relation, *arguments), options)
    )


def audit(
    target: Target, relation: str, k: int, *, on_progress: Progress | None = None, **options: Any
) -> AuditResult:
    """Find the sets of columns that single out fewer than k people, see `AuditRequest`.

    ``details=True`` adds what a report shows.
    """
    return _as_login(target, on_progress, auditing.audit, request_of(AuditRequest, (relation, k), options))


def is_anonymous(target: Target, relation: str, k: int, *arguments: Any, **options: Any) -> bool:
    """Return whether at least k people share each combination of values, see `AnonymityRequest`."""
    request = request_of(AnonymityRequest, (relation, k, *arguments), options)
    return _as_login(target, None, auditing.is_anonymous, request)


def identify(
    target: Target, relation: str, *arguments: Any, on_progress: Progress | None = None, **options: Any
) -> tuple[IdentifyingSet, ...]:
    """Find few columns that tell rows apart as well as all do, see `IdentifyRequest`."""
    return _as_login(
        target, on_progress, auditing.identify, request_of(IdentifyRequest, (relation, *arguments), options)
    )


def suggest(
    target: Target, relation: str, *, on_progress: Progress | None = None, **options: Any
) -> tuple[Suggestion, ...]:
    """Propose roles of columns, see `SuggestRequest`; declares nothing."""
    return _as_login(
        target, on_progress, suggesting.suggest, request_of(SuggestRequest, (relation,), options)
    )


def risk(
    target: Target, relation: str, *, on_progress: Progress | None = None, **options: Any
) -> tuple[RiskFigures, ...]:
    """Say how likely people are found again in a relation and its releases, see `RiskRequest`."""
    return _as_login(target, on_progress, assessing.risk, request_of(RiskRequest, (relation,), options))


def intervals(
    target: Target, relation: str, *arguments: Any, on_progress: Progress | None = None, **options: Any
) -> Grouped:
    """Group the values of an ordered column into intervals of at least k, see `IntervalsRequest`."""
    request = request_of(IntervalsRequest, (relation, *arguments), options)
    return _as_login(target, on_progress, classifying.intervals, request)


def groups(
    target: Target, relation: str, *arguments: Any, on_progress: Progress | None = None, **options: Any
) -> Grouped:
    """Group the values of a column without order, see `LabelsRequest`."""
    request = request_of(LabelsRequest, (relation, *arguments), options)
    return _as_login(target, on_progress, classifying.labels, request)


def regions(
    target: Target, relation: str, *arguments: Any, on_progress: Progress | None = None, **options: Any
) -> Grouped:
    """Group the values of a column into regions of neighbours, see `RegionsRequest`."""
    request = request_of(RegionsRequest, (relation, *arguments), options)
    return _as_login(target, on_progress, classifying.regions, request)


def rectangles(
    target: Target, relation: str, *arguments: Any, on_progress: Progress | None = None, **options: Any
) -> Grouped:
    """Group points into axis-parallel rectangles, see `RectanglesRequest`."""
    request = request_of(RectanglesRequest, (relation, *arguments), options)
    return _as_login(target, on_progress, classifying.rectangles, request)


def define_hierarchy(target: Target, *arguments: Any, **options: Any) -> StoredHierarchy:
    """Store a hierarchy that is written out, as the next version, see `DefineHierarchyRequest`."""
    request = request_of(DefineHierarchyRequest, arguments, options)
    rows = None
    if isinstance(request.rows, list | tuple):
        rows = [list(row) if isinstance(row, tuple) else row for row in request.rows]
    definition = {**(request.options or {}), "rows": rows}
    with as_owner(target) as (db, role):
        return operations.define(db, request.hierarchy, definition, role=role)


def load_hierarchy(target: Target, *arguments: Any, **options: Any) -> StoredHierarchy:
    """Store a hierarchy that is in a table, see `LoadHierarchyRequest`."""
    request = request_of(LoadHierarchyRequest, arguments, options)
    with as_login(target, None) as db, exact_text(db):
        found = operations.read_table(db, request.relation, request.options)
    return _store(target, request.hierarchy, found)


def build_hierarchy(target: Target, *arguments: Any, **options: Any) -> StoredHierarchy:
    """Build a hierarchy over a column and store it, see `BuildHierarchyRequest`."""
    request = request_of(BuildHierarchyRequest, arguments, options)
    with as_login(target, None) as db, exact_text(db):
        found = operations.build_column(
            db, request.relation, request.column_name, request.spec, request.options
        )
    return _store(target, request.hierarchy, found)


def _store(target: Target, hierarchy: str, found: HierarchyDefinition) -> StoredHierarchy:
    """Check anew what was read with the rights of the login, and store it as the owner role."""
    with as_owner(target) as (db, role):
        return storage.store(db, hierarchy, found, role)


def hierarchy_content(target: Target, hierarchy: str) -> HierarchyContent:
    """Return a stored hierarchy with its values and nodes."""
    check_argument("hierarchy", "name", hierarchy)
    with as_owner(target) as (db, role):
        return operations.content(db, hierarchy, role=role)


def missing_values(target: Target, *arguments: Any, **options: Any) -> tuple[MissingValue, ...]:
    """Return the values of a column that a stored hierarchy lacks, see `MissingValuesRequest`."""
    request = request_of(MissingValuesRequest, arguments, options)
    known = hierarchy_content(target, request.hierarchy).hierarchy.values
    with as_login(target, None) as db:
        return missing.missing_values(db, request.relation, request.column_name, known)


def show_hierarchy(target: Target, *arguments: Any, **options: Any) -> list[str]:
    """Return a stored hierarchy as the lines of a tree, see `ShowHierarchyRequest`."""
    request = request_of(ShowHierarchyRequest, arguments, options)
    with as_owner(target) as (db, role):
        return operations.show(db, request.hierarchy, request.most, role=role)


def drop_hierarchy(target: Target, hierarchy: str) -> None:
    """Forget a stored hierarchy with all its versions; releases made with it stay as they are."""
    check_argument("hierarchy", "name", hierarchy)
    with as_owner(target) as (db, role):
        storage.drop(db, hierarchy, role)


def hierarchies(target: Target) -> ResultRows:
    """Return all stored hierarchies by name, in their latest versions."""
    with as_owner(target) as (db, _):
        return ResultRows(operations.hierarchies(db))


def protect(
    target: Target, relation: str, *arguments: Any, ledger_folder: str | None = None, **options: Any
) -> None:
    """Enable queries on a relation, see `ProtectRequest`.

    Parameters
    ----------
    ledger_folder : str, optional
        Folder of this machine for the records of answers, the same at every call.
    """
    request = request_of(ProtectRequest, (relation, *arguments), options)
    check_argument("ledger_folder", "text", ledger_folder)
    with as_owner(target, relation, granting="grant_read_reader") as (db, role):
        protecting.protect(db, relation, request.k, request.options, role=role, folder=ledger_folder)


@dataclass(frozen=True, slots=True)
class _PolicyOperations:
    """The functions of this module as a policy calls them, in one transaction."""

    connection: Connection
    ledger_folder: str | None

    def declare(self, arguments: Mapping[str, Any]) -> None:
        declare(self.connection, **arguments)

    def link(self, arguments: Mapping[str, Any]) -> None:
        link(self.connection, **arguments)

    def protect(self, arguments: Mapping[str, Any]) -> None:
        protect(self.connection, **arguments, ledger_folder=self.ledger_folder)

    def anonymize(self, arguments: Mapping[str, Any], advance: Progress) -> ReleaseReport:
        return anonymize(self.connection, **arguments, on_progress=advance)

    def run(self, function: str, name: str) -> None:
        {"kanon_drop": drop, "kanon_hierarchy_drop": drop_hierarchy}[function](self.connection, name)

    def run_on_table(self, function: str, relation: str) -> None:
        functions = {"kanon_unprotect": unprotect, "kanon_unlink": unlink, "kanon_undeclare": undeclare}
        functions[function](self.connection, relation)

    def define_hierarchy(self, arguments: Mapping[str, Any]) -> int:
        return define_hierarchy(self.connection, **arguments).version

    def build_hierarchy(self, arguments: Mapping[str, Any]) -> int:
        return build_hierarchy(self.connection, **arguments).version

    def hierarchy_content(self, name: str) -> GeneralizationHierarchy:
        return hierarchy_content(self.connection, name).hierarchy


def policy(target: Target, *, values: bool = False) -> dict[str, Any]:
    """Return what is declared, linked, stored, published, protected and granted, as a policy has it.

    Parameters
    ----------
    values : bool
        Whether to write out hierarchies that no builder made.
    """
    with one_transaction(target) as connection:
        contents = _PolicyOperations(connection, None).hierarchy_content if values else None
        return existing(PsycopgDatabase(connection), contents)


def apply_policy(
    target: Target,
    policy: Mapping[str, Any],
    *,
    check: bool = False,
    prune: bool = False,
    ledger_folder: str | None = None,
    on_progress: Progress | None = None,
) -> list[Change]:
    """Make a database what a policy says, all of it or nothing; return what differs.

    Parameters
    ----------
    policy : mapping
        As `policy` returns it, or `kanon_pg.policy.file.read_document`.
    check : bool
        Change nothing.
    prune : bool
        Remove what the policy does not have.
    ledger_folder : str, optional
        See `protect`.
    """
    from kanon_pg.policy.file import checked  # noqa: PLC0415  # an extra brings its libraries

    document = checked(policy)
    with one_transaction(target) as connection:
        operations = _PolicyOperations(connection, ledger_folder)
        db = PsycopgDatabase(connection, on_progress)
        wanted, changes = changes_of(db, operations, document)
        if not check:
            advance = on_progress or (lambda _phase, _share: None)
            apply_changes(db, operations, wanted, changes, advance, prune=prune)
        return changes


def unprotect(target: Target, relation: str) -> None:
    """Disable queries on a relation and revoke the rights to read it that they needed."""
    check_argument("relation", "regclass", relation)
    with as_owner(target) as (db, role):
        protecting.unprotect(db, relation, role=role)
        revoke_read(db, relation, role)


def check_query(target: Target, text: str) -> Understood:
    """Check a query without running it.

    Raises
    ------
    QueryRefused
        If it cannot be answered.
    """
    from kanon_pg.queries.answering import understand  # noqa: PLC0415 - the parser takes longer than the rest

    text = given_text(text)
    with as_reader(target) as (db, role, session):
        try:
            return understand(db, QueryRequest(text, (), tuple(session["path"])), role)
        except Refusal as refusal:
            raise refused((refusal.finding,)) from None


def ask(target: Target, text: str, parameters: Sequence[str | None] | None = None) -> ResultRows:
    """Ask about protected tables through the functions in the server, as any analyst may.

    What the server says beside the answer is a warning.

    Parameters
    ----------
    text : str
        One SELECT.
    parameters : sequence of (str or None), optional
        Values of ``$1``, ``$2`` ... as text.

    Raises
    ------
    QueryRefused, AnswerWithheld
        As the server's functions.
    """
    text, given = given_text(text), list(given_texts("parameters", parameters))
    connection = connected_to(target)
    try:
        with mapped_errors(), connection.transaction():
            db = PsycopgDatabase(connection)
            rest = answered_blocks(db, text, given)
            rows = ResultRows(db.rows(rest.statement, *rest.arguments))
    finally:
        if isinstance(target, str):
            connection.close()
    for notice in rest.notices:
        warnings.warn(notice, stacklevel=2)
    return rows


def query(
    target: str | Connection,
    text: str,
    parameters: Sequence[str | None] | None = (),
    *,
    ledger_folder: str | None = None,
) -> ResultRows:
    """Answer a query about relations, some protected: blocks are recorded, the rest runs as the login.

    Parameters
    ----------
    text : str
        One SELECT.
    parameters : sequence of (str or None), optional
        Values of ``$1``, ``$2`` ... as text.
    ledger_folder : str, optional
        Folder of this machine for the records of answers, the same at every call.

    Raises
    ------
    QueryRefused, AnswerWithheld
        As `kanon_pg.queries.answering.answer`.
    """
    from kanon_pg.queries.answering import answer  # noqa: PLC0415 - the parser takes longer than the rest

    text, values = given_text(text), given_texts("parameters", parameters)
    check_argument("ledger_folder", "text", ledger_folder)
    with as_reader(target) as (db, role, session):
        request = QueryRequest(text, values, tuple(session["path"]))
        asker = Asker(role, session["login"], lock_relations(db, request, role))
        found = answer(db, request, asker, folder=ledger_folder)
    for notice in found.notices:
        warnings.warn(notice, stacklevel=2)
    with as_login(target, None) as db, db.naming():
        if found.rows == "{}":  # it reads nothing about people, and has no parameter
            return ResultRows(db.rows(Statement(found.sql)))
        return ResultRows(db.rows(Statement(found.sql, ("jsonb",)), found.rows))
