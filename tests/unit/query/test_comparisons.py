"""Comparisons with negative numbers stay in the type of the column."""

from __future__ import annotations

import pytest

from tests.unit.query.shop import accepted


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
