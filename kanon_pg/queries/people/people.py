"""Whose rows a block's rows are: links from its sources to people, and the finest tables among them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from kanon_pg.queries.reading.blocks import Block, Figure, Source, column_name, equal_columns
from kanon_pg.queries.reading.facts import Facts, Link, Relation
from kanon_pg.queries.reading.findings import Refusal
from kanon_pg.queries.reading.trees import Tree

ColumnName: TypeAlias = tuple[str, str]
Equalities: TypeAlias = frozenset[frozenset[ColumnName]]
"""Pairs of columns, each an alias and a name, that conditions demand to be equal."""


@dataclass(frozen=True, slots=True)
class Step:
    """A table that is joined along a link, because the query does not join it itself."""

    child: str
    """Alias of what refers to it."""
    alias: str
    """Its own."""
    link: Link
    parent: Relation


@dataclass(frozen=True, slots=True)
class People:
    """Whose rows the rows of a block are."""

    space: int
    """OID of the relation whose people these are."""
    steps: tuple[Step, ...]
    """Joins to add, in order."""
    alias: str
    """What has `columns`, which identify a person."""
    columns: tuple[str, ...]
    types: tuple[str, ...]
    """Types that these columns have in the table where a person is one: equal ones have equal hashes."""
    finest: Source
    """The source of which each row stands in one row of the block at most."""
    same: frozenset[ColumnName]
    """Alias and name of the columns that identify a person by themselves."""

    def are_counted_by(self, figure: Figure) -> bool:
        """Return whether a figure is the number of people."""
        return (
            figure.function == "count_distinct"
            and figure.argument is not None
            and self.is_named(figure.argument)
        )

    def is_named(self, tree: Tree) -> bool:
        """Return whether an expression is a column that identifies a person."""
        return tree.kind == "Column" and column_name(tree) in self.same


def people_of(block: Block, facts: Facts) -> People:
    """Return whose rows a block's rows are."""
    protected = [source for source in block.sources if source.relation.protection is not None]
    inner = [source for source in block.inner if source.relation.protection is not None]
    spaces = {
        one.relation.protection.space for one in (*protected, *inner) if one.relation.protection is not None
    }
    if len(spaces) != 1 or not protected:
        raise Refusal(
            "Q402", 0, "The tables are about different people.", "Link them: kanon_link(child, parent)."
        )
    _require_joined_by_people(protected, inner, block)
    finest = next((source for source in protected if _reaches_all(source, block)), None)
    if finest is None:
        raise Refusal(
            "Q404",
            0,
            "A join repeats rows of people.",
            "Join other tables by all columns of a key of theirs, or ask for EXISTS (SELECT ...).",
        )
    equal = _equalities(block.conditions)
    steps, alias, columns, types = _path_to_person(finest, protected, equal, facts)
    same = frozenset[ColumnName]()
    if len(columns) == 1:
        own = (alias, columns[0])
        same = frozenset({own}).union(*(pair for pair in equal if own in pair))
    return People(spaces.pop(), steps, alias, columns, types, finest, same)


def _reaches_all(start: Source, block: Block) -> bool:
    """Return whether each row of a source meets one row of every other source at most."""
    equal = _equalities([*block.conditions, *(one for source in block.sources for one in source.on or ())])
    constant = _constant_columns(block.conditions)
    reached = {start.alias}

    def is_given(column: ColumnName) -> bool:
        return column in constant or any(
            alias in reached for pair in equal if column in pair for alias, _ in pair - {column}
        )

    while True:
        more = {
            source.alias
            for source in block.sources
            if source.alias not in reached
            for key in source.relation.unique_keys
            if key and all(is_given((source.alias, name)) for name in key)
        }
        if not more:
            return len(reached) == len(block.sources)
        reached |= more


def _constant_columns(conditions: Iterable[Tree]) -> set[ColumnName]:
    """Return the columns that conditions demand to be equal to a constant."""
    return {
        column_name(node)
        for condition in conditions
        if condition.kind == "EQ" and sorted(one.kind for one in condition.operands) == ["Column", "Literal"]
        for node in condition.operands
        if node.kind == "Column"
    }


