"""Commands on releases: ``declare``, ``undeclare``, ``anonymize``, ``refresh``, ``drop``, ``releases``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from kanon_pg.cli.connection import Dsn, connected, installed
from kanon_pg.cli.doors import ClientDoor, Door, Roles, ServerDoor
from kanon_pg.cli.output import Json, errors_as, progress_bar, show
from kanon_pg.cli.release_tables import release_list, release_table, report_facts
from kanon_pg.core.request import DISTANCES, DIVERSITIES, METHODS
from kanon_pg.db.psycopg_adapter import PsycopgDatabase
from kanon_pg.errors import InputError
from kanon_pg.release import service

METHOD_HELP = f"How to solve: {', '.join(METHODS)}."

Client = Annotated[
    bool,
    typer.Option("--client", help="Work from here, for a server without Python; same rules, same result."),
]
Relation = Annotated[
    str, typer.Argument(help="Table or view, as in SQL: name or schema.name.", metavar="TABLE")
]
Release = Annotated[
    str,
    typer.Argument(
        help="Name of the release as `kanon releases` shows it, or its view as in SQL: safe.name."
    ),
]


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


@contextmanager
def _door(dsn: str | None, client: bool) -> Iterator[Door]:
    with connected(dsn) as connection:
        yield ClientDoor(connection) if client else ServerDoor(connection)


def _columns(option: str, help_text: str) -> Any:
    return typer.Option(option, metavar="COLUMN", help=help_text + " May be given several times.")


def declare(
    relation: Relation,
    identifier: Annotated[
        list[str] | None, _columns("--identifier", "Names a person; never published.")
    ] = None,
    quasi_identifier: Annotated[
        list[str] | None, _columns("--quasi-identifier", "Can be linked with other sources.")
    ] = None,
    sensitive: Annotated[
        list[str] | None, _columns("--sensitive", "Must not be learned about a person; published unchanged.")
    ] = None,
    insensitive: Annotated[
        list[str] | None, _columns("--insensitive", "Tells nothing about a person; published unchanged.")
    ] = None,
    entity: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Identifies a person who may have several rows.")
    ] = None,
    weight: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=NUMBER", help="Cost of a suppressed cell. May be given several times."),
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
        with _door(dsn, client) as door:
            door.declare(relation, roles)
        _show_done("declared", relation, as_json)


def undeclare(relation: Relation, client: Client = False, dsn: Dsn = None, as_json: Json = False) -> None:
    """Forget the roles of a table's columns.

    Releases stay.
    """
    with errors_as(as_json):
        with _door(dsn, client) as door:
            door.undeclare(relation)
        _show_done("undeclared", relation, as_json)


def anonymize(
    relation: Relation,
    k: Annotated[int, typer.Argument(help="Fewest people per class, at least 2.", metavar="K")],
    quasi_identifier: Annotated[
        list[str] | None, _columns("--quasi-identifier", "In place of the declared ones.")
    ] = None,
    sensitive: Annotated[list[str] | None, _columns("--sensitive", "In place of the declared ones.")] = None,
    method: Annotated[str, typer.Option(help=METHOD_HELP)] = "auto",
    l: Annotated[  # noqa: E741 - the parameter's standard name
        int | None, typer.Option("--l", metavar="NUMBER", help="l-diversity of the sensitive columns.")
    ] = None,
    diversity: Annotated[
        str | None, typer.Option(help=f"What l means: {', '.join(DIVERSITIES)}.", show_default="frequency")
    ] = None,
    p: Annotated[
        int | None,
        typer.Option("--p", metavar="NUMBER", help="Fewest different sensitive values in a class."),
    ] = None,
    t: Annotated[
        float | None,
        typer.Option("--t", metavar="NUMBER", help="t-closeness of the sensitive columns, 0 to 1."),
    ] = None,
    distance: Annotated[
        str | None, typer.Option(help=f"Distance of t: {' or '.join(DISTANCES)}.", show_default="equal")
    ] = None,
    fewest_classes: Annotated[int | None, typer.Option(help="Make at least so many classes.")] = None,
    most_classes: Annotated[int | None, typer.Option(help="Make at most so many classes.")] = None,
    suppressed_rows: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="Suppress at most so many rows, 0 to 1; for method full_domain."),
    ] = None,
    patterns: Annotated[
        str | None,
        typer.Option(metavar="JSON", help="Which columns may be suppressed together; @FILE reads a file."),
    ] = None,
    hierarchy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=NAME",
            help="Generalize a column by a stored hierarchy (or a JSON object). May be given several times.",
        ),
    ] = None,
    time_limit: Annotated[float, typer.Option(metavar="SECONDS", help="For the whole call.")] = 30.0,
    release: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of the release, if not that of the table.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Break ties at random, reproducibly.")] = None,
    client: Client = False,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Publish a k-anonymous release of a table.

    It is a view in schema safe. Prints what is proven about it. Interrupting it (Ctrl-C) leaves
    everything as it was.
    """
    with errors_as(as_json):
        options = {
            "quasi_identifiers": quasi_identifier,
            "sensitive": sensitive,
            "method": method,
            "patterns": None if patterns is None else read_patterns(patterns),
            "hierarchies": _hierarchies(hierarchy or []),
            "time_limit": time_limit,
            "release": release,
            "seed": seed,
            "l": l,
            "p": p,
            "t": t,
            "diversity": diversity,
            "distance": distance,
            "fewest_classes": fewest_classes,
            "most_classes": most_classes,
            "suppressed_rows": suppressed_rows,
        }
        with _door(dsn, client) as door, progress_bar(not as_json) as advance:
            report = door.anonymize(relation, k, options, advance)
        show(report, as_json, report_facts)


