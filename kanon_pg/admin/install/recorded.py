"""What an installation recorded of itself, as far as it can be read: any of it may be missing or damaged."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, fields
from typing import Any

from kanon_pg.admin.install.facts import ServerFacts
from kanon_pg.db.protocol import Database
from kanon_pg.db.queries import sql_root, statement

_VERSION = re.compile(r"\d+(\.\d+)+")


@dataclass(frozen=True, slots=True)
class Recorded:
    """The row of ``kanon.version``, with defaults for what it does not say.

    Parameters
    ----------
    version : str or None
        Version of the SQL objects; None if nothing that could be one is recorded.
    api_schema : str or None
        Schema of the functions; None if nothing says where.
    plpython, created_extension, created_api_schema : bool
        Whether the functions exist in the server; whether the installation made plpython3u and the schema.
    revoked_temporary, revoked_create_database : bool
        Whether it took these rights from PUBLIC.
    revoked_create_schemas : tuple of str
        Schemas on which it took CREATE from PUBLIC.
    damage : tuple of str
        What is missing or cannot be read, a sentence each.
    """

    version: str | None = None
    api_schema: str | None = None
    plpython: bool = False
    created_extension: bool = False
    created_api_schema: bool = False
    revoked_temporary: bool = False
    revoked_create_database: bool = False
    revoked_create_schemas: tuple[str, ...] = ()
    damage: tuple[str, ...] = ()


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
    return _stems("tables")


def own_relations() -> list[str]:
    """Return the names of the tables and views in schema ``kanon`` that the scripts make."""
    return _stems("tables", "views", "views/server")


def missing_tables(facts: ServerFacts) -> list[str]:
    """Return the tables of an installation that are not there."""
    return [name for name in own_tables() if name not in facts.tables]


def _stems(*folders: str) -> list[str]:
    return sorted(path.stem for folder in folders for path in (sql_root() / folder).glob("*.sql"))
