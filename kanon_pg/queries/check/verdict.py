"""The result of a check: findings, or the canonical SQL that may run and what has to be counted with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from kanon_pg.queries.check.findings import Finding


@dataclass(frozen=True, slots=True)
class OutputColumn:
    """A column that the analyst sees.

    Parameters
    ----------
    name : str
        Name as the analyst wrote or PostgreSQL would derive it; may repeat.
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
    relation : int
        OID of the protected relation whose people are counted.
    what : str
        'people', 'filter', 'complement', 'listed', 'percentile', 'dominance' or 'value'
        (see `named_groups`, `secret_values`); 'left out' in the mode 'suppress', where sensitive columns
        choose: how many groups were left out, which may be any number.
    """

    name: str
    minimum: int
    relation: int
    what: str


@dataclass(frozen=True, slots=True)
class RowPartition:
    """For the ledger: all rows of a table by the values of an expression, whatever a query chooses.

    Parameters
    ----------
    sql : str
        Without parameters. Returns ``groups``, ``leaves``, ``lengths`` and ``row_ids`` as `EntitySet.sql`
        does. Of the kind 'truth' these are the rows for which a condition is not true; else there is a group
        for every value, numbered from 1, and ``count`` says how many; if more than `most`, there are no rows.
        Of the kind 'values' it returns ``values``, too: that of each group as text, in order.
    kind : {'values', 'groups', 'truth'}
        Whether conditions on the value stand for conditions on rows; or only the groups are of use; or a
        condition itself is the expression.
    most : int or None
        Most values; None if their number must not decide what is read, because the expression reads a
        sensitive column.
    values_sql : str or None
        Of the kind 'values': returns ``values`` alone, the same ones.
    is_shared : bool
        Whether other sessions may have it: it tells of a query no more than which column is in it.
    """

    sql: str
    kind: Literal["values", "groups", "truth"]
    most: int | None = None
    values_sql: str | None = None
    is_shared: bool = True


@dataclass(frozen=True, slots=True)
class ChosenValues:
    """A condition that the value of a partition decides.

    Parameters
    ----------
    partition : int
        Position in `SetComposition.partitions`.
    sql : str or None
        Takes the parameters of the canonical SQL, as text, and the values as an array of text; returns the
        ``place`` of those, counted from 1, for which the condition is true. None if the partition is of the
        kind 'truth'.
    """

    partition: int
    sql: str | None


@dataclass(frozen=True, slots=True)
class SetComposition:
    """For the ledger: sets as intersections of partitions, for which no row has to be read again.

    Parameters
    ----------
    groups : int or None
        Position in `partitions` of the group key; None if there is none.
    where : tuple of ChosenValues
        All of them hold in each group.
    filters : tuple of tuple of ChosenValues
        Those that all hold for the rows that a filter lets in.
    """

    partitions: tuple[RowPartition, ...]
    groups: int | None
    where: tuple[ChosenValues, ...]
    filters: tuple[tuple[ChosenValues, ...], ...]


@dataclass(frozen=True, slots=True)
class EntitySet:
    """For the ledger: a SELECT of the rows behind the figures of a level, in the snapshot of the answer.

    Parameters
    ----------
    relation : int
        OID of the protected relation.
    instance : str
        Alias of the instance in the canonical SQL; a table named twice has two.
    level : int
        Number of the level (1 ...); branches and derived tables are levels of their own.
    sql : str
        Returns one row of ``bytea``. There is a piece for every group and table that has rows in it;
        ``groups`` (8 bytes each, big-endian), ``leaves`` (4 bytes each: OID of the table) and ``lengths``
        (8 bytes each) describe them, ``row_ids`` holds their rows one after the other: 6 bytes each, the
        TID, or, with `seed`, 8 bytes, the hash of the content
        (`kanon_pg.queries.check.write.table_snapshot.content_hash_sql`). For each of `filters`,
        ``lengths_1``, ``row_ids_1`` ... hold, in the same pieces, the rows that it leaves out, or, unless
        `disjoint`, those that it lets in. Takes the same parameters as the canonical SQL, as text.
    figures : tuple of str
        Aggregates answered over the groups ('count', 'sum(cost)', ...).
    filters : tuple of tuple of str
        Those over parts of the groups (FILTER, or a column's NULLs), for each different part.
    spreads : tuple of int
        Whose sum of squares is shown (`kanon_pg.queries.check.plan.aggregates`): 0 for the groups, 1 ... for
        the filters.
    disjoint : bool
        Whether a row stands in one group at most, and once; otherwise it may be repeated by a join.
    seed : int or None
        Number of one more parameter, the secret seed of hashes, if rows have no TIDs (views).
    covered_by : int or None
        OID of the relation whose own sets make these superfluous, if they are recorded as strictly.
    kind : {'groups', 'windows', 'known', 'secret'}
        Whether these are the rows of groups; those of percentiles in each group: then the first set of
        a group is of all windows together, and `filters` has one for each percentile; or those that known
        columns choose (`kanon_pg.queries.check.plan.known`), or those that sensitive ones do. Without any
        of the kind 'known' the groups of a level are chosen by known columns.
    narrowed : bool
        Of the kind 'known': whether sensitive columns choose among these rows.
    everybody : bool
        Of the kinds 'known' and 'secret': whether these are all rows of the relation.
    union : bool
        Of the kind 'known': whether these are the rows of all groups of the level; `sql` need not run then.
    is_whole : bool
        Of the kind 'secret': whether every part that reads a sensitive column is in it.
    composition : SetComposition or None
        How the same sets follow from partitions of the table; None if they do not.
    """

    relation: int
    instance: str
    level: int
    sql: str
    figures: tuple[str, ...] = ()
    filters: tuple[tuple[str, ...], ...] = ()
    spreads: tuple[int, ...] = ()
    disjoint: bool = True
    seed: int | None = None
    covered_by: int | None = None
    kind: Literal["groups", "windows", "known", "secret"] = "groups"
    narrowed: bool = False
    everybody: bool = False
    union: bool = False
    is_whole: bool = True
    composition: SetComposition | None = None

    @property
    def parts(self) -> int:
        """Number of columns that `sql` returns."""
        return 4 + 2 * len(self.filters)


@dataclass(frozen=True, slots=True)
class CombinedSql:
    """For the ledger: the canonical SQL in two parts, the first of which also collects the rows of groups.

    Parameters
    ----------
    tables : str
        Common table expressions, after WITH.
    body : str
        A SELECT from them with the columns of the canonical SQL.
    sets : Mapping of int to str
        By the position in `Verdict.entity_sets` a SELECT from them that returns the row that
        `EntitySet.sql` returns.
    """

    tables: str
    body: str
    sets: Mapping[int, str]


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
    hidden : tuple of HiddenColumn
        Columns to check and remove.
    parameters : tuple of Parameter
        In the order of their numbers.
    protected : tuple of int
        OIDs of the protected relations read.
    relations : tuple of int
        OIDs of all relations read.
    combined_sql : CombinedSql or None
        Reads the answer and some of these sets in one scan; None if it can read none of them.
    empty_refused : bool
        True if an answer without rows has to be refused (mode 'reject' over protected relations):
        "no row" would otherwise differ from "too few people" and answer a query about one person.
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
    combined_sql: CombinedSql | None = None
    empty_refused: bool = False

    @property
    def left_out(self) -> int | None:
        """Position of the hidden column 'left out', None if groups are left out by what is known, or none."""
        return next((place for place, item in enumerate(self.hidden) if item.what == "left out"), None)
