"""Releases that no record speaks of: what a dump without rows, or a lost table, leaves of them."""

from __future__ import annotations

from kanon_pg.admin.install.recorded import own_relations
from kanon_pg.db.failures import DEPENDENT_OBJECTS
from kanon_pg.db.identifiers import Fragment
from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.queries import statement
from kanon_pg.errors import DatabaseError


def find_orphans(db: Database) -> list[Row]:
    """Return views in schema safe, and storage, that no record speaks of; see ``sql/queries/orphans.sql``."""
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
                f"{orphan['relation']} was dropped: no record speaks of it, and it was never filled with "
                "rows, as in a database that was restored from a dump of the schema only."
            )
    return tuple(notes)


def described(orphan: Row) -> str:
    """Say what to do about a view in schema safe that no record speaks of."""
    return (
        f"No record speaks of {orphan['relation']}, so nothing refreshes or replaces it. Readers may still "
        f"read it; to publish under its name again: DROP VIEW {orphan['relation']};"
    )
