"""An honest analyst at a dashboard of a hospital: 300 queries that drill down, none of which aims at anybody.

Diagnoses depend on sex and age, and costs on wards, as in a hospital. What is known of patients is sex, age,
district and month of admission; ward, diagnosis and cost are sensitive.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product
from random import Random
from typing import Any

import psycopg

from tests.query.adversary.town import EVE, K, Oracle

QUERIES = 300
_WARDS = {
    "Cardiology": ("angina", "infarction", "arrhythmia"),
    "Oncology": ("breast cancer", "prostate cancer", "melanoma"),
    "Surgery": ("appendicitis", "hip fracture", "hernia"),
    "Maternity": ("birth", "complication"),
    "Medicine": ("pneumonia", "influenza", "diabetes", "gout"),
}
_COSTS = {"Cardiology": 9000, "Oncology": 14_000, "Surgery": 7000, "Maternity": 4000, "Medicine": 5000}


def build_hospital(admin: psycopg.Connection[Any], patients: int, rules: dict[str, Any]) -> None:
    """Make the hospital of so many patients, protected under some rules."""
    draw = Random(11)
    admin.execute("create schema ward")
    admin.execute(
        "create table ward.patients (id int primary key, age int not null, sex text not null,"
        " district int not null, month int not null, ward text not null, diagnosis text not null,"
        " cost int not null)"
    )
    with admin.cursor().copy("copy ward.patients from stdin") as copy:
        for number in range(1, patients + 1):
            age, sex = min(95, int(draw.triangular(0, 100, 62))), draw.choice("FM")
            ward, diagnosis = _illness(draw, age, sex)
            cost = int(_COSTS[ward] * draw.lognormvariate(0, 0.5))
            copy.write_row(
                (number, age, sex, draw.randrange(8), draw.randrange(1, 13), ward, diagnosis, cost)
            )
    admin.execute(
        "select kanon_declare('ward.patients', quasi_identifiers => '{id,age,sex,district,month}',"
        " sensitive => '{ward,diagnosis,cost}')"
    )
    if admin.execute("select from pg_roles where rolname = %s", [EVE]).fetchone() is None:
        admin.execute(f"create role {EVE} login in role kanon_analyst".encode())
    admin.execute("select kanon_protect('ward.patients', %s, %s::jsonb)", [K, json.dumps(rules)])


def _illness(draw: Random, age: int, sex: str) -> tuple[str, str]:
    shares = {
        "Cardiology": 1 + age / 20,
        "Oncology": 1 + age / 30,
        "Surgery": 3.0,
        "Maternity": 4.0 if sex == "F" and 18 <= age <= 45 else 0.0,
        "Medicine": 4.0,
    }
    ward = draw.choices(list(shares), list(shares.values()))[0]
    diagnoses = [
        one
        for one in _WARDS[ward]
        if not (one == "prostate cancer" and (sex == "F" or age < 45))
        and not (one == "breast cancer" and sex == "M")
    ]
    weights = [0.08 if one in {"gout", "complication"} else 1.0 for one in diagnoses]
    return ward, draw.choices(diagnoses, weights)[0]


def drill_downs(seed: int) -> list[str]:
    """Return the queries: overviews, then one filter more each, in the order of an analyst's day."""
    draw = Random(seed)
    waiting = list(_all())
    overviews, rest = waiting[:20], waiting[20:]
    return overviews + draw.sample(rest, QUERIES - len(overviews))


def _all() -> Iterator[str]:
    measures = ("count(*)", "count(*), avg(cost)", "avg(cost), sum(cost)")
    keys = ("ward", "diagnosis", "month", "sex", "district", "ward, sex", "ward, diagnosis")
    yield from (_query(key, measure) for key, measure in product(keys, measures[:2]))
    yield from (_query("width_bucket(age, 0, 100, 5)", measure) for measure in measures)
    yield from (_query("ward, month", measure) for measure in measures)
    filters = [
        *(f"month = {month}" for month in range(1, 13)),
        *(f"month between {first} and {first + 2}" for first in (1, 4, 7, 10)),
        *(f"age >= {age}" for age in (18, 45, 65, 75)),
        "age < 18",
        "sex = 'F'",
        "sex = 'M'",
        *(f"district = {district}" for district in range(8)),
        *(f"sex = '{sex}' and age >= 65" for sex in "FM"),
        *(f"district = {district} and month <= 6" for district in range(8)),
    ]
    secrets = [
        *(f"ward = '{ward}'" for ward in _WARDS),
        *(f"diagnosis = '{one}'" for found in _WARDS.values() for one in found),
        *(f"cost > {bound}" for bound in (5000, 10_000, 20_000)),
    ]
    for chosen, key in product(filters, ("ward", "diagnosis", "sex", "ward, sex")):
        yield _query(key, measures[1], chosen)
    for chosen, secret in product(filters, secrets):
        yield _query("", measures[1], chosen, secret)
    for secret, key in product(secrets, ("month", "sex", "district", "width_bucket(age, 0, 100, 5)")):
        yield _query(key, measures[1], secret)


def _query(key: str, measure: str, *conditions: str) -> str:
    where = f" where {' and '.join(conditions)}" if conditions else ""
    # an average and a number over a range of its own column would be refused for its text
    shown = measure.replace(", avg(cost)", "") if "cost >" in where else measure
    grouped = " group by 1, 2" if key.count(", ") == 1 else " group by 1"
    return f"select {key + ', ' if key else ''}{shown} from ward.patients{where}{grouped if key else ''}"


def reasons_of(admin: psycopg.Connection[Any]) -> dict[str, int]:
    """Return why answers were withheld."""
    found = admin.execute(
        "select reason, count(*) from kanon.query_log where reason is not null"
        " and relation = 'ward.patients'::regclass::text group by 1"
    )
    return dict(found.fetchall())


def ask_all(connection: psycopg.Connection[Any], seed: int) -> Oracle:
    """Run the analyst's day in a session of its login."""
    oracle = Oracle(connection, [])
    for text in drill_downs(seed):
        oracle.ask(text)
    return oracle
