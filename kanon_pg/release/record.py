"""The record of a release, and what goes when it is forgotten."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from kanon_pg.db.identifiers import Identifier
from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.queries import statement
from kanon_pg.release.node_tables import drop_hierarchies
from kanon_pg.release.plan import ReleasePlan
from kanon_pg.release.publish import drop_mapping, drop_parts, drop_storage
from kanon_pg.release.report import ReleaseReport
from kanon_pg.release.request import AnonymizeRequest
from kanon_pg.release.storage import StorageNames
from kanon_pg.release.utility import ReleaseUtility


def store_release(
    db: Database,
    plan: ReleasePlan,
    request: AnonymizeRequest,
    report: ReleaseReport,
    utility: ReleaseUtility,
    names: StorageNames,
    *,
    hash_seed: int,
    role: str,
) -> None:
    """Record a release.

    Parameters
    ----------
    db : Database
        Acts with the rights of the owner role.
    plan, request, report, utility, names
        What was asked, planned, found and created.
    hash_seed : int
        Seed of the row type's hash in the mapping.
    role : str
        Who published it.
    """
    db.execute(
        statement("store_release"),
        plan.name,
        plan.base.oid,
        str(names.storage),
        str(names.mapping),
        hash_seed,
        json.dumps(asdict(request) | {"hierarchies": recorded_hierarchies(request)}, default=list),
        [column.facts.name for column in plan.quasi_identifiers],
        [column.name for column in plan.sensitive],
        [column.name for column in plan.insensitive],
        None if plan.entity is None else plan.entity.facts.name,
        json.dumps(asdict(report)),
        role,
        None if names.parts is None else str(names.parts),
        [found.column.facts.name for found in plan.generalized],
        [str(table) for table in names.nodes],
        None if names.unknown is None else str(names.unknown),
        utility.certainty_penalty,
        utility.generalization_height,
        utility.entropy_loss,
        utility.marginal_divergence,
    )


def recorded_hierarchies(request: AnonymizeRequest) -> dict[str, Any] | None:
    """Return the argument ``hierarchies`` without what only builders read: all curators may read the record.

    Parameters
    ----------
    request : AnonymizeRequest
        Already checked.

    Examples
    --------
    >>> asked = {"age": {"builder": "intervals", "cuts": [18, 65], "lowest": 1}}
    >>> recorded_hierarchies(AnonymizeRequest("patients", 5, hierarchies=asked))
    {'age': {'builder': 'intervals', 'lowest': 1, 'loss': 'ncp'}}
    """
    if request.hierarchies is None:
        return None
    return {
        wish.column: {
            **(
                {"hierarchy": wish.hierarchy}
                if wish.builder is None
                else {"builder": wish.builder["builder"]}
            ),
            "lowest": wish.lowest,
            "loss": wish.loss,
        }
        for wish in request.wishes
    }


def forget_releases(db: Database, previous: Sequence[Row]) -> None:
    """Remove records, and the relations behind the view of each.

    Parameters
    ----------
    db : Database
        Acts with the rights of the owner role.
    previous : sequence of Row
        Records, as ``fetch_release`` returns them.
    """
    for row in previous:
        # Dropping a base table with CASCADE takes the storage along, but not the mapping.
        if row["storage_name"]:
            drop_storage(db, Identifier.of(row["storage_schema"], row["storage_name"]))
        drop_hierarchies(db, row)
        if row["mapping_name"]:
            drop_mapping(db, Identifier.of(row["mapping_schema"], row["mapping_name"]))
        if row["parts_name"]:
            drop_parts(db, Identifier.of(row["parts_schema"], row["parts_name"]))
        db.execute(statement("forget_release"), row["name"])
