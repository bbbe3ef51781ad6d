"""Columns of an answer that have no name of their own are called as PostgreSQL calls them."""

import psycopg
import pytest

from tests.fixtures.gateways import ClinicGateway

QUERIES = [
    "select rank() over (order by count(*)), row_number() over () from patients group by zip",
    "select lag(count(*)) over (order by zip), sum(count(*)) over () + 1 from patients group by zip",
    "select count(*), count(distinct patient_id), avg(cost) filter (where sex = 'F') from patients",
    "select percentile_cont(0.5) within group (order by cost) from patients",
    "select avg(cost)::numeric(10, 2), avg(cost)::int, avg(cost)::float, ((avg(cost)))::text from patients",
    "select round(avg(cost)), ceil(avg(cost)), ceiling(avg(cost)), pg_catalog.floor(avg(cost)) from patients",
    "select case when sex = 'F' then 'a' else 'b' end, count(*) from patients group by 1",
    "select case when sex = 'F' then 'a' else ward end, count(*) from patients group by 1",
    "select case sex when 'F' then 1 end::text, count(*) from patients group by 1",
    "select (case when sex = 'F' then 'a' else upper(ward) end)::text, count(*) from patients group by 1",
    "select count(*) * 2, -count(*), count(*) > 3, count(*) is null, not (count(*) > 3) from patients",
    "select count(*) between 1 and 2, count(*) in (1, 2), sex like 'F' from patients group by sex",
    "select coalesce(avg(cost), 0), nullif(avg(cost), 0), greatest(avg(cost), 1) from patients",
    "select 1, 'a', null, 1.5, '1'::int, date '2024-01-01', interval '1 day', timestamp '2024-01-01'",
    "select current_date, current_timestamp, localtimestamp, now()",
    "select 1::bigint, 1::int4, 1::real, 1::float4, 1::float8, 1::float, 1::double precision, 1::decimal",
    "select 'x'::varchar, 'x'::character varying, true::boolean, '12:00'::time, '[1,2)'::int4range",
    "select '2024-01-01 00:00+00'::timestamptz, '2024-01-01'::timestamp without time zone",
    "select extract(year from birth_date), date_part('year', birth_date), count(*) from patients"
    " group by 1, 2",
    "select date_trunc('year', birth_date)::date, count(*) from patients group by 1",
    "select substring(ward from 1 for 2), substr(ward, 1, 2), count(*) from patients group by 1, 2",
    "select position('a' in ward), strpos(ward, 'a'), count(*) from patients group by 1, 2",
    "select trim(ward), trim(leading from ward), trim(trailing 'a' from ward), count(*) from patients"
    " group by 1, 2, 3",
    "select ward || 'x', ward, public.patients.ward, \"sex\", count(*) from patients group by ward, sex",
    "select (select avg(cost) from patients), count(*) from patients",
    "select (select avg(cost) as mean from patients)::int8, count(*) from patients",
    "select 0.5 * (select avg(cost) from patients), count(*) from patients",
    "select * from (select zip, rank() over (order by count(*)), count(*) from patients group by zip) as q",
    "with q as (select zip, count(*) from patients group by 1) select avg(count), max(count) from q",
    "select sex, count(*) from patients group by sex union all select ward, count(*) from patients"
    " group by 1",
    "select upper(ward), count(*) from patients group by upper order by upper",
    "select upper(ward), upper(ward), count(*) from patients group by upper",
    "select w.floor, count(p.patient_id) from patients p left join wards w on p.ward = w.ward group by 1",
    "select (1 + count(*))::text::int, count(*)::text::float8 from patients",
]


@pytest.mark.parametrize("query", QUERIES)
def test_columns_are_called_as_postgresql_calls_them(
    query: str, client: psycopg.Connection, gateway: ClinicGateway
) -> None:
    with psycopg.connect(gateway.clinic.superuser) as direct:
        expected = [column.name for column in direct.execute(query.encode()).description or ()]
    shown = client.execute(f"{query} limit 0".encode())
    assert [column.name for column in shown.description or ()] == expected


def test_a_name_that_two_outputs_have_stands_for_neither(client: psycopg.Connection) -> None:
    with pytest.raises(psycopg.Error, match="Several outputs have this name"):
        client.execute("select upper(ward), upper(sex), count(*) from patients group by upper")
