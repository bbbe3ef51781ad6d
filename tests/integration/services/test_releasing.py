"""Releases: the order of steps, what is recorded, and what is never trusted."""

from collections import Counter
from dataclasses import replace
from typing import Any

import psycopg
import pytest

from kanon_pg import client
from kanon_pg.db.psycopg_adapter import PsycopgDatabase
from kanon_pg.db.statements import Statement
from kanon_pg.errors import (
    InputError,
    ReleaseError,
    VerificationFailed,
)
from kanon_pg.release.publish import solving
from kanon_pg.runner import parent
from tests.fixtures.audits import COLUMNS, PEOPLE
from tests.fixtures.services import Services
from tests.fixtures.stand_in_solvers import handed_to


@pytest.fixture
def services(connection: psycopg.Connection) -> Services:
    connection.execute(f"{PEOPLE} create table base as select i % 3 as a from generate_series(0, 59) as i")
    return Services(connection)


def publish(services: Services, name: str | None = None, k: int = 5, **options: Any) -> Any:
    return services.anonymize("base", k, quasi_identifiers=["a"], release=name, method="greedy", **options)


def behind(services: Services) -> list[str]:
    """Return the relations that releases have in schema kanon."""
    found = services.values(
        "select relname from pg_class where relnamespace = 'kanon'::regnamespace and relkind in ('r', 'm')"
        " and relname ~ '_(storage|mapping)$' order by 1"
    )
    return [name for (name,) in found]


# --- steps --------------------------------------------------------------------------------------------------


def test_nothing_is_shown_before_it_was_recounted(services: Services) -> None:
    publish(services)
    phases = list(dict.fromkeys(phase for phase, _ in services.phases))
    assert [one for one in phases if one in _PHASES] == _PHASES


_PHASES = ["queued", "counting", "solving", "writing", "building the view", "recounting", "publishing"]


def test_what_is_published_is_recorded(services: Services) -> None:
    declared = {"quasi_identifiers": COLUMNS, "sensitive": ["illness"], "entity": "person"}
    services.declare("of_persons", identifiers=["id"], **declared)
    report = services.anonymize("of_persons", 4, method="greedy")
    rows = services.values("select age, ward, sex, illness, kanon_suppressed from safe.of_persons")
    (record,) = services.releases()
    assert (record["rows"], record["k"]) == (len(rows), 4)
    assert report.suppressed_cells == sum(len(row[-1]) for row in rows)
    assert min(Counter((*row[:3], tuple(row[-1])) for row in rows).values()) >= 4
    assert all(row[COLUMNS.index(name)] is None for row in rows for name in row[-1])
    ((comment,),) = services.values("select obj_description('safe.of_persons'::regclass)")
    assert comment.startswith('4-anonymous release of "public"."of_persons" made by kanon_pg')
    assert behind(services) == ["of_persons_storage", "of_persons_v1_mapping"]


def test_a_second_release_replaces_the_first_and_dropping_leaves_nothing(
    services: Services,
) -> None:
    before = services.recorded()
    publish(services, "r", k=5)
    services.execute("grant select on safe.r to pg_monitor")
    publish(services, "r", k=6)
    assert [one["k"] for one in services.releases()] == [6]
    assert services.values("select has_table_privilege('pg_monitor', 'safe.r', 'select')") == [(True,)]
    assert behind(services) == ["r_storage", "r_v2_mapping"]
    services.drop("r")
    left = services.recorded() - before
    assert not [one for one in left if one[0] == "relation" and "base" not in one[1]]


def test_a_column_that_nobody_declared_is_withheld(services: Services) -> None:
    services.anonymize("of_persons", 2, quasi_identifiers=["age"], sensitive=[], method="greedy")
    columns = "select attname from pg_attribute where attrelid = 'safe.of_persons'::regclass and attnum > 0"
    assert services.values(f"{columns} order by attnum") == [("age",), ("kanon_suppressed",)]


# --- refreshing ---------------------------------------------------------------------------------------------


def test_a_refresh_follows_the_table_and_withholds_small_classes(services: Services) -> None:
    publish(services)
    services.execute("truncate base; insert into base select i % 2 from generate_series(1, 40) as i")
    services.execute("insert into base select 7 from generate_series(1, 4)")
    services.notices.clear()
    services.refresh("base")
    assert Counter(services.values("select a from safe.base")) == {(0,): 20, (1,): 20}
    (record,) = services.releases()
    assert (record["rows"], record["classes"]) == (40, 2)
    assert services.notices == [
        'Of "public"."base", 4 rows are withheld: they would be in classes of too few people. Publish '
        'release "base" anew with kanon_anonymize to fit them in.'
    ]


def test_a_refresh_says_that_nobody_sees_it(services: Services) -> None:
    publish(services)
    services.execute("drop view safe.base")
    services.notices.clear()
    services.refresh("base")
    (said,) = services.notices
    assert said.startswith('The view "safe"."base" was dropped: what was refreshed is not published.')
    services.drop("base")
    assert behind(services) == []


