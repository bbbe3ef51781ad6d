"""A bound query: levels over instances of relations, as the rules, the counting and the rendering see it.

A *level* is one SELECT that groups: a plain row selection groups by its whole output tuple and repeats
each tuple as often as it occurs. Plain derived tables are dissolved into the level around them, so that
every level stands on relations and on the finished answers of other levels.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

from kanon_pg.queries.check.catalog import ColumnRole, Protection, Relation
from kanon_pg.queries.check.findings import Span
from kanon_pg.queries.check.plan.typed import Aggregate, Bound, ColumnRef, KeyRef, ParameterRef, walk


@dataclass(frozen=True, slots=True)
class Instance:
    """A relation, or the answer of a query, as it occurs in FROM.

    Parameters
    ----------
    number : int
        Position within the level.
    relation : Relation or None
        None for the answer of a query.
    plan : Plan or None
        The query whose answer is read.
    condition : Bound or None
        Condition of a LEFT JOIN; conditions of other joins are part of WHERE.
    outer : bool
        Whether the instance is joined by LEFT JOIN.
    span : Span
        Where it is named.
    """

    number: int
    relation: Relation | None
    plan: Plan | None
    condition: Bound | None
    outer: bool
    span: Span

    @property
    def alias(self) -> str:
        """Name in the canonical SQL."""
        return f"s{self.number}"

    @property
    def oid(self) -> int:
        """OID of the relation, 0 for the answer of a query."""
        return self.relation.oid if self.relation is not None else 0

    @property
    def protection(self) -> Protection | None:
        """How people are counted here, None for public relations and answers."""
        return self.relation.protection if self.relation is not None else None

    @property
    def is_scalar(self) -> bool:
        """Whether this is the answer of a query that has one row whatever the data."""
        return self.plan is not None and self.plan.has_one_row()

    def unique_keys(self) -> tuple[frozenset[str], ...]:
        """Return sets of columns that no two rows share."""
        if self.relation is not None:
            return self.relation.unique_keys
        return self.plan.unique_keys() if self.plan is not None else ()

    def is_personal(self, column: ColumnRef) -> bool:
        """Return whether the column names a person."""
        if self.relation is None or self.relation.protection is None:
            return False
        found = self.relation.column(column.name)
        entity = self.relation.protection.entity
        return column.name == entity or found is None or found.role is ColumnRole.IDENTIFIER


@dataclass(frozen=True, slots=True)
class Output:
    """A column that a level returns, over its keys and aggregates."""

    name: str
    expression: Bound


@dataclass(frozen=True, slots=True)
class Sorting:
    """An element of ORDER BY: over keys and aggregates, or (after UNION ALL) the number of an output."""

    expression: Bound | int
    descending: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True)
class GroupingLevel:
    """One grouping SELECT.

    Parameters
    ----------
    number : int
        Number within the query, from 1.
    where : tuple of Bound
        Conditions that all have to hold.
    keys : tuple of Bound
        Group keys, over columns of the instances.
    outputs : tuple of Output
        What is returned, over keys and aggregates.
    having : Bound or None
        Condition over keys and aggregates.
    repeated : bool
        Whether every group is returned once per row (a row selection without DISTINCT).
    family : int
        Number of the first level over the same rows: GROUPING SETS are several levels over them.
    """

    number: int
    instances: tuple[Instance, ...]
    where: tuple[Bound, ...]
    keys: tuple[Bound, ...]
    outputs: tuple[Output, ...]
    having: Bound | None
    sorting: tuple[Sorting, ...]
    repeated: bool
    family: int
    span: Span
    _aggregates: tuple[Aggregate, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        found = {
            item: None for root in self._answered() for item in walk(root) if isinstance(item, Aggregate)
        }
        object.__setattr__(self, "_aggregates", tuple(found))

    def protected(self) -> tuple[Instance, ...]:
        """Return the instances in which people are counted."""
        return tuple(item for item in self.instances if item.protection is not None)

    def is_fixed(self, key: Bound) -> bool:
        """Return whether a group key is the answer of a query that has one row."""
        return isinstance(key, ColumnRef) and self.instances[key.instance - 1].is_scalar

    def aggregates(self) -> tuple[Aggregate, ...]:
        """Return the aggregates of outputs, HAVING and ORDER BY, each once."""
        return self._aggregates

    def _answered(self) -> tuple[Bound, ...]:
        roots = [output.expression for output in self.outputs]
        roots += [self.having] if self.having is not None else []
        roots += [item.expression for item in self.sorting if not isinstance(item.expression, int)]
        return tuple(roots)

    def conditions(self) -> tuple[Bound, ...]:
        """Return WHERE and the conditions of outer joins."""
        return (*self.where, *(item.condition for item in self.instances if item.condition is not None))

    def expressions(self) -> tuple[Bound, ...]:
        """Return everything that is computed for rows or groups."""
        return (*self.row_expressions(), *self._answered())

    def row_expressions(self) -> tuple[Bound, ...]:
        """Return everything that is computed for single rows."""
        parts = [part for item in self.aggregates() for part in (item.argument, item.condition)]
        return (*self.conditions(), *self.keys, *(part for part in parts if part is not None))


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """Levels whose answers follow each other (UNION ALL), sorted and cut.

    Parameters
    ----------
    branches : tuple of GroupingLevel
        At least one, with outputs of equal types.
    sorting : tuple of Sorting
        Used if there are several branches; one branch carries its own.
    unshown : tuple of GroupingLevel
        Groups that are counted and recorded like those of branches, and not shown (`plan.classes`).
    sides : tuple of GroupingLevel
        What lies on either side of ranges of aggregated columns, not shown either (`plan.sides`).
    lists : tuple of GroupingLevel
        Whom known columns choose, as lists divide them (`plan.lists`): of them nothing is aggregated.
    """

    branches: tuple[GroupingLevel, ...]
    sorting: tuple[Sorting, ...] = ()
    unshown: tuple[GroupingLevel, ...] = ()
    sides: tuple[GroupingLevel, ...] = ()
    lists: tuple[GroupingLevel, ...] = ()
    limit: Bound | None = None
    offset: Bound | None = None

    def levels(self) -> tuple[GroupingLevel, ...]:
        """Return all levels that figures are about, inner ones before those that read them, each once."""
        found: dict[int, GroupingLevel] = {}
        for branch in self.branches:
            for instance in branch.instances:
                if instance.plan is not None:
                    found.update((level.number, level) for level in instance.plan.levels())
            found[branch.number] = branch
        found.update((level.number, level) for level in (*self.unshown, *self.sides))
        return tuple(found.values())

    def all_lists(self) -> tuple[GroupingLevel, ...]:
        """Return the lists of all queries inside, and its own, each once."""
        found: dict[int, GroupingLevel] = {}
        for branch in self.branches:
            for instance in branch.instances:
                if instance.plan is not None:
                    found.update((level.number, level) for level in instance.plan.all_lists())
        found.update((level.number, level) for level in self.lists)
        return tuple(found.values())

    def families(self) -> tuple[tuple[GroupingLevel, ...], ...]:
        """Return the branches and unshown levels, those over the same rows together."""
        found: dict[int, list[GroupingLevel]] = {}
        for branch in (*self.branches, *self.unshown):
            found.setdefault(branch.family, []).append(branch)
        return tuple(map(tuple, found.values()))

    def has_one_row(self) -> bool:
        """Return whether the answer has one row whatever the data, or is refused."""
        if len(self.branches) != 1 or self.limit is not None or self.offset is not None:
            return False
        level = self.branches[0]
        grouped = any(not level.is_fixed(key) for key in level.keys)
        return not (grouped or level.repeated or level.having is not None)

    def unique_keys(self) -> tuple[frozenset[str], ...]:
        """Return the set of outputs that holds every group key, if there is one."""
        if len(self.branches) != 1 or self.branches[0].repeated:
            return ()
        level = self.branches[0]
        shown = {output.expression: output.name for output in level.outputs}
        names = [shown.get(key) for key in _key_references(level)]
        known = [name for name in names if name is not None]
        return (frozenset(known),) if len(known) == len(names) else ()


def _key_references(level: GroupingLevel) -> tuple[Bound, ...]:
    return tuple(
        KeyRef(type=key.type, as_numeric=key.as_numeric, position=position, span=key.span)
        for position, key in enumerate(level.keys)
        if not level.is_fixed(key)
    )


@lru_cache(maxsize=4)
def parameter_uses(plan: Plan) -> tuple[ParameterRef, ...]:
    """Return every use of a parameter in a plan."""
    roots = [item for level in plan.levels() for item in level.expressions()] + _counts(plan)
    return tuple(item for root in roots for item in walk(root) if isinstance(item, ParameterRef))


def _counts(plan: Plan) -> list[Bound]:
    return [count for count in (plan.limit, plan.offset) if count is not None]
