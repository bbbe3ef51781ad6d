"""Which row types may take part in which pattern instance: the graph that exact methods and bounds search.

A *pattern instance* is a pattern vector together with the values that it keeps; a row type is compatible
with it if it has these values (Bredereck, Nichterlein and Niedermeier 2013, section 2.2). Classes of a
solution are instances, so an instance with fewer than k compatible people can never be used.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.errors import MemoryExceeded
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.compiled import kernel
from kanon_pg.worker.patterns import few_changes, suppression_costs
from kanon_pg.worker.row_types import RowTypeTable, mix
from kanon_pg.worker.solvers.greedy.scan import (
    GroupingBuffers,
    group_candidates,
    grouping_for,
    list_groups,
    update_keys,
)

MOST_EDGES = 30_000_000
"""Most pairs of a row type and an instance that a graph may have: about 0.5 GiB with working arrays."""


@dataclass(frozen=True)
class Compatibility:
    """The bipartite graph of row types and pattern instances.

    Instances are numbered by cost per row, cheapest first. The last one is the fully suppressed class,
    with which every row type is compatible.
    """

    vector: NDArray[np.int64]
    """Shape (q,). Pattern vector of each instance."""
    cost: NDArray[np.float64]
    """Shape (q,). Cost of one row in each instance: the weights of its suppressed columns."""
    people: NDArray[np.int64]
    """Shape (q,). People of the compatible row types, as if nobody were in two of them; >= k."""
    begin: NDArray[np.int64]
    """Shape (q + 1,). Where the members of each instance begin."""
    member: NDArray[np.int32]
    """Shape (e,). Row types that are compatible with each instance, ascending."""

    def __len__(self) -> int:
        return int(self.vector.size)

    def row_costs(self, table: RowTypeTable, vector: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return what a row costs in instances with these vectors."""
        return suppression_costs(vector, table.weights)

    @property
    def edges(self) -> int:
        """Number of pairs of a row type and an instance."""
        return int(self.member.size)

    @property
    def row_types(self) -> int:
        """Number of row types: all of them are members of the last instance."""
        return int(self.begin[-1] - self.begin[-2])

    @cached_property
    def instances_of(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """The graph seen from the row types: where each begins, and its instances, cheapest first."""
        return _transposed(self.begin, self.member, self.row_types)

    def members(self, instance: int) -> NDArray[np.int32]:
        """Return the row types that are compatible with an instance."""
        return self.member[self.begin[instance] : self.begin[instance + 1]]


def compatibility_of(
    table: RowTypeTable,
    vectors: NDArray[np.int64],
    k: int,
    clock: Clock,
    *,
    max_cost_per_row: NDArray[np.float64] | None = None,
    most_edges: int = MOST_EDGES,
    keep_equal: bool = False,
) -> Compatibility:
    """Build the graph of a table and some pattern vectors.

    Of several instances with the same members only the cheapest is kept: a solution that uses another one can
    move to it. Both reductions keep every optimum.

    Parameters
    ----------
    table : RowTypeTable
        With at least k people.
    vectors : ndarray of int64, shape (p,)
        Allowed pattern vectors, the fully suppressed one among them.
    max_cost_per_row : ndarray of float64, shape (n,), optional
        Leaves out pairs whose instance costs more per row than this number of the row type. What is
        proven on such a graph holds only for solutions that use its pairs. The fully suppressed
        instance keeps all row types. Instances keep at least k compatible people.
    keep_equal : bool
        Keeps instances with the same members: together they can be more classes than one.

    Raises
    ------
    MemoryExceeded
        There are more pairs than `most_edges`.

    Notes
    -----
    O(p n m) time in the worst case, O(p n) for vectors whose neighbours differ in few columns.
    """
    vectors = few_changes(vectors, suppression_costs(vectors, table.weights))
    costs = suppression_costs(vectors, table.weights)
    all_types = np.arange(len(table), dtype=np.int32)
    graph = _GrowingGraph(table, k, most_edges - len(table), keep_equal)
    for turn in range(vectors.size - 1):
        if turn % 16 == 0:
            clock.report("prepare", turn / vectors.size)
        able = all_types
        if max_cost_per_row is not None:
            able = np.flatnonzero(max_cost_per_row >= costs[turn]).astype(np.int32)
        graph.add_vector(int(vectors[turn]), float(costs[turn]), able)
    graph.parts.append(_Part(int(vectors[-1]), float(costs[-1]), np.array([len(table)]), all_types))
    return _joined(graph.parts, table.people)


class _Part(NamedTuple):
    """The instances of one vector: the number of members of each, and the members, instance by instance."""

    vector: int
    cost: float
    lengths: NDArray[np.int64]
    members: NDArray[np.int32]


class _GrowingGraph:
    """The instances of the vectors so far."""

    def __init__(self, table: RowTypeTable, k: int, most_edges: int, keep_equal: bool) -> None:
        self._table, self._k, self._most_edges, self._keep_equal = table, k, most_edges, keep_equal
        self._keys, self._vector = table.hashes.sum(axis=0, dtype=np.uint64), 0
        self._grouping = grouping_for(len(table))
        self._marks = mix(np.arange(1, len(table) + 1, dtype=np.uint64))
        self._seen: set[tuple[int, int]] = set()
        self._edges = 0
        self.parts: list[_Part] = []

    def add_vector(self, vector: int, cost: float, able: NDArray[np.int32]) -> None:
        """Add the instances of a vector among some row types.

        Raises
        ------
        MemoryExceeded
            There are too many pairs.
        """
        update_keys(self._keys, self._table.hashes, self._keys.size, self._vector, vector)
        self._vector = vector
        lengths, members, signs = _groups_of(
            self._keys, able, self._table.people, self._marks, self._grouping, self._k
        )
        if not self._keep_equal:
            lengths, members = _unseen(lengths, members, signs, self._seen)
        self._edges += members.size
        if self._edges > self._most_edges:
            most = self._most_edges + len(self._table)
            raise MemoryExceeded(
                f"More than {most:,} pairs of a row type and a pattern instance are possible.",
                hint="Restrict the patterns, or use method => 'greedy'.",
            )
        self.parts.append(_Part(vector, cost, lengths, members))


@kernel
def _groups_of(
    keys: NDArray[np.uint64],
    able: NDArray[np.int32],
    people: NDArray[np.int64],
    marks: NDArray[np.uint64],
    grouping: GroupingBuffers,
    k: int,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint64]]:
    """Group row types by key; return length, members and signature of the groups of k people."""
    grouping.candidates[: able.size] = able
    groups = group_candidates(keys, able.size, grouping)
    first = list_groups(grouping, able.size, groups)
    lengths = np.empty(groups, dtype=np.int64)
    signs = np.empty(groups, dtype=np.uint64)
    members = np.empty(able.size, dtype=np.int32)
    kept, place = 0, 0
    for group in range(groups):
        total = np.int64(0)
        sign = np.uint64(0)
        for position in range(first[group], first[group + 1]):
            item = grouping.members[position]
            total += people[item]
            sign += marks[item]
        if total < k:
            continue
        lengths[kept] = first[group + 1] - first[group]
        signs[kept] = sign
        kept += 1
        for position in range(first[group], first[group + 1]):
            members[place] = grouping.members[position]
            place += 1
    return lengths[:kept], members[:place], signs[:kept]


