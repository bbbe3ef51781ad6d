"""Makes sure that nodes of a distributed table answer who reads it, and keep others from what they store."""

from __future__ import annotations

from kanon_pg.db.catalog import RelationFacts
from kanon_pg.db.citus import coordinator_holds_shards, owner_reads, reads_tables_of_citus
from kanon_pg.db.failures import INSUFFICIENT_PRIVILEGE
from kanon_pg.db.identifiers import Literal
from kanon_pg.db.protocol import Database
from kanon_pg.db.readers import reader_role, reading, require_reader
from kanon_pg.db.statements import statement
from kanon_pg.errors import DatabaseError, InstallError, NotPermitted, UnsuitableRelation
from kanon_pg.release.plan.base import OWNER

_CONNECTION_FAILED = "08"
"""Class of SQLSTATE."""

_GRANTED_JUST_NOW = "25001"
"""What Citus says where another role has changed the table's rights in the same transaction."""


def require_nodes(db: Database, base: RelationFacts) -> None:
    """Refuse a table of Citus, or a view of one, that its reader cannot read on the nodes that store it.

    A right that was granted in this transaction is not known there yet: Citus grants and reads through
    connections of different roles.

    Raises
    ------
    NotPermitted
        With what to do.
    UnsuitableRelation
        If it is stored by columns.
    """
    if not reads_tables_of_citus(db, base.oid):
        return
    if db.row(statement("distributed/is_columnar"), base.oid)["is_columnar"]:
        raise UnsuitableRelation(
            f"{base.identifier} is a table of Citus that is stored by columns, or reads one.",
            hint="Publish one that is stored by rows: SELECT "
            f"alter_table_set_access_method({Literal(str(base.identifier))}, 'heap'); or a copy of it.",
        )
    role = OWNER if base.is_own or owner_reads(db, base.oid) else reader_role(require_reader(db, base))
    if coordinator_holds_shards(db) and not db.row(statement("can_log_in"), role)["can_log_in"]:
        raise NotPermitted(
            f"The coordinator holds shards itself, but {role} cannot log in there as it can on other nodes.",
            hint="Run `kanon install` again, on the coordinator.",
        )
    read = statement("distributed/read_all_shards", relation=base.identifier)
    try:
        with db.savepoint(), reading(db, base):
            db.read(read)
    except DatabaseError as error:
        state = error.server_state or ""
        if state in (INSUFFICIENT_PRIVILEGE, _GRANTED_JUST_NOW):
            raise NotPermitted(
                f"On the nodes that store {base.identifier}, the role {role} may not read it yet.",
                hint="Its owner, as a curator, or a superuser allows it, in a transaction that ends before: "
                f"SELECT kanon.grant_read({Literal(str(base.identifier))}); kanon_declare does the same. Of "
                f"a view, the owners of the tables that it reads also grant {role} SELECT on these.",
            ) from error
        if state.startswith(_CONNECTION_FAILED):
            raise NotPermitted(
                f"The coordinator cannot log in to a node that stores {base.identifier} as {role}.",
                hint=f"Is the node up? Its pg_hba.conf has to let {role} in from the other nodes, and `kanon "
                "install` on the coordinator lets the role log in on nodes that were added since.",
            ) from error
        raise


def require_closed(db: Database) -> None:
    """Refuse to store anything on nodes where others than the owner role may use the schema for it.

    Raises
    ------
    InstallError
        Names the nodes.
    """
    open_on = [row["node"] for row in db.rows(statement("distributed/ask_nodes")) if row["state"] != "closed"]
    if open_on:
        raise InstallError(
            f"Schema kanon_shards is missing, or not closed to others, on {', '.join(open_on)}.",
            detail="Whoever owns it, or may use it, could come near what releases store there.",
            hint="`kanon check` on the coordinator says more; `kanon install` there creates what is missing.",
        )


def refuse_over_time(db: Database, base: RelationFacts) -> None:
    """Refuse to publish a table of Citus, or a view of one, again and again as a release over time.

    Raises
    ------
    UnsuitableRelation
        With what to do instead.
    """
    if reads_tables_of_citus(db, base.oid):
        raise UnsuitableRelation(
            f"No release over time can be made of {base.identifier}: its rows are in tables of Citus.",
            detail="Its versions are compared row by row, in one place.",
            hint="Leave over_time out, or publish a copy: CREATE MATERIALIZED VIEW ... AS TABLE ...;",
        )
