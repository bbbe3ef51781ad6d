"""The commands ``install``, ``uninstall``, ``check`` and ``compile``; other commands compile ahead, too."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from kanon_pg.admin.cluster.programs import installed as installed_servers
from kanon_pg.admin.install.check import TRIAL_QUASI_IDENTIFIERS, CheckItem, check_database
from kanon_pg.admin.install.extension import folders_of, write_extension
from kanon_pg.admin.install.installer import InstallReport
from kanon_pg.admin.install.installer import install as install_into
from kanon_pg.admin.install.uninstaller import UninstallReport
from kanon_pg.admin.install.uninstaller import uninstall as uninstall_from
from kanon_pg.cli.connection import DsnArgument, chosen_dsn, connected
from kanon_pg.cli.output import Json, errors_as, note, progress_bar, show
from kanon_pg.core.solving import KERNELS
from kanon_pg.db.protocol import Database
from kanon_pg.db.psycopg_adapter import PsycopgDatabase, pinned
from kanon_pg.errors import InstallError
from kanon_pg.release.plan.base import OWNER
from kanon_pg.release.plan.request import AnonymizeRequest
from kanon_pg.release.releasing import anonymize
from kanon_pg.runner.compilation import CompilationReport, compile_ahead


class Solvers(StrEnum):
    """A set of solvers that is compiled together."""

    PLAIN = "plain"
    MODELS = "models"
    RECODING = "recoding"
    AUDIT = "audit"
    PAIRS = "pairs"


def compile_(
    solvers: Annotated[
        list[Solvers] | None,
        typer.Argument(help="What to compile: 'audit', for one. Everything where nothing is named."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Compile the solvers, once for every account of this machine.

    They are kept beside the package, where every account that may read the package finds them: also the
    server's. Compiling takes a minute or two; what is compiled already is left as it is. Other commands that
    install do it by themselves.
    """
    with errors_as(as_json):
        show(compiled_ahead(solvers or KERNELS, quiet=as_json), as_json, _text)


def compiled_ahead(sets: Collection[str] = KERNELS, *, quiet: bool = False) -> CompilationReport:
    """Compile what is not yet compiled; say so on standard error, with a bar if that is a terminal."""
    said = quiet
    with progress_bar(not quiet) as advance:

        def progress(phase: str, share: float | None) -> None:
            nonlocal said
            if not said:
                said = True
                note("Compiling the solvers, once for this installation; this takes a minute or two.")
            advance(phase, share)

        return compile_ahead(progress, sets)


def _text(report: CompilationReport) -> str:
    for_whom = (
        "every account" if report.shared else "this account alone, which may not write beside the package"
    )
    what = "Compiled the solvers" if report.compiled else "The solvers are compiled"
    return f"{what} for {for_whom}: {report.store}"


