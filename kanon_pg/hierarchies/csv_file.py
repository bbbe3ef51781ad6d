"""Reads hierarchies from CSV files: with a header ``level_0,level_1``, or without one and with semicolons."""

from __future__ import annotations

import csv
import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from kanon_pg.errors import InputError

_GZIP_START = b"\x1f\x8b"
_HEADER_START = re.compile(r'"?level_0"?([^\w\r\n])')
"""Begins a header; what follows is the delimiter."""

_SIGN_WITHOUT_HEADER = ";"
_OTHER_SIGNS = ",\t|"


def read_csv(path: Path, delimiter: str | None = None, header: bool | None = None) -> list[list[str | None]]:
    """Return the rows of a file: the value, then its nodes from level 1. An empty field is NULL.

    Parameters
    ----------
    path : Path
        UTF-8, plain or gzipped.
    delimiter : str, optional
        One character; what follows ``level_0`` if the first line begins so, else a semicolon.
    header : bool, optional
        Whether the first line names the columns; it does if it begins with ``level_0``.

    Raises
    ------
    InputError
        If the file cannot be read as such.
    """
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n\0'):
        raise InputError("The delimiter is not one character other than a quote or a line end.")
    try:
        with _opened(path) as file:
            first = file.readline()
            file.seek(0)
            named = _HEADER_START.match(first)
            names = named is not None if header is None else header
            sign = delimiter or (_SIGN_WITHOUT_HEADER if named is None else named[1])
            rows = list(_records(file, sign))
    except OSError as error:
        raise InputError(
            f"The file {path} cannot be read: {error.strerror or 'it may be damaged'}."
        ) from None
    except (UnicodeDecodeError, EOFError, csv.Error):
        # their messages quote the text around the error
        raise InputError(
            "The file cannot be read as CSV in UTF-8.",
            hint="Check the delimiter, the quoting and the encoding.",
        ) from None
    if delimiter is None and named is None and _has_other_delimiter(rows):
        raise InputError(
            "Each line of the file is one field, as it is read with semicolons between fields.",
            hint="Name the delimiter: kanon hierarchy load --delimiter ','.",
        )
    return rows[1:] if names else rows


def _has_other_delimiter(rows: list[list[str | None]]) -> bool:
    """Tell whether every line is a single field that would be several with another usual delimiter."""
    return bool(rows) and all(
        len(row) == 1 and row[0] is not None and any(sign in row[0] for sign in _OTHER_SIGNS) for row in rows
    )


def _opened(path: Path) -> IO[str]:
    with path.open("rb") as raw:
        is_packed = raw.read(len(_GZIP_START)) == _GZIP_START
    if is_packed:
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


def _records(file: IO[str], delimiter: str) -> Iterator[list[str | None]]:
    for record in csv.reader(file, delimiter=delimiter, strict=True):
        if record:
            yield [field or None for field in record]
