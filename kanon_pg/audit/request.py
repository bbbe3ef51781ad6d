"""The arguments of audits, checked before anything is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from kanon_pg.core.json_numbers import is_number, is_whole
from kanon_pg.core.risk import THRESHOLD
from kanon_pg.db.operation import Argument, Operation
from kanon_pg.errors import InputError
from kanon_pg.relations.arguments import (
    DEFAULT_SECONDS,
    AnyRelation,
    Sensitive,
    TimeLimit,
    check_k,
    check_time_limit,
)


@dataclass(frozen=True, slots=True)
class AuditRequest:
    """The arguments of ``kanon_audit``.

    With `details` it adds what a report shows besides the sets: columns, class sizes, risk, releases.
    """

    relation: AnyRelation
    k: Annotated[int, Argument("integer", "Fewest people who may share their values.")]
    columns: Annotated[
        Sequence[str] | None, Argument("name[]", "What to audit, in place of all but identifiers.")
    ] = None
    max_columns: Annotated[int | None, Argument("integer", "Most columns of a set.")] = None
    time_limit: TimeLimit = DEFAULT_SECONDS
    details: bool = False

    def check(self) -> None:
        """Refuse what is wrong whatever the database holds."""
        check_k(self.k)
        check_time_limit(self.time_limit)
        _check_max_columns(self.max_columns)


AUDIT = Operation(AuditRequest)


@dataclass(frozen=True, slots=True)
class IdentifyRequest:
    """The arguments of ``kanon_identify``."""

    relation: AnyRelation
    columns: Annotated[
        Sequence[str] | None, Argument("name[]", "What to choose from, in place of all but identifiers.")
    ] = None
    time_limit: TimeLimit = DEFAULT_SECONDS

    def check(self) -> None:
        """Refuse a time limit that is no time."""
        check_time_limit(self.time_limit)


@dataclass(frozen=True, slots=True)
class AnonymityRequest:
    """The arguments of ``kanon_is_anonymous``."""

    relation: AnyRelation
    k: Annotated[int, Argument("integer", "Fewest people, at least 2.")]
    columns: Annotated[Sequence[str] | None, Argument("name[]", "In place of the quasi-identifiers.")] = None

    def check(self) -> None:
        """Refuse a k that is none."""
        check_k(self.k)


@dataclass(frozen=True, slots=True)
class SuggestRequest:
    """The arguments of ``kanon_suggest``."""

    relation: AnyRelation
    time_limit: Annotated[float, Argument("interval", "For counting.")] = DEFAULT_SECONDS

    def check(self) -> None:
        """Refuse a time limit that is no time."""
        check_time_limit(self.time_limit)


IDENTIFY = Operation(IdentifyRequest)
IS_ANONYMOUS = Operation(AnonymityRequest)
SUGGEST = Operation(SuggestRequest)


def _check_max_columns(number: Any) -> None:
    if number is None:
        return
    if not is_whole(number) or number < 1:
        raise InputError(
            "max_columns must be an integer of at least 1.", hint="Leave it out to search sets of any size."
        )


_EXAMPLE = "It is a share, for example 0.2: a record in a class of fewer than five people exceeds it."


@dataclass(frozen=True, slots=True)
class RiskRequest:
    """The arguments of ``kanon_risk``.

    `uniques_seconds` is for the minimal uniques of one relation; all there are unless given.
    """

    relation: AnyRelation
    columns: Annotated[
        Sequence[str] | None, Argument("name[]", "What an attacker knows, in place of the quasi-identifiers.")
    ] = None
    sensitive: Sensitive = None
    threshold: Annotated[
        float, Argument("double precision", "Risk above which a record counts as being at risk.")
    ] = THRESHOLD
    population: Annotated[
        str | None, Argument("regclass", "Register of the population, with columns of the same names.")
    ] = None
    sampling_fraction: Annotated[
        float | None,
        Argument("double precision", "Share of the population in the table, without a register."),
    ] = None
    time_limit: TimeLimit = DEFAULT_SECONDS
    uniques_seconds: float | None = None

    def check(self) -> None:
        """Refuse what is wrong whatever the database holds."""
        check_time_limit(self.time_limit)
        if not is_number(self.threshold) or not 0 <= self.threshold < 1:
            raise InputError("threshold must be at least 0 and below 1.", hint=_EXAMPLE)
        if self.sampling_fraction is None:
            return
        if not is_number(self.sampling_fraction) or not 0 < self.sampling_fraction <= 1:
            raise InputError(
                "sampling_fraction must be above 0 and at most 1.",
                hint="It is the number of people in the table divided by that in the population.",
            )
        if self.population is not None:
            raise InputError(
                "Both a population table and a sampling fraction are given.", hint="Give one of them."
            )


RISK = Operation(RiskRequest)
