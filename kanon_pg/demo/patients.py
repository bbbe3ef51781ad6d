"""Generates the demo's `patients` table: invented people, with the skew of a real hospital.

Most people share their combination of year of birth, sex and zip code with few others, and some with
nobody; that is what the story shows. Everything is drawn by NumPy in whole columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kanon_pg.demo import vocabulary as words

PEOPLE = 20_500
SEED = 20_250_101
FIRST_ADMISSION = np.datetime64("2023-01-01")
DAYS = 731
"""Admissions of two years."""

RETURN_SHARE = (0.06, 0.24)
"""Chance of one more admission after each one: of a child, and of a person of 100 years."""

SAME_WARD = 0.65
"""Share of returning patients who come back for what they had before."""

Indices = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _People:
    """One entry per person; text columns as positions in the vocabulary."""

    age: NDArray[np.float64]
    sex: Indices
    zip_code: Indices
    ethnicity: Indices


@dataclass(frozen=True, slots=True)
class _Admissions:
    """One entry per admission, ordered by day."""

    person: Indices
    day: Indices
    ward: Indices
    diagnosis: NDArray[np.str_]
    cost: NDArray[np.float64]


def patients(people: int = PEOPLE, seed: int = SEED) -> pa.Table:
    """Generate the table, one row per admission.

    Parameters
    ----------
    people : int
        Number of different people, >= 1; about 1.2 times as many rows come out.
    seed : int
        The same seed gives the same table.

    Returns
    -------
    pyarrow.Table
        Columns patient_id (int32), first_name, last_name, ssn (text), birth_date (date), sex, zip,
        ethnicity (text), admission_date (date), ward, diagnosis (text), cost (decimal with 2 digits).
    """
    rng = np.random.default_rng(seed)
    persons = _draw_people(rng, people)
    admissions = _draw_admissions(rng, persons)
    return _table(rng, persons, admissions)


def _pick(rng: np.random.Generator, weights: NDArray[np.float64]) -> Indices:
    """Draw one position per row of a matrix of weights (rows x choices)."""
    steps = np.cumsum(weights, axis=1)
    points = rng.random(len(weights)) * steps[:, -1]
    return np.minimum((points[:, None] >= steps).sum(axis=1), weights.shape[1] - 1)


def _draw_people(rng: np.random.Generator, people: int) -> _People:
    starts, stops, per_year = (np.array(part, dtype=float) for part in zip(*words.AGE_BANDS, strict=True))
    band = rng.choice(len(starts), size=people, p=_shares((stops - starts) * per_year))
    age = starts[band] + rng.random(people) * (stops - starts)[band]
    sex = rng.choice(len(words.SEXES), size=people, p=words.SEX_SHARES)

    zips = len(words.ZIP_CODES)
    zip_code = rng.choice(zips, size=people, p=_shares(1.0 / np.arange(1, zips + 1)))
    # A Dirichlet mixture per zip code: neighborhoods differ, the region as a whole does not.
    mixtures = rng.dirichlet(12.0 * np.array(words.ETHNICITY_SHARES), size=zips)
    ethnicity = _pick(rng, mixtures[zip_code])
    return _People(age, sex, zip_code, ethnicity)


def _shares(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    result: NDArray[np.float64] = weights / weights.sum()
    return result


def _draw_admissions(rng: np.random.Generator, persons: _People) -> _Admissions:
    low, high = RETURN_SHARE
    returning = low + (high - low) * persons.age / 100.0
    visits = rng.geometric(1.0 - returning)
    person = np.repeat(np.arange(len(visits)), visits)
    first_row = np.cumsum(visits) - visits
    visit_number = np.arange(len(person)) - first_row[person]

    ward = _pick(rng, _ward_weights(persons)[person])
    diagnosis = _draw_diagnoses(rng, ward, persons.sex[person])
    again = (visit_number > 0) & (rng.random(len(person)) < SAME_WARD)
    earlier = np.where(again, first_row[person], np.arange(len(person)))
    ward, diagnosis = ward[earlier], diagnosis[earlier]

    typical = np.array([w.median_cost for w in words.WARDS])[ward]
    cost = np.round(typical * np.exp(rng.normal(0.0, words.LOG_COST_SPREAD, len(person))), 2)
    day = _draw_days(rng, len(person))
    order = np.argsort(day, kind="stable")
    return _Admissions(person[order], day[order], ward[order], diagnosis[order], cost[order])


def _ward_weights(persons: _People) -> NDArray[np.float64]:
    columns = []
    for ward in words.WARDS:
        center, spread = ward.ages
        weight = ward.weight * np.exp(-0.5 * ((persons.age - center) / spread) ** 2)
        if ward.only is not None:
            weight = np.where(persons.sex == words.SEXES.index(ward.only), weight, 0.0)
        columns.append(weight)
    return np.column_stack(columns)


def _draw_diagnoses(rng: np.random.Generator, ward: Indices, sex: Indices) -> NDArray[np.str_]:
    drawn = np.empty(len(ward), dtype="U24")
    for number, place in enumerate(words.WARDS):
        rows = np.flatnonzero(ward == number)
        names = np.array(place.diagnoses)
        weights = np.broadcast_to(1.0 / np.arange(1, len(names) + 1), (len(rows), len(names))).copy()
        for wrong, right_sex in ((words.WOMEN_ONLY, "F"), (words.MEN_ONLY, "M")):
            excluded = (sex[rows] != words.SEXES.index(right_sex))[:, None] & np.isin(names, list(wrong))
            weights[excluded] = 0.0
        drawn[rows] = names[_pick(rng, weights)]
    return drawn


def _draw_days(rng: np.random.Generator, admissions: int) -> Indices:
    days = np.arange(DAYS)
    winter = 1.0 + 0.25 * np.cos(2.0 * np.pi * days / 365.25)
    weekend = np.isin((FIRST_ADMISSION + days).astype("datetime64[D]").view("int64") % 7, (2, 3))  # day 0: a Thursday
    return rng.choice(DAYS, size=admissions, p=_shares(winter * np.where(weekend, 0.55, 1.0)))


def _names(rng: np.random.Generator, size: int, starts: tuple[str, ...], ends: tuple[str, ...]) -> NDArray[np.str_]:
    names = np.array([start + end for start in starts for end in ends])
    popularity = _shares(1.0 / np.arange(3, len(names) + 3))
    return rng.choice(rng.permutation(names), size=size, p=popularity)


def _social_security_numbers(rng: np.random.Generator, people: int) -> NDArray[np.str_]:
    # Area 900-999 was never issued; groups 01-49 are not taxpayer numbers either.
    number = rng.choice(100 * 49 * 9999, size=people, replace=False)
    area, rest = 900 + number // (49 * 9999), number % (49 * 9999)
    parts = (area.astype(str), np.char.zfill((1 + rest // 9999).astype(str), 2), np.char.zfill((1 + rest % 9999).astype(str), 4))
    text: Any = parts[0]
    for part in parts[1:]:
        text = np.char.add(np.char.add(text, "-"), part)
    return np.asarray(text)


def _table(rng: np.random.Generator, persons: _People, admissions: _Admissions) -> pa.Table:
    people = len(persons.age)
    female = persons.sex == words.SEXES.index("F")
    either = np.where(persons.sex == words.SEXES.index("X"), rng.random(people) < 0.5, female)
    first_name = np.where(
        either,
        _names(rng, people, words.FEMALE_STARTS, words.FEMALE_ENDS),
        _names(rng, people, words.MALE_STARTS, words.MALE_ENDS),
    )
    last_name = _names(rng, people, words.LAST_STARTS, words.LAST_ENDS)
    ssn = _social_security_numbers(rng, people)
    # Numbered at random, so that the number says nothing about the day of the first admission.
    patient_id = rng.permutation(people) + 100_001
    # Ages count back from the first admission, so nobody is admitted before birth.
    first_day = np.full(people, DAYS, dtype=np.int64)
    np.minimum.at(first_day, admissions.person, admissions.day)
    birth_date = FIRST_ADMISSION + first_day - np.floor(persons.age * 365.2425).astype(np.int64)

    person = admissions.person
    cost = pa.array(admissions.cost, pa.float64()).cast(pa.decimal128(12, 2))
    return pa.table(
        {
            "patient_id": pa.array(patient_id[person].astype(np.int32)),
            "first_name": _text(first_name[person]),
            "last_name": _text(last_name[person]),
            "ssn": _text(ssn[person]),
            "birth_date": pa.array(birth_date[person].astype("datetime64[D]")),
            "sex": _text(np.array(words.SEXES)[persons.sex[person]]),
            "zip": _text(np.array(words.ZIP_CODES)[persons.zip_code[person]]),
            "ethnicity": _text(np.array(words.ETHNICITIES)[persons.ethnicity[person]]),
            "admission_date": pa.array((FIRST_ADMISSION + admissions.day).astype("datetime64[D]")),
            "ward": _text(np.array([ward.name for ward in words.WARDS])[admissions.ward]),
            "diagnosis": _text(admissions.diagnosis),
            "cost": cost,
        }
    )


def _text(values: NDArray[np.str_]) -> pa.Array:
    return pa.array(values, pa.string())
