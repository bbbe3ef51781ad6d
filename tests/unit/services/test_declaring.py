"""Declarations come and go without a trace, and notices name roles that are probably not what is meant."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kanon_pg.errors import InputError, NotPermitted, UnsuitableRelation
from tests.fixtures.memory.services import MemoryServices

_VISIT = dict.fromkeys(("id", "patient", "sex", "zip"), "integer") | {"ward": "text"}


@pytest.fixture
def services() -> MemoryServices:
    found = MemoryServices()
    found.state.table("visits", _VISIT, [(i, i // 2, i % 2, i % 5, f"w{i % 3}") for i in range(1, 61)])
    return found


def row_types_views(services: MemoryServices) -> list[str]:
    return [
        one.name for one in services.state.relations.values() if one.schema == "kanon" and "_row_" in one.name
    ]


def test_a_declaration_of_nothing_is_refused_and_leaves_the_one_before(services: MemoryServices) -> None:
    services.declare("visits", quasi_identifiers=["sex"])
    before = services.state.recorded()
    with pytest.raises(InputError, match=r'No column of "public"\."visits" is given a role'):
        services.declare("visits")
    assert services.state.recorded() == before
    (declared,) = services.state.declarations.values()
    assert (declared["quasi_identifiers"], declared["row_types_view"]) == (
        ["sex"],
        "public_visits_row_types",
    )


def test_the_view_of_row_types_counts_rows_and_people(services: MemoryServices) -> None:
    services.declare("visits", quasi_identifiers=["sex"], entity="patient")
    view = services.state.find("kanon", "public_visits_row_types")
    assert view is not None
    assert [column.name for column in view.columns] == ["sex", "rows", "people"]
    assert sorted(services.state.rows_of(view)) == [(0, 30, 30), (1, 30, 30)]


def test_views_of_tables_whose_names_make_one_are_kept_apart(services: MemoryServices) -> None:
    """``public.visits`` and a table ``visits`` of schema ``public`` can only be one; names can still meet."""
    services.state.table("a_b.c", {"x": "integer"}, [(1,)])
    services.state.table("a.b_c", {"x": "integer"}, [(1,)])
    services.declare("a_b.c", quasi_identifiers=["x"])
    services.declare("a.b_c", quasi_identifiers=["x"])
    assert len(set(row_types_views(services))) == 2


def test_an_identifier_that_repeats_may_be_the_entity(services: MemoryServices) -> None:
    services.declare("visits", identifiers=["id", "patient"], quasi_identifiers=["sex", "zip"])
    (said,) = services.notices
    assert 'Column "patient" is declared as an identifier and repeats' in said
    assert "entity => 'patient'" in said
    services.notices.clear()
    services.anonymize("visits", 5, method="greedy")
    assert said in services.notices


def test_several_identifiers_that_repeat_are_named_together(services: MemoryServices) -> None:
    rows = [(i, i // 2, i % 2, "{}", f"b{i % 9}" if i > 20 else None) for i in range(1, 61)]
    columns = {"id": "integer", "patient": "integer", "sex": "integer", "note": "json", "badge": "text"}
    services.state.table("badges", columns, rows)
    services.declare("badges", identifiers=["note", "patient", "badge", "id"], quasi_identifiers=["sex"])
    (said,) = services.notices
    assert 'Columns "patient", "badge" are declared as identifiers and repeat.' in said


def test_nothing_is_said_about_identifiers_that_do_not_repeat_or_if_people_are_counted(
    services: MemoryServices,
) -> None:
    services.declare("visits", identifiers=["id"], quasi_identifiers=["sex", "zip"])
    services.declare("visits", identifiers=["id"], quasi_identifiers=["sex", "zip"], entity="patient")
    services.anonymize("visits", 5, method="greedy")
    assert not [said for said in services.notices if "declared" in said]


def test_who_publishes_without_a_declaration_is_shown_how_to_get_one(services: MemoryServices) -> None:
    services.anonymize("visits", 2, method="greedy")
    (said,) = [one for one in services.notices if "not declared" in one]
    assert "kanon_suggest(" in said
    assert "kanon_declare(" in said
    services.notices.clear()
    services.anonymize("visits", 2, quasi_identifiers=["sex"], method="greedy")
    assert not [one for one in services.notices if "not declared" in one]


def test_a_protected_table_can_be_declared_anew_but_not_undeclared(services: MemoryServices) -> None:
    services.declare("visits", quasi_identifiers=["sex"], entity="patient")
    (oid,) = services.state.declarations
    services.state.protected[oid] = 5
    services.declare("visits", quasi_identifiers=["sex", "zip"], entity="patient")
    assert services.notices == []
    with pytest.raises(InputError, match="answers queries"):
        services.undeclare("visits")


# --- what cannot be declared or published -------------------------------------------------------------------


@pytest.mark.parametrize("operation", ["declare", "anonymize"])
@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        ({"temporary": True}, "is temporary: only one session can see it"),
        ({"row_security": True}, "has row-level security"),
        ({"reads_as_invoker": True}, "reads with the rights of whoever reads it"),
    ],
    ids=["temporary", "row security", "invoker's view"],
)
def test_unsuitable_relations(
    services: MemoryServices, operation: str, facts: dict[str, bool], sentence: str
) -> None:
    services.state.table("t", {"a": "integer"}, [(1,)] * 4, **facts)
    calls: dict[str, Callable[[], object]] = {
        "declare": lambda: services.declare("t", quasi_identifiers=["a"]),
        "anonymize": lambda: services.anonymize("t", 2),
    }
    with pytest.raises(UnsuitableRelation, match=sentence) as refused:
        calls[operation]()
    assert refused.value.hint


def test_what_has_no_reader_is_neither_declared_nor_measured(services: MemoryServices) -> None:
    """Whoever may read a table, but not let others read it."""
    services.state.roles["curator"] = ("kanon_curator",)
    services.state.grant("curator", "visits")
    curator = services.of("curator")
    for call in (
        lambda: curator.declare("visits", quasi_identifiers=["sex"]),
        lambda: curator.measure("visits", ["sex"]),
    ):
        with pytest.raises(NotPermitted, match=r'Relation "public"\."visits" has no reader'):
            call()
    services.state.roles["stranger"] = ("kanon_curator",)
    with pytest.raises(NotPermitted, match='Role "stranger" may not read'):
        services.of("stranger").declare("visits", quasi_identifiers=["sex"])
