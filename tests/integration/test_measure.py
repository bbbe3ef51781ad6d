"""Measures through both interfaces: published figures, real data, roles of columns, PostgreSQL's equality."""

from __future__ import annotations

import csv
import gzip
import math
from dataclasses import asdict, fields
from pathlib import Path

import pytest

from kanon_pg.measure.measures import Measures
from tests.fixtures.interfaces import Interface
from tests.fixtures.measuring import create, measure

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


# --- published worked examples ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("classes", "t"),
    [
        # Li, Li and Venkatasubramanian 2007: section 4 (0.375) and the caption of table 5 (0.167)
        ([(3, 4, 5), (6, 11, 8), (7, 9, 10)], 0.375),
        ([(3, 5, 9), (6, 11, 8), (4, 7, 10)], 1 / 6),
    ],
)
def test_t_closeness_of_salaries(interface: Interface, classes: list[tuple[int, ...]], t: float) -> None:
    rows = ", ".join(f"({n}, {1000 * salary})" for n, group in enumerate(classes) for salary in group)
    create(interface, "salaries", "class integer, salary integer", rows)
    found = measure(interface, "salaries", ["class"], ["salary"])
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
    interface: Interface, classes: list[str], distinct: int, entropy: float, frequency: float
) -> None:
    rows = ", ".join(f"({n}, '{illness}')" for n, group in enumerate(classes) for illness in group)
    create(interface, "inpatients", "class integer, illness text", rows)
    found = measure(interface, "inpatients", ["class"], ["illness"])
    assert (found.k, found.distinct_l, found.p) == (4, distinct, distinct)
    assert found.entropy_l == pytest.approx(entropy)
    assert found.frequency_l == pytest.approx(frequency)
    assert found.t_ordered is None


def test_risks_and_losses(interface: Interface) -> None:
    create(
        interface,
        "sizes",
        "a text, b integer",
        "('x', 1), ('x', 1), ('y', 1), ('y', 1), ('y', 1), ('y', 2), ('y', 2)",
    )
    found = measure(interface, "sizes")
    assert asdict(found) == dict.fromkeys((f.name for f in fields(Measures)), None) | {
        "rows": 7,
        "people": 7,
        "classes": 3,
        "k": 2,
        "average_class": pytest.approx(7 / 3),
        "largest_class": 3,
        "prosecutor_risk": 0.5,
        "journalist_risk": 0.5,
        "marketer_risk": pytest.approx(3 / 7),
        "discernibility": 4 + 9 + 4,
        "average_class_ratio": pytest.approx(7 / 6),
        "usefulness": pytest.approx(1 / 2),
    }


# --- real data --------------------------------------------------------------------------------------------

ADULT_8 = ["age", "workclass", "education", "marital_status", "occupation", "race", "sex", "native_country"]
ADULT_9 = [*ADULT_8, "salary_class"]


@pytest.mark.skipif(not DATA.is_dir(), reason="no shared/data beside the checkout: real tables not measured")
def test_adult(interface: Interface) -> None:
    with gzip.open(DATA / "adult.csv.gz", "rt", encoding="utf-8") as file:
        header = next(csv.reader([file.readline()]))
        interface.connection.execute(
            f"create table adult ({', '.join(f'{c} text' for c in header)})".encode()
        )
        with interface.connection.cursor().copy("copy adult from stdin (format csv)") as copy:
            copy.write(file.read())
    found = measure(interface, "adult", ADULT_9)
    assert (found.rows, found.classes, found.k, found.largest_class) == (32561, 21257, 1, 45)
    single = f"select from adult group by {', '.join(ADULT_9)} having count(*) = 1"
    unique = interface.connection.execute(f"select count(*) from ({single}) as u".encode()).fetchone()
    assert unique == (17048,)
    eight = measure(interface, "adult", ADULT_8, ["salary_class"])
    assert (eight.classes, eight.k, eight.distinct_l) == (19805, 1, 1)
    # a class of the rarer salary only: everything but its share has to move
    assert eight.t_equal == pytest.approx(1 - 7841 / 32561)


# --- roles ------------------------------------------------------------------------------------------------


def test_without_declaration_keys_are_no_quasi_identifiers(interface: Interface) -> None:
    create(interface, "t", "id integer primary key, code text unique, a integer", "(1, 'p', 5), (2, 'q', 5)")
    assert measure(interface, "t").k == 2


def test_sensitive_columns_of_the_call_leave_the_defaults(interface: Interface) -> None:
    create(interface, "t", "a integer, s text", "(1, 'x'), (1, 'y')")
    assert (measure(interface, "t").k, measure(interface, "t", None, ["s"]).k) == (1, 2)


def test_declared_roles_and_people(interface: Interface) -> None:
    create(
        interface,
        "visits",
        "patient integer, zip text, ward text, diagnosis text",
        "(1, 'z', 'a', 'flu'), (1, 'z', 'b', 'gout'), (2, 'z', 'a', 'flu'),"
        " (3, 'y', 'a', 'flu'), (3, 'y', 'a', 'flu')",
    )
    interface.declare("visits", quasi_identifiers=["zip"], sensitive=["diagnosis"], entity="patient")
    found = measure(interface, "visits")
    assert (found.rows, found.people, found.classes, found.k, found.largest_class) == (5, 3, 2, 1, 2)
    # both people of zip z had the flu, although only two of its three rows say so
    assert (found.distinct_l, found.frequency_l) == (1, 1.0)
    assert measure(interface, "visits", ["ward"]).distinct_l == 1


