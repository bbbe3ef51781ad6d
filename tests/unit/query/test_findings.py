"""What is refused, by which rule, and where in the text."""

from __future__ import annotations

import pytest

from tests.unit.query.shop import ask, codes

LATER = " + interval '900 years'"
TENTHS = ", ".join(f"0.{n}" for n in range(10, 20))
MOVED = [f"percentile_disc(0.{n}) within group (order by age + {n})" for n in range(10, 20)]
PERCENTILES = [f"percentile_disc(0.{n}) within group (order by age)" for n in range(10, 20)]

REFUSED = [
    ("Q001", "", "select " + "1+" * 1500 + "1"),
    ("Q002", "select", "select 1; select 2"),
    ("Q003", "\u00a0", "select\u00a01"),
    ("Q003", "ö", "select größe from people"),
    ("Q004", "'a'", "select e'a'"),
    ("Q005", "x" * 64, "select " + "x" * 64 + " from people"),
    ("Q006", "a", "select 1a"),
    ("Q007", "$", "select $$a$$"),
    ("Q008", "'", "select 'a"),
    ("Q008", "/", "select /* /* */ */ 1"),
    ("Q009", ":", "select :x"),
    ("Q021", "", "select age[1] from people"),
    ("Q021", "", "select array[age] from people"),
    ("Q205", "'(a)*'", "select city from people where city ~ '(a)*'"),
    ("Q205", "'a{3}'", "select city from people where city !~* 'a{3}'"),
    ("Q205", "'[z-a]'", "select city from people where city ~ '[z-a]'"),
    ("Q205", "'a\\\\1'", "select city from people where city ~ 'a\\\\1'"),
    ("Q205", "", "select city from people where city ~ 'a*b*c*d*e*f*g*h*i*'"),
    ("Q205", "sex", "select city from people where city ~ sex"),
    ("Q205", "$1", "select city from people where city ~ $1"),
    ("Q021", "insert", "insert into people values (1)"),
    ("Q217", "count(*) over ()", "select count(*) over () from people"),
    ("Q217", "", "select city from people group by city having sum(count(*)) over () > 3"),
    ("Q217", "", "select sum(sum(count(*)) over ()) over () from people"),
    ("Q218", "", "select count(*) filter (where true) over () from people group by city"),
    ("Q218", "", "select lag(null) over () from people group by city"),
    ("Q020", "", "select sum(count(*)) over (order by city rows current row) from people group by city"),
    ("Q021", "", "select city from people where exists (select 1)"),
    ("Q020", "", "select city from people where city not in (select city from cities)"),
    ("Q020", "", "select city from people where member or city in (select city from cities)"),
    ("Q020", "", "select city in (select city from cities) from people"),
    ("Q102", "p.sex", "select 1 from people p where city in (select city from cities where city = p.sex)"),
    ("Q300", "id", "select city from people where id in (select size from cities)"),
    ("Q300", "*", "select * from people"),
    ("Q101", "mood", "select mood, count(*) from people group by 1"),
    ("Q201", "'[30,20)'", "select count(*) from people where decade = '[30,20)'"),
    ("Q201", "'[1,2147483647]'", "select count(*) from people where decade = '[1,2147483647]'"),
    ("Q201", "'[1,2),[3,4)'", "select count(*) from people where decade = '[1,2),[3,4)'"),
    ("Q506", "", "select city from people where city in (select city, country from cities)"),
    ("Q500", "", "select city from people where city in (select city from cities limit 1)"),
    ("Q020", "", "select city from people union select city from cities"),
    ("Q020", "", "select city from people for update"),
    ("Q020", "", "with recursive a as (select 1) select 1"),
    ("Q217", "", "select city, sum(count(*)) over () from people group by rollup (city)"),
    ("Q507", "", "select count(*) from people group by cube (city, sex, age, member, score)"),
    ("Q507", "", "select count(*) from people group by cube (city, sex, age), cube (member, score)"),
    ("Q508", "", "select grouping(age), count(*) from people group by rollup (city)"),
    ("Q509", "", "select count(*) from people group by grouping sets ((), ())"),
    ("Q509", "", "select count(*) from people group by rollup (city), rollup (city)"),
    ("Q020", "", "select city, count(*) from people group by city with rollup"),
    ("Q022", "kanon_x", "select 1 as kanon_x"),
    ("Q024", "", "select income::varchar(3) from people"),
    ("Q026", "", "select shop.f(age) from people"),
    ("Q027", "", "select age from people full join cities on true"),
    ("Q028", "", "select 1 from (select 1)"),
    ("Q100", "nobody", "select 1 from nobody"),
    ("Q100", "pg_catalog.pg_class", "select relname from pg_catalog.pg_class"),
    ("Q101", "agee", "select agee from people"),
    ("Q101", "mood", "select mood from people"),
    ("Q101", "nick", "select nick from people"),
    ("Q101", "ctid", "select ctid from people"),
    ("Q102", "c.city", "select c.city from cities"),
    ("Q103", "city", "select city from people, cities"),
    ("Q104", "", "select 1 from cities, cities"),
    ("Q105", "far", "select city from far"),
    ("Q105", "guarded", "select city from guarded"),
    ("Q106", "rich", "select count(*) from rich"),
    ("Q107", "careless", "select count(*) from careless"),
    ("Q108", "replies", "select count(*) from replies"),
    ("Q201", "'31.1.2024'", "select count(*) from people where born > '31.1.2024'"),
    ("Q201", "'infinity'", "select count(*) from people where born > date 'infinity'"),
    ("Q201", "'x'", "select count(*) from people where age = 'x'"),
    ("Q202", "", "select count(*) from people where age = city"),
    ("Q203", "", "select count(*) from people where city::int = 1"),
    ("Q203", "", "select seen::text, count(*) from people group by 1"),
    ("Q203", "", "select city::regclass from people"),
    ("Q204", "age", "select left(city, age) from people"),
    ("Q204", "", "select width_bucket(age, 1, 1, 5) from people"),
    ("Q204", "'eon'", "select date_trunc('eon', seen) from people"),
    ("Q205", "city", "select count(*) from people where city like city"),
    ("Q205", "'a\\'", "select count(*) from people where city like 'a\\'"),
    ("Q207", "", "select age / 0 from people"),
    ("Q208", "$1", "select count(*) from people where age = $1 and city = $1"),
    ("Q208", "", "select count(*) from people where age = $1 and age < %s"),
    ("Q210", "", "select pg_sleep(1) from people"),
    ("Q210", "", "select array_agg(city) from people"),
    ("Q211", "", "select lower(age) from people"),
    ("Q212", "", "select percentile_cont(0.5) from people"),
    ("Q213", "", "select sum(distinct age) from people"),
    ("Q213", "", "select string_agg(city, ',') from people"),
    ("Q213", "", "select string_agg(distinct city, ',' order by age) from people"),
    ("Q214", "", "select percentile_disc(1) within group (order by age) from people"),
    ("Q215", "", "select sum(count(*)) from people"),
    ("Q215", "", "select city from people where count(*) > 1"),
    ("Q216", "city", "select city, count(*) from people"),
    ("Q300", "name", "select name, count(*) from people group by name"),
    ("Q300", "id", "select count(*) from people where id = 7"),
    ("Q300", "p.id", "select count(*) from people p join cities c on c.size = p.id"),
    ("Q301", "note", "select note, count(*) from people group by 1"),
    ("Q310", "", "select sum(case when age > 3 then income else 2 end) from people"),
    ("Q310", "", "select avg(case when age > 3 then income else 0 end) from people"),
    ("Q310", "", "select stddev(case when age > 3 then age end) from people"),
    ("Q310", "", "select count(case when age > 3 then 1 else 0 end) from people"),
    ("Q310", "", "select variance(income + age) from people"),
    ("Q310", "", "select percentile_disc(0.5) within group (order by age * 1000000 + income) from people"),
    ("Q310", "", "select percentile_disc(0.5) within group (order by age - income) from people"),
    ("Q310", "", "select sum((income * 0.0000001 + 1e12) / 1e12) from people"),
    ("Q310", "", "select sum(score * 1e-7 + 1e12) from people"),
    ("Q310", "", "select sum((income + 1e12)::float8) from people"),
    ("Q310", "", "select sum(abs(age)) from people"),
    ("Q310", "", "select sum(income * score::numeric) from people"),
    ("Q310", "", "select sum(age / 7) from people"),
    ("Q310", "", "select sum(score::int) from people"),
    ("Q310", "size", "select stddev(size) from people join cities using (city)"),
    ("Q310", "", "select count(age + 1) from people"),
    ("Q310", "p.income", "select sum(p.income) from orders o join people p on p.id = o.buyer"),
    ("Q311", "", "select count(distinct age % 2) from people"),
    ("Q312", "", f"select {', '.join(f'count(*) filter (where age > {n})' for n in range(13))} from people"),
    ("Q320", "max(income)", "select max(income) from people"),
    ("Q320", "min(age)", "select min(age) from people"),
    ("Q320", "max(score)", "select max(score) from people where income > 40000"),
    ("Q320", "", "select city, min(score) filter (where income > 9) from people group by city"),
    ("Q320", "min(score)", "select income, min(score) from people group by income"),
    ("Q320", "", "select max(score) from people join orders on buyer = people.id"),
    ("Q310", "", "select percentile_disc(0.5) within group (order by coalesce(income, 0)) from people"),
    ("Q322", "", "select sum(income) from people where income < 10 or age = 77"),
    ("Q322", "", "select avg(age) filter (where age < 10 or sex = 'x') from people"),
    ("Q322", "", "select age > 9 and city = 'x', stddev(age) from people group by 1"),
    ("Q322", "", "select sum(score) from people p join orders o on p.id = o.buyer and p.score > o.amount"),
    ("Q322", "", "select sum(age) from people p left join cities c on c.city = p.city and age < 9"
     " where size > 1"),
    ("Q323", "income > age", "select count(*) from people where income > age"),
    ("Q323", "", "select count(*) from people where income > 5 and (age = 3 or income * 2 > age)"),
    ("Q323", "", "select coalesce(income, age), count(*) from people group by 1"),
    ("Q323", "", "select count(*) from people p join cities c using (city) where c.price > p.income"),
    ("Q323", "", "select count(*) from people p left join cities c on c.city = p.city and p.income > p.age"),
    ("Q331", "", "select count(*) from people p join cities c using (city) where c.country ~ 'a*b'"),
    ("Q330", "", "select count(*) from people where score * 2e30 > 1"),
    ("Q330", "", "select count(*) from people where score * score > 1"),
    ("Q330", "", "select count(*) from people where age * age * age > 1"),
    ("Q330", "", "select count(*) from people where age + $1 > 1"),
    ("Q330", "", "select count(*) from people where born" + LATER * 5 + " > born"),
    ("Q330", "", f"select age from people where case when member then {'now() ' + LATER * 9} > now() end"),
    ("Q331", "", "select count(*) from people p join cities c using (city) where c.price * 2 > p.income"),
    ("Q331", "", "select count(*) from people p join cities c using (city) where c.price > p.score"),
    ("Q332", "", "select count(*) from people where dutch = latin"),
    ("Q400", "", "select count(*) from people left join cities"),
    ("Q321", "", f"select {', '.join(PERCENTILES)} from people"),
    ("Q321", "", f"select {', '.join(MOVED)} from people"),
    ("Q321", "", f"select percentile_disc(array[{TENTHS}]) within group (order by age) from people"),
    ("Q214", "1.5", "select percentile_disc(array[0.5, 1.5]) within group (order by age) from people"),
    ("Q214", "", "select percentile_disc(array[]) within group (order by age) from people"),
    (
        "Q401",
        "orders o",
        "select sum(p.age) from people p join orders o on true left join cities c on c.city = p.city"
        " and o.buyer = p.id",
    ),
    (
        "Q401",
        "cities d",
        "select count(*) from people p cross join cities d left join cities c on c.city = p.city"
        " and d.city = p.city",
    ),
    ("Q401", "cities", "select count(*) from people, cities"),
    ("Q401", "cities", "select size, count(distinct id) from people join cities on age <= size group by 1"),
    ("Q401", "people b", "select count(distinct a.id) from people a, people b where a.age > b.age"),
    ("Q401", "people b", "select count(distinct a.id) from people a, people b where a.city = b.city"),
    ("Q310", "p.age", "select sum(p.age) from people p join orders o on o.buyer = p.id"),
    ("Q402", "", "select count(*) from people p left join orders o on o.buyer = p.id"),
    ("Q500", "", "select count(*) from (select city from people limit 3) x"),
    ("Q502", "", "select distinct city, count(*) from people group by city"),
    ("Q503", "3", "select city, count(*) from people group by 3"),
    ("Q504", "age", "select city from people order by age"),
    ("Q505", "", "select city from people limit 1.5"),
    ("Q506", "", "select 1 union all select 1, 2"),
]  # fmt: skip


@pytest.mark.parametrize(("code", "piece", "text"), REFUSED)
def test_is_refused_by_the_rule_at_its_place(code: str, piece: str, text: str) -> None:
    verdict = ask(text)
    assert not verdict.accepted
    found = [finding for finding in verdict.findings if finding.code == code]
    assert found, verdict.findings
    assert all(0 <= finding.start <= finding.end <= len(text) for finding in found)
    if piece:
        assert piece in {text[finding.start : finding.end] for finding in found}


@pytest.mark.parametrize(("code", "piece", "text"), REFUSED)
def test_a_refusal_carries_no_plan(code: str, piece: str, text: str) -> None:
    verdict = ask(text)
    assert verdict.canonical_sql is None
    assert verdict.entity_sets == ()
    assert all(finding.sentence.endswith(".") for finding in verdict.findings)


def test_all_findings_of_one_level_are_reported_together() -> None:
    text = "select name, sum(abs(age)), max(income) from people group by name"
    assert codes(text) >= {"Q300", "Q310", "Q320"}
