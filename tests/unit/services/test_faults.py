"""Whatever statement fails or is cancelled, the whole call does, says so, and has no effect."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest

from kanon_pg.db.failures import QUERY_CANCELED
from kanon_pg.errors import DatabaseError, ReleaseBusy, ReleaseError
from tests.fixtures.memory import Cancelled, State
from tests.fixtures.memory.services import MemoryServices
from tests.fixtures.memory.tables import COLUMNS, people_tables, thing_tables

Operation = Callable[[MemoryServices], Any]

READING: dict[str, Operation] = {
    "measure": lambda s: s.measure("of_persons"),
    "audit": lambda s: s.audit("of_persons", 3),
    "identify": lambda s: s.identify("of_persons"),
    "is_anonymous": lambda s: s.is_anonymous("of_persons", 3),
    "suggest": lambda s: s.suggest("of_persons"),
    "risk": lambda s: s.risk("of_persons"),
    "curve": lambda s: s.curve("of_persons", ks=[3], method="greedy").points,
    "groups": lambda s: s.group("groups", "things", "name", 25),
    "intervals": lambda s: s.group("intervals", "things", "age", 25),
    "regions": lambda s: s.group("regions", "things", "name", "roads", 25),
    "rectangles": lambda s: s.group("rectangles", "things", "place", None, 25),
}
WRITING: dict[str, Operation] = {
    "declare": lambda s: s.declare("people", quasi_identifiers=COLUMNS, sensitive=["illness"]),
    "undeclare": lambda s: s.undeclare("of_persons"),
    "anonymize": lambda s: s.anonymize("of_persons", 4, method="greedy"),
    "anonymize again": lambda s: s.anonymize("of_persons", 6, release="before", method="greedy"),
    "anonymize with other columns": lambda s: s.anonymize(
        "of_persons", 4, release="before", quasi_identifiers=["age", "sex"], method="greedy"
    ),
    "certificate": lambda s: s.certificate("plain", time_limit=1),
    "refresh": lambda s: s.refresh("before"),
    "drop": lambda s: s.drop("before"),
}


@cache
def _prepared() -> State:
    services = MemoryServices()
    people_tables(services.state.table)
    thing_tables(services.state.table)
    services.declare(
        "of_persons", identifiers=["id"], quasi_identifiers=COLUMNS, sensitive=["illness"], entity="person"
    )
    services.anonymize("of_persons", 5, release="before", method="greedy")
    services.anonymize("people", 5, release="plain", quasi_identifiers=COLUMNS, method="greedy")
    services.state.grant("somebody", "safe.before")
    return services.state


def prepared() -> MemoryServices:
    return MemoryServices(_prepared().copy())


@pytest.fixture(params=[*READING, *WRITING])
def operation(request: pytest.FixtureRequest) -> Operation:
    return (READING | WRITING)[request.param]


def places(operation: Operation) -> Iterator[tuple[MemoryServices, int]]:
    """Yield fresh services for each statement of an operation, with its number."""
    services = prepared()
    operation(services)
    for number in range(1, len(services.memory.ran) + 1):
        yield prepared(), number


def test_whatever_statement_fails_nothing_more_is_done(operation: Operation) -> None:
    for services, number in places(operation):
        before = services.state.recorded()
        services.memory.fail_at(number, "XX000")
        with pytest.raises(DatabaseError) as raised:
            operation(services)
        failed_on = services.memory.names()[-1]
        assert raised.value.server_state == "XX000", failed_on
        assert (services.state.recorded(), len(services.memory.ran)) == (before, number), failed_on


def test_cancelling_any_statement_ends_the_call(operation: Operation) -> None:
    for services, number in places(operation):
        before = services.state.recorded()
        services.memory.fail_at(number, QUERY_CANCELED)
        with pytest.raises(Cancelled):
            operation(services)
        assert services.state.recorded() == before


@pytest.mark.parametrize("name", ["audit", "risk", "curve", "groups", "anonymize"])
def test_cancelling_a_search_ends_the_call(name: str) -> None:
    services = prepared()
    before = services.state.recorded()
    services.memory.cancel_at_checkpoint(1)
    with pytest.raises(Cancelled):
        (READING | WRITING)[name](services)
    assert services.state.recorded() == before


@pytest.mark.parametrize("name", READING)
def test_what_only_reads_works_where_nothing_can_be_written(name: str) -> None:
    services = prepared()
    services.memory.read_only = True
    before = services.state.copy()
    READING[name](services)
    assert services.state == before


# --- failures that mean something ---------------------------------------------------------------------------


def test_another_publication_of_the_same_name() -> None:
    services = prepared()
    services.memory.fail_on("lock_release_name", "40001")
    with pytest.raises(ReleaseBusy):
        services.anonymize("of_persons", 4, release="before", method="greedy")


def test_two_row_types_with_one_hash() -> None:
    services = prepared()
    services.memory.fail_on("index_mapping", "23505")
    with pytest.raises(ReleaseError, match="same 64-bit hash"):
        services.anonymize("of_persons", 4, method="greedy")


def test_readers_are_waited_for() -> None:
    services = prepared()
    services.memory.fail_on("lock_view", "55P03", "55P03")
    services.anonymize("of_persons", 4, release="before", method="greedy")
    assert services.memory.names().count("lock_view") == 3
    assert ("waiting for readers", None) in services.memory.phases


def test_a_view_with_other_columns_keeps_its_grants() -> None:
    services = prepared()
    services.anonymize("of_persons", 4, release="before", quasi_identifiers=["age"], method="greedy")
    names = services.memory.names()
    assert names.index("fetch_grants") < names.index("drop_safe_view") < names.index("grant_select")
    view = services.state.find("safe", "before")
    assert view is not None
    assert [column.name for column in view.columns] == ["age", "illness", "kanon_suppressed"]
    assert services.state.grants["somebody", view.oid, None]


def test_what_others_made_of_a_release_keeps_it() -> None:
    services = prepared()
    view = services.state.find("safe", "before")
    assert view is not None
    services.state.table("built_on_it", {"age": "integer"}, kind="v", reads=(view.oid,))
    before = services.state.recorded()
    for call in (
        lambda: services.drop("before"),
        lambda: services.anonymize(
            "of_persons", 4, release="before", quasi_identifiers=["age"], method="greedy"
        ),
    ):
        with pytest.raises(ReleaseError, match="Other objects depend on"):
            call()
        assert services.state.recorded() == before
