"""Parts of a report: sections of sentences, charts and the tables behind them; and its page.

Charts and tables hold counts and column names, never a person's values. A chart is data here: the template
lays it out as text with bars beside it, which is legible at every width, in the dark and on paper. What has
axes is a figure in a file, see `kanon_pg.reports.plots`. The page is one self-contained HTML file: no script,
no network, no font but those that are there.
"""

from __future__ import annotations

import base64
import hashlib
import re
import unicodedata
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from kanon_pg.audit.sentences import Recommendation

_WITHOUT_GLYPH = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Categories of characters that show nothing themselves but may change how others are shown."""


def visible(text: str) -> str:
    r"""Return a text in which characters without a glyph are spelled out.

    A name may contain line breaks, or marks that turn the direction of what follows: neither may change how
    the page around it reads.

    Examples
    --------
    >>> visible("a" + chr(0x202E) + "b" + chr(10))
    'a\\u202eb\\u000a'
    """
    return "".join(
        f"\\u{ord(character):04x}" if unicodedata.category(character) in _WITHOUT_GLYPH else character
        for character in text
    )


def shortened(name: str, most: float) -> str:
    """Return a name for a drawing, cut off where it has more than some letters such as n and o.

    Examples
    --------
    >>> shortened("glimepiride_pioglitazone", 12), shortened("WWWWWWWWWWWW", 12)
    ('glimepiride_…', 'WWWWWWW…')
    """
    text, wide = visible(name), 0.0
    if sum(map(_letters, text)) <= most:
        return text
    for place, character in enumerate(text):
        wide += _letters(character)
        if wide > most - 1:
            return text[:place] + "…"
    return text


def _letters(character: str) -> float:
    """Return about how many letters n are as wide as a character, in fonts without serifs."""
    if character in "mwMW@%" or unicodedata.east_asian_width(character) in "WF":
        return 1.5
    if character in "fijlrtI1 .,:;'|!()[]":
        return 0.6
    return 1.2 if character.isupper() else 1.0


def thousands(value: int | None) -> str:
    """Return a count with separators; a dash where nothing was counted."""
    return "–" if value is None else f"{value:,}"  # noqa: RUF001  # the dash of tables


def counts(*values: int | None) -> tuple[str, ...]:
    """Return several counts for the cells of a table."""
    return tuple(map(thousands, values))


def sizes(smallest: int, largest: int) -> str:
    """Return the sizes from one number to another.

    Examples
    --------
    >>> sizes(2, 2), sizes(5, 9)
    ('2', '5 to 9')
    """
    return f"{smallest:,}" if smallest == largest else f"{smallest:,} to {largest:,}"


def made_on(made: datetime | None) -> str:
    """Return when a report was made, as a sentence has it; empty if that is not said."""
    return "" if made is None else f" on {made:%Y-%m-%d} at {made:%H:%M} {made.tzname() or ''}".rstrip()


@dataclass(frozen=True, slots=True)
class Table:
    """Figures in rows and columns."""

    caption: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    """Cells as they are shown; the first of each row is its heading."""
    texts: int = 1
    note: str = ""
    """What is left out, and by which rule; empty if nothing is."""


Kind = Literal["risk", "safe", "quiet"]
"""Meanings of the colours of the page."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar with its number."""

    value: float
    text: str
    kind: Kind
    label: str = ""
    """What it stands for; empty where the name of its group says so."""
    proven: float | None = None
    """Which part of the length is proven to be necessary; the rest is tinted. None: nothing is tinted."""


@dataclass(frozen=True, slots=True)
class BarGroup:
    """Bars below a name, which may be empty."""

    name: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class BarChart:
    """Groups of bars, which lie on their side, so that labels are read without turning the head."""

    groups: tuple[BarGroup, ...]
    legend: tuple[tuple[str, str], ...] = ()
    """Kind of bar, or ``tint``, and what it means."""
    longest: float = 0.0
    """Value of the longest possible bar; the longest of the bars if it is 0."""

    def share(self, value: float) -> float:
        """Return the length of a bar as a share of the longest possible one."""
        longest = self.longest or max((bar.value for group in self.groups for bar in group.bars), default=0)
        return min(1.0, value / longest) if longest else 0.0


@dataclass(frozen=True, slots=True)
class SetLine:
    """A set of columns in a `SetMatrix`."""

    columns: frozenset[str]
    bar: Bar


@dataclass(frozen=True, slots=True)
class SetMatrix:
    """Sets of columns, a line each with a dot for each of its columns, below the title of their level."""

    columns: tuple[str, ...]
    levels: tuple[tuple[str, tuple[SetLine, ...]], ...]
    measure: str

    def share(self, value: float) -> float:
        """Return the length of a bar as a share of the longest one."""
        longest = max((line.bar.value for _, lines in self.levels for line in lines), default=0)
        return value / longest if longest else 0.0

    def marks(self, line: SetLine) -> list[str]:
        """Return classes for each column: ``in``, ``out``, or ``between`` columns of the set."""
        inside = [place for place, name in enumerate(self.columns) if name in line.columns]
        marks = ["out"] * len(self.columns)
        marks[inside[0] : inside[-1]] = ["between"] * (inside[-1] - inside[0])
        for place in inside:
            marks[place] = "in"
        marks[inside[0]] += " first"
        marks[inside[-1]] += " last"
        return marks


@dataclass(frozen=True, slots=True)
class PageFigure:
    """A chart with the text that stands for it."""

    name: str
    """Part of identifiers in the page: lower-case letters and hyphens."""
    title: str
    description: str
    """The same for those who cannot see it: what can be read off it."""
    chart: BarChart | SetMatrix
    table: Table
    note: str = ""
    """What is left out, and by which rule; empty if nothing is."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a report under a heading; `name` is its anchor, of lower-case letters and hyphens."""

    name: str
    title: str
    sentences: tuple[str, ...] = ()
    figures: tuple[PageFigure, ...] = ()
    tables: tuple[Table, ...] = ()
    statements: tuple[Recommendation, ...] = ()


@dataclass(frozen=True, slots=True)
class KeyFigure:
    """A number that is shown large, and what it counts; bad if it is about people at risk."""

    value: str
    meaning: str
    is_bad: bool = False


@dataclass(frozen=True, slots=True)
class Document:
    """A whole report."""

    title: str
    subtitle: str
    verdict: str
    is_bad: bool
    sentences: tuple[str, ...]
    advice: str
    key_figures: tuple[KeyFigure, ...]
    sections: tuple[Section, ...]
    terms: tuple[tuple[str, str], ...]
    """Words that it uses, and what they mean."""
    made: str
    """When and by what it was made, and what it does not contain."""

    @property
    def has_statements(self) -> bool:
        """Whether a section says what to do next."""
        return any(section.name == "next" for section in self.sections)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the page, in a frame of its own that runs nothing."""
        page = escape(html_page(self))
        return f'<iframe sandbox srcdoc="{page}" style="width:100%;height:40em;border:0"></iframe>'


_LETTERS = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]+"
_RIGHT_TO_LEFT = re.compile(f"{_LETTERS}(?:[ _]+{_LETTERS})*")
"""Runs of words in Hebrew, Arabic and related letters."""


def html_page(document: Document) -> str:
    """Return a report as HTML.

    Everything that is not in the page's own style sheet is forbidden to load by its content security policy.
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
