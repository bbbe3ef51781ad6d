"""Builds a hierarchy over the values of a column: the builders by name, and the short ones.

These are beginnings of texts (13053, 1305*, 130**), networks of IP addresses (192.0.2.17, 192.0.2.0/24), and
values by priority, of which the last become one node.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from ipaddress import IPv4Network, IPv6Network, ip_interface, ip_network
from itertools import pairwise
from typing import Any

from kanon_pg.core.hierarchy import MAX_HEIGHT, GeneralizationHierarchy, from_levels
from kanon_pg.db.catalog import ColumnFacts, RelationFacts
from kanon_pg.db.protocol import Database
from kanon_pg.errors import InputError, UnsuitableColumn
from kanon_pg.hierarchies.classes import classes, finder_in_worker
from kanon_pg.hierarchies.dates import calendar
from kanon_pg.hierarchies.definition import HierarchyDefinition, take_storing_options
from kanon_pg.hierarchies.inputs import ColumnValues, Spec, column_values
from kanon_pg.hierarchies.intervals import intervals
from kanon_pg.hierarchies.ranges import TEXT, range_type

_LONGEST = 500


def prefixes(values: ColumnValues, spec: Spec) -> GeneralizationHierarchy:
    """Build the hierarchy that keeps fewer and fewer characters from the left.

    What is not kept is masked up to the length of the longest value. A value that is no longer than what is
    kept stays as it is.

    Parameters
    ----------
    values : ColumnValues
        Values of any type, taken as texts.
    spec : Spec
        ``keep``: characters kept at each level, falling; unless given, one less each level, or ``step`` less.
        ``mask``: one character, ``*`` unless given.

    Raises
    ------
    InputError
        If the keys do not fit the values.
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

    Parameters
    ----------
    values : ColumnValues
        Addresses or networks of either version, of type inet, cidr or text.
    spec : Spec
        ``prefixes`` and ``prefixes6``: lengths of the network part per level, falling, for the versions 4
        and 6; (24, 16, 8) and (64, 48, 32) unless given. Both must have the same number of levels.

    Raises
    ------
    InputError, UnsuitableColumn
        If the lengths do not fall, or a value is no address.
    """
    if values.column.base_type not in _ADDRESSES:
        raise values.unsuitable("networks", "addresses: inet, cidr and texts")
    four, six = spec.wholes("prefixes", 0, 32), spec.wholes("prefixes6", 0, 128)
    lengths = {4: list(_V4) if four is None else four, 6: list(_V6) if six is None else six}
    found = [_network(values, text) for text in values.texts]
    versions = {network.version for network in found}
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
        [_supernet(network, lengths[network.version][level]) for network in found]
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

    Parameters
    ----------
    values : ColumnValues
        Values of any type, taken as texts.
    spec : Spec
        ``keep``: how many values stay as they are at each level, falling; half of those below unless given.
        ``order``: values, the most important first; those not named follow, the most frequent first.
        ``label``: what the others are called, ``(other)`` unless given; from the second level on the
        number of the level follows, since there are more of them.

    Raises
    ------
    InputError
        If the numbers do not fall, or the label is one of the values.
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


Builder = Callable[[ColumnValues, Spec], GeneralizationHierarchy]

BUILDERS: dict[str, Builder] = {
    "intervals": intervals,
    "dates": calendar,
    "prefix": prefixes,
    "networks": networks,
    "priority": priority,
}
"""Builders by name, without the one that needs the worker."""

NAMES = (*BUILDERS, "classes")

_OF_RANGES = ("intervals", "dates", "classes")


def build(
    db: Database, relation: RelationFacts, column: ColumnFacts, spec: Any, options: Any = None
) -> HierarchyDefinition:
    """Build a hierarchy over all values that a column has now, NULL apart.

    Parameters
    ----------
    spec : mapping
        ``{"builder": NAME, ...}`` with the name of a builder, and the keys of that builder.
    options : mapping, optional
        Those of `kanon_pg.hierarchies.definition.StoringOptions`.

    Returns
    -------
    HierarchyDefinition
        Checked; the output is a range type for intervals, dates, and classes of what has an order, else text.

    Raises
    ------
    InputError
        If the specification cannot be understood.
    UnsuitableColumn
        If the builder is not for columns of this type.
    InfeasibleError
        If there are too few rows for what it wants.
    """
    given, saying = Spec(spec, "spec"), Spec(options, "options")
    kept = take_storing_options(saying)
    saying.done()
    builders = BUILDERS | {"classes": partial(classes, finder_in_worker(db))}
    name = given.text("builder", tuple(builders))
    if name is None:
        raise InputError(
            "The specification names no builder.",
            hint=f'Choose one of {", ".join(builders)}, for example {{"builder": "intervals", "width": 5}}.',
        )
    hierarchy = builders[name](column_values(db, relation, column), given)
    given.done()
    output = range_type(column.base_type) if name in _OF_RANGES else None
    return HierarchyDefinition(hierarchy, output or TEXT, name, dict(spec), kept)
