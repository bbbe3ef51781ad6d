"""Row types and pattern instances as exact search sees them: shrunk and split where that keeps an optimum.

A *node* is a set of row types that may join the same instances. The last instance is the *sink*, which every
node may join; it is the cheapest instance of the whole table, so that whatever costs more is of no use.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.row_types import RowTypeTable, mix
from kanon_pg.worker.solvers.compatibility import Compatibility
from kanon_pg.worker.solvers.exact.granularity import granularity
from kanon_pg.worker.verification.certificate import PRICE_UNIT

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Network:
    """The bipartite graph of nodes and instances."""

    rows: Numbers
    """Shape (n,). Rows of each node."""
    vector: Numbers
    """Shape (q,). Pattern vector of each instance."""
    cost: NDArray[np.float64]
    """Shape (q,). Cost of one row in each instance, ascending; the last one is the sink."""
    begin: Numbers
    """Shape (q + 1,). Where the members of each instance begin."""
    member: Numbers
    """Shape (e,). Nodes that may join each instance, ascending."""
    first: Numbers
    """Shape (n + 1,). Where the row types of each node begin."""
    row_type: Numbers
    """Row types of each node."""

    def __len__(self) -> int:
        return int(self.rows.size)

    @property
    def instance(self) -> Numbers:
        """Instance of each pair, shape (e,)."""
        return np.repeat(np.arange(self.cost.size), np.diff(self.begin))

    def of_nodes(self) -> tuple[Numbers, Numbers]:
        """Return the graph seen from the nodes: where each begins, and its instances, cheapest first."""
        order = np.argsort(self.member, kind="stable")
        start = np.zeros(len(self) + 1, dtype=np.int64)
        np.cumsum(np.bincount(self.member, minlength=len(self)), out=start[1:])
        return start, self.instance[order]

    def with_instances(self, kept: NDArray[np.bool_]) -> Network:
        """Return the network of some of the instances, the sink among them."""
        pairs = np.repeat(kept, np.diff(self.begin))
        return replace(
            self,
            vector=self.vector[kept],
            cost=self.cost[kept],
            begin=_begins(np.diff(self.begin)[kept]),
            member=self.member[pairs],
        )

    def with_pairs(self, kept: NDArray[np.bool_]) -> Network:
        """Return the network of some of the pairs; instances may be left without members."""
        lengths = np.bincount(self.instance[kept], minlength=self.cost.size)
        return replace(self, begin=_begins(lengths), member=self.member[kept])


def network_of(table: RowTypeTable, graph: Compatibility, *, has_strict_sink: bool) -> Network:
    """Return the network of a table's compatibility graph, one node per row type.

    Parameters
    ----------
    has_strict_sink : bool
        Whether the fully suppressed class needs k people like any other. Then a cheaper instance of the
        whole table is as good and becomes the sink.
    """
    count, instances = len(table), len(graph)
    if has_strict_sink:
        instances = int(np.flatnonzero(np.diff(graph.begin) == count)[0]) + 1
    pairs = int(graph.begin[instances])
    return Network(
        table.rows,
        graph.vector[:instances],
        graph.cost[:instances],
        graph.begin[: instances + 1],
        graph.member[:pairs].astype(np.int64),
        np.arange(count + 1),
        np.arange(count),
    )


def merge_alike(network: Network) -> Network:
    """Join nodes that may join the same instances: their rows can be exchanged at no cost.

    Rows of row types must be divisible. Neither the optimum nor the linear relaxation changes.
    """
    start, instance = network.of_nodes()
    degree = np.diff(start)
    marks = mix(np.arange(1, network.cost.size + 1, dtype=np.uint64))
    sign = np.add.reduceat(marks[instance], start[:-1])
    order = np.lexsort((sign, degree))
    offset = np.arange(instance.size) - np.repeat(start[:-1], degree)
    model = np.empty_like(order)
    model[order[1:]] = order[:-1]
    model[order[0]] = order[0]
    is_new = (degree != degree[model]) | (sign != sign[model])
    # Marks only sort; equality is that of the instances themselves.
    compared = np.repeat(np.where(is_new, np.arange(len(network)), model), degree)
    differs = instance != instance[start[compared] + offset]
    is_new |= np.logical_or.reduceat(differs, start[:-1])
    is_new[order[0]] = True
    group = np.empty_like(order)
    group[order] = np.cumsum(is_new[order]) - 1
    return _grouped(network, group, is_new)


def _grouped(network: Network, group: Numbers, is_first: NDArray[np.bool_]) -> Network:
    """Return the network of groups of nodes, numbered by their first node."""
    leaders = np.flatnonzero(is_first)
    rank = np.empty(leaders.size, dtype=np.int64)
    rank[group[leaders]] = np.arange(leaders.size)
    group = rank[group]
    kept = is_first[network.member]
    lengths = np.bincount(network.instance[kept], minlength=network.cost.size)
    by_type = np.repeat(group, np.diff(network.first))
    order = np.argsort(by_type, kind="stable")
    return replace(
        network,
        rows=np.bincount(group, weights=network.rows).astype(np.int64),
        begin=_begins(lengths),
        member=group[network.member[kept]],
        first=_begins(np.bincount(by_type)),
        row_type=network.row_type[order],
    )


def drop_dominated(network: Network) -> Network:
    """Drop instances whose members may all join another one that costs no more.

    Rows of such an instance can move there together, so an optimum remains; the number of classes does
    not grow. O(sum over instances of the degrees of their members) in the worst case, usually far less.
    """
    start, instance = network.of_nodes()
    kept = ~_dominated(network.begin, network.member, network.cost, start, instance)
    kept[-1] = True
    return network.with_instances(kept)


@kernel
def _dominated(
    begin: Numbers, member: Numbers, cost: NDArray[np.float64], start: Numbers, instance: Numbers
) -> NDArray[np.bool_]:
    count = cost.size
    is_dominated = np.zeros(count, dtype=np.bool_)
    widest = np.int64(0)
    for node in range(start.size - 1):
        widest = max(widest, start[node + 1] - start[node])
    others = np.empty(widest, dtype=np.int64)
    for own in range(count - 1):
        size = begin[own + 1] - begin[own]
        if size == 0:
            is_dominated[own] = True
            continue
        found = 0
        node = member[begin[own]]
        for place in range(start[node], start[node + 1]):
            other = instance[place]
            if cost[other] > cost[own]:
                break
            larger = begin[other + 1] - begin[other]
            # Of instances with equal members and costs the first one stays.
            if larger > size or (larger == size and other < own):
                others[found] = other
                found += 1
        for position in range(begin[own] + 1, begin[own + 1]):
            if found == 0:
                break
            node = member[position]
            place, end, common = start[node], start[node + 1], 0
            for number in range(found):
                while place < end and instance[place] < others[number]:
                    place += 1
                if place < end and instance[place] == others[number]:
                    others[common] = others[number]
                    common += 1
            found = common
        is_dominated[own] = found > 0
    return is_dominated


def _begins(lengths: Numbers) -> Numbers:
    begins = np.zeros(lengths.size + 1, dtype=np.int64)
    np.cumsum(lengths, out=begins[1:])
    return begins


_ROUNDING = 1e-6

_EQUAL = 1e-9
"""Costs that differ by less than this share are equal: they are sums of rounded weights."""


def prune(network: Network, table: RowTypeTable, prices: Numbers, k: int, cost: float) -> Network:
    """Leave out pairs of a row type and an instance that every solution cheaper than `cost` avoids.

    A solution costs the sum of all prices and, for every class, what its rows cost in excess of their
    prices. No class has a negative excess, so one with an excess as large as the whole gap cannot be part of
    a better solution.

    Parameters
    ----------
    network : Network
        One row type per node.
    prices : ndarray of int64, shape (n,)
        Valid prices in units of 1 / `PRICE_UNIT`.

    Notes
    -----
    O(e log e) time for e pairs.
    """
    price = prices / PRICE_UNIT
    gap = _next_below(cost, granularity(network.cost)) - float((price * table.rows).sum())
    most = gap + _ROUNDING * max(1.0, abs(cost))
    excess = pair_excess(network.begin, network.member, network.cost, price, table.rows, k)
    excess[network.begin[-2] :] = -np.inf
    fewer = network.with_pairs(excess <= most)
    people = np.bincount(fewer.instance, weights=table.people[fewer.member], minlength=fewer.cost.size)
    people[-1] = k
    return fewer.with_instances(people >= k)


def _next_below(cost: float, step: float) -> float:
    """Return the largest multiple of `step` below a cost, which may be none itself; the cost for step 0.

    Known solutions may use instances that the network left out, at costs that it cannot have.
    """
    if step == 0.0:
        return cost
    ratio = cost / step
    return (math.ceil(ratio - _EQUAL * max(1.0, ratio)) - 1) * step


@kernel
def pair_excess(
    begin: Numbers,
    member: NDArray[np.integer],
    cost: NDArray[np.float64],
    price: NDArray[np.float64],
    rows: Numbers,
    k: int,
) -> NDArray[np.float64]:
    """Return for each pair the least excess of a class of at least k rows that has one of these rows."""
    excess = np.empty(member.size, dtype=np.float64)
    for instance in range(begin.size - 1):
        first, last = begin[instance], begin[instance + 1]
        own = cost[instance] - price[member[first:last]]
        held, least, filler = np.int64(0), 0.0, -np.inf
        order = np.argsort(own)
        for place in order:
            count = rows[member[first + place]]
            if own[place] <= 0.0:
                held += count
                least += own[place] * count
                continue
            if held >= k:
                break
            taken = min(count, k - held)
            held += taken
            least += own[place] * taken
            filler = own[place]
        for place in range(last - first):
            # One row of this type joins; if the class was filled up to k, the costliest of those leaves.
            joined = own[place] - filler if filler > 0.0 else own[place]
            excess[first + place] = least + max(0.0, joined)
    return excess


def components(network: Network) -> Iterator[Network]:
    """Yield the connected components of a network without its sink, the smallest first.

    Each is a network of its own, with the sink. As long as the sink asks for nothing (see
    `kanon_pg.worker.solvers.exact.optimum`) an optimum of the whole consists of optima of the components. Row
    types that may join the sink only come as one component without other instances.
    """
    last = int(network.begin[-2])
    label = component_roots(len(network), network.begin[:-1], network.member)
    pairs = np.bincount(label[network.member[:last]], minlength=len(network))
    label[pairs[label] == 0] = len(network)
    owner = label[network.member[network.begin[:-2]]]
    size = np.append(pairs, 0)
    names = np.unique(label)
    names = names[np.lexsort((names, size[names]))]
    rank = np.empty(len(network) + 1, dtype=np.int64)
    rank[names] = np.arange(names.size)
    nodes, node_begin = _sorted_by(rank[label], names.size)
    instances, instance_begin = _sorted_by(rank[owner], names.size)
    local = np.empty(len(network), dtype=np.int64)
    local[nodes] = np.arange(len(network)) - np.repeat(node_begin[:-1], np.diff(node_begin))
    for number in range(names.size):
        yield _part(
            network,
            nodes[node_begin[number] : node_begin[number + 1]],
            instances[instance_begin[number] : instance_begin[number + 1]],
            local,
        )


def _part(network: Network, nodes: Numbers, instances: Numbers, local: Numbers) -> Network:
    """Return the network of some nodes and all their instances but the sink, which is added."""
    types = slices(network.first, nodes)
    pairs = slices(network.begin, instances)
    lengths = np.append(np.diff(network.begin)[instances], nodes.size)
    chosen = np.append(instances, network.cost.size - 1)
    return replace(
        network,
        rows=network.rows[nodes],
        vector=network.vector[chosen],
        cost=network.cost[chosen],
        begin=np.concatenate([[0], np.cumsum(lengths)]),
        member=np.concatenate([local[network.member[pairs]], np.arange(nodes.size)]),
        first=np.concatenate([[0], np.cumsum(np.diff(network.first)[nodes])]),
        row_type=network.row_type[types],
    )


def slices(begin: Numbers, chosen: NDArray[np.integer[Any]]) -> Numbers:
    """Return the positions from begin[i] up to begin[i + 1] of all chosen i, one after the other."""
    lengths = begin[chosen + 1] - begin[chosen]
    ends = np.cumsum(lengths)
    positions: Numbers = np.arange(int(lengths.sum())) + np.repeat(begin[chosen] - (ends - lengths), lengths)
    return positions


def _sorted_by(rank: Numbers, count: int) -> tuple[Numbers, Numbers]:
    begin = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.bincount(rank, minlength=count), out=begin[1:])
    return np.argsort(rank, kind="stable"), begin


@kernel
def component_roots(count: int, begin: Numbers, member: Numbers) -> Numbers:
    """Return a node of the component of each node: sets of members are united, by path halving."""
    parent = np.arange(count)
    for instance in range(begin.size - 1):
        root = member[begin[instance]]
        while parent[root] != root:
            parent[root] = parent[parent[root]]
            root = parent[root]
        for position in range(begin[instance] + 1, begin[instance + 1]):
            node = member[position]
            while parent[node] != node:
                parent[node] = parent[parent[node]]
                node = parent[node]
            parent[node] = root
    for node in range(count):
        root = node
        while parent[root] != root:
            root = parent[root]
        parent[node] = root
    return parent
