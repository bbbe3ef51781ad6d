"""The suppression curve: what each k costs, counted once and solved for many k.

Through either interface; publishes nothing, changes nothing. `points_of` has what the solution of one
k proves about others.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from kanon_pg.core.privacy_models import PrivacyModels
from kanon_pg.core.shown import Shown, rows_of
from kanon_pg.core.solving import SolveOutcome, SolveRequest, gap_of, kernels_for
from kanon_pg.core.termination import Termination
from kanon_pg.db.operation import Argument, Operation
from kanon_pg.db.protocol import Database
from kanon_pg.db.readers import reading
from kanon_pg.db.settings import exact_text, working_memory
from kanon_pg.errors import DEFECT, InputError, MemoryExceeded, SolverError, in_words
from kanon_pg.relations.arguments import (
    DEFAULT_SECONDS,
    AnyRelation,
    QuasiIdentifiers,
    Seed,
    check_k,
    check_search,
)
from kanon_pg.relations.canonical import CanonicalColumn, canonical_columns
from kanon_pg.relations.counting import Counted, count_row_types, require_people
from kanon_pg.relations.subject import (
    ROWS_ARE_PEOPLE,
    Roles,
    Subject,
    notice_unknown_roles,
    refuse_identifying,
    require_quasi_identifiers,
    require_usable,
    resolve,
)
from kanon_pg.runner.parent import compile_once, memory_budget, solve_in_worker
from kanon_pg.runner.session import Caller
from kanon_pg.runner.solver_session import solver_session

_ROUNDING = 1e-12
"""Costs that differ by less are equal: sums of weights are rounded."""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One row of SQL type ``kanon.curve_point``."""

    k: int
    suppressed_cells: int
    suppressed_share: float
    """Their share of all quasi-identifier cells, 0 to 1."""
    weighted_cost: float
    """Suppressed cells times the weights of their columns; never decreases with k."""
    lower_bound: float | None
    """What every solution costs at least, proven; never decreases with k. None if nothing is proven."""
    gap: float | None
    """(weighted_cost - lower_bound) / weighted_cost, 0 to 1."""
    optimal: bool
    classes: int
    average_class: float
    method: str
    """What found the solution, and for which k if for a larger one."""
    elapsed: float
    termination: Termination


@dataclass(frozen=True, slots=True)
class Curve(Shown):
    """A suppression curve and the table it is about."""

    relation: str
    rows: int
    people: int
    row_types: int
    quasi_identifiers: tuple[str, ...]
    row_weight: float
    """Cost of a row all of whose cells are suppressed."""
    points: tuple[CurvePoint, ...]

    def table(self) -> tuple[Sequence[str], Sequence[Sequence[Any]]]:
        """Return the points."""
        return rows_of(self.points, CurvePoint)


@dataclass(frozen=True, slots=True)
class SolvedPoint:
    """The outcome of a solver for one k, and how many seconds it took."""

    outcome: SolveOutcome
    seconds: float


def points_of(ks: Sequence[int], solved: Mapping[int, SolvedPoint], cells: int) -> tuple[CurvePoint, ...]:
    """Put a curve together from the solutions for the largest k and those others that memory sufficed for.

    Notes
    -----
    A class of at least k people has at least k' people for every k' <= k. So every solution for k is one for
    k', and what bounds all solutions for k' from below bounds those for k. A point takes the cheapest
    solution of its own and the larger k, and the greatest bound of its own and the smaller k.
    """
    sources = _cheapest(ks, solved)
    bound: float | None = None
    points = []
    for k in ks:
        own = solved[k].outcome.lower_bound if k in solved else None
        bound = own if bound is None else bound if own is None else max(bound, own)
        points.append(_point(k, sources[k], solved, bound, cells))
    return tuple(points)


def _cheapest(ks: Sequence[int], solved: Mapping[int, SolvedPoint]) -> dict[int, int]:
    """Return for each k the k whose solution is the cheapest among those that serve, its own if equal."""
    sources: dict[int, int] = {}
    best = ks[-1]
    for k in reversed(ks):
        if k in solved and solved[k].outcome.weighted_cost <= solved[best].outcome.weighted_cost:
            best = k
        sources[k] = best
    return sources


