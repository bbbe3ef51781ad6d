"""Classes of one column: every value, k people per class, refusals and notices."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import psycopg
import pytest

from kanon_pg.errors import InfeasibleError, InputError
from kanon_pg.grouping.classes import Grouped, GroupedValue, ValueClass
from tests.fixtures.services import Services

CALLS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("intervals", ("things", "age", 10), {}),
    ("intervals", ("things", "age", 10), {"cost": "sum"}),
    ("intervals", ("things", "x", 10), {"weight": "load"}),
    ("intervals", ("things", "day", 10), {}),
    ("intervals", ("of_things", "age", 10), {}),
    ("groups", ("things", "name", 25), {}),
    ("groups", ("things", "name", 25), {"method": "fold"}),
    ("groups", ("things", "name", 25), {"method": "relaxed"}),
    ("groups", ("gaps", "name", 25), {"cost": "sum"}),
    ("groups", ("of_things", "name", 10), {}),
    ("groups", ("sevens", "name", 10), {"cost": "sum"}),
    ("regions", ("things", "name", "roads", 25), {}),
    ("regions", ("gaps", "name", "roads", 25), {"neighbours": ["a", "b"], "method": "tree"}),
    ("rectangles", ("things", "x", "y", 25), {}),
    ("rectangles", ("things", "place", None, 25), {}),
    ("rectangles", ("of_things", "x", "y", 10), {}),
]


@pytest.fixture(scope="module")
def prepared(prepared: psycopg.Connection) -> psycopg.Connection:
    services = Services(prepared)
    services.execute("create table sevens as select i % 10 as name from generate_series(0, 69) as i")
    services.declare("of_things", identifiers=["id"], quasi_identifiers=["age"], entity="person")
    return prepared


def members(found: Grouped) -> dict[int, list[GroupedValue]]:
    classes = defaultdict(list)
    for value in found.values:
        classes[value.class_number].append(value)
    return classes


def class_of(found: Grouped, number: int) -> ValueClass:
    return found.classes[number - 1]


@pytest.mark.parametrize(("way", "arguments", "options"), CALLS, ids=str)
def test_every_class_has_k(
    services: Services, way: str, arguments: tuple[Any, ...], options: dict[str, Any]
) -> None:
    found = services.group(way, *arguments, **options)
    assert min(one.size for one in found.classes) >= arguments[-1]
    assert [one.number for one in found.classes] == list(range(1, len(found.classes) + 1))
    assert set(members(found)) == {one.number for one in found.classes}
    if way != "rectangles":
        assert len({one.label for one in found.classes}) == len(found.classes)
    assert found.ratio == (
        found.cost / found.lower_bound if found.lower_bound else 1.0 if found.optimal else None
    )
    assert (found.lower_bound == found.cost) == found.optimal
    assert found.lower_bound <= found.cost


def things(services: Services, *names: str) -> list[tuple[Any, ...]]:
    return services.values(f"select {', '.join(names)} from things")


def test_sizes_of_intervals_are_those_of_counting(services: Services) -> None:
    found = services.group("intervals", "things", "age", 10)
    ages = Counter(age for (age,) in things(services, "age"))
    assert {value.value for value in found.values} == {str(age) for age in ages}
    for number, own in members(found).items():
        one = class_of(found, number)
        low, high = (one.label or "").strip("[)").split(",")
        inside = [age for age in ages if int(low) <= age < int(high)]
        assert sorted(inside) == sorted(int(value.value or "") for value in own)
        assert one.size == sum(ages[age] for age in inside)
    assert found.optimal


def test_people_count_once(services: Services) -> None:
    """With an entity no class is taken for larger than the people in it."""
    found = services.group("groups", "of_things", "name", 10)
    rows = things(services, "name", "person")
    assert sum(one.size for one in found.classes) == len({person for _, person in rows})
    for number, own in members(found).items():
        names = {value.value for value in own}
        assert class_of(found, number).size <= len({person for name, person in rows if name in names})


def test_weights_take_the_place_of_rows(services: Services) -> None:
    found = services.group("groups", "things", "name", 60, weight="load")
    rows = things(services, "name", "load")
    for number, own in members(found).items():
        names = {value.value for value in own}
        assert class_of(found, number).size == sum(load for name, load in rows if name in names)


def joined(names: set[str | None], roads: Sequence[tuple[Any, ...]]) -> set[str | None]:
    """Return the names that can be reached from one of them."""
    found = {min(names, key=str)}
    while grown := {n for road in roads if {*road} & found and {*road} <= names for n in road} - found:
        found |= grown
    return found


def test_regions_are_connected(services: Services) -> None:
    found = services.group("regions", "things", "name", "roads", 25)
    roads = services.values("select a, b from roads")
    for number, own in members(found).items():
        names = {value.value for value in own}
        # values that no road names are gathered in one class
        assert joined(names, roads) == names or class_of(found, number).label == "other"


def test_rectangles_hold_their_points_and_do_not_overlap(services: Services) -> None:
    found = services.group("rectangles", "things", "x", "y", 25)
    boxes = [one.box for one in found.classes]
    for value in found.values:
        box = boxes[value.class_number - 1]
        assert box is not None
        assert value.x is not None
        assert value.y is not None
        assert box[0] <= value.x <= box[2]
        assert box[1] <= value.y <= box[3]
    for place, one in enumerate(boxes):
        for other in boxes[:place]:
            assert one is not None
            assert other is not None
            width = min(one[2], other[2]) - max(one[0], other[0])
            height = min(one[3], other[3]) - max(one[1], other[1])
            assert min(width, height) <= 0


def test_points_count_as_their_coordinates(services: Services) -> None:
    of_columns, of_points = (
        services.group("rectangles", "things", *which, 25) for which in (("x", "y"), ("place", None))
    )
    assert of_columns.classes == of_points.classes


def test_missing_values(services: Services) -> None:
    found = services.group("intervals", "gaps", "age", 20)
    assert [class_of(found, one.class_number).label for one in found.values if one.value is None] == [None]
    labels = services.group("groups", "gaps", "name", 25)
    assert len([one for one in labels.values if one.value is None]) == 1
    with pytest.raises(InfeasibleError, match="without a value"):
        services.group("intervals", "gaps", "age", 150)


def test_light_parts_of_a_map(services: Services) -> None:
    roads = services.values("select a, b from roads")
    near = [road for road in roads if max(road) < "name 3"]
    services.table("near", {"a": "text", "b": "text"}, near)
    found = services.group("regions", "things", "name", "near", 40)
    assert [one.size >= 40 for one in found.classes if one.label == "other"] == [True]
    assert any("gathered in one class" in notice for notice in services.notices)
    with pytest.raises(InfeasibleError, match="no way to the others"):
        services.group("regions", "things", "name", "near", 40, on_light="refuse")


def test_weights_that_are_none(services: Services) -> None:
    rows = [(i % 5, Decimal(-1 if i == 7 else 3), Decimal("NaN" if i == 7 else 3)) for i in range(20)]
    services.table("owing", {"a": "integer", "less": "numeric", "nan": "numeric"}, rows)
    for column in ("less", "nan"):
        with pytest.raises(InputError, match="cannot be weights"):
            services.group("groups", "owing", "a", 5, weight=column)
