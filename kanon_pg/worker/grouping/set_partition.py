"""Chooses classes among all that there can be, by a constraint solver: the exact method for small inputs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from kanon_pg.worker.clock import Clock
from kanon_pg.worker.grouping.constraint_solver import new_model, run
from kanon_pg.worker.grouping.result import CostKind, Numbers, cost_of

PROOF = "constraint programming over all classes"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A class that there can be.

    Parameters
    ----------
    values : tuple of int
        Places of its values, ascending.
    size : int
        Sum of their weights, at least k.
    """

    values: tuple[int, ...]
    size: int


@dataclass(frozen=True, slots=True)
class Partition:
    """What is known about partitions into candidates.

    Parameters
    ----------
    class_of : ndarray of int64, or None
        The best partition found, if it is better than the known one.
    bound : int
        Proven lower bound on the cost.
    """

    class_of: Numbers | None
    bound: int


def best_partition(
    candidates: Sequence[Candidate],
    known: Numbers,
    sizes: Numbers,
    k: int,
    kind: CostKind,
    bound: int,
    clock: Clock,
    conflicts: Iterable[tuple[int, int]] = (),
) -> Partition:
    """Return the cheapest partition of values into some of the candidates, as far as the time allows.

    Parameters
    ----------
    candidates : sequence of Candidate
        All classes that can be in a solution no dearer than the known one, its classes among them.
    known : ndarray of int64, shape (n,)
        A partition.
    sizes : ndarray of int64
        Sizes of its classes.
    k : int
    kind : str
    bound : int
        What is proven already.
    clock : Clock
    conflicts : iterable of (int, int)
        Pairs of candidates without a common value that cannot both be taken.
    """
    model = new_model()
    chosen = [model.new_bool_var("") for _ in candidates]
    holding: list[list[int]] = [[] for _ in range(known.size)]
    for number, candidate in enumerate(candidates):
        for value in candidate.values:
            holding[value].append(number)
    for numbers in holding:
        model.add_exactly_one(chosen[number] for number in numbers)
    for one, other in conflicts:
        model.add_at_most_one(chosen[one], chosen[other])
    cost = cost_of(sizes, k, kind)
    if kind == "max":
        largest = model.new_int_var(bound, cost, "")
        for candidate, is_chosen in zip(candidates, chosen, strict=True):
            if candidate.size > bound:
                model.add(largest >= candidate.size * is_chosen)
        model.minimize(largest)
    else:
        model.minimize(
            sum(
                one.size * (one.size - k) * is_chosen
                for one, is_chosen in zip(candidates, chosen, strict=True)
            )
        )
    known_classes = {tuple(np.flatnonzero(known == number).tolist()) for number in range(sizes.size)}
    for candidate, is_chosen in zip(candidates, chosen, strict=True):
        model.add_hint(is_chosen, candidate.values in known_classes)
    solved = run(model, chosen, clock)
    proven = max(bound, min(cost, bound if solved.bound is None else solved.bound))
    if solved.values is None:
        return Partition(None, proven)
    taken = [one for one, is_taken in zip(candidates, solved.values, strict=True) if is_taken]
    if cost_of([one.size for one in taken], k, kind) >= cost:
        return Partition(None, proven)
    class_of = np.empty(known.size, dtype=np.int64)
    for number, candidate in enumerate(taken):
        class_of[list(candidate.values)] = number
    return Partition(class_of, proven)


def is_affordable(size: int, k: int, kind: CostKind, cost: int) -> bool:
    """Return whether a class of some size can be in a solution that costs no more than `cost`."""
    return size <= cost if kind == "max" else size * (size - k) <= cost
