"""Removes an installation from a database: nothing stays but the users' own objects."""

from __future__ import annotations

from dataclasses import dataclass

from kanon_pg.admin.install.facts import (
    ROLES,
    Recorded,
    ServerFacts,
    own_relations,
    read_facts,
    read_recorded,
)
from kanon_pg.admin.install.run_in_server import remove_records
from kanon_pg.admin.install.scripts import inside_server, prepare_session, run_script
from kanon_pg.db.failures import DEPENDENT_OBJECTS, INSUFFICIENT_PRIVILEGE
from kanon_pg.db.identifiers import Fragment, Identifier, Literal
from kanon_pg.db.protocol import Database
from kanon_pg.db.psycopg_adapter import PsycopgDatabase, connected
from kanon_pg.db.settings import created_everywhere
from kanon_pg.db.statements import Statement, statement
from kanon_pg.errors import DatabaseError, InstallError

_KEEPS = (DEPENDENT_OBJECTS, INSUFFICIENT_PRIVILEGE)


@dataclass(frozen=True, slots=True)
class UninstallReport:
    """What uninstalling did."""

    database: str
    was_installed: bool
    """Whether there was anything to remove."""
    releases: tuple[str, ...] = ()
    """Releases that were dropped."""
    notes: tuple[str, ...] = ()
    """What was left and why."""


def uninstall(dsn: str = "", *, cascade: bool = False) -> UninstallReport:
    """Drop releases, declarations, functions, schemas, records of answers, granted rights and unused roles.

    Whatever of it is there is dropped, the extension too, and what DROP EXTENSION left behind.

    Parameters
    ----------
    dsn : str
        The database; empty means the standard PG* variables.
    cascade : bool
        Also drop objects of users that depend on releases or functions.

    Raises
    ------
    InstallError
        If objects of users depend on it and `cascade` is False (all are listed), or rights are missing;
        nothing has changed.
    """
    with connected(dsn, as_server=True) as connection:
        db = PsycopgDatabase(connection)
        prepare_session(db)
        facts = read_facts(db, "public")
        if not facts.installed and not (facts.roles and facts.superuser):
            return UninstallReport(facts.database, was_installed=False)
        _require_rights(facts)
        recorded = read_recorded(db, facts)
        if not cascade:
            _refuse_dependents(db, facts)
        has_records = "record" in facts.tables and db.row(statement("count_records"))["records"] > 0
        releases = tuple(row["release"] for row in db.rows(statement("release_names")))
        if facts.extension is not None:
            # what it leaves is dropped below: releases are no members, nor are functions of before
            db.execute(Statement("DROP EXTENSION kanon_pg CASCADE"))
        for row in db.rows(statement("own_functions")):
            if not row["inner"]:
                db.execute(statement("drop_function_cascade", function=Fragment(row["function"])))
        run_script(connection, "uninstall")
        _restore_public_rights(db, facts.database, recorded)
        # Files do not come back with a rollback, so they go when little can fail any more.
        notes = (
            *_unknown_rights(facts, recorded),
            *_remove_records(db, facts, has_records=has_records),
            *_drop_surroundings(db, recorded),
            *_drop_roles_everywhere(db),
        )
        return UninstallReport(facts.database, was_installed=facts.installed, releases=releases, notes=notes)


def _restore_public_rights(db: Database, database: str, recorded: Recorded) -> None:
    """Give PUBLIC back what `kanon install` took."""
    taken = [("database", database, "TEMPORARY")] if recorded.revoked_temporary else []
    taken += [("database", database, "CREATE")] if recorded.revoked_create_database else []
    taken += [("schema", schema, "CREATE") for schema in recorded.revoked_create_schemas]
    for kind, name, privilege in taken:
        parts = {"kind": Fragment(kind), "name": Identifier.of(name), "privilege": Fragment(privilege)}
        db.execute(statement("grant_public", **parts))


