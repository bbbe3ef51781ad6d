"""Time and progress of a search."""

from __future__ import annotations

import time
from collections.abc import Callable

Progress = Callable[[str, float | None], None]
"""Receives the name of a phase and the share done (0 to 1, or None); may raise to cancel."""


class TimeOver(Exception):
    """Ends a stage of a search that cannot be cut short by looking at the clock itself."""


def no_progress(phase: str, share: float | None) -> None:
    """Ignore progress."""


class Clock:
    """Says when the time of a search is over, and passes progress on; what that raises ends the search."""

    def __init__(self, seconds: float | None = None, progress: Progress = no_progress) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds
        self._progress = progress
        self._phase = "prepare"
        self._raises = False
        self._looks = [False]  # shared with the clocks that are made from this one

    @property
    def has_cut(self) -> bool:
        """Whether a search looked at this clock, or one made from it, after its time: it has more to do."""
        return self._looks[0]

    def is_over(self) -> bool:
        """Return whether the time has passed; to be called only where there is more to do."""
        is_over = self._end is not None and time.monotonic() >= self._end
        self._looks[0] = self._looks[0] or is_over
        return is_over

    def cut(self) -> None:
        """Note that the time ended something that looks at no clock, or a little before it was over."""
        self._looks[0] = True

    def left(self) -> float | None:
        """Return the seconds that are left, None without a limit."""
        return None if self._end is None else max(0.0, self._end - time.monotonic())

    def part(self, share: float) -> Clock:
        """Return a clock for a share of the time that is left, from 0 to 1; it reports to the same place."""
        left = self.left()
        return self._derived(None if left is None else share * left)

    def limited_to(self, seconds: float) -> Clock:
        """Return a clock that ends after some seconds if time is limited, else one that has no end, either.

        Searches that end by effort get it: without a limit equal input gives equal results.
        """
        left = self.left()
        return self._derived(None if left is None else min(left, seconds))

    def without(self, seconds: float) -> Clock:
        """Return a clock that ends so many seconds earlier; it reports to the same place."""
        left = self.left()
        return self._derived(None if left is None else max(0.0, left - seconds))

    def without_end(self) -> Clock:
        """Return a clock without an end that reports to the same place: first solutions are finished."""
        return self._derived(None)

    def raising(self) -> Clock:
        """Return a clock with the same end whose reports raise `TimeOver` once that has passed."""
        raising = self._derived(None)
        raising._end, raising._raises = self._end, True
        return raising

    def _derived(self, seconds: float | None) -> Clock:
        derived = Clock(seconds, self._progress)
        derived._looks = self._looks
        return derived

    def report(self, phase: str, share: float | None) -> None:
        """Pass progress on."""
        self._phase = phase
        self._progress(phase, share)
        if self._raises and self.is_over():
            raise TimeOver

    def heartbeat(self) -> None:
        """Say that the current phase goes on."""
        self.report(self._phase, None)


class Schedule:
    """How far a search has come that ends after some effort, or earlier when its time is over.

    Parameters
    ----------
    clock : Clock
        Gets reports; its end is that of the search.
    phase : str
        What is reported.
    effort : int
        In units of the search: the same on every machine.
    """

    def __init__(self, clock: Clock, phase: str, effort: int) -> None:
        self._clock, self._phase, self._effort = clock, phase, effort
        self._seconds, self._used = clock.left(), 0

    def is_over(self) -> bool:
        """Return whether effort or time are used up."""
        return self._used >= self._effort or self._clock.is_over()

    def done(self) -> float:
        """Return and report the share of the effort that is used, or of the time if that passes faster."""
        done = self._used / self._effort
        if self._seconds:
            done = max(done, 1.0 - (self._clock.left() or 0.0) / self._seconds)
        self._clock.report(self._phase, done)
        return done

    def at_most(self, effort: int) -> int:
        """Return how much of some effort is left."""
        return min(effort, self._effort - self._used)

    def spend(self, effort: int) -> None:
        """Count effort as used."""
        self._used += effort