def test_a_release_is_measured_with_its_own_roles(interface: Interface) -> None:
    interface.connection.execute(
        "create table patients as select i as id, 20 + i % 7 as age, (array['f','m'])[1 + i % 2] as sex,"
        " 'z' || i % 45 as zip, 'd' || i % 3 as diagnosis from generate_series(1, 300) as i"
    )
    interface.declare(
        "patients", identifiers=["id"], quasi_identifiers=["age", "sex", "zip"], sensitive=["diagnosis"]
    )
    report = interface.anonymize("patients", 5, method="greedy")
    found = measure(interface, "safe.patients")
    assert (found.rows, found.classes, found.k) == (report.rows, report.classes, report.smallest_class)
    assert found.average_class == pytest.approx(report.average_class)
    assert found.largest_class == report.largest_class
    assert found.distinct_l is not None
    assert report.usefulness is not None
    assert found.usefulness >= report.usefulness - 1e-9
    assert measure(interface, "patients").k < 5


def test_a_suppressed_cell_is_not_a_missing_value(interface: Interface) -> None:
    create(
        interface,
        "safe.r",
        "a text, kanon_suppressed name[]",
        "(null, '{}'), (null, '{}'), (null, '{a}'), (null, '{a}')",
    )
    assert (measure(interface, "safe.r").classes, measure(interface, "safe.r").k) == (2, 2)
    create(interface, "r", "a text, kanon_suppressed name[]", "(null, '{}'), (null, '{a}')")
    assert measure(interface, "r", ["a"]).classes == 1


def test_generalized_numbers_spread_by_their_width(interface: Interface) -> None:
    create(interface, "g", "a int4range", "('[0,4]'), ('[5,9]'), ('[10,10]'), (null)")
    assert measure(interface, "g").usefulness == pytest.approx((4 / 10 + 4 / 10 + 0 + 0) / 4)
    create(interface, "u", "a daterange", "('(,2020-01-01)'), ('[2020-01-01,2020-01-03)')")
    assert measure(interface, "u").usefulness == pytest.approx((1 + 1 / 1) / 2)


# --- PostgreSQL's equality ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "values", "classes"),
    [
        ("numeric", "(1.0), (1.00)", 1),
        ("float8", "('-0.0'), ('0'), ('NaN'), ('NaN'), ('Infinity')", 3),
        ("char(5)", "('a'), ('a  ')", 1),
        ("text", "(null), (null), ('')", 2),
        ("ci", "('a'), ('A'), ('b'), (null)", 3),
        ("date", "('infinity'), ('0001-01-01 BC'), ('infinity')", 2),
        ("text[]", "('{}'), (null), ('{}'), ('{null}')", 3),
        ("jsonb", "('{\"a\": 1}'), ('{\"a\":1}')", 1),
        ("mood", "('sad'), ('sad'), ('glad')", 2),
        ("nursed", "('x'), ('x')", 1),
    ],
)
def test_classes_and_values_are_those_of_group_by(
    interface: Interface, kind: str, values: str, classes: int
) -> None:
    execute = interface.connection.execute
    execute("create collation blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false)")
    execute("create type mood as enum ('sad', 'glad')")
    execute("create domain nursed as varchar(9)")
    column = "text collate blind" if kind == "ci" else kind
    create(interface, "t", f"v {column}", values)
    execute("alter table t add column one integer default 1")
    assert measure(interface, "t", ["v"]).classes == classes
    assert measure(interface, "t", ["one"], ["v"]).distinct_l == classes
    assert measure(interface, "t", ["one"], ["v"]).t_equal == pytest.approx(0)


def test_citext_is_compared_by_its_own_operator_whatever_the_search_path(interface: Interface) -> None:
    interface.connection.execute("create schema elsewhere; create extension citext schema elsewhere")
    create(interface, "t", "a integer, v elsewhere.citext", "(1, 'Flu'), (1, 'flu'), (2, 'FLU'), (2, 'gout')")
    found = measure(interface, "t", ["a"], ["v"])
    assert (found.distinct_l, found.t_equal) == (1, pytest.approx(1 / 4))
    assert measure(interface, "t", ["v"]).k == 1


@pytest.mark.parametrize(
    "name", ['Mixed "Case"', "q1", "person", "suppressed", "value", "größe" * 9, "a'b\\c"]
)
def test_hostile_names(interface: Interface, name: str) -> None:
    quoted = '"' + name.replace('"', '""') + '"'
    create(
        interface,
        f'"{"T" + name[:5].replace(chr(34), chr(34) * 2)}"',
        f"{quoted} text, n integer",
        "('x', 1), ('x', 1)",
    )
    relation = '"' + ("T" + name[:5]).replace('"', '""') + '"'
    assert measure(interface, relation, [name], ["n"]).k == 2


@pytest.mark.parametrize(
    "definition",
    [
        "create view r as select * from t",
        "create materialized view r as select * from t",
        "create temporary table r as select * from t",
        "create table r () inherits (t); insert into r values (1, 'x'), (1, 'x')",
    ],
)
def test_any_relation(interface: Interface, definition: str) -> None:
    create(interface, "t", "a integer, b text", "(1, 'x'), (1, 'x')")
    interface.connection.execute(definition.encode())
    assert measure(interface, "r").k == 2


def test_more_columns_than_a_grouping_function_takes(interface: Interface) -> None:
    names = [f"c{i}" for i in range(60)]
    create(interface, "wide", ", ".join(f"{name} text" for name in names), f"({', '.join(['1'] * 60)})")
    assert measure(interface, "wide").usefulness == pytest.approx(60)
