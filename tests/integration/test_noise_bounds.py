"""One person more changes the whole numbers of a block by no more than is claimed."""

import json
import math
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kanon_pg.queries.noise.plan import ROW, VALUE
from tests.fixtures.databases import Server
from tests.fixtures.examples import examples

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

_R, _G, _K = 4, 2, 2
_LOW, _HIGH = -50.0, 150.0
_NOISE = {
    "epsilon": 1,
    "delta": 1e-6,
    "rows_per_person": _R,
    "groups_per_person": _G,
    "bounds": {"cost": [_LOW, _HIGH], "price": [_LOW, _HIGH]},
}

Row = tuple[int, str, float | None]
Found = dict[str | None, tuple[int, list[int], dict[int, int]]]
Connection = psycopg.Connection[Any]


@pytest.fixture(scope="module")
def admin(server: Server, kanon_template: str) -> Iterator[Connection]:
    with (
        server.database("noise_bounds", kanon_template) as name,
        psycopg.connect(server.dsn(name), autocommit=True) as connection,
    ):
        connection.execute(
            """create table stays (id serial primary key, person integer, ward text, cost double precision,
                price numeric);
            select kanon_declare('stays', identifiers => '{id,person}', quasi_identifiers => '{ward}',
                sensitive => '{cost,price}', entity => 'person')"""
        )
        connection.execute(
            "select kanon_protect('stays', %s, %s::jsonb)", [_K, json.dumps({"noise": _NOISE})]
        )
        connection.execute("create role noise_reader in role kanon_analyst")
        yield connection
        connection.execute("drop owned by noise_reader; drop role noise_reader")


def form(admin: Connection, query: str) -> str:
    """Return the SQL that a stranger's query runs."""
    admin.execute("set role noise_reader")
    (text,) = admin.execute("select canonical_sql from kanon_check_query(%s)", [query]).fetchone() or ("",)
    admin.execute("reset role")
    assert "answered with noise" in text
    return text.split("\n", 1)[1].rsplit("\n-- the rest", 1)[0].replace("$1::", "4711::").replace("{=k1}", "")


def read(admin: Connection, text: str, rows: list[Row]) -> Found:
    admin.execute("truncate stays")
    with admin.cursor() as cursor:
        cursor.executemany(
            "insert into stays (person, ward, cost, price) values (%s, %s, %s, %s::float8::numeric)",
            [(*row, row[2]) for row in rows],
        )
    with admin.cursor(row_factory=psycopg.rows.dict_row) as cursor:
        return {
            row.get("k1"): (
                row["people"],
                json.loads(row["numbers"]),
                {cell: n for cells in json.loads(row["cells"]) for cell, n in cells},
            )
            for row in cursor.execute(text.encode()).fetchall()
        }


def rows_of(person: st.SearchStrategy[int], most: int) -> st.SearchStrategy[list[Row]]:
    costs = st.none() | st.sampled_from([math.nan, math.inf, -math.inf, 1e300]) | st.floats(-200, 300)
    return st.lists(st.tuples(person, st.sampled_from(["a", "b", "c", "d"]), costs), max_size=most)


_KEYED = """select ward, count(*), sum(cost), stddev(cost), count(distinct person) filter (where cost > 0),
    percentile_cont(0.5) within group (order by cost) from stays group by ward"""
_PLAIN = """select count(*), sum(cost), avg(price), sum(price * 2), count(distinct person),
    percentile_cont(0.25) within group (order by cost) from stays where cost > -100"""


@settings(max_examples=examples(60), suppress_health_check=list(HealthCheck), deadline=None)
@given(rows_of(st.integers(1, 6), 30), rows_of(st.just(99), 40), st.sampled_from([_KEYED, _PLAIN]))
def test_one_person_more_changes_numbers_by_their_distance(
    admin: Connection, others: list[Row], own: list[Row], query: str
) -> None:
    text = form(admin, query)
    without, with_ = read(admin, text, others), read(admin, text, others + own)
    both = without.keys() & with_.keys()
    # groups that only one table has, or whose people differ, are those that the person counts in
    changed = [key for key in without.keys() | with_.keys() if without.get(key) != with_.get(key)]
    assert len(changed) <= (_G if query == _KEYED else 1)
    for key in both:
        assert 0 <= with_[key][0] - without[key][0] <= 1
    for key in with_.keys() - both:
        assert with_[key][0] == _K  # counts as one person: its threshold holds
    numbers = len(next(iter(with_.values()))[1]) if with_ else 0
    for place in range(numbers):
        changes = [with_[key][1][place] - without[key][1][place] for key in both]
        unit = ROW if is_count(text, place) else VALUE
        most = math.sqrt(_G) * ROW if is_people(text, place) else _R * unit
        assert math.hypot(*changes) <= most
        assert sum(map(abs, changes)) <= (_G * ROW if is_people(text, place) else _R * unit)
    moved = [
        abs(with_[key][2].get(cell, 0) - without[key][2].get(cell, 0))
        for key in both
        for cell in with_[key][2].keys() | without[key][2].keys()
    ]
    assert sum(moved) <= _R * ROW


def is_count(text: str, place: int) -> bool:
    return f"* {ROW} AS m{place}" in text


def is_people(text: str, place: int) -> bool:
    return f"THEN {ROW} ELSE 0 END)::int8 AS m{place}" in text


@settings(max_examples=examples(40), suppress_health_check=list(HealthCheck), deadline=None)
@given(rows_of(st.integers(1, 5), 40))
def test_numbers_are_those_of_the_definition(admin: Connection, rows: list[Row]) -> None:
    """Without keys nothing is chosen, so that the definition is a program of a few lines."""
    found = read(admin, form(admin, "select count(*), sum(cost), sum(price) from stays"), rows)[None]
    by_person: dict[int, list[float | None]] = defaultdict(list)
    for person, _, cost in rows:
        by_person[person].append(cost)
    counted = total = 0
    for costs in by_person.values():
        n = len(costs)
        adds = sum(whole(cost) for cost in costs if cost is not None)
        counted += n * ROW if n <= _R else n * ROW * _R // n
        total += adds if n <= _R else int(math.copysign(abs(adds) * _R // n, adds))
    assert found[1][:2] == [counted, total]
    # numbers with digits are rounded as such
    assert found[1][2] == pytest.approx(total, abs=len(rows) + 1)


def whole(cost: float) -> int:
    held = _HIGH if math.isnan(cost) else min(max(cost, _LOW), _HIGH)
    return max(-VALUE, min(VALUE, round(held * (VALUE / _HIGH))))
