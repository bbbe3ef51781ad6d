"""Brings a release that is stored on all nodes up to date: a new storage by the old rules, then the swap."""

from __future__ import annotations

from kanon_pg.db.catalog import RelationFacts
from kanon_pg.db.identifiers import Identifier, derived_name
from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.statements import statement
from kanon_pg.errors import ReleaseError
from kanon_pg.relations.canonical import canonical_columns
from kanon_pg.relations.subject import entity_column
from kanon_pg.release.distributed.placement import SCHEMA, shards_of
from kanon_pg.release.distributed.storage import create_shards, drop_shards
from kanon_pg.release.plan import ReleasePlan
from kanon_pg.release.publish import swap_view
from kanon_pg.release.recount import recount
from kanon_pg.release.storage import StorageNames


def refresh_shards(db: Database, row: Row, base: RelationFacts, generation: int) -> Identifier:
    """Store the rows that the base table has now, by the rules of before, and show them instead.

    Parameters
    ----------
    row : Row
        The record of the release.
    base : RelationFacts
        Its base table.
    generation : int
        Number of this publication.

    Returns
    -------
    Identifier
        The new storage.

    Raises
    ------
    ReleaseError
        If the table is not distributed any more, or not in a way that the release can follow.
    VerificationFailed
        If a class is too small, which would be a defect.
    """
    plan = _plan_of(row, base)
    shards = shards_of(db, plan)
    if shards is None:
        raise ReleaseError(
            f"{base.identifier} is not distributed as it was when the release was published.",
            hint="Publish it anew with kanon_anonymize.",
        )
    names = StorageNames(
        storage=Identifier.of(SCHEMA, derived_name(row["name"], f"v{generation}")),
        mapping=Identifier.of(row["mapping_schema"], row["mapping_name"]),
        parts=Identifier.of(row["parts_schema"], row["parts_name"]) if row["parts_name"] else None,
    )
    shown = create_shards(db, plan, shards, names, k=row["k"])
    if db.row(statement("distributed/count_rows", relation=names.storage))["rows"]:
        recount(db, plan, names.storage, k=row["k"], on_nodes=True)
    swap_view(db, plan, shown, k=row["k"])
    drop_shards(db, Identifier.of(row["storage_schema"], row["storage_name"]))
    db.execute(statement("distributed/record_storage"), row["name"], str(names.storage))
    return names.storage


def _plan_of(row: Row, base: RelationFacts) -> ReleasePlan:
    def columns(role: str) -> tuple[str, ...]:
        return tuple(row[role])

    return ReleasePlan(
        base=base,
        name=row["name"],
        quasi_identifiers=canonical_columns(tuple(map(base.column, columns("quasi_identifiers"))), {}),
        sensitive=tuple(map(base.column, columns("sensitive"))),
        insensitive=tuple(map(base.column, columns("insensitive"))),
        entity=None if row["entity"] is None else entity_column(base.column(row["entity"])),
    )
