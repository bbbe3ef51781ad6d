"""The page of an audit in a real browser: on a screen, a phone and paper, in light and dark, by keyboard.

Each test writes a page of made-up findings and opens it in headless Chromium.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from kanon_pg.reports.assemble import report
from kanon_pg.reports.document import html_page
from tests.fixtures.audit_reports import HOSTILE, antichain, audit_of, full_page, violating
from tests.fixtures.browser import Page
from tests.fixtures.release_reports import page_of_release

NAMES = [f"a_rather_long_name_of_column_{place}" for place in range(50)]
PAGES: dict[str, Callable[[], str]] = {
    "everything": full_page,
    "no sets": lambda: html_page(report(audit_of(sets=(), releases=0))),
    "one set": lambda: html_page(report(audit_of(sets=(violating(["sex"], 3, 1),)))),
    "hundreds": lambda: full_page(NAMES, antichain(NAMES, 900)),
    "a release": page_of_release,
    "a release of hostile names": lambda: page_of_release(HOSTILE),
    "hostile names": lambda: full_page(HOSTILE, (violating(HOSTILE[:4], 9), violating(HOSTILE[4:], 1))),
}
PHONE = {"width": 360, "height": 740}
DESKTOP = {"width": 1280, "height": 900}
each = pytest.mark.parametrize("content", PAGES, indirect=True)


@cache
def page_of(name: str) -> str:
    return PAGES[name]()


@pytest.fixture
def content(request: pytest.FixtureRequest) -> str:
    return page_of(request.param)


_OUTSIDE = """
[...document.querySelectorAll('.chart *')]
    .map(shape => [shape.getBoundingClientRect(), shape])
    .filter(([box]) => box.width && (box.left < 0 || box.right > innerWidth))
    .map(([box, shape]) => `${shape.tagName} ${shape.textContent} ${box.left} ${box.right}`)
"""
_CLOSED_TABLES = "[...document.querySelectorAll('details table')].map(table => table.checkVisibility({%s}))"
_LUMINANCE = """
(() => {
    const parts = getComputedStyle(document.body).backgroundColor.match(/[0-9.]+/g).map(Number);
    return (parts[0] + parts[1] + parts[2]) / 3;
})()
"""


@pytest.fixture
def show(page: Page, tmp_path: Path) -> Any:
    """Return what opens a page with some content in a window."""

    def opened(content: str, **window: Any) -> Page:
        path = tmp_path / "report.html"
        path.write_text(content, encoding="utf-8")
        page.look(**window)
        page.open(path)
        assert page.requests == [path.as_uri()]
        return page

    return opened


@each
@pytest.mark.parametrize("window", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_a_page_shows_its_figures_without_complaints(show: Any, content: str, window: dict[str, int]) -> None:
    page = show(content, **window)
    assert page.complaints == []
    sizes = page.value(
        "[...document.querySelectorAll('figure')].map(figure => figure.querySelector('.chart'))"
        ".map(chart => [chart.getBoundingClientRect().width, chart.getBoundingClientRect().height, "
        "chart.innerText.length])"
    )
    assert len(sizes) == content.count("<figure")
    for width, height, letters in sizes:
        assert width > 250
        assert height > 20
        assert letters > 0


@each
def test_nothing_is_wider_than_a_phone(show: Any, content: str) -> None:
    page = show(content, **PHONE)
    page.value("document.querySelectorAll('details').forEach(details => details.open = true)")
    assert page.value("document.documentElement.scrollWidth") <= PHONE["width"]
    assert page.value("innerWidth") == PHONE["width"]
    assert page.value(_OUTSIDE) == []
    smallest = page.value(
        "Math.min(...[...document.querySelectorAll('main *')]"
        ".map(node => parseFloat(getComputedStyle(node).fontSize)))"
    )
    assert smallest >= 12


def test_a_page_opens_within_a_second(show: Any) -> None:
    """The least of some loads: others may use the machine at the same time."""
    took = []
    for _ in range(5):
        page = show(page_of("hundreds"), **DESKTOP)
        took.append(page.value("performance.getEntriesByType('navigation')[0].loadEventEnd"))
    assert 0 < min(took) < 1000


def test_dark_and_light_are_what_the_reader_prefers(show: Any) -> None:
    assert show(page_of("everything"), **DESKTOP).value(_LUMINANCE) > 230
    assert show(page_of("everything"), **DESKTOP, dark=True).value(_LUMINANCE) < 50


def test_tables_open_on_demand_and_are_all_on_paper(show: Any) -> None:
    page = show(page_of("everything"), **DESKTOP, dark=True)
    visible = _CLOSED_TABLES % "contentVisibilityAuto: true, visibilityProperty: true"
    assert not any(page.value(visible))
    page.use_medium("print")
    assert all(page.value(visible))
    assert page.value(_LUMINANCE) == 255
    assert page.value("getComputedStyle(document.querySelector('nav')).display") == "none"
    page.use_medium("")
    assert not any(page.value(visible))
    # Last, because printing changes the medium for a while.
    assert page.paper().startswith(b"%PDF")


def test_a_keyboard_reaches_everything(show: Any) -> None:
    page = show(page_of("everything"), **DESKTOP)
    page.press("Tab", 9)
    skip = page.value(
        "[document.activeElement.className, document.activeElement.getBoundingClientRect().left]"
    )
    assert skip[0] == "skip"
    assert skip[1] >= 0
    assert page.value("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.press("Enter", 13)
    assert page.value("document.activeElement.id") == "content"
    page.press("Tab", 9)
    assert page.value("document.querySelector('main').contains(document.activeElement)")
    page.value("document.querySelector('#lattice summary').focus()")
    page.press("Enter", 13)
    assert page.value("document.querySelector('#lattice details').open")


@each
def test_a_screen_reader_is_told_what_a_figure_shows(show: Any, content: str) -> None:
    page = show(content, **DESKTOP)
    page.ask("Accessibility.enable")
    nodes = page.ask("Accessibility.getFullAXTree")["nodes"]
    images = [node for node in nodes if node.get("role", {}).get("value") == "image"]
    assert len(images) == content.count("<figure")
    for image in images:
        assert len(image["name"]["value"]) > 30
    assert not [node for node in nodes if node.get("role", {}).get("value") == "SvgRoot"]
    headings = [node for node in nodes if node.get("role", {}).get("value") == "heading"]
    assert len(headings) == content.count("<h1") + content.count("<h2")
