"""The record of a release: written, brought up to date by a refresh, found by name, and what goes with it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from kanon_pg.core.generalization import LevelFields
from kanon_pg.db.catalog import RelationFacts
from kanon_pg.db.identifiers import Identifier, Literal
from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.readers import drop_base
from kanon_pg.db.statements import statement
from kanon_pg.errors import ReleaseError, UnknownName, as_given
from kanon_pg.relations.counting import HASH_SEED
from kanon_pg.release.distributed.storage import SHARDS_SCHEMA, drop_shards
from kanon_pg.release.naming import name_in_sql
from kanon_pg.release.node_tables import drop_hierarchies
from kanon_pg.release.plan import ReleasePlan, suppressed_in
from kanon_pg.release.publish import drop_mapping, drop_parts, drop_storage
from kanon_pg.release.recount import count_people
from kanon_pg.release.remembering import forget_versions, remembered_versions
from kanon_pg.release.report import ReleaseReport, ReleaseUtility
from kanon_pg.release.request import AnonymizeRequest
from kanon_pg.release.series.record import drop_series, forget_series
from kanon_pg.release.storage import StorageNames


def store_release(
    db: Database,
    plan: ReleasePlan,
    request: AnonymizeRequest,
    report: ReleaseReport,
    utility: ReleaseUtility,
    names: StorageNames,
    *,
    role: str,
    settled: Settled | None = None,
) -> None:
    """Record a release.

    Parameters
    ----------
    plan, request, report, utility, names
        What was requested, planned, found and created.
    role : str
        Who published it.
    settled : Settled, optional
        See `settled_rows`; None if its storage is not made of the rows of the base relation.
    """
    db.execute(
        statement("store_release"),
        plan.name,
        plan.base.oid,
        str(names.storage),
        None if request.over_time is not None else str(names.mapping),
        HASH_SEED,
        json.dumps(asdict(request) | {"hierarchies": recorded_hierarchies(request)}, default=list),
        [column.facts.name for column in plan.quasi_identifiers],
        [column.name for column in plan.sensitive],
        [column.name for column in plan.insensitive],
        None if plan.entity is None else plan.entity.facts.name,
        json.dumps(asdict(report) | {"changes": None if settled is None else settled.changes}),
        role,
        None if names.parts is None else str(names.parts),
        [found.column.facts.name for found in plan.generalized],
        [str(table) for table in names.nodes],
        None if names.unknown is None else str(names.unknown),
        utility.certainty_penalty,
        utility.generalization_height,
        utility.entropy_loss,
        utility.marginal_divergence,
        None if settled is None else settled.before,
        None if settled is None else settled.layout,
        None if names.source is None or request.over_time is not None else str(names.source),
    )


@dataclass(frozen=True, slots=True)
class Settled:
    """What tells later which rows of a base relation a storage was filled with, as they still are.

    Parameters
    ----------
    before : int
        All transactions before this one have ended: the next statement sees what they wrote.
    layout : str
        The tables in which the rows lie, and the places of their columns, as JSON.
    changes : int or None
        What ``kanon.base_changes`` had counted; of a later count, what others write while the storage is
        filled would be taken for published.
    """

    before: int
    layout: str
    changes: int | None


def settled_rows(db: Database, base: RelationFacts) -> Settled:
    """Return what tells which rows are settled, before a storage is filled with them."""
    return Settled(**db.row(statement("composition/settled"), base.oid))


def recorded_hierarchies(request: AnonymizeRequest) -> dict[str, Any] | None:
    """Return the argument ``hierarchies`` without what only builders read: all curators may read the record.

    Examples
    --------
    >>> asked = {"age": {"builder": "intervals", "cuts": [18, 65], "lowest": 1}}
    >>> recorded_hierarchies(AnonymizeRequest("patients", 5, hierarchies=asked))
    {'age': {'builder': 'intervals', 'lowest': 1, 'loss': 'ncp'}}
    """
    if request.hierarchies is None:
        return None
    return {
        requested.column: {
            **(
                {"hierarchy": requested.hierarchy}
                if requested.builder is None
                else {"builder": requested.builder["builder"]}
            ),
            "lowest": requested.lowest,
            "loss": requested.loss,
        }
        for requested in request.requested_hierarchies
    }


@dataclass(frozen=True, slots=True)
class SupersededRelease:
    """A release without a record, whose relations still stand.

    Parameters
    ----------
    row : Row
        What its record was, as ``fetch_release`` returned it.
    series : sequence of str or None
        Relations of a release over time.
    """

    row: Row
    series: Sequence[str | None]


def forget_releases(
    db: Database, previous: Sequence[Row], *, keep_versions: bool = False
) -> tuple[SupersededRelease, ...]:
    """Remove records, so that others can have their names; readers notice nothing until `drop_superseded`.

    Parameters
    ----------
    previous : sequence of Row
        Records, as ``fetch_release`` returns them.
    keep_versions : bool
        Whether the versions that were remembered stay, because a further one follows.
    """
    superseded = []
    for row in previous:
        superseded.append(SupersededRelease(row, forget_series(db, row["name"])))
        if not keep_versions:
            forget_versions(db, row["name"], remembered_versions(db, row["name"]))
        db.execute(statement("forget_release"), row["name"])
    return tuple(superseded)


def drop_superseded(db: Database, superseded: Sequence[SupersededRelease]) -> None:
    """Drop the relations of releases that are no longer shown."""
    for one in superseded:
        row = one.row
        # Dropping a base table with CASCADE takes the storage along, but not the mapping.
        if row["storage_name"]:
            storage = Identifier.of(row["storage_schema"], row["storage_name"])
            if row["storage_schema"] == SHARDS_SCHEMA:
                drop_shards(db, storage)
            else:
                drop_storage(db, storage)
        drop_hierarchies(db, row)
        if row["mapping_name"]:
            drop_mapping(db, Identifier.of(row["mapping_schema"], row["mapping_name"]))
        if row["parts_name"]:
            drop_parts(db, Identifier.of(row["parts_schema"], row["parts_name"]))
        if row["source_name"]:
            drop_base(db, row["source_name"])
        drop_series(db, one.series)


def record_refresh(db: Database, row: Row, storage: Identifier, *, settled: Settled) -> None:
    """Count a refreshed release and put the figures in the place of those before.

    What was proven applies to the table as it was published, and stays as it is.

    Parameters
    ----------
    row : Row
        The record of the release.
    storage : Identifier
        Its materialized view.
    settled : Settled
        See `settled_rows`.
    """
    fields = _fields(db, row)
    on_nodes = row["storage_schema"] == SHARDS_SCHEMA
    seen = db.row(
        statement(
            "recount_seen",
            storage=storage,
            generalized=(),
            entity=row["has_entity"],
            on_nodes=on_nodes,
            columns=[
                {
                    "cell": Identifier.of(name),
                    "alias": Identifier.of(f"q{place}"),
                    "is_suppressed": suppressed_in(fields, "pattern", place),
                }
                for place, name in enumerate(row["quasi_identifiers"])
            ],
        )
    )
    people = count_people(db, storage, on_nodes=on_nodes) if row["has_entity"] else seen["rows"]
    average = int(seen["memberships"]) / max(1, int(seen["classes"]))
    db.execute(
        statement("record_refresh"),
        row["name"],
        seen["rows"],
        people,
        seen["classes"],
        seen["smallest"],
        average,
        seen["largest"],
        seen["suppressed"],
        settled.before,
        settled.layout,
    )


def _fields(db: Database, row: Row) -> LevelFields:
    """Return where the levels of a release's columns stand, from its own copies of their hierarchies."""
    if not row["generalized"]:
        return LevelFields((1,) * len(row["quasi_identifiers"]))
    found = db.rows(statement("fetch_heights"), row["name"])
    heights = dict(zip(row["generalized"], (one["height"] for one in found), strict=True))
    return LevelFields(tuple(heights.get(name, 1) for name in row["quasi_identifiers"]))


