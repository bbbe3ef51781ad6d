"""One level per column: the cells of some columns have one level of their hierarchies, or are suppressed.

Each choice of levels is a table whose hierarchies have these levels alone, which any method solves; the
cheapest answer is the best choice. What no choice can do better is the least of the bounds of all of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.generalization import PackedHierarchy
from kanon_pg.core.packed import PackedRowTypes
from kanon_pg.core.solving import SolveOutcome, SolveRequest
from kanon_pg.core.termination import Termination
from kanon_pg.errors import InputError
from kanon_pg.worker.clock import Progress
from kanon_pg.worker.packed_numbers import buffer_of, integers

Solver = Callable[[PackedRowTypes, SolveRequest, Progress], SolveOutcome]

_MOST_CHOICES = 64
_ROUNDING = 1e-12

Choice = tuple[int | None, ...]
"""Per column the level that its cells have unless they are suppressed; None if they may have any."""


def solve_at_one_level(
    row_types: PackedRowTypes, request: SolveRequest, solve: Solver, progress: Progress
) -> SolveOutcome:
    """Solve a table once for each choice of levels; return the cheapest solution."""
    choices = list(_choices(row_types, request.same_level))
    seconds = None if request.seconds is None else request.seconds / len(choices)
    each = replace(request, same_level=(), seconds=seconds)
    outcomes = [solve(_restricted(row_types, choice), each, progress) for choice in choices]
    best = min(range(len(choices)), key=lambda number: outcomes[number].weighted_cost)
    found = outcomes[best]
    bounds = [one.lower_bound for one in outcomes]
    proven = [bound for bound in bounds if bound is not None]
    bound = min(found.weighted_cost, *proven) if len(proven) == len(bounds) else None
    is_optimal = bound is not None and math.isclose(bound, found.weighted_cost, rel_tol=_ROUNDING)
    translate = _translation(row_types, choices[best])
    return replace(
        found,
        patterns=translate(found.patterns),
        moved_patterns=translate(found.moved_patterns),
        prices=b"",  # they prove the bound of one choice
        lower_bound=bound,
        optimal=is_optimal,
        method=f"{found.method}, one level of {', '.join(request.same_level)}",
        bound_method=None if bound is None else f"each level by itself: {found.bound_method}",
        notes=tuple(dict.fromkeys(note for one in outcomes for note in one.notes)),
        termination=_termination(outcomes, is_optimal=is_optimal),
    )


def _choices(row_types: PackedRowTypes, names: Sequence[str]) -> Iterator[Choice]:
    hierarchies = row_types.hierarchies or (None,) * len(row_types.columns)
    known = {column.name: one for column, one in zip(row_types.columns, hierarchies, strict=True)}
    if any(known.get(name) is None for name in names):
        raise InputError(
            "Option same_level names what is no quasi-identifier with a hierarchy.",
            hint="""Give it one: hierarchies => '{"age": {"builder": "intervals", "width": [5, 10, 20]}}'.""",
        )
    levels = [
        range(one.lowest, max(one.lowest + 1, one.height)) if one is not None and name in names else [None]
        for name, one in known.items()
    ]
    count = math.prod(map(len, levels))
    if count > _MOST_CHOICES:
        raise InputError(
            f"Option same_level allows {count:,} choices of levels; at most {_MOST_CHOICES} can be tried.",
            hint="Name fewer columns, give their hierarchies fewer levels, or use method => 'full_domain'.",
        )
    return product(*levels)


def _restricted(row_types: PackedRowTypes, choice: Choice) -> PackedRowTypes:
    """Return a table whose hierarchies have the levels of a choice."""
    hierarchies = tuple(
        one if one is None or level is None else _with_level(one, level)
        for one, level in zip(row_types.hierarchies, choice, strict=True)
    )
    return replace(row_types, hierarchies=hierarchies)


def _with_level(hierarchy: PackedHierarchy, level: int) -> PackedHierarchy:
    """Return a hierarchy of height 2 that has one level, that of the values too, and the top."""
    top, losses = hierarchy.height, hierarchy.losses
    nodes = (hierarchy.cells, *hierarchy.nodes, hierarchy.cells)[level]
    return PackedHierarchy(
        height=2,
        cells=hierarchy.cells,
        nodes=(nodes,),
        losses=(losses[0], losses[level], losses[top]),
        lowest=2 if level == top else 1,
    )


def _translation(row_types: PackedRowTypes, choice: Choice) -> Callable[[bytes], bytes]:
    """Return the function that gives pattern vectors of a restricted table the levels of the table itself."""
    own, fields = row_types.level_fields, _restricted(row_types, choice).level_fields

    def translate(patterns: bytes) -> bytes:
        vectors = integers(patterns)
        translated: NDArray[np.int64] = np.zeros_like(vectors)
        for column, level in enumerate(choice):
            found = vectors >> fields.offsets[column] & (1 << fields.widths[column]) - 1
            if level is not None:
                found = np.array((0, level, own.heights[column]))[found]
            translated |= found << own.offsets[column]
        return buffer_of(translated)

    return translate


def _termination(outcomes: Sequence[SolveOutcome], *, is_optimal: bool) -> Termination:
    """Return how the search ended: what cut one choice of levels cut all of it."""
    others = [one.termination for one in outcomes if one.termination != Termination.OPTIMAL]
    if is_optimal or not others:
        return Termination.OPTIMAL if is_optimal else Termination.EXHAUSTED
    return next((one for one in others if one.is_cut), others[0])
