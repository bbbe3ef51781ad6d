"""Markdown says the same as the page: risk and releases, with names that stay text."""

from __future__ import annotations

from kanon_pg.cli.audit import audit_markdown
from tests.fixtures.audit_reports import COLUMNS, HOSTILE, audit_of


def test_risk_and_releases_are_tables() -> None:
    text = audit_markdown(audit_of(releases=2))
    assert "## How likely somebody is found" in text
    assert "| prosecutor | that the person is in the table | 100% | 30% |" in text
    assert "| diagnosis | 12 | 10 | 14 |" in text
    assert "## Before and after the releases" in text
    assert "Before and after release release 1:" in text
    assert "| information lost, of all | none | 25% |" in text
    assert "| divergence of the columns, in bits | none | 0.016 |" in text
    assert text.count("| chance above 20%: share of people | 4% | 0% |") == 2


def test_every_table_is_one() -> None:
    for columns in (COLUMNS, HOSTILE):
        lines = audit_markdown(audit_of(columns)).splitlines()
        for place, line in enumerate(lines):
            if line.startswith("|"):
                cells = line.replace("\\|", "").count("|")
                assert lines[place - 1] == "" or lines[place - 1].replace("\\|", "").count("|") == cells


def test_a_statement_stays_in_its_block() -> None:
    lines = audit_markdown(audit_of(relation='"public"."a\n````\nb"', releases=0)).splitlines()
    assert lines.count("`````sql") == lines.count("`````")
    assert lines.count("`````") > 0
    assert "```sql" not in lines
