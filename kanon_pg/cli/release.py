"""Commands on releases: ``declare``, ``undeclare``, ``refresh``, ``drop``, ``releases``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from kanon_pg.cli.arguments import Client, Relation, Release, column_list
from kanon_pg.cli.connection import Dsn, connected, installed
from kanon_pg.cli.interfaces import Roles, opened_interface
from kanon_pg.cli.output import Json, errors_as, progress_bar, show
from kanon_pg.cli.release_tables import release_list, release_table
from kanon_pg.db.psycopg_adapter import PsycopgDatabase
from kanon_pg.errors import InputError
from kanon_pg.release import releasing


@dataclass(frozen=True, slots=True)
class Done:
    """Something that was done and has no figures to report.

    Parameters
    ----------
    action : str
        What was done.
    object : str
        What it was done to.
    """

    action: str
    object: str


def declare(
    relation: Relation,
    identifier: Annotated[
        list[str] | None, column_list("--identifier", "Names a person; never published.")
    ] = None,
    quasi_identifier: Annotated[
        list[str] | None, column_list("--quasi-identifier", "Can be linked with other sources.")
    ] = None,
    sensitive: Annotated[
        list[str] | None,
        column_list("--sensitive", "Must not be learned about a person; published unchanged."),
    ] = None,
    insensitive: Annotated[
        list[str] | None, column_list("--insensitive", "Tells nothing about a person; published unchanged.")
    ] = None,
    entity: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Identifies a person who may have several rows.")
    ] = None,
    weight: Annotated[
        list[str] | None,
        column_list("--weight", "Cost of a suppressed cell.", metavar="COLUMN=NUMBER,..."),
    ] = None,
    client: Client = False,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Record the roles of a table's columns.

    A column that is not mentioned is withheld from releases.
    """
    with errors_as(as_json):
        roles = Roles(
            identifiers=identifier or (),
            quasi_identifiers=quasi_identifier or (),
            sensitive=sensitive or (),
            insensitive=insensitive or (),
            entity=entity,
            weights=_weights(weight or []),
        )
        with opened_interface(dsn, client) as interface:
            interface.declare(relation, roles)
        _show_done("declared", relation, as_json)


def undeclare(relation: Relation, client: Client = False, dsn: Dsn = None, as_json: Json = False) -> None:
    """Forget the roles of a table's columns.

    Releases stay.
    """
    with errors_as(as_json):
        with opened_interface(dsn, client) as interface:
            interface.undeclare(relation)
        _show_done("undeclared", relation, as_json)


def refresh(release: Release, client: Client = False, dsn: Dsn = None, as_json: Json = False) -> None:
    """Bring a release up to date with its table.

    The rules of the last call stay.

    A class that has become smaller than k is withheld; anonymizing anew finds a better release.
    """
    with errors_as(as_json):
        with opened_interface(dsn, client) as interface, progress_bar(not as_json) as advance:
            advance("refreshing", None)
            interface.refresh(release)
        _show_done("refreshed", release, as_json)


def drop(release: Release, client: Client = False, dsn: Dsn = None, as_json: Json = False) -> None:
    """Remove a release; the table stays."""
    with errors_as(as_json):
        with opened_interface(dsn, client) as interface:
            interface.drop(release)
        _show_done("dropped", release, as_json)


def releases(dsn: Dsn = None, as_json: Json = False) -> None:
    """List the releases and their certificates.

    Shows what is proven about each, and how many changes its table has seen since.
    """
    with errors_as(as_json):
        with connected(dsn) as connection, installed(connection):
            found = release_list(releasing.releases(PsycopgDatabase(connection)))
        show(found, as_json, release_table)


def _show_done(action: str, name: str, as_json: bool) -> None:
    show(Done(action, name), as_json, lambda done: f"{done.action} {done.object}")


def _weights(given: list[str]) -> dict[str, float] | None:
    weights = {}
    for text in given:
        column, _, number = text.rpartition("=")
        try:
            weights[column] = float(number)
        except ValueError:
            raise InputError(
                "A weight is not written COLUMN=NUMBER.", hint="For example: --weight zip=2"
            ) from None
    return weights or None
