"""Builds a hierarchy over the values of a column: the builders by name, and the short ones.

Short ones are beginnings of texts (13053, 1305*, 130**), networks of IP addresses (192.0.2.17,
192.0.2.0/24), values by priority, of which the last become one node, and classes of at least so many rows
that are as even as can be: intervals of what has an order, else groups. The solvers of classes are those
of ``kanon_intervals`` and ``kanon_groups``, with the guarantees of Du, Eppstein, Goodrich and Lueker
(2009): intervals are optimal, groups by Spread within 5/2 of the optimum (Theorem 10). A second level
merges classes of the first, so what holds for it is measured against these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import partial
from ipaddress import IPv4Network, IPv6Network, ip_interface, ip_network
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from kanon_pg.core.grouping import GroupingTask, Kind, class_names, packed, unpacked
from kanon_pg.core.hierarchy import MAX_HEIGHT, GeneralizationHierarchy, from_levels
from kanon_pg.db.catalog import ColumnFacts, RelationFacts
from kanon_pg.db.protocol import Database
from kanon_pg.errors import InfeasibleError, InputError, UnsuitableColumn
from kanon_pg.hierarchies.dates import calendar, moment_of, moment_writer, roundest_moment
from kanon_pg.hierarchies.definition import HierarchyDefinition, take_storing_options
from kanon_pg.hierarchies.inputs import ColumnValues, Spec, column_values
from kanon_pg.hierarchies.intervals import intervals, plain, roundest
from kanon_pg.hierarchies.ranges import TEXT, half_open, range_type
from kanon_pg.runner.parent import group_in_worker, memory_budget
from kanon_pg.runner.session import Caller

Task = Literal["intervals", "labels"]
METHODS = ("spread", "fold")
COSTS = ("max", "sum")

_SECONDS = 60.0
_MOST_ROWS = 1 << 62


ClassFinder = Callable[[Task, Sequence[int], int, str, str], list[int]]
"""Returns the class of each of some weights, at least so much in each, by cost and method; the weights of
intervals are in order, and so are the classes."""


def classes_in_worker(
    db: Database, task: Task, weights: Sequence[int], least: int, cost: str, method: str
) -> list[int]:
    """Return classes as a `ClassFinder` does, by this session's worker."""
    options = {"k": least, "cost": cost, "seconds": _SECONDS, "method": method, "epsilon": 0.25}
    arrays: dict[str, tuple[Kind, bytes]] = {"weights": ("<i8", packed("<i8", weights))}
    answer = group_in_worker(GroupingTask(task, options, arrays), Caller.of(db, memory_budget(db)))
    return unpacked("<i8", answer.class_of)


def nested_classes(
    weights: Sequence[int], least: Sequence[int], find: Callable[[Sequence[int], int], list[int]]
) -> list[list[int]]:
    """Return per level the class of each value; those of a level are made of those of the level below."""
    if sum(weights) < max(least):
        raise InfeasibleError(
            f"All values together have {sum(weights):,} rows, fewer than {max(least):,}.",
            hint='Lower "least" of the classes.',
        )
    levels: list[list[int]] = []
    classes, sizes = list(range(len(weights))), list(weights)
    for fewest in least:
        merged = find(sizes, fewest)
        classes = [merged[number] for number in classes]
        sizes = [0] * (max(merged) + 1)
        for number, weight in zip(classes, weights, strict=True):
            sizes[number] += weight
        levels.append(classes)
    return levels


def take_least(spec: Spec) -> list[int]:
    """Take the fewest rows of a class per level."""
    least = spec.wholes("least", 1, _MOST_ROWS)
    if not least or any(low >= high for low, high in pairwise(least)):
        raise InputError(
            '"least" of the classes must be a whole number, or one per level that rise.',
            hint='For example {"builder": "classes", "least": 100}.',
        )
    return least


def classes(find: ClassFinder, values: ColumnValues, spec: Spec) -> GeneralizationHierarchy:
    """Build classes of the values of a column.

    Intervals are cut at the roundest place between two values, and the outer ones have no end: no extreme
    value becomes a bound.

    `spec` has ``least``: fewest rows of a class, or one number per level, rising. ``cost``: ``max`` (unless
    given) for a small largest class, ``sum`` for few people too many. ``method``: ``spread`` (unless given)
    or ``fold``, for values without order.
    """
    least, cost = take_least(spec), spec.text("cost", COSTS) or "max"
    if range_type(values.column.base_type) is not None:
        return _intervals(values, least, lambda weights, fewest: find("intervals", weights, fewest, cost, ""))
    method = spec.text("method", METHODS) or METHODS[0]
    levels = nested_classes(
        values.rows, least, lambda weights, fewest: find("labels", weights, fewest, cost, method)
    )
    weighed = list(zip(values.texts, values.rows, strict=True))
    names = [(level, class_names(weighed, level, max(level) + 1)) for level in levels]
    return from_levels(values.texts, [[named[number] for number in level] for level, named in names])


