"""Computes a suppression curve through either interface: publishes nothing, changes nothing."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kanon_pg.core.packed import MAX_COLUMNS
from kanon_pg.core.request import PrivacyModels, SolveRequest, kernels_for
from kanon_pg.curves.points import Curve, Solved, points_of
from kanon_pg.curves.request import CurveRequest
from kanon_pg.db.catalog import ColumnFacts, RelationFacts, describe, require_equality, require_readable
from kanon_pg.db.protocol import Database
from kanon_pg.db.queries import statement
from kanon_pg.errors import InfeasibleError, InputError, MemoryExceeded, UnsuitableColumn
from kanon_pg.release.canonical import CanonicalColumn, canonical_columns
from kanon_pg.release.counting import Counted, count_row_types
from kanon_pg.release.declaration import Declaration, check_roles, entity_column
from kanon_pg.release.settings import exact_text, working_memory
from kanon_pg.runner.parent import solve_in_child, start_worker
from kanon_pg.runner.preparation import compile_once, memory_budget


@dataclass(frozen=True, slots=True)
class CurveSubject:
    """A relation with the columns of its row types.

    Parameters
    ----------
    relation : RelationFacts
        Table or view.
    columns : tuple of CanonicalColumn
        The quasi-identifiers with their weights, at least one.
    entity : CanonicalColumn or None
        What identifies a person; None: each row is a person.
    """

    relation: RelationFacts
    columns: tuple[CanonicalColumn, ...]
    entity: CanonicalColumn | None


def resolve_subject(db: Database, request: CurveRequest) -> CurveSubject:
    """Find out what to count, as ``kanon_anonymize`` would, and check that the caller may read it.

    Without a declaration, or without the right to read declarations, every column is a quasi-identifier
    except single-column keys.

    Raises
    ------
    InputError
        If the relation is NULL, or there is no quasi-identifier or too many.
    UnknownName
        If the relation or a column does not exist.
    UnsuitableColumn
        If a column cannot be a quasi-identifier.
    NotPermitted
        If the caller may not read the columns.
    """
    context = db.row(statement("measure_context"))
    facts = describe(db, request.relation, context["role"])
    declaration = _declared(db, facts) if context["declarations"] else None
    known = declaration or Declaration()
    if request.quasi_identifiers is not None:
        names = tuple(request.quasi_identifiers)
    elif declaration is not None:
        names = known.quasi_identifiers
    else:
        names = tuple(column.name for column in facts.columns if not column.is_key)
    check_roles(facts, Declaration((), names, entity=known.entity, weights=known.weights))
    _refuse_identifying(facts, known, names)
    quasi = tuple(facts.column(name) for name in names)
    entity = None if known.entity is None else entity_column(facts.column(known.entity))
    _check_columns(facts, quasi)
    _check_types(db, facts, quasi, entity, context["role"])
    return CurveSubject(facts, canonical_columns(quasi, dict(known.weights or {})), entity)


def _declared(db: Database, facts: RelationFacts) -> Declaration | None:
    found = db.rows(statement("curve_declared"), facts.oid)
    if not found:
        return None
    row = found[0]
    declaration = Declaration(
        identifiers=tuple(row["identifiers"]),
        quasi_identifiers=tuple(row["quasi_identifiers"]),
        entity=row["entity"],
        weights=json.loads(row["weights"]) if row["weights"] else None,
    )
    facts.require_declared(declaration.names())
    return declaration


def _refuse_identifying(facts: RelationFacts, declaration: Declaration, names: tuple[str, ...]) -> None:
    for name in names:
        if name == declaration.entity or name in declaration.identifiers:
            raise UnsuitableColumn(
                f"Column {facts.column(name).identifier} is declared to identify people; "
                "no release could publish it.",
                hint="Leave it out, or declare it with another role first.",
            )


def _check_columns(facts: RelationFacts, quasi: tuple[ColumnFacts, ...]) -> None:
    if not quasi:
        raise InputError(
            f"No quasi-identifier is left in {facts.identifier}.",
            hint="Name the columns that others could link: quasi_identifiers => '{zip,sex}'.",
        )
    if len(quasi) > MAX_COLUMNS:
        raise InputError(
            f"{len(quasi)} quasi-identifiers are more than the {MAX_COLUMNS} that a release can have.",
            hint="Name only those that others could link: quasi_identifiers => '{zip,sex}'.",
        )


def _check_types(
    db: Database,
    facts: RelationFacts,
    quasi: tuple[ColumnFacts, ...],
    entity: CanonicalColumn | None,
    role: str,
) -> None:
    require_readable(facts, quasi + (() if entity is None else (entity.facts,)), role)
    require_equality(db, facts, quasi)
    if entity is not None:
        require_equality(db, facts, (entity.facts,), "identify people")


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
