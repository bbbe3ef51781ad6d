"""Locks the relations of a query, and passes it to the functions that have the reading role's rights.

The outer functions run with the caller's rights, so they know whose these are. The inner ones are definer
functions without arguments: what they serve lies in the memory of this process, where only the outer ones put
it. An inner function that is called by itself finds no query to serve.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from kanon_pg.db.identifiers import Identifier
from kanon_pg.db.protocol import Database
from kanon_pg.db.statements import statement
from kanon_pg.errors import AnswerWithheld, InputError, InstallError, KanonError, NotPermitted, QueryRefused
from kanon_pg.queries.reading.findings import Refusal
from kanon_pg.queries.reading.load_facts import names_in
from kanon_pg.queries.reading.scanner import scan
from kanon_pg.queries.record.records import NamedMark, keep_marks
from kanon_pg.queries.request import QueryRequest, withheld

_ATTEMPTS = 3

Operation = Callable[[Database, "PendingQuery"], Any]


@dataclass(slots=True)
class PendingQuery:
    """A query of the current call, and its result, or why there is none."""

    query: QueryRequest
    role: str
    login: str
    operation: Operation
    """What to do with it under the rights of the reading role."""
    locked: frozenset[int] = field(default_factory=frozenset)
    """OIDs of the relations that are locked."""
    result: Any = None
    error: KanonError | None = None
    marks: list[NamedMark] = field(default_factory=list)
    """Of records, which the database has to know before the result leaves."""


_pending: list[PendingQuery] = []


def serve_as_reader(db: Database, query: QueryRequest, operation: Operation) -> Any:
    """Run an operation with the rights of the reading role, in one snapshot of its own.

    Raises
    ------
    InputError
        If the caller's transaction does not see the present state of the catalog.
    QueryRefused, AnswerWithheld
        As the operation raised them; anything else that went wrong is withheld.
    """
    analyst = db.row(statement("analyst"))
    if not analyst["sees_present"]:
        raise InputError(
            "Queries are answered in transactions of isolation level READ COMMITTED only.",
            hint="BEGIN ISOLATION LEVEL READ COMMITTED;",
        )
    pending = PendingQuery(query, analyst["role"], analyst["login"], operation)
    with _as_pending(pending):
        db.row(statement("hold_relations"))
        db.row(statement("serve_query"))
        if pending.error is None and pending.marks and not db.row(statement("cannot_write"))["read_only"]:
            db.row(statement("keep_marks"))
    if pending.error is not None:
        raise pending.error
    return pending.result


@contextmanager
def _as_pending(pending: PendingQuery) -> Iterator[None]:
    _pending.append(pending)
    try:
        yield
    finally:
        _pending.pop()


def _current_pending() -> PendingQuery:
    if not _pending:
        raise NotPermitted("An inner function was called directly.", hint="Call kanon_query instead.")
    return _pending[-1]


def lock_pending(db: Database) -> None:
    """Lock what the query of the current call may name, until the transaction ends."""
    pending = _current_pending()
    with _refusing(db, pending):
        pending.locked = lock_relations(db, pending.query, pending.role)


def lock_relations(db: Database, query: QueryRequest, role: str) -> frozenset[int]:
    """Lock what a query may name until the transaction ends; return OIDs, none if names keep changing."""
    try:
        names = names_in(scan(query.text))
    except Refusal:
        return frozenset()  # refused with its reason later
    for _ in range(_ATTEMPTS):
        relations = db.rows(statement("query_locks"), names, list(query.search_path), role)
        named = [Identifier((relation["schema"], relation["name"])) for relation in relations]
        for relation in named:
            db.lock(relation)
        meant = [row["oid"] for row in db.rows(statement("current_names"), [str(name) for name in named])]
        if meant == [relation["oid"] for relation in relations]:
            return frozenset(meant)
    return frozenset()


def serve_pending(db: Database) -> None:
    """Run the operation of the pending query, and store its result or error there.

    Functions that a query runs could write although its statement cannot: the transaction stops them.
    """
    pending = _current_pending()
    if pending.error is not None:
        return
    with _refusing(db, pending):
        if not db.row(statement("cannot_write"))["read_only"]:
            raise AssertionError("A query is served in a transaction that can write.")
        pending.result = pending.operation(db, pending)


def keep_pending_marks(db: Database) -> None:
    """Store the marks of the pending query, so that older copies of records are noticed.

    A mark that a rollback takes back is stored by a later query: the record itself stays.
    """
    pending = _current_pending()
    with _refusing(db, pending):
        keep_marks(db, pending.marks)


@contextmanager
def _refusing(db: Database, pending: PendingQuery) -> Iterator[None]:
    """Turn every error into a refusal stored in the pending query; only a cancellation by the user passes."""
    try:
        yield
    except (QueryRefused, AnswerWithheld, InstallError) as error:
        pending.error = error
    except Exception as error:
        # errors of the server and bugs may carry values
        if db.was_cancelled(error):
            raise
        pending.error = withheld()
