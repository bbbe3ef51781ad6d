"""How a search ended."""

from __future__ import annotations

from enum import StrEnum


class Termination(StrEnum):
    """Why a search went no further; text that is none of these is refused (`ValueError`)."""

    OPTIMAL = "optimal"
    """There is nothing better or more to find, proven."""

    GOAL = "goal"
    """The proven gap is as small as requested."""

    EXHAUSTED = "exhausted"
    """Nothing better was found with the effort that the method spends."""

    TIME = "time"
    """The time limit was over: a larger one may give a better answer."""

    MEMORY = "memory"
    """The memory budget ended the search: a larger one may give a better answer."""

    @property
    def words(self) -> str:
        """What it says to readers."""
        return _WORDS[self]

    @property
    def is_cut(self) -> bool:
        """Whether a limit of the caller ended the search, so that the answer is not the full one."""
        return self in (Termination.TIME, Termination.MEMORY)


_WORDS = {
    Termination.OPTIMAL: "proven",
    Termination.GOAL: "within the goal",
    Termination.EXHAUSTED: "nothing better found",
    Termination.TIME: "cut by the time limit",
    Termination.MEMORY: "cut by the memory budget",
}
