"""Both interfaces lead to the same operations with the same results and the same refusals."""

from dataclasses import asdict

import pytest

from kanon_pg.errors import InputError
from tests.fixtures.interfaces import Interface

pytestmark = [pytest.mark.conformance, pytest.mark.all_cases]


@pytest.fixture
def patients(interface: Interface) -> str:
    interface.connection.execute(
        "create table patients as select i as id, 20 + i % 5 as age, (array['f','m'])[1 + i % 2] as sex,"
        " 'ward ' || i % 3 as ward, 'd' || i % 4 as diagnosis from generate_series(1, 200) as i"
    )
    interface.connection.execute("alter table patients add primary key (id)")
    return "patients"


def test_from_declaration_to_dropped_release(interface: Interface, patients: str) -> None:
    interface.declare(
        patients, quasi_identifiers=["age", "sex", "ward"], sensitive=["diagnosis"], weights={"age": 2}
    )
    report = interface.anonymize(patients, 5, method="greedy", time_limit=20)
    assert report.rows == 200
    assert report.smallest_class >= 5
    column = interface.connection.execute("select count(*) from safe.patients").fetchone()
    assert column == (200,)
    interface.refresh("patients")
    interface.drop("patients")
    interface.undeclare(patients)
    assert interface.connection.execute("select to_regclass('safe.patients')").fetchone() == (None,)


def test_measures_of_table_and_release(interface: Interface, patients: str) -> None:
    columns = {"quasi_identifiers": ["age", "sex", "ward"], "sensitive": ["diagnosis"]}
    before = interface.measure(patients, **columns)
    assert (before.rows, before.classes, before.k) == (200, 30, 6)
    interface.anonymize(patients, 8, **columns, method="greedy")
    assert interface.measure("safe.patients", **columns).k >= 8


def test_refusals_are_the_same(interface: Interface, patients: str) -> None:
    with pytest.raises(InputError, match="k must be at least 2, not 1") as raised:
        interface.anonymize(patients, 1)
    assert raised.value.hint is not None


def test_reports_are_equal_through_both_interfaces(interface: Interface, patients: str) -> None:
    report = asdict(interface.anonymize(patients, 4, quasi_identifiers=["age", "sex"], method="greedy"))
    report.pop("elapsed")
    expected = {"rows": 200, "people": 200, "row_types": 10, "classes": 10, "suppressed_cells": 0}
    assert {name: report[name] for name in expected} == expected


def test_every_other_operation(interface: Interface, patients: str) -> None:
    interface.declare(patients, identifiers=["id"], quasi_identifiers=["age", "sex"], entity="id")
    interface.connection.execute(
        "create table visits as select i as visit, 1 + i % 200 as patient from generate_series(1, 400) as i;"
        " alter table visits alter patient set not null, add foreign key (patient) references patients"
    )
    interface.link("visits", patients)
    interface.unlink("visits")
    assert [point.k for point in interface.curve(patients, ks=[2, 5], method="greedy")] == [2, 5]
    for name in ("one", "other"):
        interface.anonymize(patients, 4, release=name, method="greedy", remember=5)
    assert {one.releases for one in interface.composition(["one", "other"])} >= {("one", "other")}


def test_a_certificate(interface: Interface, patients: str) -> None:
    interface.anonymize(patients, 8, quasi_identifiers=["age", "sex"], method="greedy")
    assert '"lower_bound"' in interface.certificate("patients", time_limit=5)
