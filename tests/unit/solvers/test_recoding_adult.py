"""Adult with the hierarchies that another tool was measured with: its optimal levels, and its losses."""

import pytest

from kanon_pg.core.packed import PackedRowTypes
from kanon_pg.core.solving import SolveRequest
from kanon_pg.worker.solvers.registry import solve
from tests.benchmarks.columns import QI8
from tests.benchmarks.generalization import generalized_file
from tests.benchmarks.settings import DATA
from tests.fixtures.packing import masks

CELLS = 32_561 * 8


@pytest.fixture(scope="module")
def adult() -> PackedRowTypes:
    file, folder = DATA / "adult.csv.gz", DATA / "hierarchies" / "adult"
    if not file.exists() or not folder.exists():
        pytest.skip("adult.csv.gz and its hierarchies are not beside the checkout")
    return generalized_file(file, folder, QI8)


@pytest.mark.parametrize(
    ("k", "levels"),
    [
        (2, (4, 2, 3, 1, 1, 0, 0, 2)),
        (5, (4, 2, 3, 2, 1, 0, 0, 2)),
        (10, (4, 2, 3, 1, 2, 0, 0, 2)),
        (100, (4, 2, 3, 1, 1, 1, 0, 2)),
    ],
)
def test_the_full_domain_optimum_has_the_published_levels(adult, k, levels):
    found = solve(adult, SolveRequest(k, "full_domain", suppressed_rows=0.0))
    assert set(masks(found.patterns).tolist()) == {adult.level_fields.pattern_of(levels)}


@pytest.mark.parametrize(("k", "published"), [(2, 0.0239), (5, 0.0538), (10, 0.0779), (100, 0.1933)])
def test_greedy_local_recoding_loses_less_than_published(adult, k, published):
    found = solve(adult, SolveRequest(k, "greedy"))
    assert found.lower_bound < found.weighted_cost < published * CELLS
