"""What calls ask of the solvers, of every kind; prints the kernels that compiling ahead has left out.

A program of its own: only a process that has done nothing else knows what it had to compile.
"""

import itertools
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from kanon_pg.core.generalization import PackedHierarchy
from kanon_pg.core.packed import PackedRowTypes
from kanon_pg.core.privacy_models import PrivacyModels
from kanon_pg.core.solving import KERNELS, SolveRequest
from kanon_pg.errors import InfeasibleError, InputError, LimitExceeded
from kanon_pg.worker.audit.auditor import work
from kanon_pg.worker.clock import no_progress
from kanon_pg.worker.compiled import watched
from kanon_pg.worker.solvers.recoding.methods import RECODINGS
from kanon_pg.worker.solvers.registry import METHODS, solve
from kanon_pg.worker.warm_up import warm_up
from tests.fixtures.diversity import pack_sensitive
from tests.fixtures.packing import integers, pack

SECONDS = 0.5
"""Time for what may go on searching; all else ends by itself, however slow the machine."""

MODELS = (
    PrivacyModels(p=2),
    PrivacyModels(l=2),
    PrivacyModels(l=2, diversity="entropy"),
    PrivacyModels(l=2, diversity="distinct"),
    PrivacyModels(t=0.4),
    PrivacyModels(t=0.4, distance="ordered"),
    PrivacyModels(l=2, p=2, t=0.5),
)


def table(rows: int, columns: int, seed: int = 1, **options: Any) -> PackedRowTypes:
    numbers = np.random.default_rng(seed).zipf(1.6, size=(rows, columns)) % 7
    return pack([tuple(int(number) for number in row) for row in numbers], **options)


def with_secrets(rows: int, columns: int, **options: Any) -> PackedRowTypes:
    draw = np.random.default_rng(2)
    numbers = draw.zipf(1.6, size=(rows, columns)) % 7
    secrets = draw.integers(0, 5, size=(rows, 1))
    return pack_sensitive(
        [tuple(map(int, row)) for row in numbers],
        [tuple(map(int, row)) for row in secrets],
        ordered=True,
        **options,
    )


def with_hierarchies(packed: PackedRowTypes) -> PackedRowTypes:
    """Return the same row types, each column but the last with a hierarchy of three levels."""

    def tree(cells: bytes) -> PackedHierarchy:
        values = np.unique(np.frombuffer(cells, dtype=">i8"))
        nodes = integers([int(place) // 3 for place in range(values.size)])
        losses = tuple(np.full(values.size, loss).astype(">f8").tobytes() for loss in (0.0, 0.4, 1.0))
        return PackedHierarchy(2, integers([int(value) for value in values]), (nodes,), losses)

    return replace(packed, hierarchies=(*(tree(cells) for cells in packed.cells[:-1]), None))


def requests() -> Iterator[tuple[PackedRowTypes, SolveRequest]]:
    people = [number // 2 for number in range(150)]
    shared = [number % 60 for number in range(150)]
    plain = [
        table(150, 5),
        table(150, 5, people=people),
        table(150, 5, people=shared),
        table(150, 5, weights={"c0": 3.0, "c1": 0.25}),
        table(150, 5, numeric=("c0",)),
        table(40, 1),
        table(100, 20),
        table(12, 3),
    ]
    for packed, method in itertools.product(plain, METHODS):
        seconds = SECONDS if method in ("auto", "exact") else None
        yield packed, SolveRequest(2 if method == "pairs" else 3, method=method, seconds=seconds)
    yield plain[-1], SolveRequest(2)  # without an end until everything is proven
    first = plain[0]
    yield first, SolveRequest(3, seed=1, seconds=SECONDS)
    yield (
        first,
        SolveRequest(3, patterns=[[], ["c0"], ["c1", "c2"], ["c0", "c1", "c2", "c3", "c4"]], seconds=SECONDS),
    )
    yield first, SolveRequest(3, patterns={"max_suppressed": 2}, seconds=SECONDS)
    yield first, SolveRequest(3, patterns={"never": ["c0"]}, method="exact", seconds=SECONDS)
    yield first, SolveRequest(3, rest_may_be_small=True, seconds=SECONDS)
    for packed in plain[:5]:
        yield packed, SolveRequest(3, subsets=2, seconds=SECONDS)
    for limits in ({"most_classes": 5}, {"fewest_classes": 20}):
        yield first, SolveRequest(3, method="exact", seconds=SECONDS, **limits)
        yield plain[-1], SolveRequest(2, method="exact", seconds=SECONDS, **limits)
    secret = [with_secrets(150, 4), with_secrets(150, 4, people=people), with_secrets(150, 4, people=shared)]
    for packed, models in itertools.product(secret, MODELS):
        yield packed, SolveRequest(3, method="greedy", models=models)
    for packed, method in itertools.product(secret, ("auto", "exact", "mondrian")):
        yield packed, SolveRequest(3, method=method, models=MODELS[-1], seconds=SECONDS)
    generalized = [with_hierarchies(packed) for packed in plain[:5]]
    for packed, method in itertools.product(generalized, RECODINGS):
        seconds = SECONDS if method in ("auto", "exact", "local") else None
        yield packed, SolveRequest(3, method=method, seconds=seconds)
    yield generalized[0], SolveRequest(3, method="full_domain", suppressed_rows=0.1)
    yield generalized[0], SolveRequest(3, same_level=["c0"], seconds=SECONDS)
    for packed, models in itertools.product([with_hierarchies(one) for one in secret], MODELS[::2]):
        yield packed, SolveRequest(3, models=models, seconds=SECONDS)


def solve_everything() -> None:
    for packed, request in requests():
        with suppress(InputError, InfeasibleError, LimitExceeded):  # not every method takes every request
            solve(packed, request)


def audit_everything() -> None:
    people = [number % 60 for number in range(150)]
    for packed in (table(150, 5), table(150, 5, people=people), table(100, 20), table(40, 1)):
        for most in (None, 2):
            asked = {"k": 3, "max_columns": most, "quasi_identifiers": [0], "details": True, "seconds": None}
            work("violating", [packed], asked, no_progress)
        work("identifying", [packed], {"seconds": None}, no_progress)
        work("columns", [packed], {"seconds": None}, no_progress)
        asked = {"threshold": 0.2, "sampling_fraction": None, "uniques_seconds": None, "seconds": None}
        work("risk", [packed], asked | {"sampling_fraction": 0.1}, no_progress)
        work("risk", [packed, packed], asked, no_progress)


def main() -> None:
    for kernels in KERNELS:
        warm_up(kernels)
    left_out: list[str] = []
    with watched(left_out.append):
        solve_everything()
        audit_everything()
    sys.stdout.write("\n".join(left_out))
    sys.exit(bool(left_out))


if __name__ == "__main__":
    main()
