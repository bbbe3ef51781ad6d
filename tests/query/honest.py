"""Reads the honest workload: what analysts ask who mean no harm, and what they may expect.

Queries to the hospital of `schema.sql` stand in `workload`, those to the registers of `registers.sql` in
`workload/registers`.
"""

import re
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).with_name("workload")

_BLOCK = re.compile(r"^-- name: ", re.MULTILINE)
_PARAMETER = re.compile(r"\$\d+ (\S+) = (.*)")


class Expected(Enum):
    """What a correct enforcement does with an honest query."""

    ANSWERED = "answered"
    WITHHELD = "may be withheld"
    """The query is accepted; the data may have groups that are too small."""
    REFUSED = "may be refused"
    """The query may be refused as it is written, if the refusal says what to write instead."""


@dataclass(frozen=True)
class Parameter:
    """A parameter with its type and an example, as text."""

    type_name: str
    value: str


@dataclass(frozen=True)
class HonestQuery:
    """One query of the workload.

    Parameters
    ----------
    author, name : str
        Name of the file, and of the query in it.
    tags : tuple of str
        What the query needs.
    reads : tuple of str
        The protected tables that it reads; empty if nobody wrote them down.
    expected : Expected
        What may happen.
    why : str
        Why it may not be answered; empty if it must be.
    parameters : tuple of Parameter
        In the order of their numbers.
    text : str
        The query, without the semicolon.
    """

    author: str
    name: str
    tags: tuple[str, ...]
    reads: tuple[str, ...]
    expected: Expected
    why: str
    parameters: tuple[Parameter, ...]
    text: str


def workload() -> tuple[HonestQuery, ...]:
    """Return all queries to the hospital, by author, in the order of the files."""
    return _queries(FOLDER)


def register_workload() -> tuple[HonestQuery, ...]:
    """Return all queries to the registers, by author, in the order of the files."""
    return _queries(FOLDER / "registers")


@cache
def _queries(folder: Path) -> tuple[HonestQuery, ...]:
    return tuple(
        _query(path.stem, block)
        for path in sorted(folder.glob("*.sql"))
        for block in _BLOCK.split(path.read_text(encoding="utf-8"))[1:]
    )


def _query(author: str, block: str) -> HonestQuery:
    name, *lines = block.strip().splitlines()
    notes = [line.removeprefix("-- ") for line in lines if line.startswith("-- ")]
    text = "\n".join(line for line in lines if not line.startswith("-- "))
    fields = dict(note.split(": ", 1) for note in notes if not note.startswith("$"))
    expected, _, why = fields["expect"].partition(": ")
    parameters = (_PARAMETER.fullmatch(note) for note in notes if note.startswith("$"))
    return HonestQuery(
        author=author,
        name=name,
        tags=_listed(fields.get("tags")),
        reads=_listed(fields.get("reads")),
        expected=Expected(expected),
        why=why,
        parameters=tuple(Parameter(*match.groups()) for match in parameters if match),
        text=text.removesuffix(";"),
    )


def _listed(words: str | None) -> tuple[str, ...]:
    return tuple(words.split(", ")) if words else ()