def _path_to_person(
    start: Source, protected: Sequence[Source], equal: Equalities, facts: Facts
) -> tuple[tuple[Step, ...], str, tuple[str, ...], tuple[str, ...]]:
    """Return the joins that lead from a source to the columns of its person, and their types."""
    alias, relation, steps = start.alias, start.relation, list[Step]()
    while relation.links:
        link = relation.links[0]
        parent = facts.of(link.parent)
        person = _person(parent)
        if not parent.links and set(person) <= set(link.parent_columns):
            # the columns of the link name the person already
            named = dict(zip(link.parent_columns, link.columns, strict=True))
            return tuple(steps), alias, tuple(named[column] for column in person), _types(parent, person)
        joined = (one for one in protected if not steps and _is_joined(alias, one, link, equal))
        present = next(joined, None)
        if present is None:
            steps.append(Step(alias, f"kanon_person_{len(steps) + 1}", link, parent))
            alias = steps[-1].alias
        else:
            alias = present.alias
        relation = parent
    person = _person(relation)
    return tuple(steps), alias, person, _types(relation, person)


def _person(relation: Relation) -> tuple[str, ...]:
    return () if relation.protection is None else relation.protection.person


def _types(relation: Relation, names: Iterable[str]) -> tuple[str, ...]:
    return tuple(column.type_name for name in names if (column := relation.column(name)) is not None)


def _require_joined_by_people(protected: list[Source], inner: list[Source], block: Block) -> None:
    """Refuse a block in which two protected sources may have several people in one row."""
    equal = _equalities(block.conditions)
    inner_equal = _equalities(
        part
        for condition in (*block.conditions, *(one for figure in block.figures for one in figure.conditions))
        for exists in condition.walk()
        if exists.kind == "Exists"
        for part in _inner_conditions(exists)
    )
    connected = {protected[0].alias}
    for pairs, sources in ((equal, protected), (equal | inner_equal, [*protected, *inner])):
        while True:
            more = {
                other.alias
                for one in sources
                if one.alias in connected
                for other in sources
                if other.alias not in connected and _share_person(one, other, pairs)
            }
            if not more:
                break
            connected |= more
        lacking = [source for source in sources if source.alias not in connected]
        if lacking:
            raise Refusal(
                "Q403",
                0,
                f"{lacking[0].relation.name} is not joined along a link: rows of several people would meet.",
                "Join by all columns of a link (see kanon.links).",
            )


def _share_person(one: Source, other: Source, equal: Equalities) -> bool:
    """Return whether two sources have the same person in each row: by a link, a parent, or a key."""
    for child, parent in ((one, other), (other, one)):
        if any(_is_joined(child.alias, parent, link, equal) for link in child.relation.links):
            return True
    for link in one.relation.links:
        for twin in other.relation.links:
            if (link.parent, link.parent_columns) == (twin.parent, twin.parent_columns) and _are_equal(
                (one.alias, link.columns), (other.alias, twin.columns), equal
            ):
                return True
    person, others = _person(one.relation), _person(other.relation)
    has_links = one.relation.links or other.relation.links
    return (
        not has_links
        and len(person) == len(others) > 0
        and _are_equal((one.alias, person), (other.alias, others), equal)
    )


def _is_joined(child: str, parent: Source, link: Link, equal: Equalities) -> bool:
    return parent.relation.oid == link.parent and _are_equal(
        (child, link.columns), (parent.alias, link.parent_columns), equal
    )


def _are_equal(one: tuple[str, Sequence[str]], other: tuple[str, Sequence[str]], equal: Equalities) -> bool:
    """Return whether columns of two sources, in the same order, are equal."""
    pairs = zip(one[1], other[1], strict=True)
    return all(frozenset({(one[0], a), (other[0], b)}) in equal for a, b in pairs)


def _equalities(conditions: Iterable[Tree]) -> Equalities:
    """Return the pairs of columns that conditions demand to be equal, with what follows from them."""
    groups: list[set[ColumnName]] = []
    for pair in filter(None, map(set, map(equal_columns, conditions))):
        touched = [group for group in groups if group & pair]
        groups = [group for group in groups if not group & pair] + [pair.union(*touched)]
    return frozenset(
        frozenset({one, other}) for group in groups for one in group for other in group if one != other
    )


def _inner_conditions(exists: Tree) -> Iterator[Tree]:
    """Yield the conditions that all must be true in a subquery of EXISTS."""
    select = exists.child("this")
    where = None if select is None else select.child("where")
    waiting = [] if where is None else [*where.children("this")]
    while waiting:
        tree = waiting.pop()
        if tree.kind in {"And", "Paren"}:
            waiting += tree.operands
        else:
            yield tree
