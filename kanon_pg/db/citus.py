"""What Citus says of a relation: whether its rows are distributed over nodes, and by which column."""

from __future__ import annotations

from dataclasses import dataclass

from kanon_pg.db.identifiers import Identifier
from kanon_pg.db.protocol import Database
from kanon_pg.db.statements import statement


@dataclass(frozen=True, slots=True)
class Distribution:
    """How the rows of a table are distributed over nodes."""

    column: str
    """The column whose hash says in which shard a row is: rows that agree on it are on one node."""
    shards: int
    """Number of shards."""


def coordinator_holds_shards(db: Database) -> bool:
    """Return whether this coordinator of Citus stores shards itself; then other nodes log in here, too."""
    if not db.row(statement("on_citus"))["on_citus"]:
        return False
    found: bool = db.row(statement("distributed/holds_shards"))["holds_shards"]
    return found


def reads_tables_of_citus(db: Database, oid: int) -> bool:
    """Return whether a relation is a table that Citus knows, or a view that reads one."""
    if not db.row(statement("on_citus"))["on_citus"]:
        return False
    found: bool = db.row(statement("distributed/reads_tables"), oid)["reads"]
    return found


def distribution_of(db: Database, relation: Identifier) -> Distribution | None:
    """Return how a table is distributed.

    Returns
    -------
    Distribution or None
        None for tables whose rows are on one node: without Citus, reference tables, tables of a schema that
        is sharded as a whole; and for views.
    """
    if not db.row(statement("on_citus"))["on_citus"]:
        return None
    found = db.rows(statement("distributed/distribution"), str(relation))
    return Distribution(found[0]["column"], found[0]["shards"]) if found else None


def owner_reads(db: Database, oid: int) -> bool:
    """Return whether the owner role reads a table itself: one that the nodes can store releases of."""
    if not db.row(statement("on_citus"))["on_citus"]:
        return False
    found: bool = db.row(statement("distributed/owner_reads"), oid)["owner_reads"]
    return found
