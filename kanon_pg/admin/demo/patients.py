"""The demo's table `patients`: invented people of an invented region, with the skew of a real hospital.

Most people share their combination of year of birth, sex and zip code with few others, and some with nobody;
that is what the demo shows. Everything is drawn by NumPy in whole columns; `region.toml` has the names.
"""

from __future__ import annotations

import csv
import io
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kanon_pg.db.identifiers import Identifier
from kanon_pg.db.psycopg_adapter import Connection, PsycopgDatabase
from kanon_pg.db.statements import statement


@dataclass(frozen=True, slots=True)
class Ward:
    """A ward and whom it treats."""

    name: str
    age: float
    spread: float
    """`age`, `spread`: age at which it treats most, and the standard deviation around it, in years."""
    weight: float
    """Relative number of admissions at that age."""
    cost: float
    """Median cost of an admission."""
    diagnoses: list[str]
    """From the most frequent to the rarest."""
    only: str | None = None
    """The one sex it treats."""


@dataclass(frozen=True, slots=True)
class Names:
    """Invented names: every start with every end."""

    starts: list[str]
    ends: list[str]

    def all(self) -> list[str]:
        """Return every name once."""
        return [start + end for start in self.starts for end in self.ends]


@dataclass(frozen=True, slots=True)
class HomeRegion:
    """Everything the generator draws from."""

    first_names: dict[str, Names]
    """By sex, 'F' and 'M'."""
    last_names: Names
    zip_codes: list[str]
    """From the largest town to the smallest village."""
    sexes: dict[str, float]
    ethnicities: dict[str, float]
    """`sexes`, `ethnicities`: shares in the whole region; they sum to 1."""
    ages: list[list[float]]
    """Bands of age in years: from, to, and a weight per year of age."""
    wards: tuple[Ward, ...]
    diagnosis_sex: dict[str, str]
    """The one sex of a diagnosis that only one has."""


@cache
def region() -> HomeRegion:
    """Return the region."""
    text = resources.files("kanon_pg.admin.demo").joinpath("region.toml").read_text(encoding="utf-8")
    data: dict[str, Any] = tomllib.loads(text)
    return HomeRegion(
        first_names={sex: Names(**names) for sex, names in data["first_names"].items()},
        last_names=Names(**data["last_names"]),
        **data["people"],
        wards=tuple(Ward(**ward) for ward in data["wards"]),
        diagnosis_sex=data["only"],
    )


PEOPLE = 20_500
SEED = 20_250_101
FIRST_DAY = np.datetime64("2023-01-01")
DAYS = 731
"""Admissions of two years."""

RETURN_SHARE = (0.06, 0.24)
"""Chance of one more admission after each one: of a newborn, and of a person of 100 years."""

SAME_WARD = 0.65
"""Share of returning patients who come back for what they had before."""

NEIGHBORHOOD = 12.0
"""Concentration of the ethnic mixture of a zip code around that of the region; less is more apart."""

LOG_COST_SPREAD = 0.7
"""Standard deviation of the logarithm of the cost of one admission within a ward."""

Indices = NDArray[np.int64]
Weights = NDArray[np.float64]
Words = NDArray[np.str_]
Columns = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class _People:
    """One entry per person; words as positions in the region's lists, age in years."""

    age: Weights
    sex: Indices
    zip_code: Indices
    ethnicity: Indices


@dataclass(frozen=True, slots=True)
class _Admissions:
    """One entry per admission, ordered by day (counted from `FIRST_DAY`)."""

    person: Indices
    day: Indices
    ward: Indices
    diagnosis: Words
    cost: Weights


