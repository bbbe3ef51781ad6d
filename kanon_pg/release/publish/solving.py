"""Counts the row types of what is to be released and has them solved."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kanon_pg.core.solving import SolveOutcome, SolveRequest, kernels_for
from kanon_pg.db.protocol import Database
from kanon_pg.db.readers import reading
from kanon_pg.errors import DEFECT, VerificationFailed
from kanon_pg.relations.counting import Counted, count_row_types, require_people
from kanon_pg.release.plan.planning import ReleasePlan
from kanon_pg.release.plan.request import AnonymizeRequest
from kanon_pg.release.publish.node_tables import Hierarchies, with_hierarchies
from kanon_pg.runner.parent import compile_once, handed_over
from kanon_pg.runner.session import Caller
from kanon_pg.runner.solver_session import solver_session


@dataclass(frozen=True, slots=True)
class PublishingCall:
    """A call that publishes."""

    db: Database
    request: AnonymizeRequest
    plan: ReleasePlan
    role: str
    """The requesting role."""
    memory: int
    """Bytes that all processes may use together."""
    started: float
    """When it began, on the monotonic clock."""

    def compile(self) -> None:
        """Compile the solvers that the request needs, if they are not."""
        kernels = kernels_for(
            self.request.method, self.plan.models, has_hierarchies=bool(self.plan.generalized)
        )
        compile_once(self.db, self.memory, kernels)


def count_and_solve(work: PublishingCall, hierarchies: Hierarchies) -> tuple[Counted, SolveOutcome]:
    """Count the row types of the plan's base relation and find a pattern for each.

    Of the row types only keys and counts are returned: their cells are the worker's alone while it solves.

    Raises
    ------
    InfeasibleError
        If it has fewer than k people.
    """
    db, plan, request = work.db, work.plan, work.request
    solver_session.start()
    db.progress("counting")
    with reading(db, plan.base):
        counted = count_row_types(
            db,
            plan.base.source,
            plan.quasi_identifiers,
            plan.entity,
            sensitive=plan.model_columns,
            memory_bytes=work.memory,
        )
    require_people(counted, plan.base.identifier, (request.k,), plan.entity)
    row_types = with_hierarchies(plan, counted.row_types, hierarchies)
    solve_request = SolveRequest(
        k=request.k,
        method=request.method,
        patterns=request.patterns,
        seed=request.seed,
        seconds=request.time_limit,
        models=plan.models,
        fewest_classes=request.fewest_classes,
        most_classes=request.most_classes,
        suppressed_rows=request.suppressed_rows,
        same_level=tuple(request.same_level or ()),
        subsets=request.subsets,
    )
    db.progress("solving")
    with handed_over(row_types, solve_request, Caller.of(db, work.memory)) as solve:
        counted = replace(counted, row_types=counted.row_types.without_cells())
        del row_types
        outcome = solve()
    if not solve_request.allows_number(outcome.classes):
        raise VerificationFailed(
            f"The solution has {outcome.classes} classes, which is not what was asked for; nothing was "
            "published.",
            hint=DEFECT,
        )
    for note in outcome.notes:
        db.notice(note)
    return counted, outcome
