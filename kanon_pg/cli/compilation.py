"""The command ``compile``, and compiling ahead in other commands."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum
from typing import Annotated

import typer

from kanon_pg.cli.output import Json, errors_as, note, progress_bar, show
from kanon_pg.core.request import KERNELS
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
    """Compile what is not yet compiled; say so on standard error, with a bar if that is a terminal.

    Parameters
    ----------
    sets : collection of str
        Names of `KERNELS`.
    """
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
