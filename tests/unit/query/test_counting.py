"""What is counted with an answer, and in which numbers."""

from __future__ import annotations

import pytest

from kanon_pg.queries.check.checker import Options
from tests.unit.query.shop import accepted, codes, counted

PEOPLE, ORDERS, ANSWERS = 1, 2, 3


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("select city, count(*) from people group by city", {("people", PEOPLE, 5)}),
        ("select country, size from cities", set()),
        ("select question, avg(grade) from answers group by 1", {("people", ANSWERS, 3)}),
        ("select avg(income) from people", {("people", PEOPLE, 5), ("filter", PEOPLE, 5)}),
        (
            "select count(income) from people",
            {("people", PEOPLE, 5), ("filter", PEOPLE, 5), ("complement", PEOPLE, 5)},
        ),
        (
            "select sum(age) filter (where member) from people",
            {("people", PEOPLE, 5), ("filter", PEOPLE, 5), ("complement", PEOPLE, 5)},
        ),
        (
            "select sum(coalesce(income, 0)) from people",
            {("people", PEOPLE, 5), ("filter", PEOPLE, 5), ("complement", PEOPLE, 5)},
        ),
        (
            "select percentile_cont(0.1) within group (order by amount) from orders",
            {("people", ORDERS, 7), ("percentile", ORDERS, 70)},
        ),
        (
            "select percentile_cont(0.1) within group (order by age) from people",
            {("people", PEOPLE, 5), ("percentile", PEOPLE, 50)},
        ),
        (  # 16 people have 4.8 below: five on the smaller side are 17 people
            "select percentile_cont(0.3) within group (order by age) from people",
            {("people", PEOPLE, 5), ("percentile", PEOPLE, 17)},
        ),
        (
            "select percentile_disc(0.7) within group (order by age) from people",
            {("people", PEOPLE, 5), ("percentile", PEOPLE, 17)},
        ),
        (
            "select o.city, sum(o.amount) from orders o join people p on p.id = o.buyer group by 1",
            {("people", PEOPLE, 5), ("people", ORDERS, 7)},
        ),
        (
            "select city from people union all select city from orders",
            {("people", PEOPLE, 5), ("people", ORDERS, 7)},
        ),
        (
            "select p.city from people p join (select city, sum(amount) s from orders group by city) o"
            " on o.city = p.city where p.age > o.s",
            {("people", PEOPLE, 5), ("people", ORDERS, 7)},
        ),
    ],
)
def test_everything_that_needs_people_is_counted(text: str, expected: set[tuple[str, int, int]]) -> None:
    assert counted(text) == expected


def test_ranges_are_grouped_and_compared() -> None:
    assert accepted("select decade, count(*) from people where decade <> '[20, 30)' group by decade").accepted


def test_every_instance_is_counted() -> None:
    verdict = accepted("select count(*) from people a join people b on a.id = b.id")
    assert len(verdict.hidden) == 2


def test_what_two_filters_tell_apart_is_counted() -> None:
    one = "sum(age) filter (where age > 3)"
    both = f"{one}, sum(age) filter (where age > 4)"
    assert len(accepted(f"select {one} from people").hidden) == 3
    assert len(accepted(f"select {both} from people").hidden) == 1 + 2 * 2 + 1
    assert "kanon_cells_1" in (accepted(f"select {both} from people").canonical_sql or "")


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("select count(*) from people", 0),
        ("select avg(income), count(*) from people", 0),
        ("select count(*) filter (where member) from people", 0),
        ("select avg(income) filter (where member) from people", 2),
        ("select avg(income), count(*) filter (where member) from people", 2),
        ("select sum(age) filter (where member), sum(age) filter (where age > 3) from people", 1),
        ("select sum(age), sum(age + income) from people", 2),
        ("select count(*) from people where income > 3 and age > 4", 0),
        ("select count(*) from people where income > 3 or age > 4", 1),
        ("select count(*) from people where income > 3 or income < 1", 0),
        ("select case when age > 3 then income > 4 else member end, count(*) from people group by 1", 1),
        ("select city || (income > 3)::text, count(*) from people group by 1", 0),
        ("select count(*) from people join cities c using (city) where c.size > 3 or income > 4", 1),
        ("select city, sex, count(*) from people group by rollup (city, sex)", 0),
        ("select city, sex, count(*) from people group by cube (city, sex)", 0),
        ("select city, sex, count(*) from people group by grouping sets (city, sex)", 1),
        ("select city, sex, avg(income) from people group by grouping sets (city, sex)", 2),
    ],
)
def test_cells_are_counted_where_figures_are_equations_about_them(text: str, cells: int) -> None:
    assert (accepted(text).canonical_sql or "").count('FROM "kanon_cells_1"') == cells


