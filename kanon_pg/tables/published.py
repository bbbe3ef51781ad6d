"""What is handed over: releases, their keys and what they say of themselves, held as they are meanwhile."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from kanon_pg.db.catalog import RelationFacts, describe
from kanon_pg.db.failures import UNDEFINED_TABLE
from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.psycopg_adapter import Connection, PsycopgDatabase, pinned
from kanon_pg.db.settings import text_of_files
from kanon_pg.db.statements import statement
from kanon_pg.errors import DatabaseError, ReleaseError, UnknownName, as_given
from kanon_pg.relations.subject import SUPPRESSED_COLUMN
from kanon_pg.release.plan.record import name_in_sql

_ROLES = {
    "quasi_identifiers": "quasi-identifier",
    "sensitive": "sensitive",
    "insensitive": "insensitive",
}
"""What ``kanon.published_roles`` lists, and what each column of it is called."""


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """Columns that say which row of another table belongs to a row, and the columns there."""

    columns: tuple[str, ...]
    table: str
    table_columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """A view of schema ``safe``.

    Parameters
    ----------
    view : RelationFacts
        The view with its columns.
    facts : mapping
        What ``kanon.published_roles`` says of it; empty for those who may read the view alone.
    key : tuple of str
        Columns that tell its rows apart, if any do.
    foreign_keys : tuple of ForeignKey
        Columns that lead to rows of others.
    """

    view: RelationFacts
    facts: Mapping[str, Any]
    key: tuple[str, ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()

    @property
    def name(self) -> str:
        """The name of the release."""
        return self.view.name

    def role(self, column: str) -> str | None:
        """Return what a column is, None if that is not known."""
        if column == SUPPRESSED_COLUMN:
            return "suppressed columns"
        if column in self.key or any(column in key.columns for key in self.foreign_keys):
            return "pseudonym"
        return next((role for names, role in _ROLES.items() if column in self.facts.get(names, ())), None)


@contextmanager
def published(
    connection: Connection, names: Sequence[str] = (), *, together: bool = False
) -> Iterator[tuple[PsycopgDatabase, tuple[PublishedTable, ...]]]:
    """Yield releases that nothing changes until the block ends: those named, or all that the login may read.

    A snapshot would not do: of a release that was published after it, it sees the new storage, and no rows in
    it. Locks of reading are what publishing and refreshing wait for; who was first is seen by looking again.

    Parameters
    ----------
    names : sequence of str
        Each its name, or its view as in SQL.
    together : bool
        Whether other tables of the same releases come along, as far as the login may read them.

    Raises
    ------
    UnknownName
        If there is no such release, or none at all.
    ReleaseError
        If a linked table shows nothing until all tables of its release are refreshed.
    """
    with connection.transaction():
        db = PsycopgDatabase(connection)
        db.execute(statement("begin_handing_over"))
        with pinned(connection), text_of_files(db):
            found: Sequence[Row] = ()
            knows_facts = db.row(statement("known_to_caller"))["published_roles"]
            while found != (found := _found(db, names, together=together and knows_facts)):
                for row in found:
                    _hold(db, row)
            yield db, tuple(_table(db, row, knows_facts) for row in found)


def _found(db: Database, names: Sequence[str], *, together: bool) -> Sequence[Row]:
    readable = {row["name"]: row for row in db.rows(statement("find_published"))}
    if not readable:
        raise UnknownName("There is no release that you may read.", hint="Publish one: kanon anonymize.")
    chosen = dict.fromkeys(_name(db, name, readable) for name in names)
    if together:
        chosen |= dict.fromkeys(row["name"] for row in db.rows(statement("published_along"), [*chosen]))
    return [readable[name] for name in chosen or readable]


def _name(db: Database, given: str | None, readable: Mapping[str, Row]) -> str:
    for name in () if given is None else (given, name_in_sql(db, given)):
        if name is not None and name in readable:
            return name
    raise UnknownName(
        f"There is no release {as_given(given)} that you may read.",
        hint="Only releases are exported; `kanon releases` lists them.",
    )


def _hold(db: PsycopgDatabase, row: Row) -> None:
    try:
        with db.savepoint():
            db.lock(describe(db, str(row["oid"])).identifier)
    except (DatabaseError, UnknownName) as error:  # dropped meanwhile
        if getattr(error, "server_state", UNDEFINED_TABLE) != UNDEFINED_TABLE:
            raise


def _table(db: Database, row: Row, knows_facts: bool) -> PublishedTable:
    known = db.rows(statement("published_facts"), row["oid"]) if knows_facts else ()
    keys = db.rows(statement("published_keys"), row["oid"]) if knows_facts else ()
    view = describe(db, str(row["oid"]))
    if keys and keys[0]["has_rows"] and not db.row(statement("shows_rows", view=view.identifier))["shows"]:
        raise ReleaseError(
            f"{view.identifier} shows no rows since not all tables of its release were refreshed.",
            hint="Let a curator refresh all of them: SELECT kanon_refresh(...);",
        )
    return PublishedTable(
        view,
        known[0] if known else {},
        key=tuple(keys[0]["key_columns"]) if keys else (),
        foreign_keys=tuple(
            ForeignKey(tuple(one["columns"]), one["view"], tuple(one["refers_to"]))
            for found in keys
            for one in json.loads(found["foreign_keys"])
        ),
    )
