"""Whatever is added and subtracted among the figures of one answer is about nobody or at least k people.

The figures of an answer are equations about the rows of the table: each is a linear combination of unknown
values. This test builds random queries with several figures, groupings and filters, asks them, and if
they are answered, computes by linear algebra whether some combination of the figures depends on the rows of
fewer than k people. It knows nothing of how the checker counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import psycopg
import pytest
from hypothesis import HealthCheck, assume, event, example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from kanon_pg.queries.check.checker import Options, check
from tests.fixtures.databases import Server
from tests.fixtures.examples import examples
from tests.property.test_query_people import CATALOG, CONDITIONS, KEYS, K, Row, answered

pytestmark = pytest.mark.slow

Coefficients = tuple[float, float, float]
"""Of a row in a figure: of its x (0 where it is NULL), of its c, and of its being there."""


@dataclass(frozen=True)
class Figure:
    """An aggregate, and what a row contributes to it."""

    text: str
    of: Callable[[Row], Coefficients]


def _value(row: Row, factor: float = 1.0) -> Coefficients:
    return (factor, 0, 0) if row.x is not None else (0, 0, 0)


FIGURES = (
    Figure("count(*)", lambda row: (0, 0, 1)),
    Figure("count(x)", lambda row: (0, 0, 1) if row.x is not None else (0, 0, 0)),
    Figure("sum(x)", _value),
    Figure("sum(2 * x)", lambda row: _value(row, 2)),
    Figure("sum(c)", lambda row: (0, 1, 0)),
    Figure("sum(x + c)", lambda row: (1, 1, 0) if row.x is not None else (0, 0, 0)),
    Figure("sum(c - 0 * x)", lambda row: (0, 1, 0) if row.x is not None else (0, 0, 0)),
    Figure("sum(coalesce(x, 7))", lambda row: (1, 0, 0) if row.x is not None else (0, 0, 7)),
    Figure("sum(c * b)", lambda row: (0, row.b, 0)),
    Figure("sum(x::numeric / nullif(b, 0))", lambda row: _value(row, 1 / row.b if row.b else 0)),
)
MASKS = tuple(sorted(CONDITIONS))


def _masked(figure: Figure, condition: str) -> Figure:
    holds = CONDITIONS[condition]
    return Figure(
        f"{figure.text} filter (where {condition})", lambda row: figure.of(row) if holds(row) else (0, 0, 0)
    )


def _case(condition: str) -> Figure:
    holds = CONDITIONS[condition]
    text = f"sum(case when {condition} then x else 0 end)"
    return Figure(text, lambda row: _value(row) if holds(row) else (0, 0, 0))


PLAIN = st.sampled_from(FIGURES)
MASK = st.sampled_from(MASKS)
ANY_FIGURE = st.one_of(PLAIN, st.builds(_masked, PLAIN, MASK), st.builds(_case, MASK))
ROWS = st.lists(
    st.builds(
        Row, st.integers(1, 24), st.sampled_from("uvw"), st.integers(0, 3), st.none() | st.integers(0, 4)
    ),
    min_size=20,
    max_size=70,
)
CHOSEN = st.lists(st.sampled_from(sorted(KEYS)), unique=True, max_size=2)
FORM = st.sampled_from(["plain", "rollup", "cube", "sets"])


def groupings(keys: list[str], form: str) -> list[list[str]]:
    if form == "rollup":
        return [keys[:length] for length in range(len(keys) + 1)]
    if form == "cube":
        return [list(part) for length in range(len(keys) + 1) for part in combinations(keys, length)]
    return [[key] for key in keys] if form == "sets" else [keys]


def query(keys: list[str], form: str, figures: list[Figure]) -> str:
    outputs = [*(f"({key})" for key in keys), *(figure.text for figure in figures)]
    parts = ", ".join(f"({key})" for key in keys)
    word = {"plain": "", "rollup": "rollup ", "cube": "cube ", "sets": "grouping sets "}[form]
    grouping = "" if not keys else f" group by {word}({parts})" if word else f" group by {parts}"
    return f"select {', '.join(outputs)} from facts{grouping}"


def equations(rows: list[Row], keys: list[str], form: str, figures: list[Figure]) -> NDArray[np.float64]:
    """Return one line per figure disclosed, with three unknowns for each row of the table."""
    lines = []
    for grouping in groupings(keys, form) if keys else [[]]:
        groups: dict[tuple[Any, ...], list[int]] = {}
        for place, row in enumerate(rows):
            groups.setdefault(tuple(KEYS[key](row) for key in grouping), []).append(place)
        for members in groups.values():
            for figure in figures:
                line = np.zeros((len(rows), 3))
                line[members] = [figure.of(rows[place]) for place in members]
                lines.append(line.reshape(-1))
    return np.array(lines)


def is_about_few(lines: NDArray[np.float64], rows: list[Row]) -> bool:
    """Tell whether some combination of the lines is zero but for the rows of fewer than k people."""
    _, values, basis = np.linalg.svd(lines, full_matrices=False)
    basis = basis[values > 1e-9 * max(values[0], 1)]
    owner = np.repeat([row.person for row in rows], 3)
    everyone = sorted({row.person for row in rows})
    for few in combinations(everyone, K - 1):
        outside = basis[:, ~np.isin(owner, few)]
        if np.linalg.matrix_rank(outside, tol=1e-7) < len(basis):
            return True
    return False


@pytest.fixture(scope="module")
def facts(server: Server) -> Iterator[psycopg.Connection[Any]]:
    with (
        server.database("query_equations") as name,
        psycopg.connect(server.dsn(name), autocommit=True) as made,
    ):
        made.execute(
            "create table facts (person int not null, a text not null, b int not null, x int, c int not null)"
        )
        yield made


def _people(groups: list[tuple[int, str, int, int | None]]) -> list[Row]:
    """Make rows, one person each, from (how many, a, b, x)."""
    made = [(a, b, x) for number, a, b, x in groups for _ in range(number)]
    return [Row(person, *values) for person, values in enumerate(made, 1)]


ONE_IN_NEITHER = _people([(4, "u", 2, 1), (4, "v", 0, 1), (1, "v", 1, 2)])
ONE_WITHOUT_VALUE = _people([(5, "u", 1, 1), (1, "u", 2, None), (4, "v", 2, 3)])
ONE_WITH_VALUE = _people([(5, "v", 2, None), (1, "v", 2, 3), (5, "u", 0, 2)])


@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ROWS, CHOSEN, FORM, st.lists(ANY_FIGURE, min_size=1, max_size=4))
@example(
    ONE_IN_NEITHER, [], "plain", [FIGURES[2], _masked(FIGURES[2], MASKS[0]), _masked(FIGURES[2], MASKS[1])]
)
@example(ONE_WITHOUT_VALUE, [], "plain", [FIGURES[4], FIGURES[6]])
@example(ONE_WITH_VALUE, [], "plain", [FIGURES[2], _masked(FIGURES[2], "not (a = 'v' and b = 2)")])
@example(ONE_IN_NEITHER, ["a", "b"], "sets", [FIGURES[2]])
def test_no_combination_of_figures_is_about_fewer_than_k_people(
    facts: psycopg.Connection[Any], rows: list[Row], keys: list[str], form: str, figures: list[Figure]
) -> None:
    text = query(keys, form, figures)
    # a weight b beside a group by b and another column is refused by its text
    assume(check(text, CATALOG).accepted)
    found = answered(facts, rows, text, Options())
    event("answered" if found is not None else "refused")
    if found is not None:
        assert not is_about_few(equations(rows, keys, form, figures), rows)


def test_enough_people_everywhere_are_answered(facts: psycopg.Connection[Any]) -> None:
    rows = _people([(3, a, b, x) for a in "uvw" for b in range(4) for x in (1, 2, None)])
    figures = [FIGURES[2], _masked(FIGURES[2], "b > 1"), _case("not (a = 'v' and b = 2)"), FIGURES[5]]
    for form in ("plain", "rollup", "cube", "sets"):
        keys = ["a", "b % 2 = 0"]
        assert answered(facts, rows, query(keys, form, figures), Options()) is not None
        assert not is_about_few(equations(rows, keys, form, figures), rows)


def test_one_person_left_over_is_found() -> None:
    total, one, other = (FIGURES[2], _masked(FIGURES[2], "b > 1"), _masked(FIGURES[2], "a = 'u' or b = 0"))
    assert is_about_few(equations(ONE_IN_NEITHER, [], "plain", [total, one]), ONE_IN_NEITHER) is False
    rows = _people([(4, "w", 2, 1), (4, "v", 0, 1), (1, "v", 1, 2)])
    assert is_about_few(equations(rows, [], "plain", [total, one, other]), rows)