def require_base(row: Row) -> None:
    """Refuse a release whose base relation is gone; `row` is as ``fetch_release`` returns it.

    Raises
    ------
    ReleaseError
        With what to do.
    """
    if row["has_base"] and row["storage_name"]:
        return
    what = "was dropped, or a column that the release shows, and the release with it."
    if row["storage_name"]:  # of Citus
        what = "is gone: it was dropped, or undistribute_table or alter_distributed_table made it anew."
    raise ReleaseError(
        f"The base table of this release {what}",
        hint=f"Remove what is left of the release: SELECT kanon_drop({Literal(row['name'])});",
    )


def existing_release(db: Database, given: str | None) -> Row:
    """Return the record of a release.

    Parameters
    ----------
    given : str or None
        Its name, exactly as in ``kanon.releases``; else ``name`` or ``safe.name`` as SQL writes
        it, with quotes where SQL needs them.

    Raises
    ------
    UnknownName
        If there is none.
    """
    for name in () if given is None else (given, name_in_sql(db, given)):
        found = [] if name is None else db.rows(statement("fetch_release"), name)
        if found:
            return found[0]
    raise UnknownName(
        f"There is no release {as_given(given)}.",
        detail="A release is named like its view in schema safe, with or without the schema.",
        hint="SELECT * FROM kanon.releases lists them.",
    )
