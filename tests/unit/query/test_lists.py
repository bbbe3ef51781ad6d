"""What lists name of known columns divides the people whose known values are added up by secrets."""

from __future__ import annotations

import pytest

from kanon_pg.queries.check.checker import Options
from kanon_pg.queries.check.verdict import EntitySet
from tests.unit.query.shop import accepted, codes

SECRETLY = "avg(age) from people where income > 9 and"


def lists(text: str) -> list[EntitySet]:
    """Return the sets of people whom known columns choose, as lists divide them."""
    sets = accepted(f"select {text}").entity_sets
    shown = {item.level for item in sets if item.kind == "groups"}
    found = [item for item in sets if item.narrowed and item.level not in shown]
    assert all(item.kind == "known" for item in found)
    return found


@pytest.mark.parametrize(
    ("text", "divided", "is_left"),
    [
        (f"{SECRETLY} city in ('x', 'y')", ['THEN CAST("s1"."city"'], True),
        (f"{SECRETLY} city = any ($1)", ['THEN CAST("s1"."city"'], True),
        (f"{SECRETLY} city not in ('x', 'y')", ['THEN CAST("s1"."city"'], False),
        (f"{SECRETLY} sex <> 'f'", ['"sex"'], False),
        (f"{SECRETLY} not (sex = 'f' and born < '1950-01-01')", ['"sex"', '"born"'], False),
        (f"{SECRETLY} (city = 'x' or born > '1950-01-01')", ['"city"', '"born"'], False),
        ("sum(score) filter (where income > 9 and born in ('1950-01-01')) from people", ['"born"'], False),
        ("count(distinct age) from people where income > 9 and sex in ('f', 'm')", ['"sex" AS'], True),
        (
            "avg(age) from people p join (select city from cities where city in ('x') group by city) as c"
            " on c.city = p.city where income > 9",
            ['"city"'],
            False,
        ),
        (
            "avg(age) from people where income > 9 and city in (select city from cities where size > 3)",
            ['"city"'],
            False,
        ),
        (
            "case when born = '1950-01-01' then 1 when city = 'x' then 2 end, avg(age) from people"
            " where income > 9 group by 1",
            ['"born"', '"city"'],
            False,
        ),
    ],
)
def test_a_list_divides_whom_known_columns_choose(text: str, divided: list[str], is_left: bool) -> None:
    (found,) = lists(text)
    head, _, condition = found.sql[found.sql.index('AS "g"') :].partition(' FROM "shop"."people"')
    assert all(part in head for part in divided)
    assert '"income"' not in head + condition
    assert (' WHERE (CAST("s1"."' in condition) == is_left
    assert found.figures == ()


def test_parts_are_counted_where_no_ledger_compares_them() -> None:
    plain = accepted(f"select {SECRETLY} city = 'x'")
    listed = accepted(f"select {SECRETLY} city in ('x', 'y')")
    assert "listed" not in {item.what for item in plain.hidden}
    assert [item.minimum for item in listed.hidden if item.what == "listed"] == [5]


@pytest.mark.parametrize(
    "text",
    [
        f"{SECRETLY} city = 'x' and born >= '1950-01-01' and sex is not null",
        "avg(age) from people where city in ('x', 'y')",
        "count(*) from people where income > 9 and city in ('x', 'y')",
        "city, date_trunc('year', born), avg(age) from people where income > 9 group by 1, 2",
    ],
)
def test_nothing_is_divided_without_a_list_or_without_weights(text: str) -> None:
    assert lists(text) == []


def test_lists_within_a_query_around_are_found() -> None:
    inner = f"select city, {SECRETLY} sex in ('f', 'm') group by city".replace("avg(age)", "avg(age) as mean")
    assert len(lists(f"max(mean) from ({inner}) as t")) == 1


@pytest.mark.parametrize(
    "text",
    [
        f"{SECRETLY} (extract(year from born) - 1950) * (extract(year from born) - 1951) = 0",
        f"{SECRETLY} sex like '%f%'",
        f"{SECRETLY} city ~ '^x'",
        f"{SECRETLY} extract(day from born)::int % 7 in (1, 2)",
        f"{SECRETLY} (city = 'x' or city like 'y%')",
        "left(city, 1) || sex, avg(age) from people where income > 9 group by 1",
        "avg(p.age) from people p left join cities c on c.city = p.city and p.born not in ('1950-01-01')"
        " where p.income > 9 and c.size > 3",
        "avg(p.age) from people p join orders o on o.buyer = p.id where p.city in ('x', 'y') and o.paid",
    ],
)
def test_what_cannot_be_divided_is_refused(text: str) -> None:
    assert "Q325" in codes(f"select {text}")


def test_lists_are_refused_where_groups_are_left_out() -> None:
    text = f"select {SECRETLY} city in ('x', 'y')"
    assert "Q512" in codes(text, Options(mode="suppress"))
