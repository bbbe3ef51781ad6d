"""Builds what is behind a release of a table as it is now: solved, stored and recounted, not yet shown."""

from __future__ import annotations

from dataclasses import dataclass

from kanon_pg.db.identifiers import Fragment, Identifier, Literal
from kanon_pg.release.plan.planning import ReleasePlan
from kanon_pg.release.plan.record import SHARDS_SCHEMA, base_changes
from kanon_pg.release.publish.node_tables import create_unknown_view, write_hierarchies
from kanon_pg.release.publish.recount import is_what_was_solved, recount, require_models
from kanon_pg.release.publish.report import ReleaseReport, ReleaseUtility, make_report, release_utility
from kanon_pg.release.publish.shards import create_shards, shards_of
from kanon_pg.release.publish.solving import PublishingCall, count_and_solve
from kanon_pg.release.publish.storage import (
    SCHEMA,
    StorageNames,
    create_storage,
    parts_of,
    storage_names,
    write_patterns,
)


@dataclass(frozen=True, slots=True)
class BuiltRelease:
    """A release that is ready to be shown.

    Parameters
    ----------
    plan : ReleasePlan
        What it publishes.
    names : StorageNames
        What was built.
    shown : Identifier or Fragment
        What its view reads.
    rows : int
        Rows of the base relation.
    report, utility
        What was reached.
    changes : int or None
        See `kanon_pg.release.plan.record.base_changes`, from before its rows were read.
    unseen_by : Literal or None
        Number of a transaction that must not read it.
    """

    plan: ReleasePlan
    names: StorageNames
    shown: Identifier | Fragment
    rows: int
    report: ReleaseReport
    utility: ReleaseUtility
    changes: int | None
    unseen_by: Literal | None = None


def build_release(work: PublishingCall, generation: int) -> BuiltRelease:
    """Solve, store and recount a release of the rows that the base relation has.

    Parameters
    ----------
    generation : int
        Number of this publication under its name.
    """
    db, plan, k = work.db, work.plan, work.request.k
    hierarchies = write_hierarchies(db, plan, storage_names(plan, generation).nodes)
    shards = shards_of(db, plan, remembers=work.request.remember is not None)
    counted, outcome = count_and_solve(work, hierarchies)
    parts = parts_of(counted.row_types.keys, outcome)
    schema = SCHEMA if shards is None else SHARDS_SCHEMA
    names = storage_names(plan, generation, is_divided=parts is not None, schema=schema)
    db.progress("writing")
    write_patterns(db, names, counted.row_types.keys, outcome, parts)
    db.progress("building the view")
    # A later count would take for published what others write while the storage is filled.
    changes = base_changes(db, plan.base.oid)
    shown: Identifier | Fragment = names.storage
    if shards is not None:
        shown = create_shards(db, plan, shards, names, k=k)
    else:
        create_storage(db, plan, names, k=k, rows=counted.rows)
        create_unknown_view(db, plan, names)
    db.progress("recounting")
    found = recount(db, plan, names.storage, k=k, nodes=names.nodes, on_nodes=shards is not None)
    certified = is_what_was_solved(db, plan, counted, outcome, found, on_nodes=shards is not None)
    require_models(db, plan, names.storage, found, is_whole=certified)
    return BuiltRelease(
        plan=plan,
        names=names,
        shown=shown,
        rows=counted.rows,
        report=make_report(plan, counted, outcome, found, k=k, certified=certified),
        utility=release_utility(outcome, found, certified=certified),
        changes=changes,
    )
