"""Measures counted in SQL equal the definitions, computed over small tables."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import accumulate
from math import exp, log
from statistics import mean
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kanon_pg.db.identifiers import Identifier
from kanon_pg.db.psycopg_adapter import PsycopgDatabase, connect
from kanon_pg.measures import (
    MeasuredRelation,
    MeasureRequest,
    Measures,
    count_classes,
    figures_of,
    measure_sensitive,
    resolve_measured,
)
from kanon_pg.relations.subject import Roles
from tests.fixtures.databases import Server
from tests.fixtures.examples import examples

Row = dict[str, Any]
PER_EXAMPLE = settings(max_examples=examples(20), suppress_health_check=[HealthCheck.function_scoped_fixture])
QIS = ("word", "number")
SENSITIVE = ("illness", "salary")
COLUMNS = {
    "word": "text",
    "number": "integer",
    "illness": "text",
    "salary": "numeric",
    "person": "integer",
    "kanon_suppressed": "name[]",
}

rows = st.lists(
    st.fixed_dictionaries(
        {
            "word": st.sampled_from(["a", "b", "c", None]),
            "number": st.sampled_from([1, 2, None]),
            "illness": st.sampled_from(["flu", "ulcer", "gout", None]),
            "salary": st.sampled_from([-3, 0, 4, 10, 11, None]),
            "person": st.sampled_from([1, 2, 3, 4, None]),
            "kanon_suppressed": st.sets(st.sampled_from(QIS)).map(sorted),
        }
    ),
    min_size=1,
    max_size=25,
)


@pytest.fixture(scope="module")
def db(server: Server, kanon_template: str) -> Iterator[PsycopgDatabase]:
    """Yield a database with a table in schema public, and one in safe."""
    with server.database("measure", kanon_template) as name, connect(server.dsn(name)) as connection:
        for schema in ("public", "safe"):
            columns = ", ".join(f"{column} {kind}" for column, kind in COLUMNS.items())
            connection.execute(f"create table {schema}.measured ({columns})".encode())
            connection.execute(f"select kanon.grant_read('{schema}.measured')".encode())
        yield PsycopgDatabase(connection)
        connection.rollback()


def fill(db: PsycopgDatabase, table: Sequence[Row], schema: str = "public") -> None:
    db.connection.execute(f"truncate {schema}.measured".encode())
    places = ", ".join(f"%({column})s::{kind}" for column, kind in COLUMNS.items())
    with db.connection.cursor() as cursor:
        cursor.executemany(f"insert into {schema}.measured values ({places})".encode(), table)


def size(table: Sequence[Row], *, of_people: bool) -> int:
    """Return how many people rows are about: at least one, if only nobody is known."""
    return max(1, len({row["person"] for row in table} - {None})) if of_people else len(table)


def by(table: Sequence[Row], *names: str) -> dict[Any, list[Row]]:
    """Return the rows with the same values in some columns."""
    classes: dict[Any, list[Row]] = defaultdict(list)
    for row in table:
        classes[tuple(map(repr, map(row.get, names)))].append(row)
    return classes


def defined(
    table: Sequence[Row], qis: Sequence[str], sensitive: Sequence[str], *, of_people: bool
) -> dict[str, float | None]:
    """Return what the definitions of `Measures` say about a table."""
    classes = [*by(table, *qis).values()]
    sizes = [size(one, of_people=of_people) for one in classes]
    columns = [of_column(classes, name, of_people=of_people) for name in sensitive]

    def worst(choose: Callable[..., float], name: str) -> float | None:
        return choose((column[name] for column in columns if name in column), default=None)

    return {
        "rows": len(table),
        "people": size(table, of_people=of_people),
        "classes": len(classes),
        "k": min(sizes),
        "average_class": mean(sizes),
        "largest_class": max(sizes),
        "discernibility": sum(len(one) ** 2 for one in classes),
        "marketer_risk": len(classes) / sum(sizes),
        **{name: worst(min, name) for name in ("distinct_l", "entropy_l", "frequency_l")},
        **{name: worst(max, name) for name in ("t_equal", "t_ordered", "delta_disclosure", "beta_likeness")},
    }


def of_column(classes: Sequence[Sequence[Row]], name: str, *, of_people: bool) -> dict[str, float]:
    """Return what the definitions say about a sensitive column; a person counts once a value and class."""
    counts = [
        Counter({value: size(rows, of_people=of_people) for (value,), rows in by(one, name).items()})
        for one in classes
    ]
    of_all, *of_classes = (
        {value: count / counted.total() for value, count in counted.items()}
        for counted in (sum(counts, Counter()), *counts)
    )
    ratios = [share / of_all[value] for own in of_classes for value, share in own.items()]
    found = {
        "distinct_l": min(map(len, of_classes)),
        "entropy_l": exp(min(-sum(p * log(p) for p in own.values()) for own in of_classes)),
        "frequency_l": min(
            size(one, of_people=of_people) / max(own.values())
            for one, own in zip(classes, counts, strict=True)
        ),
        "t_equal": max(sum(abs(own.get(v, 0) - q) for v, q in of_all.items()) / 2 for own in of_classes),
        "delta_disclosure": max(abs(log(ratio)) for ratio in ratios),
        "beta_likeness": max(0.0, max(ratios) - 1),
    }
    if name == "salary":
        order = sorted(of_all, key=lambda value: (value == "None", value != "None" and int(value)))
        found["t_ordered"] = max(
            sum(map(abs, list(accumulate(own.get(v, 0) - of_all[v] for v in order))[:-1]))
            / max(1, len(order) - 1)
            for own in of_classes
        )
    return found


def assert_same(measured: Measures, wanted: Mapping[str, float | None]) -> None:
    found = asdict(measured)
    for name, value in wanted.items():
        assert found[name] == (None if value is None else pytest.approx(value, abs=1e-9)), name


chosen_qis = st.lists(st.sampled_from(QIS), min_size=1, unique=True)
chosen_sensitive = st.lists(st.sampled_from(SENSITIVE), unique=True)


def by_person(measured: MeasuredRelation) -> MeasuredRelation:
    """Return the same, counting people."""
    return replace(measured, subject=replace(measured.subject, roles=Roles(entity="person")))


@PER_EXAMPLE
@given(table=rows, qis=chosen_qis, columns=chosen_sensitive, of_people=st.booleans())
def test_tables(
    db: PsycopgDatabase, table: list[Row], qis: list[str], columns: list[str], of_people: bool
) -> None:
    fill(db, table)
    measured = resolve_measured(db, MeasureRequest("measured", qis, columns))
    found = figures_of(db, by_person(measured) if of_people else measured)
    assert_same(found, defined(table, qis, columns, of_people=of_people))


@PER_EXAMPLE
@given(table=rows, qis=chosen_qis, columns=chosen_sensitive)
def test_releases(db: PsycopgDatabase, table: list[Row], qis: list[str], columns: list[str]) -> None:
    table = [row | dict.fromkeys(row["kanon_suppressed"]) for row in table]
    fill(db, table, "safe")
    measured = resolve_measured(db, MeasureRequest("safe.measured", qis, columns))
    assert measured.suppressed == Identifier.of("kanon_suppressed")
    own = [*qis, "kanon_suppressed"]
    assert_same(figures_of(db, measured), defined(table, own, columns, of_people=False))


@PER_EXAMPLE
@given(table=rows, column=st.sampled_from(SENSITIVE), of_people=st.booleans())
def test_storing_classes_or_not_gives_the_same(
    db: PsycopgDatabase, table: list[Row], column: str, of_people: bool
) -> None:
    fill(db, table)
    measured = resolve_measured(db, MeasureRequest("measured", ["word"], [column]))
    measured = by_person(measured) if of_people else measured
    one, other = (
        asdict(measure_sensitive(db, measured, measured.sensitive[0], many_classes=many))
        for many in (False, True)
    )
    assert one == pytest.approx(other, abs=1e-9)


@PER_EXAMPLE
@given(table=rows, data=st.data())
def test_order_of_rows_and_columns_does_not_matter(
    db: PsycopgDatabase, table: list[Row], data: st.DataObject
) -> None:
    fill(db, table)
    before = figures_of(db, resolve_measured(db, MeasureRequest("measured", QIS, SENSITIVE)))
    fill(db, data.draw(st.permutations(table)))
    after = figures_of(db, resolve_measured(db, MeasureRequest("measured", QIS[::-1], SENSITIVE[::-1])))
    assert_same(after, asdict(before))


@PER_EXAMPLE
@given(table=rows)
def test_more_quasi_identifiers_never_make_classes_larger(db: PsycopgDatabase, table: list[Row]) -> None:
    fill(db, table)
    one = count_classes(db, resolve_measured(db, MeasureRequest("measured", ["word"], [])))
    both = count_classes(db, resolve_measured(db, MeasureRequest("measured", QIS, [])))
    assert one is not None
    assert both is not None
    assert both.smallest <= one.smallest
    assert both.classes >= one.classes


def test_an_empty_relation_has_no_classes(db: PsycopgDatabase) -> None:
    fill(db, [])
    assert count_classes(db, resolve_measured(db, MeasureRequest("measured", QIS, []))) is None