def _point(
    k: int, source: int, solved: Mapping[int, SolvedPoint], bound: float | None, cells: int
) -> CurvePoint:
    outcome = solved[source].outcome
    cost = outcome.weighted_cost
    if bound is not None and bound > cost and not math.isclose(bound, cost, rel_tol=_ROUNDING):
        raise SolverError(
            f"The solution for k = {source} costs less than what was proven for k = {k} or a smaller one.",
            hint=DEFECT,
        )
    proven = None if bound is None else min(bound, cost)
    optimal = proven is not None and math.isclose(proven, cost, rel_tol=_ROUNDING)
    own = solved[k].outcome.termination if k in solved else Termination.MEMORY
    return CurvePoint(
        k=k,
        suppressed_cells=outcome.suppressed_cells,
        suppressed_share=outcome.suppressed_cells / cells,
        weighted_cost=cost,
        lower_bound=proven,
        gap=gap_of(cost, proven),
        optimal=optimal,
        classes=outcome.classes,
        average_class=outcome.average_class,
        method=outcome.method if source == k else f"{outcome.method}, for k = {source}",
        elapsed=solved[k].seconds if k in solved else 0.0,
        termination=Termination.OPTIMAL if optimal else own,
    )


DEFAULT_KS = (2, 3, 5, 10, 25, 50, 100)
"""Values of k unless others are given."""

MOST_KS = 100
"""Most values of k in one call."""

_EXAMPLE = "Give the values of k, for example 2, 5 and 10."


@dataclass(frozen=True, slots=True)
class CurveRequest:
    """The arguments of ``kanon_curve``; all k are different, and at most `MOST_KS`."""

    relation: AnyRelation
    ks: Annotated[Sequence[int], Argument("integer[]", "Values of k, each at least 2.")] = DEFAULT_KS
    quasi_identifiers: QuasiIdentifiers = None
    patterns: Annotated[list[Any] | dict[str, Any] | None, Argument("jsonb", "As in kanon_anonymize.")] = None
    method: Annotated[str, Argument("text", "As in kanon_anonymize.")] = "auto"
    time_limit: Annotated[float, Argument("interval", "For all k together: how long to search.")] = (
        DEFAULT_SECONDS
    )
    seed: Seed = None

    def check(self) -> None:
        """Refuse what is wrong whatever the database holds."""
        _check_ks(self.ks)
        check_search(self.method, self.time_limit, self.seed)


CURVE = Operation(CurveRequest)


def _check_ks(ks: Any) -> None:
    if ks is None:
        raise InputError("ks is NULL.", hint=_EXAMPLE)
    if not isinstance(ks, Sequence) or isinstance(ks, str) or any(isinstance(k, Sequence) for k in ks):
        raise InputError("ks must be a plain list of integers.", hint=_EXAMPLE)
    if not ks:
        raise InputError("ks is empty.", hint=_EXAMPLE)
    if len(ks) > MOST_KS:
        raise InputError(
            f"{len(ks)} values of k are more than the {MOST_KS} that one call can have.",
            hint="Choose fewer; a curve is smooth enough with ten.",
        )
    if any(k is None for k in ks):
        raise InputError("ks contains NULL.", hint=_EXAMPLE)
    for k in ks:
        check_k(k)
        if list(ks).count(k) > 1:
            raise InputError(f"k = {k} is given twice.", hint="Give each value of k once.")


def curve_columns(
    db: Database, request: CurveRequest, role: str | None = None
) -> tuple[Subject, tuple[CanonicalColumn, ...]]:
    """Resolve what to count, as ``kanon_anonymize`` would, with the rights of a role, else the caller's."""
    subject = resolve(db, request.relation, role=role)
    known = subject.roles or Roles()
    if subject.hides_people or subject.counts_people:
        db.notice(ROWS_ARE_PEOPLE)
    if request.quasi_identifiers is None:
        notice_unknown_roles(db, subject)
        names = tuple(column.name for column in subject.quasi_identifiers())
    else:
        names = tuple(request.quasi_identifiers)
    Roles(quasi_identifiers=names, entity=known.entity, weights=known.weights).check(subject.relation)
    refuse_identifying(subject, names)
    quasi = subject.columns(names)
    require_quasi_identifiers(subject.relation, quasi)
    require_usable(db, subject, quasi)
    return subject, canonical_columns(quasi, dict(known.weights or {}))


