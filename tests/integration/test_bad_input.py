"""Every bad input has a sentence, hint and SQLSTATE of its own, equal by both interfaces, and no effect."""

from __future__ import annotations

import pytest

from kanon_pg.errors import (
    DatabaseError,
    KanonError,
    UnknownName,
    UnsuitableRelation,
    by_sqlstate,
)
from tests.fixtures.interfaces import Interface
from tests.fixtures.refusals import RELEASE_CASES, Case
from tests.fixtures.releases import everything
from tests.fixtures.services import ODD

BY_BOTH_INTERFACES = {
    "k is NULL",
    "k exceeds the people",
    "an index",
    "declared quasi-identifier and sensitive",
    "xid as quasi-identifier",
    "more patterns than can be searched",
    "row-level security",
    "a release name that belongs to somebody's view",
    "time_limit None",
    "argument hierarchies is no object",
    "t = nan",
    "an unknown diversity",
    "fewest_classes = 1.5",
    "patterns of another form",
    "weights that are no object",
    "the weight None",
    "no such release to drop",
    "NULL as relation",
}
"""Cases in which errors and arguments of every kind pass the interfaces. All are tried in
``tests/integration/services``."""

CASES = [case for case in RELEASE_CASES if case.title in BY_BOTH_INTERFACES]


@pytest.fixture(scope="module")
def interfaces(both_interfaces: tuple[Interface, Interface]) -> tuple[Interface, Interface]:
    """Two interfaces to a database with tables to fail on."""
    functions = both_interfaces[0]
    functions.connection.execute(ODD.encode())
    functions.declare("one_null_person", quasi_identifiers=["a"], entity="who")
    return both_interfaces


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_refusal(interfaces: tuple[Interface, Interface], case: Case) -> None:
    before = everything(interfaces[0].connection)
    refusals = []
    for interface in interfaces:
        with pytest.raises(KanonError) as raised:
            case.call(interface)
        refusals.append(raised.value)
    first, second = refusals
    assert (type(first), first.message) == (case.kind, case.sentence)
    assert by_sqlstate(first.sqlstate) is case.kind
    assert first.hint
    assert (type(second), second.message, second.detail, second.hint) == (
        type(first),
        first.message,
        first.detail,
        first.hint,
    )
    assert everything(interfaces[0].connection) == before


@pytest.mark.parametrize(
    "name", ["nothing", "no_schema.t", "987654321987654321987", "a.b.c.d", "drop table t;"]
)
def test_a_name_that_stands_for_nothing(interfaces: tuple[Interface, Interface], name: str) -> None:
    """SQL itself refuses it in the server's interface: there the argument's type is regclass."""
    before = everything(interfaces[0].connection)
    with pytest.raises(DatabaseError if name != "987654321987654321987" else KanonError):
        interfaces[0].anonymize(name, 2)
    with pytest.raises(UnknownName) as raised:
        interfaces[1].anonymize(name, 2)
    assert raised.value.hint
    assert everything(interfaces[0].connection) == before


def test_a_temporary_table(interfaces: tuple[Interface, Interface]) -> None:
    for interface in interfaces:
        interface.connection.execute(
            "create temporary table passing as select 1 as a from generate_series(1, 5)"
        )
        for call in (interface.anonymize, interface.declare):
            with pytest.raises(UnsuitableRelation, match="is temporary: only one session") as raised:
                call("passing", *([2] if call == interface.anonymize else []))
            assert raised.value.hint
        interface.connection.execute("drop table passing")
