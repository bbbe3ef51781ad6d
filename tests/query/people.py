"""Makes the people of the hospital: the same ones every time, and one whose secrets can be exchanged.

An attack works if it tells two worlds apart that are equal in everything except the victim. So each
world is made from the same draws, and the victim is put into it last.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from random import Random
from typing import Any

import psycopg
from psycopg import sql

from tests.query.hospital import PUBLIC, SCHEMA, SCHEMA_FILE

PEOPLE = 3000
SEED = 20240229
FIRST_DAY, LAST_DAY = date(2022, 1, 1), date(2024, 12, 31)
VICTIM = 17
VICTIM_BORN = date(1957, 5, 9)

WARDS = (
    ("cardiology", "Heart", "A", 1, 60, "internal medicine"),
    ("oncology", "Tumors", "A", 2, 45, "internal medicine"),
    ("internal", "General", "A", 3, 80, "internal medicine"),
    ("surgery", "Surgery", "B", 1, 70, "surgery"),
    ("orthopedics", "Bones", "B", 2, 50, "surgery"),
    ("neurology", "Nerves", "C", 1, 40, "neurology"),
    ("psychiatry", "Mind", "C", 2, 55, "neurology"),
    ("icu", "Intensive care", "B", 0, 20, "intensive care"),
)
CODES = (
    ("I10", "circulatory", "hypertension", True),
    ("I21", "circulatory", "infarction", False),
    ("I50", "circulatory", "heart failure", True),
    ("C34", "neoplasms", "lung cancer", True),
    ("C50", "neoplasms", "breast cancer", True),
    ("E11", "endocrine", "diabetes", True),
    ("J18", "respiratory", "pneumonia", False),
    ("J44", "respiratory", "COPD", True),
    ("K35", "digestive", "appendicitis", False),
    ("S72", "injuries", "fracture of the femur", False),
    ("M16", "musculoskeletal", "arthrosis of the hip", True),
    ("G35", "nervous", "multiple sclerosis", True),
    ("F20", "mental", "schizophrenia", True),
    ("F32", "mental", "depression", True),
    ("B20", "infections", "HIV", True),
)
ETHNICITIES = ("A", "B", "C", "D")
TESTS = ("glucose", "hiv", "crp", "creatinine")
KINDS = ("ward round", "consultation", "emergency", "follow-up")
PHYSICIANS = tuple(f"Dr. {name}" for name in ("Abel", "Bohm", "Curie", "Dorn", "Egk", "Falk", "Gall", "Hess"))
ONLY_PHYSICIAN = "Dr. Only"
"""Sees nobody but the victim, many times: many rows, one person."""


class World(Enum):
    """What is true about the victim."""

    AS_IS = "as is"
    OTHER = "other secrets"
    ABSENT = "absent"


@dataclass(frozen=True)
class Patient:
    """A row of `patients`."""

    patient_id: int
    name: str
    ssn: str
    birth_date: date
    sex: str
    zip: str
    ethnicity: str
    admission_date: date
    discharge_date: date | None
    ward: str
    diagnosis: str
    cost: Decimal
    readmitted: bool


Row = Sequence[Any]

VICTIM_AS_IS = Patient(
    VICTIM,
    "Quist, Zdenka",
    "917-00-0017",
    VICTIM_BORN,
    "F",
    "10437",
    "D",
    date(2023, 4, 18),
    date(2023, 5, 30),
    "oncology",
    "C50",
    Decimal("94821.37"),
    True,
)
VICTIM_OTHER = replace(
    VICTIM_AS_IS,
    discharge_date=date(2023, 4, 20),
    ward="psychiatry",
    diagnosis="F20",
    cost=Decimal("1203.50"),
    readmitted=False,
)


def zips() -> list[Row]:
    """Return the rows of `zip_regions`: 24 areas of 4 regions."""
    regions = ("north", "east", "south", "west")
    return [
        (f"10{region}{area:02d}", f"{title} {area}", title, 4000 + 900 * area, area % 2 == 0)
        for region, title in enumerate(regions, start=3)
        for area in (1, 12, 23, 34, 37, 45)
    ]


def days() -> list[Row]:
    """Return the rows of `calendar`."""
    length = (LAST_DAY - FIRST_DAY).days + 1
    return [_calendar_row(FIRST_DAY + timedelta(days=day)) for day in range(length)]


def _calendar_row(day: date) -> Row:
    is_holiday = (day.month, day.day) in {(1, 1), (5, 1), (12, 25), (12, 26)}
    week = day.isocalendar().week
    return (day, day.year, (day.month + 2) // 3, day.month, week, day.isoweekday() > 5, is_holiday)


def patients(world: World) -> list[Patient]:
    """Return the patients of a world; worlds differ in the victim alone."""
    draw = Random(SEED)
    others = [_patient(number, draw) for number in range(1, PEOPLE + 1)]
    others = [patient for patient in others if patient.birth_date != VICTIM_BORN]
    at = next(place for place, patient in enumerate(others) if patient.patient_id >= VICTIM)
    if others[at].patient_id == VICTIM:
        del others[at]
    if world is not World.ABSENT:
        others.insert(at, VICTIM_AS_IS if world is World.AS_IS else VICTIM_OTHER)
    return others


def _patient(number: int, draw: Random) -> Patient:
    admitted = FIRST_DAY + timedelta(days=draw.randrange((LAST_DAY - FIRST_DAY).days))
    stay = min(int(draw.expovariate(1 / 6)) + 1, (LAST_DAY - admitted).days)
    return Patient(
        patient_id=number,
        name=f"{draw.choice('ABCDEFGHKLMNPRST')}{draw.choice('aeiou')}{draw.choice('bdklmnrst')}, {number}",
        ssn=f"{draw.randrange(100, 900)}-{draw.randrange(10, 99)}-{number:04d}",
        birth_date=date(1935, 1, 1) + timedelta(days=draw.randrange(365 * 72)),
        sex=draw.choice("FM"),
        zip=draw.choice(zips())[0],
        ethnicity=draw.choices(ETHNICITIES, (60, 25, 10, 5))[0],
        admission_date=admitted,
        discharge_date=None if draw.random() < 0.05 else admitted + timedelta(days=stay),
        ward=draw.choice(WARDS)[0],
        diagnosis=draw.choice(CODES)[0],
        cost=Decimal(str(round(draw.lognormvariate(8, 0.6), 2))),
        readmitted=draw.random() < 0.2,
    )


def visits(world: World) -> list[Row]:
    """Return the rows of `visits`; the victim's are the last ones."""
    draw = Random(SEED + 1)
    rows: list[Row] = []
    for patient in patients(World.ABSENT):
        for _ in range(draw.randrange(1, 5)):
            rows.append((len(rows) + 1, patient.patient_id, *_visit(patient.admission_date, draw)))
    return rows + [(len(rows) + row[0], *row[1:]) for row in _visits_of_victim(world)]


