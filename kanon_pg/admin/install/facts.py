"""What the installer finds: what the server has and misses, and what an installation before left.

Of what that one recorded any part may be missing or damaged; and there may be releases that no record names
of, which a dump without rows, or a lost table, leaves.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, fields
from typing import Any

from kanon_pg.db.citus import coordinator_holds_shards
from kanon_pg.db.failures import DEPENDENT_OBJECTS
from kanon_pg.db.identifiers import Fragment
from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.statements import sql_root, statement
from kanon_pg.errors import DatabaseError

MINIMUM_SERVER = 14
"""Oldest major version of PostgreSQL: the first with SQL function bodies that are parsed once."""

ROLES = ("kanon_owner", "kanon_reader", "kanon_curator", "kanon_analyst")
"""Roles of an installation: owner of everything, reader of what queries are about, groups of those who
publish and of those who read."""


@dataclass(frozen=True, slots=True)
class MissingPart:
    """Something that is missing, and how to get it."""

    what: str
    """One sentence."""
    fix: str
    """What to do, ready to type where possible."""


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """The server, the database and the role that installs; see the statement ``install_facts``."""

    server_version: int
    """``server_version_num``."""
    database: str
    role: str
    superuser: bool
    createrole: bool
    create_in_database: bool
    plpython_available: bool
    plpython_created: bool
    """`plpython_available`, `plpython_created`: whether the extension can be, or has been, created."""
    kanon_schema_owner: str | None
    """Owner of schema ``kanon``, None where there is no such schema."""
    kanon_is_ours: bool
    taken_schemas: list[list[str]]
    """Kanon's other schemas that do not belong to ``kanon_owner``, with their owners."""
    foreign_code: list[str]
    """What would run code of others where kanon's tables are written."""
    tables: list[str]
    """Tables in schema ``kanon``, those of releases included."""
    extension: str | None
    """Version of the extension ``kanon_pg``; None if `kanon install` made the objects, or there are none."""
    functions_schema: str | None
    """Where the functions for users are, None if there are none."""
    api_schema_exists: bool
    """Whether there is the schema for the functions."""
    roles: list[str]
    unsafe_roles: list[str]
    """`roles`, `unsafe_roles`: which of `ROLES` exist, and which of these have rights they must not have."""
    owner_member: bool
    """`superuser`, `createrole`, `create_in_database`, `owner_member`: what the role may do; the last:
    whether it is a member of ``kanon_owner``."""

    @property
    def installed(self) -> bool:
        """Whether there is an installation, in whatever state."""
        return self.kanon_is_ours or "version" in self.tables or self.functions_schema is not None

    @property
    def readable(self) -> bool:
        """Whether there is an installation that the role may read and change."""
        return self.installed and (self.superuser or self.owner_member)

    @property
    def major(self) -> int:
        """Major version of the server."""
        return self.server_version // 10000


def read_facts(db: Database, api_schema: str) -> ServerFacts:
    """Look at the server; changes nothing."""
    found = statement("install_facts", holds_shards=coordinator_holds_shards(db))
    return ServerFacts(**db.row(found, api_schema))


def general_problems(facts: ServerFacts) -> list[MissingPart]:
    """Return what keeps even the client's part from being installed."""
    found = []
    if facts.major < MINIMUM_SERVER:
        found.append(
            MissingPart(
                f"The server is PostgreSQL {facts.major}; version {MINIMUM_SERVER} or later is needed.",
                f"Upgrade the server to PostgreSQL {MINIMUM_SERVER} or later.",
            )
        )
    if not facts.create_in_database and facts.kanon_schema_owner is None:
        found.append(
            MissingPart(
                f"Role {facts.role} may not create schemas in database {facts.database}.",
                f'GRANT CREATE ON DATABASE "{facts.database}" TO "{facts.role}";',
            )
        )
    found += _role_problems(facts)
    taken = facts.taken_schemas
    if facts.kanon_schema_owner is not None and not facts.kanon_is_ours:
        taken = [["kanon", facts.kanon_schema_owner], *taken]
    found += [
        MissingPart(
            f"Schema {name} exists already and belongs to {owner}.",
            f"Rename or drop it: ALTER SCHEMA {name} RENAME TO {name}_old;",
        )
        for name, owner in taken
    ]
    found += [
        MissingPart(f"There is a {code}, which is not kanon's.", "Drop it: installing would run its code.")
        for code in facts.foreign_code
    ]
    return found


def _role_problems(facts: ServerFacts) -> list[MissingPart]:
    found = [
        MissingPart(
            f"Role {role} exists and may log in, create roles or is a superuser.",
            f"ALTER ROLE {role} NOLOGIN NOSUPERUSER NOCREATEROLE;",
        )
        for role in facts.unsafe_roles
    ]
    missing = [role for role in ROLES if role not in facts.roles]
    if missing and not (facts.superuser or facts.createrole):
        found.append(
            MissingPart(
                f"The roles {', '.join(missing)} do not exist and role {facts.role} may not create roles.",
                f'ALTER ROLE "{facts.role}" CREATEROLE; or, as a superuser: '
                + " ".join(f"CREATE ROLE {role} NOLOGIN;" for role in missing),
            )
        )
    if (
        "kanon_owner" in facts.roles
        and not (facts.superuser or facts.owner_member)
        and (facts.installed or not facts.createrole)
    ):
        found.append(
            MissingPart(
                f"Role {facts.role} is no member of kanon_owner.",
                f'As a superuser: GRANT kanon_owner, kanon_curator TO "{facts.role}";',
            )
        )
    return found


