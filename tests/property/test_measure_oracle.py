"""Measures counted in SQL equal the definitions, written out naively in Python over small tables."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kanon_pg.db.identifiers import Identifier
from kanon_pg.db.psycopg_adapter import PsycopgDatabase, connect
from kanon_pg.measure.classes import count_classes, measure_sensitive
from kanon_pg.measure.measures import Measures
from kanon_pg.measure.measuring import measure_subject
from kanon_pg.measure.subject import resolve_subject
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
def db(server: Any) -> Iterator[PsycopgDatabase]:
    """Yield a database without kanon, with a table in schema safe."""
    columns = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
    with server.database("measure") as name, connect(server.dsn(name)) as connection:
        connection.execute("create schema safe")
        for schema in ("public", "safe"):
            connection.execute(f"create table {schema}.measured ({columns})".encode())
        yield PsycopgDatabase(connection)
        connection.rollback()


def fill(db: PsycopgDatabase, schema: str, table: Sequence[Row]) -> None:
    db.connection.execute(f"truncate {schema}.measured".encode())
    with db.connection.cursor() as cursor:
        cursor.executemany(
            f"insert into {schema}.measured values (%s, %s, %s, %s, %s, %s)".encode(),
            [[row[name] for name in COLUMNS] for row in table],
        )


# --- the definitions -------------------------------------------------------------------------------------


def classes_of(table: Sequence[Row], keys: Sequence[str]) -> list[list[Row]]:
    found: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in table:
        key = tuple(tuple(v) if isinstance(v := row[name], list) else v for name in keys)
        found[key].append(row)
    return list(found.values())


def people(group: Sequence[Row], entity: str | None) -> int:
    if entity is None:
        return len(group)
    return max(1, len({row[entity] for row in group} - {None}))


def weights(group: Sequence[Row], column: str, entity: str | None) -> Counter[Any]:
    """Return people per value, each person once per value."""
    by_value = defaultdict(list)
    for row in group:
        by_value[row[column]].append(row)
    return Counter({value: people(members, entity) for value, members in by_value.items()})


def shares(counts: Counter[Any]) -> dict[Any, float]:
    return {value: count / counts.total() for value, count in counts.items()}


def equal_distance(p: dict[Any, float], q: dict[Any, float]) -> float:
    return sum(abs(p.get(value, 0) - share) for value, share in q.items()) / 2


def ordered_distance(p: dict[Any, float], q: dict[Any, float]) -> float:
    order = sorted(q, key=lambda value: (value is None, value or 0))
    moved, total = 0.0, 0.0
    for value in order[:-1]:
        moved += p.get(value, 0) - q[value]
        total += abs(moved)
    return total / max(1, len(order) - 1)


def sensitive_figures(groups: Sequence[list[Row]], column: str, entity: str | None) -> dict[str, float]:
    counted = [weights(group, column, entity) for group in groups]
    q = shares(sum(counted, Counter()))
    inside = [shares(counts) for counts in counted]
    ratios = [p[value] / q[value] for p in inside for value in p]
    return {
        "distinct_l": min(len(p) for p in inside),
        "entropy_l": math.exp(min(-sum(x * math.log(x) for x in p.values()) for p in inside)),
        "frequency_l": min(
            people(group, entity) / max(counts.values())
            for group, counts in zip(groups, counted, strict=True)
        ),
        "t_equal": max(equal_distance(p, q) for p in inside),
        "t_ordered": max(ordered_distance(p, q) for p in inside) if column == "salary" else math.nan,
        "delta_disclosure": max(abs(math.log(ratio)) for ratio in ratios),
        "beta_likeness": max(0, *(ratio - 1 for ratio in ratios)),
    }


def diversity(groups: Sequence[list[Row]], qis: Sequence[str], released: bool) -> float:
    total = 0.0
    for name in qis:
        hidden = [released and name in group[0]["kanon_suppressed"] for group in groups]
        visible = {group[0][name] for group, is_hidden in zip(groups, hidden, strict=True) if not is_hidden}
        for is_hidden in hidden:
            total += 1 if is_hidden else (1 / len(visible) if name == "word" else 0)
    return total / len(groups)


def expected(
    table: Sequence[Row], qis: Sequence[str], columns: Sequence[str], entity: str | None, released: bool
) -> dict[str, Any]:
    groups = classes_of(table, [*qis, "kanon_suppressed"] if released else qis)
    sizes = [people(group, entity) for group in groups]
    figures = [sensitive_figures(groups, column, entity) for column in columns]

    def worst(choose: Callable[[list[float]], float], name: str) -> float | None:
        values = [f[name] for f in figures if not math.isnan(f[name])]
        return choose(values) if values else None

    k = min(sizes)
    return {
        "rows": len(table),
        "people": people(table, entity),
        "classes": len(groups),
        "k": k,
        "average_class": sum(sizes) / len(sizes),
        "largest_class": max(sizes),
        "distinct_l": worst(min, "distinct_l"),
        "entropy_l": worst(min, "entropy_l"),
        "frequency_l": worst(min, "frequency_l"),
        "p": worst(min, "distinct_l"),
        "t_equal": worst(max, "t_equal"),
        "t_ordered": worst(max, "t_ordered"),
        "delta_disclosure": worst(max, "delta_disclosure"),
        "beta_likeness": worst(max, "beta_likeness"),
        "prosecutor_risk": 1 / k,
        "journalist_risk": 1 / k,
        "marketer_risk": len(sizes) / sum(sizes),
        "discernibility": sum(len(group) ** 2 for group in groups),
        "average_class_ratio": sum(sizes) / len(sizes) / k,
        "usefulness": diversity(groups, qis, released),
        # recorded when a release is published; nothing here was
        **dict.fromkeys(PUBLISHED),
    }


def assert_same(measured: Measures, wanted: dict[str, Any]) -> None:
    found = asdict(measured)
    assert list(found) == list(wanted)
    for name, value in wanted.items():
        assert found[name] == (None if value is None else pytest.approx(value, abs=1e-9)), name


PUBLISHED = ("certainty_penalty", "generalization_height", "entropy_loss", "marginal_divergence")


# --- the comparison ---------------------------------------------------------------------------------------

chosen_qis = st.lists(st.sampled_from(QIS), min_size=1, unique=True)
chosen_sensitive = st.lists(st.sampled_from(SENSITIVE), unique=True)


@PER_EXAMPLE
@given(table=rows, qis=chosen_qis, columns=chosen_sensitive)
def test_tables(db: PsycopgDatabase, table: list[Row], qis: list[str], columns: list[str]) -> None:
    fill(db, "public", table)
    subject = resolve_subject(db, "measured", qis, columns)
    assert_same(measure_subject(db, subject), expected(table, qis, columns, None, False))


@PER_EXAMPLE
@given(table=rows, qis=chosen_qis, columns=chosen_sensitive)
def test_people_with_several_rows(
    db: PsycopgDatabase, table: list[Row], qis: list[str], columns: list[str]
) -> None:
    fill(db, "public", table)
    subject = resolve_subject(db, "measured", qis, columns)
    subject = replace(subject, entity=subject.relation.column("person"))
    assert_same(measure_subject(db, subject), expected(table, qis, columns, "person", False))


@PER_EXAMPLE
@given(table=rows, qis=chosen_qis, columns=chosen_sensitive)
def test_releases(db: PsycopgDatabase, table: list[Row], qis: list[str], columns: list[str]) -> None:
    table = [row | dict.fromkeys(row["kanon_suppressed"]) for row in table]
    fill(db, "safe", table)
    subject = resolve_subject(db, "safe.measured", qis, columns)
    assert subject.suppressed == Identifier.of("kanon_suppressed")
    assert_same(measure_subject(db, subject), expected(table, qis, columns, None, True))


@PER_EXAMPLE
@given(table=rows, column=st.sampled_from(SENSITIVE), entity=st.sampled_from([None, "person"]))
def test_storing_classes_or_not_gives_the_same(
    db: PsycopgDatabase, table: list[Row], column: str, entity: str | None
) -> None:
    fill(db, "public", table)
    subject = resolve_subject(db, "measured", ["word"], [column])
    if entity is not None:
        subject = replace(subject, entity=subject.relation.column(entity))
    wanted = sensitive_figures(classes_of(table, ["word"]), column, entity)
    for many_classes in (False, True):
        found = asdict(measure_sensitive(db, subject, subject.sensitive[0], many_classes=many_classes))
        for name, value in wanted.items():
            if not math.isnan(value):
                assert found[name] == pytest.approx(value, abs=1e-9), (many_classes, name)


@PER_EXAMPLE
@given(table=rows, data=st.data())
def test_order_of_rows_and_columns_does_not_matter(
    db: PsycopgDatabase, table: list[Row], data: st.DataObject
) -> None:
    fill(db, "public", table)
    before = measure_subject(db, resolve_subject(db, "measured", QIS, SENSITIVE))
    fill(db, "public", data.draw(st.permutations(table)))
    after = measure_subject(db, resolve_subject(db, "measured", QIS[::-1], SENSITIVE[::-1]))
    assert_same(after, asdict(before))


@PER_EXAMPLE
@given(table=rows)
def test_more_quasi_identifiers_never_make_classes_larger(db: PsycopgDatabase, table: list[Row]) -> None:
    fill(db, "public", table)
    one = count_classes(db, resolve_subject(db, "measured", ["word"], []))
    both = count_classes(db, resolve_subject(db, "measured", QIS, []))
    assert one is not None
    assert both is not None
    assert both.smallest <= one.smallest
    assert both.classes >= one.classes


def test_an_empty_relation_has_no_classes(db: PsycopgDatabase) -> None:
    fill(db, "public", [])
    assert count_classes(db, resolve_subject(db, "measured", QIS, [])) is None
