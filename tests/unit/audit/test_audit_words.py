"""Names of columns, and audits in words and Markdown."""

import io
from dataclasses import replace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from kanon_pg.audit.findings import (
    AuditResult,
    ClassSizes,
    ColumnFigures,
    CombinedClasses,
    ReleaseRisk,
    Suggestion,
    ViolatingSet,
)
from kanon_pg.audit.roles import role_by_name
from kanon_pg.audit.sentences import headline, next_steps, sentences
from kanon_pg.audit.suggesting import declaring
from kanon_pg.cli.audit import audit_markdown, audit_view
from kanon_pg.db.identifiers import Identifier
from kanon_pg.reports.assemble import report
from tests.fixtures.audit_reports import risk_of


@pytest.mark.parametrize(
    ("column", "role"),
    [
        ("SSN", "identifier"),
        ("lastName", "identifier"),
        ("name_of_patient", "identifier"),
        ("IP_ADDRESS", "identifier"),
        ("creditCard", "identifier"),
        ("driving_licence", "identifier"),
        ("zip", "quasi_identifier"),
        ("ZipCode", "quasi_identifier"),
        ("date_of_birth", "quasi_identifier"),
        ("dob2", "quasi_identifier"),
        ("maritalStatus", "quasi_identifier"),
        ("diagnosis_1", "sensitive"),
        ("yearly_income", "sensitive"),
        ("native_country", "quasi_identifier"),
        ("usage", None),
        ("pageviews", None),
        ("x", None),
        ("", None),
    ],
)
def test_names_hint_at_roles(column: str, role: str | None) -> None:
    found = role_by_name(column)
    assert (found and found.role) == role


@given(st.text())
def test_any_name_is_read(column: str) -> None:
    found = role_by_name(column)
    assert found is None or found.role in ("identifier", "quasi_identifier", "sensitive")


def violating(*columns: str, kind: str = "minimal", people: int | None = 7) -> ViolatingSet:
    unknown = people is None
    return ViolatingSet(
        columns=columns,
        size=len(columns),
        kind=kind,  # type: ignore[arg-type]
        smallest_class=None if unknown else 1,
        people_at_risk=people,
        rows_at_risk=people,
        distinct_values=None if unknown else 10,
        distinction=None if unknown else 0.1,
        separation=None if unknown else 0.5,
    )


RESULT = AuditResult(
    relation='"public"."pa|ti*ents"',
    k=5,
    rows=120,
    people=100,
    entity="person",
    columns=("zip", "a_b", "sex"),
    left_out=("doc",),
    max_columns=2,
    sets=(violating("zip", kind="minimum", people=40), violating("a_b", "sex", people=None)),
    complete_columns=2,
    is_complete=False,
    minimum=1,
    seconds=0.1,
)


def test_sentences_say_what_was_found_and_what_is_open() -> None:
    assert sentences(RESULT) == (
        "2 minimal sets of columns single out fewer than 5 people.",
        "The smallest set has 1 column; no smaller set singles anybody out.",
        "zip alone exposes 40 of 100 people (40%); the smallest class has 1 person.",
        "Nothing is known of doc: the types have no equality.",
        "Every minimal violating set of at most 2 columns is listed; larger ones may be missing.",
    )


DECLARED = replace(
    RESULT,
    people=3000,
    columns=("zip", "born", "race", "sex"),
    left_out=(),
    sets=(violating("race", people=345), violating("zip", "born", people=1204), violating("zip", "sex")),
    declared=("zip", "born", "sex"),
    quasi_identifiers=CombinedClasses(
        ("zip", "born", "sex"), 2, 1, 1, 2586, 2600, (ClassSizes(1, 1, 1, 2586, 2600),)
    ),
)
"""A column that is not declared puts fewer people at risk than the declared ones together."""


def test_the_declared_quasi_identifiers_lead_on_every_surface() -> None:
    lead = "2,586 of 3,000 people (86.2%), by the declared quasi-identifiers, zip, born and sex together."
    assert headline(DECLARED) == lead
    assert report(DECLARED).verdict == lead
    assert f"**Who is singled out? {lead}**" in audit_markdown(DECLARED)
    terminal = Console(file=io.StringIO(), width=200)
    terminal.print(audit_view(DECLARED))
    assert f"Who is singled out? {lead}" in cast("io.StringIO", terminal.file).getvalue()


def test_what_is_declared_to_be_known_comes_before_what_might_be() -> None:
    found = sentences(replace(DECLARED, risk=risk_of(("zip", "born", "sex"), ())))
    assert found[0].startswith("By zip, born and sex together, 2,586 of 3,000 people (86.2%)")
    assert found[1].startswith("Who knows that somebody is in the table finds the row")
    named = [text for text in found if "expose" in text]
    assert [text.split(" expose")[0].split(" alone")[0] for text in named] == [
        "zip and born together",
        "zip and sex together",
        "race",
    ]
    assert named[2].endswith("the smallest class has 1 person; race is no declared quasi-identifier.")


