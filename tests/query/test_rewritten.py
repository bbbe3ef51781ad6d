"""Queries that are written anew before they are checked mean what they meant; others are refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import psycopg
import pytest

from kanon_pg.queries.check.checker import check
from tests.query.reference import answer_rows
from tests.query.snapshot import registers
from tests.query.test_registers import comparable

SAME = [
    # EXISTS: any list of outputs, either order of the equality, names of the inner table with and without it
    "SELECT count(*) FROM customers c WHERE EXISTS (SELECT * FROM orders o WHERE"
    " o.customer_id = c.customer_id"
    " AND o.channel = 'store')",
    "SELECT gender, count(*) FROM customers WHERE EXISTS (SELECT 1 FROM orders"
    " WHERE customers.customer_id ="
    " customer_id AND status = 'refunded') GROUP BY gender",
    "SELECT segment FROM customers c WHERE EXISTS (SELECT FROM orders o WHERE"
    " o.customer_id = c.customer_id)"
    " GROUP BY segment",
    "SELECT DISTINCT segment FROM customers c WHERE EXISTS (SELECT 1 FROM orders o"
    " WHERE o.customer_id = c.customer_id AND o.channel = 'store')",
    "SELECT count(*), count(*) FILTER (WHERE newsletter) FROM customers c WHERE"
    " EXISTS (SELECT 1 FROM orders o"
    " WHERE o.customer_id = c.customer_id) AND EXISTS (SELECT 1 FROM orders o"
    " WHERE o.customer_id = c.customer_id AND o.channel = 'store')",
    # of a public table it is a membership of values
    "SELECT count(*), avg(o.amount) FROM orders o WHERE EXISTS (SELECT 1 FROM"
    " stores s WHERE s.store = o.store"
    " AND s.sqm > 300)",
    # memberships of people
    "SELECT segment, count(*) AS n FROM customers WHERE customer_id IN (SELECT"
    " DISTINCT customer_id FROM orders"
    " WHERE channel = 'store') GROUP BY segment HAVING count(*) > 10 ORDER BY count(*) DESC, segment",
    "SELECT segment, 100.0 * count(*) / 2 FROM customers WHERE customer_id IN"
    " (SELECT o.customer_id FROM orders o"
    " JOIN stores s ON s.store = o.store WHERE s.sqm > 300) GROUP BY 1",
    # each customer has one row, so that orders are counted and added up as they are
    "SELECT count(*), sum(amount) FROM orders WHERE customer_id IN (SELECT customer_id FROM customers"
    " WHERE newsletter)",
    "SELECT channel, count(*) FROM orders o WHERE EXISTS (SELECT 1 FROM customers c"
    " WHERE c.customer_id ="
    " o.customer_id AND c.gender = 'f') GROUP BY channel",
    # figures of the group of each row
    "SELECT count(*) FROM employees e WHERE (SELECT avg(x.salary) FROM employees x"
    " WHERE x.grade = e.grade)"
    " < e.salary",
    "SELECT e.gender, count(*) FROM employees e WHERE e.salary > 1.1 * (SELECT"
    " avg(x.salary) FROM employees x"
    " WHERE x.grade = e.grade AND x.gender = 'm') GROUP BY e.gender",
    "SELECT count(*) FROM employees e WHERE e.salary > (SELECT avg(salary) FROM employees x"
    " WHERE x.salary > 0 AND e.grade = x.grade)",
    # people LEFT JOINed to their rows
    "SELECT c.segment, count(DISTINCT c.customer_id), count(DISTINCT"
    " o.customer_id), coalesce(sum(o.amount), 0)"
    " FROM customers c LEFT JOIN orders o ON o.customer_id = c.customer_id AND o.channel = 'store'"
    " GROUP BY c.segment",
    "SELECT segment, count(DISTINCT c.customer_id) - count(DISTINCT o.customer_id)"
    " AS none FROM customers c"
    " LEFT JOIN orders o USING (customer_id) WHERE c.newsletter GROUP BY segment ORDER BY none",
    "SELECT c.segment, count(o.order_id) FROM customers c LEFT JOIN orders o ON"
    " o.customer_id = c.customer_id"
    " AND o.status = 'cancelled' GROUP BY 1",
    # ages as intervals, with months and days of their own
    "SELECT avg(age(birth_date)), sum(age(date '2024-02-29', birth_date)) FROM residents",
    "SELECT region, avg(age(date '1980-03-31', birth_date)) FROM residents GROUP BY region",
    "SELECT grade, avg(age(hired, birth_date)), avg(age(left_on, hired)) FROM employees GROUP BY grade",
    "SELECT avg(age(coalesce(left_on, date '2024-12-31'), hired)) FILTER (WHERE site = 'Remote')"
    " FROM employees",
    # numbers of public tables
    "SELECT p.category, avg(p.price), sum(p.price * o.items), sum(o.amount / p.price) FROM orders o"
    " JOIN products p ON p.product = o.product GROUP BY p.category",
    "SELECT sum(s.sqm), sum(s.sqm * o.items) FROM orders o JOIN stores s ON s.store = o.store",
    # what takes few values, and fractions
    "SELECT channel, sum(CASE WHEN items > 4 THEN 3 WHEN items > 2 THEN 2 ELSE 1 END) FROM orders GROUP BY 1",
    "SELECT avg(extract(month from ordered_at)), sum(extract(dow from ordered_at) * 2 + 1) FROM orders",
    "SELECT gender, avg(salary / nullif(fte, 0)), sum(bonus / fte) FROM employees GROUP BY gender",
    "SELECT store, avg(shipped_at::date - ordered_at::date) FROM orders GROUP BY store",
    # lists and pairs
    "SELECT department, string_agg(DISTINCT site, ' | ' ORDER BY site DESC) FROM"
    " employees GROUP BY department",
    "SELECT string_agg(DISTINCT grade, '''') FILTER (WHERE gender = 'f'), count(*) FROM employees",
    "SELECT grade, regr_count(salary, fte) FROM employees GROUP BY grade",
    "SELECT regr_count(income, hours), count(*) FROM residents",
    "SELECT sex, regr_count(income, hours) FILTER (WHERE unemployed) FROM residents GROUP BY sex",
    "SELECT regr_count(s.sqm, s.store) FROM stores s",
]


@pytest.mark.parametrize("text", SAME)
def test_an_answer_is_that_of_the_query_as_written(
    text: str, bare_registers: psycopg.Connection[Any]
) -> None:
    verdict = check(text, registers())
    assert verdict.accepted, verdict.findings
    bare_registers.execute("set search_path = pg_catalog, pg_temp")
    answered = answer_rows(bare_registers, verdict, [])
    bare_registers.execute("set search_path = public")
    direct = bare_registers.execute(text.encode()).fetchall()
    assert answered is not None
    assert comparable(answered) == comparable(direct)
    assert direct


WITH_PARAMETERS = [
    (
        "SELECT channel, sum(CASE WHEN items > $1 THEN $2 ELSE $3 END) FROM orders GROUP BY 1",
        ["2", "5", "1.5"],
    ),
    (
        "SELECT sum(CASE WHEN items > $1 THEN $2 ELSE 0 END), sum(CASE WHEN returned THEN $2 END)"
        " FROM orders",
        ["3", "7"],
    ),
    (
        "SELECT avg(CASE WHEN channel = $2 THEN $1 WHEN items > 3 THEN 4 ELSE $1 END) FROM orders",
        ["2", "web"],
    ),
]


@pytest.mark.parametrize(("text", "values"), WITH_PARAMETERS)
def test_numbers_of_a_case_may_be_parameters(
    text: str, values: list[str], bare_registers: psycopg.Connection[Any]
) -> None:
    verdict = check(text, registers())
    assert verdict.accepted, verdict.findings
    bare_registers.execute("set search_path = pg_catalog, pg_temp")
    answered = answer_rows(bare_registers, verdict, values)
    bare_registers.execute("set search_path = public")
    written = text
    for number, value in enumerate(values, 1):
        written = written.replace(f"${number}", value if value.replace(".", "").isdigit() else f"'{value}'")
    assert answered is not None
    assert comparable(answered) == comparable(bare_registers.execute(written.encode()).fetchall())


def test_days_of_moments_with_a_time_zone_are_added_up_in_utc_alone() -> None:
    text = "SELECT avg(shipped_at::date - ordered_at::date) FROM orders"
    assert check(text, registers()).accepted
    (finding,) = check(text, replace(registers(), in_utc=False)).findings
    assert finding.code == "Q310"
    assert "UTC" in finding.hint


OTHERS = [
    # rows of people would be repeated, or their figures weighed
    (
        "Q300",
        "SELECT avg(birth_date - signup) FROM customers WHERE customer_id IN (SELECT"
        " customer_id FROM orders)",
    ),
    ("Q300", "SELECT segment FROM customers WHERE customer_id IN (SELECT customer_id FROM orders)"),
    (
        "Q300",
        "SELECT count(*) FROM customers c JOIN orders o ON o.customer_id = c.customer_id"
        " WHERE c.customer_id IN (SELECT customer_id FROM orders WHERE channel = 'store')",
    ),
    (
        "Q300",
        "SELECT count(*) FROM orders WHERE customer_id IN (SELECT customer_id FROM orders WHERE items > 2)",
    ),
    # what is not a part of WHERE by itself
    (
        "Q021",
        "SELECT count(*) FROM customers c WHERE NOT EXISTS (SELECT 1 FROM orders o"
        " WHERE o.customer_id = c.customer_id)",
    ),
    (
        "Q021",
        "SELECT count(*) FROM customers c WHERE newsletter OR EXISTS (SELECT 1 FROM orders o"
        " WHERE o.customer_id = c.customer_id)",
    ),
    # what has a row whatever the condition says
    (
        "Q021",
        "SELECT count(*) FROM customers c WHERE EXISTS (SELECT count(*) FROM orders o"
        " WHERE o.customer_id = c.customer_id)",
    ),
    # not connected by one equality
    ("Q021", "SELECT count(*) FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.items > 2)"),
    (
        "Q021",
        "SELECT count(*) FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE"
        " o.customer_id > c.customer_id)",
    ),
    (
        "Q102",
        "SELECT count(*) FROM customers c WHERE EXISTS (SELECT 1 FROM orders o"
        " WHERE o.customer_id = c.customer_id AND o.ordered_at::date > c.signup)",
    ),
    # a count is 0 for a group without rows, and the comparison would hold
    (
        "Q102",
        "SELECT count(*) FROM employees e WHERE 5 > (SELECT count(*) FROM employees x"
        " WHERE x.grade = e.grade)",
    ),
    # what LEFT JOIN repeats
    (
        "Q402",
        "SELECT c.segment, count(*) FROM customers c LEFT JOIN orders o ON"
        " o.customer_id = c.customer_id"
        " GROUP BY c.segment",
    ),
    (
        "Q402",
        "SELECT c.segment, count(DISTINCT c.zip) FROM customers c LEFT JOIN orders o"
        " ON o.customer_id = c.customer_id GROUP BY c.segment",
    ),
    # a value of nearly everybody's own would divide
    ("Q310", "SELECT avg(bonus / salary) FROM employees"),
    ("Q310", "SELECT sum(salary * fte) FROM employees"),
    ("Q310", "SELECT avg(extract(epoch from age(hired, birth_date))) FROM employees"),
    ("Q310", "SELECT avg(age(timestamp '2024-05-15 12:00', birth_date)) FROM employees"),
    ("Q310", "SELECT stddev(p.price) FROM orders o JOIN products p ON p.product = o.product"),
    ("Q211", "SELECT regr_count(salary) FROM employees"),
    ("Q021", "SELECT string_agg(site, ',' ORDER BY site) FROM employees"),
]


@pytest.mark.parametrize(("code", "text"), OTHERS)
def test_what_would_mean_something_else_is_refused(code: str, text: str) -> None:
    assert code in {finding.code for finding in check(text, registers()).findings}
