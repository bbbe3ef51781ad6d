"""What a worker does for an audit, and what it answers: the contract between the interfaces and the searches.

Columns are numbers, as the row types have them; the caller knows their names. A task reads its own answer,
which travelled as JSON. The terms (class, violating, minimal, minimum, identifying) are those of
`kanon_pg.worker.audit`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeVar

from kanon_pg.core.risk import MinimalUniques, Risk
from kanon_pg.core.termination import Termination

Answer_co = TypeVar("Answer_co", covariant=True)


class AuditTask(Protocol[Answer_co]):
    """A task for a worker, whose fields are plain JSON values."""

    kind: ClassVar[str]

    def read(self, data: Mapping[str, Any]) -> Answer_co:
        """Rebuild the answer from the fields that travelled."""
        ...


@dataclass(frozen=True, slots=True)
class SetFigures:
    """Figures of a set of columns for some k.

    Distinction and separation are those of Motwani and Xu ("Efficient Algorithms for Masking and Finding
    Quasi-Identifiers", 2007), for n rows of which d differ on the set: a set is alpha-distinct if it becomes
    a key once a share 1 - alpha of the rows is removed, and alpha-separating if a share alpha of all pairs
    of rows differ on it. Both count rows, also where an entity is declared, as in the paper.

    Parameters
    ----------
    classes : int
        Different combinations of values (d), >= 1.
    classes_at_risk : int
        Those shared by fewer than k people.
    smallest_class : int
        Size of the smallest class, >= 1.
    people_at_risk : int
        Different people with a row in a class of fewer than k people, at least one if there is such a class.
    rows_at_risk : int
        Rows in these classes.
    distinction : float
        d / n, in (0, 1]: the greatest alpha for which the set is alpha-distinct.
    separation : float
        Pairs of rows that differ / (n (n - 1) / 2), in [0, 1]; 1 for a single row.
    """

    classes: int
    classes_at_risk: int
    smallest_class: int
    people_at_risk: int
    rows_at_risk: int
    distinction: float
    separation: float


@dataclass(frozen=True, slots=True)
class CombinedFigures:
    """Figures of some columns together.

    Parameters
    ----------
    figures : SetFigures
    sizes : sequence of sequence of int
        Bars of the histogram of class sizes: smallest and largest size, classes, people, rows.
    """

    figures: SetFigures
    sizes: Sequence[Sequence[int]]

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> CombinedFigures:
        """Rebuild from the fields that travelled."""
        return cls(SetFigures(**data["figures"]), data["sizes"])


@dataclass(frozen=True, slots=True)
class AuditDetails:
    """Figures of each column and of all together.

    Parameters
    ----------
    alone : sequence of SetFigures
        Of each column by itself.
    without : sequence of int
        Per column the people at risk by all others.
    audited, quasi_identifiers : CombinedFigures
        Of all columns, and of those that link.
    """

    alone: Sequence[SetFigures]
    without: Sequence[int]
    audited: CombinedFigures
    quasi_identifiers: CombinedFigures


@dataclass(frozen=True, slots=True)
class ViolatingAnswer:
    """Minimal violating sets; no set, by default.

    Parameters
    ----------
    sets : sequence of sequence of int
        Columns of each.
    figures : sequence of SetFigures or None
        Of each; None where the time did not suffice.
    complete_columns : int or None
        All sets of at most so many columns are among them; None for all there are.
    is_complete : bool
        Whether all are.
    minimum : int or None
        Columns of the smallest.
    details : AuditDetails or None
        If they were asked for, and the time sufficed.
    termination : Termination
        How the search ended.
    """

    sets: Sequence[Sequence[int]] = ()
    figures: Sequence[SetFigures | None] = ()
    complete_columns: int | None = None
    is_complete: bool = True
    minimum: int | None = None
    details: AuditDetails | None = None
    termination: Termination = Termination.OPTIMAL


@dataclass(frozen=True, slots=True)
class ViolatingTask:
    """Find the minimal sets of columns that single out fewer than k people.

    Parameters
    ----------
    max_columns : int or None
        Most columns of a set.
    quasi_identifiers : sequence of int
        Columns that link, for the details.
    details : bool
        Whether these are asked for.
    """

    kind: ClassVar[str] = "violating"
    k: int
    max_columns: int | None
    quasi_identifiers: Sequence[int]
    details: bool

    def read(self, data: Mapping[str, Any]) -> ViolatingAnswer:
        """Rebuild the answer from the fields that travelled."""
        details = data["details"]
        read = {
            "figures": [None if one is None else SetFigures(**one) for one in data["figures"]],
            "termination": Termination(data["termination"]),
            "details": None
            if details is None
            else AuditDetails(
                alone=[SetFigures(**one) for one in details["alone"]],
                without=details["without"],
                audited=CombinedFigures.read(details["audited"]),
                quasi_identifiers=CombinedFigures.read(details["quasi_identifiers"]),
            ),
        }
        return ViolatingAnswer(**{**data, **read})


@dataclass(frozen=True, slots=True)
class IdentifyingAnswer:
    """Sets of columns that identify as much as all do.

    Parameters
    ----------
    minimal, smallest : sequence of int
        One from which no column can be left out, and the smallest that the search met.
    at_least : int
        Columns of any such set, proven.
    method : str
        What found the smallest.
    distinct_rows : int
        Rows that differ.
    termination : Termination
        How the search ended.
    """

    minimal: Sequence[int]
    smallest: Sequence[int]
    at_least: int
    method: str
    distinct_rows: int
    termination: Termination


@dataclass(frozen=True, slots=True)
class IdentifyingTask:
    """Find a minimal and a smallest identifying set of columns."""

    kind: ClassVar[str] = "identifying"

    def read(self, data: Mapping[str, Any]) -> IdentifyingAnswer:
        """Rebuild the answer from the fields that travelled."""
        return IdentifyingAnswer(**{**data, "termination": Termination(data["termination"])})


@dataclass(frozen=True, slots=True)
class RiskAnswer:
    """Risk of the people in a table; `termination` says how the search for minimal uniques ended."""

    risk: Risk
    uniques: MinimalUniques
    termination: Termination


@dataclass(frozen=True, slots=True)
class RiskTask:
    """Say how likely people are found again in the first table; the second is a register of the population.

    Parameters
    ----------
    threshold : float
        Risk above which a record counts.
    sampling_fraction : float or None
        Share of the population that the table has.
    uniques_seconds : float or None
        Most time for minimal uniques; None for all there is.
    people_by_size : sequence of pairs of int, optional
        Different people by the size of their smallest class, where the classes do not tell who is in several.
    """

    kind: ClassVar[str] = "risk"
    threshold: float
    sampling_fraction: float | None
    uniques_seconds: float | None
    people_by_size: Sequence[tuple[int, int]] | None = None

    def read(self, data: Mapping[str, Any]) -> RiskAnswer:
        """Rebuild the answer from the fields that travelled."""
        return RiskAnswer(
            Risk.from_json(data["risk"]),
            MinimalUniques.from_json(data["uniques"]),
            Termination(data["termination"]),
        )


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """One column.

    Parameters
    ----------
    distinct : int
        Different values, NULL being one.
    single : int
        Values that one row has.
    separation : float
        Share of the pairs of rows with different values, 0 to 1 (Motwani and Xu 2007).
    """

    distinct: int
    single: int
    separation: float


@dataclass(frozen=True, slots=True)
class Dependency:
    """An exact or approximate functional dependency: one column determines another.

    Parameters
    ----------
    determinant, dependent : int
        Numbers of columns.
    share : float
        Among the rows whose determinant occurs more than once: those in which guessing the most frequent
        dependent value is right, at least 0.99; 1 if it always is.
    """

    determinant: int
    dependent: int
    share: float


@dataclass(frozen=True, slots=True)
class ColumnsAnswer:
    """The profile of each column, and which columns determine others; whether all pairs were looked at."""

    profiles: Sequence[ColumnProfile]
    dependencies: Sequence[Dependency]
    is_complete: bool


@dataclass(frozen=True, slots=True)
class ColumnsTask:
    """Profile columns."""

    kind: ClassVar[str] = "columns"

    def read(self, data: Mapping[str, Any]) -> ColumnsAnswer:
        """Rebuild the answer from the fields that travelled."""
        return ColumnsAnswer(
            [ColumnProfile(**one) for one in data["profiles"]],
            [Dependency(**one) for one in data["dependencies"]],
            data["is_complete"],
        )


TASKS: Mapping[str, type[ViolatingTask | IdentifyingTask | RiskTask | ColumnsTask]] = {
    one.kind: one for one in (ViolatingTask, IdentifyingTask, RiskTask, ColumnsTask)
}
"""The tasks by their kinds."""