def _require_rights(facts: ServerFacts) -> None:
    if not (facts.superuser or facts.owner_member):
        raise InstallError(
            f"Role {facts.role} may not uninstall kanon: it is no superuser and no member of kanon_owner.",
            hint="Connect as the role that installed it.",
        )


def _refuse_dependents(db: Database, facts: ServerFacts) -> None:
    found = [row["description"] for row in db.rows(statement("foreign_dependents"), own_relations())]
    if found:
        raise InstallError(
            f"Objects in database {facts.database} depend on kanon; nothing was removed.",
            detail="They are: " + ", ".join(found) + ".",
            hint="Drop or move them first, or run `kanon uninstall --cascade` to drop them too.",
        )


def _unknown_rights(facts: ServerFacts, recorded: Recorded) -> list[str]:
    if not facts.installed or recorded.version is not None:
        return []
    return [
        "Nothing recorded which rights the installation took from PUBLIC, so none were given back. "
        "What PostgreSQL gives by default: GRANT TEMPORARY ON DATABASE ... TO PUBLIC;"
    ]


def _remove_records(db: PsycopgDatabase, facts: ServerFacts, *, has_records: bool) -> list[str]:
    """Remove what was recorded of queries from the server's disk; return what stays, and where."""
    number = db.row(statement("database_number"))["database"]
    if not (facts.superuser and facts.plpython_created):
        why = "only a superuser can have the server remove it, and only with the extension plpython3u"
    else:
        has_records = True
        try:
            with db.savepoint(), inside_server(db, remove_records) as remove:
                why = remove(str(number))
        except DatabaseError as error:
            why = error.message
    if not (has_records and why):
        return []
    return [
        f"The record of answers stays in folder kanon_ledger/{number} of the server's data "
        f"directory: {why}. Remove it there."
    ]


def _drop_surroundings(db: PsycopgDatabase, recorded: Recorded) -> list[str]:
    notes = []
    if recorded.created_api_schema and recorded.api_schema is not None:
        api = Identifier.of(recorded.api_schema)
        if not _try(db, statement("drop_schema", schema=api)):
            notes.append(f"Schema {api} stays: it holds other objects.")
    if recorded.created_extension and not _try(db, Statement("DROP EXTENSION IF EXISTS plpython3u")):
        notes.append("Extension plpython3u stays: other functions use it.")
    return notes


def _drop_roles_everywhere(db: PsycopgDatabase) -> list[str]:
    if not db.row(statement("on_citus"))["on_citus"]:
        return _drop_roles(db)
    with created_everywhere(db):
        return _drop_roles(db, has_workers=True)


def _drop_roles(db: PsycopgDatabase, *, has_workers: bool = False) -> list[str]:
    """Drop roles that no database uses; on workers of Citus also those that only the coordinator's use."""
    readers = [row["role"] for row in db.rows(statement("reader_roles"))]
    kept = [role for role in readers if not _try(db, statement("drop_role", role=Identifier.of(role)))]
    stay = [role for role in ROLES if not _try(db, statement("drop_role", role=Identifier.of(role)))]
    # all or none: a database of a worker that needs one of them relies on the others
    elsewhere = [
        statement("distributed/drop_role_elsewhere", role=Identifier.of(role), label=Literal(role))
        for role in (*stay, *kept)
    ]
    if kept:
        stay = [*stay, f"{kept[0]} to {kept[-1]}"] if len(kept) > 1 else [*stay, *kept]
    where = " On the workers it is gone." if has_workers and stay and _try(db, *elsewhere) else ""
    return [
        f"Role {role} stays: another database uses it, or the right to drop it is missing.{where}"
        for role in stay
    ]


def _try(db: PsycopgDatabase, *commands: Statement) -> bool:
    """Run DROPs; return whether they were done, False if something else still needs one of the objects."""
    try:
        with db.savepoint():
            for command in commands:
                db.execute(command)
    except DatabaseError as error:
        if error.server_state in _KEEPS:
            return False
        raise
    return True
