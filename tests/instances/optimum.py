"""The optimum by constraint programming, from rows and nothing else of the package."""

from collections import Counter, defaultdict
from collections.abc import Sequence

from ortools.sat.python import cp_model

from tests.instances.known import Row


def least_cost(
    rows: Sequence[Row],
    k: int,
    vectors: Sequence[Sequence[int]],
    weights: Sequence[int] = (),
    *,
    fewest: int | None = None,
    most: int | None = None,
    rest_may_be_small: bool = False,
) -> int | None:
    """Return the least weighted cost of a solution, None if there is none.

    Parameters
    ----------
    rows : sequence of tuples
    k : int
    vectors : sequence of sequences of int
        Suppressed columns of each allowed pattern vector; nothing is added to them.
    weights : sequence of int
        Cost of one suppressed cell per column; 1 if empty.
    fewest, most : int, optional
        Limits for the number of classes.
    rest_may_be_small : bool
        Whether fewer than k rows may be fully suppressed.
    """
    width = len(rows[0])
    weights = weights or [1] * width
    counts = Counter(rows)
    members: dict[tuple[tuple[int, ...], Row], list[Row]] = defaultdict(list)
    for vector in {tuple(sorted(vector)) for vector in vectors}:
        for row in counts:
            kept = tuple("*" if column in vector else row[column] for column in range(width))
            members[vector, kept].append(row)
    model = cp_model.CpModel()
    of_row = defaultdict(list)
    opened, costs = [], []
    for (vector, _), compatible in members.items():
        if sum(counts[row] for row in compatible) < k and not (rest_may_be_small and len(vector) == width):
            continue
        is_open = model.new_bool_var("")
        opened.append(is_open)
        price = sum(weights[column] for column in vector)
        inside = []
        for row in compatible:
            part = model.new_int_var(0, counts[row], "")
            model.add(part <= counts[row] * is_open)
            inside.append(part)
            of_row[row].append(part)
            costs.append(price * part)
        least = 1 if rest_may_be_small and len(vector) == width else k
        model.add(sum(inside) >= least * is_open)
    for row, count in counts.items():
        model.add(sum(of_row[row]) == count)
    if fewest is not None:
        model.add(sum(opened) >= fewest)
    if most is not None:
        model.add(sum(opened) <= most)
    model.minimize(sum(costs))
    solver = cp_model.CpSolver()
    # Otherwise it leaves the process with no handler: the next Ctrl-C would end it without a word.
    solver.parameters.catch_sigint_signal = False
    solver.parameters.num_workers = 1
    status = solver.solve(model)
    assert status in (cp_model.OPTIMAL, cp_model.INFEASIBLE), solver.status_name(status)
    return round(solver.objective_value) if status == cp_model.OPTIMAL else None


def least_cost_by_subsets(
    rows: Sequence[Row], k: int, vectors: Sequence[Sequence[int]], weights: Sequence[int] = ()
) -> int | None:
    """Return the least cost by dynamic programming over all subsets of at most 14 rows.

    Every class splits into classes of fewer than 2k rows that cost no more, so these suffice.
    """
    width, count = len(rows[0]), len(rows)
    assert count <= 14
    weights = weights or [1] * width
    ways = [(set(vector), sum(weights[column] for column in vector)) for vector in vectors]
    best: list[int | None] = [0] + [None] * ((1 << count) - 1)
    price: dict[int, int] = {}
    for subset in range(1, 1 << count):
        inside = [number for number in range(count) if subset >> number & 1]
        if k <= len(inside) < 2 * k:
            differing = {
                column for column in range(width) if len({rows[number][column] for number in inside}) > 1
            }
            able = [cost for vector, cost in ways if differing <= vector]
            if able:
                price[subset] = min(able) * len(inside)
    for done in range(1 << count):
        so_far = best[done]
        if so_far is None:
            continue
        missing = [number for number in range(count) if not done >> number & 1]
        if not missing:
            break
        first = 1 << missing[0]
        for subset, cost in price.items():
            if subset & first and not subset & done:
                known = best[done | subset]
                if known is None or so_far + cost < known:
                    best[done | subset] = so_far + cost
    return best[-1]
