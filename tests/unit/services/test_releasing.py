"""Releases of tables in memory: the order of steps, what is recorded, and what is never trusted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from kanon_pg.errors import (
    InputError,
    KanonError,
    NotPermitted,
    ReleaseError,
    UnknownName,
    UnsuitableRelation,
    VerificationFailed,
    as_given,
)
from kanon_pg.release.publish import solving
from kanon_pg.runner import parent
from tests.fixtures.memory import ANSWERS, Relation
from tests.fixtures.memory.refusals import RELEASE_CASES
from tests.fixtures.memory.services import MemoryServices
from tests.fixtures.memory.tables import COLUMNS, people_tables
from tests.fixtures.stand_in_solvers import handed_to


@pytest.fixture(scope="module")
def prepared() -> MemoryServices:
    services = MemoryServices()
    people_tables(services.state.table)
    services.declare(
        "of_persons", identifiers=["id"], quasi_identifiers=COLUMNS, sensitive=["illness"], entity="person"
    )
    services.state.table("base", {"a": "integer"}, [(i % 3,) for i in range(60)])
    return services


@pytest.fixture
def services(prepared: MemoryServices) -> MemoryServices:
    return MemoryServices(prepared.state.copy())


def publish(services: MemoryServices, name: str | None = None, k: int = 5, **options: Any) -> Any:
    return services.anonymize("base", k, quasi_identifiers=["a"], release=name, method="greedy", **options)


def released(services: MemoryServices, name: str) -> Relation:
    found = services.state.find("safe", name)
    assert found is not None
    return found


def behind(services: MemoryServices) -> list[str]:
    """Return the relations that releases have in schema kanon."""
    own = ("release", "releases", "declarations", "published_roles")
    found = (one for one in services.state.relations.values() if one.schema == "kanon")
    return sorted(one.name for one in found if one.name not in own and "_row_types" not in one.name)


# --- steps --------------------------------------------------------------------------------------------------

STEPS = [
    "resolve_relation",
    "lock",
    "reads_as_invoker",
    "find_release",
    "lock_release_name",
    "count_row_types",
    "create_mapping",
    "load",
    "index_mapping",
    "define_base",
    "create_storage",
    "recount_storage",
    "fetch_release",
    "store_release",
    "create_safe_view",
    "comment_view",
    "rename_storage",
]


def test_nothing_is_shown_before_it_was_recounted(services: MemoryServices) -> None:
    publish(services)
    names = services.memory.names()
    assert [name for name in dict.fromkeys(names) if name in STEPS] == STEPS
    phases = list(dict.fromkeys(phase for phase, _ in services.memory.phases))
    assert [one for one in phases if one in _PHASES] == _PHASES


_PHASES = ["queued", "counting", "solving", "writing", "building the view", "recounting", "publishing"]


def test_what_is_published_is_recorded(services: MemoryServices) -> None:
    report = services.anonymize("of_persons", 4, method="greedy")
    view, record = released(services, "of_persons"), services.state.releases["of_persons"]
    rows = services.state.rows_of(view)
    assert [column.name for column in view.columns] == [*COLUMNS, "illness", "kanon_suppressed"]
    assert (record["rows"], record["k"], record["entity"]) == (len(rows), 4, "person")
    assert record["suppressed_cells"] == report.suppressed_cells == sum(len(row[-1]) for row in rows)
    assert record["published_by"] == "postgres"
    assert min(Counter((*row[:3], row[-1]) for row in rows).values()) >= 4
    assert all(row[view.place(name)] is None for row in rows for name in row[-1])
    assert (view.comment or "").startswith('4-anonymous release of "public"."of_persons" made by kanon_pg')
    assert behind(services) == ["of_persons_storage", "of_persons_v1_mapping"]


def test_a_second_release_of_the_name_replaces_the_first(services: MemoryServices) -> None:
    publish(services, "r", k=5)
    first = released(services, "r").oid
    services.state.grant("somebody", "safe.r")
    publish(services, "r", k=6)
    assert released(services, "r").oid == first
    assert services.state.releases["r"]["k"] == 6
    assert services.state.grants["somebody", first, None]
    assert behind(services) == ["r_storage", "r_v2_mapping"]


def test_dropping_leaves_nothing(services: MemoryServices) -> None:
    before = services.state.recorded()
    publish(services, "r")
    services.drop("r")
    assert (services.state.relations, services.state.releases) == (before.relations, {})


def test_a_column_that_nobody_declared_is_withheld(services: MemoryServices) -> None:
    services.anonymize("of_persons", 2, quasi_identifiers=["age"], sensitive=[], method="greedy")
    names = [column.name for column in released(services, "of_persons").columns]
    assert names == ["age", "kanon_suppressed"]


# --- refreshing ---------------------------------------------------------------------------------------------


def put_rows(services: MemoryServices, name: str, rows: list[tuple[Any, ...]]) -> None:
    services.state.put(replace(services.state.relation_named(name), rows=tuple(rows)))


def test_a_refresh_follows_the_table_and_withholds_small_classes(services: MemoryServices) -> None:
    publish(services)
    put_rows(services, "base", [(i % 2,) for i in range(40)] + [(7,)] * 4)
    services.refresh("base")
    assert Counter(row[0] for row in services.state.rows_of(released(services, "base"))) == {0: 20, 1: 20}
    assert (services.state.releases["base"]["rows"], services.state.releases["base"]["classes"]) == (40, 2)
    assert services.notices == [
        'Of "public"."base", 4 rows are withheld: they would be in classes of too few people. Publish '
        'release "base" anew with kanon_anonymize to fit them in.'
    ]


def test_a_refresh_says_that_nobody_sees_it(services: MemoryServices) -> None:
    publish(services)
    services.state.drop(released(services, "base"))
    services.refresh("base")
    (said,) = services.notices
    assert said.startswith('The view "safe"."base" was dropped: what was refreshed is not published.')
    services.drop("base")
    assert behind(services) == []


@pytest.mark.parametrize(
    ("facts", "error", "sentence"),
    [
        ({"row_security": True}, UnsuitableRelation, "has row-level security"),
        ({"reads_as_invoker": True}, UnsuitableRelation, "reads with the rights of whoever reads it"),
        ({}, NotPermitted, "has no reader"),
    ],
)
def test_a_refresh_is_refused_once_the_table_is_no_base_any_more(
    services: MemoryServices, facts: dict[str, bool], error: type[KanonError], sentence: str
) -> None:
    publish(services)
    base = services.state.relation_named("base")
    services.state.put(replace(base, **facts))  # type: ignore[arg-type]
    if not facts:
        services.state.grants.clear()
    before = services.state.recorded()
    with pytest.raises(error, match=sentence):
        services.of("kanon_curator").refresh("base")  # who cannot give it a reader
    assert services.state.recorded() == before


def test_a_release_whose_table_is_gone(services: MemoryServices) -> None:
    publish(services)
    for schema, name in (("safe", "base"), ("kanon", "base_storage"), ("public", "base")):
        found = services.state.find(schema, name)
        assert found is not None
        services.state.drop(found)
    with pytest.raises(ReleaseError, match="The base table of this release was dropped"):
        services.refresh("base")
    services.drop("base")
    assert (behind(services), services.state.releases) == ([], {})


# --- names --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "called"),
    [
        ("people", "safe.people"),
        ("people", '"safe"."people"'),
        ("people", "SAFE.People"),
        ("people", '"people"'),
        ("My Patients", '"My Patients"'),
        ("My Patients", 'safe."My Patients"'),
        ('a"b', '"a""b"'),
    ],
)
def test_a_release_is_found_as_sql_and_reports_write_it(
    services: MemoryServices, name: str, called: str
) -> None:
    publish(services, name)
    put_rows(services, "base", [(1,)] * 40)
    services.refresh(called)
    assert len(services.state.rows_of(released(services, name))) == 40
    services.drop(called)
    assert not services.state.releases


def test_the_bare_name_comes_before_what_it_would_mean_in_sql(services: MemoryServices) -> None:
    for name in ("people", '"people"'):
        publish(services, name)
    services.drop('"people"')
    assert list(services.state.releases) == ["people"]


@pytest.mark.parametrize(
    "called", ["public.people", "x.safe.people", '"People"', "people;", '"people', "", "s." * 40]
)
def test_nothing_else_is_taken_for_a_release(services: MemoryServices, called: str) -> None:
    publish(services, "people")
    for call in (services.drop, services.refresh):
        with pytest.raises(UnknownName) as raised:
            call(called)
        assert raised.value.message == f"There is no release {as_given(called)}."


def test_a_name_that_was_cut_off_is_not_taken_for_another(services: MemoryServices) -> None:
    publish(services, "x" * 58)
    with pytest.raises(UnknownName):
        services.drop(f"safe.{'x' * 62}")
    with pytest.raises(InputError, match="longer than 63 bytes"):
        publish(services, "x" * 64)


@pytest.mark.parametrize(
    "name",
    ["nothing", "no_schema.t", '"T"', "²", "987654321987654321987", "a.b.c.d", 't"', "", "drop table t;"],
)
def test_a_name_that_stands_for_no_relation(services: MemoryServices, name: str) -> None:
    with pytest.raises(UnknownName) as raised:
        services.anonymize(name, 2)
    assert raised.value.hint


@pytest.mark.parametrize("state", ["42602", "42601", "0A000"])
def test_a_text_of_which_the_server_says_that_it_is_no_name(services: MemoryServices, state: str) -> None:
    services.memory.fail_on("resolve_relation", state)
    with pytest.raises(UnknownName, match=r'"a\.b\.c" is not a valid SQL name'):
        services.anonymize("a.b.c", 2)


# --- notices ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda services: services.anonymize("t", 5),
        lambda services: services.measure("t"),
        lambda services: services.curve("t", ks=[2]),
        lambda services: services.audit("t", 5),
        lambda services: services.group("groups", "t", "a", 5),
    ],
    ids=["anonymize", "measure", "curve", "audit", "groups"],
)
def test_a_declaration_that_names_a_renamed_column_is_what_is_wrong(
    services: MemoryServices, call: Callable[[MemoryServices], object]
) -> None:
    made = services.state.table("t", {"a": "integer", "b": "integer"}, [(i, i % 7) for i in range(20)])
    services.declare("t", quasi_identifiers=["a", "b"])
    renamed = replace(made.columns[1], name="B's")
    services.state.put(replace(made, columns=(made.columns[0], renamed)))
    with pytest.raises(UnknownName) as raised:
        call(services)
    assert raised.value.message == (
        'The declaration of "public"."t" names column "b", which was renamed or dropped since.'
    )
    assert 'SELECT kanon_declare(\'"public"."t"\', ...);' in (raised.value.hint or "")


@pytest.mark.parametrize("budget", ["plenty", "0B", "-1GB", "4gb"])
def test_a_memory_budget_that_is_no_size(services: MemoryServices, budget: str) -> None:
    services.state.settings["kanon.memory_budget"] = budget
    with pytest.raises(InputError, match=r"kanon\.memory_budget"):
        publish(services)


def test_more_columns_than_all_patterns_can_be_searched_for(services: MemoryServices) -> None:
    """The mask is bounded instead, and the notice says so."""
    names = [f"c{number}" for number in range(20)]
    services.state.table("wide", dict.fromkeys(names, "integer"), [(1,) * 20] * 5)
    assert services.anonymize("wide", 2, quasi_identifiers=names).smallest_class >= 2
    assert any("pattern" in notice for notice in services.notices)


def test_sentences_of_refusals_differ() -> None:
    """Cases share a sentence only if the same thing is wrong with the same object."""
    by_sentence: dict[str, set[type[KanonError]]] = {}
    for case in RELEASE_CASES:
        by_sentence.setdefault(case.sentence, set()).add(case.kind)
    assert all(len(kinds) == 1 for kinds in by_sentence.values())
    assert len(by_sentence) > len(RELEASE_CASES) * 2 / 3


# --- a guard, a solver, and a table that cannot be trusted --------------------------------------------------


def with_storage(
    monkeypatch: pytest.MonkeyPatch, change: Callable[[list[tuple[Any, ...]]], list[tuple[Any, ...]]]
) -> None:
    """Have the guard of releases publish other rows."""
    usual = ANSWERS["create_storage"]

    def create(db: Any, parts: Any) -> Any:
        touched = usual(db, parts)
        storage = db.state.relation(parts["storage"])
        db.state.put(replace(storage, rows=tuple(change(list(storage.rows)))))
        return touched

    monkeypatch.setitem(ANSWERS, "create_storage", create)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda rows: [], "The release is empty"),
        (lambda rows: [*rows, (9, 0)], "a class of 1 people, fewer than 5"),
        (lambda rows: [*rows, *[(1, 1)] * 5], "values in cells marked as suppressed"),
        (lambda rows: [*rows, rows[0]], "does not find the rows, cells and classes"),
        (lambda rows: rows[1:], "does not find the rows, cells and classes"),
        (lambda rows: [(None, 1) for _ in rows], "does not find the rows, cells and classes"),
    ],
)
def test_what_the_guard_should_not_publish_is_found(
    services: MemoryServices, monkeypatch: pytest.MonkeyPatch, change: Any, sentence: str
) -> None:
    with_storage(monkeypatch, change)
    before = services.state.recorded()
    with pytest.raises(VerificationFailed, match=sentence):
        publish(services)
    assert services.state.recorded() == before


def test_a_solver_that_suppresses_too_little_publishes_nothing(
    services: MemoryServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The guard withholds its small classes, and the recount sees that rows are missing."""
    solve = parent.solve_in_worker

    def too_little(*arguments: Any, **options: Any) -> Any:
        outcome = solve(*arguments, **options)
        return replace(outcome, patterns=bytes(len(outcome.patterns)))

    monkeypatch.setattr(solving, "handed_over", handed_to(too_little))
    before = services.state.recorded()
    with pytest.raises(VerificationFailed):
        services.anonymize("people", 5, quasi_identifiers=COLUMNS, method="greedy")
    assert services.state.recorded() == before


