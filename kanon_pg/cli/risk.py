"""The commands ``risk`` and ``identify``.

How likely people are found again in a table and its releases; which few columns tell rows apart as well as
all columns do.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from kanon_pg import client
from kanon_pg.audit.findings import IdentifyingSet, RiskFigures
from kanon_pg.audit.request import IDENTIFY, RISK
from kanon_pg.cli.arguments import AnyRelation, column_list, fields_in
from kanon_pg.cli.connection import Dsn, answer_of
from kanon_pg.cli.output import Json, errors_as, facts, listing, show
from kanon_pg.core.risk import THRESHOLD
from kanon_pg.relations.arguments import DEFAULT_SECONDS

_MOST_NAMED = 8
"""Columns that are named; JSON has all of them."""


def risk(
    relation: AnyRelation,
    columns: Annotated[
        list[str] | None,
        column_list("--column", "What an attacker knows, in place of the quasi-identifiers."),
    ] = None,
    sensitive: Annotated[
        list[str] | None, column_list("--sensitive", "In place of the declared ones.")
    ] = None,
    threshold: Annotated[
        float, typer.Option(metavar="SHARE", help="Risk above which a record counts as being at risk.")
    ] = THRESHOLD,
    population: Annotated[
        str | None,
        typer.Option(
            metavar="TABLE", help="Register of the population, with columns of the same names and types."
        ),
    ] = None,
    sampling_fraction: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="Share of the population in the table, if there is no register."),
    ] = None,
    time_limit: Annotated[
        float, typer.Option(metavar="SECONDS", help="What is not counted by then is said.")
    ] = DEFAULT_SECONDS,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Say how likely people are found again in a table and in its releases.

    Prosecutor, journalist and marketer risk, people above a threshold, unique people, and classes that give
    a sensitive value away. Needs no more than the right to read; works also where kanon is not installed;
    changes nothing and shows counts and column names only.
    """
    arguments = fields_in(RISK, locals())
    with errors_as(as_json):
        found = answer_of(client.risk, dsn, as_json, arguments)
        show(found, as_json, risk_view)


def risk_view(found: tuple[RiskFigures, ...]) -> Group:
    """Lay out the risk of relations, one after the other.

    Parameters
    ----------
    found : tuple of RiskFigures
        The table first, then its releases.
    """
    parts: list[RenderableType] = []
    for number, figures in enumerate(found):
        title = figures.relation if number == 0 else f"Release {figures.relation}"
        parts += [Text(("\n" if number else "") + title, style="bold"), facts(list(_lines(figures)))]
    return Group(*parts)


def _lines(figures: RiskFigures) -> Iterator[tuple[str, str]]:
    yield "known to the attacker", _named(figures.columns)
    yield "rows, people", f"{figures.rows:,}, {figures.people:,}"
    yield "classes", f"{figures.classes:,}, the smallest of {_people(figures.smallest_class)}"
    yield "prosecutor risk", _chances(figures.prosecutor_risk, figures.prosecutor_average)
    journalist = _chances(figures.journalist_risk, figures.journalist_average)
    yield "journalist risk", f"{journalist} (from: {figures.journalist_basis})"
    yield "marketer risk", f"{figures.marketer_risk:.2%} of the guesses are right"
    yield (
        f"above {figures.threshold:.1%}",
        f"{_people(figures.people_above)} ({figures.share_above:.1%})",
    )
    yield "alone in their class", _people(figures.sample_uniques)
    for size, (people, sets) in enumerate(
        zip(figures.people_by_unique, figures.minimal_uniques, strict=True), start=1
    ):
        columns = "1 column" if size == 1 else f"{size} columns"
        yield f"alone by {columns}", f"{_people(people)}, {sets:,} minimal combinations of values"
    if figures.termination.is_cut:
        yield "alone by more columns", figures.termination.words
    for one in figures.homogeneous:
        classes = "1 class" if one.classes == 1 else f"{one.classes:,} classes"
        yield f"{one.column} is disclosed", f"of {_people(one.people)}, by {classes} of one value"


def _named(columns: tuple[str, ...]) -> str:
    if len(columns) <= _MOST_NAMED:
        return ", ".join(columns)
    return f"{', '.join(columns[:_MOST_NAMED])} and {len(columns) - _MOST_NAMED} more columns"


def _people(number: int) -> str:
    return "1 person" if number == 1 else f"{number:,} people"


def _chances(highest: float, average: float) -> str:
    return f"{highest:.2%} at worst, {average:.2%} on average"


_HEADINGS = ("columns", "size", "kind", "at least", "distinct rows", "distinction", "found by", "search")


def identify(
    relation: AnyRelation,
    columns: Annotated[
        list[str] | None, column_list("--column", "What to choose from, in place of all but identifiers.")
    ] = None,
    time_limit: Annotated[
        float,
        typer.Option(metavar="SECONDS", help="The best set found by then is shown with what is proven."),
    ] = DEFAULT_SECONDS,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Find few columns that tell rows apart as well as all columns do.

    Two sets: the smallest one, with a proof of how few columns are possible, and the one that is left when
    columns are left out one by one. Needs no more than the right to read; works also where kanon is not
    installed; changes nothing and shows names and counts only.
    """
    arguments = fields_in(IDENTIFY, locals())
    with errors_as(as_json):
        found = answer_of(client.identify, dsn, as_json, arguments)
        show(found, as_json, _identifying_table)


def _identifying_table(found: tuple[IdentifyingSet, ...]) -> Table:
    rows = [
        (
            ", ".join(one.columns) or "(none)",
            f"{one.size}",
            one.kind,
            f"{one.at_least}",
            f"{one.distinct_rows:,}",
            f"{one.distinction:.4f}",
            one.method,
            one.termination.words,
        )
        for one in found
    ]
    return listing(_HEADINGS, rows, frozenset(_HEADINGS) - {"columns", "kind", "found by", "search"})
