"""What names of columns and tables say."""

from __future__ import annotations

import pytest

from kanon_pg.audit.roles import lists_people, names_a_person, role_by_name


@pytest.mark.parametrize(
    "name",
    ["patient_id", "patientNbr", "PERSON_KEY", "id_customer", "person", "subject no", "ssn", "memberUuid"],
)
def test_numbers_of_people(name: str) -> None:
    assert names_a_person(name)
    found = role_by_name(name)
    assert found is not None
    assert found.role == "identifier"


@pytest.mark.parametrize(
    "name",
    ["patient_age", "encounter_id", "device_id", "ward_id", "persons_in_household", "class_of_worker", "zip"],
)
def test_other_names(name: str) -> None:
    assert not names_a_person(name)


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("patients", True),
        ("Person", True),
        ("dim_customer", True),
        ("user_master", True),
        ("patient_visits", False),
        ("wards", False),
        ("records", False),
    ],
)
def test_lists_of_people(table: str, expected: bool) -> None:
    assert lists_people(table) == expected
