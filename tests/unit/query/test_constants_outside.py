"""Whatever constants stand inside an aggregate over people, what is computed over their rows is the same."""

from __future__ import annotations

import pytest

from tests.unit.query.shop import accepted, codes

SCALED = [
    "select sum(income / {c}) from people",
    "select avg(income / {c}), avg(age * {c}) from people",
    "select sum(age / {c} / 3.0 * 5) from people",
    "select sum((age * {c} * 3.0)::float8) from people",
    "select sum(income::float8 * {c}) from people",
    "select sum(score * {c}), avg(score / {c}) from people",
    "select sum(-(income / {c})) from people",
    "select stddev(income / {c}), variance(age * {c}), stddev_pop(score / -{c}) from people",
    "select stddev((income + {c}) / {c}), var_pop(5 - age * {c}) from people",
    "select percentile_cont(0.25) within group (order by income / {c}) from people",
    "select percentile_disc(0.25) within group (order by age * {c}) from people",
    "select percentile_cont(0.25) within group (order by score / {c} desc) from people",
    "select avg(extract(epoch from seen - timestamptz '2020-01-01 00:00+00') / {c}) from people",
    "select avg(date_part('epoch', seen - timestamptz '2020-01-01 00:00+00') / {c}) from people",
    "select avg((date '2024-05-15' - born) / {c}) from people",
    "select sum(coalesce(income, 0) / {c}) from people",
    "select sum(income / {c}) filter (where age > 30) from people",
    "select sum(case when age > 30 then income / {c} else 0 end) from people",
    "select city, sum(income / {c}) from people group by city having avg(income / {c}) > 3 order by 2",
    "select corr(income / {c}, age), corr(income, age * {c} + {c}) from people",
    "select covar_pop(income * {c}, age), regr_slope(income, age / {c}) from people",
    "select regr_intercept(income * {c}, age * {c}), regr_r2(income, -age * {c}) from people",
    "select avg(income / {c} / nullif(age, 0)), sum(income * {c} / age) from people",
    "select sum(p.income * {c} / c.price) from people p join cities c on c.city = p.city",
]


def over_rows(text: str) -> str:
    """Return what is computed over rows: all of the canonical SQL that stands before the answer."""
    sql = accepted(text).canonical_sql or ""
    return sql[: sql.rindex(") SELECT ")]


@pytest.mark.parametrize("text", SCALED)
def test_no_constant_is_left_over_rows(text: str) -> None:
    one, other = (over_rows(text.format(c=constant)) for constant in ("7.0", "12345.678901"))
    assert one == other
    assert "12345" not in other


def test_terms_get_one_divisor() -> None:
    assert over_rows("select sum(income / 7.0 + age / 3.0) from people") == over_rows(
        "select sum(income * 3.0 + age * 7.0) from people"
    )
    assert over_rows("select sum(age / 7.0 - income / 7.0) from people") == over_rows(
        "select sum(age::numeric - income) from people"
    )
    assert over_rows("select sum(coalesce(income / 4.0, 3)) from people") == over_rows(
        "select sum(coalesce(income, 3 * 4.0)) from people"
    )


def test_what_is_added_to_floating_point_numbers_leaves_their_spread_alone() -> None:
    rows = over_rows("select stddev(date_part('year', born)) from people")
    assert over_rows("select stddev(date_part('year', born) + 77) from people") == rows
    assert over_rows("select stddev(99 - date_part('year', born)) from people") == rows


def test_a_negative_factor_turns_a_percentile() -> None:
    turned = over_rows("select percentile_disc(0.25) within group (order by -income) from people")
    assert turned == over_rows("select percentile_disc(0.25) within group (order by income desc) from people")
    assert turned != over_rows("select percentile_disc(0.25) within group (order by income) from people")


def test_one_sum_is_computed_for_many_constants() -> None:
    sums = ", ".join(f"sum(income / {number}.0)" for number in range(2, 12))
    assert over_rows(f"select {sums} from people") == over_rows("select sum(income) from people")


def test_the_quotient_by_a_column_is_a_product_with_its_reciprocal() -> None:
    rows = over_rows("select avg(income / nullif(age, 0)) from people")
    assert '("s1"."income" OPERATOR(pg_catalog.*) (CAST(\'1.0000000000' in rows


ROUNDED = [
    "select sum((age * 123456789)::pg_catalog.float4::numeric) from people",
    "select sum(age::pg_catalog.float4) from people",
    "select sum((age * 12345)::pg_catalog.float4 / 7.0) from people",
    "select stddev((age * 123)::pg_catalog.float4) from people",
    "select percentile_disc(0.5) within group (order by (age * 123)::pg_catalog.float4) from people",
    "select sum(coalesce(score, 1000000000000)) from people p left join cities c on c.city = p.city",
    "select sum((income + 1.5)::float8) from people",
    "select sum((income + 1.5) / 7.0) from people",
    "select sum(score * score::numeric) from people",
    "select sum(score / 1e13) from people",
    "select sum(income / 1e13) from people",
    "select sum(income / $1) from people",
    "select sum(score * $1) from people",
    "select sum(income / 1.1 / 1.2 / 1.3 / 1.4 / 1.5 / 1.6 / 1.7 / 1.8 / 1.9) from people",
    "select stddev(income / (date '2024-05-15' - date '2024-01-01')::numeric) from people",
    "select percentile_disc(0.5) within group (order by income / (date '2024-05-15' - born)) from people",
    "select percentile_cont(0.5) within group (order by date_part('epoch', seen"
    " - timestamptz '2020-01-01 00:00:00.5+00')) from people",
    "select regr_intercept(income, age + 2000) from people",
    "select corr(income, case when age > 30 then 3 else 1 end) from people",
    "select corr(income, abs(age - 1000)) from people",
    "select corr(score, round(income * 0.0037)::int) from people",
    "select sum(age / 7) from people",
]


@pytest.mark.parametrize("text", ROUNDED)
def test_what_would_be_rounded_for_each_row_is_refused(text: str) -> None:
    assert "Q310" in codes(text)


KEPT = [
    "select sum(age::float8), avg(income::float8), stddev(income::float8) from people",
    "select sum(2 * income + 100), avg(income * 3.25 - age) from people",
    "select sum(coalesce(income, 5)) from people",
    "select avg(date_part('year', current_date) - date_part('year', born)) from people",
    "select corr(income, age), corr(round(income, -3)::int, score) from people",
    "select corr(income, (age > 30)::int) from people",
    "select sum(coalesce(score / 7.0, 0)) from people p left join cities c on c.city = p.city",
    "select percentile_cont(0.5) within group (order by age + 4) from people",
    "select sum(income) * 100.0 / count(*) from people",
]


@pytest.mark.parametrize("text", KEPT)
def test_what_is_exact_or_has_no_constants_is_accepted(text: str) -> None:
    assert accepted(text).canonical_sql
