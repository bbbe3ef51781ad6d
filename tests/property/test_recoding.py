"""What must be true of every generalized solution, on random small tables with random hierarchies."""

from collections import Counter, defaultdict
from dataclasses import replace
from itertools import combinations, product

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from kanon_pg.core.privacy_models import DISTANCES, DIVERSITIES, PrivacyModels
from kanon_pg.core.solving import SolveRequest
from kanon_pg.errors import InfeasibleError
from kanon_pg.worker.solvers.recoding.methods import FULL_DOMAIN_BOUND, RECODINGS
from kanon_pg.worker.solvers.registry import solve
from tests.fixtures.diversity import pack_sensitive
from tests.fixtures.examples import examples
from tests.fixtures.packing import masks, pack
from tests.fixtures.recoding import SUPPRESSED, Tree, cost_of_row, shown_rows, with_trees

quick = settings(max_examples=examples(20), suppress_health_check=[HealthCheck.too_slow])

VALUES = range(6)

GENERAL = [method for method in RECODINGS if method != "row_assignment"]
"""Methods for every kind of table."""


@st.composite
def trees(draw, may_be_none=True):
    """Draw a hierarchy of the values 0 to 5 that loses the same within a level, or within a node."""
    if may_be_none and draw(st.integers(0, 3)) == 0:
        return None
    height = draw(st.integers(1, 3))
    shown = {value: (value,) for value in VALUES}
    for _ in range(1, height):
        parent = {node: draw(st.integers(0, 2)) for node in sorted({nodes[-1] for nodes in shown.values()})}
        shown = {value: (*nodes, parent[nodes[-1]]) for value, nodes in shown.items()}
    inner = sorted(draw(st.lists(st.integers(0, 8), min_size=height, max_size=height)))
    losses = (*(loss / 8 for loss in inner), 1.0)
    lowest = draw(st.sampled_from([0, 0, 0, min(1, height)]))
    return Tree(shown, losses, lowest, by_share=draw(st.booleans()))


@st.composite
def tables(draw, most_rows=24, most_columns=3, may_share=True):
    columns = draw(st.integers(1, most_columns))
    cell = st.sampled_from(VALUES)
    rows = draw(st.lists(st.tuples(*[cell] * columns), min_size=2, max_size=most_rows))
    people = None
    if may_share and draw(st.booleans()):
        who = st.one_of(st.none(), st.integers(0, len(rows)))
        people = draw(st.lists(who, min_size=len(rows), max_size=len(rows)))
    chosen = [draw(trees(may_be_none=number > 0)) for number in range(columns)]
    weights = draw(st.lists(st.sampled_from([1.0, 0.5, 2.0]), min_size=columns, max_size=columns))
    return rows, people, chosen, weights, draw(st.integers(2, 4))


def packed_of(rows, people, chosen, weights):
    names = [f"c{number}" for number in range(len(chosen))]
    packed = pack(rows, names, people=people, weights=dict(zip(names, weights, strict=True)))
    return with_trees(packed, chosen)


def people_in(rows, people):
    return len(rows) if people is None else len(set(people) - {None})


def check(rows, people, chosen, weights, k, outcome):
    """Recount a solution from what its rows show."""
    shown = shown_rows(rows, chosen, packed_of(rows, people, chosen, weights), outcome)
    classes = defaultdict(set)
    for number, row in enumerate(shown):
        classes[row].add(number if people is None else people[number])
    assert min(len(who if people is None else who - {None}) for who in classes.values()) >= k
    assert outcome.classes == len(classes)
    cells = Counter(node for row in shown for _, node in row)
    assert outcome.suppressed_cells == cells[SUPPRESSED]
    assert outcome.weighted_cost == pytest.approx(sum(cost_of_row(row, chosen, weights) for row in shown))
    if outcome.lower_bound is not None:
        assert outcome.lower_bound <= outcome.weighted_cost


@pytest.mark.parametrize("method", GENERAL)
@quick
@given(table=tables())
def test_every_class_has_k_people_and_the_cost_is_what_was_said(method, table):
    rows, people, chosen, weights, k = table
    assume(people_in(rows, people) >= k)
    packed = packed_of(rows, people, chosen, weights)
    check(*table, solve(packed, SolveRequest(k, method=method)))