def curve(db: Database, request: CurveRequest, *, role: str | None = None) -> Curve:
    """Find out what each k costs, with the rights of a role, else the caller's own.

    The row types are counted once. The largest k comes first, each gets an equal share of the time for
    searching that is left. A first solution is found for each, whatever it takes.
    """
    request.check()
    subject, columns = curve_columns(db, request, role)
    memory = memory_budget(db)
    compile_once(db, memory, kernels_for(request.method, PrivacyModels()))
    with working_memory(db, memory), exact_text(db):
        solver_session.start()
        db.progress("counting")
        with reading(db, subject.relation):
            counted = count_row_types(db, subject.source, columns, subject.entity, memory_bytes=memory)
        ks = sorted(request.ks)
        feasible = ",".join(str(k) for k in ks if k <= counted.people)
        hint = f"Ask for what is possible: ks => '{{{feasible}}}'." if feasible else None
        require_people(counted, subject.relation.identifier, ks, subject.entity, hint=hint)
        solved = _Solving(db, request, counted, memory).all(ks)
    return Curve(
        relation=str(subject.relation.identifier),
        rows=counted.rows,
        people=counted.people,
        row_types=len(counted.row_types),
        quasi_identifiers=tuple(column.facts.name for column in columns),
        row_weight=sum(column.weight for column in columns),
        points=points_of(ks, solved, counted.rows * len(columns)),
    )


@dataclass(frozen=True, slots=True)
class _Solving:
    """The search for solutions of several k."""

    db: Database
    request: CurveRequest
    counted: Counted
    memory: int

    def all(self, ks: Sequence[int]) -> dict[int, SolvedPoint]:
        """Solve for each k, the largest first; what one does not use of its time goes to the others.

        What all leave goes once more to those whose time ended, as far as it is more than they had.
        """
        solved: dict[int, SolvedPoint] = {}
        given: dict[int, float] = {}
        left = self.request.time_limit
        for done, k in enumerate(reversed(ks)):
            seconds = left / (len(ks) - done)
            try:
                solved[k] = self._one(k, seconds, self._progress(k, done, len(ks)))
            except MemoryExceeded as error:
                if not solved:
                    raise
                self.db.notice(f"k = {k} has the solution of a larger k: {error.message}")
                continue
            left -= min(seconds, solved[k].seconds)
            given[k] = seconds
        self._again(solved, given, left)
        notes: dict[str, list[int]] = {}
        for k in sorted(solved):
            for note in solved[k].outcome.notes:
                notes.setdefault(note, []).append(k)
        for note, of in notes.items():
            self.db.notice(f"k = {in_words(of)}: {note}")
        return solved

    def _again(self, solved: dict[int, SolvedPoint], given: Mapping[int, float], left: float) -> None:
        """Search again for those k whose time ended, if there is more time left for each than it had.

        Where memory does not suffice this time, the first solution stays.
        """
        ended = [k for k in given if solved[k].outcome.termination is Termination.TIME]
        for number, k in enumerate(ended):
            seconds = left / (len(ended) - number)
            if seconds <= given[k]:
                continue
            before, started = solved[k], time.monotonic()
            try:
                longer = self._one(k, seconds, self._progress(k, len(given), len(given)))
            except MemoryExceeded as error:
                self.db.notice(f"k = {k} has the solution of its first search: {error.message}")
                left -= min(seconds, time.monotonic() - started)
                continue
            left -= min(seconds, longer.seconds)
            solved[k] = SolvedPoint(_better(before.outcome, longer.outcome), before.seconds + longer.seconds)

    def _one(self, k: int, seconds: float, progress: Callable[[str, float | None], None]) -> SolvedPoint:
        request = SolveRequest(
            k=k,
            method=self.request.method,
            patterns=self.request.patterns,
            seed=self.request.seed,
            seconds=seconds,
        )
        before = time.monotonic()
        outcome = solve_in_worker(
            self.counted.row_types, request, Caller(self.memory, self.db.checkpoint, progress)
        )
        return SolvedPoint(outcome, time.monotonic() - before)

    def _progress(self, k: int, done: int, total: int) -> Callable[[str, float | None], None]:
        phase = f"solving for k = {k}"
        self.db.progress(phase, done / total)
        furthest = done / total

        def report(_: str, share: float | None) -> None:
            nonlocal furthest  # each phase of a solver counts anew
            furthest = max(furthest, min(1.0, (done + (share or 0.0)) / total))
            self.db.progress(phase, furthest)

        return report


def _better(one: SolveOutcome, other: SolveOutcome) -> SolveOutcome:
    """Return the cheaper one of two outcomes for the same k, with the greater bound and what proves it.

    Prices are about row types, not about a solution: they prove the bound beside either one.
    """
    best, worse = (one, other) if one.weighted_cost < other.weighted_cost else (other, one)
    if worse.lower_bound is None or (best.lower_bound is not None and best.lower_bound >= worse.lower_bound):
        return best
    return replace(best, lower_bound=worse.lower_bound, bound_method=worse.bound_method, prices=worse.prices)
