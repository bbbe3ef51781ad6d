"""Arguments that are valid for SQL and beyond what Python takes for granted end in a sentence."""

import pytest

from kanon_pg.db.psycopg_adapter import mapped_errors
from kanon_pg.errors import InputError
from tests.fixtures.interfaces import Interface

PATTERNS = {
    "thousands of digits": "('[1' || repeat('0', 6000) || ']')",
    "nested thousands of times": "(repeat('[', 5000) || repeat(']', 5000))",
    "infinite": "'[[1e999]]'",
}


@pytest.fixture
def people(interface: Interface) -> Interface:
    interface.connection.execute(
        "create table people as select i % 3 as age from generate_series(1, 30) as i"
    )
    return interface


@pytest.mark.parametrize("pattern", PATTERNS.values(), ids=PATTERNS)
def test_extreme_json_is_refused(people: Interface, pattern: str) -> None:
    query = f"select kanon_anonymize('people', 5, patterns => {pattern}::jsonb)"
    with pytest.raises(InputError) as raised, mapped_errors():
        people.connection.execute(query.encode())
    assert raised.value.hint is not None


def test_a_negative_seed_is_refused(people: Interface) -> None:
    with pytest.raises(InputError, match="seed"):
        people.anonymize("people", 5, seed=-1)


@pytest.mark.parametrize("weight", [10**400, 1e300, 0, -1, True])
def test_weights_that_no_cost_can_hold_are_refused(people: Interface, weight: float) -> None:
    with pytest.raises(InputError, match="weight") as raised:
        people.declare("people", quasi_identifiers=["age"], weights={"age": weight})
    assert raised.value.hint is not None
