"""What a check returns: the verdict and, if accepted, the plan that may run."""

from __future__ import annotations

from dataclasses import dataclass

from kanon_pg.query.findings import Finding


@dataclass(frozen=True, slots=True)
class OutputColumn:
    """A column that the asker sees.

    Parameters
    ----------
    name : str
        Name as the asker wrote or PostgreSQL would derive it; may repeat.
    type_name : str
        Name of the type in ``pg_catalog``.
    """

    name: str
    type_name: str


@dataclass(frozen=True, slots=True)
class HiddenColumn:
    """A column that the runner checks and removes.

    The rule for every returned row and every hidden column: the value is not NULL and
    ``value >= minimum``; otherwise the whole answer is refused. In the mode 'reject' the value is the
    smallest over all groups of the level, also those that HAVING or LIMIT leave out.

    Parameters
    ----------
    name : str
        Name in the canonical SQL (``kanon_people_1`` ...).
    minimum : int
        Smallest allowed value.
    relation : int
        OID of the protected relation whose people are counted.
    what : str
        'people', 'filter', 'complement', 'percentile', 'dominance' or 'value' (see `named_groups`).
    """

    name: str
    minimum: int
    relation: int
    what: str


@dataclass(frozen=True, slots=True)
class EntitySet:
    """For the ledger: a SELECT of the people behind one set of figures.

    Parameters
    ----------
    relation : int
        OID of the protected relation.
    instance : str
        Alias of the instance in the canonical SQL; a table named twice has two.
    level : int
        Number of the level (1 ...); branches and derived tables are levels of their own.
    what : str
        'group' for the groups themselves, 'filter' for a FILTER or a column's NULLs.
    sql : str
        Returns ``kanon_group bigint`` (equal for the rows of one group; 0 without GROUP BY) and
        ``kanon_entity`` (the entity column, or (tableoid, ctid) where every row is a person), distinct.
        Takes the same parameters as the canonical SQL.
    figures : tuple of str
        Aggregates answered over the set ('count', 'sum(cost)', ...), for the linear audit.
    """

    relation: int
    instance: str
    level: int
    what: str
    sql: str
    figures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of the canonical SQL, which writes it as ``$number``.

    Parameters
    ----------
    number : int
        1, 2, ...
    type_name : str
        Type in ``pg_catalog``; the canonical SQL casts the parameter to it from text.
    """

    number: int
    type_name: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """Result of a check; every field but ``findings`` is empty unless ``accepted``.

    Parameters
    ----------
    accepted : bool
        Whether the canonical SQL may run.
    findings : tuple of Finding
        Reasons of a refusal, in the order of the text.
    canonical_sql : str or None
        What runs: output columns first, then the hidden ones.
    outputs : tuple of OutputColumn
        Columns to return.
    hidden : tuple of HiddenColumn
        Columns to check and remove.
    parameters : tuple of Parameter
        In the order of their numbers.
    protected : tuple of int
        OIDs of the protected relations read.
    relations : tuple of int
        OIDs of all relations read.
    entity_sets : tuple of EntitySet
        For the ledger.
    empty_refused : bool
        True if an answer without rows has to be refused (mode 'reject' over protected relations):
        "no row" would otherwise differ from "too few people" and answer a question about one person.
    """

    accepted: bool
    findings: tuple[Finding, ...] = ()
    canonical_sql: str | None = None
    outputs: tuple[OutputColumn, ...] = ()
    hidden: tuple[HiddenColumn, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    protected: tuple[int, ...] = ()
    relations: tuple[int, ...] = ()
    entity_sets: tuple[EntitySet, ...] = ()
    empty_refused: bool = False
