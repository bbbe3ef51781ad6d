"""Independent parts of a network: row types that share no instance but the sink."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.solvers.exact.network import Network

Numbers = NDArray[np.int64]


def components(network: Network) -> Iterator[Network]:
    """Yield the connected components of a network without its sink, the smallest first.

    Each is a network of its own, with the sink. As long as the sink asks for nothing (see
    `kanon_pg.worker.solvers.exact.search`) an optimum of the whole consists of optima of the components. Row
    types that may join the sink only come as one component without other instances.
    """
    last = int(network.begin[-2])
    label = _labels(len(network), network.begin, network.member)
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
def _labels(count: int, begin: Numbers, member: Numbers) -> Numbers:
    """Return a node of the component of each node: union by path halving over all but the last instance."""
    parent = np.arange(count)
    for instance in range(begin.size - 2):
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
