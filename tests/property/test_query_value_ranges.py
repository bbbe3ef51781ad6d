"""What is accepted as one range of an aggregated number is one in PostgreSQL, whatever it is composed of."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import psycopg
import pytest

from tests.fixtures.databases import Server
from tests.unit.query.shop import ask

CONSTANTS = ("-40", "-5.5", "0", "2", "3", "7.5", "20", "60", "1000")
ROUNDS = 400


class _Author:
    """Writes expressions over ``income``, most of them simple, many of them several ranges."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def constant(self) -> str:
        """Write a number."""
        return self._random.choice(CONSTANTS)

    def number(self, depth: int) -> str:
        """Write an expression that is a number."""
        if depth == 0 or self._random.random() < 0.4:
            return "income"
        inner, constant, other = self.number(depth - 1), self.constant(), self.constant()
        function = self._random.choice(("floor", "ceil", "round", "trunc", "sign", "abs", "-"))
        operator = self._random.choice("+-*/")
        extreme = self._random.choice(("greatest", "least"))
        second = self._random.choice((constant, self.number(depth - 1)))
        return self._random.choice(
            (
                f"({inner} {operator} {constant})",
                f"({constant} {operator} {inner})",
                f"{function}({inner})",
                f"round({inner}, -1)",
                f"{extreme}({inner}, {second})",
                f"coalesce({inner}, {constant})",
                f"nullif({inner}, {constant})",
                f"width_bucket({inner}, {constant}, {other}, 3)",
                f"({inner})::float8",
                f"({inner})::int",
                f"({self.condition(depth - 1)})::int",
                f"case when {self.condition(depth - 1)} then 1"
                f" when {self.condition(depth - 1)} then 2 else 3 end",
                f"case when {inner} < {constant} then 1 when {inner} <= {other} then 2 else 3 end",
                f"case when {inner} between {constant} and {other} then 1 when {inner} > {other} then 2 end",
            )
        )

    def condition(self, depth: int) -> str:
        """Write an expression that is a truth value."""
        left, right = self.number(depth), self._random.choice((self.constant(), self.number(depth)))
        operator = self._random.choice(("<", "<=", ">", ">=", "=", "<>", "is distinct from"))
        if depth == 0 or self._random.random() < 0.5:
            return f"({left} {operator} {right})"
        one, two = self.condition(depth - 1), self.condition(depth - 1)
        word = self._random.choice(("and", "or", "=", "<>", ">=", "is not distinct from"))
        test = self._random.choice(("is true", "is not true", "is false", "is not false", "is null"))
        return self._random.choice(
            (
                f"({one} {word} {two})",
                f"(not {one})",
                f"({one} {test})",
                f"({left} between {self.constant()} and {right})",
                f"({left} not between {self.constant()} and {right})",
                f"({left} in ({self.constant()}, {self.constant()}))",
                f"({left} is null)",
            )
        )


@pytest.fixture(scope="module")
def grid(server: Server) -> Iterator[psycopg.Connection[Any]]:
    """Yield a connection to a table of numbers close to each other, and of NULL."""
    with server.database("ranges") as name, psycopg.connect(server.dsn(name)) as connection:
        connection.execute(
            "create table people as select n / 4.0 as income from generate_series(-300, 600) n union all"
            " select n * 25.0 from generate_series(7, 50) n union all select null"
        )
        yield connection


def _pieces(values: list[bool]) -> int:
    """Return the number of ranges of true values; one value that is left out does not divide them."""
    runs = [(value, len(list(run))) for value, run in groupby(values)]
    gaps = [length for value, length in runs[1:-1] if not value]
    return (any(values)) + sum(length > 1 for length in gaps)


def _columns(connection: psycopg.Connection[Any], expression: str) -> list[Any]:
    query = f"select {expression} from people where income is not null order by income"
    return [row[0] for row in connection.execute(query).fetchall()]  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(2))
def test_accepted_conditions_take_one_range(grid: psycopg.Connection[Any], seed: int) -> None:
    author, accepted = _Author(seed), 0
    for _ in range(ROUNDS):
        condition = author.condition(3)
        if ask(f"select sum(income) from people where {condition}").accepted:
            accepted += 1
            assert _pieces([value is True for value in _columns(grid, condition)]) <= 1, condition
    assert accepted > ROUNDS / 20


@pytest.mark.parametrize("seed", range(2))
def test_accepted_groups_have_one_range_each(grid: psycopg.Connection[Any], seed: int) -> None:
    author, accepted = _Author(seed + 100), 0
    for count in range(ROUNDS):
        key = author.number(3) if count % 2 else author.condition(2)
        if ask(f"select {key} as g, sum(income) from people group by 1").accepted:
            accepted += 1
            found = _columns(grid, key)
            for label in {*found} - {None}:
                assert _pieces([value == label for value in found]) <= 1, (key, label)
    assert accepted > ROUNDS / 20


def test_the_grid_shows_several_ranges(grid: psycopg.Connection[Any]) -> None:
    condition = "(income < 10) = (income < 1000)"
    assert _pieces([bool(value) for value in _columns(grid, condition)]) == 2
    assert not ask(f"select sum(income) from people where {condition}").accepted
