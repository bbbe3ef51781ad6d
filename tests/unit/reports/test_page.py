"""The page of an audit says everything in order, stands alone, and can be read without seeing it."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from itertools import pairwise

import pytest

from kanon_pg.reports.assemble import report
from kanon_pg.reports.document import html_page
from tests.fixtures.audit_reports import (
    COLUMNS,
    Node,
    antichain,
    audit_of,
    curve_of,
    full_page,
    parsed,
    violating,
)
from tests.fixtures.release_reports import page_of_release

PAGES: dict[str, Callable[[], str]] = {
    "everything": full_page,
    "no sets": lambda: html_page(report(audit_of(sets=(), releases=0))),
    "one set": lambda: html_page(report(audit_of(sets=(violating(["sex"], 3, 1),)))),
    "ten sets": lambda: full_page(sets=antichain(COLUMNS, 10)),
    "hundreds": lambda: full_page(
        [f"column_{n}" for n in range(50)], antichain([f"column_{n}" for n in range(50)], 900)
    ),
    "the whole table": lambda: html_page(report(audit_of(sets=(violating([], 3, 0),)))),
    "no details": lambda: html_page(report(audit_of(details=False))),
    "out of time": lambda: html_page(
        report(audit_of(sets=(violating(["sex", "zip"], None),), complete=False, declared=False))
    ),
    "two releases": lambda: html_page(
        report(audit_of(releases=2), made=datetime(2026, 1, 2, 3, 4, tzinfo=UTC))
    ),
    "a single k": lambda: html_page(report(audit_of(), curve=curve_of([5]))),
    "a release": page_of_release,
}
each = pytest.mark.parametrize("page", PAGES, indirect=True)


@cache
def page_of(name: str) -> str:
    return PAGES[name]()


@pytest.fixture
def page(request: pytest.FixtureRequest) -> str:
    return page_of(request.param)


def by_id(root: Node) -> dict[str, Node]:
    return {node["id"]: node for node in root.all("*") if "id" in node.attributes}


def images(root: Node) -> list[Node]:
    return [node for node in root.all("*") if node.attributes.get("role") == "img"]


def test_sections_stand_in_order() -> None:
    root = parsed(page_of("everything"))
    assert [node.text for node in root.all("h1")] == ["Who is singled out in public.patients?"]
    assert [node.text for node in root.all("h2")] == [
        "Contents",
        "In short",
        "Which columns single people out",
        "What each column contributes",
        "How large the groups of alike people are",
        "How likely somebody is found",
        "What each k would cost",
        "Before and after the release",
        "Which roles the columns might have",
        "What to do next",
        "How to read this",
    ]
    assert [node["id"] for node in root.all("figure")] == [
        "lattice",
        "contribution",
        "class-sizes",
        "risk-distribution",
        "cost-curve",
        "release-1",
    ]


def test_sets_per_column_are_drawn_where_they_differ() -> None:
    assert "membership" in by_id(parsed(page_of("ten sets")))
    assert "membership" not in by_id(parsed(page_of("one set")))


def test_sentences_come_first() -> None:
    page = page_of("everything")
    places = [
        page.index(text)
        for text in (
            "700 of 1,000 people (70%), by birth_date alone.",
            "2 minimal sets of columns single out fewer than 5 people.",
            "What to do:",
            'role="img"',
        )
    ]
    assert places == sorted(places)


@each
def test_no_level_of_headings_is_skipped(page: str) -> None:
    levels = [int(node.tag[1]) for node in parsed(page).all("*") if re.fullmatch(r"h[1-6]", node.tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


@each
def test_identifiers_are_unique_and_every_reference_has_its_target(page: str) -> None:
    root = parsed(page)
    names = [node["id"] for node in root.all("*") if "id" in node.attributes]
    assert len(names) == len(set(names))
    for node in root.all("*"):
        for attribute in ("aria-labelledby", "aria-describedby"):
            assert set((node.attributes.get(attribute) or "").split()) <= set(names)
    assert {node["href"] for node in root.all("a")} <= {f"#{name}" for name in names}


@each
def test_nothing_is_loaded_and_nothing_runs(page: str) -> None:
    root = parsed(page)
    for node in root.all("*"):
        assert node.tag not in ("script", "iframe", "object", "embed", "img", "form", "base", "foreignobject")
        assert not [name for name in node.attributes if name == "style" or name.startswith("on")]
        for name in ("src", "href", "xlink:href", "srcset", "action"):
            assert (node.attributes.get(name) or "#").startswith(("#", "data:image/svg+xml,"))
    (style,) = root.all("style")
    assert "@import" not in style.text
    assert "url(" not in style.text
    (policy,) = [
        node for node in root.all("meta") if node.attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    digest = base64.b64encode(hashlib.sha256(style.text.encode()).digest()).decode()
    assert policy["content"].startswith(f"default-src 'none'; style-src 'sha256-{digest}';")
    assert "script-src" not in policy["content"]


@each
def test_every_figure_has_a_text_and_a_table(page: str) -> None:
    root = parsed(page)
    named = by_id(root)
    for figure in root.all("figure"):
        (chart,) = images(figure)
        title, description = (named[name].text for name in chart["aria-labelledby"].split())
        assert len(title) > 10
        assert len(description) > 20
        assert len(figure.all("table")) == 1
    assert len(root.all("figure")) == len(images(root))


@each
def test_tables_have_captions_and_headings(page: str) -> None:
    for table in parsed(page).all("table"):
        (caption,) = table.all("caption")
        assert caption.text
        headings = [node for node in table.all("thead")[0].all("th") if node["scope"] == "col"]
        for row in table.all("tbody")[0].all("tr"):
            assert [node["scope"] for node in row.all("th")] == ["row"]
            assert len(row.all("th") + row.all("td")) == len(headings)


@each
def test_pages_are_small(page: str) -> None:
    assert len(page.encode()) < 500_000
    assert "nan" not in re.findall(r"\b[a-z]+\b", page)


def test_a_page_says_what_nobody_counted() -> None:
    root = parsed(page_of("out of time"))
    (row,) = by_id(root)["lattice"].all("tbody")[0].all("tr")
    assert [node.text for node in row.all("td")] == ["minimal", *["–"] * 6]  # noqa: RUF001
    assert "Some people, by sex and zip together; there was no time to count them." in root.text
    assert "larger ones may be missing" in root.text
    assert "The list is complete" not in root.text


def test_a_page_without_findings_is_calm() -> None:
    root = parsed(page_of("no sets"))
    (verdict,) = [node for node in root.all("p") if "verdict" in (node.attributes.get("class") or "")]
    assert verdict["class"] == "verdict good"
    assert verdict.text == "Nobody: every combination of values is shared by at least 5 people."
    assert "lattice" not in by_id(root)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_can_be_told_apart(scheme: str) -> None:
    """Web Content Accessibility Guidelines 2.2, level AA: 4.5 for text."""
    light, dark = re.findall(
        r":root \{(.*?)\}", parsed(page_of("everything")).all("style")[0].text, re.DOTALL
    )[:2]
    colours = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", light if scheme == "light" else dark))
    assert len(colours) == 9
    pairs = [(text, ground) for text in ("ink", "faint", "risk", "safe") for ground in ("page", "surface")]
    pairs += [("ink", "safe-tint")]
    for text, ground in pairs:
        assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)


def contrast(one: str, other: str) -> float:
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
