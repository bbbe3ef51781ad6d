"""What a report consists of: sections of sentences, figures and the tables behind them.

Charts and tables hold counts and column names, never a person's values.
"""

from __future__ import annotations

from dataclasses import dataclass
from xml.etree.ElementTree import Element


@dataclass(frozen=True, slots=True)
class Table:
    """Figures in rows and columns.

    Parameters
    ----------
    caption : str
        What it is about.
    headings : tuple of str
        One per column.
    rows : tuple of tuple of str
        Cells as they are shown; the first of each row is its heading.
    texts : int
        So many columns, from the left, hold text; the others hold numbers, aligned to the right.
    note : str
        What is left out, and by which rule; empty if nothing is.
    """

    caption: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    texts: int = 1
    note: str = ""


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing with the text that stands for it.

    Parameters
    ----------
    name : str
        Part of identifiers in the page: lower-case letters and hyphens.
    title : str
        What it shows.
    description : str
        The same for those who cannot see it: what can be read off it.
    drawing : Element
        Inline SVG without title and description.
    table : Table
        The figures behind it.
    note : str
        What is left out, and by which rule; empty if nothing is.
    """

    name: str
    title: str
    description: str
    drawing: Element
    table: Table
    note: str = ""


@dataclass(frozen=True, slots=True)
class Statement:
    """SQL to run.

    Parameters
    ----------
    why : str
        What it is good for.
    sql : str
        The statement, names quoted.
    """

    why: str
    sql: str


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a report under a heading.

    Parameters
    ----------
    name : str
        Anchor: lower-case letters and hyphens.
    title : str
        Heading.
    sentences : tuple of str
        Said first.
    figures : tuple of Figure
        Each with its table.
    tables : tuple of Table
        Tables that stand for themselves.
    statements : tuple of Statement
        What to run.
    """

    name: str
    title: str
    sentences: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()
    tables: tuple[Table, ...] = ()
    statements: tuple[Statement, ...] = ()


@dataclass(frozen=True, slots=True)
class KeyFigure:
    """A number that is shown large.

    Parameters
    ----------
    value : str
        The number.
    meaning : str
        What it counts.
    is_bad : bool
        Whether it speaks of people at risk.
    """

    value: str
    meaning: str
    is_bad: bool = False


@dataclass(frozen=True, slots=True)
class Document:
    """A whole report.

    Parameters
    ----------
    title : str
        Heading of the page.
    subtitle : str
        What was audited.
    verdict : str
        The most important sentence.
    is_bad : bool
        Whether people are at risk.
    sentences : tuple of str
        What was found, the most important first.
    advice : str
        What to do, in a sentence.
    key_figures : tuple of KeyFigure
        Shown large.
    sections : tuple of Section
        In order.
    made : str
        When and by what it was made.
    """

    title: str
    subtitle: str
    verdict: str
    is_bad: bool
    sentences: tuple[str, ...]
    advice: str
    key_figures: tuple[KeyFigure, ...]
    sections: tuple[Section, ...]
    made: str
