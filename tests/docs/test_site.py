"""The site of the documentation: complete, whole, and of nothing but itself."""

from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.docs.pages import ROOT, Page, pages
from tests.docs.site import build, complaints
from tests.fixtures.browser import Page as Tab
from tests.fixtures.browser import chromium, page

__all__ = ["chromium", "page"]

CONTENTS = Page(ROOT / "docs/contents.md")
LOOKED_AT = ["index.html", "how-a-bound-is-proven.html", "comparison.html", "reference/cli.html"]


class _Silent(SimpleHTTPRequestHandler):
    def log_message(self, *arguments: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a freshly built site."""
    return build(tmp_path_factory.mktemp("docs") / "build")


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """Return where the site is served."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Silent, directory=str(site))) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


def test_every_page_is_among_all_pages() -> None:
    listed = {(CONTENTS.path.parent / link).resolve() for link in CONTENTS.links()}
    assert [
        page.name for page in pages() if page.path not in {*listed, CONTENTS.path, ROOT / "README.md"}
    ] == []


def test_links_lead_somewhere_and_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    assert list(complaints(site)) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('<a href="../nowhere/">', "leads nowhere"),
        ('<a href="#no-heading">', "has no such heading"),
        ('<img src="https://example.org/x.svg">', "loads https://example.org"),
        ('<link rel="stylesheet" href="//example.org/x.css">', "loads //example.org"),
        (
            '<meta http-equiv="Content-Security-Policy" content="default-src https:">',
            "may load it from elsewhere",
        ),
    ],
)
def test_what_is_wrong_with_a_page_is_said(tmp_path: Path, text: str, said: str) -> None:
    policy = """<meta http-equiv="Content-Security-Policy" content="default-src 'self'">"""
    good = "<h1 id=heading><a href='#heading'><a href='mailto:us@example.org'>"
    bad = text if "Policy" in text else policy + text
    (tmp_path / "index.html").write_text(bad + good)
    (found,) = complaints(tmp_path)
    assert said in found
    (tmp_path / "index.html").write_text(policy + good)
    assert list(complaints(tmp_path)) == []


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_pages_fit_a_phone_and_a_screen_and_ask_nobody_else(
    address: str, page: Tab, width: int, dark: bool
) -> None:
    page.look(width=width, height=844, dark=dark)
    for name in LOOKED_AT:
        page.open(address + name)
        assert page.value("document.documentElement.scrollWidth <= innerWidth"), name
        light = page.value("getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0] > 128")
        assert light != dark, name
        assert [url for url in page.requests if not url.startswith((address, "data:", "blob:"))] == [], name
        assert page.complaints == [], name


def test_the_search_finds_a_page_by_its_words(address: str, page: Tab) -> None:
    page.look(width=1280, height=844)
    page.open(address)
    page.value("document.querySelector('.md-search__button').click()")
    found = page.value(
        """new Promise(done => {
            const inside = (selector) => [...document.querySelectorAll('*')]
                .map(element => element.shadowRoot?.querySelector(selector)).find(Boolean)
            setInterval(() => {
                const field = inside('input')
                if (field && !field.value) {
                    field.value = 'certificate'
                    field.dispatchEvent(new Event('input', { bubbles: true }))
                }
                const first = inside('a[href*="how-to/certificate.html"]')
                if (first) done(first.href)
            }, 100)
        })"""
    )
    assert found.startswith(address)
