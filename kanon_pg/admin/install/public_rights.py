"""Rights that every role has by default and that would let an analyst bring own code near the data."""

from __future__ import annotations

from dataclasses import dataclass

from kanon_pg.db.identifiers import Fragment, Identifier
from kanon_pg.db.protocol import Database
from kanon_pg.db.queries import statement

_WHY = {
    "TEMPORARY": "create temporary functions and tables",
    "CREATE": "create objects that other users' queries may find first",
}


@dataclass(frozen=True, slots=True)
class RevokedRights:
    """What was taken from PUBLIC.

    Parameters
    ----------
    temporary, create_database : bool
        TEMPORARY and CREATE on the database.
    create_schemas : tuple of str
        Schemas on which CREATE was revoked.
    notes : tuple of str
        What was revoked, and what could not be.
    """

    temporary: bool
    create_database: bool
    create_schemas: tuple[str, ...]
    notes: tuple[str, ...]


def revoke_public_rights(db: Database, api_schema: str) -> RevokedRights:
    """Revoke TEMPORARY and CREATE on the database, and CREATE on the schemas of the search path.

    Parameters
    ----------
    db : Database
        The database that is being installed into.
    api_schema : str
        Schema of the functions, beside ``public``.
    """
    done: list[tuple[str, str, str]] = []
    notes = []
    for row in db.rows(statement("public_rights"), api_schema):
        kind, name, privilege = row["kind"], row["name"], row["privilege"]
        right = f"{privilege} on {kind} {name}"
        if row["revocable"]:
            _change(db, "revoke_public", kind, name, privilege)
            done.append((kind, name, privilege))
            notes.append(f"Revoked {right} from PUBLIC; grant it to the roles that need it.")
        else:
            notes.append(
                f"PUBLIC keeps {right}, because the installing role does not own the {kind}: every role can "
                f"{_WHY[privilege]}. Let the owner run: REVOKE {privilege} ON {kind.upper()} "
                f"{Identifier.of(name)} FROM PUBLIC;"
            )
    return RevokedRights(
        temporary=any(kind == "database" and privilege == "TEMPORARY" for kind, _, privilege in done),
        create_database=any(kind == "database" and privilege == "CREATE" for kind, _, privilege in done),
        create_schemas=tuple(name for kind, name, _ in done if kind == "schema"),
        notes=tuple(notes),
    )


def restore_public_rights(
    db: Database, database: str, *, temporary: bool, create_database: bool, create_schemas: list[str]
) -> None:
    """Give PUBLIC back what `revoke_public_rights` took."""
    if temporary:
        _change(db, "grant_public", "database", database, "TEMPORARY")
    if create_database:
        _change(db, "grant_public", "database", database, "CREATE")
    for schema in create_schemas:
        _change(db, "grant_public", "schema", schema, "CREATE")


def _change(db: Database, query: str, kind: str, name: str, privilege: str) -> None:
    parts = {"kind": Fragment(kind.upper()), "name": Identifier.of(name), "privilege": Fragment(privilege)}
    db.execute(statement(query, **parts))
