"""Regions and rectangles: shapes for which it is known what can be found."""

import numpy as np
import pytest

from kanon_pg.errors import InfeasibleError, InputError
from kanon_pg.worker.grouping.rectangles import rectangles
from kanon_pg.worker.grouping.region_moves import degree_of, graph_of, low_degree_tree
from kanon_pg.worker.grouping.regions import regions


def grid(width: int, height: int) -> list[tuple[int, int]]:
    across = [(y * width + x, y * width + x + 1) for y in range(height) for x in range(width - 1)]
    down = [(y * width + x, y * width + x + width) for y in range(height - 1) for x in range(width)]
    return across + down


def test_a_grid_of_ones_is_cut_without_rest() -> None:
    found = regions([1] * 24, grid(6, 4), 4, method="exact")
    assert found.cost == 4
    assert found.optimal


def test_a_grid_has_a_path_and_a_star_has_none() -> None:
    assert degree_of(low_degree_tree(graph_of(24, grid(6, 4)))) <= 3
    assert degree_of(low_degree_tree(graph_of(6, [(0, one) for one in range(1, 6)]))) == 5


def test_an_edge_is_exchanged_to_lower_the_degree() -> None:
    """A wheel: the search may branch at the hub, but there is a path."""
    wheel = [(0, one) for one in range(1, 9)] + [(one, one % 8 + 1) for one in range(1, 9)]
    assert degree_of(low_degree_tree(graph_of(9, wheel))) <= 2


def test_a_star_of_light_leaves_reaches_the_bound_of_the_lemma() -> None:
    """A centre of k with d leaves of k - 1: one region, kappa + d (k - 1)."""
    found = regions([5, 4, 4, 4, 4], [(0, one) for one in range(1, 5)], 5)
    assert found.sizes.tolist() == [5 + 4 * 4]
    assert found.degree == 4


def test_light_parts_are_gathered_or_refused() -> None:
    weights, edges = [5, 5, 2, 2, 1], [(0, 1)]
    found = regions(weights, edges, 5)
    assert found.class_of.tolist() == [0, 1, 2, 2, 2]
    assert found.other == 2
    with pytest.raises(InfeasibleError, match="no way to the others"):
        regions(weights, edges, 5, on_light="refuse")


def test_too_few_light_values_are_joined_by_the_smallest_region() -> None:
    found = regions([9, 6, 7, 1], [(0, 1), (1, 2)], 5)
    assert found.class_of.tolist() == [0, 1, 2, 1]
    assert found.other == 1
    assert regions([1, 1, 1], [], 3).sizes.tolist() == [3]


def test_loops_and_repeated_edges_count_for_nothing() -> None:
    once = regions([1] * 6, grid(3, 2), 2)
    twice = regions([1] * 6, [*grid(3, 2), *[(b, a) for a, b in grid(3, 2)], (1, 1)], 2)
    assert once.class_of.tolist() == twice.class_of.tolist()


def test_the_worst_case_of_theorem_4() -> None:
    """A point of k with k - 1 in each direction cannot be cut: 5k - 4."""
    k = 7
    found = rectangles([0, 1, -1, 0, 0], [0, 0, 0, 1, -1], [k, k - 1, k - 1, k - 1, k - 1], k)
    assert found.classes.sizes.tolist() == [5 * k - 4]


def test_equal_points_stay_together_and_borders_run_between() -> None:
    found = rectangles([0, 0, 0, 4, 4], [1, 1, 1, 1, 3], [1, 1, 1, 1, 1], 2)
    assert found.classes.class_of.tolist() == [0, 0, 0, 1, 1]
    assert found.boxes.tolist() == [[0, 1, 2, 3], [2, 1, 4, 3]]


def area(boxes: np.ndarray) -> float:
    return float(((boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])).sum())


def test_exact_rectangles_grow_until_they_fill_the_plane() -> None:
    """A pinwheel around a rectangle: the first cut always splits one of the five."""
    x = [0, 2, 3, 3, 1, 3, 0, 0, 1, 2]
    y = [0, 0, 0, 2, 3, 3, 1, 3, 1, 2]
    cut = rectangles(x, y, [1] * 10, 2)
    exact = rectangles(x, y, [1] * 10, 2, method="exact")
    assert exact.classes.cost == 2 < cut.classes.cost
    assert exact.classes.optimal
    assert area(exact.boxes) == area(cut.boxes) == 9


def test_a_pinwheel_that_leaves_a_hole_is_no_answer() -> None:
    x = [0, 2, 3, 3, 1, 3, 0, 0]
    y = [0, 0, 0, 2, 3, 3, 1, 3]
    exact = rectangles(x, y, [1] * 8, 2, method="exact")
    assert area(exact.boxes) == 9
    assert exact.classes.lower_bound <= exact.classes.cost


def test_coordinates_are_finite() -> None:
    for bad in (np.nan, np.inf):
        with pytest.raises(InputError, match="finite"):
            rectangles([0.0, bad], [0.0, 1.0], [2, 2], 2)


def test_neighbouring_doubles_are_parted() -> None:
    low = 1.0
    high = float(np.nextafter(low, 2))
    found = rectangles([low, high], [0.0, 0.0], [2, 2], 2)
    assert found.classes.sizes.tolist() == [2, 2]
