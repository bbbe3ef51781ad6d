"""Charts show what they say they show, however much there is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_pg.audit.findings import ViolatingSet
from kanon_pg.reports.assemble import MOST_COLUMNS, MOST_LINES, MOST_SETS, drawable, report, sets_section
from kanon_pg.reports.costs import curve_section
from kanon_pg.reports.document import (
    Bar,
    BarChart,
    BarGroup,
    PageFigure,
    Section,
    SetMatrix,
    Table,
    html_page,
)
from tests.fixtures.audit_reports import antichain, audit_of, curve_of, parsed, violating
from tests.fixtures.examples import examples

NAMES = [f"column_{place}" for place in range(60)]
some_sets = st.lists(
    st.tuples(st.sets(st.sampled_from(NAMES[:25]), min_size=1, max_size=6), st.none() | st.integers(1, 900)),
    min_size=1,
    max_size=60,
).map(lambda drawn: [violating(sorted(columns), people) for columns, people in drawn])


@settings(max_examples=examples(60))
@given(some_sets)
def test_what_is_drawn_follows_the_rule(sets: list[ViolatingSet]) -> None:
    shown = drawable(sets)
    assert 1 <= len(shown) <= MOST_SETS
    assert [found.size for found in shown] == sorted(found.size for found in shown)
    assert not Counter(shown) - Counter(sets)
    columns = {name for found in shown for name in found.columns}
    assert len(columns) <= MOST_COLUMNS or len(shown) == 1
    if len(shown) < min(len(sets), MOST_SETS):
        rest = Counter(sets) - Counter(shown)
        assert all(len(columns | set(found.columns)) > MOST_COLUMNS for found in rest)


def matrix_of(sets: Sequence[ViolatingSet]) -> SetMatrix:
    (figure,) = sets_section(audit_of(NAMES, sets)).figures
    assert isinstance(figure.chart, SetMatrix)
    return figure.chart


@settings(max_examples=examples(60))
@given(some_sets)
def test_a_line_has_a_dot_for_each_of_its_columns(sets: list[ViolatingSet]) -> None:
    matrix, shown = matrix_of(sets), drawable(sets)
    lines = [line for _, level in matrix.levels for line in level]
    assert [line.columns for line in lines] == [frozenset(found.columns) for found in shown]
    for line in lines:
        marks = [mark.split() for mark in matrix.marks(line)]
        named = {name for name, mark in zip(matrix.columns, marks, strict=True) if mark[0] == "in"}
        assert named == line.columns
        joined = [mark for mark in marks if mark[0] != "out"]
        assert ("first" in joined[0], "last" in joined[-1]) == (True, True)
        assert marks.index(joined[0]) + len(joined) - 1 == len(marks) - 1 - marks[::-1].index(joined[-1])
    counted = any(found.people_at_risk for found in shown)
    assert max(matrix.share(line.bar.value) for line in lines) == int(counted)


@pytest.mark.parametrize("count", [1, 10, 24, 25, 400])
def test_a_page_says_what_it_leaves_out(count: int) -> None:
    sets = antichain(NAMES[:12], count)
    page = parsed(html_page(report(audit_of(NAMES[:12], sets))))
    (figure,) = [node for node in page.all("figure") if node["id"] == "lattice"]
    assert (f"Drawn: {len(drawable(sets))} of {count} sets" in figure.text) == (count > MOST_SETS)
    rows = figure.all("tbody")[0].all("tr")
    assert len(rows) == min(count, MOST_LINES)
    assert (f"{count - MOST_LINES} sets more" in figure.text) == (count > MOST_LINES)


def test_a_single_set_of_many_columns_is_drawn() -> None:
    matrix = matrix_of([violating(NAMES, 3)])
    ((_, (line,)),) = matrix.levels
    assert [mark.split()[0] for mark in matrix.marks(line)] == ["in"] * 60


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=15))
def test_bars_are_as_long_as_their_values(values: list[int]) -> None:
    chart = BarChart((BarGroup("", tuple(Bar(value, f"{value:,}", "risk") for value in values)),))
    figure = PageFigure("bars", "Bars", "How long they are.", chart, Table("", ("value",), ()))
    page = parsed(html_page(replace(report(audit_of()), sections=(Section("bars", "Bars", (), (figure,)),))))
    lines = [node for node in page.all("span") if node.attributes.get("class") == "bar"]
    for line, value in zip(lines, values, strict=True):
        drawn = [float((node["width"] or "").rstrip("%")) for node in line.all("svg")]
        assert len(drawn) == (value > 0)
        assert drawn == [pytest.approx(66 * value / (max(values) or 1), abs=0.34)] * len(drawn)
        assert line.text.strip() == f"{value:,}"


@pytest.mark.parametrize("ks", [[2], [2, 3], [2, 3, 5, 10, 50], list(range(2, 80))])
def test_a_curve_has_a_bar_for_each_k(ks: list[int]) -> None:
    curve = curve_of(ks)
    (figure,) = curve_section(curve, 5).figures
    assert isinstance(figure.chart, BarChart)
    (bars,) = [group.bars for group in figure.chart.groups]
    assert [bar.label for bar in bars] == [f"k = {k}" for k in ks]
    lengths = [figure.chart.share(bar.value) for bar in bars]
    assert lengths == sorted(set(lengths))
    assert [bar.proven == bar.value for bar in bars] == [point.optimal for point in curve.points]
    assert len(figure.chart.legend) == (2 if len(ks) > 1 else 1)
