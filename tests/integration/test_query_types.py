"""Which types of columns can be queried: domains and enums among them; others are refused plainly."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import psycopg
import pytest

from kanon_pg.errors import QueryRefused
from tests.fixtures.databases import Server

pytestmark = pytest.mark.slow

Connection = psycopg.Connection[Any]

MAKE = """
create type mood as enum ('sad', 'ok', 'glad');
create domain letter as text check (value in ('F', 'M'));
create domain sex as letter not null;
create domain euro as numeric(10, 2) check (value > 0);
create domain day as date;
create domain state as mood;
create domain code as char(4);
create table moods (label text primary key, points int);
insert into moods values ('sad', 1), ('ok', 2), ('glad', 3);
create table people (
    person int primary key, sex sex, cost euro, born day, mood mood, state state, code code, wards text[],
    costs numeric(6, 2)[],
    place point, address text collate "case_blind"
);
insert into people
select
    i, case i % 2 when 0 then 'F' else 'M' end, i * 1.5, date '1950-01-01' + i,
    (array['sad', 'ok', 'glad'])[1 + i % 3]::mood, (array['sad', 'ok', 'glad'])[1 + i % 3]::mood,
    (array['a', 'b '])[1 + i % 2], '{a,b}', '{1,2}', point(1, 1), 'x'
from generate_series(1, 600) as i;
"""
DECLARE = (
    "select kanon_declare('people', quasi_identifiers => '{sex,born,code}',"
    " sensitive => '{cost,mood,state,wards,costs,place,address}', entity => 'person')"
)
PROTECT = "select kanon_protect('people', 5)"


@pytest.fixture(scope="module")
def admin(server: Server, kanon_template: str) -> Iterator[Connection]:
    """Yield an administrator's connection to a table with columns of all kinds of types."""
    with ExitStack() as stack:
        name = stack.enter_context(server.database("types", kanon_template))
        made = stack.enter_context(psycopg.connect(server.dsn(name), autocommit=True))
        made.execute(
            "create collation case_blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
        )
        made.execute(MAKE)
        made.execute(DECLARE)
        made.execute(PROTECT)
        made.execute("create role tess login in role kanon_analyst")
        stack.callback(made.execute, "drop role tess")
        stack.callback(made.execute, "drop owned by tess")
        made.execute("grant select on moods to tess, kanon_reader")
        yield made


@pytest.fixture
def tess(admin: Connection) -> Iterator[Connection]:
    with psycopg.connect(admin.info.dsn, autocommit=True) as made:
        made.execute("set session authorization tess")
        yield made


def answer(session: Connection, query: str, *values: str) -> list[dict[str, Any]]:
    found = session.execute("select kanon_query(%s, %s::text[])", [query, list(values)]).fetchall()
    return [row[0] for row in found]


def refusal(session: Connection, query: str) -> psycopg.Error:
    with pytest.raises(psycopg.Error) as caught:
        answer(session, query)
    assert caught.value.sqlstate == QueryRefused.sqlstate
    return caught.value


ANSWERED = [
    "select sex, count(*), avg(cost) as mean from people group by sex order by sex",
    "select left(sex, 1) as first, sum(cost) as total from people group by left(sex, 1) order by 1",
    "select count(*) from people where sex || '' = 'F' and born >= '1950-06-01'",
    "select date_trunc('month', born)::date::text as month, count(*) from people group by 1 order by 1",
    "select length(code) as length, count(*) from people group by 1 order by 1",
    "select count(*) from people where mood = 'sad'",
    "select count(*) from people where mood in ('sad', 'ok') and mood <> 'ok' and mood is not null",
    "select count(*) filter (where mood is distinct from 'sad') as n from people",
    "select mood, count(*) from people group by mood order by mood",
    "select count(*) from people where mood > 'sad'",
    "select count(*) from people where mood between 'ok' and 'glad'",
    "select mood, count(*), rank() over (order by mood) from people group by mood order by 1",
    "select lower(mood::text) as label, count(*) from people group by 1 order by 1 desc",
    "select case mood when 'sad' then 0 else 1 end as place, count(*) from people group by 1 order by 1",
    "select coalesce(mood, 'ok')::text as label, count(*) from people group by 1 order by 1, count(*)",
    "select wards, count(*) from people group by wards",
    "select costs, count(*) from people where born > '1950-03-01' group by costs",
    "select sex, count(place) as placed, count(address) as addressed from people group by sex order by sex",
]


@pytest.mark.parametrize("query", ANSWERED)
def test_values_of_domains_and_labels_of_enums_are_answered_as_postgresql_does(
    query: str, admin: Connection, tess: Connection
) -> None:
    direct = admin.execute(f"select to_jsonb(t) from ({query}) as t".encode()).fetchall()
    assert answer(tess, query) == [row[0] for row in direct]


def test_labels_are_values_of_parameters(tess: Connection) -> None:
    assert answer(tess, "select count(*) from people where mood = $1", "sad") == [{"count": 200}]
    listed = "select count(*) from people where mood = any ($1)"
    assert answer(tess, listed, "{sad,glad}") == [{"count": 400}]


REFUSED = [
    ("Q200", "operator does not exist", "select count(*) from people where mood like 's%'"),
    ("Q200", "operator does not exist", "select count(*) from people p join moods m on m.label = p.mood"),
    (
        "Q200",
        "function lower(public.mood) does not exist",
        "select lower(mood), count(*) from people group by 1",
    ),
    ("Q201", "not PostgreSQL's own", "select state, count(*) from people group by state"),
    ("Q305", "one person's", "select max(mood) from people"),
]


@pytest.mark.parametrize(("code", "sentence", "query"), REFUSED)
def test_what_cannot_be_done_with_a_type_is_said(
    code: str, sentence: str, query: str, tess: Connection
) -> None:
    diag = refusal(tess, query).diag
    assert sentence in (diag.message_primary or "")
    assert (diag.message_detail or "").startswith(code)


def test_no_function_is_called_that_somebody_gave_to_a_type(admin: Connection, tess: Connection) -> None:
    """A cast of an enum to text may be anybody's code; it runs where the query calls it, and nowhere else."""
    admin.execute(
        "create function told(mood) returns text language sql as $$ select 'told' $$;"
        "create cast (mood as text) with function told(mood) as implicit"
    )
    try:
        assert admin.execute("select 'sad'::mood::text").fetchone() == ("told",)
        for text in ("mood", "coalesce(mood, 'ok')"):
            found = answer(tess, f"select {text} as mood, count(*) from people group by 1")
            assert {row["mood"] for row in found} == {"sad", "ok", "glad"}
    finally:
        admin.execute("drop function told cascade")


def test_an_enum_of_somebody_else_is_not_read(admin: Connection, tess: Connection) -> None:
    query = "select mood, count(*) from people group by mood"
    admin.execute("alter type mood owner to tess")
    try:
        assert "not PostgreSQL's own" in str(refusal(tess, query))
    finally:
        admin.execute("alter type mood owner to current_user")
    assert len(answer(tess, query)) == 3


def test_protecting_names_the_columns_that_cannot_be_queried(admin: Connection) -> None:
    notices: list[str] = []
    admin.add_notice_handler(lambda notice: notices.append(notice.message_primary or ""))
    admin.execute(PROTECT)
    columns = ("state", "wards", "place", "address", "mood", "sex", "code")
    named = {name for name in columns if any(f'"{name}"' in notice for notice in notices)}
    assert named == {"state"}
