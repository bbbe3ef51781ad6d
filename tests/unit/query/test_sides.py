"""Who lies on either side of a range of an aggregated column is counted and recorded, and not shown."""

from __future__ import annotations

import pytest

from kanon_pg.queries.check.checker import Options
from tests.unit.query.shop import accepted, codes

LIMITED = [
    "sum(income) from people where income > 5",
    "avg(income) from people where income between 5 and 90",
    "sum(income * 2 + 1) from people where not (income < 5 or income > 90)",
    "sum(income) from people where income = 5",
    "sum(income) from people where income <> 5",
    "sum(income) from people where (income > 5) = true",
    "sum(income), income = 5 from people group by 2",
    "sum(income) filter (where income between 5 and 90) from people",
    "sum(income) filter (where member and income > 5) from people",
    "percentile_cont(0.5) within group (order by income) from people where income > 5",
    "sum(p.income) from people p join people q on p.id = q.id where q.income > 5",
    "sum(age) from people where age > 30 and income > 5",
]


def sides(text: str) -> list[str]:
    """Return the statements of levels that are recorded, and have neither figures nor filters."""
    sets = (item for item in accepted(f"select {text}").entity_sets if item.kind == "groups")
    return [item.sql for item in sets if item.level > 1 and not (item.figures or item.filters)]


@pytest.mark.parametrize("text", LIMITED)
def test_sides_of_a_limited_column_are_groups(text: str) -> None:
    (sql, *_) = sides(text)
    assert "IS TRUE" in sql
    people = [item for item in accepted(f"select {text}").hidden if item.what == "people"]
    assert len(people) >= 2
    assert {item.minimum for item in people} == {5}


@pytest.mark.parametrize(
    "text",
    [
        "count(*) from people where income > 5",
        "sum(income) from people where member and city = 'x'",
        "sum(income) from people",
        "sum(income), income > 5 from people group by 2",
        "sum(income) filter (where income > 5), avg(income) from people",
        "sum(age) from people where age > 30 and city = 'x'",
        "sum(income) from people where income is not null",
    ],
)
def test_without_a_limit_there_is_nothing_to_divide(text: str) -> None:
    assert sides(text) == []


def test_people_without_a_value_are_on_no_side() -> None:
    (sql,) = sides("sum(income) from people where income > 5")
    assert "IS NOT NULL" in sql


def test_both_sides_of_a_value_are_told_apart() -> None:
    (sql,) = sides("sum(income) from people where income = 5")
    assert "pg_catalog.<)" in sql
    assert "pg_catalog.<=)" in sql


def test_sides_of_spreads_have_as_many_people_as_spreads() -> None:
    verdict = accepted("select stddev(income) from people where income > 5")
    assert [item.minimum for item in verdict.hidden if item.what == "filter"] == [12, 12]


def test_ranges_are_refused_where_groups_are_left_out() -> None:
    assert codes("select sum(income) from people where income > 5", Options(mode="suppress")) == {"Q512"}
    assert accepted("select sum(age) from people where age > 5", Options(mode="suppress"))
