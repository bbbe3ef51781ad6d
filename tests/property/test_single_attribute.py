"""Grouping the values of one attribute: each theorem's bound, and the optimum by brute force."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kanon_pg.worker.clock import Clock
from kanon_pg.worker.grouping.intervals import intervals
from kanon_pg.worker.grouping.labels import exact_labels, relaxed, relaxed_classes
from kanon_pg.worker.grouping.rectangles import rectangles
from kanon_pg.worker.grouping.regions import regions
from kanon_pg.worker.grouping.result import SingleAttribute, cost_of
from kanon_pg.worker.grouping.spread import by_theorem, fold, spread
from tests.fixtures.examples import examples
from tests.fixtures.simplified_spread import simplified_spread

KINDS = st.sampled_from(["max", "sum"])
few = settings(max_examples=examples(30))
"""For what tries all partitions, or starts a constraint solver."""


@st.composite
def instances(draw: st.DrawFn, most: int = 40, heaviest: int = 60) -> tuple[list[int], int]:
    """Return weights and a k that they reach together."""
    k = draw(st.integers(1, 40))
    weights = draw(st.lists(st.integers(0, heaviest), min_size=1, max_size=most))
    assume(sum(weights) >= k)
    return weights, k


def check(found: SingleAttribute, weights: Sequence[int], k: int) -> None:
    """Every value is in one class, every class has k, and the figures are those of the classes."""
    assert found.class_of.shape == (len(weights),)
    sizes = np.bincount(found.class_of, weights=weights)
    assert sizes.tolist() == found.sizes.tolist()
    assert min(found.sizes) >= k
    assert found.cost == cost_of(found.sizes, k, found.cost_kind)
    assert found.lower_bound <= found.cost
    assert found.optimal == (found.ratio == 1.0)
    firsts = [found.class_of.tolist().index(number) for number in range(len(found.sizes))]
    assert firsts == sorted(firsts)


def partitions(values: int) -> Iterator[list[list[int]]]:
    """Yield every partition of 0 .. values - 1."""
    if values == 0:
        yield []
        return
    for parts in partitions(values - 1):
        for place in range(len(parts)):
            yield [*parts[:place], [*parts[place], values - 1], *parts[place + 1 :]]
        yield [*parts, [values - 1]]


def least_cost(weights: Sequence[int], k: int, kind: str, allowed: object = None) -> int:
    """Return the optimum by trying all partitions whose classes are allowed."""
    costs = []
    for parts in partitions(len(weights)):
        sizes = [sum(weights[value] for value in part) for part in parts]
        if min(sizes) >= k and (allowed is None or all(map(allowed, parts))):  # type: ignore[arg-type]
            costs.append(cost_of(sizes, k, kind))  # type: ignore[arg-type]
    return min(costs)


@given(instances(most=7, heaviest=20), KINDS)
@few
def test_intervals_are_optimal(instance: tuple[list[int], int], kind: str) -> None:
    weights, k = instance
    found = intervals(weights, k, kind)
    check(found, weights, k)
    best = least_cost(weights, k, kind, lambda part: part == list(range(part[0], part[-1] + 1)))
    assert found.cost == best == found.lower_bound


@given(instances(most=200), KINDS)
def test_intervals_are_intervals(instance: tuple[list[int], int], kind: str) -> None:
    weights, k = instance
    found = intervals(weights, k, kind)
    check(found, weights, k)
    assert all(0 <= after - before <= 1 for before, after in pairwise(found.class_of.tolist()))


def test_the_obvious_greedy_algorithm_for_intervals_is_not_optimal() -> None:
    assert intervals([1] * 8, 3).sizes.tolist() == [4, 4]


@given(instances(), st.randoms(use_true_random=False))
def test_theorem_7(instance: tuple[list[int], int], random: object) -> None:
    weights, k = instance
    order = list(range(len(weights)))
    random.shuffle(order)  # type: ignore[attr-defined]
    found = fold(weights, k, order=order)
    check(found, weights, k)
    assert found.cost <= max(k - 1 + max(weights), 3 * k - 3)
    check(simplified_spread(weights, k, order=order), weights, k)


@given(instances(most=7, heaviest=50))
@few
def test_theorem_10(instance: tuple[list[int], int]) -> None:
    weights, k = instance
    best = least_cost(weights, k, "max")
    array = np.array(weights)
    sizes = np.bincount(by_theorem(array, k), weights=weights)
    assert min(sizes) >= k
    assert 2 * max(sizes) <= 5 * best
    found = spread(weights, k)
    check(found, weights, k)
    assert found.cost <= max(sizes)
    assert found.lower_bound <= best <= found.cost


@given(st.integers(2, 400), st.lists(st.integers(1, 1000), min_size=1, max_size=30))
def test_theorem_10_against_the_bound_by_case(k: int, raw: list[int]) -> None:
    """With values below k all cases of the proof occur; the paper's bounds hold in each."""
    weights = np.array([1 + weight % k for weight in raw])
    assume(weights.sum() >= k)
    sizes = np.bincount(by_theorem(weights, k), weights=weights)
    assert min(sizes) >= k
    light = np.sort(weights[weights < k])[::-1]
    large = int((2 * light > k).sum())
    # 5/2 k, but for Case 2.2: an odd number of large values, none of which is full with all small ones
    small = int(light[2 * light <= k].sum())
    is_case_22 = large % 2 == 1 and (not light.size or light[0] + small < k)
    assert 2 * max(sizes) <= (6 * k if is_case_22 else 5 * k)


