"""Dives from prices, flows to open instances, regions with row types merged: what must be true of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kanon_pg.worker.classes import classes_of
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.solvers.annealing.assignment import problem_of
from kanon_pg.worker.solvers.annealing.graph import thin
from kanon_pg.worker.solvers.bounds.lagrangian import Counts, Pool, Usage, climb
from kanon_pg.worker.solvers.refinement.diving import dive
from kanon_pg.worker.solvers.refinement.flow import assign_to, reassign
from kanon_pg.worker.solvers.refinement.regions import layout_of, region_of
from kanon_pg.worker.verification.recount import recount
from tests.fixtures.searching import Ending, case_of, cost_after_recount

CASES = range(8)


def dived(case, clock=None, seed=0):
    return dive(case.search, clock or Clock(), seed=seed)


@pytest.mark.parametrize("seed", CASES)
def test_dives_are_valid_solutions(seed):
    case = case_of(seed, rows=60, k=2 + seed % 4)
    found = dived(case, seed=seed)
    assert found is not None
    assert cost_after_recount(case, found) >= (case.prices * case.table.rows).sum() / 1e6 - 1e-9


@pytest.mark.parametrize("seed", CASES)
def test_dives_keep_the_papers_rule_for_the_rest(seed):
    case = case_of(seed, rows=61, k=4)
    found = dive(replace(case.priceless, rest_may_be_small=True), Clock())
    parts = found.parts_of(case.table)
    classes = classes_of(parts, found.vector)
    recount(case.packed, found, classes.class_of)
    assert (classes.people[classes.vectors != (1 << case.table.width) - 1] >= case.k).all()


def test_equal_seeds_give_equal_dives():
    case = case_of(7, rows=60)
    for seed in (0, 3):
        one, other = dived(case, seed=seed), dived(case, seed=seed)
        assert np.array_equal(one.vector, other.vector)
        assert np.array_equal(one.rows, other.rows)


def test_a_dive_without_time_finds_nothing():
    assert dived(case_of(1), Ending(0)) is None


@pytest.mark.parametrize("seed", CASES)
def test_rows_are_assigned_to_given_instances_as_well_as_to_those_of_a_solution(seed):
    case = case_of(seed)
    _, held_by = problem_of(case.search, case.start)
    found = assign_to(case.search, np.unique(held_by))
    again = reassign(case.search, case.start)
    assert cost_after_recount(case, found) == pytest.approx(case.search.cost(again))


@pytest.mark.parametrize("seed", CASES)
def test_the_fully_suppressed_class_helps_out_where_instances_cannot_hold_all_rows(seed):
    case = case_of(seed)
    found = assign_to(case.search, np.array([0]))
    cost_after_recount(case, found)
    assert np.isin(found.vector, [case.graph.vector[0], (1 << case.table.width) - 1]).all()


def test_no_solution_is_assigned_to_instances_that_need_more_rows_than_there_are():
    case = case_of(2, rows=12, k=5)
    assert assign_to(case.search, np.arange(len(case.graph))) is None


def merged_regions():
    """Yield regions over all open classes of thinned graphs, where row types have few instances."""
    for seed in range(12):
        case = case_of(seed, rows=80, values=4)
        core = thin(case.search, case.start, 0.1)
        layout = layout_of(case.search.within(core), case.start)
        yield layout, region_of(layout, np.unique(layout.instance[layout.rows > 0]))


def test_row_types_with_the_same_instances_are_one_group_of_a_region():
    merged = 0
    for layout, region in merged_regions():
        types = np.unique(layout.row_type[region.pairs])
        instances = {int(one): [] for one in types}
        for pair in region.pairs:
            instances[int(layout.row_type[pair])].append(int(layout.instance[pair]))
        assert region.problem.rows.size == len({tuple(sorted(some)) for some in instances.values()})
        merged += types.size - region.problem.rows.size
    assert merged > 0


def test_rows_of_groups_are_handed_out_to_their_row_types():
    for layout, region in merged_regions():
        row_type = layout.row_type[region.pairs]
        rows = region.rows_of(region.start, row_type)
        assert (rows >= 0).all()
        assert np.array_equal(np.bincount(region.place, rows), np.bincount(region.place, region.inside))
        assert np.array_equal(np.bincount(row_type, rows), np.bincount(row_type, region.inside))


def test_usage_counts_the_groups_that_pay():
    """Two rows that must share a class are its only use; a costly class with the same members is none."""
    pool = Pool(np.array([1.0, 5.0]), np.array([0, 2, 4]), np.array([0, 1, 0, 1], dtype=np.int32))
    counts = Counts(np.array([1, 1]), np.array([1, 1]), 2)
    usage = Usage.of(pool)
    climb(pool, counts, np.array([2.0, 0.5]), np.full(2, 9.0), 2.5, 100, 1.0, Clock(), usage=usage)
    assert usage.share[0] > 0.0
    assert usage.share[1] == 0.0