def _intervals(
    values: ColumnValues, least: Sequence[int], find: Callable[[Sequence[int], int], list[int]]
) -> GeneralizationHierarchy:
    """Return intervals over values that have an order."""
    places, round_cut, write = _line(values)
    order = sorted(range(len(places)), key=places.__getitem__)
    levels = nested_classes([values.rows[place] for place in order], least, find)
    nodes: list[list[str]] = []
    for level in levels:
        # A cut is that of the lowest level, so that the intervals of higher levels end where these do.
        cuts = [
            write(round_cut(places[order[after - 1]], places[order[after]]))
            for after in range(1, len(order))
            if level[after] != level[after - 1]
        ]
        ends = [None, *cuts, None]
        number, of_value = 0, [""] * len(order)
        for after, place in enumerate(order):
            number += after > 0 and level[after] != level[after - 1]
            of_value[place] = half_open(ends[number], ends[number + 1])
        nodes.append(of_value)
    return from_levels(values.texts, nodes)


def _line(values: ColumnValues) -> tuple[list[Any], Callable[[Any, Any], Any], Callable[[Any], str]]:
    """Return where values are in their order, where to cut between two of them, and how a cut is written."""
    if not values.are_moments:
        numbers: list[Decimal] = values.numbers()
        return numbers, roundest, plain
    is_date = values.column.base_type == "date"
    moments = [moment_of(values, text) for text in values.texts]
    return moments, partial(roundest_moment, is_date=is_date), moment_writer(values.column.base_type)


_LONGEST = 500


def prefixes(values: ColumnValues, spec: Spec) -> GeneralizationHierarchy:
    """Build the hierarchy that keeps fewer and fewer characters from the left.

    What is not kept is masked up to the length of the longest value. A value that is no longer than what is
    kept stays as it is.

    `spec` has ``keep``: characters kept at each level, falling; unless given, one less each level, or
    ``step`` less. ``mask``: one character, ``*`` unless given.
    """
    longest = max(len(text) for text in values.texts)
    step, mask = spec.whole("step", 1, _LONGEST), spec.text("mask")
    keep = spec.wholes("keep", 0, _LONGEST)
    if keep is not None and step is not None:
        raise InputError(
            '"keep" and "step" of the prefixes cannot be given together.', hint="Give one of them."
        )
    mask = "*" if mask is None else mask
    if len(mask) != 1:
        raise InputError('"mask" of the prefixes must be one character.', hint='For example "*".')
    if keep is not None and (not keep or any(a <= b for a, b in pairwise(keep))):
        raise InputError('"keep" of the prefixes must fall.', hint="For example: [4, 3, 2].")
    kept = list(range(longest - (step or 1), 0, -(step or 1))) if keep is None else keep
    if len(kept) >= MAX_HEIGHT:
        raise InputError(
            f"The longest value has {longest} characters, too many for a level each.",
            hint='Say how many to keep per level, for example {"builder": "prefix", "keep": [8, 4, 2]}.',
        )

    def node(text: str, count: int) -> str:
        return text if len(text) <= count else text[:count] + mask * (longest - count)

    levels = [[node(text, count) for text in values.texts] for count in values.by_level(kept)]
    return from_levels(values.texts, levels, keeps_all=keep is not None)


_V4 = (24, 16, 8)
_V6 = (64, 48, 32)


_ADDRESSES = frozenset({"inet", "cidr", "text", "varchar", "bpchar"})


def networks(values: ColumnValues, spec: Spec) -> GeneralizationHierarchy:
    """Build the hierarchy of the networks in which addresses lie.

    `spec` has ``prefixes`` and ``prefixes6``: lengths of the network part per level, falling, for the
    versions 4 and 6; (24, 16, 8) and (64, 48, 32) unless given. Both must have the same number of levels.
    """
    if values.column.base_type not in _ADDRESSES:
        raise values.unsuitable("networks", "addresses: inet, cidr and texts")
    four, six = spec.wholes("prefixes", 0, 32), spec.wholes("prefixes6", 0, 128)
    lengths = {4: list(_V4) if four is None else four, 6: list(_V6) if six is None else six}
    parsed = [_network(values, text) for text in values.texts]
    versions = {network.version for network in parsed}
    used = [lengths[version] for version in sorted(versions)]
    if any(not one or any(a <= b for a, b in pairwise(one)) for one in used):
        raise InputError(
            "Lengths of networks must fall from level to level.", hint="For example: [24, 16, 8]."
        )
    if len({len(one) for one in used}) > 1:
        raise InputError(
            '"prefixes" and "prefixes6" must have the same number of levels.',
            hint='For example: "prefixes": [24, 16, 8], "prefixes6": [64, 48, 32].',
        )
    levels = [
        [_supernet(network, lengths[network.version][level]) for network in parsed]
        for level in values.by_level(range(len(used[0])))
    ]
    return from_levels(values.texts, levels, keeps_all=four is not None or six is not None)


