"""Measures counted in SQL equal the definitions, computed in memory over small tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kanon_pg.admin.install.installer import install
from kanon_pg.db.identifiers import Identifier
from kanon_pg.db.psycopg_adapter import connect
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
from tests.fixtures.examples import examples
from tests.fixtures.memory.mirror import Mirror

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
def mirror(server: Any) -> Iterator[Mirror]:
    """Yield a database with a table in schema safe, whose every answer is compared."""
    with server.database("measure") as name:
        install(server.dsn(name))
        yield from _mirror(server.dsn(name))


def _mirror(dsn: str) -> Iterator[Mirror]:
    with connect(dsn) as connection:
        found = Mirror(connection)
        for schema in ("public", "safe"):
            found.table(f"{schema}.measured", COLUMNS)
        yield found
        connection.rollback()


def fill(mirror: Mirror, table: Sequence[Row], schema: str = "public") -> None:
    relation = mirror.memory.state.find(schema, "measured")
    assert relation is not None
    mirror.fill(relation, [tuple(row[name] for name in COLUMNS) for row in table])


def assert_same(measured: Measures, wanted: dict[str, Any]) -> None:
    found = asdict(measured)
    assert list(found) == list(wanted)
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
    mirror: Mirror, table: list[Row], qis: list[str], columns: list[str], of_people: bool
) -> None:
    fill(mirror, table)
    measured = resolve_measured(mirror, MeasureRequest("measured", qis, columns))
    before = mirror.compared.copy()
    found = figures_of(mirror, by_person(measured) if of_people else measured)
    assert found.rows == len(table)
    compared = mirror.compared - before
    assert (compared["measure_classes"], compared["measure_sensitive"]) == (1, len(columns))


@PER_EXAMPLE
@given(table=rows, qis=chosen_qis, columns=chosen_sensitive)
def test_releases(mirror: Mirror, table: list[Row], qis: list[str], columns: list[str]) -> None:
    fill(mirror, [row | dict.fromkeys(row["kanon_suppressed"]) for row in table], "safe")
    measured = resolve_measured(mirror, MeasureRequest("safe.measured", qis, columns))
    assert measured.suppressed == Identifier.of("kanon_suppressed")
    assert figures_of(mirror, measured).rows == len(table)


@PER_EXAMPLE
@given(table=rows, column=st.sampled_from(SENSITIVE), of_people=st.booleans())
def test_storing_classes_or_not_gives_the_same(
    mirror: Mirror, table: list[Row], column: str, of_people: bool
) -> None:
    fill(mirror, table)
    measured = resolve_measured(mirror, MeasureRequest("measured", ["word"], [column]))
    measured = by_person(measured) if of_people else measured
    one, other = (
        asdict(measure_sensitive(mirror, measured, measured.sensitive[0], many_classes=many))
        for many in (False, True)
    )
    assert one == pytest.approx(other, abs=1e-9)


@PER_EXAMPLE
@given(table=rows, data=st.data())
def test_order_of_rows_and_columns_does_not_matter(
    mirror: Mirror, table: list[Row], data: st.DataObject
) -> None:
    fill(mirror, table)
    before = figures_of(mirror, resolve_measured(mirror, MeasureRequest("measured", QIS, SENSITIVE)))
    fill(mirror, data.draw(st.permutations(table)))
    after = figures_of(
        mirror, resolve_measured(mirror, MeasureRequest("measured", QIS[::-1], SENSITIVE[::-1]))
    )
    assert_same(after, asdict(before))


@PER_EXAMPLE
@given(table=rows)
def test_more_quasi_identifiers_never_make_classes_larger(mirror: Mirror, table: list[Row]) -> None:
    fill(mirror, table)
    one = count_classes(mirror, resolve_measured(mirror, MeasureRequest("measured", ["word"], [])))
    both = count_classes(mirror, resolve_measured(mirror, MeasureRequest("measured", QIS, [])))
    assert one is not None
    assert both is not None
    assert both.smallest <= one.smallest
    assert both.classes >= one.classes


def test_an_empty_relation_has_no_classes(mirror: Mirror) -> None:
    fill(mirror, [])
    assert count_classes(mirror, resolve_measured(mirror, MeasureRequest("measured", QIS, []))) is None
