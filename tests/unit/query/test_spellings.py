"""Decimals of people are written so that equal values look the same."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kanon_pg.queries.check.catalog import CatalogSnapshot
from kanon_pg.queries.check.checker import check
from tests.unit.query.shop import SHOP


def _written(query: str, shop: CatalogSnapshot = SHOP) -> str:
    verdict = check(query, shop)
    assert verdict.accepted
    return verdict.canonical_sql or ""


@pytest.mark.parametrize(
    ("query", "part"),
    [
        ("sum(income)", 'trim_scale(pg_catalog.sum("s1"."income"))'),
        ("avg(income)", 'trim_scale(pg_catalog.sum("s1"."income")) OPERATOR(pg_catalog./)'),
        ("stddev(income)", 'stddev(pg_catalog.trim_scale("s1"."income"))'),
    ],
)
def test_aggregates_of_decimals_do_not_show_how_a_row_is_spelled(query: str, part: str) -> None:
    assert part in _written(f"select {query} from people")


def _of_one_scale() -> CatalogSnapshot:
    relations = tuple(
        replace(
            relation,
            columns=tuple(
                replace(column, one_scale=column.type_name == "numeric") for column in relation.columns
            ),
        )
        for relation in SHOP.relations
    )
    return replace(SHOP, relations=relations)


@pytest.mark.parametrize("query", ["sum(income)", "avg(income)", "stddev(income)"])
def test_a_column_of_one_scale_keeps_its_decimals(query: str) -> None:
    assert "trim_scale" not in _written(f"select {query} from people", _of_one_scale())


def test_whole_numbers_need_no_spelling() -> None:
    assert "trim_scale" not in _written("select sum(age) from people")
