"""The command ``certificate``."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Annotated

import typer
from rich.table import Table

from kanon_pg.cli.arguments import Client, Release, fields_in
from kanon_pg.cli.connection import Dsn
from kanon_pg.cli.interfaces import opened_interface
from kanon_pg.cli.output import Json, errors_as, facts, progress_bar, show
from kanon_pg.errors import InputError
from kanon_pg.relations.arguments import DEFAULT_SECONDS
from kanon_pg.release.certificate import CERTIFICATE


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
    client: Client = False,
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
        with opened_interface(dsn, client) as interface, progress_bar(not as_json) as advance:
            text = interface.certificate(arguments, advance)
        show(_written(text, file), as_json, _certified)


def _written(text: str, file: Path | None) -> WrittenCertificate:
    found = json.loads(text)
    name: str = found["release"]
    path = Path(f"{name.replace('/', '_')}.certificate.json") if file is None else file
    _write(path, text)
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


def _write(path: Path, text: str) -> None:
    """Write a file that this account alone may read; it appears complete or not at all."""
    try:
        with NamedTemporaryFile("w", dir=path.parent, encoding="utf-8", delete=False) as made:
            try:
                made.write(text)
                made.close()
                os.replace(made.name, path)
            except BaseException:
                os.unlink(made.name)
                raise
    except OSError as error:
        raise InputError(
            f"The certificate cannot be written: {error.strerror}.", hint="Name another file."
        ) from error


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