def test_another_column_leads_if_the_declared_ones_single_out_nobody() -> None:
    safe = replace(
        DECLARED,
        sets=(violating("race", people=345), violating("zip", "race", people=3000)),
        quasi_identifiers=CombinedClasses(("zip", "born", "sex"), 20, 0, 9, 0, 0, ()),
    )
    assert headline(safe) == (
        "Nobody by the declared quasi-identifiers, but all 3,000 people, by zip and race together; "
        "race is no declared quasi-identifier."
    )


def test_without_time_to_count_all_declared_columns_their_largest_set_leads() -> None:
    assert headline(replace(DECLARED, quasi_identifiers=None)) == (
        "1,204 of 3,000 people (40.1%), by zip and born together."
    )


def test_without_a_declaration_the_set_with_most_people_leads() -> None:
    assert headline(replace(DECLARED, declared=())) == (
        "1,204 of 3,000 people (40.1%), by zip and born together."
    )


def test_a_risk_by_other_columns_than_those_of_the_audit_names_them() -> None:
    audited = replace(RESULT, quasi_identifiers=CombinedClasses(("zip", "sex"), 9, 4, 1, 4, 4, ()))
    known = [
        next(text for text in sentences(replace(audited, risk=risk_of(columns, ()))) if "on average" in text)
        for columns in (("sex", "zip"), ("zip", "sex", "born"))
    ]
    assert known[0].startswith("Who knows that somebody is in the table finds the row")
    assert known[1].startswith("Who knows zip, sex and born of somebody in the table finds the row")


def test_anonymous_is_said_only_if_it_is_proven() -> None:
    none = replace(RESULT, sets=(), minimum=None, left_out=())
    assert sentences(none)[0] == "No column was found that singles people out."
    assert not none.is_anonymous
    proven = replace(none, is_complete=True)
    assert sentences(proven) == ("No combination of the 3 audited columns singles out fewer than 5 people.",)


def test_a_small_table_needs_no_column() -> None:
    tiny = replace(RESULT, sets=(violating(kind="minimum"),), people=3, is_complete=True, minimum=0)
    assert sentences(tiny)[0] == "The whole table has 3 people, fewer than 5."


def test_nothing_known_at_all_is_said() -> None:
    assert replace(RESULT, complete_columns=0).limitation() == "Not all minimal violating sets are known."


def test_steps_are_statements() -> None:
    column = ColumnFigures("zip", None, 3, 1, 4, 2, 1)
    steps = [*next_steps(replace(RESULT, column_figures=(column,)))]
    assert [step.sql for step in steps] == [
        """SELECT * FROM kanon_suggest('"public"."pa|ti*ents"');""",
        """SELECT k, suppressed_share, gap """
        """FROM kanon_curve('"public"."pa|ti*ents"', '{2,3,5,10,25,50,100}');""",
        """SELECT * FROM kanon_anonymize('"public"."pa|ti*ents"', 5);""",
    ]


def test_a_release_is_tested_by_its_own_k() -> None:
    """It has classes of 10; that it has classes of 5 says less than it promises."""
    after = replace(risk_of(["zip"], ()), relation="safe.wards")
    release = ReleaseRisk("wards", 10, 0, 0.0, risk_of(["zip"], ()), after)
    steps = [*next_steps(replace(RESULT, k=5, releases=(release,)))]
    assert [step.sql for step in steps] == ["SELECT kanon_is_anonymous('safe.wards', 10);"]


def test_steps_ask_for_nothing_that_a_small_table_cannot_have() -> None:
    few = replace(RESULT, people=12)
    assert "'{2,3,5,10}'" in next(next_steps(few)).sql
    assert not [*next_steps(replace(RESULT, people=4))]


def test_markdown_shows_all_sets_and_no_name_becomes_markup() -> None:
    whole = CombinedClasses(("zip",), 2, 1, 1, 1, 1, (ClassSizes(1, 1, 1, 1, 1), ClassSizes(3, 4, 1, 3, 5)))
    text = audit_markdown(replace(RESULT, quasi_identifiers=whole))
    assert '# Audit of "public"."pa\\|ti\\*ents", k = 5' in text
    assert "| zip | minimum | 1 | 40 | 10 | 0.1000 | 0.5000 |" in text
    assert "| a\\_b, sex | minimal |  |  |  |  |  |" in text
    assert "| 3 to 4 | 1 | 3 |" in text


def test_the_declaring_statement_quotes() -> None:
    def suggested(column: str, role: str) -> Suggestion:
        return Suggestion(column, role, (), None, None, None, 0.0, ())

    statement = declaring(
        Identifier.of("public", "o'clock"),
        [suggested("it's", "identifier"), suggested("b", "sensitive"), suggested("c", "sensitive")],
    )
    assert statement == (
        """SELECT kanon_declare('"public"."o''clock"', identifiers => ARRAY['it''s'], """
        "sensitive => ARRAY['b', 'c']);"
    )
