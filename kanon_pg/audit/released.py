"""Releases of tables in which a person may have several rows: their classes, counted in people.

Whose rows they are is not published. A function of the owner role counts the classes and says no more than
how many there are of each size.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kanon_pg.audit.asking import Asking
from kanon_pg.audit.request import RiskCall
from kanon_pg.audit.risk_findings import HomogeneousClasses, RiskFigures, risk_figures
from kanon_pg.audit.subject import Known
from kanon_pg.core.packed import PackedRowTypes, QuasiIdentifier
from kanon_pg.core.risk import DEEPEST
from kanon_pg.core.termination import Termination
from kanon_pg.db.protocol import Database
from kanon_pg.db.queries import statement
from kanon_pg.errors import InputError


@dataclass(frozen=True, slots=True)
class ClassesOfSize:
    """The classes of a release that have a number of people.

    Parameters
    ----------
    people : int
        Different people in each of them, >= 1.
    classes, rows : int
        Number of these classes, and rows in all of them.
    homogeneous, homogeneous_rows : tuple of int
        Per sensitive column of the release: those in which everybody has the same value, and rows in these.
    """

    people: int
    classes: int
    rows: int
    homogeneous: tuple[int, ...]
    homogeneous_rows: tuple[int, ...]


def class_sizes(db: Database, known: Known) -> tuple[ClassesOfSize, ...]:
    """Return the classes of a release by their size in people, ascending.

    Raises
    ------
    InputError
        If the release has no rows.
    """
    found = db.rows(statement("audit_class_sizes"), known.release)
    if not found:
        raise InputError(
            f"Relation {known.relation.identifier} has no rows.",
            hint="Load data first, or check row-level security policies.",
        )
    return tuple(
        ClassesOfSize(
            people=row["people"],
            classes=row["classes"],
            rows=row["rows"],
            homogeneous=tuple(row["homogeneous"]),
            homogeneous_rows=tuple(row["homogeneous_rows"]),
        )
        for row in found
    )


def risk_in_people(worker: Asking, call: RiskCall, known: Known) -> RiskFigures:
    """Return the risk of a release by its own quasi-identifiers.

    Parameters
    ----------
    worker : Asking
        Has the time.
    call : RiskCall
        Threshold and sampling fraction.
    known : Known
        A release that hides people.
    """
    worker.db.progress("counting")
    sizes = class_sizes(worker.db, known)
    answer = worker.ask(
        "risk",
        _one_row_type_per_class(sizes),
        threshold=call.threshold,
        sampling_fraction=call.sampling_fraction,
        uniques_seconds=0.0,
    )
    columns = [column.name for column in known.quasi_identifiers()]
    counted = risk_figures(
        str(known.relation.identifier), columns, sum(one.rows for one in sizes), call.threshold, answer
    )
    homogeneous = _homogeneous(known, sizes)
    # Where no class is of one person, no part of the columns has such a class (Lemma 1 of Yuan).
    none = () if counted.sample_uniques else (0,) * min(DEEPEST, len(columns))
    return replace(
        counted,
        minimal_uniques=none,
        people_by_unique=none,
        homogeneous=homogeneous,
        homogeneous_people=max((one.people for one in homogeneous), default=None),
        termination=Termination.EXHAUSTED if counted.sample_uniques else Termination.OPTIMAL,
    )


def _one_row_type_per_class(sizes: Sequence[ClassesOfSize]) -> PackedRowTypes:
    people = b"".join(struct.pack(">q", one.people) * one.classes for one in sizes)
    count = len(people) // 8
    numbers = struct.pack(f">{count}q", *range(count))
    return PackedRowTypes((QuasiIdentifier("class"),), numbers, people, people, (numbers,), (None,))


def _homogeneous(known: Known, sizes: Sequence[ClassesOfSize]) -> tuple[HomogeneousClasses, ...]:
    sensitive = () if known.declaration is None else known.declaration.sensitive
    return tuple(
        HomogeneousClasses(
            column=column,
            classes=sum(one.homogeneous[place] for one in sizes),
            people=sum(one.people * one.homogeneous[place] for one in sizes),
            rows=sum(one.homogeneous_rows[place] for one in sizes),
        )
        for place, column in enumerate(sensitive)
    )
