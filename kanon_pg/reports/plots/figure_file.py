"""Figures as files, whatever they show."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

from matplotlib.figure import Figure

from kanon_pg.errors import InputError

FORMATS = (".png", ".svg", ".pdf")
"""Suffixes of files that can be written."""


def figure_format(path: Path) -> str:
    """Return the format that a file's name asks for.

    Raises
    ------
    InputError
        If it is none of `FORMATS`, or the folder does not exist.
    """
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise InputError(
            "The figure's name does not say which format it has.", hint=f"End it in {', '.join(FORMATS)}."
        )
    if not path.parent.is_dir():
        raise InputError("The figure's folder does not exist.", hint="Make it first.")
    return suffix.removeprefix(".")


def write_figure(path: Path, draw: Callable[[], Figure]) -> None:
    """Draw a figure and write it to a file, unless the file's name is refused before.

    Parameters
    ----------
    path : Path
        Its suffix is one of `FORMATS`; a file that exists is replaced.
    draw : callable
        Returns the figure.

    Raises
    ------
    InputError
        If the suffix is another, or the file cannot be written.
    """
    file_format = figure_format(path)
    content = io.BytesIO()
    draw().savefig(content, format=file_format, dpi=200)
    try:
        path.write_bytes(content.getvalue())
    except OSError as error:
        raise InputError(
            f"The figure cannot be written: {error.strerror}.", hint="Name another file."
        ) from error
