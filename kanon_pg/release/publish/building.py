"""Builds what is behind a release of a table as it is now: solved, stored and recounted, not yet shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from kanon_pg.core.solving import SolveOutcome
from kanon_pg.db.identifiers import Fragment, Identifier, Literal
from kanon_pg.relations.counting import Counted
from kanon_pg.release.plan.planning import ReleasePlan
from kanon_pg.release.plan.record import SHARDS_SCHEMA, base_changes
from kanon_pg.release.publish.node_tables import Hierarchies, create_unknown_view, write_hierarchies
from kanon_pg.release.publish.recount import Recount, is_what_was_solved, recount, require_models
from kanon_pg.release.publish.report import ReleaseReport, losses_of, make_report
from kanon_pg.release.publish.shards import Shards, create_shards, shards_of
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
    """A release that is ready to be shown."""

    plan: ReleasePlan
    """What it publishes."""
    names: StorageNames
    """What was built."""
    shown: Identifier | Fragment
    """What its view reads."""
    rows: int
    """Rows of the base relation."""
    report: ReleaseReport
    losses: Mapping[str, float | None]
    """`report`, `losses`: what was reached."""
    changes: int | None
    """See `kanon_pg.release.plan.record.base_changes`, from before its rows were read."""
    unseen_by: Literal | None = None
    """Number of a transaction that must not read it."""


@dataclass(frozen=True, slots=True)
class StoredSolution:
    """Rows as they were counted, solved, stored and recounted."""

    counted: Counted
    outcome: SolveOutcome
    found: Recount
    """`counted`, `outcome`, `found`: what the steps gave."""
    names: StorageNames
    """What was created."""
    shown: Identifier | Fragment
    """What has the rows to show."""
    certified: bool
    """Whether they are what was solved for, so that its proofs apply."""
    changes: int | None
    """See `kanon_pg.release.plan.record.base_changes`, from before they were stored."""


def store_solution(
    work: PublishingCall, names: StorageNames, hierarchies: Hierarchies, shards: Shards | None = None
) -> StoredSolution:
    """Count, solve, store and recount the rows of the plan's base relation.

    Parameters
    ----------
    names : StorageNames
        What to create; `names.parts` only if row types are divided.

    Raises
    ------
    VerificationFailed
        If the recount finds anything else than was promised.
    """
    db, plan, k = work.db, work.plan, work.request.k
    counted, outcome = count_and_solve(work, hierarchies)
    parts = parts_of(counted.row_types.keys, outcome)
    if parts is None:
        names = replace(names, parts=None)
    db.progress("writing")
    write_patterns(db, names, counted.row_types.keys, outcome, parts)
    db.progress("building the view")
    # A later count would take for published what others write while the storage is filled.
    changes = base_changes(db, *plan.read_oids)
    shown: Identifier | Fragment = names.storage
    if shards is None:
        create_storage(db, plan, names, k=k, rows=counted.rows)
    else:
        shown = create_shards(db, plan, shards, names, k=k)
    db.progress("recounting")
    on_nodes = shards is not None
    found = recount(db, plan, names.storage, k=k, nodes=names.nodes, on_nodes=on_nodes)
    certified = is_what_was_solved(db, plan, counted, outcome, found, on_nodes=on_nodes)
    require_models(db, plan, names.storage, found, is_whole=certified)
    return StoredSolution(counted, outcome, found, names, shown, certified, changes)


def build_release(work: PublishingCall, generation: int) -> BuiltRelease:
    """Solve, store and recount a release of the rows that the base relation has."""
    db, plan = work.db, work.plan
    shards = shards_of(db, plan, remembers=work.request.remember is not None)
    names = storage_names(plan, generation, schema=SCHEMA if shards is None else SHARDS_SCHEMA)
    hierarchies = write_hierarchies(db, plan, names.nodes)
    stored = store_solution(work, names, hierarchies, shards)
    if shards is None:
        create_unknown_view(db, plan, stored.names)
    counted, outcome, found, certified = stored.counted, stored.outcome, stored.found, stored.certified
    return BuiltRelease(
        plan=plan,
        names=stored.names,
        shown=stored.shown,
        rows=counted.rows,
        report=make_report(plan, counted, outcome, found, k=work.request.k, certified=certified),
        losses=losses_of(outcome, found, certified=certified),
        changes=stored.changes,
    )
