"""Measures through both interfaces: published figures, real data, roles of columns, PostgreSQL's equality."""

from __future__ import annotations

import csv
import gzip
from dataclasses import asdict, fields
from pathlib import Path

import pytest

from kanon_pg.measures import Measures
from tests.fixtures.analyses import create, measure
from tests.fixtures.interfaces import Interface

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


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
@pytest.mark.only_through("client")  # what is counted is the same query
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
