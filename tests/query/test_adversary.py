"""What an attacker learns who adapts to answers, about fifty victims, before a lockout."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from tests.fixtures.databases import Server
from tests.query.adversary.dashboard import QUERIES, ask_all, build_hospital, reasons_of
from tests.query.adversary.figures import attack
from tests.query.adversary.strategies import (
    NEAR_K,
    OTHERS,
    REFUSAL_BITS,
    VALUES,
    Strategy,
    fine_histogram,
    near_k,
    top_list,
)
from tests.query.adversary.town import EVE, Town, build

pytestmark = [pytest.mark.slow, pytest.mark.deep]

_GUESSED_FROM_MANY = (fine_histogram, top_list)
"""A figure about sixty people or more that an honest analyst gets, too, is a little about each of them."""


@pytest.fixture(scope="module")
def worlds(server: Server, kanon_template: str) -> Iterator[list[Town]]:
    with ExitStack() as stack:
        found = []
        for world in range(2):
            name = stack.enter_context(server.database(f"town{world}", kanon_template))
            admin = stack.enter_context(psycopg.connect(server.dsn(name), autocommit=True))
            found.append(build(server.dsn(name), admin, 3, world))
        stack.callback(found[0].admin.execute, f"drop role {EVE}".encode())
        yield found


@pytest.mark.parametrize("strategy", [*REFUSAL_BITS.values(), *NEAR_K.values(), *OTHERS.values(), *VALUES])
def test_at_most_one_of_fifty_attempts_tells_more_than_guessing(
    worlds: list[Town], strategy: Strategy
) -> None:
    found = attack(worlds, strategy, {})
    assert not found.explained
    assert found.learned <= (5 if strategy in _GUESSED_FROM_MANY else 1), found.line()
    assert found.asked >= 40 or all(lockout is not None for lockout in found.lockouts), found.line()


def test_without_what_is_expected_and_without_a_budget_a_set_near_k_tells(worlds: list[Town]) -> None:
    found = attack(worlds, near_k, {"margin": 1, "refusals": None, "near_refusals": None})
    assert found.learned > 1, found.line()


def test_a_dashboard_is_not_locked_out(server: Server, kanon_template: str) -> None:
    with (
        server.database("dashboard", kanon_template) as name,
        psycopg.connect(server.dsn(name), autocommit=True) as admin,
    ):
        build_hospital(admin, 10_000, {})
        with psycopg.connect(make_conninfo(server.dsn(name), user=EVE), autocommit=True) as session:
            oracle = ask_all(session, 1)
        assert not oracle.explained
        assert oracle.asked == QUERIES
        assert oracle.withheld < QUERIES / 4
        assert "budget" not in reasons_of(admin)
        admin.execute(f"drop owned by {EVE}".encode())
