"""How likely the people in a table are found again.

Class sizes count people, see `kanon_pg.worker.audit`. The attackers are those of El Emam and Dankar
("Protecting Privacy Using k-Anonymity", 2008) and, for the marketer, El Emam, Dankar, Vaillancourt, Roffey
and Lysyk (2009).
"""

from __future__ import annotations

from dataclasses import dataclass

THRESHOLD = 0.2
"""Risk above which a record counts as being at risk by default: that of a class below 5."""

DEEPEST = 3
"""Most columns of a minimal sample unique by default."""

SAMPLE, POPULATION, FRACTION = "the table itself", "population table", "sampling fraction"
"""What the journalist's risk rests on."""


@dataclass(frozen=True, slots=True)
class AttackerRisk:
    """Risk of the people in a table under one kind of attack, a person's risk being that of a class."""

    highest: float
    """Greatest risk of a class, in (0, 1]."""
    average: float
    """Mean over the people; somebody in several classes has the greatest risk of these."""
    people_above: int
    """Different people in classes whose risk exceeds the threshold."""
    share_above: float
    """Their share of all people."""


@dataclass(frozen=True, slots=True)
class HomogeneousClasses:
    """Classes in which everybody has the same value of a sensitive column: finding the class tells it."""

    column: str
    """The sensitive column."""
    classes: int
    people: int
    rows: int
    """`classes`, `people`, `rows`: number of these classes, and the different people and the rows in them."""


@dataclass(frozen=True, slots=True)
class MinimalUniques:
    """Counts of minimal sample uniques: the smallest combinations of values that only one person has."""

    sets_by_size: tuple[int, ...]
    """Pairs of a class and a set of 1, 2, ... columns that is minimal for it, up to `complete_columns`."""
    people_by_size: tuple[int, ...]
    """People whose smallest such set has 1, 2, ... columns."""
    complete_columns: int
    """All sets of at most so many columns are counted, and no others."""


@dataclass(frozen=True, slots=True)
class Risk:
    """Risk of a table by some columns."""

    people: int
    """Different people, at least 1."""
    classes: int
    prosecutor: AttackerRisk
    """The attacker knows that a person is in the table: 1 / class size."""
    journalist: AttackerRisk
    """The attacker looks anybody up in a register of the population: 1 / size of the class in the population,
    or its expectation."""
    journalist_basis: str
    """`SAMPLE` (then the upper bound, equal to the prosecutor's), `POPULATION` or `FRACTION`."""
    marketer: float
    """Expected share of correct guesses if everybody in each class is linked with a register of the
    population: the mean of the journalist's risk over classes, by their sizes. Without a register it is the
    number of classes / the sum of their sizes."""
    sample_uniques: int
    """Different people who are alone in a class."""
    homogeneous: tuple[HomogeneousClasses, ...]
    """Per sensitive column."""
