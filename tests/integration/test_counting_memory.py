"""Counting keeps within the memory budget, and stops where it is certain that there is not enough."""

import pytest

from kanon_pg.db.identifiers import Identifier
from kanon_pg.db.psycopg_adapter import PsycopgDatabase
from kanon_pg.db.settings import working_memory
from kanon_pg.db.statements import Statement, statement
from kanon_pg.errors import MemoryExceeded
from tests.fixtures.interfaces import Interface

BRITTLE = """
create type brittle as (value integer);
create function spell(brittle) returns text language plpgsql as $$
begin
    if ($1).value > 20000 then raise 'this row was read'; end if;
    return '(' || ($1).value || ')';
end $$;
create cast (brittle as text) with function spell(brittle);
create table far_too_many as select row(i)::brittle as tag from generate_series(1, 60000) as i;
"""
"""Nobody can spell the rows after the first 20,000; a budget of 1 MB holds about 8,000 row types of it."""


def test_a_table_far_too_large_is_refused_by_its_first_rows(interface: Interface) -> None:
    interface.connection.execute(BRITTLE.encode())
    interface.connection.execute("set kanon.memory_budget = '1MB'")
    for command in ("select", "analyze far_too_many"):  # without statistics, and with them
        interface.connection.execute(command.encode())
        with pytest.raises(MemoryExceeded, match="more than 8,192 row types") as refused:
            interface.anonymize("far_too_many", 2)
        assert refused.value.hint is not None


def test_pairs_of_row_types_and_people_count_too(interface: Interface) -> None:
    interface.connection.execute(
        "create table visits as select i as person, i % 2 as ward from generate_series(1, 30000) i"
    )
    interface.declare("visits", quasi_identifiers=["ward"], entity="person")
    interface.connection.execute("set kanon.memory_budget = '1MB'")
    with pytest.raises(MemoryExceeded, match="2 row types, and pairs of them with people"):
        interface.anonymize("visits", 2)
    interface.connection.execute("reset kanon.memory_budget")
    assert interface.anonymize("visits", 2).row_types == 2


@pytest.mark.parametrize(("budget", "memory"), [(1 << 20, 4096), (64 << 20, 8192), (1 << 40, 512 << 10)])
def test_a_sort_or_hash_of_the_server_keeps_to_a_share_of_the_budget(
    interface: Interface, budget: int, memory: int
) -> None:
    db = PsycopgDatabase(interface.connection)
    with interface.connection.transaction(), working_memory(db, budget):
        shown = db.row(Statement("SELECT setting::bigint AS kb FROM pg_settings WHERE name = 'work_mem'"))
    assert shown["kb"] == memory


def test_rows_are_estimated_by_statistics_then_by_size(interface: Interface) -> None:
    db = PsycopgDatabase(interface.connection)

    def estimated(name: str) -> int:
        rows: int = db.row(statement("estimate_rows"), str(Identifier.of("public", name)))["rows"]
        return rows

    interface.connection.execute("create table fresh as select i from generate_series(1, 5000) i")
    # PostgreSQL 16 and later make room for more rows at once
    assert 5000 <= estimated("fresh") <= 12000
    interface.connection.execute("analyze fresh")
    assert estimated("fresh") == 5000
    interface.connection.execute(
        "create table parted (i integer) partition by range (i);"
        "create table low partition of parted for values from (0) to (1000);"
        "create table high partition of parted for values from (1000) to (9000);"
        "insert into parted select i from generate_series(0, 2999) i; analyze low; analyze high"
    )
    assert estimated("parted") == 3000
    interface.connection.execute("create view seen as select i from fresh")
    assert estimated("seen") == 0
