"""Names that stand for nothing, and tables of one session; see `services/test_refusals.py` for all else."""

import pytest

from kanon_pg.errors import (
    DatabaseError,
    KanonError,
    UnknownName,
    UnsuitableRelation,
)
from tests.fixtures.interfaces import Interface
from tests.fixtures.releases import everything
from tests.fixtures.services import ODD


@pytest.fixture(scope="module")
def interfaces(both_interfaces: tuple[Interface, Interface]) -> tuple[Interface, Interface]:
    """Two interfaces to a database with tables to fail on."""
    functions = both_interfaces[0]
    functions.connection.execute(ODD.encode())
    functions.declare("one_null_person", quasi_identifiers=["a"], entity="who")
    return both_interfaces


@pytest.mark.parametrize(
    "name",
    ["nothing", "no_schema.t", "987654321987654321987", "a.b.c.d", "drop table t;", "²", 't"', ""],
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
        for call, arguments in ((interface.anonymize, [2]), (interface.declare, [])):
            with pytest.raises(UnsuitableRelation, match="is temporary: only one session") as raised:
                call("passing", *arguments)
            assert raised.value.hint
        interface.connection.execute("drop table passing")
