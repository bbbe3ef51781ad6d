"""Time and progress of a search."""

from __future__ import annotations

import time
from collections.abc import Callable

Progress = Callable[[str, float | None], None]
"""Receives the name of a phase and the share done (0 to 1, or None); may raise to cancel."""


def silent(phase: str, share: float | None) -> None:
    """Ignore progress."""


class Clock:
    """Says when the time of a search is over, and passes progress on.

    Parameters
    ----------
    seconds : float, optional
        Time from now; None for no limit.
    progress : callable, optional
        Called by `report`; whatever it raises ends the search.
    """

    def __init__(self, seconds: float | None = None, progress: Progress = silent) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds
        self._progress = progress
        self._phase = "prepare"

    def is_over(self) -> bool:
        """Return whether the time has passed."""
        return self._end is not None and time.monotonic() >= self._end

    def left(self) -> float | None:
        """Return the seconds that are left, None without a limit."""
        return None if self._end is None else max(0.0, self._end - time.monotonic())

    def part(self, share: float) -> Clock:
        """Return a clock for a share of the time that is left, from 0 to 1; it reports to the same place."""
        left = self.left()
        return Clock(None if left is None else share * left, self._progress)

    def report(self, phase: str, share: float | None) -> None:
        """Pass progress on."""
        self._phase = phase
        self._progress(phase, share)

    def beat(self) -> None:
        """Say that the current phase goes on."""
        self.report(self._phase, None)