@pytest.mark.parametrize("method", GENERAL)
@quick
@given(table=tables(), random=st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_change_the_solution(method, table, random):
    rows, people, chosen, weights, k = table
    assume(people_in(rows, people) >= k)
    order = list(range(len(rows)))
    random.shuffle(order)
    shuffled = [rows[number] for number in order]
    whose = None if people is None else [people[number] for number in order]
    straight = solve(packed_of(rows, people, chosen, weights), SolveRequest(k, method=method))
    other = solve(packed_of(shuffled, whose, chosen, weights), SolveRequest(k, method=method))
    assert other.weighted_cost == pytest.approx(straight.weighted_cost)
    if not straight.moved_types:
        of_row = dict(zip(dict.fromkeys(rows), masks(straight.patterns).tolist(), strict=True))
        of_other = dict(zip(dict.fromkeys(shuffled), masks(other.patterns).tolist(), strict=True))
        assert of_row == of_other


@pytest.mark.parametrize("method", ["auto", "greedy", "exact", "mondrian"])
@quick
@given(table=tables(may_share=False, most_rows=12))
def test_hierarchies_of_one_level_are_suppression(method, table):
    rows, people, _, weights, k = table
    assume(len(rows) >= k)
    plain = packed_of(rows, people, [None] * len(weights), weights)
    one_level = packed_of(
        rows, people, [Tree({value: (value,) for value in VALUES}, (0.0, 1.0))] * len(weights), weights
    )
    request = SolveRequest(k, method=method)
    assert solve(one_level, request) == solve(plain, request)


@st.composite
def small_tables(draw):
    """Draw few rows, so that all their partitions can be tried."""
    rows, _, chosen, weights, k = draw(tables(most_rows=7, most_columns=3, may_share=False))
    secrets = draw(st.lists(st.integers(0, 2), min_size=len(rows), max_size=len(rows)))
    return rows, secrets, chosen, weights, min(k, 3)


def partitions(items):
    """Yield all partitions of some items."""
    if not items:
        yield []
        return
    first, *others = items
    for parts in partitions(others):
        yield [[first], *parts]
        for number, part in enumerate(parts):
            yield [*parts[:number], [first, *part], *parts[number + 1 :]]


def common_levels(rows, chosen):
    """Return the lowest level per column at which rows show the same."""
    levels = []
    for column, tree in enumerate(chosen):
        cells = [row[column] for row in rows]
        height, lowest = (1, 0) if tree is None else (tree.height, tree.lowest)
        level = lowest
        while level < height:
            nodes = {cell if tree is None else tree.shown[cell][level] for cell in cells}
            if len(nodes) == 1:
                break
            level += 1
        shown = None if level == height else cells[0] if tree is None else tree.shown[cells[0]][level]
        levels.append((level, shown))
    return tuple(levels)


def least_cost(rows, chosen, weights, is_allowed):
    """Return the least cost of a partition into allowed classes."""
    best = float("inf")
    for parts in partitions(list(range(len(rows)))):
        if not all(is_allowed(part) for part in parts):
            continue
        cost = sum(
            len(part) * cost_of_row(common_levels([rows[number] for number in part], chosen), chosen, weights)
            for part in parts
        )
        best = min(best, cost)
    return best


@quick
@given(table=small_tables())
def test_exact_is_the_best_of_all_partitions(table):
    rows, _, chosen, weights, k = table
    assume(len(rows) >= k)
    best = least_cost(rows, chosen, weights, lambda part: len(part) >= k)
    for method in ("exact", "auto", "row_assignment"):
        outcome = solve(packed_of(rows, None, chosen, weights), SolveRequest(k, method=method))
        check(rows, None, chosen, weights, k, outcome)
        assert outcome.weighted_cost == pytest.approx(best)
        assert outcome.optimal
    for method in ("greedy", "local", "mondrian", "full_domain"):
        outcome = solve(packed_of(rows, None, chosen, weights), SolveRequest(k, method=method))
        assert outcome.weighted_cost >= best - 1e-9
        # The bound of full-domain recoding is over recodings of its own kind.
        assert method == "full_domain" or outcome.lower_bound <= best + 1e-9


@quick
@given(table=small_tables(), p=st.integers(2, 3))
def test_exact_with_p_sensitivity_is_the_best_of_all_partitions(table, p):
    rows, secrets, chosen, weights, k = table
    assume(len(rows) >= k)
    assume(len(set(secrets)) >= p)

    def is_allowed(part):
        return len(part) >= k and len({secrets[number] for number in part}) >= p

    best = least_cost(rows, chosen, weights, is_allowed)
    names = [f"c{number}" for number in range(len(chosen))]
    packed = with_trees(
        pack_sensitive(
            rows, [(secret,) for secret in secrets], weights=dict(zip(names, weights, strict=True))
        ),
        chosen,
    )
    exact = solve(packed, SolveRequest(k, "exact", models=PrivacyModels(p=p)))
    assert exact.optimal
    assert exact.weighted_cost == pytest.approx(best)
    for method in ("greedy", "local", "mondrian", "full_domain"):
        other = solve(packed, SolveRequest(k, method, models=PrivacyModels(p=p)))
        assert other.weighted_cost >= best - 1e-9
        assert method == "full_domain" or other.lower_bound <= best + 1e-9


def least_full_domain_cost(rows, chosen, weights, most_rows, is_allowed):
    """Return the least cost of a level vector with whole groups of rows suppressed; infinite if none is."""
    heights = [1 if tree is None else tree.height for tree in chosen]
    lowest = [0 if tree is None else tree.lowest for tree in chosen]
    top = tuple((height, None) for height in heights)
    best = float("inf")
    for levels in product(*(range(low, height + 1) for low, height in zip(lowest, heights, strict=True))):
        groups = defaultdict(list)
        for number, row in enumerate(rows):
            shown = tuple(
                None if level == height else cell if tree is None else tree.shown[cell][level]
                for cell, level, height, tree in zip(row, levels, heights, chosen, strict=True)
            )
            groups[shown].append(number)
        for size in range(len(groups) + 1):
            for hidden in combinations(groups, size):
                gone = [number for kind in hidden for number in groups[kind]]
                kept = {kind: part for kind, part in groups.items() if kind not in hidden}
                parts = [*kept.values(), *([gone] if gone else [])]
                if len(gone) > most_rows or not all(is_allowed(part) for part in parts):
                    continue
                cost = len(gone) * cost_of_row(top, chosen, weights) + sum(
                    len(part) * cost_of_row(tuple(zip(levels, kind, strict=True)), chosen, weights)
                    for kind, part in kept.items()
                )
                best = min(best, cost)
    return best


@quick
@given(table=small_tables(), share=st.sampled_from([0.0, 0.3, 0.5, 1.0]))
def test_full_domain_is_the_best_of_the_lattice_and_says_so(table, share):
    rows, _, chosen, weights, k = table
    assume(len(rows) >= k)
    best = least_full_domain_cost(rows, chosen, weights, share * len(rows), lambda part: len(part) >= k)
    outcome = solve(
        packed_of(rows, None, chosen, weights), SolveRequest(k, "full_domain", suppressed_rows=share)
    )
    assert outcome.weighted_cost == pytest.approx(best)
    assert outcome.lower_bound == outcome.weighted_cost
    assert outcome.optimal
    assert outcome.bound_method == FULL_DOMAIN_BOUND


@quick
@given(table=small_tables(), share=st.sampled_from([0.0, 0.5, 1.0]), p=st.integers(1, 3))
def test_the_bound_of_full_domain_with_a_model_is_below_the_best_of_the_lattice(table, share, p):
    rows, secrets, chosen, weights, k = table

    def is_allowed(part):
        return len(part) >= k and len({secrets[number] for number in part}) >= p

    assume(is_allowed(range(len(rows))))
    best = least_full_domain_cost(rows, chosen, weights, share * len(rows), is_allowed)
    names = [f"c{number}" for number in range(len(chosen))]
    packed = with_trees(
        pack_sensitive(
            rows, [(secret,) for secret in secrets], weights=dict(zip(names, weights, strict=True))
        ),
        chosen,
    )
    models = PrivacyModels(p=p) if p > 1 else PrivacyModels()
    outcome = solve(packed, SolveRequest(k, "full_domain", models=models, suppressed_rows=share))
    assert outcome.lower_bound <= best + 1e-9
    assert outcome.weighted_cost >= best - 1e-9
    if outcome.optimal:
        assert outcome.weighted_cost == pytest.approx(best)


MODELS = st.sampled_from(
    [PrivacyModels(p=2), PrivacyModels(l=2), PrivacyModels(l=2, diversity="entropy"), PrivacyModels(t=0.4)]
)


@pytest.mark.parametrize("method", ["auto", "greedy", "local", "mondrian", "full_domain"])
@quick
@given(table=tables(), models=MODELS, data=st.data())
def test_privacy_models_are_kept(method, table, models, data):
    rows, people, chosen, weights, k = table
    secrets = data.draw(st.lists(st.integers(0, 4), min_size=len(rows), max_size=len(rows)))
    names = [f"c{number}" for number in range(len(chosen))]
    packed = with_trees(
        pack_sensitive(
            rows,
            [(secret,) for secret in secrets],
            people=people,
            weights=dict(zip(names, weights, strict=True)),
        ),
        chosen,
    )
    assume(people_in(rows, people) >= k)
    try:
        outcome = solve(packed, SolveRequest(k, method=method, models=models))
    except InfeasibleError:
        return
    # The recount and the check of the models in `solve` share no code with the solvers.
    assert outcome.classes >= 1


EVERY_MODEL = [
    PrivacyModels(),
    PrivacyModels(p=2),
    *(PrivacyModels(l=2, diversity=diversity) for diversity in DIVERSITIES),
    *(PrivacyModels(t=0.4, distance=distance) for distance in DISTANCES),
]


@pytest.mark.parametrize("models", EVERY_MODEL, ids=str)
@pytest.mark.parametrize("method", ["auto", "exact", "greedy"])
@quick
@given(
    table=tables(most_rows=32),
    seed=st.sampled_from([None, 1]),
    seconds=st.sampled_from([None, 600.0]),
    data=st.data(),
)
def test_hierarchies_are_never_dearer_than_suppression_alone(models, method, table, seed, seconds, data):
    """What suppression alone finds counts, by all its methods, unless it is proven to be too dear."""
    rows, people, chosen, weights, k = table
    # Nothing is lost by showing a value, as without a hierarchy.
    chosen = [one if one is None else replace(one, lowest=0, losses=(0.0, *one.losses[1:])) for one in chosen]
    secrets = data.draw(st.lists(st.integers(0, 4), min_size=len(rows), max_size=len(rows)))
    assume(people_in(rows, people) >= k)
    names = [f"c{number}" for number in range(len(chosen))]
    alone = pack_sensitive(
        rows,
        [(secret,) for secret in secrets],
        people=people,
        weights=dict(zip(names, weights, strict=True)),
        ordered=True,
    )
    request = SolveRequest(k, method=method, models=models, seed=seed, seconds=seconds)
    try:
        suppressed = solve(alone, request)
    except InfeasibleError:
        return
    generalized = solve(with_trees(alone, chosen), request)
    assert generalized.weighted_cost <= suppressed.weighted_cost + 1e-9


@quick
@given(table=small_tables())
def test_a_bound_stands_in_where_there_is_no_time(table):
    """It is proven, and not 0 for a table in which something has to be given up."""
    rows, _, chosen, weights, k = table
    assume(len(rows) >= k)
    packed = packed_of(rows, None, chosen, weights)
    best = solve(packed, SolveRequest(k, method="exact")).weighted_cost
    for method in ("auto", "greedy", "local"):
        hasty = solve(packed, SolveRequest(k, method=method, seconds=0.0))
        assert hasty.lower_bound <= best + 1e-9
        is_lossy = all(tree is None or all(loss > 0 for loss in tree.losses[1:]) for tree in chosen)
        if min(Counter(rows).values()) < k and is_lossy:
            assert hasty.lower_bound > 0


def with_levels(tree, level):
    """Return a hierarchy whose nodes below the top are those of one level of another."""
    if level == tree.height:
        return replace(tree, lowest=tree.height)
    shown = {value: (value, nodes[level]) for value, nodes in tree.shown.items()}
    return replace(tree, shown=shown, losses=(tree.losses[0], tree.losses[level], tree.losses[-1]), lowest=1)


def of_one_level(table, draw):
    """Return the names and numbers of some columns with a hierarchy."""
    numbers = [number for number, tree in enumerate(table[2]) if tree is not None]
    some = draw(st.lists(st.sampled_from(numbers), min_size=1, unique=True))
    return [f"c{number}" for number in some], some


@pytest.mark.parametrize("method", GENERAL)
@quick
@given(table=tables(), data=st.data())
def test_columns_of_one_level_show_it_in_every_class(method, table, data):
    rows, people, chosen, weights, k = table
    assume(people_in(rows, people) >= k)
    names, some = of_one_level(table, data.draw)
    packed = packed_of(rows, people, chosen, weights)
    outcome = solve(packed, SolveRequest(k, method=method, same_level=names))
    check(*table, outcome)
    shown = shown_rows(rows, chosen, packed, outcome)
    for column in some:
        assert len({row[column][0] for row in shown} - {chosen[column].height}) <= 1


@quick
@given(table=small_tables(), data=st.data())
def test_with_columns_of_one_level_exact_is_the_best_of_all_choices(table, data):
    rows, _, chosen, weights, k = table
    assume(len(rows) >= k)
    names, some = of_one_level(table, data.draw)
    choices = product(
        *(
            [with_levels(tree, level) for level in range(tree.lowest, tree.height)]
            or [with_levels(tree, tree.height)]
            if number in some
            else [tree]
            for number, tree in enumerate(chosen)
        )
    )
    best = min(least_cost(rows, choice, weights, lambda part: len(part) >= k) for choice in choices)
    for method in ("exact", "auto"):
        outcome = solve(
            packed_of(rows, None, chosen, weights), SolveRequest(k, method=method, same_level=names)
        )
        assert outcome.weighted_cost == pytest.approx(best)
        assert outcome.lower_bound == pytest.approx(best)
        assert outcome.optimal
    for method in ("greedy", "local", "mondrian"):
        outcome = solve(
            packed_of(rows, None, chosen, weights), SolveRequest(k, method=method, same_level=names)
        )
        assert outcome.weighted_cost >= best - 1e-9
        assert outcome.lower_bound is None or outcome.lower_bound <= best + 1e-9
