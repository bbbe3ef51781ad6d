"""Which relations can be the base of a release: those whose reader may read all of them."""

from __future__ import annotations

from kanon_pg.db.catalog import RelationFacts, describe, is_reachable
from kanon_pg.db.identifiers import Identifier
from kanon_pg.db.protocol import Database
from kanon_pg.db.readers import reader_role, require_reader
from kanon_pg.db.statements import statement
from kanon_pg.errors import NotPermitted, UnsuitableRelation

OWNER = "kanon_owner"
"""The role that owns what kanon_pg stores; it evaluates nothing that others wrote."""


def require_suitable(db: Database, facts: RelationFacts) -> None:
    """Refuse relations that cannot be the base of a release.

    Raises
    ------
    UnsuitableRelation, NotPermitted
        With what to do instead.
    """
    if facts.temporary:
        raise UnsuitableRelation(
            f"Relation {facts.identifier} is temporary: only one session can see it.",
            hint="Copy it into an ordinary table: CREATE TABLE ... AS TABLE ...;",
        )
    if facts.schema in {"kanon", "kanon_bases"}:
        raise UnsuitableRelation(
            f"Relation {facts.identifier} belongs to kanon_pg itself.", hint="Name a table of your own."
        )
    require_readable_base(db, facts)


def require_readable_base(db: Database, facts: RelationFacts, *, whole: bool = True) -> None:
    """Refuse a base relation that its reader cannot read; it is kept from being changed by DDL.

    Parameters
    ----------
    whole : bool
        False: the reader may read some columns only, those that a release has.

    Raises
    ------
    UnsuitableRelation, NotPermitted
        With what to do instead.
    """
    role = OWNER if facts.is_own else reader_role(require_reader(db, facts))
    for name in (role, OWNER):
        if not is_reachable(db, facts.oid, name):
            raise _unreadable(facts, name, f"GRANT USAGE ON SCHEMA {Identifier((facts.schema,))} TO {name};")
    seen = describe(db, str(facts.oid), role)
    if not (seen.selectable or (not whole and any(column.selectable for column in seen.columns))):
        raise _unreadable(facts, role, f"GRANT SELECT ON {facts.identifier} TO {role};")
    require_mapped(db, facts, role)
    db.lock(facts.identifier)
    require_all_rows(facts)
    if db.row(statement("reads_as_invoker"), facts.oid)["is_so"]:
        raise UnsuitableRelation(
            f"View {facts.identifier} reads with the rights of whoever reads it, which would be {role}.",
            hint="Create it without security_invoker: its owner's rights count then.",
        )


def _unreadable(facts: RelationFacts, role: str, grant: str) -> NotPermitted:
    return NotPermitted(
        f"The role {role} may not read {facts.identifier}, which releases of it need.",
        hint=f"Its owner can allow it: {grant}",
    )


def require_mapped(db: Database, facts: RelationFacts, role: str) -> None:
    """Refuse foreign tables whose server a role does not know how to log in to.

    Raises
    ------
    NotPermitted
        With the statement that changes it.
    """
    for row in db.rows(statement("unmapped_servers"), facts.oid, role):
        server = Identifier((row["server"],))
        raise NotPermitted(
            f"The role {role} may read {facts.identifier}, but has no user mapping for its server {server}.",
            hint=f"CREATE USER MAPPING FOR {role} SERVER {server} OPTIONS (user '...', password '...'); "
            "with a user who may read the remote table.",
        )


def require_all_rows(facts: RelationFacts) -> None:
    """Refuse relations of which the owner role may see no more than some rows.

    Raises
    ------
    UnsuitableRelation
        If row-level security is on.
    """
    if facts.row_security:
        raise UnsuitableRelation(
            f"Relation {facts.identifier} has row-level security: a release could silently miss rows.",
            hint="Use a view, owned by the table's owner, as the base.",
        )