def patients(people: int = PEOPLE, seed: int = SEED) -> Columns:
    """Generate the table, one row per admission, ordered by its day.

    Parameters
    ----------
    people : int
        Number of different people, >= 1; about 1.2 times as many rows come out.
    seed : int
        The same seed gives the same table.

    Returns
    -------
    mapping
        Arrays of equal length: patient_id, first_name, last_name, ssn, birth_date, sex, zip, ethnicity,
        admission_date, ward, diagnosis and cost, which has two decimals.
    """
    rng = np.random.default_rng(seed)
    place = region()
    persons = _draw_people(rng, place, people)
    admissions = _draw_admissions(rng, place, persons)
    return _table(rng, place, persons, admissions)


def _shares(weights: Weights) -> Weights:
    shares: Weights = weights / weights.sum()
    return shares


def _ranked(size: int, offset: int = 1) -> Weights:
    """Return Zipf shares of ranks 1 to `size`; a larger offset is flatter."""
    return _shares(1.0 / np.arange(offset, size + offset))


def _pick(rng: np.random.Generator, weights: Weights) -> Indices:
    """Draw one position per row of a matrix of weights (rows x choices)."""
    steps = np.cumsum(weights, axis=1)
    points = rng.random(len(weights)) * steps[:, -1]
    passed: Indices = (points[:, None] >= steps).sum(axis=1)
    picked: Indices = np.minimum(passed, weights.shape[1] - 1)
    return picked


def _draw_people(rng: np.random.Generator, place: HomeRegion, people: int) -> _People:
    starts, stops, per_year = np.array(place.ages).T
    band = rng.choice(len(starts), size=people, p=_shares((stops - starts) * per_year))
    age = starts[band] + rng.random(people) * (stops - starts)[band]
    sex = rng.choice(len(place.sexes), size=people, p=_shares(np.array([*place.sexes.values()])))
    towns = len(place.zip_codes)
    zip_code = rng.choice(towns, size=people, p=_ranked(towns))
    mixtures = rng.dirichlet(NEIGHBORHOOD * np.array([*place.ethnicities.values()]), size=towns)
    return _People(age, sex, zip_code, _pick(rng, mixtures[zip_code]))


def _draw_admissions(rng: np.random.Generator, place: HomeRegion, persons: _People) -> _Admissions:
    low, high = RETURN_SHARE
    visits = rng.geometric(1.0 - (low + (high - low) * persons.age / 100.0))
    person = np.repeat(np.arange(len(visits)), visits)
    rows = np.arange(len(person))
    first = (np.cumsum(visits) - visits)[person]

    ward = _pick(rng, _ward_weights(place, persons)[person])
    diagnosis = _draw_diagnoses(rng, place, ward, persons.sex[person])
    source = np.where(rng.random(len(rows)) < SAME_WARD, first, rows)
    ward, diagnosis = ward[source], diagnosis[source]

    median = np.array([w.cost for w in place.wards])[ward]
    cost = np.round(median * np.exp(rng.normal(0.0, LOG_COST_SPREAD, len(rows))), 2)
    day = _draw_days(rng, len(rows))
    order = np.argsort(day, kind="stable")
    return _Admissions(person[order], day[order], ward[order], diagnosis[order], cost[order])


def _ward_weights(place: HomeRegion, persons: _People) -> Weights:
    weights = np.empty((len(persons.age), len(place.wards)))
    for number, ward in enumerate(place.wards):
        weights[:, number] = ward.weight * np.exp(-0.5 * ((persons.age - ward.age) / ward.spread) ** 2)
        if ward.only is not None:
            weights[persons.sex != [*place.sexes].index(ward.only), number] = 0.0
    return weights


def _draw_diagnoses(rng: np.random.Generator, place: HomeRegion, ward: Indices, sex: Indices) -> Words:
    drawn = np.empty(len(ward), dtype="U32")
    for number, treated in enumerate(place.wards):
        rows = np.flatnonzero(ward == number)
        names = treated.diagnoses
        weights = np.tile(_ranked(len(names)), (len(rows), 1))
        for column, name in enumerate(names):
            if name in place.diagnosis_sex:
                weights[sex[rows] != [*place.sexes].index(place.diagnosis_sex[name]), column] = 0.0
        drawn[rows] = np.array(names)[_pick(rng, weights)]
    return drawn


