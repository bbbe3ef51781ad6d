"""What is asked of an audit, checked before anything is read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kanon_pg.core.risk import THRESHOLD
from kanon_pg.errors import InputError
from kanon_pg.release.request import DEFAULT_SECONDS, check_k


@dataclass(frozen=True, slots=True)
class AuditCall:
    """The arguments of ``kanon_audit``.

    Parameters
    ----------
    relation : str or None
        The table or view, as SQL writes it.
    k : int
        Fewest people per class, >= 2.
    columns : sequence of str, optional
        What to audit; all columns that are no identifiers unless given.
    max_columns : int, optional
        Most columns of a set, >= 1; any number unless given.
    time_limit : float
        Seconds for searching, > 0; counting is not part of it.
    details : bool
        Whether to add what a report shows beside the sets: columns, class sizes, risk, releases.
    """

    relation: str | None
    k: int
    columns: Sequence[str] | None = None
    max_columns: int | None = None
    time_limit: float = DEFAULT_SECONDS
    details: bool = False

    def check(self) -> None:
        """Refuse arguments that can be judged without the database.

        Raises
        ------
        InputError
            With a sentence for the first argument that is wrong.
        """
        check_k(self.k)
        check_time_limit(self.time_limit)
        _check_max_columns(self.max_columns)


def _check_max_columns(number: Any) -> None:
    if number is None:
        return
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise InputError(
            "max_columns must be an integer of at least 1.", hint="Leave it out to search sets of any size."
        )


def check_time_limit(time_limit: Any) -> None:
    """Refuse a time limit that is no time.

    Raises
    ------
    InputError
        If it is NULL, infinite, or not above 0.
    """
    if time_limit is None or not math.isfinite(time_limit) or time_limit <= 0:
        raise InputError(
            "time_limit must be a positive interval.", hint="For example: time_limit => '30 seconds'."
        )


_EXAMPLE = "It is a share, for example 0.2: a record in a class of fewer than five people exceeds it."


@dataclass(frozen=True, slots=True)
class RiskCall:
    """The arguments of ``kanon_risk``.

    Parameters
    ----------
    relation : str or None
        The table, view or release, as SQL writes it.
    columns : sequence of str, optional
        What an attacker knows; the quasi-identifiers unless given.
    sensitive : sequence of str, optional
        Columns whose homogeneous classes count; the declared ones unless given.
    threshold : float
        Risk above which a record counts, 0 <= threshold < 1.
    population : str, optional
        A register of the population with columns of the same names and types.
    sampling_fraction : float, optional
        Share of the population in the relation, in (0, 1].
    time_limit : float
        Seconds for searching, > 0; counting is not part of it.
    uniques_seconds : float, optional
        Most seconds for the minimal uniques of one relation; all there are unless given.
    """

    relation: str | None
    columns: Sequence[str] | None = None
    sensitive: Sequence[str] | None = None
    threshold: float = THRESHOLD
    population: str | None = None
    sampling_fraction: float | None = None
    time_limit: float = DEFAULT_SECONDS
    uniques_seconds: float | None = None

    def check(self) -> None:
        """Refuse arguments that can be judged without the database.

        Raises
        ------
        InputError
            With a sentence for the first argument that is wrong.
        """
        check_time_limit(self.time_limit)
        if not _is_number(self.threshold) or not 0 <= self.threshold < 1:
            raise InputError("threshold must be at least 0 and below 1.", hint=_EXAMPLE)
        if self.sampling_fraction is None:
            return
        if not _is_number(self.sampling_fraction) or not 0 < self.sampling_fraction <= 1:
            raise InputError(
                "sampling_fraction must be above 0 and at most 1.",
                hint="It is the number of people in the table divided by that in the population.",
            )
        if self.population is not None:
            raise InputError(
                "Both a population table and a sampling fraction are given.", hint="Give one of them."
            )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
