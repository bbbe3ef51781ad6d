"""Compile every kernel once, so that the first real call does not wait for the compiler."""

from __future__ import annotations

import numpy as np

from kanon_pg.core.packed import PackedRowTypes, QuasiIdentifier
from kanon_pg.core.request import SolveRequest
from kanon_pg.solvers.registry import METHODS, solve


def warm_up() -> None:
    """Run every method on a tiny table, with and without an entity.

    Compiled kernels are kept on disk (see `kanon_pg.core.compiled`), so one call per installation and
    user suffices; it takes up to a minute the first time and well below a second afterwards.
    """
    for has_entity in (False, True):
        table = _tiny_table(has_entity)
        for method in METHODS:
            solve(table, SolveRequest(k=3, method=method))


def _tiny_table(has_entity: bool) -> PackedRowTypes:
    """Return 64 row types over four columns, of which three vary, so that every kernel has work."""
    number = np.arange(64)
    cells = tuple((number // step % 4).astype(">i8").tobytes() for step in (1, 3, 7, 64))
    columns = tuple(QuasiIdentifier(f"column_{step}") for step in range(4))
    ones = np.ones(64, dtype=">i8").tobytes()
    keys = number.astype(">i8").tobytes()
    people = (number // 2).astype(">i8").tobytes() if has_entity else b""
    return PackedRowTypes(columns, keys, ones, ones, cells, (None,) * 4, keys if has_entity else b"", people)
