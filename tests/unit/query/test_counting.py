"""What is counted with an answer, and in which numbers."""

from __future__ import annotations

import pytest

from kanon_pg.query.check import Options
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
            "select percentile_cont(0.1) within group (order by age) from people",
            {("people", PEOPLE, 5), ("percentile", PEOPLE, 50)},
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
            " on o.city = p.city where p.income > o.s",
            {("people", PEOPLE, 5), ("people", ORDERS, 7)},
        ),
    ],
)
def test_everything_that_needs_people_is_counted(text: str, expected: set[tuple[str, int, int]]) -> None:
    assert counted(text) == expected


def test_every_instance_is_counted() -> None:
    verdict = accepted("select count(*) from people a join people b on a.id = b.id")
    assert len(verdict.hidden) == 2


def test_every_two_filters_are_compared() -> None:
    one = "count(*) filter (where age > 3)"
    both = f"{one}, count(*) filter (where age > 4)"
    assert len(accepted(f"select {one} from people").hidden) == 3
    assert len(accepted(f"select {both} from people").hidden) == 1 + 2 * 2 + 2


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
    assert [(item.what, item.relation, item.figures) for item in verdict.entity_sets] == [
        ("group", PEOPLE, ("count(*)",)),
        ("filter", PEOPLE, ("sum(age)",)),
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