def _network(values: ColumnValues, text: str) -> IPv4Network | IPv6Network:
    try:
        return ip_interface(text).network
    except ValueError:
        raise UnsuitableColumn(
            f"Column {values.column.identifier} has values that are no IP addresses.",
            hint="Replace these by NULL in a view, and use that.",
        ) from None


def _supernet(network: IPv4Network | IPv6Network, length: int) -> str:
    """Return the network of this length around a network, or itself if it is no smaller."""
    shorter = min(length, network.prefixlen)
    return str(ip_network((network.network_address, shorter), strict=False))


_MOST = 500_000
_LABEL = "(other)"


def priority(values: ColumnValues, spec: Spec) -> GeneralizationHierarchy:
    """Build the hierarchy that merges the least frequent values first, or the last of a given order.

    `spec` has ``keep``: how many values stay as they are at each level, falling; half of those below unless
    given. ``order``: values, the most important first; those not named follow, the most frequent first.
    ``label``: what the others are called, ``(other)`` unless given; from the second level on the number of
    the level follows, since there are more of them.
    """
    keep, label = spec.wholes("keep", 0, _MOST), spec.text("label") or _LABEL
    named = {text: place for place, text in reversed(list(enumerate(spec.texts("order") or [])))}
    if not {label, *(_numbered(label, level) for level in range(2, MAX_HEIGHT))}.isdisjoint(values.texts):
        raise InputError(
            "The label of the other values is one of the values.", hint='Choose another "label".'
        )
    if keep is not None and (not keep or any(a <= b for a, b in pairwise(keep))):
        raise InputError('"keep" of the priorities must fall.', hint="For example: [20, 10, 5].")
    ranked = sorted(
        zip(values.texts, values.rows, strict=True),
        key=lambda one: (named.get(one[0], len(named)), -one[1], one[0]),
    )
    rank = {text: place for place, (text, _) in enumerate(ranked)}
    counts = list(_halves(len(rank))) if keep is None else keep
    levels = [
        [text if rank[text] < count else _numbered(label, level) for text in values.texts]
        for level, count in enumerate(values.by_level(counts), 1)
    ]
    return from_levels(values.texts, levels, keeps_all=keep is not None)


def _numbered(label: str, level: int) -> str:
    return label if level == 1 else f"{label} {level}"


def _halves(count: int) -> list[int]:
    halves = []
    while count > 1:
        count //= 2
        halves.append(count)
    return halves


class Builder(NamedTuple):
    """Builds a hierarchy over values; what it publishes may be of a range type."""

    build: Callable[[ColumnValues, Spec], GeneralizationHierarchy]
    makes_ranges: bool = False


BUILDERS: dict[str, Builder] = {
    "intervals": Builder(intervals, makes_ranges=True),
    "dates": Builder(calendar, makes_ranges=True),
    "prefix": Builder(prefixes),
    "networks": Builder(networks),
    "priority": Builder(priority),
}
"""Builders by name, without the one that needs the worker."""

NAMES = (*BUILDERS, "classes")


def build(
    db: Database,
    relation: RelationFacts,
    column: ColumnFacts,
    spec: Any,
    options: Any = None,
    *,
    argument: str = "spec",
) -> HierarchyDefinition:
    """Build a hierarchy over all values that a column has now, NULL apart.

    `spec` has ``{"builder": NAME, ...}`` with the name of a builder, and the keys of that builder.
    """
    builder_spec, option_spec = Spec(spec, argument), Spec(options, "options")
    kept = take_storing_options(option_spec)
    option_spec.done()
    find = partial(classes_in_worker, db)
    builders = BUILDERS | {"classes": Builder(partial(classes, find), makes_ranges=True)}
    name = builder_spec.text("builder", tuple(builders))
    if name is None:
        raise InputError(
            f"Argument {argument} names no builder.",
            hint=f'Choose one of {", ".join(builders)}, for example {{"builder": "intervals", "width": 5}}.',
        )
    builder = builders[name]
    hierarchy = builder.build(column_values(db, relation, column), builder_spec)
    builder_spec.done()
    output = range_type(column.base_type) if builder.makes_ranges else None
    source = {"table": str(relation.identifier), "column": column.name}
    return HierarchyDefinition(hierarchy, output or TEXT, name, {**spec, **source}, kept)
