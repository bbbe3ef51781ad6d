"""Parameters in the place of units and fractions are constants."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kanon_pg.queries.check.checker import check
from kanon_pg.queries.check.verdict import Verdict
from kanon_pg.queries.parameters import parameter_values, with_constants
from tests.query.snapshot import registers


def verdict(text: str, values: Sequence[str | None] | None) -> Verdict:
    return with_constants(text, values, lambda written: check(written, registers()))


BY_MONTH = (
    "SELECT date_trunc($1, ordered_at), count(*) FROM orders WHERE items > $2 AND channel <> $3"
    " GROUP BY date_trunc($1, ordered_at)"
)


def test_the_query_is_that_with_constants() -> None:
    found = verdict(BY_MONTH, ["month", "2", "web"])
    assert found.accepted, found.findings
    written = check(BY_MONTH.replace("$1", "'month'"), registers())
    assert found.canonical_sql == written.canonical_sql
    assert [(item.number, item.type_name) for item in found.parameters] == [
        (1, "text"),
        (2, "int4"),
        (3, "text"),
    ]
    assert parameter_values(found, BY_MONTH, ("month", "2", "web")) == ("month", "2", "web")


def test_strings_names_and_comments_are_left_alone() -> None:
    text = (
        'SELECT date_trunc($1, ordered_at) AS "$1", count(*) -- $1\n'
        " FROM orders WHERE channel <> 'a''$1' GROUP BY 1"
    )
    found = verdict(text, ["month"])
    assert found.accepted, found.findings
    assert [output.name for output in found.outputs] == ["$1", "count"]
    assert "'a''$1'" in (found.canonical_sql or "")


def test_fractions_are_constants_and_counted_as_such() -> None:
    text = "SELECT percentile_cont($1) WITHIN GROUP (ORDER BY amount), percentile_cont($2) WITHIN GROUP"
    text += " (ORDER BY amount) FROM orders"
    found = verdict(text, ["0.5", ".9"])
    assert found.accepted
    assert {item.minimum for item in found.hidden if item.what == "percentile"} == {10, 50}


def test_without_values_types_are_known() -> None:
    found = verdict(BY_MONTH, None)
    assert [output.type_name for output in found.outputs] == ["timestamptz", "int8"]


@pytest.mark.parametrize("value", [None, "fortnight", "month'", "", "'||version()||'", "a" * 30, "mon th"])
def test_other_values_are_refused_at_their_place(value: str | None) -> None:
    found = verdict(BY_MONTH, [value, "2", "web"])
    assert not found.accepted
    assert found.canonical_sql is None
    (finding,) = found.findings
    assert BY_MONTH[finding.start : finding.end] == "$1"


@pytest.mark.parametrize("value", ["0.999", "1", "5e-1", "0.5)", "0,5", "0.0000001"])
def test_other_fractions_are_refused(value: str) -> None:
    text = "SELECT percentile_disc($1) WITHIN GROUP (ORDER BY amount) FROM orders"
    (finding,) = verdict(text, [value]).findings
    assert finding.code == "Q214"
    assert text[finding.start : finding.end] == "$1"


def test_later_findings_are_about_the_text_as_written() -> None:
    text = "SELECT date_trunc($1, ordered_at), max(amount), count(*) FROM orders GROUP BY 1"
    (finding,) = verdict(text, ["month"]).findings
    assert text[finding.start : finding.end] == "max(amount)"


def test_a_parameter_elsewhere_is_none() -> None:
    text = "SELECT count(*) FROM orders WHERE channel = $1"
    assert verdict(text, ["web"]).canonical_sql == check(text, registers()).canonical_sql
