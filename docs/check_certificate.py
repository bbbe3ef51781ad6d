"""Checks a file that `kanon certificate` wrote, without kanon_pg: python3 check_certificate.py FILE."""

import json
import sys
from collections import Counter, defaultdict
from fractions import Fraction
from math import gcd, lcm
from typing import NamedTuple

KEYS = "columns cost demands format k lower_bound nonce patterns price_unit release row_types rows"
UNIT = 1_000_000  # prices are in this fraction of the cost 1
MOST, MOST_COST, MOST_COLUMNS, MOST_BYTES = 2**63, 1e120, 63, 2**31
MOST_GAIN = 2**999  # no gain is as far from 0
MOST_STEPS = 2 * 10**8  # row types looked at: some minutes; what a solver proved takes far fewer


class Row(NamedTuple):
    """A row type: price of a row, rows, cells, people (None: each row is one), sensitive values, parts."""

    price: int
    rows: int
    cells: tuple
    people: frozenset | None
    values: tuple
    parts: list


class Rules(NamedTuple):
    """What classes satisfy: k people, and for each sensitive column how many values and of what share."""

    k: int
    demands: list
    columns: list  # per column its levels, each of which has the node and the exact loss of each value
    steps: list


def check(certificate):
    """Return (cost, bound, rows, classes, smallest class, k, patterns); refuse all else."""
    rules, weights, patterns, types = well_formed(certificate)
    cost, classes, allowed = 0, defaultdict(list), patterns and set(patterns)
    for row in types:
        for rows, levels in row.parts:
            require(patterns is None or levels in allowed, "a pattern is none of those that are allowed")
            shown = [rules.columns[c][level] for c, level in enumerate(levels)]
            classes[levels, tuple(nodes[x] for (nodes, _), x in zip(shown, row.cells, strict=True))].append(
                (rows, row)
            )
            cost += rows * sum(losses[x] for (_, losses), x in zip(shown, row.cells, strict=True))
    people = [count_people(rules, members) for members in classes.values()]
    require(len({(row.cells, row.values) for row in types}) == len(types), "a row type stands there twice")
    require(sum(row.rows for row in types) == certificate["rows"], "there are more rows, or fewer")
    require(float(cost) == certificate["cost"], "the release has another cost")
    require(min(people) >= rules.k, "a published class has fewer than k people")
    order = sorted(range(len(weights)), key=lambda c: (-len(set(rules.columns[c][0][0])), c))
    groups = [(0, sorted(types, key=lambda row: -row.price))]  # costliest first
    require(not is_undercut(rules, order, groups, patterns), "a class would cost less than its prices")
    bound = Fraction(sum(row.price * row.rows for row in types), UNIT)
    if all(column["levels"] is None for column in certificate["columns"]):
        scale = lcm(*(weight.denominator for weight in weights))
        step = Fraction(gcd(*(int(weight * scale) for weight in weights)), scale)  # divides all costs
        bound = -(-bound // step) * step
    require(certificate["lower_bound"] <= max(0, bound), "the prices do not prove the bound")
    found = float(cost), certificate["lower_bound"], certificate["rows"], len(classes), min(people)
    return *found, rules.k, "any" if patterns is None else len(allowed)


def count_people(rules, members):
    """Return how many people a published class has; refuse it if it lacks what is demanded."""
    for number, (least, share) in enumerate(rules.demands):
        values = Counter()
        for rows, row in members:
            values[row.values[number]] += rows
        require(len(values) >= least, "a published class has too few sensitive values")
        most = max(values.values())
        require(most * share <= values.total(), "a published class has too much of a sensitive value")
    if members[0][1].people is None:
        return sum(rows for rows, _ in members)
    return len(frozenset().union(*(row.people for _, row in members)))


def is_undercut(rules, order, groups, patterns):
    """Whether a class in a group can cost less than its prices if further columns are at some level."""
    left = [] if patterns == [] else gaining(rules, groups)
    if not left or not order:
        return bool(left)
    column, *order = order
    levels = rules.columns[column]
    for level in reversed(range(len(levels))):  # from the top down, where groups are split
        nodes, losses = levels[level]
        split = defaultdict(list)
        for number, (cost, group) in enumerate(left):
            for row in group:
                split[number, cost, nodes[row.cells[column]]].append(row)
        left = [(cost, group) for (_, cost, _), group in split.items()]
        left = gaining(rules, left) if 0 < level < len(levels) - 1 else left
        chosen = patterns and [pattern for pattern in patterns if pattern[column] == level]
        dearer = [(cost + int(losses[group[0].cells[column]] * UNIT), group) for cost, group in left]
        if is_undercut(rules, order, dearer, chosen):
            return True
    return False


def gaining(rules, groups):
    """Return the groups that have a class which gains; of the others no part does, nor a costlier one."""
    count_steps(rules, sum(len(group) for _, group in groups))
    return [(cost, group) for cost, group in groups if gains(rules, group, cost)]


def count_steps(rules, steps):  # noqa: D103
    rules.steps[0] += steps
    require(rules.steps[0] <= MOST_STEPS, "it would take too long to check")


def gains(rules, group, cost):
    """Whether no demand keeps all classes of a group from costing less than the prices of their rows."""
    if group[0].people is not None:
        return gains_with_people(rules.k, group, cost) and gains_under(rules, group, cost)
    gain = taken = 0
    for row in group:
        more = row.rows if row.price > cost else min(row.rows, max(0, rules.k - taken))
        gain, taken = gain + more * (row.price - cost), taken + more
    return taken >= rules.k and gain > 0 and gains_under(rules, group, cost)


def gains_with_people(k, group, cost):
    """Whether the costly types gain more than the cheapest shares of types for the people that lack.

    A type stays in one piece: it loses what it loses, once for k people of it at most.
    """
    gain, met, shares = 0, set(), []
    for row in group:
        if row.price > cost:
            gain, met = gain + row.rows * (row.price - cost), met | row.people
        elif row.people:
            shares.append((row.rows * (cost - row.price) // min(len(row.people), k), row.people))
    for share, people in sorted(shares, key=lambda one: one[0]):
        more = min(len(people - met), max(0, k - len(met)))
        gain, met = gain - more * share, met | people
    return len(met) >= k and gain > 0


def gains_under(rules, group, cost):
    """Whether a class gains that has enough values of each sensitive column, in small enough shares."""
    return all(
        (least <= 1 or gains_with_values(rules.k, least, number, group, cost))
        and (share <= 1 or gains_with_shares(rules, share, number, group, cost))
        for number, (least, share) in enumerate(rules.demands)
    )


def gains_with_values(k, least, number, group, cost):
    """Whether a class gains of all costly rows, a row of each value that lacks, and people that lack."""
    costly = [row for row in group if row.price > cost]
    gain = sum(row.rows * (row.price - cost) for row in costly)
    taken, values, spare = sum(size_of(row) for row in costly), {row.values[number] for row in costly}, []
    for row in group[len(costly) :]:
        more = row.values[number] not in values and len(values) < least
        if more:
            gain, taken = gain + row.price - cost, taken + 1
            values.add(row.values[number])
        spare.append((row, size_of(row) - more))
    for row, people in spare:
        more = max(0, min(people, k - taken))
        gain, taken = gain + more * (row.price - cost), taken + more
    return len(values) >= least and taken >= k and gain > 0


def gains_with_shares(rules, share, number, group, cost):
    """Whether for some limit of the rows of a value a class gains that has `share` times as many rows.

    The greatest gain is concave in the limit: where a higher limit gains less, none above it gains more.
    """
    low, high = 1, sum(row.rows for row in group)
    while low <= high:
        limit = (low + high) // 2
        here, above = (gain_with_limit(rules, share, number, group, cost, limit + more) for more in (0, 1))
        if here is not None and here > 0:
            return True
        if here is None or above is None or (here > -MOST_GAIN and above <= here):
            high = limit - 1
        else:
            low = limit + 1
    return False


def gain_with_limit(rules, share, number, group, cost, limit):
    """Return the greatest gain; None if there are too few rows for the limit, the least gain if for k."""
    count_steps(rules, len(group))
    values, gain, taken, needed = Counter(), 0, 0, max(rules.k, limit * share)
    for row in group:
        more = min(row.rows, limit - values[row.values[number]])
        more = more if row.price > cost else min(more, max(0, needed - taken))
        values[row.values[number]] += more
        gain, taken = gain + more * (row.price - cost), taken + more
    if taken < limit * share:
        return None
    return gain if taken >= rules.k else -MOST_GAIN


def size_of(row):  # noqa: D103
    return row.rows if row.people is None else len(row.people)


def well_formed(certificate):
    """Return rules, weights, patterns and row types, and refuse what is none of them."""
    require(type(certificate) is dict and sorted(certificate) == KEYS.split(), "the keys are other ones")
    require(certificate["format"] == "kanon_pg certificate 2", "the format is another one")
    texts = certificate["release"], certificate["nonce"]
    require(all(type(one) is str for one in texts), "the name of the release or the nonce is no text")
    require(whole(certificate["price_unit"], 1, "the price unit") == UNIT, f"the price unit is not {UNIT}")
    k, _ = whole(certificate["k"], 2, "k"), whole(certificate["rows"], 1, "the number of rows")
    cost, bound = number(certificate["cost"], "the cost"), number(certificate["lower_bound"], "the bound")
    require(bound <= cost, "the bound is above the cost")
    demands = [array(one, "a demand", 2) for one in array(certificate["demands"], "the list of demands")]
    demands = [tuple(whole(one, 1, "a demand") for one in both) for both in demands]
    lines = [array(line, "a row type", 5) for line in array(certificate["row_types"], "the row types")]
    columns, weights, described = [], [], array(certificate["columns"], "the list of columns")
    require(0 < len(described) <= MOST_COLUMNS, "there are no columns, or too many")
    cells = [array(line[1], "the list of cells", len(described)) for line in lines]
    cells = [tuple(whole(x, 0, "a cell") for x in one) for one in cells]
    for column, one in enumerate(described):
        require(type(one) is dict and sorted(one) == ["levels", "weight"], "a column has other keys")
        weights.append(number(one["weight"], "a weight"))
        require(weights[-1] > 0, "a weight is 0")
        columns.append(levels_of(one["levels"], {own[column] for own in cells}, weights[-1]))
    patterns = certificate["patterns"]
    if patterns is not None:
        patterns = [pattern_of(one, columns) for one in array(patterns, "the list of patterns")]
        require(len(set(patterns)) == len(patterns), "a pattern stands there twice")
    types = [row_type_of(line, own, columns, demands) for line, own in zip(lines, cells, strict=True)]
    require(len({row.people is None for row in types}) == 1, "some row types have people, others none")
    return Rules(k, demands, columns, [0]), weights, patterns, types


def row_type_of(line, cells, columns, demands):  # noqa: D103
    price, people = whole(line[0], -MOST, "a price"), line[2]
    values = tuple(whole(x, 0, "a value") for x in array(line[3], "the values", len(demands)))
    parts = [array(part, "a part", 2) for part in array(line[4], "the list of parts")]
    parts = [(whole(rows, 1, "a number of rows"), pattern_of(levels, columns)) for rows, levels in parts]
    require(parts, "a row type has no rows")
    rows = sum(rows for rows, _ in parts)
    if people is not None:
        listed = [whole(person, 0, "a person") for person in array(people, "the people")]
        people = frozenset(listed)
        require(len(listed) == len(people) <= rows and len(parts) == 1, "people are listed otherwise")
    return Row(price, rows, cells, people, values, parts)


def levels_of(levels, values, weight):
    """Return for each level the node and the exact cost of each value; refuse what is no hierarchy."""
    if levels is None:  # shown, or suppressed
        free = {x: x for x in values}, dict.fromkeys(values, 0)
        return [free, (dict.fromkeys(values, 0), dict.fromkeys(values, weight))]
    found = []
    for level in array(levels, "the levels"):
        nodes, losses = (array(one, "a level") for one in array(level, "a level", 2))
        nodes = dict(enumerate(whole(node, 0, "a node") for node in nodes))
        losses = dict(enumerate(weight * number(loss, "a loss") for loss in losses))
        require(nodes.keys() == losses.keys() >= values, "a level leaves out values")
        require(
            len({*zip(nodes.values(), losses.values(), strict=True)}) == len({*nodes.values()}),
            "a node has two losses",
        )
        if found:
            (below, less), links = found[-1], set()
            require(below.keys() == nodes.keys(), "levels have different values")
            links = {(below[x], nodes[x]) for x in nodes}
            require(len(links) == len({*below.values()}), "a node has two parents")
            require(all(less[x] <= losses[x] for x in nodes), "a loss falls")
        found.append((nodes, losses))
    require(found and len({*found[-1][0].values()}) == 1, "the top has not one node")
    return found


def pattern_of(value, columns):  # noqa: D103
    levels = [whole(level, 0, "a level") for level in array(value, "the levels", len(columns))]
    require(all(x < len(y) for x, y in zip(levels, columns, strict=True)), "there is no such level")
    return tuple(levels)


def array(value, what, length=None):  # noqa: D103
    require(type(value) is list and length in (None, len(value)), f"{what} has another form")
    return value


def whole(value, least, what):  # noqa: D103
    require(type(value) is int and least <= value <= MOST, f"{what} is no whole number in its range")
    return value


def number(value, what):  # noqa: D103 - comparisons refuse NaN
    require(type(value) in (int, float) and 0 <= value <= MOST_COST, f"{what} is no number in its range")
    return Fraction(value)


def require(is_so, otherwise):  # noqa: D103
    if not is_so:
        raise SystemExit(f"refused: {otherwise}")


def unique(pairs):  # noqa: D103
    require(len(dict(pairs)) == len(pairs), "a key stands there twice")
    return dict(pairs)


def main(*files):
    """Check a file, and print what is true of the rows in it, in full digits."""
    require(len(files) == 1, "name one file")
    try:
        with open(files[0], encoding="ascii") as file:
            found = check(json.loads(file.read(MOST_BYTES), object_pairs_hook=unique))  # a longer one is cut
    except (ValueError, RecursionError, MemoryError, OSError, KeyboardInterrupt) as error:
        raise SystemExit(f"refused: the file cannot be read or checked ({type(error).__name__})") from None
    line = "cost {}, at least {}, {} rows, {} classes of {} or more; k = {}, {} patterns allowed"
    print(line.format(*(str(one).removesuffix(".0") for one in found)))


if __name__ == "__main__":
    main(*sys.argv[1:])
