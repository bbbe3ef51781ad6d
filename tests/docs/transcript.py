"""Reads psql transcripts in pages and compares them with what psql says now.

Figures differ from run to run (times) and from version to version (a better solver); they and the widths
they cause are not compared. Everything else is: column names, labels, texts, errors, the number of lines.
"""

import re
from dataclasses import dataclass

_PROMPT = re.compile(r"^(?P<database>\w+)=(?P<who>[#>]) (?P<statement>.*)$")
ELISION = "..."
"""A line that stands for lines left out, or the end of a line that stands for its rest."""


@dataclass(frozen=True)
class Exchange:
    """A statement and the answer that the page shows."""

    sql: str
    output: list[str]
    is_superuser: bool


def exchanges(text: str) -> list[Exchange]:
    """Split a transcript at its prompts; a statement ends with a semicolon or is one backslash command."""
    found: list[Exchange] = []
    lines = iter(text.splitlines())
    for line in lines:
        prompt = _PROMPT.match(line)
        if prompt is None:
            assert found, "a transcript begins with a prompt"
            found[-1].output.append(line)
            continue
        sql = [prompt["statement"]]
        while not sql[-1].rstrip().endswith((";", "\\gx")):
            sql.append(next(lines))
        found.append(Exchange("\n".join(sql), [], prompt["who"] == "#"))
    return found


def matches(shown: list[str], output: str) -> bool:
    """Whether psql's output is what a page shows, but for figures and lines left out."""
    lines = [_shape(line) for line in shown]
    said = "".join(f"{shape}\n" for shape in map(_shape, output.splitlines()) if shape)
    return re.fullmatch("".join(_pattern(line) for line in lines if line), said) is not None


def _pattern(line: str) -> str:
    if line == ELISION:
        return r"(?:.*\n)*"
    begin, cut, _ = line.partition(f" {ELISION}") if line.endswith(f" {ELISION}") else (line, "", "")
    return re.escape(begin) + (r" .*\n" if cut else r"\n")


def _shape(line: str) -> str:
    if line.strip() == ELISION:
        return ELISION
    line = re.sub(r"-[-+]*", "-", line)
    line = re.sub(r"\d+(?:[.,:]\d+)*", "#", line)
    return re.sub(r"\s+", " ", line).strip()
