"""Dives from prices, flows to open instances, regions with row types merged: what must be true of them."""

from dataclasses import replace

import numpy as np
import pytest

from kanon_pg.worker.classes import classes_of
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.solvers.annealing.assignment import problem_of
from kanon_pg.worker.solvers.refinement.diving import dive
from kanon_pg.worker.solvers.refinement.flow import assign_to, reassign
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
