"""The operations on releases: anonymize, refresh, drop. Each runs inside one transaction of its caller."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from kanon_pg.core.request import SolveOutcome, SolveRequest, kernels_for
from kanon_pg.db.catalog import caller, describe
from kanon_pg.db.failures import SERIALIZATION_FAILURE
from kanon_pg.db.identifiers import Identifier
from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.queries import statement
from kanon_pg.errors import (
    DatabaseError,
    InfeasibleError,
    ReleaseBusy,
    ReleaseError,
    UnknownName,
)
from kanon_pg.release.base import OWNER, require_own_code
from kanon_pg.release.certify import is_what_was_solved
from kanon_pg.release.counting import Counted, count_row_types
from kanon_pg.release.models import require_classes, require_sensitive
from kanon_pg.release.parts import parts_of, write_parts
from kanon_pg.release.plan import ReleasePlan, plan_release
from kanon_pg.release.publish import drop_mapping, drop_parts, drop_storage, drop_view, swap_view
from kanon_pg.release.recount import recount
from kanon_pg.release.recount_models import require_models
from kanon_pg.release.report import ReleaseReport, make_report
from kanon_pg.release.request import AnonymizeRequest
from kanon_pg.release.settings import exact_text, memory_budget, working_memory
from kanon_pg.release.storage import StorageNames, create_storage, storage_names, write_mapping
from kanon_pg.runner.parent import compile_solvers, solve_in_child, solvers_are_compiled, start_worker

_HASH_SEED = 0

_PUBLISH_FACTOR = 6.0
"""Publishing takes about this many times as long as counting; so much time is kept for it."""


@dataclass(frozen=True, slots=True)
class _Work:
    db: Database
    request: AnonymizeRequest
    plan: ReleasePlan
    role: str
    memory: int
    started: float

    def remaining(self) -> float:
        return self.request.time_limit - (time.monotonic() - self.started)


def anonymize(db: Database, request: AnonymizeRequest, *, role: str | None = None) -> ReleaseReport:
    """Publish a k-anonymous release of a relation.

    Parameters
    ----------
    db : Database
        Acts with the rights of the owner role.
    request : AnonymizeRequest
        What the data owner asks for.
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
    with db.deadline(request.time_limit):
        role = caller(db) if role is None else role
        plan = plan_release(db, request, role)
        require_sensitive(request, plan.sensitive)
        memory = memory_budget(db)
    compile_once(db, memory, kernels_for(request.method, request.models))
    work = _Work(db, request, plan, role, memory, started=time.monotonic())
    with db.deadline(request.time_limit):
        generation = _queue_for(db, plan.name)
        with working_memory(db, memory), exact_text(db):
            return _build_and_publish(work, generation)


def compile_once(db: Database, memory_bytes: int, kernels: str) -> None:
    """Compile solvers at their first use in an installation; the time limit is not for that.

    Parameters
    ----------
    db : Database
        Its user is told what takes so long.
    memory_bytes : int
        Budget of the worker.
    kernels : str
        A name of `kanon_pg.core.request.KERNELS`.
    """
    if not solvers_are_compiled(kernels):
        db.notice("Compiling the solvers, once for this installation and user; this takes up to a minute.")
        db.progress("compiling")
        compile_solvers(
            kernels, checkpoint=db.checkpoint, progress=lambda *_: None, memory_bytes=memory_bytes
        )


def _build_and_publish(work: _Work, generation: int) -> ReleaseReport:
    db, plan, k = work.db, work.plan, work.request.k
    counted, outcome = _count_and_solve(work)
    parts = parts_of(counted.row_types.keys, outcome)
    names = storage_names(plan, generation, is_divided=parts is not None)
    db.progress("writing")
    write_mapping(db, names.mapping, counted.row_types.keys, outcome.patterns, outcome.prices)
    if names.parts is not None and parts is not None:
        write_parts(db, names.parts, parts)
    db.progress("building the view")
    create_storage(db, plan, names, k=k, hash_seed=_HASH_SEED)
    db.progress("recounting")
    found = recount(db, plan, names.storage, k=k)
    certified = is_what_was_solved(db, plan, counted, outcome, found, hash_seed=_HASH_SEED)
    require_models(db, plan, names.storage, found, is_whole=certified)
    db.progress("publishing")
    previous = db.rows(statement("fetch_release"), plan.name)
    swap_view(db, plan, names.storage, k=k)
    _forget(db, previous)
    elapsed = time.monotonic() - work.started
    report = make_report(plan, counted, outcome, found, k=k, elapsed=elapsed, certified=certified)
    _store(work, report, names)
    return report


