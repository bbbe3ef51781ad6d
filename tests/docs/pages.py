"""Reads the documentation: its pages, the blocks of commands in them and the marks that stand above them.

A mark is an HTML comment, so that readers do not see it. Above the first heading of a page::

    <!-- database: clinic -->        what the page starts from, see `tests.docs.databases`

Directly above a block of commands::

    <!-- as: ada -->                 who runs it; the superuser unless marked
    <!-- fails: 42501 -->            it must be refused with this SQLSTATE
    <!-- rows vary -->               of a transcript's output only the first line is compared
    <!-- run -->                     the kanon commands of a shell block are run, not only parsed
    <!-- gateway -->                 it goes through a gateway to the page's database
"""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
KINDS = ("sql", "psql", "sh", "python", "text")
"""Languages of blocks. A psql block is a transcript: prompts, statements and what psql answered."""

MARKS = ("as", "fails", "rows vary", "run", "gateway")

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_MARK = re.compile(r"<!-- ([a-z ]+?)(?:: (.*?))? -->")
_MARKS_ABOVE = re.compile(r"(?:<!-- [^>]* -->\n)+\Z")
_HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)
_LINK = re.compile(r"\]\(([^)\s]+)\)")


@dataclass(frozen=True)
class Block:
    """A fenced block."""

    kind: str
    text: str
    line: int
    marks: dict[str, str]


@dataclass(frozen=True)
class Page:
    """A page of the documentation."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.relative_to(ROOT).as_posix()

    @property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @property
    def prose(self) -> str:
        """The text without its blocks."""
        return _FENCE.sub("", self.text)

    @property
    def database(self) -> str | None:
        """What the page starts from."""
        found = re.search(r"\A<!-- database: (\w+) -->\n", self.text)
        return found[1] if found else None

    def blocks(self) -> list[Block]:
        """Return the fenced blocks in order; refuse a block whose language or mark is not known."""
        text = self.text
        found = []
        for match in _FENCE.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            above = _MARKS_ABOVE.search(text, 0, match.start())
            marks = {mark[1]: mark[2] or "" for mark in _MARK.finditer(above[0] if above else "")}
            marks.pop("database", None)
            unknown = [mark for mark in marks if mark not in MARKS]
            assert match[1] in KINDS, f"{self.name}:{line}: the block's language is not one of {KINDS}"
            assert not unknown, f"{self.name}:{line}: unknown marks {unknown}"
            found.append(Block(match[1], match[2], line, marks))
        return found

    def anchors(self) -> set[str]:
        """Return what links to headings of this page may name."""
        return {_anchor(title) for title in _HEADING.findall(_FENCE.sub("", self.text))}

    def links(self) -> list[str]:
        """Return the targets of links to files and headings."""
        return [link for link in _LINK.findall(self.prose) if not re.match(r"[a-z]+:", link)]


def _anchor(title: str) -> str:
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def pages() -> list[Page]:
    """Return all pages: the files of the top folder first."""
    return [Page(path) for path in (*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/**/*.md")))]
