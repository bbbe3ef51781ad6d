"""What is known of a relation, and which of its columns an operation takes."""

from dataclasses import replace

import pytest

from kanon_pg.core.packed import MAX_COLUMNS
from kanon_pg.db.catalog import ColumnFacts, RelationFacts
from kanon_pg.errors import InputError, KanonError, UnknownName, UnsuitableColumn
from kanon_pg.relations.subject import (
    Roles,
    Subject,
    refuse_identifying,
    require_quasi_identifiers,
)


def column(name: str, *, is_key: bool = False) -> ColumnFacts:
    return ColumnFacts(name, "text", "text", "text", "b", False, False, True, None, None, True, is_key)


PATIENTS = RelationFacts(
    *(1, "public", "patients", "r", False, False, False, True, True),
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


def test_quasi_identifiers_are_those_of_the_roles_else_all_columns_but_keys() -> None:
    unknown = replace(SUBJECT, roles=None)
    assert names(SUBJECT.quasi_identifiers()) == ["zip", "sex"]
    assert names(SUBJECT.quasi_identifiers(but=("sex",))) == ["zip", "sex"]
    assert names(unknown.quasi_identifiers()) == ["person", "zip", "sex", "illness"]
    assert names(unknown.quasi_identifiers(but=("illness",))) == ["person", "zip", "sex"]


def test_a_release_has_the_roles_of_its_record() -> None:
    listed = column("kanon_suppressed")
    relation = replace(PATIENTS, columns=(*PATIENTS.columns, listed))
    release = replace(SUBJECT, relation=relation, suppressed=listed, hidden_people=7)
    assert (release.is_release, release.hides_people) == (True, True)
    assert (SUBJECT.is_release, SUBJECT.hides_people) == (False, False)
    assert names(release.quasi_identifiers()) == ["zip", "sex"]
    assert "kanon_suppressed" not in names(replace(release, roles=None).quasi_identifiers())


def test_identifiers_and_the_entity_are_left_out_and_keys_without_a_role() -> None:
    assert names(SUBJECT.without_identifiers()) == ["zip", "sex", "illness"]
    assert names(replace(SUBJECT, roles=None).without_identifiers()) == ["person", "zip", "sex", "illness"]
    has_key = replace(SUBJECT, roles=Roles(insensitive=("id",)))
    assert names(has_key.without_identifiers()) == ["id", "person", "zip", "sex", "illness"]


@pytest.mark.parametrize("entity", ["person,zip", "{person,zip}", "person, zip"])
def test_several_columns_are_no_entity_and_the_refusal_says_how_to_make_one(entity: str) -> None:
    with pytest.raises(InputError, match="one column; several are named") as refused:
        Roles(quasi_identifiers=("sex",), entity=entity).check(PATIENTS)
    assert 'ADD person text[] GENERATED ALWAYS AS (ARRAY["person"::text, "zip"::text]) STORED' in (
        refused.value.hint or ""
    )
    with pytest.raises(UnknownName):
        Roles(quasi_identifiers=("sex",), entity=f"{entity},nothing").check(PATIENTS)
    odd = replace(PATIENTS, columns=(*PATIENTS.columns, column(entity)))
    Roles(quasi_identifiers=("sex",), entity=entity).check(odd)


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
    assert "kanon_suggest" in (raised.value.hint or "")


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
