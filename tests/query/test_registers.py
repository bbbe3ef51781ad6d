"""Honest queries to the registers: a server runs them as they stand, and they read what their authors say."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg
import pytest

from kanon_pg.queries.check.checker import check
from tests.query.honest import Expected, HonestQuery, register_workload
from tests.query.reference import answer_rows
from tests.query.refused import REFUSED_FORMS, RefusedForm
from tests.query.snapshot import registers

_PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "run-queries.md"


def named(query: HonestQuery) -> str:
    return f"{query.author}: {query.name}"


@pytest.mark.parametrize("query", register_workload(), ids=named)
def test_what_is_accepted_reads_the_tables_that_its_author_says(query: HonestQuery) -> None:
    verdict = check(query.text, registers())
    names = {relation.oid: relation.name for relation in registers().relations}
    assert not verdict.accepted or sorted(names[oid] for oid in verdict.protected) == sorted(query.reads)


def comparable(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Return rows in one order, with as many digits as any way of adding up gives."""
    return sorted((tuple(map(_comparable, row)) for row in rows), key=repr)


def _comparable(value: Any) -> Any:
    if isinstance(value, timedelta):
        value = value.total_seconds()
    if isinstance(value, list):
        return tuple(map(_comparable, value))
    if isinstance(value, Decimal):
        # groups of people show equal numbers in one spelling
        value = int(value) if value == value.to_integral_value() else value.normalize()
    if isinstance(value, Decimal | float | int) and not isinstance(value, bool):
        return f"{value:.10g}"
    return value


def direct(connection: psycopg.Connection[Any], query: HonestQuery) -> list[tuple[Any, ...]]:
    """Return what the query gives without a guard."""
    values = [parameter.value for parameter in query.parameters]
    with connection.transaction(force_rollback=True):
        connection.execute("set local search_path = public")
        return psycopg.RawCursor(connection).execute(query.text.encode(), values or None).fetchall()


@pytest.mark.parametrize("query", register_workload(), ids=named)
def test_an_answer_is_what_the_query_gives_without_a_guard(
    query: HonestQuery, bare_registers: psycopg.Connection[Any]
) -> None:
    found = answered(bare_registers, query)
    assert (found is not None) == (query.expected is Expected.ANSWERED)
    if found is not None and "percentile" not in query.text:
        # percentiles are means of several people around the rank
        assert comparable(found) == comparable(direct(bare_registers, query))


def answered(connection: psycopg.Connection[Any], query: HonestQuery) -> list[tuple[Any, ...]] | None:
    """Return the rows of an answer, None if there is none."""
    verdict = check(query.text, registers())
    values = [parameter.value for parameter in query.parameters]
    if not verdict.accepted:
        return None
    connection.execute("set search_path = pg_catalog, pg_temp")
    return answer_rows(connection, verdict, values)


def test_nearly_all_honest_queries_are_answered() -> None:
    queries = register_workload()
    answered = [query for query in queries if query.expected is Expected.ANSWERED]
    assert len(queries) >= 150
    assert len(answered) >= 0.95 * len(queries)


def test_every_query_that_is_refused_is_of_a_form_that_is_explained() -> None:
    refused = [query.name for query in register_workload() if query.expected is not Expected.ANSWERED]
    assert sorted(refused) == sorted(name for form in REFUSED_FORMS for name in form.queries)


@pytest.mark.parametrize("form", REFUSED_FORMS, ids=lambda form: form.what)
def test_a_refused_form_is_explained_and_what_to_write_instead_is_answered(
    form: RefusedForm, bare_registers: psycopg.Connection[Any]
) -> None:
    texts = {query.name: query.text for query in register_workload()}
    for name in form.queries:
        findings = check(texts[name], registers()).findings
        assert findings
        assert all(finding.hint for finding in findings)
    assert bool(form.instead) == bool(form.example)
    if form.example:
        verdict = check(form.example, registers())
        assert verdict.accepted, verdict.findings
        bare_registers.execute("set search_path = pg_catalog, pg_temp")
        assert answer_rows(bare_registers, verdict, [])


def test_the_refused_forms_stand_in_the_documentation() -> None:
    page = _PAGE.read_text(encoding="utf-8")
    rows = [f"| {form.what} | {form.why} | {form.instead or '-'} |" for form in REFUSED_FORMS]
    start = page.index("| refused | why | instead |\n| --- | --- | --- |\n")
    assert page[start:].splitlines()[2 : 2 + len(rows)] == rows
