"""Names of columns are shown and quoted as they are, whatever they contain; they never become markup."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_pg.reports.assemble import report
from kanon_pg.reports.document import html_page, visible
from tests.fixtures.audit_reports import (
    HOSTILE,
    Node,
    antichain,
    audit_of,
    full_page,
    parsed,
    suggestions_of,
    violating,
)
from tests.fixtures.examples import examples

HARMLESS = [f"column_{place}" for place in range(len(HOSTILE))]

names = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=63
).filter(lambda name: len(name.encode()) <= 63)


def tags(node: Node) -> list[str]:
    return [below.tag for below in node.all("*") if below.tag != "bdi"]


def test_hostile_names_change_no_markup() -> None:
    sets = (violating(HOSTILE[:2], 9), violating(HOSTILE[2:5], 5), violating(HOSTILE[5:], None))
    places = dict(zip(HOSTILE, HARMLESS, strict=True))
    same = tuple(violating([places[name] for name in found.columns], found.people_at_risk) for found in sets)
    page = parsed(full_page(HOSTILE, sets))
    assert tags(page) == tags(parsed(full_page(HARMLESS, same)))
    (table,) = [node for node in page.all("table") if node.all("caption")[0].text == "Proposed roles"]
    assert [row.all("th")[0].text for row in table.all("tbody")[0].all("tr")] == [*map(visible, HOSTILE)]


def test_writing_from_right_to_left_is_kept_apart() -> None:
    page = full_page(HOSTILE)
    hebrew = re.compile("[\u0590-\u08ff]")
    outside = re.sub(
        r"<bdi>[^<]*</bdi>|<svg.*?</svg>|<code>.*?</code>|<title>.*?</title>", "", page, flags=re.S
    )
    outside = re.sub(r'aria-label="[^"]*"', "", outside)
    assert not hebrew.search(outside)
    assert "\u202e" not in re.sub(r"<code>.*?</code>", "", page, flags=re.S)


def test_statements_name_what_is_there() -> None:
    relation = '"it\'s"."a""b"'
    columns = ["x'y", "b\\c", "z\r", "plain"]
    roles = suggestions_of(columns)
    page = parsed(html_page(report(audit_of(columns, relation=relation, declared=False), suggestions=roles)))
    assert (
        'SELECT kanon_declare(\'"it\'\'s"."a""b"\',\n'
        "    identifiers => ARRAY[ E'b\\\\c'],\n"
        "    quasi_identifiers => ARRAY['x''y'],\n"
        "    sensitive => ARRAY['z\r'],\n"
        "    insensitive => ARRAY['plain']);"
    ) in [node.text for node in page.all("code")]


@settings(max_examples=examples(40))
@given(columns=st.lists(names, min_size=3, max_size=9, unique=True), count=st.integers(0, 40), data=st.data())
def test_any_names_give_a_page(columns: list[str], count: int, data: st.DataObject) -> None:
    audit = audit_of(
        columns,
        antichain(columns, count),
        complete=data.draw(st.booleans()),
        releases=data.draw(st.integers(0, 2)),
        details=data.draw(st.booleans()),
        declared=data.draw(st.booleans()),
    )
    page = parsed(html_page(report(audit)))
    identifiers = [node["id"] for node in page.all("*") if "id" in node.attributes]
    assert len(identifiers) == len(set(identifiers))
    assert "script" not in tags(page)
    shown = {node.text for node in page.all("th")}
    if audit.sets:
        assert {visible(", ".join(found.columns)) for found in audit.sets} <= shown
    if audit.column_figures and audit.sets:
        listed = {name for found in audit.sets for name in found.columns}
        assert set(map(visible, listed)) <= shown
