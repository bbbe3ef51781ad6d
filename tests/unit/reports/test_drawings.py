"""Drawings show what they say they show, however much there is."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_pg.audit.findings import ViolatingSet
from kanon_pg.reports.assemble import report
from kanon_pg.reports.charts import MOST_COLUMNS, MOST_SETS, Bar, bar_chart, curve_chart, drawable, set_matrix
from kanon_pg.reports.page import html_page
from kanon_pg.reports.sets import MOST_LINES
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


@settings(max_examples=examples(60))
@given(some_sets)
def test_a_line_has_a_dot_for_each_of_its_columns(sets: list[ViolatingSet]) -> None:
    shown = drawable(sets)
    picture = set_matrix(shown, NAMES, Counter(found.size for found in sets))
    dots = [node for node in picture if node.tag == "circle" and node.get("class") == "mark risk"]
    lines = Counter(dot.get("cy") for dot in dots)
    assert sorted(lines.values()) == sorted(found.size for found in shown)
    joined = [node for node in picture if node.tag == "line" and node.get("class") == "join"]
    assert len(joined) == sum(found.size > 1 for found in shown)
    bars = [node for node in picture if node.tag == "rect"]
    assert len(bars) == sum(found.people_at_risk is not None for found in shown)


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
    (found,) = drawable([violating(NAMES, 3)])
    picture = set_matrix([found], NAMES, Counter([60]))
    places = {dot.get("cx") for dot in picture.iter("circle")}
    assert len(places) == 60


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=15))
def test_bars_are_as_long_as_their_values(values: list[int]) -> None:
    picture = bar_chart([Bar(str(value), value, f"{value:,}", "risk") for value in values])
    widths = [float((node.get("width") or "").rstrip("%")) for node in picture.iter("rect")]
    positive = [value for value in values if value]
    assert len(widths) == len(positive)
    for width, value in zip(widths, positive, strict=True):
        assert width == pytest.approx(66 * value / max(values), abs=0.41)
    texts = [node.text for node in picture.iter("text")]
    assert [text for text in texts if text is not None][1::2] == [f"{value:,}" for value in values]


@pytest.mark.parametrize("ks", [[2], [2, 3], [2, 3, 5, 10, 50], list(range(2, 80))])
def test_a_curve_has_a_dot_for_each_k(ks: list[int]) -> None:
    curve = curve_of(ks)
    picture = curve_chart(curve)
    dots = [node for node in picture if node.tag == "circle" and node.get("r") == "5"]
    legend = 2 if any(not point.optimal for point in curve.points) else 1
    places = [float((dot.get("cx") or "").rstrip("%")) for dot in dots[legend:]]
    assert len(places) == len(ks)
    assert places == sorted(set(places))
    heights = [float(dot.get("cy") or "") for dot in dots[legend:]]
    assert heights == sorted(heights, reverse=True)
    kinds = [dot.get("class") == "mark safe" for dot in dots[legend:]]
    assert kinds == [point.optimal for point in curve.points]
