"""The generated table is large, skewed, repeatable, and holds no number that a real person has."""

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from kanon_pg.admin.demo.patients import patients, region


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return pa.table(patients())


@pytest.fixture(scope="module")
def people(table: pa.Table) -> pa.Table:
    columns = ["patient_id", "ssn", "first_name", "last_name", "birth_date", "sex", "zip", "ethnicity"]
    return table.group_by(columns).aggregate([])


def test_has_at_least_20000_people_of_whom_some_come_again(table: pa.Table, people: pa.Table) -> None:
    visits = table.group_by("patient_id").aggregate([("ssn", "count")])["ssn_count"].to_numpy()
    assert len(visits) >= 20_000
    assert 24_000 <= table.num_rows <= 26_000
    assert 0.05 < np.mean(visits > 1) < 0.4
    assert visits.max() > 3


def test_a_person_is_the_same_in_every_admission(table: pa.Table, people: pa.Table) -> None:
    ids = pc.count_distinct(table["patient_id"]).as_py()
    assert people.num_rows == ids
    assert pc.count_distinct(people["ssn"]).as_py() == ids


def test_social_security_numbers_were_never_issued(people: pa.Table) -> None:
    for text in people["ssn"].to_pylist():
        parts = re.fullmatch(r"(\d{3})-(\d{2})-(\d{4})", text)
        assert parts is not None
        area, group, serial = map(int, parts.groups())
        assert 900 <= area <= 999
        assert 1 <= group <= 49  # 50 and above are taxpayer numbers
        assert serial != 0


def test_nothing_is_missing(table: pa.Table) -> None:
    assert all(column.null_count == 0 for column in table.columns)


def test_the_same_seed_gives_the_same_table_and_another_does_not(table: pa.Table) -> None:
    assert pa.table(patients()).equals(table)
    assert not pa.table(patients(seed=7)).equals(table)


@pytest.mark.parametrize("count", [1, 2, 50])
def test_any_number_of_people_can_be_generated(count: int) -> None:
    assert len(set(patients(people=count)["patient_id"])) == count


def test_zip_codes_and_ethnicities_are_skewed(people: pa.Table) -> None:
    sizes = sorted(people.group_by("zip").aggregate([("ssn", "count")])["ssn_count"].to_pylist())
    assert len(sizes) == len(region().zip_codes)
    assert sizes[-1] > 10 * sizes[0]
    groups = sorted(people.group_by("ethnicity").aggregate([("ssn", "count")])["ssn_count"].to_pylist())
    assert groups[-1] > 0.5 * people.num_rows
    assert groups[0] < 0.05 * people.num_rows


def test_ethnicity_depends_on_the_zip_code(people: pa.Table) -> None:
    shares = []
    for code in region().zip_codes:
        here = people.filter(pc.equal(people["zip"], code))
        shares.append(pc.mean(pc.equal(here["ethnicity"], "White").cast(pa.int8())).as_py())
    assert max(shares) - min(shares) > 0.2


def test_wards_suit_age_and_sex(table: pa.Table) -> None:
    days = pc.subtract(table["admission_date"].cast(pa.int32()), table["birth_date"].cast(pa.int32()))
    years = days.to_numpy() / 365.25
    ward = np.array(table["ward"].to_pylist())
    sex = np.array(table["sex"].to_pylist())
    diagnosis = np.array(table["diagnosis"].to_pylist())
    assert years.min() >= 0
    assert years.max() < 104
    assert np.median(years[ward == "Pediatrics"]) < 18
    assert np.median(years[ward == "Geriatrics"]) > 65
    assert set(sex[ward == "Obstetrics"]) == {"F"}
    assert set(sex[diagnosis == "Prostate cancer"]) == {"M"}


def test_costs_are_skewed_to_the_right_and_differ_by_ward(table: pa.Table) -> None:
    cost = table["cost"].to_numpy()
    assert cost.min() > 0
    assert cost.mean() > 1.15 * np.median(cost)
    ward = np.array(table["ward"].to_pylist())
    assert np.median(cost[ward == "Oncology"]) > 3 * np.median(cost[ward == "Pediatrics"])


def test_most_people_are_alone_with_birth_date_sex_and_zip(people: pa.Table) -> None:
    sizes = people.group_by(["birth_date", "sex", "zip"]).aggregate([("ssn", "count")])["ssn_count"]
    assert pc.sum(pc.equal(sizes, 1)).as_py() > 0.8 * people.num_rows


def test_the_number_of_a_patient_tells_nothing_about_the_day(table: pa.Table) -> None:
    number = table["patient_id"].to_numpy().astype(float)
    day = table["admission_date"].cast(pa.int32()).to_numpy().astype(float)
    assert abs(np.corrcoef(number, day)[0, 1]) < 0.03
