"""One column is grouped alike by both interfaces: every value, k people per class, and refusals in words."""

from collections.abc import Callable
from typing import Any

import pytest

from kanon_pg.errors import (
    NotPermitted,
)
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
    ("intervals", ("things", "fraction", 10), {"weight": "load"}),
    ("intervals", ("things", "moment", 10), {}),
    ("intervals", ("of_persons", "age", 10), {"cost": "sum"}),
    ("groups", ("things", "name", 25), {"method": "relaxed"}),
    ("groups", ("gaps", "name", 25), {"cost": "sum"}),
    ("regions", ("gaps", "name", "roads", 25), {"neighbours": ["a", "b"], "method": "tree"}),
    ("rectangles", ("things", "x", "y", 25), {}),
    ("rectangles", ("things", "place", None, 25), {}),
]


@pytest.mark.parametrize(("way", "arguments", "options"), CALLS, ids=str)
def test_both_interfaces_agree_and_every_class_has_k(
    interfaces: tuple[Interface, Interface], way: str, arguments: tuple[Any, ...], options: dict[str, Any]
) -> None:
    rows = interfaces[0].group(way, *arguments, **options)
    assert rows == interfaces[1].group(way, *arguments, **options)
    assert min(row["size"] for row in rows) >= arguments[-1]
    numbers = {row["class_number"] for row in rows}
    assert numbers == set(range(1, len(numbers) + 1))
    of_class = {(row["class_number"], row.get("label"), row["size"]) for row in rows}
    of_all = {(row["cost"], row["lower_bound"], row["ratio"], row["optimal"]) for row in rows}
    assert (len(of_class), len(of_all)) == (len(numbers), 1)


def counted(interface: Interface, query: str) -> list[tuple[Any, ...]]:
    return interface.connection.execute(query.encode()).fetchall()


@pytest.mark.parametrize(
    ("column", "kind"),
    [("age", "int4range"), ("fraction", "numrange"), ("day", "daterange"), ("moment", "tstzrange")],
)
def test_intervals_are_text_of_range_types(
    interfaces: tuple[Interface, Interface], column: str, kind: str
) -> None:
    rows = interfaces[0].group("intervals", "things", column, 20)
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
        assert {row["label"] for row in interfaces[0].group("intervals", "edge", column, 5)} == {label}
        inside = f"select count(*) from edge where {column}::{kind} <@ '{label}'::{kind}range"
        assert counted(interfaces[0], inside) == [(9,)]


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
    expected = interfaces[0].group("rectangles", "spots", "x", "y", 25)
    for column in ("g", "e"):
        for interface in interfaces:
            assert interface.group("rectangles", "spots", column, None, 25) == expected


def test_rights_are_those_of_the_caller(
    interfaces: tuple[Interface, Interface], login: Callable[[str], str]
) -> None:
    analyst = login("kanon_analyst")
    for interface in interfaces:
        with interface_of(analyst, interface) as other, pytest.raises(NotPermitted):
            other.group("groups", "things", "name", 5)
    interfaces[0].connection.execute(
        f"grant select (name) on things, of_persons to {analyst}; select kanon.grant_read('things')".encode()
    )
    with interface_of(analyst, interfaces[0]) as other:
        assert other.group("groups", "things", "name", 5)
        for way, arguments, options in (
            ("groups", ("things", "name", 5), {"weight": "load"}),
            ("groups", ("of_persons", "age", 5), {}),
            ("regions", ("things", "name", "roads", 5), {}),
        ):
            with pytest.raises(NotPermitted, match="may not read"):
                other.group(way, *arguments, **options)


def test_a_limit_ends_the_exact_search_with_a_proven_bound(interfaces: tuple[Interface, Interface]) -> None:
    interfaces[0].connection.execute(
        "create table heavy as select i as name, 1 + (i * 7919) % 10007 as load"
        " from generate_series(1, 60) as i"
    )
    rows = interfaces[0].group("groups", "heavy", "name", 20000, method="exact", weight="load", time_limit=2)
    assert rows[0]["lower_bound"] <= rows[0]["cost"]


def test_functions_change_nothing(interfaces: tuple[Interface, Interface]) -> None:
    connection = interfaces[0].connection
    with connection.transaction(force_rollback=True):
        connection.execute("select kanon.grant_read('things')")
        connection.execute("set transaction read only")
        assert interfaces[0].group("groups", "things", "name", 25)
