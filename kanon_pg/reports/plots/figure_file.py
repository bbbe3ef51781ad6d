"""Figures as files, whatever they show, and what all of them look like."""

from __future__ import annotations

import io
from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from kanon_pg.errors import InputError

FORMATS = (".png", ".svg", ".pdf")
"""Suffixes of files that can be written."""

BLUE, SKY_BLUE = "#0072B2", "#56B4E9"
"""Of the palette of Okabe and Ito (2008), which the colour-blind can tell apart."""

TINT = "#cce3f0"
"""A light tint of the blue: opaque, so that a grid does not run through it."""

INK, GREY, FAINT = "#333333", "#666666", "#d9d9d9"

COUNTS = FuncFormatter(lambda value, _: f"{value:,.0f}")
"""Labels of an axis of counts."""


def plain(text: str) -> str:
    """Return a text in which Matplotlib sees no formula."""
    return text.replace("$", r"\$")


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


def write_figure(figure: Figure, path: Path) -> None:
    """Write a figure to a file whose suffix is one of `FORMATS`; one that exists is replaced.

    Raises
    ------
    InputError
        If the suffix is another, or the file cannot be written.
    """
    file_format = figure_format(path)
    content = io.BytesIO()
    figure.savefig(content, format=file_format, dpi=200)
    try:
        path.write_bytes(content.getvalue())
    except OSError as error:
        raise InputError(
            f"The figure cannot be written: {error.strerror}.", hint="Name another file."
        ) from error
