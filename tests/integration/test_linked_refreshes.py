"""Rows of linked tables change, change back, and are refreshed one by one: joins show what k people share."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import psycopg
import pytest

from tests.fixtures.interfaces import Interface

K = 3
STEPS = 1000
TABLES = ("people", "visits", "results", "orders", "notes", "calls")

_SCHEMA = """
create table people (id integer primary key, sex text);
create table visits (id integer primary key, person integer not null references people);
create table results (
    id integer primary key, visit integer not null references visits,
    person integer not null references people
);
create table orders (id integer primary key, visit integer not null references visits);
create table notes (id integer primary key, result integer not null references results);
create table calls (id integer primary key, person integer not null references people);
insert into people select i, 'F' from generate_series(1, 12) as i;
insert into visits select 10 * p + v, p from generate_series(1, 12) as p, generate_series(1, 3) as v;
insert into results select 10 * id + r, id, person from visits, generate_series(1, id % 3) as r;
insert into orders select id, id from visits where id % 3 > 0;
insert into notes select id, id from results where id % 10 > 1;
insert into calls select id, id from people;
"""

# each changes what hangs on some row drawn by chance
_CHANGES = (
    "update visits set person = (select id from people order by random() limit 1) where id = {visit}",
    "update results set visit = {visit} where visit = {other}",
    "update orders set visit = {visit} where visit = {other}",
    "update notes set result = {result} where result = (select id from results order by random() limit 1)",
    "update results set person = visits.person from visits where visits.id = results.visit",
    "delete from orders where visit = {visit}",
    "insert into orders select (select max(id) + 1 from orders), {visit}",
    "delete from notes where result = {result}",
    "insert into visits select (select max(id) + 1 from visits), id from people order by random() limit 1",
    "delete from notes where result = {result}; delete from results where id = {result};"
    "insert into results select (select max(id) + 1 from results), id, person from visits where id = {visit}",
    "delete from notes where result in (select id from results where visit = {visit});"
    "delete from results where visit = {visit}; delete from orders where visit = {visit};"
    "update visits set id = (select max(id) + 1 from visits) where id = {visit}",
    "update calls set person = (select id from people order by random() limit 1) where id = 1",
)


def rows(connection: psycopg.Connection[Any], query: str) -> list[tuple[Any, ...]]:
    return connection.execute(query.encode()).fetchall()


def shown(connection: psycopg.Connection[Any]) -> Counter[Any]:
    """Count people by their cells, and by what joins by all keys show; no key leads nowhere."""
    cells = "id, sex, visits_rows, calls_rows, kanon_suppressed::text"
    people = {row[0]: row[1:] for row in rows(connection, f"select {cells} from safe.people")}
    notes = Counter(row[0] for row in rows(connection, "select result from safe.notes"))
    orders = Counter(row[0] for row in rows(connection, "select visit from safe.orders"))
    calls = Counter(row[0] for row in rows(connection, "select person from safe.calls"))
    direct: Counter[Any] = Counter()
    results: dict[Any, list[int]] = {}
    for key, visit, person in rows(connection, "select id, visit, person from safe.results"):
        results.setdefault(visit, []).append(notes.pop(key, 0))
        direct[person] += 1
    visits: dict[Any, list[Any]] = {}
    for key, person in rows(connection, "select id, person from safe.visits"):
        visits.setdefault(person, []).append((tuple(sorted(results.pop(key, []))), orders.pop(key, 0)))
    assert not [*notes, *orders, *results]
    assert {*visits, *calls, *direct} <= {*people}
    return Counter(
        (looks, tuple(sorted(visits.get(key, []))), calls[key], direct[key]) for key, looks in people.items()
    )


@pytest.mark.parametrize("seed", [1, 2])
def test_what_is_refreshed_one_by_one_is_shown_of_k_people(interface: Interface, seed: int) -> None:
    connection, draw = interface.connection, random.Random(seed)
    connection.execute(_SCHEMA.encode())
    interface.declare("people", quasi_identifiers=["sex"])
    for table, parent in zip(TABLES[1:], ("people", "visits", "visits", "results", "people"), strict=True):
        interface.link(table, parent)
    interface.anonymize("people", K, tables=[*TABLES[1:]], time_limit=0.5)
    assert set(shown(connection).values()) == {12}
    for table in TABLES:
        connection.execute(f"create table was_{table} as table {table}".encode())
    connection.execute("select setseed(%s)", [seed / 10])
    for _ in range(STEPS):
        for _ in range(draw.choice([0, 0, 1, 1])):
            ((visit,), (other,)) = rows(connection, "select id from visits order by random() limit 2")
            ((result,),) = rows(connection, "select id from results order by random() limit 1")
            change = draw.choice(_CHANGES).format(visit=visit, other=other, result=result)
            try:
                with connection.transaction():
                    connection.execute(change.encode())
            except psycopg.errors.ForeignKeyViolation:
                pass  # others hang on the row
        if draw.random() < 0.5:  # all is as it was
            with connection.transaction():
                for table in reversed(TABLES[1:]):
                    connection.execute(f"delete from {table}".encode())
                for table in TABLES[1:]:
                    connection.execute(f"insert into {table} table was_{table}".encode())
        for table in draw.choices(TABLES, k=draw.choice([1, 1, 2, 3])):
            connection.execute(f"refresh materialized view kanon.{table}_storage".encode())
            assert min(shown(connection).values(), default=K) >= K