def test_a_release_whose_table_is_gone(services: Services) -> None:
    publish(services)
    services.execute("drop table base cascade")
    with pytest.raises(ReleaseError, match="The base table of this release was dropped"):
        services.refresh("base")
    services.drop("base")
    assert (behind(services), list(services.releases())) == ([], [])


# --- notices ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", ["plenty", "0B", "-1GB", "4gb"])
def test_a_memory_budget_that_is_no_size(services: Services, budget: str) -> None:
    services.execute(f"set kanon.memory_budget = '{budget}'")
    with pytest.raises(InputError, match=r"kanon\.memory_budget"):
        publish(services)


def test_more_columns_than_all_patterns_can_be_searched_for(services: Services) -> None:
    """The mask is bounded instead, and the notice says so."""
    names = [f"c{number}" for number in range(20)]
    services.table("wide", dict.fromkeys(names, "integer"), [(1,) * 20] * 5)
    assert services.anonymize("wide", 2, quasi_identifiers=names).smallest_class >= 2
    assert any("pattern" in notice for notice in services.notices)


# --- a guard and a solver that cannot be trusted ------------------------------------------------------------


def with_storage(monkeypatch: pytest.MonkeyPatch, rows: str) -> None:
    """Have the guard of releases publish other rows: those of a query of a copy."""

    class Tampering(PsycopgDatabase):
        def execute(self, statement: Statement, *arguments: Any) -> int:
            touched = super().execute(statement, *arguments)
            if statement.name == "create_storage":
                storage = statement.parts["storage"]
                super().execute(Statement(f"CREATE TABLE kanon.copy AS SELECT * FROM {storage}"))
                super().execute(Statement(f"DROP MATERIALIZED VIEW {storage}"))
                super().execute(Statement(f"CREATE MATERIALIZED VIEW {storage} AS {rows}"))
            return touched

    monkeypatch.setattr(client, "PsycopgDatabase", Tampering)


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ("select * from kanon.copy where false", "The release is empty"),
        ("select * from kanon.copy union all select 9, 0", "a class of 1 people, fewer than 5"),
        (
            "select * from kanon.copy union all select 1, 1 from generate_series(1, 5)",
            "values in cells marked as suppressed",
        ),
        (
            "select * from kanon.copy union all (select * from kanon.copy limit 1)",
            "does not find the rows, cells and classes",
        ),
        ("select * from kanon.copy offset 1", "does not find the rows, cells and classes"),
        (
            "select null::integer as a, 1 as kanon_pattern from kanon.copy",
            "does not find the rows, cells and classes",
        ),
    ],
)
def test_what_the_guard_should_not_publish_is_found(
    services: Services, monkeypatch: pytest.MonkeyPatch, rows: str, sentence: str
) -> None:
    with_storage(monkeypatch, rows)
    before = services.recorded()
    with pytest.raises(VerificationFailed, match=sentence):
        publish(services)
    assert services.recorded() == before


def test_a_class_that_violates_a_model_is_found(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    services.table("t", {"a": "integer", "s": "text"}, [(i % 2, f"d{i % 4 // 2}") for i in range(40)])
    options: dict[str, Any] = {"quasi_identifiers": ["a"], "sensitive": ["s"], "p": 2, "method": "greedy"}
    services.anonymize("t", 5, **options)
    with_storage(
        monkeypatch,
        "select a, case when a = 0 then 'd0' else s end as s, kanon_pattern from kanon.copy",
    )
    with pytest.raises(VerificationFailed, match='violates a privacy model in column "s"'):
        services.anonymize("t", 5, **options)


def test_a_solver_that_suppresses_too_little_publishes_nothing(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The guard withholds its small classes, and the recount sees that rows are missing."""

    def too_little(*arguments: Any, **options: Any) -> Any:
        outcome = parent.solve_in_worker(*arguments, **options)
        return replace(outcome, patterns=bytes(len(outcome.patterns)))

    monkeypatch.setattr(solving, "handed_over", handed_to(too_little))
    before = services.recorded()
    with pytest.raises(VerificationFailed):
        services.anonymize("people", 5, quasi_identifiers=COLUMNS, method="greedy")
    assert services.recorded() == before


@pytest.mark.parametrize(
    ("limits", "is_right"),
    [
        ({"fewest_classes": 3, "most_classes": 3}, True),
        ({"fewest_classes": 4}, False),
        ({"most_classes": 2}, False),
    ],
)
def test_a_solution_with_another_number_of_classes_is_not_published(
    services: Services, monkeypatch: pytest.MonkeyPatch, limits: dict[str, int], is_right: bool
) -> None:
    """The solver stands in for one that overlooks the limits; the table has three classes."""

    def without_limits(row_types: Any, request: Any, caller: Any) -> Any:
        free = replace(request, fewest_classes=None, most_classes=None)
        return parent.solve_in_worker(row_types, free, caller)

    monkeypatch.setattr(solving, "handed_over", handed_to(without_limits))
    if is_right:
        assert publish(services, **limits).classes == 3
        return
    before = services.recorded()
    with pytest.raises(VerificationFailed, match="has 3 classes, which is not what was asked for"):
        publish(services, **limits)
    assert services.recorded() == before
