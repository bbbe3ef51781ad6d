"""Every bad input has a sentence, a hint and an SQLSTATE of its own, and no effect."""

from __future__ import annotations

import pytest

from kanon_pg.errors import KanonError, by_sqlstate
from tests.fixtures.memory.refusals import ALL_CASES, Case
from tests.fixtures.memory.services import MemoryServices
from tests.fixtures.memory.tables import (
    declare_all,
    odd_tables,
    people_tables,
    special_relations,
    thing_tables,
)


@pytest.fixture(scope="module")
def services() -> MemoryServices:
    found = MemoryServices()
    for make in (people_tables, thing_tables, odd_tables, special_relations):
        make(found.state.table)
    declare_all(found)
    return found


@pytest.mark.parametrize("case", ALL_CASES, ids=lambda case: case.title)
def test_refusal(services: MemoryServices, case: Case) -> None:
    before = services.state.recorded()
    with pytest.raises(KanonError) as raised:
        case.call(services)
    assert (type(raised.value), raised.value.message) == (case.kind, case.sentence)
    assert by_sqlstate(raised.value.sqlstate) is case.kind
    assert raised.value.hint
    assert services.state.recorded() == before