def _visit(admitted: date, draw: Random) -> Row:
    at = datetime(admitted.year, admitted.month, admitted.day, draw.randrange(7, 20), draw.randrange(60))
    return (
        at + timedelta(days=draw.randrange(4)),
        draw.choice(WARDS)[0],
        draw.choice(KINDS),
        draw.choice(PHYSICIANS),
        draw.randrange(5, 90),
        None if draw.random() < 0.03 else Decimal(draw.randrange(20, 400)),
    )


def _visits_of_victim(world: World) -> Iterator[Row]:
    if world is World.ABSENT:
        return
    department = "oncology" if world is World.AS_IS else "psychiatry"
    fee = Decimal(350 if world is World.AS_IS else 20)
    for number in range(1, 13):
        at = datetime(2023, 4, 18, 8) + timedelta(days=3 * number)
        yield (number, VICTIM, at, department, "consultation", ONLY_PHYSICIAN, 30, fee)


def lab_results(world: World) -> list[Row]:
    """Return the rows of `lab_results`; the victim's are the last ones."""
    draw = Random(SEED + 2)
    rows: list[Row] = []
    for patient in patients(World.ABSENT):
        for test in draw.sample(TESTS, 3):
            value = None if draw.random() < 0.02 else round(draw.gauss(100, 20), 3)
            taken = patient.admission_date + timedelta(days=draw.randrange(3))
            rows.append((len(rows) + 1, patient.patient_id, taken, test, value, draw.random() < 0.15))
    if world is not World.ABSENT:
        is_positive = world is World.AS_IS
        value = 181.5 if is_positive else 99.5
        rows.append((len(rows) + 1, VICTIM, date(2023, 4, 19), "hiv", value, is_positive))
    return rows


def tables(world: World) -> dict[str, Sequence[Row]]:
    """Return the rows of every table, in an order that its foreign keys allow."""
    return {
        "wards": WARDS,
        "zip_regions": zips(),
        "calendar": days(),
        "icd_codes": CODES,
        "patients": [tuple(vars(patient).values()) for patient in patients(world)],
        "visits": visits(world),
        "lab_results": lab_results(world),
    }


def load(connection: psycopg.Connection[Any], world: World, readers: Sequence[str] = ()) -> None:
    """Create the hospital in an empty database; `readers` may read the public tables and nothing else."""
    with connection.transaction():
        connection.execute(SCHEMA_FILE.read_bytes())
        for table, rows in tables(world).items():
            _copy(connection, table, rows)
        connection.execute("refresh materialized view hospital.monthly_report")
        for reader in readers:
            _let_read(connection, reader)
    connection.execute("analyze")


def _copy(connection: psycopg.Connection[Any], table: str, rows: Sequence[Row]) -> None:
    statement = sql.SQL("copy {}.{} from stdin").format(sql.Identifier(SCHEMA), sql.Identifier(table))
    with connection.cursor().copy(statement) as copy:
        for row in rows:
            copy.write_row(row)


def _let_read(connection: psycopg.Connection[Any], reader: str) -> None:
    role, schema = sql.Identifier(reader), sql.Identifier(SCHEMA)
    connection.execute(sql.SQL("grant usage on schema {} to {}").format(schema, role))
    names = sql.SQL(", ").join(sql.Identifier(SCHEMA, table) for table in PUBLIC)
    connection.execute(sql.SQL("grant select on {} to {}").format(names, role))
