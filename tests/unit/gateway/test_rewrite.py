"""What is sent in place of a text: queries as calls, catalogs as views, the rest as it is or not at all."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_pg.errors import NotPermitted
from kanon_pg.gateway.allowed_names import AllowedNames
from kanon_pg.gateway.rewrite import Refused, RewriteContext, Rewritten, rewrite
from kanon_pg.gateway.scanned_text import scan_text
from kanon_pg.gateway.statements import listed_path, start_parameters
from kanon_pg.gateway.tokens import tokens
from kanon_pg.queries.check.checker import check
from kanon_pg.queries.check.findings import Refusal
from tests.query.snapshot import hospital

PATH = ("hospital", "public")
ALLOWED_NAMES = AllowedNames(
    catalogs=frozenset({"pg_class", "pg_attribute", "pg_am", "pg_stats"}),
    views=frozenset({"pg_class", "pg_attribute", "tables"}),
    view_functions=frozenset({"pg_table_size"}),
    functions=frozenset({"count", "abs", "sum"}),
    api_schema="api",
)
CONTEXT = RewriteContext(replace(hospital(), search_path=PATH), ALLOWED_NAMES, check)


def rewritten(text: str, types: tuple[int, ...] = ()) -> Rewritten | Refused:
    try:
        scanned = scan_text(text)
        return rewrite(scanned, CONTEXT, [PATH] * len(scanned.statements), types)
    except Refusal as refusal:
        return Refused((refusal.finding,))


def rewritten_text(text: str, types: tuple[int, ...] = ()) -> str:
    result = rewritten(text, types)
    assert isinstance(result, Rewritten), result
    return result.text


def code(text: str) -> str:
    result = rewritten(text)
    assert isinstance(result, Refused), result
    return result.findings[0].code


COUNT = "select count(*) from patients"
CALL = (
    """SELECT c1 AS "count" FROM "api"."kanon_query_record"('{}') AS kanon_answer(c1 "pg_catalog"."int8")"""
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (COUNT, CALL.format(COUNT)),
        (f"  {COUNT} ;", "  " + CALL.format(COUNT) + " ;"),
        (f"declare c no scroll cursor for {COUNT}", f"declare c no scroll cursor for {CALL.format(COUNT)}"),
        (f"copy ({COUNT}) to stdout csv", f"copy ({CALL.format(COUNT)}) to stdout csv"),
        (f"prepare p as {COUNT}", f"prepare p as {CALL.format(COUNT)}"),
        (f"begin; {COUNT}; commit", f"begin; {CALL.format(COUNT)}; commit"),
        (
            "select count(*) from hospital.patients where ward = 'it''s'",
            CALL.format("select count(*) from hospital.patients where ward = ''it''''s''"),
        ),
    ],
)
def test_a_query_becomes_a_call_wherever_it_stands(text: str, expected: str) -> None:
    assert rewritten_text(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        COUNT,
        "select count(*) from \"patients\"",
        "select count(*) from only patients",
        "select count(*) from (select ward from patients) as x",
        "select count(*) from wards, patients",
        "select count(*) from wards join hospital.patients using (ward)",
        "with x as (select count(*) as n from patients) select n from x",
        "select (select count(*) from patients)",
        "select count(*) from wards where exists (table patients)",
        "select extract(year from current_date) from patients",
        "select 1 is distinct from 2 from patients",
        "select count(*) from wards as w(a, b), lateral (select 1 from patients) as p",
        "select * from wards union all select * from patients",
    ],
)  # fmt: skip
def test_a_protected_relation_is_found_in_every_from(text: str) -> None:
    result = rewritten(text)
    if isinstance(result, Rewritten):
        assert result.queries == 1
    else:
        assert all(finding.code.startswith("Q") for finding in result.findings)


@pytest.mark.parametrize(
    "text",
    [
        "select count(*) as patients from wards",
        "select patients.ward from wards as patients",
        "with patients as (select 1) select * from patients",
        "select 'patients' from wards",
        "select extract(day from patients) from wards",
        "select * from public.patients",
    ],
)
def test_other_things_of_the_same_name_are_no_queries(text: str) -> None:
    assert rewritten_text(text) == text


def test_parameters_travel_as_text_and_keep_the_types_that_the_client_gives() -> None:
    text = "select count(*) from patients where ward = $1 and cost > $2"
    assert "CAST(ARRAY[CAST(CAST($1 AS" in rewritten_text(text)
    assert "CAST(ARRAY[CAST($1 AS pg_catalog.text), CAST(CAST($2 AS" in rewritten_text(text, (25, 0))
    assert "[CAST($1 AS pg_catalog.text), CAST($2 AS pg_catalog.text)]" in rewritten_text(text, (25, 1700))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("select * from pg_class", "select * from kanon_catalog.pg_class"),
        ("select * from pg_catalog.pg_class c", "select * from kanon_catalog.pg_class c"),
        ('table "pg_catalog" . "pg_class"', 'table kanon_catalog."pg_class"'),
        ("select pg_class.oid from pg_class", "select pg_class.oid from kanon_catalog.pg_class"),
        ("select pg_catalog.pg_class.oid from pg_catalog.pg_class",
            "select kanon_catalog.pg_class.oid from kanon_catalog.pg_class"),
        ("select pg_table_size('x')", "select kanon_catalog.pg_table_size('x')"),
        ("select 1 as pg_class", "select 1 as pg_class"),
        ("select 'pg_class'::pg_catalog.regclass", "select 'pg_class'::pg_catalog.regclass"),
        ("select * from information_schema.tables", "select * from kanon_catalog.tables"),
        ("select * from information_schema.views", "select * from information_schema.views"),
        ("select * from pg_am", "select * from pg_am"),
        ("select/* a */1--b\n+2", "select       1   \n+2"),
    ],
)  # fmt: skip
def test_what_passes_is_written_anew(text: str, expected: str) -> None:
    assert rewritten_text(text) == expected


def test_findings_have_places_in_the_clients_text() -> None:
    text = "select 1; select name from patients"
    result = rewritten(text)
    assert isinstance(result, Refused)
    assert text[result.findings[0].start : result.findings[0].end] == "name"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("create table x ()", "G010"),
        ("select * from wards for update", "G030"),
        ("select * from wards for no key update", "G030"),
        ("select * from wards for share", "G030"),
        ("select * from wards for key share nowait", "G030"),
        ("select * from (select * from wards for share) as held", "G030"),
        ("select nextval('x')", "G031"),
        ("select * from pg_stats", "G032"),
        ("select rows from pg_stat_statements", "G032"),
        ('select 1 from only "pg_stat_statements" as s join pg_class on true', "G032"),
        ("table monitoring.pg_buffercache", "G032"),
        ("with a as (select calls from public.pg_stat_statements_info) select * from a", "G032"),
        ("set role x", "G020"),
        ("execute x(now())", "G011"),
        ("$$", "G003"),
        ("selec 1", "G005"),
        ('"select" 1', "G005"),
        ("1", "G005"),
        ("select 'a", "G005"),
        ('select "a', "G005"),
        ("select 1 /* /* */", "G005"),
        ("select (1", "G004"),
        ("vacuum", "G010"),
        ("set client_min_messages = debug5", "G020"),
        ("set client_min_messages to 'log'", "G020"),
        ("set local client_min_messages = debug", "G020"),
        ("select set_config('client_min_messages', 'debug1', false)", "G020"),
    ],
)
def test_what_is_not_known_is_refused(text: str, expected: str) -> None:
    assert code(text) == expected


def test_a_defect_refuses() -> None:
    def broken(_text: str, _snapshot: object) -> object:
        raise KeyError("hush")

    context = replace(CONTEXT, check=broken)
    result = rewrite(scan_text(COUNT), context, [PATH])
    assert isinstance(result, Refused)
    assert result.findings[0].code == "G099"
    assert "hush" not in str(result.findings)


def test_the_search_path_before_each_statement_decides() -> None:
    found = rewrite(scan_text(f"{COUNT}; {COUNT}"), CONTEXT, [("public",), ("hospital",)])
    assert isinstance(found, Rewritten)
    assert found.queries == 1
    assert found.text.startswith(f"{COUNT}; SELECT c1")


_WORDS = """
    select from where patients wards hospital . , ( ) ; 1 'x' * = and as with join on lateral table union all
    pg_class pg_catalog pg_stats count pg_sleep $1 :: into for update begin commit set to copy stdout
