"""The command ``composition``."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from kanon_pg.cli.arguments import Client, fields_in
from kanon_pg.cli.connection import Dsn
from kanon_pg.cli.interfaces import opened_interface
from kanon_pg.cli.output import Json, errors_as, listing, progress_bar, show
from kanon_pg.release.composition import COMPOSITION, NOT_SEEN, Composition

_HEADINGS = ("readers of", "k", "people", "below k", "fewest candidates", "average", "not seen", "assumed")


def composition(
    releases: Annotated[
        list[str], typer.Argument(help="Releases of one table, and remembered versions: patients@3.")
    ],
    k: Annotated[
        int | None, typer.Option("--k", metavar="NUMBER", help="Fewest people.", show_default="their least k")
    ] = None,
    client: Client = False,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Say what several releases of a table, put side by side, tell about people.

    For all of them, each pair (the worst first) and each by itself: among how many people the person with
    the fewest is hidden, and how many people are among fewer than k. Shows counts only.
    """
    arguments = fields_in(COMPOSITION, locals())
    with errors_as(as_json):
        with opened_interface(dsn, client) as interface, progress_bar(not as_json) as advance:
            found = interface.composition(arguments, advance)
        show(found, as_json, composition_view)


def composition_view(found: tuple[Composition, ...]) -> RenderableType:
    """Lay out what releases disclose together, and what was not looked at."""
    rows = [
        (
            ", ".join(one.releases),
            f"{one.k}",
            f"{one.people:,}",
            f"{one.people_below:,}",
            "" if one.smallest is None else f"{one.smallest:,}",
            "" if one.average is None else f"{one.average:,.1f}",
            f"{one.unseen_rows:,}",
            f"{one.assumed_rows:,}",
        )
        for one in found
    ]
    return Group(listing(_HEADINGS, rows, frozenset(_HEADINGS) - {"readers of"}), Text(NOT_SEEN, style="dim"))
