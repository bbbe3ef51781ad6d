"""What is known of a relation, and which of its columns an operation takes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kanon_pg.core.packed import MAX_COLUMNS
from kanon_pg.db.catalog import ColumnFacts, RelationFacts
from kanon_pg.errors import InputError, KanonError, UnknownName, UnsuitableColumn
from kanon_pg.relations.subject import (
    Roles,
    Subject,
    linked_columns,
    refuse_identifying,
    require_quasi_identifiers,
)


def column(name: str, *, is_key: bool = False) -> ColumnFacts:
    return ColumnFacts(name, "text", "text", "b", False, False, True, None, None, True, is_key)


PATIENTS = RelationFacts(
    *(1, "public", "patients", "r", False, False, True, True, True),
    columns=(column("id", is_key=True), column("person"), column("zip"), column("sex"), column("illness")),
)
DECLARED = Roles(("id",), ("zip", "sex"), ("illness",), entity="person")
SUBJECT = Subject(PATIENTS, "owner", DECLARED)


def names(columns: tuple[ColumnFacts, ...]) -> list[str]:
    return [one.name for one in columns]


def test_columns_come_in_the_order_of_the_call_each_once() -> None:
    assert names(SUBJECT.columns(["sex", "zip", "sex"])) == ["sex", "zip"]
    with pytest.raises(UnknownName, match='no column "age"'):
        SUBJECT.columns(["sex", "age"])
    with pytest.raises(InputError, match="A column name is NULL"):
        SUBJECT.columns(["sex", None])  # type: ignore[list-item]


def test_the_call_counts_before_the_declaration_and_that_before_all_columns() -> None:
    unknown = replace(SUBJECT, roles=None)
    assert linked_columns(SUBJECT, ["illness"]) == ("illness",)
    assert linked_columns(SUBJECT, None) == ("zip", "sex")
    assert linked_columns(unknown, None) == ("person", "zip", "sex", "illness")
    assert linked_columns(unknown, None, but=("illness",)) == ("person", "zip", "sex")


def test_a_release_has_no_declaration_of_its_own() -> None:
    release = replace(SUBJECT, suppressed=column("kanon_suppressed"), hidden_people=7)
    assert (release.is_release, release.hides_people, release.declared) == (True, True, None)
    assert (SUBJECT.is_release, SUBJECT.hides_people, SUBJECT.declared) == (False, False, DECLARED)


def test_identifiers_and_the_entity_are_left_out_and_keys_without_a_role() -> None:
    assert names(SUBJECT.without_identifiers()) == ["zip", "sex", "illness"]
    assert names(replace(SUBJECT, roles=None).without_identifiers()) == ["person", "zip", "sex", "illness"]
    has_key = replace(SUBJECT, roles=Roles(insensitive=("id",)))
    assert names(has_key.without_identifiers()) == ["id", "person", "zip", "sex", "illness"]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("id", 'Column "id" is declared as an identifier, which is never published.'),
        ("person", 'Column "person" identifies people (entity), so it cannot be published.'),
    ],
)
def test_what_identifies_people_is_refused(name: str, sentence: str) -> None:
    refuse_identifying(SUBJECT, ["zip", "sex", "illness"])
    with pytest.raises(UnsuitableColumn) as raised:
        refuse_identifying(SUBJECT, ["zip", name])
    assert raised.value.message == sentence
    assert raised.value.hint


def test_quasi_identifiers_are_some_and_no_more_than_fit() -> None:
    require_quasi_identifiers(PATIENTS, range(MAX_COLUMNS))
    for number in (0, MAX_COLUMNS + 1):
        with pytest.raises(InputError) as raised:
            require_quasi_identifiers(PATIENTS, range(number))
        assert "quasi_identifiers => '{zip,sex}'" in (raised.value.hint or "")


@pytest.mark.parametrize(
    ("roles", "sentence"),
    [
        (Roles(quasi_identifiers=("zip", "zip")), 'Column "zip" is named twice: in quasi_identifiers.'),
        (Roles(("zip",), ("zip",)), 'Column "zip" is named twice: in identifiers and quasi_identifiers.'),
        (Roles(entity="nobody"), 'Relation "public"."patients" has no column "nobody".'),
        (Roles(weights={"zip": 0}), 'The weight of column "zip" is not a positive number.'),
        (Roles(weights={"zip": True}), 'The weight of column "zip" is not a positive number.'),
        (Roles(weights=[]), "weights must be a JSON object of column names and numbers."),  # type: ignore[arg-type]
    ],
)
def test_roles_that_contradict_themselves_are_refused(roles: Roles, sentence: str) -> None:
    DECLARED.check(PATIENTS)
    with pytest.raises(KanonError) as raised:
        roles.check(PATIENTS)
    assert raised.value.message == sentence


def test_a_role_has_a_name_in_the_singular() -> None:
    assert [DECLARED.role_of(name) for name in ("id", "zip", "illness", "person")] == [
        "identifier",
        "quasi_identifier",
        "sensitive",
        None,
    ]
