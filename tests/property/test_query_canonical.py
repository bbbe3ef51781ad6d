"""The canonical SQL of an accepted query says the same as the query, and counts the right people."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from decimal import Decimal
from typing import Any

import psycopg
import pytest

from kanon_pg.queries.check.checker import Options, Verdict, check
from tests.fixtures.databases import Server
from tests.query.honest import HonestQuery
from tests.query.hospital import SCHEMA
from tests.query.people import World, load
from tests.query.snapshot import accepted_queries, hospital

Connection = psycopg.Connection[Any]

OWN = (
    "select left(zip, 2) || '-' || sex, count(*) from patients group by 1",
    "select substring(zip from 1 for 2), substr(zip, 2), right(zip, 1), split_part(ward, 'o', 1)"
    " from patients",
    "select trim(both 'o' from ward), ltrim(ward, 'i'), position('c' in ward), reverse(ward) from patients",
    "select round(cost / 1000, 1), round(cost), trunc(cost, -2), ceil(cost), abs(-cost), sign(cost)"
    " from patients",
    "select minutes / 7, minutes % 7, -minutes, minutes * 3 - 2, mod(minutes, 5), abs(minutes) from visits",
    "select kind, count(*) from visits where minutes > -1 and minutes not between -9 and -3 and -5 < minutes"
    " or minutes in (-2, 30) group by kind",
    "select sum(minutes * 2), avg(minutes - 5), sum(minutes) / 7, sum(minutes) % 7, count(*) / 3 from visits",
    "select floor(minutes), round(minutes), ceil(minutes / 7), sqrt(minutes), ln(minutes + 1) from visits",
    "select value::numeric, value * 2, value / 3, round(value), width_bucket(value, 0, 100, 5) from"
    " lab_results",
    "select sum(value), avg(value), stddev(value), var_pop(value) from lab_results where value > 0",
    "select date_trunc('year', admission_date), date_part('month', admission_date) from patients",
    "select extract(dow from admission_date), extract(epoch from visited_at) from patients join visits"
    " using (patient_id)",
    "select discharge_date - admission_date, admission_date + 30, admission_date - interval '1"
    " month' from patients",
    "select extract(day from age(discharge_date, admission_date)), count(*) from patients group by 1",
    "select to_char(visited_at, 'YYYY \"Q\"Q') q, count(*) from visits group by q order by q desc nulls last",
    "select sex, percentile_cont(0.25) within group (order by cost desc), percentile_disc(0.5) within group"
    " (order by birth_date) filter (where readmitted) from patients group by sex",
    "select coalesce(discharge_date, date '2030-01-01') > date '2024-01-01', count(*) from patients"
    " group by 1",
    "select nullif(sex, 'F'), greatest(ward, diagnosis), least(cost, 10), case sex when 'F' then 1 else 2 end"
    " from patients",
    "select ward is distinct from 'icu', discharge_date is not distinct from null, count(*) from patients"
    " group by 1, 2",
    "select readmitted is not true, not readmitted, readmitted is null, count(*) from patients"
    " group by 1, 2, 3",
    "select ward, sex from patients where ward like 'o%' or ward not ilike '%C%' and sex in ('F', 'x')",
    "select distinct ward, cost > 100 from patients where cost between 10 and 1e5 or zip not"
    " between 'a' and 'b'",
    "select 1, 'a', null, true, 2.50, 1e3 from patients where ward = 'icu'",
    "select ward, count(*) n, 'x' from patients group by ward union all select 'all', count(*),"
    " null from patients"
    " order by n desc, 1 limit 4 offset 1",
    "select p.ward, a.n, count(*) from patients p join (select ward, count(*) n from patients group"
    " by ward) a"
    " on a.ward = p.ward where p.cost > a.n group by 1, 2",
    "select p.ward from patients p, (select avg(cost) m from patients) x where p.cost > x.m",
    "with w as (select ward, count(*) n from patients group by ward) select a.ward, b.n from w a, w b"
    " where a.ward = b.ward",
    "select count(distinct p.patient_id) from patients p, visits v, lab_results l"
    " where p.patient_id = v.patient_id and l.patient_id = p.patient_id and l.abnormal",
    "select z.region, count(*) from patients p left join zip_regions z on z.zip = p.zip and z.urban"
    " group by 1",
    "select avg(cost)::int, avg(cost)::numeric(10, 1), sum(cost)::bigint, count(*)::float8 / 3 from patients",
    "select count(fee), count(*) - count(fee), sum(fee), avg(fee) from visits",
    "select kind, count(*) from visits group by kind having count(*) > 3 and avg(minutes) > 1 order"
    " by count(fee)",
    "select building, max(beds), min(title), sum(beds * floor) from wards group by building",
    "select * from wards",
    "select ward, sum(count(*)) over (order by ward), count(*)::numeric / sum(count(*)) over () from patients"
    " group by ward",
    "select ward, sex, rank() over (partition by ward order by avg(cost) desc), lag(count(*)) over (order by"
    " ward, sex), avg(count(*)) over (partition by sex), max(sum(cost)) over (), count(*) over ()"
    " from patients"
    " group by ward, sex having count(*) > 3",
    "select w.*, sex from patients p join wards w using (ward) where ward <> 'it''s \\ok'",
    "select 5 / 2, -7 / 2, -7 % 3, 7.0 / 2, 1 - 1, 2 * 3.5, 10 / 4.0",
    "select sum(1), count(1) from patients",
    "select ward, sex, count(*), grouping(ward), grouping(ward, sex) from patients group by rollup"
    " (ward, sex)",
    "select ward, sex, sum(cost), avg(cost) from patients group by cube (ward, sex) having count(*) > 200"
    " order by grouping(sex), 3 desc, ward nulls first limit 12",
    "select coalesce(ward, 'all'), upper(sex), count(*) filter (where readmitted), sum(cost) / count(*)"
    " from patients group by grouping sets ((ward), (sex), ()) order by 1, 2",
    "select ward, sex, readmitted, count(*) from patients group by ward, rollup ((sex, readmitted))",
    "select extract(year from admission_date) as y, ward, count(*) from patients group by rollup (1), ward",
    "select w.building, w.ward, count(*), w.beds * 2 from patients p join wards w using (ward)"
    " where w.beds > 20 group by rollup (w.building, w.ward), w.beds",
    "select building, floor, sum(beds) from wards group by cube (building, floor)",
    "select building from wards where false group by rollup (building)",
    "select a.ward, a.n from (select ward, sex, count(*) n from patients group by rollup (ward, sex)) a where"
    " a.sex is null",
    "select grouping(ward), count(*) from patients group by ward",
    "select minutes / 10, sum(minutes) from visits group by rollup (minutes / 10)",
    "select sum(case when readmitted then cost end), sum(case when readmitted then cost else 0 end),"
    " sum(case when readmitted then 0 else cost * 2 end), avg(case when readmitted then cost end) from"
    " patients",
    "select ward, sum(case when sex = 'F' then 1 else 0 end), sum(case sex when 'F' then 2.5 end),"
    " count(case when sex = 'F' then 1 end), count(case when sex = 'F' then zip end) from patients group"
    " by 1",
    "select avg(case when abnormal then 1.0 else 0.0 end), avg(case when abnormal then 1 else 0 end),"
    " avg(case when abnormal then 0 else 1 end), avg(abnormal::int), sum(abnormal::int) from lab_results",
    "select avg(case when kind = 'emergency' then minutes else 0 end), sum(case when kind = 'emergency' then"
    " fee else 0 end), avg(case when kind = 'emergency' then 2 else 0 end) filter (where minutes > 20)"
    " from visits",
    "select count(distinct case when kind = 'emergency' then patient_id end) from visits",
    "select count(distinct patient_id), count(patient_id), count(visit_id), count(minutes) from visits",
    "select count(*) from patients where diagnosis in (select code from icd_codes where chronic)",
    "select ward, sum(cost) from patients where zip in (select zip from zip_regions union all select zip from"
    " zip_regions) and sex in ('F', 'F', 'x') group by ward",
    "select count(*) from patients p where left(p.zip, 3) in (select left(zip, 3) from zip_regions where"
    " urban)"
    " and p.ward in (select w.ward from wards w where w.floor > 0 or null)",
    "select count(*) from patients where cost > 1000 and (ward in (select ward from patients group by ward"
    " having count(*) > 360))",
    "select count(*) from visits where fee in (select null::int union all select 100 union all select 200)",
    "select p.ward, count(*) from (select * from patients where zip in (select zip from zip_regions where"
    " urban)) p group by 1",
    "select percentile_cont(array[0.25, 0.5, 0.75]) within group (order by cost) from patients",
    "select sex, percentile_disc(array[0.5, 0.9]) within group (order by birth_date desc) filter (where"
    " readmitted) from patients group by sex order by 2",
    "select percentile_disc(array[0.5]) within group (order by minutes * 2) from visits",
    "select ward, count(*) from patients where ward ~ '^[a-i]' or ward !~ 'o.*y$' or ward ~* 'ICU|x?y+'"
    " group by ward",
    "select ward, beds, rank() over (order by beds desc), sum(beds) over (partition by building) from wards",
    "select *, row_number() over (order by beds, ward) from wards order by 2 desc",
    "select building, beds - avg(beds) over (partition by building), lag(title) over (order by ward)"
    " from wards"
    " where floor >= 0 order by beds",
    "select floor > 1, dense_rank() over (order by floor > 1), count(*) over () from wards",
    "select a.ward, rank() over (order by a.n desc), a.n::numeric / sum(a.n) over () from (select ward,"
    " count(*)"
    " n from patients group by ward) a",
    "select avg(n), sum(n), count(*), count(n) from (select patient_id, count(*) as n from visits group by"
    " patient_id) v",
    "with v as (select patient_id, sum(minutes) as m from visits where kind <> 'emergency' group by"
    " patient_id)"
    " select round(avg(v.m), 3), avg(m)::int from v",
    "select * from patients where 1 = 0",
    "select ward, count(*) as n from patients where sex = 'F' and 1 = 2 group by ward",
    "select * from (select name, cost * 2 as c from patients) x limit 0",
    "select cost::text, birth_date::text, minutes::text, readmitted::text, readmitted::int, cost::int"
    " from patients join visits using (patient_id)",
)


@pytest.fixture(scope="module")
def connection(server: Server) -> Iterator[Connection]:
    with ExitStack() as stack:
        name = stack.enter_context(server.database("query_canonical"))
        made = stack.enter_context(psycopg.connect(server.dsn(name), autocommit=True))
        load(made, World.AS_IS)
        yield made


def run(
    connection: Connection, sql: str, path: str, values: list[str] | None = None
) -> list[tuple[Any, ...]]:
    with connection.transaction(force_rollback=True):
        connection.execute(f"set local search_path = {path}")
        return psycopg.RawCursor(connection).execute(sql.encode(), values or None).fetchall()


def shown(value: Any) -> Any:
    """Numbers that are equal look the same; floating point numbers to twelve digits."""
    if isinstance(value, list):
        return [shown(item) for item in value]
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return value
    return f"{float(value):.12g}"


def as_bag(rows: list[tuple[Any, ...]]) -> list[str]:
    return sorted(repr([shown(value) for value in row]) for row in rows)


def accepted(text: str, options: Options | None = None) -> Verdict:
    verdict = check(text, hospital(), options)
    assert verdict.accepted, verdict.findings
    assert verdict.canonical_sql is not None
    return verdict


def compare(connection: Connection, text: str, values: list[str] | None = None) -> None:
    verdict = accepted(text)
    own = run(connection, text, SCHEMA, values)
    canonical = run(connection, verdict.canonical_sql or "", "pg_catalog, pg_temp", values)
    width = len(verdict.outputs)
    assert all(len(row) == width + len(verdict.hidden) for row in canonical)
    if "percentile" in text.lower():
        # means over people near in rank, which have a test of their own
        assert len(canonical) == len(own)
    else:
        assert as_bag([row[:width] for row in canonical]) == as_bag(own)
    for statement in verdict.entity_sets:
        given = (values or [])[: max((item.number for item in verdict.parameters), default=0)]
        seed = ["7"] if statement.seed is not None else []
        run(connection, statement.sql, "pg_catalog, pg_temp", given + seed)


@pytest.mark.parametrize("text", OWN)
def test_the_answer_is_that_of_the_text(connection: Connection, text: str) -> None:
    compare(connection, text)


@pytest.mark.parametrize(
    "query",
    accepted_queries(),
    ids=lambda query: f"{query.author}: {query.name}",
)
def test_the_answer_of_an_honest_query_is_that_of_the_text(
    connection: Connection, query: HonestQuery
) -> None:
    compare(connection, query.text, [parameter.value for parameter in query.parameters])
