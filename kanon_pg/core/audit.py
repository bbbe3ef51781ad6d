"""What is counted for a set of columns.

The terms (class, violating, minimal, minimum, identifying) are defined in `kanon_pg.worker.audit`.
"""

from __future__ import annotations

from dataclasses import dataclass


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
        Different people with a row in a class of fewer than k people; one in which nobody is known counts
        as one person.
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