@given(instances(most=7, heaviest=30), KINDS)
@few
def test_exact_labels_are_optimal(instance: tuple[list[int], int], kind: str) -> None:
    weights, k = instance
    found = exact_labels(weights, k, kind)
    check(found, weights, k)
    assert found.cost == found.lower_bound == least_cost(weights, k, kind)


@given(instances(), KINDS)
@few
def test_exact_labels_are_never_worse_than_spread(instance: tuple[list[int], int], kind: str) -> None:
    weights, k = instance
    found, known = exact_labels(weights, k, kind, Clock(0.05)), spread(weights, k, kind)
    check(found, weights, k)
    assert known.lower_bound <= found.lower_bound <= found.cost <= known.cost


@given(instances(most=7, heaviest=70), st.sampled_from([Fraction(1, 4), Fraction(2, 5), Fraction(1, 7)]))
@few
def test_theorem_11(instance: tuple[list[int], int], epsilon: Fraction) -> None:
    weights, k = instance
    class_of = relaxed_classes(np.array(weights), k, epsilon, Clock())
    sizes = np.bincount(np.unique(class_of, return_inverse=True)[1], weights=weights)
    best = least_cost(weights, k, "max")
    assert min(sizes) >= (1 - 2 * epsilon) * k
    assert max(sizes) <= (1 + epsilon) * (best + epsilon * k)


@given(instances(most=12))
@few
def test_the_relaxed_scheme_keeps_k(instance: tuple[list[int], int]) -> None:
    weights, k = instance
    assume(sum(weights) >= 2 * k)
    check(relaxed(weights, k), weights, k)


@st.composite
def graphs(draw: st.DrawFn, most: int) -> tuple[list[int], list[tuple[int, int]], int]:
    """Return weights, edges and a k."""
    weights, k = draw(instances(most=most, heaviest=30))
    nodes = st.integers(0, len(weights) - 1)
    edges = draw(st.lists(st.tuples(nodes, nodes), max_size=3 * most))
    return weights, edges, k


def component(node: int, edges: Sequence[tuple[int, int]]) -> set[int]:
    seen, waiting = {node}, [node]
    while waiting:
        one = waiting.pop()
        for edge in edges:
            if one in edge and edge[0] + edge[1] - one not in seen:
                seen.add(edge[0] + edge[1] - one)
                waiting.append(edge[0] + edge[1] - one)
    return seen


def is_connected(part: Sequence[int], edges: Sequence[tuple[int, int]]) -> bool:
    return component(part[0], [edge for edge in edges if {*edge} <= {*part}]) == {*part}


@given(graphs(most=25), st.sampled_from(["tree", "moves", "exact"]), KINDS)
@few
def test_theorem_3(graph: tuple[list[int], list[tuple[int, int]], int], method: str, kind: str) -> None:
    weights, edges, k = graph
    found = regions(weights, edges, k, kind, method=method, clock=Clock(0.2))
    check(found, weights, k)
    bound = max(k, *weights) + found.degree * (k - 1)
    for number, size in enumerate(found.sizes.tolist()):
        if number == found.other:
            continue
        assert is_connected(np.flatnonzero(found.class_of == number).tolist(), edges)
        assert size <= bound


