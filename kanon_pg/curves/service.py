"""Computes a suppression curve through either interface: publishes nothing, changes nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kanon_pg.core.request import PrivacyModels, SolveRequest, kernels_for
from kanon_pg.curves.points import Curve, Solved, points_of
from kanon_pg.curves.request import CurveRequest
from kanon_pg.curves.subject import CurveSubject, resolve_subject
from kanon_pg.db.protocol import Database
from kanon_pg.errors import InfeasibleError, MemoryExceeded
from kanon_pg.release.compiling import compile_once
from kanon_pg.release.counting import Counted, count_row_types
from kanon_pg.release.settings import exact_text, working_memory
from kanon_pg.runner.budget import memory_budget
from kanon_pg.runner.parent import solve_in_child, start_worker

_HASH_SEED = 0


def curve(db: Database, request: CurveRequest) -> Curve:
    """Find out what each k costs, with the caller's own rights.

    The row types are counted once. The largest k comes first, each gets an equal share of the time for
    searching that is left. A first solution is found for each, whatever it takes.

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
    subject = resolve_subject(db, request)
    memory = memory_budget(db)
    compile_once(db, memory, kernels_for(request.method, PrivacyModels()))
    with working_memory(db, memory), exact_text(db):
        counted = _count(db, subject, memory)
        ks = sorted(request.ks)
        _require_people(subject, counted, ks)
        solved = _Solving(db, request, counted, memory).all(ks)
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
    """The search for solutions of several k."""

    db: Database
    request: CurveRequest
    counted: Counted
    memory: int

    def all(self, ks: Sequence[int]) -> dict[int, Solved]:
        """Solve for each k, the largest first; what one does not use of its time goes to the others.

        Raises
        ------
        MemoryExceeded
            Memory did not suffice for the largest k; any other k can do with the solution of a larger one.
        """
        solved: dict[int, Solved] = {}
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
        self._tell(solved)
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
        furthest = done / total

        def tell(_: str, share: float | None) -> None:
            nonlocal furthest  # each phase of a solver counts anew
            furthest = max(furthest, (done + (share or 0.0)) / total)
            self.db.progress(phase, furthest)

        return tell

    def _tell(self, solved: dict[int, Solved]) -> None:
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
