"""Which conditions and groups take one range of an aggregated number, and which may take several."""

from __future__ import annotations

import pytest

from kanon_pg.queries.check.findings import Finding
from tests.unit.query.shop import accepted, ask

RANGES = [
    "income >= 1250 and income < 1265",
    "income > $1 and 5 < income and income <= $2",
    "income between 5 and $1 and 7 between income and income + 9",
    "income = 7",
    "income in (5)",
    "income is null",
    "income is not null",
    "income <> 9",
    "not income = 9",
    "income is distinct from 9",
    "income is not distinct from 9",
    "not (income < 5 or income > 10)",
    "(income > 5) is true",
    "(income > 5) is not true",
    "(income > 5) = true",
    "(income * 2 + 5) * 3 between 5 and 10",
    "(income + 32) / 1.8 > 5",
    "-income / 1e6 > 5",
    "10 - income > 5",
    "income * (60 * 60) > 5",
    "income > (select avg(income) from people)",
    "coalesce(income, 0) > 5",
    "least(income, 90) > 5",
    "greatest(income, income + 3, 9) > 10",
    "floor(income / 10) = 3",
    "sign(income - 5) >= 0",
    "width_bucket(income, 0, 100, 10) between 3 and 5",
    "width_bucket(income, 100, 0, 10) = 3",
    "income::float8 < 5.5",
]

SEVERAL = [
    "(income < 1265) = (income < 90000)",
    "(income < 1265) >= (income < 90000)",
    "(income < 1265) is distinct from (income < 90000)",
    "(income - 1300) * (income - 90000) >= 0",
    "(income - 1010) / (90000 - income) <= 0",
    "income > income * 2 - 5",
    "90000 / income > 2",
    "greatest(1300 - income, income - 90000) >= 0",
    "width_bucket(income, 1300, 90000, 1) <> 1",
    "floor(income / 89000) <> 0",
    "not (floor(income / 89000) = 0)",
    "round(income, -5) is distinct from 0",
    "(income between 1300 and 90000) is false",
    "(income between 1300 and 90000) is not true",
    "not (income > 1300 and income < 90000)",
    "not (income not in (3, 4))",
    "income in (5, 90000)",
    "income = any ($1)",
    "income <> 5 and income <> 6",
    "income <> 5 and not income in (6)",
    "nullif(income, 5) > 3",
    "nullif(round(income, -3), 1000) > 3",
    "coalesce(nullif(sign(income - 90000), -1), sign(1010 - income)) >= 0",
    "income - 89000 * floor(income / 89000) between 5 and 10",
    "income * $1 > 5",
    "abs(income) > 5",
    "income::int % 7 = 1",
    "income::text < '2'",
    "income::text like '9%'",
    "(income > 13)::int - (income > 90)::int = 0",
    "(income * 0.000001 + 1e12) / 3 > 7",
    "(income + 1e12) / 3 > 7",
    "sqrt(income) > 3",
    "(ln(income) < 5) is not true",
    "case when income < 5 then 'a' when income < 10 then 'b' else 'a' end = 'a'",
    "case when income < 5 then 'a' when income < 10 then 'b' else 'c' end <> 'b'",
    "case when income < 5 then 'a' when income < 10 then 'b' else 'c' end in ('a', 'c')",
    "case when income < 5 then 'a' when income < 10 then 'b' else 'c' end = 'b'",
]

GROUPS = [
    "income",
    "-income + 3",
    "income > 5",
    "income > $1",
    "income = 0",
    "income is null",
    "(income > 5) is true",
    "floor((income - 0.0) / 1000.0) * 1000.0 + 0.0",
    "round(income, -3)",
    "round(income)::text",
    "width_bucket(income, 1300, 90000, 1)",
    "coalesce(income, 0)",
    "least(income, 90)",
    "case when income < $1 then 'low' else 'high' end",
    "case when income > 90 then 'high' when income > 40 then 'middle' end",
    "case when income is null then 'none' when income < 9 then 'low' when income between 9 and 20 then 'high'"
    " when income > 20 then 'far' end",
    "case when income >= 9 and 20 > income then 1 when income < 9 or income < 3 then 2 else 3 end",
    "case when income < 10 then 'a' when income > 20 then 'b' else 'b' end",
    "case when income < 3 then 'low' when income < 9 then 'low' else 'high' end",
]

