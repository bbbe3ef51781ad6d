"""Declarations come and go without a trace, and notices name roles that are probably not what is meant."""

import psycopg
import pytest

from kanon_pg.errors import InputError, UnsuitableRelation
from tests.fixtures.services import Services

_VISIT = dict.fromkeys(("id", "patient", "sex", "zip"), "integer") | {"ward": "text"}


@pytest.fixture
def services(connection: psycopg.Connection) -> Services:
    found = Services(connection)
    found.table("visits", _VISIT, [(i, i // 2, i % 2, i % 5, f"w{i % 3}") for i in range(1, 61)])
    return found


def test_a_declaration_of_nothing_is_refused_and_leaves_the_one_before(services: Services) -> None:
    services.declare("visits", quasi_identifiers=["sex"])
    before = services.recorded()
    with pytest.raises(InputError, match=r'No column of "public"\."visits" is given a role'):
        services.declare("visits")
    assert services.recorded() == before
    declared = services.values("select quasi_identifiers, row_types_view from kanon.declaration")
    assert declared == [(["sex"], "public_visits_row_types")]


def test_the_view_of_row_types_counts_rows_and_people(services: Services) -> None:
    services.declare("visits", quasi_identifiers=["sex"], entity="patient")
    counted = services.values("select sex, rows, people from kanon.public_visits_row_types order by 1")
    assert counted == [(0, 30, 30), (1, 30, 30)]


def test_views_of_tables_whose_names_make_one_are_kept_apart(services: Services) -> None:
    """``public.visits`` and a table ``visits`` of schema ``public`` can only be one; names can still meet."""
    services.execute("create schema a; create schema a_b")
    services.table("a_b.c", {"x": "integer"}, [(1,)])
    services.table("a.b_c", {"x": "integer"}, [(1,)])
    services.declare("a_b.c", quasi_identifiers=["x"])
    services.declare("a.b_c", quasi_identifiers=["x"])
    views = services.values("select row_types_view from kanon.declaration")
    assert len(set(views)) == 2


def test_an_identifier_that_repeats_may_be_the_entity(services: Services) -> None:
    services.declare("visits", identifiers=["id", "patient"], quasi_identifiers=["sex", "zip"])
    (said,) = services.notices
    assert 'Column "patient" is declared as an identifier and repeats' in said
    assert "entity => 'patient'" in said
    services.notices.clear()
    services.anonymize("visits", 5, method="greedy")
    assert said in services.notices


def test_several_identifiers_that_repeat_are_named_together(services: Services) -> None:
    rows = [(i, i // 2, i % 2, "{}", f"b{i % 9}" if i > 20 else None) for i in range(1, 61)]
    columns = {"id": "integer", "patient": "integer", "sex": "integer", "note": "json", "badge": "text"}
    services.table("badges", columns, rows)
    services.declare("badges", identifiers=["note", "patient", "badge", "id"], quasi_identifiers=["sex"])
    (said,) = services.notices
    assert 'Columns "patient", "badge" are declared as identifiers and repeat.' in said


def test_nothing_is_said_about_identifiers_that_do_not_repeat_or_if_people_are_counted(
    services: Services,
) -> None:
    services.declare("visits", identifiers=["id"], quasi_identifiers=["sex", "zip"])
    services.declare("visits", identifiers=["id"], quasi_identifiers=["sex", "zip"], entity="patient")
    services.anonymize("visits", 5, method="greedy")
    assert not [said for said in services.notices if "declared" in said]


def test_who_publishes_without_a_declaration_is_shown_how_to_get_one(services: Services) -> None:
    services.anonymize("visits", 2, method="greedy")
    (said,) = [one for one in services.notices if "not declared" in one]
    assert "kanon_suggest(" in said
    assert "kanon_declare(" in said
    services.notices.clear()
    services.anonymize("visits", 2, quasi_identifiers=["sex"], method="greedy")
    assert not [one for one in services.notices if "not declared" in one]


def test_a_protected_table_can_be_declared_anew_but_not_undeclared(services: Services) -> None:
    services.declare("visits", identifiers=["id"], quasi_identifiers=["sex"], entity="patient")
    services.execute("select kanon_protect('visits', 5)")
    services.declare("visits", identifiers=["id"], quasi_identifiers=["sex", "zip"], entity="patient")
    with pytest.raises(InputError, match="answers queries"):
        services.undeclare("visits")


# --- what cannot be declared or published -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "sentence"),
    [
        ("create temporary table t as select 1 as a", "is temporary: only one session can see it"),
        ("create table t (a integer); alter table t enable row level security", "has row-level security"),
        (
            "create view t with (security_invoker) as select sex as a from visits",
            "reads with the rights of whoever reads it",
        ),
    ],
)
def test_unsuitable_relations(services: Services, made: str, sentence: str) -> None:
    services.execute(made)
    for call in (lambda: services.declare("t", quasi_identifiers=["a"]), lambda: services.anonymize("t", 2)):
        with pytest.raises(UnsuitableRelation, match=sentence) as refused:
            call()
        assert refused.value.hint
