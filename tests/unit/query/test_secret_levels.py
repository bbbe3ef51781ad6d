"""Whom sensitive columns choose, whatever known ones say: which parts of a query the secret level keeps."""

from __future__ import annotations

import pytest

from kanon_pg.queries.check.checker import check
from kanon_pg.queries.check.verdict import EntitySet
from tests.query.snapshot import hospital


def secret_sets(text: str) -> list[EntitySet]:
    found = check(text, hospital())
    assert found.accepted, found.findings
    return [item for item in found.entity_sets if item.kind == "secret"]


@pytest.mark.parametrize(
    ("text", "kept", "dropped"),
    [
        ("select count(*) from patients where sex = 'F' and ward = 'w'", ["ward"], ["sex"]),
        ("select zip, ward, count(*) from patients group by zip, ward", ["ward"], ["zip"]),
        (
            "select ward, count(*) from patients where sex = 'F' and cost > 5 group by 1",
            ["ward", "cost"],
            ["sex"],
        ),
        (
            "select count(*) filter (where sex = 'F' and ward = 'w') from patients where zip = '1'",
            ["ward", "IS NOT TRUE"],
            ["sex", "zip"],
        ),
        ("select count(distinct diagnosis) from patients where sex = 'F'", ["diagnosis"], ["sex"]),
        (
            "select percentile_cont(0.5) within group (order by days) from stays where zip = '1'",
            ["days"],
            [],
        ),
        (
            "select count(*) from patients p join wards w on w.ward = p.ward"
            " where w.specialty = 'x' and p.sex = 'F'",
            ["specialty", "ward"],
            ["sex"],
        ),
        (
            "select count(*) from patients p join visits v on v.patient_id = p.patient_id"
            " where p.sex = 'F' and v.kind = 'x'",
            ["kind"],
            ["sex"],
        ),
    ],
)
def test_what_reads_known_columns_is_dropped_and_what_reads_sensitive_ones_is_kept(
    text: str, kept: list[str], dropped: list[str]
) -> None:
    (found, *_) = secret_sets(text)
    assert found.is_whole
    assert not found.everybody
    sql = found.sql.replace("CAST", "")
    assert all(f'"{name}"' in sql or name in sql for name in kept)
    assert not any(f'"{name}"' in sql for name in dropped)


@pytest.mark.parametrize(
    "text",
    [
        "select count(*) from patients where (sex = 'F' and ward = 'w') or (sex = 'M' and ward = 'v')",
        "select case when sex = 'F' and ward = 'w' then 1 else 2 end, count(*) from patients group by 1",
        "select count(*) from patients where zip = '1' and (sex = 'F' or ward = 'v')",
    ],
)
def test_a_mixed_part_is_missing_and_that_is_said(text: str) -> None:
    assert not any(item.is_whole for item in secret_sets(text))


@pytest.mark.parametrize(
    "text",
    [
        "select count(*) from patients where sex = 'F'",
        "select ward, count(*) from patients group by ward",
        "select count(*) from patients where ward = 'w' and cost > 5",
    ],
)
def test_where_known_or_sensitive_columns_choose_alone_nothing_has_to_be_expected(text: str) -> None:
    assert not secret_sets(text)
