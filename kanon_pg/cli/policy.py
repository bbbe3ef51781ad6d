"""The commands ``policy export``, ``policy apply`` and ``policy schema``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from kanon_pg.cli.connection import Dsn, installed
from kanon_pg.cli.interfaces import opened_interface
from kanon_pg.cli.output import Json, errors_as, note, progress_bar, show
from kanon_pg.db.psycopg_adapter import PsycopgDatabase
from kanon_pg.policy.applying import apply as apply_changes
from kanon_pg.policy.applying import changes_of
from kanon_pg.policy.differences import Change
from kanon_pg.policy.document import schema
from kanon_pg.policy.existing import INCOMPLETE, existing
from kanon_pg.policy.file import read_document, written
from kanon_pg.tables.complete_file import complete_or_absent

DIFFERS = 4
"""Exit code if a database is not what its policy says."""


def export(
    file: Annotated[
        Path | None, typer.Argument(help="File to write.", show_default="standard output")
    ] = None,
    values: Annotated[
        bool, typer.Option("--values", help="Write out the values of hierarchies that no builder made.")
    ] = False,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Write what is declared, linked, stored, published, protected and granted, as a policy.

    It is YAML, with --json JSON. It has the names of columns and roles, and the settings of hierarchies, but
    no values of tables; hierarchies that were stored from rows or tables are only named, unless --values
    is given.
    """
    with errors_as(as_json):
        with opened_interface(dsn) as interface, installed(interface.connection):
            contents = interface.hierarchy_content if values else None
            found = existing(PsycopgDatabase(interface.connection), contents)
        for name, release in found["releases"].items():
            if any(
                not isinstance(one, str) and INCOMPLETE in one
                for one in (release.get("hierarchies") or {}).values()
            ):
                note(
                    f"release {name} has a hierarchy of its own, whose settings are not recorded: "
                    "complete it, or store the hierarchy and name it"
                )
        text = f"{json.dumps(found, ensure_ascii=False, indent=2)}\n" if as_json else written(found)
        if file is None or str(file) == "-":
            typer.echo(text, nl=False)
        else:
            with complete_or_absent(file, "The policy") as made:
                made.write(text.encode())
            note(f"the policy is in {file}")


def apply(
    file: Annotated[Path, typer.Argument(help="The policy, in YAML or JSON.")],
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; exit with 4 if anything differs.")
    ] = False,
    prune: Annotated[bool, typer.Option("--prune", help="Remove what the policy does not have.")] = False,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Make a database what a policy says, all of it or nothing.

    Says what it changes. A release is published anew only if its arguments, or the roles of its columns,
    differ. What the policy does not have is shown, and stays unless --prune is given. A section that the
    policy does not have is not looked at.
    """
    with errors_as(as_json):
        policy = read_document(file)
        with opened_interface(dsn) as interface, installed(interface.connection):
            db = PsycopgDatabase(interface.connection)
            wanted, changes = changes_of(db, interface, policy)
            if not check:
                with progress_bar(not as_json) as advance:
                    apply_changes(db, interface, wanted, changes, advance, prune=prune)
        show(changes, as_json, lambda found: _lines(found, check=check, prune=prune))
        if check and changes:
            raise typer.Exit(DIFFERS)


def print_schema(as_json: Json = True) -> None:
    """Print the JSON schema of policies, with which editors complete and check them."""
    del as_json  # it is JSON anyway
    typer.echo(json.dumps(schema(), indent=2))


_SIGNS = {"add": "+", "change": "~", "remove": "-"}


def _lines(changes: Sequence[Change], *, check: bool, prune: bool) -> str:
    if not changes:
        return "The database is what the policy says."
    lines = []
    for one in changes:
        what = f": {one.what}" if one.what else ""
        kept = one.action == "remove" and not check and not prune
        stays = " (not in the policy, stays without --prune)" if kept else ""
        lines.append(f"{_SIGNS[one.action]} {one.kind} {one.name}{what}{stays}")
    return "\n".join(lines)
