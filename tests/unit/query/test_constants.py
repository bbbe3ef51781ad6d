"""Constants: as programs write them (casts of parameters, joined patterns, arrays), and negative numbers."""

from __future__ import annotations

import pytest

from tests.unit.query.shop import accepted, ask

COUNT = "select city, count(*) from people {} group by city order by city {}"

ALIKE = [
    ("where city = any(array[city])", "where city in (city)"),
    ("where city = any(array['x', 'y'])", "where city in ('x', 'y')"),
    ("where city = any((array['x']::varchar[]))", "where city in ('x'::varchar)"),
    ("where age = any(array[1, 2]::int[])", "where age in (1::int, 2::int)"),
    ("where city = any($1::text[])", "where city = any($1)"),
]


@pytest.mark.parametrize(("written", "plain"), ALIKE)
def test_arrays_mean_lists(written: str, plain: str) -> None:
    found, expected = (ask(COUNT.format(where, "")) for where in (written, plain))
    assert found.accepted, found.findings
    assert found.canonical_sql == expected.canonical_sql
    assert found.parameters == expected.parameters


@pytest.mark.parametrize("limit", ["limit $1::integer", "limit $1::bigint offset $2::int"])
def test_bounds_may_be_typed_parameters(limit: str) -> None:
    plain = limit.replace("::integer", "").replace("::bigint", "").replace("::int", "")
    found, expected = ask(COUNT.format("", limit)), ask(COUNT.format("", plain))
    assert found.accepted, found.findings
    assert (found.canonical_sql, found.parameters) == (expected.canonical_sql, expected.parameters)


@pytest.mark.parametrize(
    "pattern", ["'x' || '%'", "('x' || '_') || '%'", "$1::varchar || '%'", "'%' || $1 || '%'"]
)
def test_patterns_may_be_joined(pattern: str) -> None:
    verdict = ask(COUNT.format(f"where city like {pattern}", ""))
    assert verdict.accepted, verdict.findings


@pytest.mark.parametrize(
    ("where", "code"),
    [
        ("where city like 'x' || city", "Q205"),
        ("where city like $1 || city", "Q205"),
        ("where city like 'x' || '\\'", "Q205"),
        ("where city like null || '%'", "Q205"),
        ("where city like '%%%%%' || '%%%%%'", "Q205"),
        ("where city = any(array[]::text[])", "Q021"),
        ("where city = any(array[['x'], ['y']])", ""),
        ("where city = any('{x,y}'::text[])", "Q021"),
        ("where city = any(array['x']::varchar(3)[])", ""),
        ("where city = any(array['x']::text)", ""),
        ("where city = any((select city from cities))", ""),
        ("limit $1::text", "Q505"),
        ("limit 1.5::int", "Q505"),
        ("limit (select 1)::int", "Q505"),
    ],
)
def test_what_is_no_constant_is_refused(where: str, code: str) -> None:
    text = COUNT.format(where, "") if where.startswith("where") else COUNT.format("", where)
    verdict = ask(text)
    assert not verdict.accepted
    assert not code or code in {finding.code for finding in verdict.findings}


@pytest.mark.parametrize(
    ("condition", "written"),
    [
        ("age > -3", "CAST('-3' AS pg_catalog.int4)"),
        ("-3 < age", "CAST('-3' AS pg_catalog.int4)"),
        ("age between -3 and -1", "CAST('-1' AS pg_catalog.int4)"),
        ("age in (-3, 4)", "CAST('-3' AS pg_catalog.int4)"),
        ("age > -3000000000", "CAST('-3000000000' AS pg_catalog.int8)"),
        ("age > -2147483648", "CAST('-2147483648' AS pg_catalog.int8)"),
    ],
)
def test_a_negative_number_is_one_constant(condition: str, written: str) -> None:
    sql = accepted(f"select count(*) from people where {condition}").canonical_sql or ""
    assert written in sql
    assert "numeric" not in sql


@pytest.mark.parametrize("condition", ["age > - -3", "age > -age", "-age > 3", "income > -3"])
def test_what_is_calculated_is_left_as_it_is(condition: str) -> None:
    sql = accepted(f"select count(*) from people where {condition}").canonical_sql or ""
    assert "numeric" in sql
