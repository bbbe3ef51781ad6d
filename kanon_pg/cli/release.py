"""Commands on releases: declaring, publishing, refreshing, dropping, listing, comparing, certifying."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from kanon_pg.cli.arguments import (
    Method,
    Patterns,
    Relation,
    Release,
    Seed,
    column_option,
    fields_in,
    k_option,
    read_json,
    read_patterns,
)
from kanon_pg.cli.connection import Dsn, connected, installed
from kanon_pg.cli.interfaces import opened_interface
from kanon_pg.cli.output import Json, errors_as, facts, listing, progress_bar, show, show_done
from kanon_pg.core.privacy_models import DISTANCES, DIVERSITIES
from kanon_pg.core.termination import Termination
from kanon_pg.db.psycopg_adapter import PsycopgDatabase
from kanon_pg.errors import InputError
from kanon_pg.relations.arguments import DEFAULT_SECONDS
from kanon_pg.release import releasing
from kanon_pg.release.certificate import CERTIFICATE
from kanon_pg.release.compare.composition import COMPOSITION, NOT_SEEN, Composition
from kanon_pg.release.declare import linking
from kanon_pg.release.declare.linking import LINK
from kanon_pg.release.plan.request import ANONYMIZE, DECLARE
from kanon_pg.release.publish.report import ReleaseReport
from kanon_pg.tables.complete_file import complete_or_absent


def declare(
    relation: Relation,
    identifiers: Annotated[
        list[str] | None, column_option("--identifier", "Names a person; never published.")
    ] = None,
    quasi_identifiers: Annotated[
        list[str] | None, column_option("--quasi-identifier", "Can be linked with other sources.")
    ] = None,
    sensitive: Annotated[
        list[str] | None,
        column_option("--sensitive", "Must not be learned about a person; published unchanged."),
    ] = None,
    insensitive: Annotated[
        list[str] | None, column_option("--insensitive", "Tells nothing about a person; published unchanged.")
    ] = None,
    entity: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Identifies a person who may have several rows.")
    ] = None,
    weights: Annotated[
        list[str] | None,
        column_option("--weight", "Cost of a suppressed cell.", metavar="COLUMN=NUMBER,..."),
    ] = None,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Record the roles of a table's columns.

    A column that is not mentioned is withheld from releases.
    """
    arguments = fields_in(DECLARE, locals())
    with errors_as(as_json):
        arguments["weights"] = _weights(weights or [])
        with opened_interface(dsn) as interface:
            interface.declare(arguments)
        show_done("declared", relation, as_json)


def undeclare(relation: Relation, dsn: Dsn = None, as_json: Json = False) -> None:
    """Forget the roles of a table's columns.

    Releases stay.
    """
    with errors_as(as_json):
        with opened_interface(dsn) as interface:
            interface.run_on_table("kanon_undeclare", relation)
        show_done("undeclared", relation, as_json)


