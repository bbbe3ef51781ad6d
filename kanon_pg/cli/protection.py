"""The commands ``protect`` and ``unprotect``: which tables answer queries."""

from __future__ import annotations

from typing import Annotated

import typer

from kanon_pg.cli.arguments import Relation, k_option, read_json
from kanon_pg.cli.connection import Dsn
from kanon_pg.cli.interfaces import opened_interface
from kanon_pg.cli.output import Json, errors_as, show_done


def protect(
    relation: Relation,
    k: Annotated[int, k_option("Fewest people behind every part of an answer, 2 to 100.")] = 5,
    options: Annotated[
        str | None, typer.Option(metavar="JSON", help="Further rules, noise among them; @FILE reads a file.")
    ] = None,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Let analysts ask about a table.

    At least k people stand behind every part of an answer. Protecting it again replaces its rules.
    """
    with errors_as(as_json):
        rules = None if options is None else read_json(options, "options", example='{"mode": "reject"}')
        with opened_interface(dsn) as interface:
            interface.protect({"relation": relation, "k": k, "options": rules})
        show_done("protected", relation, as_json)


def unprotect(relation: Relation, dsn: Dsn = None, as_json: Json = False) -> None:
    """Let nobody ask about a table any more.

    The record of answers stays.
    """
    with errors_as(as_json):
        with opened_interface(dsn) as interface:
            interface.run_on_table("kanon_unprotect", relation)
        show_done("unprotected", relation, as_json)