@pytest.mark.parametrize(
    ("limits", "is_right"),
    [
        ({"fewest_classes": 3, "most_classes": 3}, True),
        ({"fewest_classes": 4}, False),
        ({"most_classes": 2}, False),
    ],
)
def test_a_solution_with_another_number_of_classes_is_not_published(
    services: MemoryServices, monkeypatch: pytest.MonkeyPatch, limits: dict[str, int], is_right: bool
) -> None:
    """The solver stands in for one that overlooks the limits; the table has three classes."""
    solve = parent.solve_in_worker

    def without_limits(row_types: Any, request: Any, caller: Any) -> Any:
        return solve(row_types, replace(request, fewest_classes=None, most_classes=None), caller)

    monkeypatch.setattr(solving, "handed_over", handed_to(without_limits))
    if is_right:
        assert publish(services, **limits).classes == 3
        return
    before = services.state.recorded()
    with pytest.raises(VerificationFailed, match="has 3 classes, which is not what was asked for"):
        publish(services, **limits)
    assert services.state.recorded() == before


def test_a_class_that_violates_a_model_is_found(
    services: MemoryServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [(i % 2, f"d{i % 4 // 2}") for i in range(40)]
    services.state.table("t", {"a": "integer", "s": "text"}, rows)
    options: dict[str, Any] = {"quasi_identifiers": ["a"], "sensitive": ["s"], "p": 2, "method": "greedy"}
    services.anonymize("t", 5, **options)
    with_storage(monkeypatch, lambda rows: [(a, "d0" if a == 0 else s, pattern) for a, s, pattern in rows])
    with pytest.raises(VerificationFailed, match='violates a privacy model in column "s"'):
        services.anonymize("t", 5, **options)


def test_no_bound_is_claimed_for_a_table_that_changed(
    services: MemoryServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody commits ten rows of a known kind between counting and building."""
    services.memory.sees_changes = True
    usual = ANSWERS["create_mapping"]

    def create(db: Any, parts: Any) -> Any:
        put_rows(services, "base", [*services.state.relation_named("base").rows, *[(1,)] * 10])
        return usual(db, parts)

    assert publish(services, "before").lower_bound is not None
    monkeypatch.setitem(ANSWERS, "create_mapping", create)
    report = publish(services)
    assert (report.rows, report.lower_bound, report.optimal) == (70, None, False)
    assert any("The table changed during the call" in notice for notice in services.notices)
