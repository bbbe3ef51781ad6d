"""What all specs share: how often to measure, where the data are, how figures are written."""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"
PAPERS = DATA.parent / "papers"

ALL_K = (2, 3, 4, 5, 6, 7, 8, 9, 10, 25, 50, 75, 100)
"""The values of k of the paper's tables."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How thoroughly to measure.

    Parameters
    ----------
    repeats : int
        Measured calls per figure, after one that warms up; the median is shown.
    quick : bool
        Fewer values of k and smaller tables.
    figures : Path, optional
        Folder for figures; none are drawn unless given.
    """

    repeats: int
    quick: bool
    figures: Path | None = None

    @property
    def ks(self) -> Sequence[int]:
        """The values of k to measure."""
        return (2, 5, 100) if self.quick else ALL_K


def missing(name: str) -> Table:
    """Return a table that says that the shared data are not there."""
    return table(f"{name}: NOT MEASURED, the data file is not there", ["file"], [[name]])


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Table:
    """Return a printable table; numbers are written with separators, floats with three digits."""
    shown = Table(title=title, title_justify="left")
    for column in columns:
        shown.add_column(column, justify="right")
    for row in rows:
        shown.add_row(*(_written(cell) for cell in row))
    return shown


def _written(cell: Any) -> str:
    if cell is None:
        return "-"
    if isinstance(cell, float):
        return f"{cell:,.3f}"
    return f"{cell:,}" if isinstance(cell, int) else str(cell)


def median_seconds(action: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """Run an action several times; returns the median of the seconds and the last result."""
    seconds, result = [], None
    for _ in range(repeats):
        before = time.perf_counter()
        result = action()
        seconds.append(time.perf_counter() - before)
    return statistics.median(seconds), result
