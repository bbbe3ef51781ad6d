"""What each stage of method 'auto' is worth: the cost of the solution without it."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from typing import Any
from unittest.mock import patch

from rich.table import Table

from kanon_pg.core.solving import SolveRequest
from kanon_pg.worker.solvers.refinement.recombination import SolutionPool
from kanon_pg.worker.solvers.registry import solve
from tests.benchmarks.columns import ADULT9, ADULT14, CENSUS8, CMC, DIABETES, NURSERY
from tests.benchmarks.packed import packed_file
from tests.benchmarks.settings import DATA, Settings, missing, table

_SOLVERS = "kanon_pg.worker.solvers."

_SECONDS = 15.0


def _third(_table: object, _vectors: object, assigned: object, *_: object, **__: object) -> object:
    return assigned


def _same(_table: object, _graph: object, solution: object, *_: object, **__: object) -> object:
    return solution


def _best(pool: SolutionPool, *_: object, **__: object) -> object:
    return pool.best


def _none(*_: object, **__: object) -> None:
    return None


STAGES: Mapping[str, Mapping[str, Any]] = {
    "nothing": {},
    "local search": {"heuristics.improve": _third},
    "integer program": {"portfolio._FEW_PAIRS": -1},
    "dives": {"refinement.refine.dive": _none},
    "annealing": {"refinement.refine.anneal": _same},
    "regions": {"refinement.recombination.improve_by_regions": _same},
    "classes of several": {"refinement.refine.search_among": _best},
    "flows": {"refinement.refine.reassign": _same},
    "refinement": {"portfolio._refine": lambda _context, _graph, found, _prices: found},
}
"""What takes the place of each stage, by the name under which the stage that calls it knows it."""


def _tables() -> Iterator[tuple[str, str, Callable[[], Any]]]:
    for title, file, columns in (
        ("Adult, 9 columns", "adult", ADULT9),
        ("Adult, 14 columns", "adult", ADULT14),
        ("CMC", "cmc", CMC),
        ("Nursery", "nursery", NURSERY),
        ("Hospital stays", "diabetes_hospitals", DIABETES),
        ("Census income", "census_income_kdd", CENSUS8),
    ):
        path = DATA / f"{file}.csv.gz"
        yield (
            title,
            file,
            lambda path=path, columns=columns: packed_file(path, columns) if path.exists() else None,
        )


def stages(settings: Settings) -> Iterator[Table]:
    """Weighted cost of what 'auto' finds within 15 s, with one of its stages left out at a time."""
    for title, file, read in _tables():
        packed = read()
        if packed is None:
            yield missing(file)
            continue
        solve(packed, SolveRequest(100, seconds=5.0))
        rows = []
        for k in (5,) if settings.quick else (2, 5, 25, 100):
            found = {stage: _without(stage, packed, k) for stage in STAGES}
            rows.append([k, *found.values()])
        yield table(f"{title}: cost without", ["k", *STAGES], rows)


def _without(stage: str, packed: Any, k: int) -> float:
    with ExitStack() as stack:
        for name, stand_in in STAGES[stage].items():
            stack.enter_context(patch(_SOLVERS + name, stand_in))
        return solve(packed, SolveRequest(k, seconds=_SECONDS, seed=1)).weighted_cost
