"""What an attacker learns who adapts to answers, about fifty victims, before a lockout."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import psycopg
import pytest

from tests.fixtures.databases import Server
from tests.query.adversary.figures import attack
from tests.query.adversary.strategies import REFUSAL_BITS, Strategy, distinct_values, percentiles
from tests.query.adversary.town import EVE, Town, build

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def town(server: Server, kanon_template: str) -> Iterator[Town]:
    with ExitStack() as stack:
        name = stack.enter_context(server.database("town", kanon_template))
        admin = stack.enter_context(psycopg.connect(server.dsn(name), autocommit=True))
        made = build(server.dsn(name), admin, seed=3)
        stack.callback(admin.execute, f"drop role {EVE}".encode())
        yield made


@pytest.mark.parametrize("strategy", [*REFUSAL_BITS.values(), distinct_values, percentiles])
def test_at_most_one_of_fifty_attempts_tells_more_than_guessing(town: Town, strategy: Strategy) -> None:
    found = attack(town, strategy, {})
    assert not found.explained
    assert found.learned <= 1, found.line()
    assert found.asked >= 20
