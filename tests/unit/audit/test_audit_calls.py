"""Searches as they are called: refusals, entities, deadlines, cancelling, equal answers."""

import numpy as np
import pytest

from kanon_pg.worker.audit.auditor import figures_of
from kanon_pg.worker.audit.identifying import (
    smallest_identifying_set,
)
from kanon_pg.worker.audit.risk import minimal_uniques, risk_of
from kanon_pg.worker.audit.violating import find_violating_sets
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.row_types import RowTypeTable
from tests.fixtures.auditing import read
from tests.fixtures.diversity import pack_sensitive

ROWS = [("a", 1, None), ("a", 1, "x"), ("a", 2, "x"), ("b", 2, "x"), ("b", 2, None), ("b", 1, None)]


def scattered_rows(rows=400, columns=14, seed=1):
    numbers = np.random.default_rng(seed).random((rows, columns)) < 0.4
    return [tuple(int(number) for number in row) for row in numbers]


def scattered():
    return read(scattered_rows())


def figures(table, columns, k):
    ((_, counted),) = figures_of(table, [columns], k)
    return counted


def test_rows_of_nobody_count_as_one_person():
    assert find_violating_sets(read(ROWS, [None] * 6), 2).sets == ((),)
    table = read([("a",), ("a",), ("b",), ("b",)], ["p", "q", None, None])
    assert find_violating_sets(table, 2).sets == ((0,),)
    assert figures(table, (0,), 2).people_at_risk == 1
    assert risk_of(table, [0]).prosecutor.highest == 1


def test_no_time_at_all_is_honest():
    table, over = scattered(), Clock(0.0)
    found = find_violating_sets(table, 2, over)
    assert (found.sets, found.is_complete, found.complete_columns) == ((), False, 0)
    smallest = smallest_identifying_set(table, over)
    assert smallest.lower_bound <= len(smallest_identifying_set(table).columns) <= len(smallest.columns)
    assert minimal_uniques(table, range(table.width), over).complete_columns == 0


@pytest.mark.parametrize(
    "search",
    [
        lambda table, clock: find_violating_sets(table, 2, clock),
        smallest_identifying_set,
        lambda table, clock: minimal_uniques(table, range(table.width), clock),
    ],
)
def test_progress_cancels(search):
    class CancelledError(Exception):
        pass

    def progress(phase, share):
        raise CancelledError

    with pytest.raises(CancelledError):
        search(scattered(), Clock(None, progress))


def test_equal_calls_give_equal_answers():
    assert find_violating_sets(scattered(), 3) == find_violating_sets(scattered(), 3)
    assert smallest_identifying_set(scattered()) == smallest_identifying_set(scattered())


def test_homogeneous_classes_and_uniques():
    letters, secrets = "aabbc", ["flu", "flu", "flu", "cold", "flu"]
    packed = pack_sensitive([(letter,) for letter in letters], [(secret,) for secret in secrets])
    table = RowTypeTable.from_packed(packed)
    risk = risk_of(table, [0], threshold=0.5)
    (homogeneous,) = risk.homogeneous
    assert (homogeneous.classes, homogeneous.people, homogeneous.rows) == (2, 3, 3)
    assert risk.sample_uniques == 1
    assert risk.prosecutor.people_above == 1
    assert minimal_uniques(table, [0]).sets_by_size == (1,)


def test_a_sample_of_everybody_is_the_population():
    table = scattered()
    assert risk_of(table, range(4), sampling_fraction=1.0).journalist == risk_of(table, range(4)).prosecutor
    half = risk_of(table, range(4), sampling_fraction=0.5)
    assert half.marketer < half.prosecutor.average