def test_sides_of_percentiles_are_counted_where_people_have_many_rows() -> None:
    median = "select percentile_cont(0.5) within group (order by {0}) from {1} where {0} > 3"
    many, one = (accepted(median.format(*names)) for names in (("amount", "orders"), ("age", "people")))
    assert "kanon_sides" in (many.canonical_sql or "")
    assert "kanon_sides" not in (one.canonical_sql or "")
    assert codes(median.format("amount", "orders"), Options(mode="suppress")) == {"Q511", "Q512"}
    assert accepted(median.format("age", "people"), Options(mode="suppress"))


def test_suppression_counts_cells_with_each_group() -> None:
    one, two, three = (f"count(*) filter (where age > {n})" for n in (3, 4, 5))
    options = Options(mode="suppress")
    assert len(accepted(f"select {one}, {two} from people", options).hidden) == 1 + 2 * 2 + 2**2
    assert codes(f"select {one}, {two}, {three}, sum(age + income) from people", options) == {"Q512"}


@pytest.mark.parametrize(
    ("aggregate", "filtered"),
    [
        ("sum(case when member then age end)", "sum(age) filter (where member)"),
        ("sum(case when member then age else 0 end)", "sum(age) filter (where member)"),
        ("sum(case when member then 1 else 0 end)", "count(*) filter (where member)"),
        ("sum(member::int)", "count(*) filter (where member)"),
        ("sum(case when age < 3 then 0 else 1 end)", "count(*) filter (where not ((age < 3) is true))"),
        ("count(case when member then 1 end)", "count(*) filter (where member)"),
        ("count(case when member then 1 else null end)", "count(*) filter (where member)"),
        ("count(distinct case when member then id end)", "count(distinct id) filter (where member)"),
        ("avg(case when member then 1 else 0 end)", "1::numeric * count(*) filter (where member) / count(*)"),
        ("avg(case when member then age end)", "avg(age) filter (where member)"),
        (
            "sum(case when member then age end) filter (where age > 3)",
            "sum(age) filter (where age > 3 and member)",
        ),
        ("count(age)", "count(*)"),
        ("count(id)", "count(*)"),
    ],
)
def test_an_aggregate_of_case_is_one_with_a_filter(aggregate: str, filtered: str) -> None:
    ours, theirs = (accepted(f"select {text} as x from people") for text in (aggregate, filtered))
    assert ours.canonical_sql == theirs.canonical_sql


@pytest.mark.parametrize(
    ("nested", "plain"),
    [
        ("avg(n)", "count(*)::numeric / count(distinct buyer)"),
        ("sum(n) / count(*)", "count(*) / count(distinct buyer)"),
        ("round(avg(total), 2)", "round(sum(amount)::numeric / count(distinct buyer), 2)"),
    ],
)
def test_a_mean_over_people_is_a_figure_over_the_table(nested: str, plain: str) -> None:
    orders = "(select buyer, count(*) as n, sum(amount) as total from orders where city = 'x' group by buyer)"
    asked = accepted(f"select {nested} as x from {orders} o")
    assert asked.canonical_sql == accepted(f"select {plain} as x from orders where city = 'x'").canonical_sql
    named = accepted(f"with o as {orders} select {nested} as x from o")
    assert named.canonical_sql == asked.canonical_sql


@pytest.mark.parametrize(
    "text",
    [
        "select * from people where 1 = 0",
        "select city, age from people where member and 1 = 2",
        "select * from (select * from people) t where false",
        "select city, count(*) from people group by city limit 0",
    ],
)
def test_a_query_for_the_columns_reads_nothing(text: str) -> None:
    verdict = accepted(text)
    assert verdict.relations == verdict.protected == verdict.hidden == ()
    assert not verdict.empty_refused
    assert '"shop"' not in (verdict.canonical_sql or "")


