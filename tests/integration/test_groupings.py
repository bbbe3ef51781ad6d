"""One column is grouped alike by both interfaces: every value, k people per class, and refusals in words."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest

from kanon_pg.errors import (
    InfeasibleError,
    InputError,
    NotPermitted,
    UnknownName,
    UnsuitableColumn,
)
from tests.fixtures.groupings import Row, group
from tests.fixtures.interfaces import Interface, interface_of

_PREPARE = """
create table things as
select i as id, i / 3 as person, i * i % 97 as age, (i * i % 97)::numeric / 7 as fraction,
    date '2000-01-01' + i * i % 1000 as day,
    timestamptz '2000-01-01 00:00Z' + i * i % 300 * interval '1 h' as moment,
    'name ' || i * i % 53 as name, i * i % 211 / 8.0 as x, (i * i * i % 199)::real as y,
    point(i * i % 211 / 8.0, (i * i * i % 199)::real) as place, '{}'::json as doc, i % 7 as load
from generate_series(1, 500) as i;
create table roads as
select 'name ' || i % 53 as a, 'name ' || (i + 1) % 53 as b from generate_series(1, 53) as i;
create table sevens as select i % 10 as name from generate_series(1, 70) as i;
create table of_persons as select * from things;
create table gaps as select nullif(age % 5, 0) as age, nullif(name, 'name 1') as name, load from things;
"""


@pytest.fixture(scope="module")
def interfaces(both_interfaces: tuple[Interface, Interface]) -> tuple[Interface, Interface]:
    both_interfaces[0].connection.execute(_PREPARE.encode())
    both_interfaces[0].declare("of_persons", identifiers=["id"], quasi_identifiers=["age"], entity="person")
    return both_interfaces


CALLS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("intervals", ("things", "age", 10), {}),
    ("intervals", ("things", "age", 10), {"cost": "sum"}),
    ("intervals", ("things", "fraction", 10), {"weight": "load"}),
    ("intervals", ("things", "day", 10), {}),
    ("intervals", ("things", "moment", 10), {}),
    ("intervals", ("of_persons", "age", 10), {}),
    ("groups", ("things", "name", 25), {}),
    ("groups", ("things", "name", 25), {"method": "fold"}),
    ("groups", ("things", "name", 25), {"method": "relaxed"}),
    ("groups", ("gaps", "name", 25), {"cost": "sum"}),
    ("groups", ("of_persons", "name", 10), {}),
    ("groups", ("sevens", "name", 10), {"cost": "sum"}),
    ("regions", ("things", "name", "roads", 25), {}),
    ("regions", ("gaps", "name", "roads", 25), {"neighbours": ["a", "b"], "method": "tree"}),
    ("rectangles", ("things", "x", "y", 25), {}),
    ("rectangles", ("things", "place", None, 25), {}),
    ("rectangles", ("of_persons", "x", "y", 10), {}),
]


def by_class(rows: list[Row]) -> dict[int, list[Row]]:
    classes = defaultdict(list)
    for row in rows:
        classes[row["class_number"]].append(row)
    return classes


@pytest.mark.parametrize(("way", "arguments", "options"), CALLS, ids=str)
def test_both_interfaces_agree_and_every_class_has_k(
    interfaces: tuple[Interface, Interface], way: str, arguments: tuple[Any, ...], options: dict[str, Any]
) -> None:
    rows = group(interfaces[0], way, *arguments, **options)
    assert rows == group(interfaces[1], way, *arguments, **options)
    classes = by_class(rows)
    assert min(row["size"] for row in rows) >= arguments[-1]
    assert sorted(classes) == list(range(1, len(classes) + 1))
    for members in classes.values():
        assert len({(row.get("label"), row["size"]) for row in members}) == 1
    if way != "rectangles":
        assert len({row["label"] for row in rows}) == len(classes)
    (figures,) = {(row["cost"], row["lower_bound"], row["ratio"], row["optimal"]) for row in rows}
    cost, bound, ratio, optimal = figures
    assert ratio == (cost / bound if bound else 1.0 if optimal else None)
    assert (bound == cost) == optimal
    assert bound <= cost


def counted(interface: Interface, query: str) -> list[tuple[Any, ...]]:
    return interface.connection.execute(query.encode()).fetchall()


def test_sizes_of_intervals_are_those_of_plain_sql(interfaces: tuple[Interface, Interface]) -> None:
    rows = group(interfaces[0], "intervals", "things", "age", 10)
    interface = interfaces[0]
    assert {row["value"] for row in rows} == {
        v for (v,) in counted(interface, "select distinct age::text from things")
    }
    for row in rows:
        inside = f"select count(*) from things where age <@ '{row['label']}'::int4range"
        assert counted(interface, inside) == [(row["size"],)]
        assert counted(interface, f"select {row['value']} <@ '{row['label']}'::int4range") == [(True,)]
    assert all(row["optimal"] for row in rows)


@pytest.mark.parametrize(
    ("column", "kind"), [("fraction", "numrange"), ("day", "daterange"), ("moment", "tstzrange")]
)
def test_intervals_are_text_of_range_types(
    interfaces: tuple[Interface, Interface], column: str, kind: str
) -> None:
    rows = group(interfaces[0], "intervals", "things", column, 20)
    for row in rows:
        inside = f"select count(*) from things where {column} <@ '{row['label']}'::{kind}"
        assert counted(interfaces[0], inside) == [(row["size"],)]


def test_the_greatest_integers_have_an_interval(interfaces: tuple[Interface, Interface]) -> None:
    interfaces[0].connection.execute(
        "create table edge as select 2147483647 as a, 9223372036854775807 as b, (-32768)::smallint as c"
        " from generate_series(1, 9)"
    )
    for column, label, kind in (
        ("a", "[2147483647,)", "int4"),
        ("b", "[9223372036854775807,)", "int8"),
        ("c", "[-32768,-32767)", "int4"),
    ):
        assert {row["label"] for row in group(interfaces[0], "intervals", "edge", column, 5)} == {label}
        inside = f"select count(*) from edge where {column}::{kind} <@ '{label}'::{kind}range"
        assert counted(interfaces[0], inside) == [(9,)]


def test_people_count_once(interfaces: tuple[Interface, Interface]) -> None:
    """With an entity no class is taken for larger than the people in it."""
    rows = group(interfaces[0], "groups", "of_persons", "name", 10)
    (people,) = counted(interfaces[0], "select count(distinct person) from of_persons")[0]
    classes = by_class(rows)
    assert sum(members[0]["size"] for members in classes.values()) == people
    for members in classes.values():
        names = ", ".join(f"'{row['value']}'" for row in members)
        (inside,) = counted(
            interfaces[0], f"select count(distinct person) from of_persons where name in ({names})"
        )[0]
        assert members[0]["size"] <= inside


def test_weights_take_the_place_of_rows(interfaces: tuple[Interface, Interface]) -> None:
    rows = group(interfaces[0], "groups", "things", "name", 60, weight="load")
    for members in by_class(rows).values():
        names = ", ".join(f"'{row['value']}'" for row in members)
        found = counted(interfaces[0], f"select sum(load) from things where name in ({names})")
        assert found == [(members[0]["size"],)]


def test_regions_are_connected(interfaces: tuple[Interface, Interface]) -> None:
    rows = group(interfaces[0], "regions", "things", "name", "roads", 25)
    roads = [{*pair} for pair in counted(interfaces[0], "select a, b from roads")]
    for members in by_class(rows).values():
        names = {row["value"] for row in members}
        joined = {min(names)}
        while grown := {n for r in roads if r & joined and r <= names for n in r} - joined:
            joined |= grown
        # values that no road names are gathered in one class
        assert joined == names or {row["label"] for row in members} == {"other"}


def test_rectangles_are_boxes_and_geojson(interfaces: tuple[Interface, Interface]) -> None:
    call = "kanon_rectangles('things', 'x', 'y', 25)"
    query = f"select x, y, class_number, size, point(x, y) <@ rectangle, polygon from {call}"
    found = counted(interfaces[0], query)
    assert all(is_inside for *_, is_inside, _ in found)
    ring = found[0][5]["coordinates"][0]
    assert found[0][5]["type"] == "Polygon"
    assert len(ring) == 5
    assert ring[0] == ring[4]
    assert {type(one) for one in ring[0]} == {float}
    overlaps = f"""
        with r as (select distinct on (class_number) rectangle as b, class_number from {call})
        select count(*) from r as one, r as other
        where one.class_number < other.class_number and area(one.b # other.b) > 0
    """
    assert counted(interfaces[0], overlaps) == [(0,)]


def test_types_of_postgis_are_taken_without_it(interfaces: tuple[Interface, Interface]) -> None:
    """Stands in for PostGIS: a type of its name, wherever it is installed, with its functions."""
    interfaces[0].connection.execute(
        b"""
        create schema gis;
        create type gis.geometry as (a float8, b float8);
        create type gis.geography as (a float8, b float8);
        create function gis.st_x(gis.geometry) returns float8 language sql immutable return $1.a;
        create function gis.st_y(gis.geometry) returns float8 language sql immutable return $1.b;
        create function gis.of(gis.geography) returns gis.geometry language sql immutable
            return row(($1).a, ($1).b)::gis.geometry;
        create cast (gis.geography as gis.geometry) with function gis.of(gis.geography);
        create table spots as
        select x, y, row(x, y)::gis.geometry as g, row(x, y)::gis.geography as e from things;
        """
    )
    expected = group(interfaces[0], "rectangles", "spots", "x", "y", 25)
    for column in ("g", "e"):
        for interface in interfaces:
            assert group(interface, "rectangles", "spots", column, None, 25) == expected


def test_missing_values(interfaces: tuple[Interface, Interface]) -> None:
    for interface in interfaces:
        rows = group(interface, "intervals", "gaps", "age", 20)
        assert [row["label"] for row in rows if row["value"] is None] == [None]
        labels = group(interface, "groups", "gaps", "name", 25)
        assert len([row for row in labels if row["value"] is None]) == 1
        with pytest.raises(InfeasibleError, match="without a value"):
            group(interface, "intervals", "gaps", "age", 150)


def test_light_parts_of_a_map(interfaces: tuple[Interface, Interface]) -> None:
    interface = interfaces[0]
    interface.connection.execute(
        "create table near as select a, b from roads where a < 'name 3' and b < 'name 3'"
    )
    rows = group(interface, "regions", "things", "name", "near", 40)
    assert [row["size"] >= 40 for row in rows if row["label"] == "other"]
    assert any("gathered in one class" in notice for notice in interface.notices)
    for one in interfaces:
        with pytest.raises(InfeasibleError, match="no way to the others"):
            group(one, "regions", "things", "name", "near", 40, on_light="refuse")


REFUSED: list[tuple[type[Exception], str, tuple[Any, ...], dict[str, Any]]] = [
    (InputError, "intervals", ("things", "age", 1), {}),
    (InputError, "intervals", ("things", None, 5), {}),
    (UnknownName, "intervals", ("things", "none", 5), {}),
    (UnsuitableColumn, "intervals", ("things", "name", 5), {}),
    (UnsuitableColumn, "groups", ("things", "doc", 5), {}),
    (UnsuitableColumn, "groups", ("things", "name", 5), {"weight": "y"}),
    (UnknownName, "groups", ("things", "name", 5), {"method": "best"}),
    (UnknownName, "groups", ("things", "name", 5), {"cost": "least"}),
    (InputError, "groups", ("things", "name", 5), {"method": "relaxed", "epsilon": 0.5}),
    (InfeasibleError, "groups", ("things", "name", 501), {}),
    (UnknownName, "regions", ("things", "name", "roads", 5), {"on_light": "drop"}),
    (InputError, "regions", ("things", "name", "roads", 5), {"neighbours": ["a"]}),
    (InputError, "regions", ("things", "age", "roads", 5), {}),
    (UnsuitableColumn, "rectangles", ("things", "x", "name", 5), {}),
    (UnsuitableColumn, "rectangles", ("things", "x", None, 5), {}),
    (InputError, "groups", ("things", "name", 5), {"time_limit": -1}),
]


@pytest.mark.parametrize(("error", "way", "arguments", "options"), REFUSED, ids=str)
def test_refusals(
    interfaces: tuple[Interface, Interface],
    error: type[Exception],
    way: str,
    arguments: tuple[Any, ...],
    options: dict[str, Any],
) -> None:
    for interface in interfaces:
        with pytest.raises(error) as refused:
            group(interface, way, *arguments, **options)
        assert type(refused.value) is error


def test_weights_that_are_none(interfaces: tuple[Interface, Interface]) -> None:
    interface = interfaces[0]
    interface.connection.execute(
        "create table owing as select i % 5 as a, (case i when 7 then -1 else 3 end)::numeric as less,"
        " (case i when 7 then 'NaN' else '3' end)::numeric as nan from generate_series(1, 20) as i"
    )
    for one in interfaces:
        for column in ("less", "nan"):
            with pytest.raises(InputError, match="cannot be weights"):
                group(one, "groups", "owing", "a", 5, weight=column)


def test_rights_are_those_of_the_caller(interfaces: tuple[Interface, Interface]) -> None:
    interfaces[0].connection.execute("create role nobody_else login; grant kanon_analyst to nobody_else")
    try:
        for interface in interfaces:
            with interface_of("nobody_else", interface) as other, pytest.raises(NotPermitted):
                group(other, "groups", "things", "name", 5)
        interfaces[0].connection.execute("grant select on things to nobody_else")
        for interface in interfaces:
            with interface_of("nobody_else", interface) as other:
                assert group(other, "groups", "things", "name", 5)
                with pytest.raises(NotPermitted):
                    group(other, "regions", "things", "name", "roads", 5)
    finally:
        interfaces[0].connection.execute("drop owned by nobody_else; drop role nobody_else")


def test_a_limit_ends_the_exact_search_with_a_proven_bound(interfaces: tuple[Interface, Interface]) -> None:
    interfaces[0].connection.execute(
        "create table heavy as select i as name, 1 + (i * 7919) % 10007 as load"
        " from generate_series(1, 60) as i"
    )
    rows = group(interfaces[0], "groups", "heavy", "name", 20000, method="exact", weight="load", time_limit=2)
    assert rows[0]["lower_bound"] <= rows[0]["cost"]


def test_functions_change_nothing(interfaces: tuple[Interface, Interface]) -> None:
    connection = interfaces[0].connection
    with connection.transaction(force_rollback=True):
        connection.execute("set transaction read only")
        assert group(interfaces[0], "groups", "things", "name", 25)
