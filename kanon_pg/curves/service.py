"""Computes a suppression curve through either door: publishes nothing, changes nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kanon_pg.core.request import PrivacyModels, SolveRequest, kernels_for
from kanon_pg.curves.points import Curve, Solved, points_of
from kanon_pg.curves.request import CurveRequest
from kanon_pg.curves.subject import CurveSubject, resolve_subject
from kanon_pg.db.protocol import Database
from kanon_pg.errors import InfeasibleError, LimitExceeded, SolverError, SolverUnavailable
from kanon_pg.release.compiling import compile_once
from kanon_pg.release.counting import Counted, count_row_types
from kanon_pg.release.settings import exact_text, working_memory
from kanon_pg.runner.budget import memory_budget
from kanon_pg.runner.parent import solve_in_child, start_worker

_HASH_SEED = 0

_USABLE = 0.9
"""Share of the remaining time that is given away; the rest is for answers that come late."""

_LEAST_SECONDS = 0.05
"""Shortest time for which a search is worth starting."""


def curve(db: Database, request: CurveRequest) -> Curve:
    """Find out what each k costs, with the caller's own rights.

    The row types are counted once. The largest k comes first, each gets an equal share of the remaining time.
    If time is over early, the smaller k are left with the solution of a larger one.

    Parameters
    ----------
    db : Database
        Acts with the rights of the caller. No statement writes.
    request : CurveRequest
        What is asked.

    Returns
    -------
    Curve
        One point per k, see `kanon_pg.curves.points.points_of`.

    Raises
    ------
    KanonError
        Any error of the tree.
    """
    request.check()
    with db.deadline(request.time_limit):
        subject = resolve_subject(db, request)
        memory = memory_budget(db)
    compile_once(db, memory, kernels_for(request.method, PrivacyModels()))
    ends = time.monotonic() + request.time_limit
    with db.deadline(request.time_limit), working_memory(db, memory), exact_text(db):
        counted = _count(db, subject, memory)
        ks = sorted(request.ks)
        _require_people(subject, counted, ks)
        solved = _Solving(db, request, counted, memory, ends).all(ks)
    return Curve(
        relation=str(subject.relation.identifier),
        rows=counted.rows,
        people=counted.people,
        row_types=len(counted.row_types),
        quasi_identifiers=tuple(column.facts.name for column in subject.columns),
        row_weight=sum(column.weight for column in subject.columns),
        points=points_of(ks, solved, counted.rows * len(subject.columns)),
    )


def _count(db: Database, subject: CurveSubject, memory: int) -> Counted:
    start_worker()
    db.progress("counting")
    return count_row_types(
        db,
        subject.relation.identifier,
        subject.columns,
        subject.entity,
        hash_seed=_HASH_SEED,
        memory_bytes=memory,
    )


def _require_people(subject: CurveSubject, counted: Counted, ks: Sequence[int]) -> None:
    name = subject.relation.identifier
    if not counted.rows:
        raise InfeasibleError(f"{name} is empty.", hint="Load data first.")
    too_large = [k for k in ks if k > counted.people]
    if not too_large:
        return
    unit = "rows" if subject.entity is None else "people"
    feasible = ",".join(str(k) for k in ks if k <= counted.people)
    raise InfeasibleError(
        f"{name} has {counted.people} {unit}, fewer than k = {_listed(too_large)}.",
        hint=f"Ask for what is possible: ks => '{{{feasible}}}'."
        if feasible
        else "No release of it can hide a person among so many; choose smaller k.",
    )


@dataclass(frozen=True, slots=True)
class _Solving:
    """The search for solutions of several k, with the time it has."""

    db: Database
    request: CurveRequest
    counted: Counted
    memory: int
    ends: float

    def all(self, ks: Sequence[int]) -> dict[int, Solved]:
        """Solve for each k, the largest first, until time is over.

        Raises
        ------
        SolverError
            There is no solution for the largest k; any other k can do with that of a larger one.
        """
        solved: dict[int, Solved] = {}
        tried = set[int]()
        overrun = 0.0
        for done, k in enumerate(reversed(ks)):
            left = _USABLE * (self.ends - time.monotonic())
            if solved and left < overrun + _LEAST_SECONDS:
                break
            seconds = max(_LEAST_SECONDS, left / (len(ks) - done) - overrun)
            tried.add(k)
            try:
                solved[k] = self._one(k, seconds, self._progress(k, done, len(ks)))
            except SolverError as error:
                if not solved or isinstance(error, LimitExceeded | SolverUnavailable):
                    raise
                self.db.notice(f"k = {k} has the solution of a larger k: {error.message}")
                continue
            overrun = max(overrun, solved[k].seconds - seconds)
        self._tell([k for k in ks if k not in tried], solved)
        return solved

    def _one(self, k: int, seconds: float, progress: Callable[[str, float | None], None]) -> Solved:
        asked = SolveRequest(
            k=k,
            method=self.request.method,
            patterns=self.request.patterns,
            seed=self.request.seed,
            seconds=seconds,
        )
        before = time.monotonic()
        outcome = solve_in_child(
            self.counted.row_types,
            asked,
            checkpoint=self.db.checkpoint,
            progress=progress,
            memory_bytes=self.memory,
        )
        return Solved(outcome, time.monotonic() - before)

    def _progress(self, k: int, done: int, total: int) -> Callable[[str, float | None], None]:
        phase = f"solving for k = {k}"
        self.db.progress(phase, done / total)
        return lambda _, share: self.db.progress(phase, (done + (share or 0.0)) / total)

    def _tell(self, late: Sequence[int], solved: dict[int, Solved]) -> None:
        if late:
            self.db.notice(
                f"Time was over before k = {_listed(late)} had a turn: "
                "what is shown there was found for a larger k."
            )
        notes: dict[str, list[int]] = {}
        for k in sorted(solved):
            for note in solved[k].outcome.notes:
                notes.setdefault(note, []).append(k)
        for note, of in notes.items():
            self.db.notice(f"k = {_listed(of)}: {note}")


def _listed(ks: Sequence[int]) -> str:
    """Return numbers as a sentence has them.

    Examples
    --------
    >>> _listed([2, 3, 5])
    '2, 3 and 5'
    """
    *others, last = map(str, ks)
    return f"{', '.join(others)} and {last}" if others else last