def link(
    child: Annotated[str, typer.Argument(help="Table whose rows belong to somebody.", metavar="TABLE")],
    parent: Annotated[str, typer.Argument(help="Table that its foreign key refers to.", metavar="PARENT")],
    columns: Annotated[
        list[str] | None, column_option("--column", "Of the foreign key, where several lead there.")
    ] = None,
    foreign_key: Annotated[str | None, typer.Option(metavar="NAME", help="Or its name.")] = None,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Say that the rows of one table belong to the people of another.

    They are those of the row that a foreign key refers to.
    """
    arguments = fields_in(LINK, locals())
    with errors_as(as_json):
        with opened_interface(dsn) as interface:
            interface.link(arguments)
        show_done("linked", child, as_json)


def unlink(relation: Relation, dsn: Dsn = None, as_json: Json = False) -> None:
    """Forget whose people the rows of a table belong to."""
    with errors_as(as_json):
        with opened_interface(dsn) as interface:
            interface.run_on_table("kanon_unlink", relation)
        show_done("unlinked", relation, as_json)


def links(dsn: Dsn = None, as_json: Json = False) -> None:
    """List the links between tables.

    Shows whose people the rows of each table belong to.
    """
    with errors_as(as_json):
        with connected(dsn) as connection, installed(connection):
            found = [ListedLink(**row) for row in linking.links(PsycopgDatabase(connection))]
        show(found, as_json, link_table)


def refresh(release: Release, dsn: Dsn = None, as_json: Json = False) -> None:
    """Bring a release up to date with its table.

    The rules of the last call stay.

    A class that has become smaller than k is withheld; anonymizing anew finds a better release.
    """
    with errors_as(as_json):
        with opened_interface(dsn) as interface, progress_bar(not as_json) as advance:
            advance("refreshing", None)
            interface.run("kanon_refresh", release)
        show_done("refreshed", release, as_json)


def drop(release: Release, dsn: Dsn = None, as_json: Json = False) -> None:
    """Remove a release; the table stays."""
    with errors_as(as_json):
        with opened_interface(dsn) as interface:
            interface.run("kanon_drop", release)
        show_done("dropped", release, as_json)


def erase(
    release: Release,
    person: Annotated[
        list[str],
        typer.Argument(help="Value of the column that identifies people, else those of the primary key."),
    ],
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Erase a person from a release over time, and from remembered versions.

    Delete the person's rows from the table first. A version without their cohorts is published at once.
    """
    with errors_as(as_json):
        with opened_interface(dsn) as interface:
            interface.erase(release, person)
        # who it was stays off the screen and out of logs
        show_done("erased a person from", release, as_json)


def releases(dsn: Dsn = None, as_json: Json = False) -> None:
    """List the releases and their certificates.

    Shows what is proven about each, and how many changes its table has seen since.
    """
    with errors_as(as_json):
        with connected(dsn) as connection, installed(connection):
            found = [ListedRelease(**row) for row in releasing.releases(PsycopgDatabase(connection))]
        show(found, as_json, release_table)


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


@dataclass(frozen=True, slots=True)
class ListedLink:
    """One line of ``kanon links``: fields of ``kanon.links``."""

    child: str
    parent: str
    columns: list[str]
    foreign_key: str | None
    people: str | None
    person: list[str] | None
    linked_by: str
    linked_at: str


def link_table(links: Sequence[ListedLink]) -> Table | str:
    """Lay out links, one per line."""
    if not links:
        return "There are no links yet; `kanon link TABLE PARENT` makes one."
    rows = [
        (
            one.child,
            ", ".join(one.columns),
            one.parent,
            "nobody any more" if one.people is None else f"{one.people} ({', '.join(one.person or ())})",
            one.linked_at[:16],
        )
        for one in links
    ]
    return listing(("table", "by", "refers to", "people", "linked"), rows, frozenset())


@dataclass(frozen=True, slots=True)
class ListedRelease:
    """One line of ``kanon releases``: fields of ``kanon.releases``, and the views of linked tables."""

    release: str
    base: str | None
    tables: list[str]
    k: int
    rows: int
    people: int
    classes: int
    smallest_class: int
    suppressed_share: float
    lower_bound: float | None
    gap: float | None
    optimal: bool
    method: str
    changes_since: int | None
    published_by: str
    published_at: str
    refreshed_at: str | None
    termination: str | None


def release_table(releases: Sequence[ListedRelease]) -> Table | str:
    """Lay out releases, one per line."""
    if not releases:
        return "There are no releases yet; `kanon anonymize TABLE -k 5` makes one."
    headings = ("release", "table", "k", "people", "classes", "suppressed", "gap", "changes", "published")
    rows = [
        (
            one.release,
            "".join((one.base or "(dropped)", *(f"\n  and {name}" for name in one.tables))),
            str(one.k),
            f"{one.people:,}",
            f"{one.classes:,}",
            f"{one.suppressed_share:.1%}",
            _gap(one.gap, one.optimal, None if one.termination is None else Termination(one.termination)),
            "unknown" if one.changes_since is None else f"{one.changes_since:,}",
            one.published_at[:16],
        )
        for one in releases
    ]
    return listing(headings, rows, frozenset({"k", "people", "classes", "suppressed", "gap", "changes"}))


def report_facts(report: ReleaseReport) -> Table:
    """Lay out a report, one fact per line."""
    bound = (
        "nothing proven"
        if report.lower_bound is None
        else f"{report.lower_bound:,.0f} ({report.bound_method})"
    )
    return facts(
        [
            ("release", report.release),
            ("k", f"{report.k} (recounted: at least {report.smallest_class:,} people look the same)"),
            ("rows, people", f"{report.rows:,}, {report.people:,}"),
            ("classes", f"{report.classes:,}, {report.average_class:,.1f} people on average"),
            ("suppressed cells", f"{report.suppressed_cells:,} ({report.suppressed_share:.2%})"),
            ("cost", f"{report.weighted_cost:,.0f}, found by {report.method}"),
            ("proven least cost", bound),
            ("gap", _gap(report.gap, report.optimal)),
            ("search", report.termination.words),
            ("time", f"{report.elapsed:.2f} s"),
        ]
    )


def _gap(gap: float | None, optimal: bool, ended: Termination | None = None) -> str:
    if optimal:
        return "optimal"
    words = "unknown" if gap is None else f"{gap:.1%}"
    return f"{words} ({ended})" if ended is not None and ended.is_cut else words


People = Annotated[int, k_option("Fewest people per class, at least 2.")]
QuasiIdentifiers = Annotated[
    list[str] | None, column_option("--quasi-identifier", "In place of the declared ones.")
]
Sensitive = Annotated[list[str] | None, column_option("--sensitive", "In place of the declared ones.")]
L = Annotated[int | None, typer.Option("--l", metavar="NUMBER", help="l-diversity of the sensitive columns.")]
Diversity = Annotated[
    str | None, typer.Option(help=f"What l means: {', '.join(DIVERSITIES)}.", show_default="frequency")
]
P = Annotated[
    int | None, typer.Option("--p", metavar="NUMBER", help="Fewest different sensitive values in a class.")
]
T = Annotated[
    float | None, typer.Option("--t", metavar="NUMBER", help="t-closeness of the sensitive columns, 0 to 1.")
]
Distance = Annotated[
    str | None, typer.Option(help=f"Distance of t: {' or '.join(DISTANCES)}.", show_default="equal")
]
FewestClasses = Annotated[int | None, typer.Option(help="Make at least so many classes.")]
MostClasses = Annotated[int | None, typer.Option(help="Make at most so many classes.")]
SuppressedRows = Annotated[
    float | None,
    typer.Option(metavar="SHARE", help="Suppress at most so many rows, 0 to 1; for method full_domain."),
]
SameLevel = Annotated[
    list[str] | None,
    column_option("--same-level", "Columns with a hierarchy whose cells have one level in all classes."),
]
Subsets = Annotated[
    int | None,
    typer.Option(metavar="COLUMNS", help="Hide people among k by any so many quasi-identifiers, not by all."),
]
Rules = Annotated[
    str | None,
    typer.Option(
        "--over-time",
        metavar="JSON",
        help="Versions may be compared: rules as a JSON object, '{}' for the usual ones (or @FILE).",
    ),
]
Remember = Annotated[
    int | None,
    typer.Option(
        metavar="VERSIONS",
        help="Keep which row was in which class, so that `kanon composition` can look at as many versions.",
    ),
]
Hierarchies = Annotated[
    list[str] | None,
    typer.Option(
        "--hierarchy",
        metavar="COLUMN=NAME",
        help="Generalize a column by a stored hierarchy (or a JSON object). May be given several times.",
    ),
]
Tables = Annotated[
    list[str] | None, column_option("--table", "Linked to it, and published with it.", metavar="TABLE,...")
]
Pseudonyms = Annotated[
    list[str] | None, column_option("--pseudonym", "Key that is published as a pseudonym.")
]
Rows = Annotated[
    str | None,
    typer.Option(
        metavar="JSON",
        help='Per linked table "unknown" if nobody can know how many rows a person has, or how many are '
        "shown at most.",
    ),
]
Figures = Annotated[
    str | None,
    typer.Option(
        metavar="JSON",
        help="Per linked table and quasi-identifier what a person has of it: one, first, last, count or set.",
    ),
]
Secret = Annotated[
    str | None, typer.Option(metavar="NAME", help="Releases with one secret have the same pseudonyms.")
]
TimeLimit = Annotated[float, typer.Option(metavar="SECONDS", help="For the search for better solutions.")]
ReleaseName = Annotated[
    str | None, typer.Option(metavar="NAME", help="Name of the release, if not that of the table.")
]


def anonymize(
    relation: Relation,
    k: People,
    quasi_identifiers: QuasiIdentifiers = None,
    sensitive: Sensitive = None,
    method: Method = "auto",
    l: L = None,  # noqa: E741 - the parameter's standard name
    diversity: Diversity = None,
    p: P = None,
    t: T = None,
    distance: Distance = None,
    fewest_classes: FewestClasses = None,
    most_classes: MostClasses = None,
    suppressed_rows: SuppressedRows = None,
    same_level: SameLevel = None,
    subsets: Subsets = None,
    over_time: Rules = None,
    remember: Remember = None,
    patterns: Patterns = None,
    hierarchies: Hierarchies = None,
    time_limit: TimeLimit = DEFAULT_SECONDS,
    release: ReleaseName = None,
    tables: Tables = None,
    pseudonyms: Pseudonyms = None,
    rows: Rows = None,
    figures: Figures = None,
    secret: Secret = None,
    seed: Seed = None,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Publish a k-anonymous release of a table.

    It is a view in schema safe, with --table several that join. Prints what is proven about it. Interrupting
    it (Ctrl-C) leaves everything as it was.
    """
    arguments = fields_in(ANONYMIZE, locals())
    with errors_as(as_json):
        arguments["patterns"] = read_patterns(patterns)
        arguments["hierarchies"] = _hierarchies(hierarchies or [])
        for name, given, example in (
            ("over_time", over_time, "--over-time '{}'"),
            ("rows", rows, """--rows '{"lab_results": "unknown"}'"""),
            ("figures", figures, """--figures '{"admissions": {"admitted": "first"}}'"""),
        ):
            arguments[name] = None if given is None else read_json(given, name, example=example)
        with opened_interface(dsn) as interface, progress_bar(not as_json) as advance:
            report = interface.anonymize(arguments, advance)
        show(report, as_json, report_facts)


def _hierarchies(given: list[str]) -> dict[str, Any] | None:
    hierarchies: dict[str, Any] = {}
    for text in given:
        column, separator, requested = text.partition("=")
        if not separator or not requested:
            raise InputError(
                "A hierarchy is not written COLUMN=NAME or COLUMN=JSON.",
                hint="For example: --hierarchy age=ages",
            )
        try:
            hierarchies[column] = json.loads(requested) if requested.lstrip().startswith("{") else requested
        except ValueError:
            raise InputError(
                "The JSON object of a hierarchy is not valid.",
                hint='For example: --hierarchy \'age={"hierarchy": "ages", "lowest": 1}\'',
            ) from None
    return hierarchies or None


@dataclass(frozen=True, slots=True)
class WrittenCertificate:
    """What a certificate proves, and where it is."""

    release: str
    path: str
    k: int
    rows: int
    row_types: int
    cost: float
    lower_bound: float
    gap: float
    bytes: int


def certificate(
    release: Release,
    file: Annotated[
        Path | None,
        typer.Argument(help="File to write.", show_default="the release's name and .certificate.json"),
    ] = None,
    time_limit: Annotated[
        float,
        typer.Option(metavar="SECONDS", help="For a search for a proof, if what was stored is none."),
    ] = DEFAULT_SECONDS,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Write what proves the bound of a release, without values, to a file.

    Others can check the file with a program of their own. It tells which rows of the table have equal
    values: keep it as safe as the table itself. Only your account may read the file, which is replaced if
    it exists.
    """
    arguments = fields_in(CERTIFICATE, locals())
    with errors_as(as_json):
        with opened_interface(dsn) as interface, progress_bar(not as_json) as advance:
            text = interface.certificate(arguments, advance)
        show(_written(text, file), as_json, _certified)


def _written(text: str, file: Path | None) -> WrittenCertificate:
    found = json.loads(text)
    name: str = found["release"]
    path = Path(f"{name.replace('/', '_')}.certificate.json") if file is None else file
    with complete_or_absent(path, "The certificate", private=True) as made:
        made.write(text.encode())
    cost, bound = found["cost"], found["lower_bound"]
    return WrittenCertificate(
        release=name,
        path=str(path),
        k=found["k"],
        rows=found["rows"],
        row_types=len(found["row_types"]),
        cost=cost,
        lower_bound=bound,
        gap=(cost - bound) / cost if cost else 0.0,
        bytes=len(text.encode()),
    )


def _certified(written: WrittenCertificate) -> Table:
    return facts(
        [
            ("release", written.release),
            ("k", str(written.k)),
            ("rows, row types", f"{written.rows:,}, {written.row_types:,}"),
            ("cost", f"{written.cost:,.0f}"),
            ("proven least cost", f"{written.lower_bound:,.0f} (gap {written.gap:.2%})"),
            ("file", f"{written.path} ({written.bytes:,} bytes)"),
        ]
    )


_HEADINGS = ("readers of", "k", "people", "below k", "fewest candidates", "average", "not seen")


def composition(
    releases: Annotated[
        list[str], typer.Argument(help="Releases of one table, and remembered versions: patients@3.")
    ],
    k: Annotated[int | None, k_option("Fewest people.", show_default="their least k")] = None,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Say what several releases of a table, put side by side, tell about people.

    For all of them, each pair (the worst first) and each by itself: among how many people the person with
    the fewest is hidden, and how many people are among fewer than k. Shows counts only.
    """
    arguments = fields_in(COMPOSITION, locals())
    with errors_as(as_json):
        with opened_interface(dsn) as interface, progress_bar(not as_json) as advance:
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
        )
        for one in found
    ]
    return Group(listing(_HEADINGS, rows, frozenset(_HEADINGS) - {"readers of"}), Text(NOT_SEEN, style="dim"))
