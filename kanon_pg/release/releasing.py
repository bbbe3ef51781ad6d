"""The operations on releases: anonymize, refresh, drop. Each runs inside one transaction of its caller."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kanon_pg.core.request import SolveOutcome, SolveRequest, kernels_for
from kanon_pg.db.catalog import caller, describe
from kanon_pg.db.failures import SERIALIZATION_FAILURE
from kanon_pg.db.identifiers import Identifier, Literal
from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.queries import statement
from kanon_pg.db.settings import exact_text, working_memory
from kanon_pg.errors import (
    DatabaseError,
    InfeasibleError,
    ReleaseBusy,
    ReleaseError,
)
from kanon_pg.relations.counting import Counted, count_row_types
from kanon_pg.release.advice import notice_much_suppressed
from kanon_pg.release.base import OWNER, require_all_rows, require_own_code
from kanon_pg.release.node_tables import (
    Hierarchies,
    create_unknown_view,
    notice_unknown,
    with_hierarchies,
    write_hierarchies,
)
from kanon_pg.release.plan import ReleasePlan, plan_release
from kanon_pg.release.publish import drop_view, name_storage, swap_view
from kanon_pg.release.record import existing_release, forget_releases, record_refresh, store_release
from kanon_pg.release.recount import is_what_was_solved, recount, require_models
from kanon_pg.release.report import ReleaseReport, make_report, release_utility
from kanon_pg.release.request import AnonymizeRequest, require_classes, require_sensitive
from kanon_pg.release.storage import create_storage, parts_of, storage_names, write_mapping, write_parts
from kanon_pg.runner.parent import compile_once, memory_budget, solve_in_child, start_worker


@dataclass(frozen=True, slots=True)
class _Work:
    db: Database
    request: AnonymizeRequest
    plan: ReleasePlan
    role: str
    memory: int
    started: float


def anonymize(db: Database, request: AnonymizeRequest, *, role: str | None = None) -> ReleaseReport:
    """Publish a k-anonymous release of a relation.

    Parameters
    ----------
    role : str, optional
        Whose rights count; the caller's unless given.

    Returns
    -------
    ReleaseReport
        Recounted figures and proven bounds.

    Raises
    ------
    KanonError
        Any error of the tree; the transaction must be rolled back then.
    """
    request.check()
    with exact_text(db):
        role = caller(db) if role is None else role
        plan = plan_release(db, request, role)
        require_sensitive(request, plan.sensitive)
        memory = memory_budget(db)
    compile_once(
        db, memory, kernels_for(request.method, request.models, has_hierarchies=bool(plan.generalized))
    )
    work = _Work(db, request, plan, role, memory, started=time.monotonic())
    generation = _queue_for(db, plan.name)
    with working_memory(db, memory), exact_text(db):
        return _build_and_publish(work, generation)


def _build_and_publish(work: _Work, generation: int) -> ReleaseReport:
    db, plan, k = work.db, work.plan, work.request.k
    hierarchies = write_hierarchies(db, plan, storage_names(plan, generation).nodes)
    counted, outcome = _count_and_solve(work, hierarchies)
    parts = parts_of(counted.row_types.keys, outcome)
    names = storage_names(plan, generation, is_divided=parts is not None)
    db.progress("writing")
    write_mapping(db, names.mapping, counted.row_types.keys, outcome.patterns, outcome.prices)
    if names.parts is not None and parts is not None:
        write_parts(db, names.parts, parts)
    db.progress("building the view")
    create_storage(db, plan, names, k=k)
    create_unknown_view(db, plan, names)
    db.progress("recounting")
    found = recount(db, plan, names.storage, k=k, nodes=names.nodes)
    certified = is_what_was_solved(db, plan, counted, outcome, found)
    require_models(db, plan, names.storage, found, is_whole=certified)
    db.progress("publishing")
    previous = db.rows(statement("fetch_release"), plan.name)
    swap_view(db, plan, names.storage, k=k)
    forget_releases(db, previous)
    names = replace(names, storage=name_storage(db, plan.name, names.storage))
    elapsed = time.monotonic() - work.started
    report = make_report(plan, counted, outcome, found, k=k, elapsed=elapsed, certified=certified)
    utility = release_utility(outcome, found, certified=certified)
    store_release(db, plan, work.request, report, utility, names, role=work.role)
    notice_much_suppressed(db, plan.view, report.suppressed_share)
    return report


def _count_and_solve(work: _Work, hierarchies: Hierarchies) -> tuple[Counted, SolveOutcome]:
    db, plan, request = work.db, work.plan, work.request
    start_worker()
    db.progress("counting")
    counted = count_row_types(
        db,
        plan.base.identifier,
        plan.quasi_identifiers,
        plan.entity,
        sensitive=plan.model_columns,
        memory_bytes=work.memory,
    )
    _require_people(plan, counted, request.k)
    row_types = with_hierarchies(plan, counted.row_types, hierarchies)
    asked = SolveRequest(
        k=request.k,
        method=request.method,
        patterns=request.patterns,
        seed=request.seed,
        seconds=request.time_limit,
        models=request.models,
        fewest_classes=request.fewest_classes,
        most_classes=request.most_classes,
        suppressed_rows=request.suppressed_rows,
    )
    db.progress("solving")
    outcome = solve_in_child(
        row_types, asked, checkpoint=db.checkpoint, progress=db.progress, memory_bytes=work.memory
    )
    require_classes(request, outcome.classes)
    for note in outcome.notes:
        db.notice(note)
    return counted, outcome


def _require_people(plan: ReleasePlan, counted: Counted, k: int) -> None:
    unit = "rows" if plan.entity is None else "people"
    if not counted.rows:
        raise InfeasibleError(f"{plan.base.identifier} is empty.", hint="Load data first.")
    if counted.people < k:
        raise InfeasibleError(
            f"{plan.base.identifier} has {counted.people} {unit}, fewer than k = {k}.",
            hint="No release of it can hide a person among so many; choose a smaller k.",
        )


def refresh(db: Database, release: str) -> None:
    """Bring a release up to date with its base relation, with the same rules.

    Parameters
    ----------
    release : str
        See `kanon_pg.release.record.existing_release`.

    Raises
    ------
    UnknownName
        If there is no such release.
    UnsuitableRelation
        If the base relation has become one that cannot be the base of a release.
    """
    row = _existing_and_alone(db, release)
    if not row["storage_name"]:
        raise ReleaseError(
            "The base table of this release was dropped, and the release with it.",
            hint="Remove its record: SELECT kanon_drop(...);",
        )
    base = describe(db, str(row["base"]), OWNER)
    require_own_code(db, base)
    require_all_rows(base)
    db.progress("refreshing")
    storage = Identifier.of(row["storage_schema"], row["storage_name"])
    with exact_text(db):
        db.execute(statement("refresh_storage", storage=storage))
    db.execute(statement("analyze", relation=storage))
    record_refresh(db, row, storage)
    _notice_withheld(db, base.identifier, storage, row["name"])
    _notice_unpublished(db, row)
    notice_unknown(db, row)


def _notice_withheld(db: Database, base: Identifier, storage: Identifier, release: str) -> None:
    withheld = db.row(statement("count_withheld", base=base, storage=storage))["withheld"]
    if withheld:
        db.notice(
            f"Of {base}, {withheld} rows are withheld: they would be in classes of too few people. Publish "
            f"release {Identifier.of(release)} anew with kanon_anonymize to fit them in."
        )


def _notice_unpublished(db: Database, row: Row) -> None:
    """Say that the view of a release was dropped, so that nobody sees what was refreshed."""
    if not db.row(statement("find_release"), row["name"], row["base"])["published"]:
        view = Identifier.of("safe", row["name"])
        db.notice(
            f"The view {view} was dropped: what was refreshed is not published. kanon_anonymize publishes it "
            f"anew, SELECT kanon_drop({Literal(row['name'])}); removes what is left of it."
        )


def drop(db: Database, release: str) -> None:
    """Remove a release with everything behind it.

    Raises
    ------
    UnknownName
        If there is no such release.
    ReleaseError
        If other objects depend on its view.
    """
    row = _existing_and_alone(db, release)
    name: str = row["name"]
    if db.row(statement("find_release"), name, row["base"])["published"]:
        drop_view(db, Identifier.of("safe", name))
    forget_releases(db, [row])


def releases(db: Database) -> Sequence[Row]:
    """Return all releases with their certificates, by name."""
    return db.rows(statement("list_releases"))


def _existing_and_alone(db: Database, release: str) -> Row:
    """Wait for calls that publish this release; returns its record as they left it."""
    name: str = existing_release(db, release)["name"]
    _queue_for(db, name)
    return existing_release(db, name)


def _queue_for(db: Database, name: str) -> int:
    """Wait for other calls under the same release name; returns the number of this publication."""
    db.progress("queued")
    try:
        generation: int = db.row(statement("lock_release_name"), name)["generation"]
    except DatabaseError as error:
        if error.server_state != SERIALIZATION_FAILURE:
            raise
        raise ReleaseBusy(
            "Another call published the same release meanwhile.", hint="Run it again to build on its result."
        ) from error
    return generation