"""
WORDS = st.sampled_from(_WORDS.split())


@given(st.lists(WORDS, max_size=25))
def test_any_words_are_refused_or_pass_with_every_token_but_names_of_catalogs(words: list[str]) -> None:
    text = " ".join(words)
    result = rewritten(text)
    if isinstance(result, Refused):
        assert result.findings
        return
    names = [token.name for token in tokens(result.text) if token.name]
    if names and names[0] in {"begin", "start", "commit", "end", "rollback", "abort", "savepoint", "release"}:
        return  # a statement about the transaction reads no relation, whatever stands in it
    assert "pg_stats" not in names
    if not result.queries and result.keeps_positions:
        assert result.text == text
    if not result.queries and not {"with", "as", "from", ","} & set(words):
        assert "pg_sleep(" not in result.text.replace(" ", "")  # names of columns may follow other names


@given(st.text())
def test_any_text_is_refused_or_passes(text: str) -> None:
    assert isinstance(rewritten(text), Rewritten | Refused)


def test_a_session_starts_with_settings_that_keep_texts_unambiguous() -> None:
    given_ = {
        "user": "ada",
        "application_name": "x",
        "options": "-c search_path=a\\ b --extra_float_digits=3",
    }
    assert start_parameters(given_, "clinic") == {
        "user": "ada",
        "database": "clinic",
        "application_name": "x",
        "search_path": "a b",
        "extra_float_digits": "3",
        "client_encoding": "UTF8",
        "client_min_messages": "notice",
        "standard_conforming_strings": "on",
        "DateStyle": "ISO",
        "IntervalStyle": "postgres",
    }


@pytest.mark.parametrize(
    "more",
    [
        {"client_min_messages": "debug5"},
        {"client_encoding": "'latin-1'"},
        {"DateStyle": "German"},
        {"TimeZone": "UTC", "role": "x"},
        {"options": "-x"},
        {"user": ""},
    ],
)
def test_other_starts_are_refused(more: dict[str, str]) -> None:
    with pytest.raises(NotPermitted):
        start_parameters({"user": "ada", **more}, "clinic")


@pytest.mark.parametrize("written", ["utf8", "UTF-8", "'utf-8'", "UNICODE"])
def test_an_encoding_is_known_by_its_letters_and_digits(written: str) -> None:
    assert (
        start_parameters({"user": "ada", "client_encoding": written}, "clinic")["client_encoding"] == written
    )


def test_a_listed_path() -> None:
    assert listed_path('a, "B c",D') == ("a", "B c", "d")
