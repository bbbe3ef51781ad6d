"""Whose rows a block's rows are: links from its sources to people, and the finest tables among them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kanon_pg.queries.reading.blocks import Block, Source, column_name
from kanon_pg.queries.reading.facts import Facts, Link, Relation
from kanon_pg.queries.reading.findings import Refusal
from kanon_pg.queries.reading.trees import Tree


@dataclass(frozen=True, slots=True)
class Step:
    """A table that is joined along a link, because the query does not join it itself.

    Parameters
    ----------
    child : str
        Alias of what refers to it.
    alias : str
        Its own.
    parent : int
        OID of the table.
    """

    child: str
    alias: str
    link: Link
    parent: int


@dataclass(frozen=True, slots=True)
class People:
    """Whose rows the rows of a block are.

    Parameters
    ----------
    space : int
        OID of the relation whose people these are.
    steps : tuple of Step
        Joins to add, in order.
    alias : str
        What has `columns`, which identify a person.
    types : tuple of str
        Types that these columns have in the table where a person is one: equal ones have equal hashes.
    finest : Source
        The source of which each row stands in one row of the block at most.
    same : frozenset of (str, str)
        Alias and name of the columns that identify a person by themselves.
    """

    space: int
    steps: tuple[Step, ...]
    alias: str
    columns: tuple[str, ...]
    types: tuple[str, ...]
    finest: Source
    same: frozenset[tuple[str, str]]


def people_of(block: Block, facts: Facts) -> People:
    """Return whose rows a block's rows are.

    Raises
    ------
    Refusal
        If rows of several people could meet in one row, or one row of a person in several.
    """
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
    equal = _equalities(block.conditions)
    finest = next((source for source in protected if _reaches_all(source, block)), None)
    if finest is None:
        raise Refusal(
            "Q404",
            0,
            "A join repeats rows of people.",
            "Join other tables by all columns of a key of theirs, or ask for EXISTS (SELECT ...).",
        )
    steps, alias, columns, types = _way(finest, protected, block, facts)
    same = frozenset[tuple[str, str]]()
    if len(columns) == 1:
        own = (alias, columns[0])
        same = frozenset({own, *(one for pair in equal if own in pair for one in pair)})
    return People(spaces.pop(), steps, alias, columns, types, finest, same)


def _reaches_all(start: Source, block: Block) -> bool:
    """Return whether each row of a source meets one row of every other source at most."""
    reached = {start.alias}
    joins = _equalities([*block.conditions, *(one for source in block.sources for one in source.on or ())])
    fixed = _fixed(block.conditions)
    changed = True
    while changed:
        changed = False
        for source in block.sources:
            if source.alias in reached:
                continue
            for key in source.relation.unique_keys:
                if key and all(
                    (source.alias, name) in fixed
                    or any(
                        frozenset({(source.alias, name), other}) in joins
                        for other in _columns_in(joins)
                        if other[0] in reached
                    )
                    for name in key
                ):
                    reached.add(source.alias)
                    changed = True
                    break
    return len(reached) == len(block.sources)


def _columns_in(pairs: Iterable[frozenset[tuple[str, str]]]) -> set[tuple[str, str]]:
    return {column for pair in pairs for column in pair}


def _fixed(conditions: Iterable[Tree]) -> set[tuple[str, str]]:
    """Return the columns that conditions hold equal to a constant."""
    found = set()
    for condition in conditions:
        left, right = condition.child("this"), condition.child("expression")
        if condition.kind == "EQ" and left is not None and right is not None:
            if left.kind == "Column" and right.kind == "Literal":
                found.add(column_name(left))
            if right.kind == "Column" and left.kind == "Literal":
                found.add(column_name(right))
    return found


def _way(
    start: Source, protected: list[Source], block: Block, facts: Facts
) -> tuple[tuple[Step, ...], str, tuple[str, ...], tuple[str, ...]]:
    """Return the joins that lead from a source to the columns of its person, and their types."""
    alias, relation, steps = start.alias, start.relation, list[Step]()
    equal = _equalities(block.conditions)
    while relation.links:
        link = relation.links[0]
        parent = facts.of(link.parent)
        person = () if parent.protection is None else parent.protection.person
        if not parent.links and set(person) <= set(link.parent_columns):
            named = dict(zip(link.parent_columns, link.columns, strict=True))
            return tuple(steps), alias, tuple(named[column] for column in person), _types(parent, person)
        met = next(
            (
                one
                for one in protected
                if one.relation.oid == parent.oid and not steps and _is_joined(alias, one, link, equal)
            ),
            None,
        )
        if met is not None:
            alias = met.alias
        else:
            steps.append(Step(alias, f"kanon_person_{len(steps) + 1}", link, parent.oid))
            alias = steps[-1].alias
        relation = parent
    person = () if relation.protection is None else relation.protection.person
    return tuple(steps), alias, person, _types(relation, person)


def _types(relation: Relation, names: Iterable[str]) -> tuple[str, ...]:
    return tuple(column.type_name for name in names if (column := relation.column(name)) is not None)


def _require_joined_by_people(protected: list[Source], inner: list[Source], block: Block) -> None:
    """Refuse a block in which two protected sources are not known to have one person in each row."""
    equal = _equalities(block.conditions)
    inner_equal = _equalities(
        node
        for condition in (*block.conditions, *(one for figure in block.figures for one in figure.conditions))
        for exists in condition.walk()
        if exists.kind == "Exists"
        for node in _inner_conditions(exists)
    )
    connected = {protected[0].alias}
    for pairs, sources in ((equal, protected), (equal | inner_equal, [*protected, *inner])):
        changed = True
        while changed:
            changed = False
            for one in sources:
                for other in sources:
                    is_new = (one.alias in connected) != (other.alias in connected)
                    if is_new and _share_person(one, other, pairs):
                        connected |= {one.alias, other.alias}
                        changed = True
        lacking = [source for source in sources if source.alias not in connected]
        if lacking:
            raise Refusal(
                "Q403",
                0,
                f"{lacking[0].relation.name} is not joined along a link: rows of several people would meet.",
                "Join by all columns of a link (see kanon.links).",
            )


def _share_person(one: Source, other: Source, equal: frozenset[frozenset[tuple[str, str]]]) -> bool:
    for child, parent in ((one, other), (other, one)):
        if any(_is_joined(child.alias, parent, link, equal) for link in child.relation.links):
            return True
    # children of one parent row, or rows with the same person
    for link in one.relation.links:
        for twin in other.relation.links:
            if link.parent == twin.parent and link.parent_columns == twin.parent_columns:
                pairs = zip(link.columns, twin.columns, strict=True)
                if all(frozenset({(one.alias, a), (other.alias, b)}) in equal for a, b in pairs):
                    return True
    persons = [
        () if source.relation.protection is None else source.relation.protection.person
        for source in (one, other)
    ]
    return (
        len(persons[0]) == len(persons[1]) > 0
        and not one.relation.links
        and not other.relation.links
        and all(
            frozenset({(one.alias, a), (other.alias, b)}) in equal
            for a, b in zip(persons[0], persons[1], strict=True)
        )
    )


def _is_joined(child: str, parent: Source, link: Link, equal: frozenset[frozenset[tuple[str, str]]]) -> bool:
    return parent.relation.oid == link.parent and all(
        frozenset({(child, a), (parent.alias, b)}) in equal
        for a, b in zip(link.columns, link.parent_columns, strict=True)
    )


def _equalities(conditions: Iterable[Tree]) -> frozenset[frozenset[tuple[str, str]]]:
    """Return the pairs of columns that conditions hold equal, with what follows from them."""
    groups: list[set[tuple[str, str]]] = []
    for condition in map(_inside, conditions):
        sides = [condition.child("this"), condition.child("expression")]
        if condition.kind != "EQ" or any(side is None or side.kind != "Column" for side in sides):
            continue
        pair = {column_name(side) for side in sides if side is not None}
        touched = [group for group in groups if group & pair]
        groups = [group for group in groups if not group & pair] + [pair.union(*touched)]
    return frozenset(
        frozenset({one, other}) for group in groups for one in group for other in group if one != other
    )


def _inside(tree: Tree) -> Tree:
    """Return what parentheses are around."""
    inner = tree.child("this") if tree.kind == "Paren" else None
    return tree if inner is None else _inside(inner)


def _inner_conditions(exists: Tree) -> Iterable[Tree]:
    """Yield the conditions that all hold in a subquery of EXISTS."""
    select = exists.child("this")
    where = None if select is None else select.child("where")
    stack = [] if where is None or where.child("this") is None else [where.child("this")]
    while stack:
        tree = stack.pop()
        if tree is None:
            continue
        if tree.kind in {"And", "Paren"}:
            stack += [tree.child("this"), tree.child("expression")]
        else:
            yield tree
