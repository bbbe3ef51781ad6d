"""Certificates as files: the program in docs/ accepts what is written, and finds lies."""

import copy
import json
import math
from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from kanon_pg.core.privacy_models import PrivacyModels
from kanon_pg.core.solving import SolveRequest
from kanon_pg.errors import InfeasibleError, ReleaseError
from kanon_pg.worker import certifier
from kanon_pg.worker.certifier import certify
from kanon_pg.worker.patterns import parse_patterns
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solvers.registry import solve
from tests.fixtures.brute_force import brute_force, single_rows
from tests.fixtures.certificates import PROGRAM, certified, checker, task_of
from tests.fixtures.diversity import pack_sensitive
from tests.fixtures.examples import examples
from tests.fixtures.packing import integers, pack
from tests.fixtures.recoding import Tree, with_trees
from tests.property.test_recoding import VALUES

program = checker()
check = program.check

checked = settings(
    max_examples=examples(50),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


@st.composite
def cases(draw, most_rows=12):
    """Row types, k, what was asked for as patterns, and a method."""
    width = draw(st.integers(1, 4))
    rows = draw(st.lists(st.tuples(*[st.integers(0, 2)] * width), min_size=2, max_size=most_rows))
    names = [f"c{column}" for column in range(width)]
    weights = {name: draw(st.sampled_from([1.0, 1.0, 0.5, 0.3, 2.0, 3.25])) for name in names}
    vectors = st.lists(st.lists(st.sampled_from(names), unique=True), max_size=6)
    patterns = draw(st.one_of(st.none(), st.none(), vectors, st.just({"max_suppressed": 1})))
    method = draw(st.sampled_from(["auto", "greedy", "exact"]))
    k = draw(st.integers(2, 4))
    assume(len(rows) >= k)
    return pack(rows, names, weights=weights), k, patterns, method


def solved(row_types, k, patterns, method):
    return solve(row_types, SolveRequest(k=k, method=method, patterns=patterns, seconds=5.0))


@checked
@given(case=cases(), prices=st.booleans())
def test_certificates_are_accepted_and_prove_what_they_say(case, prices):
    row_types, k, patterns, _ = case
    outcome = solved(*case)
    found = certified(row_types, outcome, k, patterns=patterns, prices=prices)
    cost, bound, rows, classes, smallest, *_ = check(found)
    assert cost == pytest.approx(outcome.weighted_cost)
    assert (classes, rows) == (outcome.classes, np.frombuffer(row_types.rows, dtype=">i8").sum())
    assert smallest >= k
    assert bound <= cost
    found["lower_bound"] += 1e-6
    with pytest.raises(SystemExit, match=r"do not prove the bound|bound is above the cost"):
        check(found)


@checked
@given(case=cases(most_rows=5))
def test_an_accepted_bound_is_no_higher_than_the_optimum(case):
    row_types, k, patterns, _ = case
    table = RowTypeTable.from_packed(row_types)
    vectors = parse_patterns({} if patterns is None else patterns, table.columns).vectors
    assume(vectors.size**table.total_rows <= 5_000)
    found = certified(row_types, solved(*case), k, patterns=patterns)
    optimum = brute_force(single_rows(table), vectors, k)
    assert found["lower_bound"] <= optimum + 1e-9


@checked
@given(case=cases(most_rows=5), data=st.data())
def test_whatever_prices_are_accepted_prove_no_more_than_the_optimum(case, data):
    """The prices are drawn, and the bound is the highest one that they can claim."""
    row_types, k, patterns, _ = case
    table = RowTypeTable.from_packed(row_types)
    vectors = parse_patterns({} if patterns is None else patterns, table.columns).vectors
    assume(vectors.size**table.total_rows <= 5_000)
    optimum = brute_force(single_rows(table), vectors, k)
    found = certified(row_types, solved(*case), k, patterns=patterns)
    for line in found["row_types"]:
        line[0] = data.draw(st.integers(-4, 12)) * 250_000
    found["lower_bound"] = optimum + 1e-6
    with pytest.raises(SystemExit, match="refused"):
        check(found)


TREE = Tree({value: (value, value // 2) for value in VALUES}, (0.0, 0.5, 1.0))

MODELS = [
    PrivacyModels(),
    PrivacyModels(p=2),
    PrivacyModels(l=2),
    PrivacyModels(l=2, diversity="entropy"),
    PrivacyModels(t=0.4),
    PrivacyModels(l=2, t=0.5, distance="ordered"),
]


@st.composite
def releases(draw, most_rows=5):
    """Row types with an entity, hierarchies and sensitive values, each or none of them; k, and models."""
    width = draw(st.integers(1, 2))
    rows = draw(st.lists(st.tuples(*[st.sampled_from(VALUES[:3])] * width), min_size=3, max_size=most_rows))
    secrets = draw(st.lists(st.tuples(st.sampled_from([0, 1, 5])), min_size=len(rows), max_size=len(rows)))
    who = st.lists(st.integers(0, len(rows)), min_size=len(rows), max_size=len(rows))
    people = draw(st.one_of(st.none(), who))
    models = draw(st.sampled_from(MODELS))
    packed = pack_sensitive(rows, secrets if models else [()] * len(rows), people=people, ordered=True)
    if draw(st.booleans()):
        packed = with_trees(packed, [draw(st.sampled_from([None, TREE])) for _ in range(width)])
    assume(len(rows if people is None else {*people}) >= 2)
    return packed, models, draw(st.sampled_from(["auto", "greedy"]))


def certified_release(case, **options):
    row_types, models, method = case
    try:
        outcome = solve(row_types, SolveRequest(2, method, models=models, seconds=2.0))
    except InfeasibleError:
        assume(False)
    return certified(row_types, outcome, 2, models=models, **options), outcome


@checked
@given(case=releases(), prices=st.booleans())
def test_every_kind_of_release_has_a_certificate_that_proves_no_more_than_the_optimum(case, prices):
    found, outcome = certified_release(case, prices=prices)
    cost, bound, *_ = check(found)
    assert cost == pytest.approx(outcome.weighted_cost)
    assert bound <= optimum_by_trying(found) + 1e-9
    if prices and outcome.prices and bound < cost:
        assert bound == pytest.approx(outcome.lower_bound) or outcome.lower_bound > bound
    found["lower_bound"] += 1e-6
    with pytest.raises(SystemExit, match=r"do not prove the bound|bound is above the cost"):
        check(found)


@checked
@given(case=releases(), data=st.data())
def test_whatever_prices_a_release_of_any_kind_claims_prove_no_more_than_the_optimum(case, data):
    found, _ = certified_release(case)
    optimum = optimum_by_trying(found)
    for line in found["row_types"]:
        line[0] = data.draw(st.integers(-4, 12)) * 250_000
    found["lower_bound"] = optimum + 1e-6
    with pytest.raises(SystemExit, match="refused"):
        check(found)


@checked
@given(case=releases(), data=st.data())
def test_whatever_a_forger_changes_of_a_release_of_any_kind_is_refused_or_true(case, data):
    found, _ = certified_release(case)
    for _ in range(data.draw(st.integers(1, 3))):
        forge(data.draw, found)
    if data.draw(st.booleans()):
        completed(data.draw, found)
    try:
        bound = check(json.loads(json.dumps(found)))[1]
    except SystemExit:
        return
    assert all(is_class(found, members) for members in classes_in(found).values())
    assert bound <= optimum_by_trying(found) + 1e-9 * max(1, bound)


ROWS = [(a, b, c) for a in range(4) for b in range(3) for c in range(2) for _ in range(1 + (a * b + c) % 3)]


@pytest.fixture
def certificate():
    row_types = pack(ROWS)
    return certified(row_types, solved(row_types, 3, None, "exact"), 3)


def test_a_certificate_has_neither_values_nor_names(certificate):
    rows = [(f"street {a}", f"illness {b}") for a in range(4) for b in range(3) for _ in range(2)]
    row_types = pack(rows, ["home", "diagnosis"])
    text = certify(row_types, task_of(row_types, solved(row_types, 3, None, "auto"), 3))
    for word in ("street", "illness", "home", "diagnosis"):
        assert word not in text
    for numbers in [*row_types.cells, row_types.keys]:
        for number in np.frombuffer(numbers, dtype=">i8").tolist():
            assert str(number) not in text
    found = json.loads(text)
    assert {one for _, cells, *_ in found["row_types"] for one in cells} <= set(range(4))


def test_row_types_and_values_are_numbered_anew_each_time():
    """Ten row types in the same random order of ten of both columns: once in 10! times."""
    row_types = pack([(number, -number) for number in range(10) for _ in range(2)])
    outcome = solved(row_types, 2, None, "greedy")
    texts = {json.dumps(certified(row_types, outcome, 2)["row_types"]) for _ in range(2)}
    assert len(texts) == 2


def with_a_raised_price(found):
    line = max(found["row_types"], key=lambda line: line[0])
    line[0] += 1_000_000 * len(line[1])


def with_a_higher_bound(found):
    found["lower_bound"] = found["cost"] + 1


def with_a_higher_bound_than_the_prices_prove(found):
    for line in found["row_types"]:
        line[0] //= 2


def with_fewer_rows_of_a_type(found):
    next(parts for *_, parts in found["row_types"] if parts[0][0] > 1)[0][0] -= 1


def with_fewer_rows_in_all(found):
    with_fewer_rows_of_a_type(found)
    found["rows"] -= 1
    found["lower_bound"] = 0


def with_another_pattern(found):
    part = next(parts for *_, parts in found["row_types"])[0]
    part[1] = [1 - part[1][0], *part[1][1:]]


def with_a_small_class_and_its_cost(found):
    """Row types come in random order, and some of them could have another pattern."""
    for part in (part for *_, parts in found["row_types"] for part in parts):
        before = part[1]
        part[1] = [1 - before[0], *before[1:]]
        if min(class_sizes(found).values()) < found["k"]:
            break
        part[1] = before
    with_the_cost_of_its_patterns(found)


def with_a_class_below_k(found):
    found["k"] = 1 + max(rows for rows in class_sizes(found).values())


def with_k_of_one(found):
    found["k"] = 1


def with_a_pattern_that_is_not_allowed(found):
    found["patterns"] = [[1, 1, 1]]


def with_a_row_type_left_out(found):
    found["row_types"].pop()


def with_rounded_prices(found):
    found["row_types"][0][0] = float(found["row_types"][0][0])


def with_a_row_too_many(found):
    found["rows"] += 1


def with_rounded_rows(found):
    found["row_types"][0][4][0][0] = float(found["row_types"][0][4][0][0])


def with_a_column_that_pays(found):
    """Nothing gains at first, so that nothing further would be tried."""
    found["columns"][0]["weight"] = -1
    with_the_cost_of_its_patterns(found)
    for line in found["row_types"]:
        line[0] = 0
    found["lower_bound"] = 0


def with_prices_that_count_backwards(found):
    """Prices below 0 let no class cost less than they do; a unit below 0 made a high bound of them."""
    found["price_unit"] = -1
    for line in found["row_types"]:
        line[0] = -1000
    found["lower_bound"] = found["cost"]


def with_a_row_type_twice(found):
    found["row_types"].append(copy.deepcopy(found["row_types"][0]))
    found["rows"] += sum(rows for rows, _ in found["row_types"][0][4])
    with_the_cost_of_its_patterns(found)


def with_a_level_above_the_top(found):
    next(part for *_, parts in found["row_types"] for part in parts)[1][0] = 2
    found["lower_bound"] = 0


def with_a_level_from_the_end(found):
    next(part for *_, parts in found["row_types"] for part in parts)[1][:] = [-1, 0, 0]
    found["lower_bound"] = 0


def with_people_who_are_many(found):
    found["row_types"][0][2] = list(range(100))


def with_people_of_one_row_type_alone(found):
    found["row_types"][0][2] = [0]


def with_a_demand_that_no_row_type_has_a_value_for(found):
    found["demands"] = [[2, 1]]


def with_a_key_more(found):
    found["note"] = "checked"


def with_the_cost_of_its_patterns(found):
    found["cost"] = float(
        sum(
            rows * cost_of(found, cells, levels)
            for _, cells, _, _, parts in found["row_types"]
            for rows, levels in parts
        )
    )
    found["lower_bound"] = 0


def shown_at(found, cells, levels):
    """Return the node of each cell at some levels."""
    return tuple(
        (level, (0 if level else x) if column["levels"] is None else column["levels"][level][0][x])
        for column, x, level in zip(found["columns"], cells, levels, strict=True)
    )


def cost_of(found, cells, levels):
    """Return what a row costs at some levels."""
    return sum(
        Fraction(column["weight"])
        * Fraction(level if column["levels"] is None else column["levels"][level][1][x])
        for column, x, level in zip(found["columns"], cells, levels, strict=True)
    )


def is_class(found, members):
    """Whether rows of row types may be a class: enough people, and what is demanded of sensitive values."""
    if members[0][1][2] is None:
        people = sum(rows for rows, _ in members)
    else:
        people = len({person for _, line in members for person in line[2]})
    if people < found["k"]:
        return False
    for number, (least, share) in enumerate(found["demands"]):
        values = Counter()
        for rows, line in members:
            values[line[3][number]] += rows
        if len(values) < least or max(values.values()) * share > values.total():
            return False
    return True


def classes_in(found):
    """Return the members of each published class: rows and their row type."""
    classes = defaultdict(list)
    for line in found["row_types"]:
        for rows, levels in line[4]:
            classes[tuple(shown_at(found, line[1], levels))].append((rows, line))
    return classes


def class_sizes(found):
    return {shown: sum(rows for rows, _ in members) for shown, members in classes_in(found).items()}


LIES = [
    with_a_raised_price,
    with_a_higher_bound,
    with_a_higher_bound_than_the_prices_prove,
    with_fewer_rows_of_a_type,
    with_fewer_rows_in_all,
    with_another_pattern,
    with_a_small_class_and_its_cost,
    with_a_class_below_k,
    with_k_of_one,
    with_a_pattern_that_is_not_allowed,
    with_a_row_type_left_out,
    with_rounded_prices,
    with_a_row_too_many,
    with_rounded_rows,
    with_a_column_that_pays,
    with_prices_that_count_backwards,
    with_a_row_type_twice,
    with_a_level_above_the_top,
    with_a_level_from_the_end,
    with_people_who_are_many,
    with_people_of_one_row_type_alone,
    with_a_demand_that_no_row_type_has_a_value_for,
    with_a_key_more,
]


@pytest.mark.parametrize("lie", LIES)
def test_a_certificate_that_lies_is_refused(certificate, lie):
    check(copy.deepcopy(certificate))
    lie(certificate)
    with pytest.raises(SystemExit, match="refused"):
        check(certificate)


@checked
@given(case=cases(), data=st.data())
def test_a_tight_price_cannot_be_raised(case, data):
    """Where the bound is the cost, every class pays its prices exactly, so that none can be higher."""
    row_types, k, patterns, _ = case
    found = certified(row_types, solved(*case), k, patterns=patterns)
    total = sum(price * rows for price, *_, parts in found["row_types"] for rows, _ in parts)
    assume(total == found["cost"] * 1_000_000)
    data.draw(st.sampled_from(found["row_types"]))[0] += 1
    with pytest.raises(SystemExit, match="cost less than its prices"):
        check(found)


def test_rows_of_a_divided_row_type_stand_with_their_patterns():
    """Of two people with (x, y) one helps (x, *) and one (*, y)."""
    row_types = pack([("x", "y"), ("x", "y"), ("x", "z"), ("x", "z"), ("w", "y"), ("w", "y")])
    outcome = solved(row_types, 3, None, "exact")
    assert outcome.moved_types
    found = certified(row_types, outcome, 3)
    assert sorted(parts for *_, parts in found["row_types"] if len(parts) > 1) == [[[1, [1, 0]], [1, [0, 1]]]]
    assert check(found)[3:] == (2, 3, 3, "any")


@pytest.mark.parametrize("change", ["row type", "rows", "cost", "parts"])
def test_a_table_that_changed_has_no_certificate(change):
    row_types = pack(ROWS)
    outcome = solved(row_types, 3, None, "exact")
    task = task_of(row_types, outcome, 3)
    if change == "row type":
        row_types = pack([*ROWS, ("new", 0, 0)])
    elif change == "rows":
        row_types = pack([*ROWS, ROWS[0]])
    elif change == "cost":
        task = replace(task, cost=task.cost + 1)
    else:
        first = row_types.keys[:8]
        parts = {"part_keys": first, "first_rows": integers([2]), "part_patterns": integers([0])}
        task = replace(task, mapping=replace(task.mapping, **parts))
    with pytest.raises(ReleaseError, match="have changed since"):
        certify(row_types, task)


def test_stored_prices_that_prove_nothing_are_replaced():
    """Prices that were valid for other numbers of rows may prove nothing for those that there are now."""
    row_types = pack(ROWS)
    outcome = solved(row_types, 3, None, "exact")
    task = task_of(row_types, outcome, 3)
    wrong = replace(task.mapping, prices=integers([10_000_000] * len(row_types)))
    assert check(json.loads(certify(row_types, replace(task, mapping=wrong))))[1] <= outcome.weighted_cost


# What a forger may put in the place of anything.
JUNK = [
    None, True, False, 0, 1, -1, 2, 3, 1.5, 0.5, 1.0, 0.0, -0.0, -2.5, 5e-324, 1e308, 1e999, -1e999, math.nan,
    2**31, 2**53 + 1, 2**63, 2**64, 10**400, -(10**400), "", "0", "1", "1/3", "-1", "NaN",
    [], [0], [0, 0], [1, 0], [-1], [99], [True], [0.0], [[]], [[0]], [[], [0]], [[1, []]],
    [1, [0], None, [], [[1, [0]]]], [[0, 1], [0, 0]], "kanon_pg certificate 2", {}, {"0": 1}, {"k": 2},
]  # fmt: skip


def spots(value, path=()):
    """Yield the way to everything in a document, itself not included."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield (*path, key)
        yield from spots(one, (*path, key))


def at(document, path):
    for key in path:
        document = document[key]
    return document


def forge(draw, document):
    """Change one thing of a document in place."""
    path = draw(st.sampled_from(list(spots(document))))
    owner, key = at(document, path[:-1]), path[-1]
    kind = draw(
        st.sampled_from(["junk", "number", "number", "delete", "double", "swap", "copy", "wrap", "split"])
    )
    value = owner[key]
    if kind == "number" and type(value) in (int, float):
        owner[key] = draw(
            st.sampled_from(
                [-value, value + 1, value - 1, value * 2, value / 2, value // 2, value * 1_000_000]
            )
        )
    elif kind == "delete":
        del owner[key]
    elif kind == "double" and isinstance(owner, list):
        owner.insert(key, copy.deepcopy(value))
    elif kind in ("swap", "copy"):
        other = draw(st.sampled_from([p for p in spots(document) if p[: len(path)] != path] or [path]))
        if path[: len(other)] != other:
            owner[key], before = copy.deepcopy(at(document, other)), value
            if kind == "swap":
                at(document, other[:-1])[other[-1]] = before
    elif kind == "wrap":
        owner[key] = (
            [value] if draw(st.booleans()) else value[0] if isinstance(value, list) and value else str(value)
        )
    elif kind == "split" and isinstance(value, list) and isinstance(owner, list):
        owner.insert(key, copy.deepcopy(value[: len(value) // 2]))
    else:
        owner[key] = copy.deepcopy(draw(st.sampled_from(JUNK)))


def completed(draw, found):
    """Make the totals those of the row types, and claim the most, as a forger who can add up would."""
    try:
        parts = [(line[1], *part) for line in found["row_types"] for part in line[4]]
        found["rows"] = sum(rows for _, rows, _ in parts)
        found["cost"] = float(sum(rows * cost_of(found, cells, levels) for cells, rows, levels in parts))
        total = sum(line[0] * rows for line in found["row_types"] for rows, _ in line[4])
        found["lower_bound"] = draw(st.sampled_from([found["cost"], total / found["price_unit"]]))
    except (TypeError, LookupError, ValueError, ArithmeticError):
        return


def optimum_by_trying(found):
    """Return the least cost of the table in a certificate, over all ways to choose levels for each row.

    Where people are told apart, the rows of a type stay together.
    """
    pieces = []
    for line in found["row_types"]:
        rows = sum(number for number, _ in line[4])
        pieces += [(rows, line)] if line[2] is not None else [(1, line)] * rows
    every = product(*(range(2 if one["levels"] is None else len(one["levels"])) for one in found["columns"]))
    patterns = [tuple(one) for one in (every if found["patterns"] is None else found["patterns"])]
    assume(len(patterns) ** len(pieces) <= 20_000)
    best = math.inf
    for chosen in product(patterns, repeat=len(pieces)):
        classes = defaultdict(list)
        for (rows, line), levels in zip(pieces, chosen, strict=True):
            classes[shown_at(found, line[1], levels)].append((rows, line))
        if all(is_class(found, members) for members in classes.values()):
            cost = sum(
                rows * cost_of(found, line[1], levels)
                for (rows, line), levels in zip(pieces, chosen, strict=True)
            )
            best = min(best, float(cost))
    return best


def told(capsys, path, text):
    """Return what the program prints of a file; None if it refuses, which it does in one sentence."""
    path.write_text(text, encoding="utf-8")
    refusal = None
    try:
        program.main(str(path))
    except SystemExit as found:
        refusal = found.code
    printed = capsys.readouterr().out
    if refusal is None:
        return printed
    assert isinstance(refusal, str)
    assert refusal.startswith("refused: ")
    assert len(refusal.splitlines()) == 1
    assert printed == ""
    return None


def require_true(line, found):
    """Compare what was printed with what is found by trying, and with the table that the file states."""
    head, _, tail = line.strip().partition(";")
    words = head.replace(",", "").split()
    cost, bound, rows, number_of_classes, smallest = (float(words[place]) for place in (1, 4, 5, 7, 10))
    classes = classes_in(found)
    assert all(
        type(one["weight"]) in (int, float) and 0 < one["weight"] < math.inf for one in found["columns"]
    )
    parts = [(line[1], *part) for line in found["row_types"] for part in line[4]]
    assert cost == pytest.approx(float(sum(n * cost_of(found, cells, levels) for cells, n, levels in parts)))
    assert (rows, len(classes)) == (sum(number for _, number, _ in parts), int(number_of_classes))
    assert smallest >= found["k"] >= 2
    assert all(is_class(found, members) for members in classes.values())
    assert f"k = {found['k']}" in tail
    assert bound <= cost
    assert bound <= optimum_by_trying(found) + 1e-9 * bound


forged = settings(
    max_examples=examples(600),
    deadline=None,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.filter_too_much,
        HealthCheck.function_scoped_fixture,
    ],
)


@forged
@given(case=cases(most_rows=5), data=st.data())
def test_whatever_a_forger_changes_is_refused_or_true(case, data, capsys, tmp_path, monkeypatch):
    row_types, k, patterns, _ = case
    monkeypatch.setattr(certifier, "_shuffled", np.arange)  # so that an example can be tried again
    assume(len(row_types.columns) <= 2)
    found = certified(row_types, solved(*case), k, patterns=patterns)
    for _ in range(data.draw(st.integers(1, 4))):
        if spots(found):
            forge(data.draw, found)
    if data.draw(st.booleans()):
        completed(data.draw, found)
    line = told(capsys, tmp_path / "certificate.json", json.dumps(found))
    if line is not None:
        require_true(line, json.loads(json.dumps(found)))


@forged
@given(text=st.binary(max_size=40), place=st.floats(0, 1), gone=st.integers(0, 30))
def test_a_file_that_was_cut_or_written_over_is_refused_or_true(text, place, gone, capsys, tmp_path):
    found = certified(row_types := pack([(0, 0)] * 2 + [(0, 1)] * 2), solved(row_types, 2, None, "exact"), 2)
    whole = json.dumps(found).encode()
    begin = int(place * len(whole))
    broken = whole[:begin] + text + whole[begin + gone :]
    line = told(capsys, tmp_path / "certificate.json", broken.decode("latin1"))
    if line is not None:
        require_true(line, json.loads(broken))


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "7", "null", '"k"', "{", "[" * 100_000, '{"k":' * 100_000, "NaN", "1" * 5000, "\0",
        "\ufeff{}", "\xe9", '{"k": 2, "k": 3}', "{}", "[[[]]]",
    ],
)  # fmt: skip
def test_what_is_no_certificate_is_refused_in_a_sentence(text, capsys, tmp_path):
    assert told(capsys, tmp_path / "certificate.json", text) is None


def test_a_key_that_stands_there_twice_is_refused(certificate, capsys, tmp_path):
    """One reader takes the first, another one the last."""
    text = json.dumps(certificate)
    assert told(capsys, tmp_path / "certificate.json", text) is not None
    for key in certificate:
        twice = f'{{"{key}": {json.dumps(certificate[key])}, {text[1:]}'
        assert told(capsys, tmp_path / "certificate.json", twice) is None


def test_a_file_that_is_not_there_and_no_file_are_refused(capsys, tmp_path):
    for files in ([str(tmp_path / "nothing")], [str(tmp_path)], [], ["a", "b"]):
        with pytest.raises(SystemExit, match="refused"):
            program.main(*files)


@pytest.mark.parametrize("k", [1, 1.5, 1.0, True, 0, -3, "2", None, [2], math.nan, math.inf, 2.0])
def test_a_k_that_is_none_is_refused(certificate, k):
    certificate["k"] = k
    with pytest.raises(SystemExit, match="refused"):
        check(certificate)


@pytest.mark.parametrize("unit", [-1, 0, 1, True, 1e6, 10**9, 2_000_000, "1000000", None])
def test_another_price_unit_is_refused(certificate, unit):
    certificate["price_unit"] = unit
    with pytest.raises(SystemExit, match="refused"):
        check(certificate)


def test_a_bound_is_printed_in_full(capsys, tmp_path):
    """Six digits of 1234567 would be 1234570, which is not proven."""
    rows = 1_234_567
    found = {
        "format": "kanon_pg certificate 2", "release": "r", "k": 2, "rows": 2 * rows, "demands": [],
        "columns": [{"weight": 1.0, "levels": None}],
        "patterns": None, "price_unit": 1_000_000, "cost": 0.0, "lower_bound": 0.0, "nonce": "",
        "row_types": [[0, [0], None, [], [[rows, [1]], [rows, [0]]]]],
    }  # fmt: skip
    found["cost"] = float(rows)
    line = told(capsys, tmp_path / "certificate.json", json.dumps(found))
    assert line is not None
    assert line.startswith("cost 1234567, at least 0, 2469134 rows, 2 classes of 1234567 or more; k = 2, any")


def test_a_file_that_would_take_for_ever_is_refused(certificate, capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(program, "MOST_STEPS", 1)
    assert told(capsys, tmp_path / "certificate.json", json.dumps(certificate)) is None


def test_the_program_can_be_read_at_a_sitting():
    assert len(PROGRAM.read_text(encoding="utf-8").splitlines()) <= 320