def refresh(release: Release, client: Client = False, dsn: Dsn = None, as_json: Json = False) -> None:
    """Bring a release up to date with its table.

    The rules of the last call stay.

    A class that has become smaller than k is withheld; anonymizing anew finds a better release.
    """
    with errors_as(as_json):
        with _door(dsn, client) as door, progress_bar(not as_json) as advance:
            advance("refreshing", None)
            door.refresh(release)
        _show_done("refreshed", release, as_json)


def drop(release: Release, client: Client = False, dsn: Dsn = None, as_json: Json = False) -> None:
    """Remove a release; the table stays."""
    with errors_as(as_json):
        with _door(dsn, client) as door:
            door.drop(release)
        _show_done("dropped", release, as_json)


def releases(dsn: Dsn = None, as_json: Json = False) -> None:
    """List the releases and their certificates.

    Shows what is proven about each, and how many changes its table has seen since.
    """
    with errors_as(as_json):
        with connected(dsn) as connection, installed(connection):
            found = release_list(service.releases(PsycopgDatabase(connection)))
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


def _hierarchies(given: list[str]) -> dict[str, Any] | None:
    hierarchies: dict[str, Any] = {}
    for text in given:
        column, separator, wish = text.partition("=")
        if not separator or not wish:
            raise InputError(
                "A hierarchy is not written COLUMN=NAME or COLUMN=JSON.",
                hint="For example: --hierarchy age=ages",
            )
        try:
            hierarchies[column] = json.loads(wish) if wish.lstrip().startswith("{") else wish
        except ValueError:
            raise InputError(
                "The JSON object of a hierarchy is not valid.",
                hint='For example: --hierarchy \'age={"hierarchy": "ages", "lowest": 1}\'',
            ) from None
    return hierarchies or None


def read_patterns(text: str) -> Any:
    """Return patterns given as JSON, or as ``@FILE`` with JSON in it.

    Raises
    ------
    InputError
        If the file cannot be read or the text is not JSON.
    """
    try:
        content = Path(text[1:]).read_text(encoding="utf-8") if text.startswith("@") else text
        return json.loads(content)
    except OSError as error:
        raise InputError(f"The file of patterns cannot be read: {error.strerror}.") from error
    except ValueError as error:  # not JSON, or not UTF-8
        raise InputError(
            "The patterns are not valid JSON.", hint="For example: --patterns '{\"max_suppressed\": 2}'"
        ) from error
