"""Makes sure, before anything is counted, that the nodes of a distributed table answer the owner role."""

from __future__ import annotations

from kanon_pg.db.catalog import RelationFacts
from kanon_pg.db.citus import distribution_of
from kanon_pg.db.failures import INSUFFICIENT_PRIVILEGE
from kanon_pg.db.identifiers import Identifier
from kanon_pg.db.protocol import Database
from kanon_pg.db.queries import statement
from kanon_pg.errors import DatabaseError, NotPermitted

_CONNECTION_FAILED = "08"
"""Class of SQLSTATE."""

_GRANTED_JUST_NOW = "25001"
"""What Citus says where another role has changed the table's rights in the same transaction."""


def require_nodes(db: Database, base: RelationFacts, role: str) -> None:
    """Refuse a distributed table that a role cannot read on the nodes that store it.

    A right that was granted in this transaction is not known there yet: Citus grants and reads through
    connections of different roles.

    Raises
    ------
    NotPermitted
        With what to do.
    """
    if distribution_of(db, base.identifier) is None:
        return
    try:
        with db.savepoint():
            db.row(statement("distributed/read_all_shards", relation=base.identifier))
    except DatabaseError as error:
        state = error.server_state or ""
        if state in (INSUFFICIENT_PRIVILEGE, _GRANTED_JUST_NOW):
            raise NotPermitted(
                f"On the nodes that store {base.identifier}, the role {role} may not read it yet.",
                hint=f"Its owner allows it, in a transaction that ends before: GRANT USAGE ON SCHEMA "
                f"{Identifier((base.schema,))} TO {role}; GRANT SELECT ON {base.identifier} TO {role}; "
                "kanon_declare does the same.",
            ) from error
        if state.startswith(_CONNECTION_FAILED):
            raise NotPermitted(
                f"The coordinator cannot log in to a node that stores {base.identifier} as {role}.",
                hint=f"Is the node up? Its pg_hba.conf has to let {role} in from the other nodes, and `kanon "
                "install` on the coordinator lets the role log in on nodes that were added since.",
            ) from error
        raise
