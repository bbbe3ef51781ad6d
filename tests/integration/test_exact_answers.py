"""Exact answers of the real functions, held against the reference judge on random tables and queries."""

from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from kanon_pg.admin.install.installer import install
from tests.fixtures.databases import Server, role
from tests.fixtures.exact_worlds import ANALYST, REFUSED, WITHHELD, ExactWorld, Told, exact_world
from tests.fixtures.examples import examples
from tests.query.blocks import Block, Rows, columns_of
from tests.query.judge import Answer, Judge
from tests.query.random_blocks import TABLES, K, Meter, alike, blocks, changes, other_secrets, owner, worlds

_MOST_WITHHELD = 0.25
"""In tables of nine people, some of whom share a bucket of the sketches."""


@pytest.fixture(scope="module")
def exact(server: Server) -> Iterator[ExactWorld]:
    """Yield the tables of random blocks, protected, and an analyst."""
    with server.database("exact") as name:
        dsn = server.dsn(name)
        install(dsn, plpython=True)
        with role(dsn, ANALYST, "IN ROLE kanon_analyst") as analyst, exact_world(dsn, analyst) as world:
            yield world


@settings(max_examples=examples(40), suppress_health_check=list(HealthCheck))
@given(worlds(), st.data())
def test_the_judge_objects_to_nothing_that_is_shown(
    exact: ExactWorld, world: Rows, data: st.DataObject
) -> None:
    judge = Judge(TABLES.values(), world, K)
    exact.begin(world)
    asked: list[Block] = []
    for place in range(data.draw(st.integers(1, 4))):
        is_near = bool(asked) and data.draw(st.booleans())
        asked.append(data.draw(alike(data.draw(st.sampled_from(asked))) if is_near else blocks()))
        if place and data.draw(st.integers(0, 3)) == 0:
            happened = data.draw(changes(judge.rows))
            exact.change(happened)
            for change in happened:
                judge.change(change)
        told = exact.ask(asked[-1])
        assert told.code in ("", REFUSED, WITHHELD), told
        if told.is_of_then:
            continue
        assert judge.show(asked[-1], list(told.rows)) == []
        assert_figures(judge.read(asked[-1]), told)


def assert_figures(answer: Answer, told: Told) -> None:
    """Demand that what is shown is what the definition says: as in SQL, rounded or a mean of the nearest."""
    for key, figures in told.rows.items():
        for figure, value in zip(answer.block.figures, figures, strict=True):
            wanted = answer.value(key, figure)
            if wanted is None:
                assert value is None, (key, figure)
            else:
                assert value == pytest.approx(float(wanted)), (key, figure)


@settings(max_examples=examples(20), suppress_health_check=list(HealthCheck))
@given(worlds(), blocks(("count", "people")), st.integers(0, 1000))
def test_secrets_do_not_decide_where_they_choose_nothing(
    exact: ExactWorld, world: Rows, block: Block, seed: int
) -> None:
    secret = {column for table in TABLES.values() for column in table.secret}
    named = {
        *block.keys,
        *columns_of(block.where),
        *(c for one in block.figures for c in columns_of(one.chosen)),
    }
    assume(not secret & {column.name for column in named})
    everybody = {owner("patients", row) for row in world["patients"]}
    told = []
    for rows in (world, other_secrets(world, everybody, Random(seed))):
        exact.begin(rows)
        told.append(exact.ask(block))
    assert told[0] == told[1]


def test_little_more_is_withheld_than_the_judge_withholds(exact: ExactWorld) -> None:
    meter = Meter()

    @settings(max_examples=examples(30), suppress_health_check=list(HealthCheck))
    @given(worlds(6, 9), st.lists(blocks(), min_size=1, max_size=3))
    def ask(world: Rows, asked: list[Block]) -> None:
        judge = Judge(TABLES.values(), world, K)
        exact.begin(world)
        for block in asked:
            told = exact.ask(block)
            if told.code != REFUSED and not told.is_of_then:
                meter.add(judge, block, list(told.rows))
                judge.show(block, list(told.rows))

    ask()
    assert meter.possible > 0
    assert meter.withheld <= _MOST_WITHHELD