def plpython_problems(facts: ServerFacts) -> list[MissingPart]:
    """Return what keeps the functions out of the server, as far as SQL can tell."""
    found = []
    if not facts.superuser:
        found.append(
            MissingPart(
                f"Role {facts.role} is no superuser, and only superusers create functions in plpython3u.",
                "Install as a superuser, for example: sudo -u postgres kanon install.",
            )
        )
    if not (facts.plpython_available or facts.plpython_created):
        found.append(
            MissingPart(
                "The server has no extension plpython3u.",
                f"Debian and Ubuntu: apt install postgresql-plpython3-{facts.major}; "
                "managed servers mostly lack it: install for the client only.",
            )
        )
    return found


_VERSION = re.compile(r"\d+(\.\d+)+")


@dataclass(frozen=True, slots=True)
class Recorded:
    """The row of ``kanon.version``, with defaults for what it does not say."""

    version: str | None = None
    """Version of the SQL objects; None if nothing that could be one is recorded."""
    api_schema: str | None = None
    """Schema of the functions; None if nothing says where."""
    plpython: bool = False
    created_extension: bool = False
    created_api_schema: bool = False
    """`plpython`, `created_extension`, `created_api_schema`: whether the functions exist in the server;
    whether the installation made plpython3u and the schema."""
    revoked_temporary: bool = False
    revoked_create_database: bool = False
    """`revoked_temporary`, `revoked_create_database`: whether it took these rights from PUBLIC."""
    revoked_create_schemas: tuple[str, ...] = ()
    """Schemas on which it took CREATE from PUBLIC."""
    damage: tuple[str, ...] = ()
    """What is missing or cannot be read, a sentence each."""


def read_recorded(db: Database, facts: ServerFacts) -> Recorded:
    """Read what is there; an installation without a record is one of which only its objects tell."""
    row = _row(db, facts)
    known: dict[str, Any] = {
        field.name: row[field.name] for field in fields(Recorded) if row.get(field.name) is not None
    }
    known["revoked_create_schemas"] = tuple(known.get("revoked_create_schemas", ()))
    damage = []
    written = known.get("version")
    if written is None:
        damage.append("Nothing recorded which version of kanon is installed (table kanon.version).")
    elif not _VERSION.match(written):
        known["version"] = None
        damage.append(f"What table kanon.version recorded as the version, {written!r}, is none.")
    known.setdefault("api_schema", facts.functions_schema)
    known.setdefault("plpython", facts.functions_schema is not None)
    return Recorded(**known, damage=tuple(damage))


def _row(db: Database, facts: ServerFacts) -> dict[str, Any]:
    rows = db.rows(statement("installed_version")) if "version" in facts.tables else []
    found: dict[str, Any] = json.loads(rows[0]["recorded"]) if rows else {}
    return found


def own_tables() -> list[str]:
    """Return the names of the tables in schema ``kanon`` that belong to no release."""
    return _created("TABLE", "tables.sql")


def own_relations() -> list[str]:
    """Return the names of the tables, views and sequences in schema ``kanon`` that the scripts make."""
    return [*own_tables(), *_created("VIEW", "views/**/*.sql"), "request_number_seq"]


def missing_tables(facts: ServerFacts) -> list[str]:
    """Return the tables of an installation that are not there."""
    return [name for name in own_tables() if name not in facts.tables]


def _created(kind: str, scripts: str) -> list[str]:
    created = re.compile(rf"^CREATE (?:OR REPLACE )?{kind} (?:IF NOT EXISTS )?kanon\.(\w+) ", re.MULTILINE)
    texts = (path.read_text(encoding="utf-8") for path in sql_root().glob(scripts))
    return sorted(name for text in texts for name in created.findall(text))


def find_orphans(db: Database) -> list[Row]:
    """Return views in schema safe, and storage, that no record names; see the statement ``orphans``."""
    return list(db.rows(statement("orphans"), own_relations()))


def remove_orphans(db: Database) -> tuple[str, ...]:
    """Drop what was never filled and what belonged to it; a release with rows stays, for its readers.

    Returns
    -------
    tuple of str
        What was dropped, and what stays and why.
    """
    notes = []
    for orphan in find_orphans(db):
        if orphan["filled"] and (orphan["published"] or orphan["kind"] == "MATERIALIZED VIEW"):
            if orphan["published"]:
                notes.append(described(orphan))
            continue
        try:
            with db.savepoint():
                parts = {name: Fragment(orphan[name]) for name in ("kind", "relation")}
                db.execute(statement("drop_orphan", **parts))
        except DatabaseError as error:
            if error.server_state != DEPENDENT_OBJECTS:
                raise
            continue
        if orphan["published"]:
            notes.append(
                f"{orphan['relation']} was dropped: no record names it, and it was never filled with "
                "rows, as in a database that was restored from a dump of the schema only."
            )
    return tuple(notes)


def described(orphan: Row) -> str:
    """Say what to do about a view in schema safe that no record names."""
    return (
        f"No record names {orphan['relation']}, so nothing refreshes or replaces it. Readers may still "
        f"read it; to publish under its name again: DROP VIEW {orphan['relation']};"
    )