def _draw_days(rng: np.random.Generator, admissions: int) -> Indices:
    days = FIRST_DAY + np.arange(DAYS)
    winter = 1.0 + 0.25 * np.cos(2.0 * np.pi * np.arange(DAYS) / 365.25)
    quiet = np.where(np.is_busday(days), 1.0, 0.55)
    return rng.choice(DAYS, size=admissions, p=_shares(winter * quiet))


def _draw_names(rng: np.random.Generator, size: int, names: list[str]) -> Words:
    return rng.choice(rng.permutation(np.array(names)), size=size, p=_ranked(len(names), offset=3))


def _draw_ssn(rng: np.random.Generator, people: int) -> Words:
    """Draw different numbers that look like social security numbers but never were any.

    Areas 900-999 were never issued, and groups 01-49 there are not taxpayer numbers either.
    """
    number = rng.choice(100 * 49 * 9999, size=people, replace=False)
    area, rest = np.divmod(number, 49 * 9999)
    group, serial = np.divmod(rest, 9999)
    text = np.char.mod("%d-", 900 + area)
    text = np.char.add(text, np.char.mod("%02d-", 1 + group))
    return np.char.add(text, np.char.mod("%04d", 1 + serial))


def _table(rng: np.random.Generator, place: HomeRegion, persons: _People, admissions: _Admissions) -> Columns:
    people = len(persons.age)
    sexes = np.array([*place.sexes])
    female = np.where(sexes[persons.sex] == "X", rng.random(people) < 0.5, sexes[persons.sex] == "F")
    names = {sex: _draw_names(rng, people, place.first_names[sex].all()) for sex in "FM"}
    # Numbered at random, so that the number says nothing about the day of the first admission.
    patient_id = rng.permutation(people).astype(np.int32) + 100_001
    # Ages count back from the first admission, so nobody is admitted before birth.
    first_day = np.full(people, DAYS)
    np.minimum.at(first_day, admissions.person, admissions.day)
    birth_date = FIRST_DAY + first_day - np.floor(persons.age * 365.2425).astype(np.int64)
    of_person = {
        "patient_id": patient_id,
        "first_name": np.where(female, names["F"], names["M"]),
        "last_name": _draw_names(rng, people, place.last_names.all()),
        "ssn": _draw_ssn(rng, people),
        "birth_date": birth_date,
        "sex": sexes[persons.sex],
        "zip": np.array(place.zip_codes)[persons.zip_code],
        "ethnicity": np.array([*place.ethnicities])[persons.ethnicity],
    }
    columns = {name: values[admissions.person] for name, values in of_person.items()}
    columns["admission_date"] = FIRST_DAY + admissions.day
    columns["ward"] = np.array([ward.name for ward in place.wards])[admissions.ward]
    columns["diagnosis"] = admissions.diagnosis
    columns["cost"] = admissions.cost
    return columns


def create_patients(connection: Connection, patients: Columns) -> int:
    """Create the table `patients` and fill it by COPY, in the connection's transaction.

    Parameters
    ----------
    connection : psycopg.Connection
        Open, to a database that has no such table.
    patients : mapping
        What `kanon_pg.admin.demo.patients.patients` returned.

    Returns
    -------
    int
        Rows stored.
    """
    db = PsycopgDatabase(connection)
    db.execute(statement("demo_create_patients"))
    table = Identifier.of("patients")
    command = statement(
        "copy_csv_in", table=table, names=[Identifier.of(name) for name in patients], nullable=[]
    )
    records = io.StringIO()
    csv.writer(records).writerows(zip(*(values.tolist() for values in patients.values()), strict=True))
    with connection.cursor() as cursor:
        with cursor.copy(command.text.encode()) as copy:
            copy.write(records.getvalue().encode())
        rows = cursor.rowcount
    db.execute(statement("analyze", relation=table))
    return rows
