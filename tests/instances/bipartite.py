"""Balanced complete bipartite subgraphs as k-anonymity with few output row types.

R. Bredereck, A. Nichterlein, R. Niedermeier, G. Philip: "The Effect of Homogeneity on the Computational
Complexity of Combinatorial Data Anonymization" (2014), Proposition 1 (two output row types) and
Theorem 1 (any fixed number of them).
"""

from itertools import combinations

import networkx as nx

from tests.instances.known import Known, Row


def most_common_neighbours(graph: nx.Graph, left: list[int], right: list[int], size: int) -> int:
    """Return how many vertices of the right side are adjacent to all of some `size` of the left side."""
    return max(
        sum(all(graph.has_edge(one, other) for one in chosen) for other in right)
        for chosen in combinations(left, size)
    )


def limit(half: int) -> int:
    """Return the number of suppressions, s = (n/4 + 1) n/2 + (n/4 + 1) n/4, that the question allows."""
    quarter = half // 2
    return (quarter + 1) * half + (quarter + 1) * quarter


def subgraph_table(graph: nx.Graph, half: int, output_types: int = 2) -> Known:
    """Return the table of a balanced bipartite graph.

    Parameters
    ----------
    graph : Graph
        Its vertices are 0 to ``half - 1`` on the left (rows) and ``half`` to ``2 half - 1`` (columns).
    half : int
        n / 2, even; n is the number of vertices.
    output_types : int
        t_out >= 2 of Theorem 1; 2 gives the table of Proposition 1.

    Notes
    -----
    k = n/4 + 1. A complete bipartite subgraph with n/4 vertices on both sides exists if and only if the
    optimum is at most `limit`. More exactly, the optimum is k n/2 for the class of the row of boxes, and
    k (n/2 - c) for the other, where c is the most common neighbours of n/4 vertices of the left side.
    """
    quarter = half // 2
    left, right = list(range(half)), list(range(half, 2 * half))
    padding: Row = ("1",) * half if output_types > 2 else ()
    rows: list[Row] = [
        tuple(
            "1" if graph.has_edge(vertex, other) else ("0a" if vertex < quarter else "0b") for other in right
        )
        + padding
        for vertex in left
    ]
    rows += [("box",) * half + padding, ("1",) * half + padding]
    for symbol in range(3, output_types + 1):
        rows += [(str(symbol),) * (half + len(padding))] * (quarter + 1)
    common = most_common_neighbours(graph, left, right, quarter)
    return Known(tuple(rows), quarter + 1, (quarter + 1) * (half + half - common))
