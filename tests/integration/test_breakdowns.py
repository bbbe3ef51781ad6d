"""Ordinary breakdowns, one after the other against one record, keep most of what many people stand behind."""

from collections.abc import Iterator
from itertools import combinations
from random import Random

import psycopg
import pytest

from tests.fixtures.databases import Server, role

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

K = 5
COLUMNS = ("sex", "age / 10", "region", "year", "month", "insurance", "ward", "diagnosis", "died")
FIGURES = ("count(*)", "count(*), avg(cost)", "count(*), sum(cost)")

_PEOPLE = """
select setseed(0.5);
create table people as
select i as id, (array['F', 'M'])[1 + floor(random() * 2)::int] as sex, 18 + floor(random() * 70)::int as age,
    1 + floor(random() * random() * 12)::int as region, 2019 + floor(random() * 5)::int as year,
    1 + floor(random() * 12)::int as month, 'I' || floor(random() * random() * 5) as insurance,
    'W' || floor(random() * 8) as ward, 'D' || floor(random() * random() * 20) as diagnosis,
    round(exp(7 + random() * 2)::numeric, 2) as cost, random() < 0.1 as died
from generate_series(1, 15000) as i;
alter table people add primary key (id);
select kanon_declare('people', identifiers => '{id}', sensitive => '{ward, diagnosis, cost, died}',
    quasi_identifiers => '{sex, age, region, year, month, insurance}');
"""


@pytest.fixture
def sessions(server: Server, kanon_template: str) -> Iterator[tuple[psycopg.Connection, psycopg.Connection]]:
    """Yield sessions of a superuser and of an analyst of 15,000 people."""
    with server.database("breakdowns", kanon_template) as name:
        dsn = server.dsn(name)
        with (
            role(dsn, "analyst", "IN ROLE kanon_analyst") as analyst,
            psycopg.connect(dsn, autocommit=True) as admin,
            psycopg.connect(dsn, user=analyst, autocommit=True) as asking,
        ):
            admin.execute(_PEOPLE)
            admin.execute("select kanon_protect('people', %s, '{\"refusals\": null}')", [K])
            yield admin, asking


def test_forty_breakdowns_keep_four_fifths_of_the_rows_of_2k_people(
    sessions: tuple[psycopg.Connection, psycopg.Connection],
) -> None:
    admin, asking = sessions
    draw = Random(5)
    chosen = [keys for size in (2, 3) for keys in combinations(COLUMNS, size)]
    draw.shuffle(chosen)
    asked = large = shown = 0
    for keys in chosen:
        numbers = ", ".join(str(place) for place in range(1, len(keys) + 1))
        named = ", ".join(f"{key} as k{place}" for place, key in enumerate(keys))
        plain = admin.execute(f"select {named}, count(*) from people group by {numbers}".encode()).fetchall()
        if not 20 <= len(plain) <= 1000:
            continue
        text = f"select {named}, {draw.choice(FIGURES)} from people group by {numbers}"
        rows = [row for (row,) in asking.execute("select * from kanon_query(%s)", [text])]
        found = {tuple(row[f"k{place}"] for place in range(len(keys))): row["count"] for row in rows}
        assert found.items() <= {tuple(key): people for *key, people in plain}.items()
        of_many = [tuple(key) for *key, people in plain if people >= 2 * K]
        large += len(of_many)
        shown += sum(key in found for key in of_many)
        asked += 1
        if asked == 40:
            break
    assert asked == 40
    assert shown >= 0.8 * large