def _unseen(
    lengths: NDArray[np.int64],
    members: NDArray[np.int32],
    signs: NDArray[np.uint64],
    seen: set[tuple[int, int]],
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Leave out groups whose members were already those of a cheaper instance.

    Groups are told apart by their size and the sum of random 64-bit marks of their members. Should two
    groups collide, one instance fewer is searched and solutions stay valid; a bound would be wrong with
    probability below 1e-6 for 10 million instances, so certificates are checked without this graph.
    """
    pairs = list(zip(signs.tolist(), lengths.tolist(), strict=True))
    is_new = np.fromiter((pair not in seen for pair in pairs), dtype=np.bool_, count=len(pairs))
    if is_new.all():
        seen.update(pairs)
        return lengths, members
    seen.update(pairs)
    return lengths[is_new], members[np.repeat(is_new, lengths)]


def _joined(parts: list[_Part], people: NDArray[np.int64]) -> Compatibility:
    repeats = [part.lengths.size for part in parts]
    lengths = np.concatenate([part.lengths for part in parts])
    member = np.concatenate([part.members for part in parts])
    begin = np.zeros(lengths.size + 1, dtype=np.int64)
    np.cumsum(lengths, out=begin[1:])
    vector = np.repeat(np.array([part.vector for part in parts], dtype=np.int64), repeats)
    cost = np.repeat(np.array([part.cost for part in parts], dtype=np.float64), repeats)
    return Compatibility(vector, cost, np.add.reduceat(people[member], begin[:-1]), begin, member)


@kernel
def _transposed(
    begin: NDArray[np.int64], member: NDArray[np.int32], count: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    start = np.zeros(count + 1, dtype=np.int64)
    for item in member:
        start[item + 1] += 1
    for item in range(count):
        start[item + 1] += start[item]
    place = start[:-1].copy()
    instances = np.empty(member.size, dtype=np.int32)
    for instance in range(begin.size - 1):
        for position in range(begin[instance], begin[instance + 1]):
            item = member[position]
            instances[place[item]] = instance
            place[item] += 1
    return start, instances