SEVERAL_GROUPS = [
    "income < 1300 or income > 90000",
    "income between 1300 and 90000",
    "income > 1300 and income < 90000",
    "(income < 1300) = (income < 90000)",
    "income::int % 7",
    "abs(income - 5)",
    "sign(income) * income",
    "income in (3, 5)",
    "nullif(income, 0)",
    "substr(income::text, 1, 1)",
    "case when income < 1300 then 1 when income < 90000 then 2 else 1 end",
    "case when income between 1300 and 90000 then 'a' end",
    "case when income < 10 then 'a' when income > 20 then 'a' else 'b' end",
    "case when income < 10 then 'a' when income > 90 then $1 else 'b' end",
    "case when income < $1 then 'a' when income > $2 then 'b' else 'c' end",
    "case when income < 10 then 1 when income < 20 then 2 else 1.0 end",
    "case when income < 10 then 'a' when income * 2 > 50 then 'b' else 'c' end",
    "case when income < 10 then 5 else income end",
    "coalesce(case when income > 9 then 'a' end, 'b')",
    "case when income < 10 then 'a' when income < 20 then 'b' else 'c' end = 'b'",
]


def _q322(text: str) -> list[Finding]:
    return [finding for finding in ask(text).findings if finding.code == "Q322"]


@pytest.mark.parametrize("condition", RANGES)
def test_one_range_is_accepted(condition: str) -> None:
    accepted(f"select sum(income), count(*) from people where {condition}")
    accepted(
        f"select city, percentile_disc(0.5) within group (order by income) from people where {condition}"
        " group by city"
    )
    accepted(f"select sum(case when {condition} then income end) from people")


@pytest.mark.parametrize("condition", SEVERAL)
def test_several_ranges_are_refused_wherever_they_stand(condition: str) -> None:
    assert _q322(f"select sum(income) from people where {condition}")
    assert _q322(f"select avg(income) filter (where {condition}) from people where income > 9")
    assert _q322(f"select sum(case when {condition} then income else 0 end) from people")
    assert _q322(f"select city from people group by city having avg(income) filter (where {condition}) > 9")
    assert _q322(f"select sum(x.income) from (select income, {condition} as b from people) x where x.b")


@pytest.mark.parametrize("key", GROUPS)
def test_groups_of_one_range_each_are_accepted(key: str) -> None:
    accepted(f"select {key} as g, sum(income), count(*) from people group by 1")


@pytest.mark.parametrize("key", SEVERAL_GROUPS)
def test_groups_in_which_ranges_fall_together_are_refused(key: str) -> None:
    assert _q322(f"select {key} as g, sum(income) from people group by 1")
    assert _q322(f"select city, stddev(income) from people group by rollup (city, ({key}))")


@pytest.mark.parametrize("condition", [*SEVERAL[:20], *SEVERAL_GROUPS[:4]])
def test_who_is_counted_may_have_several_ranges(condition: str) -> None:
    assert not _q322(f"select count(*), avg(age) from people where {condition}")


