"""Which relations can be the base of a release: the owner role may read them, and runs nobody else's code."""

from __future__ import annotations

from kanon_pg.db.catalog import RelationFacts, describe
from kanon_pg.db.identifiers import Identifier
from kanon_pg.db.protocol import Database
from kanon_pg.db.statements import statement
from kanon_pg.errors import NotPermitted, UnsuitableRelation

OWNER = "kanon_owner"
"""The role that owns all objects of kanon_pg and reads base tables."""


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
    if facts.schema == "kanon":
        raise UnsuitableRelation(
            f"Relation {facts.identifier} belongs to kanon_pg itself.", hint="Name a table of your own."
        )
    owner = describe(db, str(facts.oid), OWNER)
    if not owner.reachable or not owner.selectable:
        raise _unreadable(facts)
    require_mapped(db, facts, OWNER)
    require_own_code(db, facts)
    require_all_rows(facts)


def require_reachable(facts: RelationFacts) -> None:
    """Refuse a base relation that the owner role could read once, and cannot any more.

    Parameters
    ----------
    facts : RelationFacts
        As the owner role sees it. It may read some columns only: those that the release has.

    Raises
    ------
    NotPermitted
        With the statements that change it.
    """
    if not facts.reachable or not (facts.selectable or any(column.selectable for column in facts.columns)):
        raise _unreadable(facts)


def _unreadable(facts: RelationFacts) -> NotPermitted:
    return NotPermitted(
        f"The role {OWNER}, which builds releases, may not read {facts.identifier}.",
        hint=f"Its owner can allow it: GRANT USAGE ON SCHEMA {Identifier((facts.schema,))} TO {OWNER}; "
        f"GRANT SELECT ON {facts.identifier} TO {OWNER};",
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


def require_own_code(db: Database, facts: RelationFacts) -> None:
    """Refuse relations whose reading would run somebody's code with the rights of the owner role.

    Whoever builds or refreshes a release evaluates the base relation as the owner role, which can read
    the base tables of others. The relation is locked before, so that what was checked is what is read.

    Raises
    ------
    UnsuitableRelation
        Names the function or view.
    """
    if facts.kind in "rpv":
        db.execute(statement("lock_base", relation=facts.identifier))
    found = db.rows(statement("foreign_code"), facts.oid)
    if not found:
        return
    if found[0]["kind"] == "view":
        raise UnsuitableRelation(
            f"View {found[0]['name']} reads with the rights of whoever reads it, which would be {OWNER}.",
            hint="Create it without security_invoker: its owner's rights count then.",
        )
    raise UnsuitableRelation(
        f"Reading {facts.identifier} could run function {found[0]['name']} with the rights of {OWNER}.",
        detail="A view, index, constraint or type of the relation uses it, and it is not a superuser's.",
        hint="Take a materialized view or a copy of the relation as the base, or let a superuser own it.",
    )