def install(
    dsn: DsnArgument = None,
    api_schema: Annotated[
        str | None, typer.Option(help="Schema of the kanon_... functions.", show_default="public")
    ] = None,
    python_path: Annotated[
        list[str] | None, typer.Option(help="Folder on the server's machine with kanon_pg; repeatable.")
    ] = None,
    runtime_dir: Annotated[
        Path | None, typer.Option(help="Where to copy the package to if the server's user cannot read it.")
    ] = None,
    in_server: Annotated[
        bool | None,
        typer.Option(
            "--server/--client",
            help="Insist on functions in the server, or install only what this client needs.",
            show_default="functions if the server can have them",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Install kanon into a database, or bring it up to date.

    Declarations and releases stay. If anything is missing, all of it is listed, and nothing is changed. The
    solvers are compiled first, unless they are or the package is at --python-path.
    """
    with errors_as(as_json):
        if not python_path:
            compiled_ahead(quiet=as_json)
        folder = runtime_dir.absolute() if runtime_dir is not None else None
        report = install_into(
            chosen_dsn(dsn),
            api_schema=api_schema,
            python_path=python_path or None,
            plpython=in_server,
            runtime_folder=folder,
        )
        show(report, as_json, _install_text)


def uninstall(
    dsn: DsnArgument = None,
    cascade: Annotated[
        bool, typer.Option("--cascade", help="Also drop objects of users that depend on releases.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Remove kanon from a database with all releases; your own tables stay."""
    with errors_as(as_json):
        show(uninstall_from(chosen_dsn(dsn), cascade=cascade), as_json, _uninstall_text)


def check(dsn: DsnArgument = None, as_json: Json = False) -> None:
    """Prove that everything works in a database, in seconds; leaves nothing behind.

    The exit code is 1 if anything is not as it must be.
    """
    with errors_as(as_json):
        with (
            connected(dsn, as_server=True) as connection,
            pinned(connection),
            progress_bar(not as_json) as advance,
        ):
            advance("checking", None)
            db = PsycopgDatabase(connection)
            items = check_database(db, lambda relation, release: _trial(db, relation, release))
            connection.rollback()
        show(items, as_json, _check_text)
        if not all(item.ok for item in items):
            raise typer.Exit(1)


def install_extension(
    pg_config: Annotated[
        Path | None, typer.Option(help="The server's program pg_config.", show_default="that of --server")
    ] = None,
    server: Annotated[
        int | None,
        typer.Option(help="Major version of the server.", show_default="the only one with PL/Python"),
    ] = None,
    python_path: Annotated[
        list[str] | None, typer.Option(help="Folder on the server's machine with kanon_pg; repeatable.")
    ] = None,
    runtime_dir: Annotated[
        Path | None, typer.Option(help="Where to copy the package to if not everybody can read it.")
    ] = None,
    root: Annotated[
        Path, typer.Option(help="Put in front of the server's folder; for those who make packages.")
    ] = Path("/"),
    as_json: Json = False,
) -> None:
    """Write the files of the extension kanon_pg into a server's folder, for CREATE EXTENSION.

    Needs the right to write there, so mostly root. Databases that have the extension already are brought up
    to date with ALTER EXTENSION kanon_pg UPDATE.
    """
    with errors_as(as_json):
        folders = folders_of(pg_config or _pg_config(server))
        if not python_path:
            compiled_ahead(quiet=as_json)
        written = write_extension(
            folders,
            python_path=python_path or None,
            runtime_folder=runtime_dir.absolute() if runtime_dir is not None else None,
            root=root.absolute(),
        )
        show([str(path) for path in written], as_json, lambda paths: _extension_text(paths, folders.major))


def _extension_text(paths: list[str], major: int) -> str:
    lines = [f"wrote {path}" for path in paths]
    return "\n".join(
        [*lines, f"Try, in a database of PostgreSQL {major}: CREATE EXTENSION kanon_pg CASCADE;"]
    )


def _pg_config(major: int | None) -> Path:
    found = [one for one in installed_servers() if one.has_python and major in (None, one.major)]
    if len(found) == 1:
        return found[0].program("pg_config")
    if found:
        raise InstallError(
            "Several servers with PL/Python are installed: "
            + ", ".join(str(one.major) for one in found)
            + ".",
            hint=f"Choose one: kanon extension install --server {found[0].major}",
        )
    which = "No server" if major is None else f"No PostgreSQL {major}"
    raise InstallError(
        f"{which} with PL/Python is installed on this machine.",
        hint="Debian and Ubuntu: apt install postgresql-plpython3-NN; or name the server's program with "
        "--pg-config.",
    )


def _trial(db: Database, relation: str, release: str) -> None:
    request = AnonymizeRequest(
        relation=relation, k=2, release=release, quasi_identifiers=TRIAL_QUASI_IDENTIFIERS
    )
    anonymize(db, request, role=OWNER)


def _install_text(report: InstallReport) -> str:
    before = report.previous_version
    was = "" if before is None else " again" if before == report.version else f", before: {before}"
    lines = [f"Installed kanon {report.version} into database {report.database}{was}."]
    if report.plpython:
        lines.append(f"Try: SELECT * FROM {report.api_schema}.kanon_help();")
    else:
        lines.append("For kanon_pg.client only; there are no functions in the server.")
    lines += [f"missing: {problem.what} -> {problem.fix}" for problem in report.missing]
    return "\n".join([*lines, *(f"note: {note}" for note in report.notes)])


def _uninstall_text(report: UninstallReport) -> str:
    if not report.was_installed:
        lines = [f"kanon is not installed in database {report.database}."]
    else:
        lines = [f"Removed kanon from database {report.database}, with {len(report.releases)} release(s)."]
    return "\n".join([*lines, *(f"note: {note}" for note in report.notes)])


def _check_text(items: list[CheckItem]) -> str:
    lines: list[Any] = []
    for item in items:
        lines.append(f"{'ok    ' if item.ok else 'NOT OK'}  {item.item}: {item.detail}")
        if item.hint:
            lines.append(f"        hint: {item.hint}")
    return "\n".join(lines)