def _count_and_solve(work: _Work) -> tuple[Counted, SolveOutcome]:
    db, plan, request = work.db, work.plan, work.request
    start_worker()
    db.progress("counting")
    before = time.monotonic()
    counted = count_row_types(
        db,
        plan.base.identifier,
        plan.quasi_identifiers,
        plan.entity,
        sensitive=plan.judged,
        hash_seed=_HASH_SEED,
        memory_bytes=work.memory,
    )
    _require_people(plan, counted, request.k)
    reserve = _PUBLISH_FACTOR * (time.monotonic() - before)
    asked = SolveRequest(
        k=request.k,
        method=request.method,
        patterns=request.patterns,
        seed=request.seed,
        seconds=max(0.1, min(work.remaining() - reserve, 0.9 * work.remaining())),
        models=request.models,
        fewest_classes=request.fewest_classes,
        most_classes=request.most_classes,
    )
    db.progress("solving")
    outcome = solve_in_child(
        counted.row_types, asked, checkpoint=db.checkpoint, progress=db.progress, memory_bytes=work.memory
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

    Raises
    ------
    UnknownName
        If there is no such release.
    """
    row = _existing_and_alone(db, release)
    if not row["storage_name"]:
        raise ReleaseError(
            "The base table of this release was dropped, and the release with it.",
            hint="Remove its record: SELECT kanon_drop(...);",
        )
    require_own_code(db, describe(db, str(row["base"]), OWNER))
    db.progress("refreshing")
    storage = Identifier.of(row["storage_schema"], row["storage_name"])
    with exact_text(db):
        db.execute(statement("refresh_storage", storage=storage))
    db.execute(statement("analyze", relation=storage))


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
    if db.row(statement("find_release"), release, row["base"])["published"]:
        drop_view(db, Identifier.of("safe", release))
    _forget(db, [row])


def releases(db: Database) -> Sequence[Row]:
    """Return all releases with their certificates, by name."""
    return db.rows(statement("list_releases"))


def _existing(db: Database, release: str) -> Row:
    found = db.rows(statement("fetch_release"), release) if release is not None else []
    if not found:
        raise UnknownName("There is no such release.", hint="SELECT * FROM kanon.releases lists them.")
    return found[0]


def _existing_and_alone(db: Database, release: str) -> Row:
    """Wait for calls that publish this release; returns its record as they left it."""
    _existing(db, release)
    _queue_for(db, release)
    return _existing(db, release)


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


def _forget(db: Database, previous: Sequence[Row]) -> None:
    for row in previous:
        # Dropping a base table with CASCADE takes the storage along, but not the mapping.
        if row["storage_name"]:
            drop_storage(db, Identifier.of(row["storage_schema"], row["storage_name"]))
        if row["mapping_name"]:
            drop_mapping(db, Identifier.of(row["mapping_schema"], row["mapping_name"]))
        if row["parts_name"]:
            drop_parts(db, Identifier.of(row["parts_schema"], row["parts_name"]))
        db.execute(statement("forget_release"), row["name"])


def _store(work: _Work, report: ReleaseReport, names: StorageNames) -> None:
    plan = work.plan
    work.db.execute(
        statement("store_release"),
        plan.name,
        plan.base.oid,
        str(names.storage),
        str(names.mapping),
        _HASH_SEED,
        json.dumps(asdict(work.request), default=list),
        [column.facts.name for column in plan.quasi_identifiers],
        [column.name for column in plan.sensitive],
        [column.name for column in plan.insensitive],
        None if plan.entity is None else plan.entity.facts.name,
        json.dumps(asdict(report)),
        work.role,
        None if names.parts is None else str(names.parts),
    )