def test_people_are_counted_by_entity_where_they_have_several_rows() -> None:
    sql = accepted("select city, count(*) from orders group by city").canonical_sql or ""
    assert 'count(DISTINCT "s1"."buyer")' in sql


def test_the_empty_answer_is_refused_only_over_people() -> None:
    assert accepted("select city from people").empty_refused
    assert not accepted("select city from cities").empty_refused
    assert not accepted("select city from people", Options(mode="suppress")).empty_refused


def test_dominance_is_checked_for_sums_only() -> None:
    options = Options(dominance=0.5)
    assert ("dominance", PEOPLE, 1) in counted("select sum(income) from people", options)
    assert ("dominance", PEOPLE, 1) not in counted("select count(*) from people", options)
    assert codes("select sum(income) from people", Options("suppress", dominance=0.5)) == {"Q511"}


def test_suppression_takes_one_protected_level() -> None:
    options = Options(mode="suppress")
    assert counted("select city, count(*) from people group by 1", options) == {("people", PEOPLE, 5)}
    assert "Q510" in codes("select city from people union all select city from orders", options)
    assert "Q510" in codes("select n from (select city, count(*) n from people group by 1) x", options)


def test_strict_mode_wants_every_named_group() -> None:
    strict = Options(strict=True)
    assert ("value", PEOPLE, 2) in counted("select age > 3, count(*) from people group by 1", strict)
    case = "case when age > 3 then 'a' when age > 2 then 'b' end"
    assert {("value", PEOPLE, 2), ("value", PEOPLE, 1)} <= counted(
        f"select {case}, count(*) from people group by 1", strict
    )
    assert codes(f"select {case} || 'x', count(*) from people group by 1", strict) == {"Q340"}


def test_the_ledger_gets_every_set_of_people() -> None:
    verdict = accepted(
        "select city, count(*), sum(age) filter (where member) from people where age < $1 group by city"
    )
    assert [(item.relation, item.figures, item.filters) for item in verdict.entity_sets] == [
        (PEOPLE, ("count(*)",), (("sum(age)",),)),
    ]
    assert all("$1" in item.sql for item in verdict.entity_sets)


@pytest.mark.parametrize(
    ("text", "types"),
    [
        ("select count(*) from people where age between $1 and $2", ["int4", "int4"]),
        ("select count(*) from people where age > %s and city = %s limit %s", ["int4", "text", "int8"]),
        ("select count(*) from people where city = any($1) and born < $2", ["text[]", "date"]),
        ("select count(*) from people where city like $1", ["text"]),
        ("select count(*) from people where income > $1::float8", ["float8"]),
    ],
)
def test_parameters_have_types_in_the_order_of_the_text(text: str, types: list[str]) -> None:
    verdict = accepted(text)
    assert [item.number for item in verdict.parameters] == list(range(1, len(types) + 1))
    assert [item.type_name for item in verdict.parameters] == types


def test_names_are_found_along_the_search_path() -> None:
    assert accepted("select city from cities").relations == (4,)
    assert accepted("select city from other.cities").relations == (10,)
    assert accepted("select SIZE from Cities").outputs[0].name == "size"
    sql = accepted('select city from "Odd ""name"""').canonical_sql or ""
    assert '"shop"."Odd ""name"""' in sql


def test_extremes_of_insensitive_columns_may_be_asked() -> None:
    assert accepted("select city, min(score), max(score) from people group by city").hidden


def test_several_percentiles_are_an_array_of_the_column_s_type() -> None:
    text = "select {}(array[0.2, 0.5]) within group (order by {}) from people"
    assert accepted(text.format("percentile_disc", "income")).outputs[0].type_name == "_numeric"
    assert accepted(text.format("percentile_cont", "age")).outputs[0].type_name == "_float8"
    # one number is counted for each fraction
    assert counted(text.format("percentile_disc", "age")) == {
        ("people", PEOPLE, 5),
        ("percentile", PEOPLE, 25),
        ("percentile", PEOPLE, 10),
    }