@pytest.mark.parametrize(
    ("key", "is_one"),
    [
        ("date_trunc('month', born)", True),
        ("to_char(born, 'YYYY-MM')", True),
        ("to_char(born, 'IYYY-IW')", True),
        ("extract(year from born)::int", True),
        ("extract(epoch from born + interval '1 month') / 86400 > 9", True),
        ("floor((born - date '2000-01-01') / 7.0)", True),
        ("born::text", True),
        ("case when born < date '1950-01-01' then 1 when born <= date '1999-12-31' then 2 else 3 end", True),
        ("extract(month from born)", False),
        ("extract(day from born - timestamp '2000-01-01')", True),
        ("extract(hour from born - timestamp '2000-01-01')", False),
        ("to_char(born, 'MM')", False),
        ("to_char(born, 'YYYY-DD')", False),
        ("born - date_trunc('month', born)::date", False),
    ],
)  # fmt: skip
def test_groups_of_moments(key: str, is_one: bool) -> None:
    assert bool(_q322(f"select {key} as g, avg(date '2024-01-01' - born) from people group by 1")) != is_one


@pytest.mark.parametrize(
    ("condition", "is_one"),
    [
        ("extract(year from age(born)) between 18 and 30", True),
        ("extract(year from age(born)) <> 18", True),
        ("born > date '1950-01-01'", True),
        ("extract(month from age(born)) = 1", False),
        ("date '2024-01-01' - extract(day from born)::int > born", False),
    ],
)
def test_conditions_on_ages(condition: str, is_one: bool) -> None:
    text = f"select avg(extract(year from age(born))) from people where {condition}"
    assert ask(text).accepted == is_one


@pytest.mark.parametrize(
    "text",
    [
        "select sum(coalesce(income, 0)) from people where coalesce(income, 100000) > 90000",
        "select sum(coalesce(income, 0)) from people where (income <= 90000) is not true",
        "select sum(coalesce(income, 0)) from people where income is distinct from 5",
        "select sum(coalesce(income, 0)) from people where greatest(income, 9) > 8",
        "select sum(coalesce(income, 0)), case when income <= 90000 then 'a' end from people group by 2",
    ],
)
def test_where_null_is_a_number_it_is_not_taken_beside_a_range(text: str) -> None:
    assert _q322(text)


def test_null_as_a_number_may_be_compared_as_that() -> None:
    accepted("select sum(coalesce(income, 0)) from people where coalesce(income, 0) > 5")
    accepted("select sum(coalesce(income, 0)) from people where income > 5")


@pytest.mark.parametrize("weight", ["(income < 13) = (income < 90)", "income between 13 and 90"])
def test_a_weight_does_not_select_by_the_value_that_it_weighs(weight: str) -> None:
    assert _q322(f"select sum(income * ({weight})::int) from people")
    assert _q322(f"select corr(income, ({weight})::int) from people")
    accepted(f"select corr(age, ({weight})::int) from people")
    accepted("select corr(income, (income < 13)::int), corr(round(income, -3)::int, income) from people")


def test_values_of_which_each_is_counted_may_be_chosen_freely() -> None:
    accepted("select mode() within group (order by age) from people where age in (3, 90)")
    accepted("select avg(extract(month from born)) from people where extract(month from born) in (3, 9)")
    accepted("select member, sum(age) from people where not member or member is null group by member")


def test_a_filter_of_a_quotient_takes_a_range() -> None:
    accepted("select avg(income / nullif(age, 0)) filter (where income between 5 and 10) from people")


@pytest.mark.parametrize(
    "condition", ["seen + interval '1 month' < '2024-03-01'", "seen - interval '1 year' > $1"]
)
def test_months_added_to_moments_do_not_keep_their_order(condition: str) -> None:
    """The 30th at ten is before the 31st at nine, and a month later behind it."""
    assert _q322(f"select avg(seen - timestamptz '2024-01-01 00:00+00') from people where {condition}")
    assert not _q322(f"select count(*), avg(income) from people where {condition}")


def test_days_added_to_moments_and_months_to_days_keep_their_order() -> None:
    assert not _q322(
        "select avg(seen - timestamptz '2024-01-01 00:00+00') from people"
        " where seen + interval '36 hours' < '2024-03-01'"
    )
    assert not _q322(
        "select avg(born - date '2024-01-01') from people where born + interval '1 month' < '2024-03-01'"
    )
