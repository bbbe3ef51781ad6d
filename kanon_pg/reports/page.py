"""A report as one self-contained HTML page: no script, no network, no font but those that are there."""

from __future__ import annotations

import base64
import hashlib
import re
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from kanon_pg.reports.document import Document, SetMatrix
from kanon_pg.reports.wording import shortened, visible

_LETTERS = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]+"
_RIGHT_TO_LEFT = re.compile(f"{_LETTERS}(?:[ _]+{_LETTERS})*")
"""Runs of words in Hebrew, Arabic and related letters."""


def html_page(document: Document) -> str:
    """Return a report as HTML.

    Everything that is not in the page's own style sheet is forbidden to load by its content security policy.

    Parameters
    ----------
    document : Document
        What it says.
    """
    style = _ENVIRONMENT.get_template("report.css").render()
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return _ENVIRONMENT.get_template("report.html").render(
        report=document,
        style=Markup(style),  # noqa: S704  # a file of this package, nothing is filled in
        style_hash=f"sha256-{digest}",
    )


def _prose(value: Any) -> Any:
    """Escape a text; what is written from right to left must not reorder the words around it."""
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    escaped = str(escape(visible(value)))
    return Markup(_RIGHT_TO_LEFT.sub(r"<bdi>\g<0></bdi>", escaped))  # noqa: S704  # escaped above


def _exact(text: str) -> Markup:
    """Return a text, escaped but otherwise to the letter: a statement must name what is there."""
    # A browser would read a carriage return as a line feed.
    return escape(text).replace("\r", Markup("&#13;"))


def _plain(text: str) -> Markup:
    """Return a text for a place that takes no elements."""
    return escape(visible(text))


def _width(share: float, most: float = 1.0) -> str:
    """Return a length, 0 to 1 of the longest, as an attribute has it; what is not nothing is seen."""
    return f"{100 * most * max(share, 0.005):.2f}%"


_ENVIRONMENT = Environment(
    loader=PackageLoader("kanon_pg.reports"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    finalize=_prose,
)
_ENVIRONMENT.filters.update(exact=_exact, plain=_plain, shortened=shortened, width=_width)
_ENVIRONMENT.tests["matrix"] = lambda chart: isinstance(chart, SetMatrix)
