"""Measures: published figures, roles of columns, whose rights count."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import date

import pytest
from psycopg.types.range import Range

from tests.fixtures.services import Services

# --- published worked examples ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("classes", "t"),
    [
        # Li, Li and Venkatasubramanian 2007: section 4 (0.375) and the caption of table 5 (0.167)
        ([(3, 4, 5), (6, 11, 8), (7, 9, 10)], 0.375),
        ([(3, 5, 9), (6, 11, 8), (4, 7, 10)], 1 / 6),
    ],
)
def test_t_closeness_of_salaries(services: Services, classes: list[tuple[int, ...]], t: float) -> None:
    rows = [(number, 1000 * salary) for number, group in enumerate(classes) for salary in group]
    services.table("salaries", {"class": "integer", "salary": "integer"}, rows)
    found = services.measure("salaries", ["class"], ["salary"])
    assert found.t_ordered == pytest.approx(t)
    # three of nine equally frequent values: two thirds of the mass have to move
    assert found.t_equal == pytest.approx(2 / 3)
    assert found.delta_disclosure == pytest.approx(math.log(3))
    assert found.beta_likeness == pytest.approx(2)


@pytest.mark.parametrize(
    ("classes", "distinct", "entropy", "frequency"),
    [
        # Machanavajjhala, Gehrke, Kifer and Venkitasubramaniam 2006, inpatient microdata: figure 2 is
        # 4-anonymous with a class of cancer only, figure 3 is 3-diverse
        (["hhvv", "chvv", "cccc"], 1, 1.0, 1.0),
        (["hvcc", "chvv", "hvcc"], 3, 2 * math.sqrt(2), 2.0),
    ],
)
def test_l_diversity_of_inpatients(
    services: Services, classes: list[str], distinct: int, entropy: float, frequency: float
) -> None:
    rows = [(number, illness) for number, group in enumerate(classes) for illness in group]
    services.table("inpatients", {"class": "integer", "illness": "text"}, rows)
    found = services.measure("inpatients", ["class"], ["illness"])
    assert (found.k, found.distinct_l, found.p) == (4, distinct, distinct)
    assert found.entropy_l == pytest.approx(entropy)
    assert found.frequency_l == pytest.approx(frequency)
    assert found.t_ordered is None


# --- roles ------------------------------------------------------------------------------------------------


def test_without_declaration_keys_are_no_quasi_identifiers(services: Services) -> None:
    columns = {"id": "integer", "code": "text", "a": "integer"}
    services.table("t", columns, [(1, "p", 5), (2, "q", 5)], keys=["id", "code"])
    assert services.measure("t").k == 2


def test_sensitive_columns_of_the_call_leave_the_defaults(services: Services) -> None:
    services.table("t", {"a": "integer", "s": "text"}, [(1, "x"), (1, "y")])
    assert (services.measure("t").k, services.measure("t", None, ["s"]).k) == (1, 2)


def test_declared_roles_and_people(services: Services) -> None:
    services.table(
        "visits",
        {"patient": "integer", "zip": "text", "ward": "text", "diagnosis": "text"},
        [
            (1, "z", "a", "flu"),
            (1, "z", "b", "gout"),
            (2, "z", "a", "flu"),
            (3, "y", "a", "flu"),
            (3, "y", "a", "flu"),
        ],
    )
    services.declare("visits", quasi_identifiers=["zip"], sensitive=["diagnosis"], entity="patient")
    found = services.measure("visits")
    assert (found.rows, found.people, found.classes, found.k, found.largest_class) == (5, 3, 2, 1, 2)
    # both people of zip z had the flu, although only two of its three rows say so
    assert (found.distinct_l, found.frequency_l) == (1, 1.0)
    assert services.measure("visits", ["ward"]).distinct_l == 1


def patients(count: int) -> Iterable[tuple[object, ...]]:
    return [(i, i // 2, 20 + i % 7, "fm"[i % 2], f"z{i % 45}", f"d{i % 3}") for i in range(1, count + 1)]


PATIENT = dict.fromkeys(("id", "patient", "age"), "integer") | dict.fromkeys(
    ("sex", "zip", "diagnosis"), "text"
)


def test_a_release_is_measured_with_its_own_roles(services: Services) -> None:
    services.table("patients", PATIENT, patients(300))
    roles = {"quasi_identifiers": ["age", "sex", "zip"], "sensitive": ["diagnosis"]}
    services.declare("patients", identifiers=["id", "patient"], **roles)
    report = services.anonymize("patients", 5, method="greedy")
    found = services.measure("safe.patients")
    assert (found.rows, found.classes, found.k) == (report.rows, report.classes, report.smallest_class)
    assert found.average_class == pytest.approx(report.average_class)
    assert found.largest_class == report.largest_class
    assert found.distinct_l is not None
    assert report.usefulness is not None
    assert found.usefulness >= report.usefulness - 1e-9
    assert services.measure("patients").k < 5


def test_a_suppressed_cell_is_not_a_missing_value(services: Services) -> None:
    made = "as select null::text as a, suppressed::name[] as kanon_suppressed from"
    services.execute(
        f"create table safe.r {made} unnest(array['{{}}', '{{}}', '{{a}}', '{{a}}']) as suppressed"
    )
    services.execute("alter table safe.r owner to kanon_owner")
    assert (services.measure("safe.r").classes, services.measure("safe.r").k) == (2, 2)
    assert services.curve("safe.r", ks=[2]).quasi_identifiers == ("a",)
    assert len(services.notices) == 3
    for notice in services.notices:
        assert notice.startswith("The roles of this release's columns are unknown")
    services.execute(f"create table r {made} unnest(array['{{}}', '{{a}}']) as suppressed")
    assert services.measure("r", ["a"]).classes == 1


def test_generalized_numbers_spread_by_their_width(services: Services) -> None:
    ranges = [Range(0, 5), Range(5, 10), Range(10, 11), None]
    services.table("g", {"a": "int4range"}, [(one,) for one in ranges])
    assert services.measure("g").usefulness == pytest.approx((4 / 10 + 4 / 10 + 0 + 0) / 4)
    days = [Range(None, date(2020, 1, 1)), Range(date(2020, 1, 1), date(2020, 1, 3))]
    services.table("u", {"a": "daterange"}, [(one,) for one in days])
    assert services.measure("u").usefulness == pytest.approx((1 + 1 / 1) / 2)
