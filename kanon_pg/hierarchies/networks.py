"""Networks of IP addresses: 192.0.2.17, 192.0.2.0/24, 192.0.0.0/16 ..."""

from __future__ import annotations

from ipaddress import IPv4Network, IPv6Network, ip_interface, ip_network
from itertools import pairwise

from kanon_pg.core.hierarchy import GeneralizationHierarchy, from_levels
from kanon_pg.errors import InputError, UnsuitableColumn
from kanon_pg.hierarchies.spec import Spec
from kanon_pg.hierarchies.values import ColumnValues

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