@given(graphs(most=7), KINDS)
@few
def test_exact_regions_are_optimal(graph: tuple[list[int], list[tuple[int, int]], int], kind: str) -> None:
    weights, edges, k = graph
    found = regions(weights, edges, k, kind, method="exact")
    assume(found.other is None)
    best = least_cost(weights, k, kind, lambda part: is_connected(part, edges))
    assert found.cost == best == found.lower_bound


@given(graphs(most=7), KINDS)
@few
def test_bounds_hold_for_regions_with_light_parts(
    graph: tuple[list[int], list[tuple[int, int]], int], kind: str
) -> None:
    """Light parts make one class together: nothing that is cheaper than the bound exists."""
    weights, edges, k = graph
    found = regions(weights, edges, k, kind)
    assume(found.other is not None)

    light = {node for node in range(len(weights)) if sum(weights[one] for one in component(node, edges)) < k}

    def allowed(part: list[int]) -> bool:
        return light <= set(part) if light & set(part) else is_connected(part, edges)

    best = least_cost(weights, k, kind, allowed)
    assert found.lower_bound <= best


@st.composite
def maps(draw: st.DrawFn, most: int, side: int) -> tuple[list[float], list[float], list[int], int]:
    """Return coordinates on a small grid, so that many agree, weights and a k."""
    weights, k = draw(instances(most=most, heaviest=30))
    spots = st.lists(st.integers(0, side), min_size=len(weights), max_size=len(weights))
    return [float(one) for one in draw(spots)], [float(one) for one in draw(spots)], weights, k


@given(maps(most=60, side=6), KINDS)
def test_theorem_4(a_map: tuple[list[float], list[float], list[int], int], kind: str) -> None:
    x, y, weights, k = a_map
    grouped = rectangles(x, y, weights, k, kind)
    found, boxes = grouped.classes, grouped.boxes
    check(found, weights, k)
    points = list(zip(x, y, strict=True))
    heaviest = max(
        sum(weight for weight, other in zip(weights, points, strict=True) if other == point)
        for point in points
    )
    assert found.cost <= max(k, heaviest) + 4 * (k - 1) or kind == "sum"
    for (px, py), number in zip(points, found.class_of.tolist(), strict=True):
        left, low, right, high = boxes[number]
        assert left <= px <= right
        assert low <= py <= high
    assert_filling(boxes, x, y)
    by_point: dict[tuple[float, float], int] = {}
    for point, number in zip(points, found.class_of.tolist(), strict=True):
        assert by_point.setdefault(point, number) == number


def assert_filling(boxes: np.ndarray, x: Sequence[float], y: Sequence[float]) -> None:
    areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    assert np.isclose(areas.sum(), (max(x) - min(x)) * (max(y) - min(y)))
    for one in range(len(boxes)):
        for other in range(one):
            width = min(boxes[one, 2], boxes[other, 2]) - max(boxes[one, 0], boxes[other, 0])
            height = min(boxes[one, 3], boxes[other, 3]) - max(boxes[one, 1], boxes[other, 1])
            assert width <= 0 or height <= 0


@given(maps(most=6, side=3), KINDS)
@few
def test_exact_rectangles_are_optimal(
    a_map: tuple[list[float], list[float], list[int], int], kind: str
) -> None:
    x, y, weights, k = a_map
    assume(len({*zip(x, y, strict=True)}) == len(weights))
    grouped = rectangles(x, y, weights, k, kind, method="exact")
    check(grouped.classes, weights, k)
    best = min(
        cost_of(sizes, k, kind)  # type: ignore[arg-type]
        for parts in partitions(len(weights))
        for sizes in [[sum(weights[value] for value in part) for part in parts]]
        if min(sizes) >= k and parts_are_apart(parts, x, y)
    )
    assert grouped.classes.cost == best == grouped.classes.lower_bound
    assert_filling(grouped.boxes, x, y)
    for px, py, number in zip(x, y, grouped.classes.class_of.tolist(), strict=True):
        left, low, right, high = grouped.boxes[number]
        assert left <= px <= right
        assert low <= py <= high


def parts_are_apart(parts: Sequence[Sequence[int]], x: Sequence[float], y: Sequence[float]) -> bool:
    """Return whether the closed bounding boxes of parts are disjoint."""
    boxes = [
        (min(x[v] for v in part), min(y[v] for v in part), max(x[v] for v in part), max(y[v] for v in part))
        for part in parts
    ]
    return all(
        a[2] < b[0] or b[2] < a[0] or a[3] < b[1] or b[3] < a[1]
        for place, a in enumerate(boxes)
        for b in boxes[:place]
    )
