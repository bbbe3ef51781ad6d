"""Clocks that end with others, or earlier."""

import pytest

from kanon_pg.worker.clock import Clock


@pytest.mark.parametrize(("whole", "wanted", "most"), [(100.0, 2.0, 2.0), (2.0, 100.0, 2.0), (0.0, 5.0, 0.0)])
def test_a_limited_clock_ends_with_the_earlier_end(whole, wanted, most):
    left = Clock(whole).limited_to(wanted).left()
    assert left is not None
    assert most - 1.0 < left <= most


def test_where_time_is_not_limited_no_part_of_it_is():
    assert Clock().limited_to(0.0).left() is None


def test_a_limited_clock_tells_the_one_it_is_made_from_that_it_cut_something():
    clock = Clock(100.0)
    assert clock.limited_to(0.0).is_over()
    assert clock.has_cut
    assert not clock.is_over()
