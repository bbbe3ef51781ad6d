"""Linked tables are published together: what joins show of a person is shown of k people, or not at all."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from typing import Any

import psycopg
import pytest

from kanon_pg.errors import InputError, KanonError, NameTaken, UnsuitableColumn, UnsuitableRelation
from tests.fixtures.interfaces import Interface

K = 3

_CLINIC = """
create table patients (id integer primary key, sex text, region text, name text, surrogate integer);
create table admissions (
    id bigint primary key, patient integer not null references patients, ward text, clinic text, admitted date, surrogate bigint
);
create table lab_results (
    id bigint primary key, admission bigint not null references admissions, patient integer not null references patients,
    kind text, value numeric, surrogate bigint
);
create table invoices (id integer primary key, payer integer not null references patients, amount numeric, surrogate integer);
"""


def fill_clinic(connection: psycopg.Connection[Any], seed: int, people: int = 120) -> None:
    draw = random.Random(seed)
    connection.execute(_CLINIC.encode())
    patients = [
        (i, draw.choice("FM"), draw.choice(["north", "south", "west"]), f"Name {i}", i) for i in range(1, people + 1)
    ]
    stays = [
        (patient[0], ward, draw.choice(["A", "B"]))
        for patient in patients
        for ward in draw.choices(["w1", "w2"], k=draw.choice([0, 1, 1, 2, 2, 3, 7]))
    ]
    clinic = {patient[0]: draw.choice(["A", "B"]) for patient in patients}
    admissions = [
        (number, stay[0], stay[1], clinic[stay[0]], f"20{draw.randint(18, 20)}-0{draw.randint(1, 9)}-11", number)
        for number, stay in enumerate(stays, 1)
    ]
    labs = [(stay[0], stay[1], draw.choice("xyz")) for stay in admissions for _ in range(draw.choice([0, 0, 1, 1, 2]))]
    invoices = [(patient[0], draw.randint(1, 9)) for patient in patients for _ in range(draw.choice([1, 1, 2]))]
    with connection.cursor() as cursor:
        cursor.executemany("insert into patients values (%s, %s, %s, %s, %s)", patients)
        cursor.executemany("insert into admissions values (%s, %s, %s, %s, %s, %s)", admissions)
        cursor.executemany(
            "insert into lab_results values (%s, %s, %s, %s, 1, %s)",
            [(number, *lab, number) for number, lab in enumerate(labs, 1)],
        )
        cursor.executemany(
            "insert into invoices values (%s, %s, %s, %s)",
            [(number, *one, number) for number, one in enumerate(invoices, 1)],
        )


def declare_clinic(interface: Interface) -> None:
    interface.declare(
        "patients", identifiers=["name"], quasi_identifiers=["sex", "region"], insensitive=["surrogate"]
    )
    interface.declare("admissions", quasi_identifiers=["clinic"], sensitive=["ward"], insensitive=["surrogate"])
    interface.declare("lab_results", sensitive=["kind"], insensitive=["value", "surrogate"])
    interface.declare("invoices", insensitive=["amount", "surrogate"])
    interface.link("admissions", "patients")
    interface.link("lab_results", "admissions")
    interface.link("invoices", "patients")


def rows(connection: psycopg.Connection[Any], query: str) -> list[tuple[Any, ...]]:
    return connection.execute(query.encode()).fetchall()


def require_hidden(connection: psycopg.Connection[Any], k: int = K) -> None:
    """Count, of what joins show, that nobody is among fewer than k people who look alike in every way."""
    shown: dict[Any, list[Any]] = {
        row[0]: [tuple(map(str, row[1:])), []]
        for row in rows(connection, "select id, sex, region, admissions_clinic, kanon_suppressed from safe.patients")
    }
    labs = Counter(row[0] for row in rows(connection, "select admission from safe.lab_results"))
    for key, patient in rows(connection, "select id, patient from safe.admissions"):
        shown[patient][1].append(labs.pop(key, 0))
    assert not labs, "a lab result hangs on nothing"
    invoices = Counter(row[0] for row in rows(connection, "select payer from safe.invoices"))
    assert invoices.keys() <= shown.keys()
    classes = Counter((cells, tuple(sorted(numbers)), invoices[key]) for key, (cells, numbers) in shown.items())
    assert not classes or min(classes.values()) >= k


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_what_joins_show_is_shown_of_k_people(interface: Interface, seed: int) -> None:
    connection = interface.connection
    fill_clinic(connection, seed)
    declare_clinic(interface)
    report = interface.anonymize(
        "patients", K, tables=["lab_results", "admissions", "invoices"], time_limit=2.0, seed=1
    )
    assert (report.rows, report.people) == (120, 120)
    require_hidden(connection)
    for table, key in (("patients", None), ("admissions", "patient"), ("lab_results", "admission"), ("invoices", "payer")):
        found = rows(connection, f"select count(*), count(distinct surrogate) from safe.{table}")
        assert found[0][0] == found[0][1] > 0, key
    # what joins show is what is so: the surrogate keys say who is who
    joined = rows(
        connection,
        "select p.surrogate, a.surrogate, l.surrogate from safe.lab_results l"
        " join safe.admissions a on a.id = l.admission join safe.patients p on p.id = a.patient and p.id = l.patient",
    )
    truth = rows(
        connection,
        "select p.id, a.id, l.id from lab_results l join admissions a on a.id = l.admission join patients p on p.id = a.patient",
    )
    assert set(joined) <= set(truth)
    assert len(joined) == rows(connection, "select count(*) from safe.lab_results")[0][0]
