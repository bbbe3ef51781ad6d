"""Figures with sums of squares are about more than k people; the documentation says how many, and why."""

from __future__ import annotations

import re
from itertools import combinations_with_replacement
from math import comb
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from kanon_pg.queries.check.checker import Options
from kanon_pg.queries.check.functions import AGGREGATES, PAIRS, SPREADS
from tests.unit.query.shop import accepted, counted

PEOPLE = 1
PAGE = Path(__file__).parents[3] / "docs" / "threat-model-queries.md"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("select stddev(age) from people", {("people", PEOPLE, 5), ("filter", PEOPLE, 12)}),
        ("select sum(age), corr(income, age) from people", {("people", PEOPLE, 5), ("filter", PEOPLE, 12)}),
        ("select variance(income) from people", {("people", PEOPLE, 5), ("filter", PEOPLE, 12)}),
        (
            "select stddev(age) filter (where member) from people",
            {("people", PEOPLE, 5), ("filter", PEOPLE, 12), ("complement", PEOPLE, 12)},
        ),
        (
            "select stddev(age), count(*) filter (where member) from people",
            {("people", PEOPLE, 5), ("filter", PEOPLE, 12), ("filter", PEOPLE, 5), ("complement", PEOPLE, 5)},
        ),
    ],
)
def test_the_people_of_spreads_are_counted(text: str, expected: set[tuple[str, int, int]]) -> None:
    found = counted(text)
    assert expected <= found
    assert max(minimum for _, _, minimum in found) == 12


@pytest.mark.parametrize("mode", ["reject", "suppress"])
def test_what_the_spreads_of_an_answer_tell_apart_is_counted(mode: str) -> None:
    """The spread of all less that of some is one of the others: 12 people, or nobody."""
    options = Options(mode=mode)  # type: ignore[arg-type]
    one = "stddev(age) filter (where member)"
    assert ("complement", PEOPLE, 12) in counted(f"select stddev(age), {one} from people", options)
    two = f"select stddev(age), {one}, variance(age) filter (where age > 3), count(income) from people"
    of_cells = [item.minimum for item in accepted(two, options).hidden if item.what == "complement"]
    assert {5, 12} == set(of_cells)
    assert ("kanon_cells_1_of_spreads" in (accepted(two, options).canonical_sql or "")) == (mode == "reject")


def test_which_sets_are_behind_spreads() -> None:
    text = "select stddev(age), sum(age) filter (where member), variance(income) from people"
    (item,) = (item for item in accepted(text).entity_sets if item.kind == "groups")
    figures = (item.figures, *item.filters)
    assert [figures[place] for place in item.spreads] == [("stddev(age)",), ("variance(income)",)]


def test_every_aggregate_with_squares_is_one() -> None:
    assert {name for name in AGGREGATES if "dev" in name or "var" in name} | PAIRS == SPREADS


def fixed(values: int, people: int) -> list[float]:
    """Return of how many sets of 1 to `people` people, each with one of `values` values, all values follow.

    Each set is as likely as its values drawn at random, one after the other. Its values follow if no other
    multiset has the same sum and the same sum of squares.
    """
    largest = values - 1
    shape = (largest * people + 1, largest**2 * people + 1)
    multisets = np.zeros((people + 1, *shape))
    multisets[0, 0, 0] = 1
    for value in range(values):
        for size in range(1, people + 1):
            multisets[size] += _moved(multisets[size - 1], value)
    drawn, found = np.zeros(shape), []
    drawn[0, 0] = 1
    for size in range(1, people + 1):
        drawn = sum((_moved(drawn, value) for value in range(values)), np.zeros(shape)) / values
        found.append(float(drawn[multisets[size] == 1].sum()))
    return found


def _moved(table: npt.NDArray[np.float64], value: int) -> npt.NDArray[np.float64]:
    moved = np.zeros_like(table)
    moved[value:, value**2 :] = table[: table.shape[0] - value, : table.shape[1] - value**2]
    return moved


def test_the_enumeration_is_right_for_small_sets() -> None:
    sets = list(combinations_with_replacement(range(6), 3))
    sums = [(sum(one), sum(value**2 for value in one)) for one in sets]
    unique = [one for one, found in zip(sets, sums, strict=True) if sums.count(found) == 1]
    orders = [6 if len(set(one)) == 3 else 3 if len(set(one)) == 2 else 1 for one in unique]
    assert len(sets) == comb(8, 3)
    assert fixed(6, 3)[2] == pytest.approx(sum(orders) / 6**3)


def test_the_table_of_the_documentation_is_enumerated() -> None:
    rows = re.findall(r"^\| 0 to (\d+) \| (.*) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert [int(largest) for largest, _ in rows] == [4, 9, 20]
    for largest, cells in rows:
        shares = fixed(int(largest) + 1, 12)
        shown = [cell.strip() for cell in cells.split("|")]
        assert shown == [f"{100 * shares[size - 1]:.2f}" for size in (2, 3, 4, 5, 6, 8, 10, 12)]


def test_a_pair_with_one_value_takes_no_part() -> None:
    """Neither IS NULL nor IS NOT NULL is true of it, so IS NULL would not find whom the figure leaves out."""
    verdict = accepted("select corr(income, age), count(*) from people")
    of_pairs = [item.sql for item in verdict.entity_sets if "ROW(" in item.sql]
    assert of_pairs
    for sql in of_pairs:
        assert re.search(r"FILTER \(WHERE \(\(\(ROW\(.*?\) IS NOT NULL\)\) IS NOT TRUE\)\)", sql)
        assert not re.search(r"ROW\([^;]*?\)\) IS NULL", sql)
