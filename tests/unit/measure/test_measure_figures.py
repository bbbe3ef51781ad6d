"""What is put together from the counts, without a server."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kanon_pg.measures import ClassFigures, SensitiveFigures, combine

COUNTS = ClassFigures(
    rows=12, people=9, classes=4, memberships=10, smallest=2, largest=4, discernibility=40, diversity=6.0
)
FIGURES = SensitiveFigures(
    distinct_l=3,
    entropy_l=2.5,
    frequency_l=2.0,
    t_equal=0.2,
    t_ordered=None,
    delta_disclosure=1.0,
    beta_likeness=0.5,
)


def test_sizes_and_risks_count_people_of_classes() -> None:
    found = combine(COUNTS, [])
    assert (found.rows, found.people, found.k, found.largest_class) == (12, 9, 2, 4)
    assert found.average_class == 2.5
    assert found.average_class_ratio == 1.25
    assert found.prosecutor_risk == found.journalist_risk == 0.5
    assert found.marketer_risk == pytest.approx(0.4)
    assert found.usefulness == 1.5


def test_without_sensitive_columns_their_figures_are_undefined() -> None:
    found = combine(COUNTS, [])
    assert {found.distinct_l, found.entropy_l, found.frequency_l, found.p} == {None}
    assert {found.t_equal, found.t_ordered, found.delta_disclosure, found.beta_likeness} == {None}


def test_the_worst_column_counts_figure_by_figure() -> None:
    other = replace(FIGURES, distinct_l=4, entropy_l=1.5, t_equal=0.3, t_ordered=0.1, beta_likeness=0.4)
    found = combine(COUNTS, [FIGURES, other])
    assert (found.distinct_l, found.p, found.entropy_l, found.frequency_l) == (3, 3, 1.5, 2.0)
    assert (found.t_equal, found.t_ordered, found.delta_disclosure, found.beta_likeness) == (
        0.3,
        0.1,
        1.0,
        0.5,
    )
