"""Vertex cover on 3-regular graphs as 7-anonymity with three columns.

V. T. Chakaravarthy, V. Pandit, Y. Sabharwal: "On the Complexity of the k-Anonymization Problem" (2010),
Theorem 3.1. A table of a graph with r vertices and edges E has 20 r + 2 |E| + 14 rows, and its least
cost is 27 r + 2 |E| + 14 plus the size of a smallest vertex cover.
"""

from collections.abc import Iterator
from itertools import combinations, count

import networkx as nx

from tests.instances.known import Known, Row

K = 7


def smallest_cover(graph: nx.Graph) -> int:
    """Return the size of a smallest vertex cover by trying all sets of vertices."""
    for size in range(len(graph) + 1):
        for chosen in combinations(graph, size):
            if all(one in chosen or other in chosen for one, other in graph.edges):
                return size
    raise AssertionError("all vertices cover all edges")


def vertex_cover_table(graph: nx.Graph) -> Known:
    """Return the table of a 3-regular graph.

    The optimum is that of Theorem 3.1 under the strict rule, all patterns allowed. The proof needs that
    every vertex has three edges: only then are six rows left with a vertex in one column.
    """
    assert all(degree == 3 for _, degree in graph.degree)
    special = (f"?{number}" for number in count())
    rows = [row for vertex in graph for row in _vertex_rows(f"v{vertex}", special)]
    for one, other in graph.edges:
        rows += [("0", f"v{one}", f"v{other}"), ("0", f"v{other}", f"v{one}")]
    rows += [("0", next(special), "Z") for _ in range(7)]
    rows += [("0", "Z", next(special)) for _ in range(7)]
    base = 27 * len(graph) + 2 * graph.number_of_edges() + 14
    return Known(tuple(rows), K, base + smallest_cover(graph))


def _vertex_rows(vertex: str, special: Iterator[str]) -> list[Row]:
    return [
        *[("0", vertex, vertex)] * 6,
        (next(special), vertex, vertex),
        *[(next(special), vertex, next(special)) for _ in range(7)],
        *[("0", vertex, "Z")] * 3,
        *[("0", "Z", vertex)] * 3,
    ]
