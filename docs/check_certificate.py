"""Checks a file that `kanon certificate` wrote, without kanon_pg: python3 check_certificate.py FILE."""

import json
import sys
from collections import Counter, defaultdict
from fractions import Fraction
from math import gcd, lcm

KEYS = "cost format k lower_bound patterns price_unit release row_types rows weights"
UNIT = 1_000_000  # prices are in this fraction of the cost 1
MOST, MOST_COST, MOST_COLUMNS, MOST_BYTES = 2**63, 1e120, 63, 2**31
MOST_STEPS = 2 * 10**8  # row types looked at: some minutes; what a solver proved takes far fewer


def check(certificate):
    """Return (cost, bound, rows, classes, smallest class, k, patterns); refuse all else."""
    k, weights, patterns, lines = well_formed(certificate)
    people, cost, types, allowed = Counter(), 0, [], patterns and set(patterns)
    for price, cells, parts in lines:
        for rows, hidden in parts:
            require(patterns is None or hidden in allowed, "a pattern is none of those that are allowed")
            people[hidden, tuple(x for c, x in enumerate(cells) if c not in hidden)] += rows
            cost += rows * sum(weights[column] for column in hidden)
        types.append((price, sum(rows for rows, _ in parts), cells))
    require(len({cells for _, cells, _ in lines}) == len(lines), "a row type stands there twice")
    require(sum(people.values()) == certificate["rows"], "there are more rows, or fewer")
    require(float(cost) == certificate["cost"], "the release has another cost")
    require(min(people.values()) >= k, "a published class has fewer than k people")
    columns = sorted((-len({t[2][c] for t in types}), c, int(w * UNIT)) for c, w in enumerate(weights))
    groups = [sorted(types, reverse=True)]  # costliest first
    require(not is_undercut(k, columns, groups, 0, patterns, [0]), "a class would cost less than its prices")
    scale = lcm(*(weight.denominator for weight in weights))
    step = Fraction(gcd(*(int(weight * scale) for weight in weights)), scale)  # divides all costs
    bound = max(0, -(-Fraction(sum(price * rows for price, rows, _ in types), UNIT) // step) * step)
    require(certificate["lower_bound"] <= bound, "the prices do not prove the bound")
    found = float(cost), certificate["lower_bound"], certificate["rows"], len(people), min(people.values())
    return *found, k, "any" if patterns is None else len(allowed)


def is_undercut(k, columns, groups, cost, patterns, steps):
    """Whether k rows of a group, or more, can cost less than their prices if further columns are hidden."""
    left, split = [], defaultdict(list)
    steps[0] += sum(map(len, groups))
    require(steps[0] <= MOST_STEPS, "it would take too long to check")
    for group in groups:
        gain = taken = 0
        for price, rows, _ in group:
            more = rows if price > cost else min(rows, max(0, k - taken))
            gain, taken = gain + more * (price - cost), taken + more
        left += [group] if taken >= k and gain > 0 else []  # of the others no part gains, nor a costlier one
    if not left or not columns or patterns == []:
        return bool(left) and patterns != []
    (_, column, weight), *columns = columns
    for number, one in ((number, one) for number, group in enumerate(left) for one in group):
        split[number, one[2][column]].append(one)
    shown, hidden = (patterns and [p for p in patterns if (column in p) is hides] for hides in (False, True))
    branches = (split.values(), cost, shown), (left, cost + weight, hidden)
    return any(is_undercut(k, columns, *branch, steps) for branch in branches)


def well_formed(certificate):
    """Return k, weights, patterns and row types, and refuse what is none of them."""
    require(type(certificate) is dict and sorted(certificate) == KEYS.split(), "the keys are other ones")
    require(certificate["format"] == "kanon_pg certificate 1", "the format is another one")
    require(type(certificate["release"]) is str, "the name of the release is no text")
    require(whole(certificate["price_unit"], 1, "the price unit") == UNIT, f"the price unit is not {UNIT}")
    k, _ = whole(certificate["k"], 2, "k"), whole(certificate["rows"], 1, "the number of rows")
    weights = [number(one, "a weight") for one in array(certificate["weights"], "the list of weights")]
    require(0 < len(weights) <= MOST_COLUMNS and min(weights) > 0, "weights are none, too many, or 0")
    cost, bound = number(certificate["cost"], "the cost"), number(certificate["lower_bound"], "the bound")
    require(bound <= cost, "the bound is above the cost")
    patterns, lines = certificate["patterns"], []
    if patterns is not None:
        patterns = [columns_of(one, weights) for one in array(patterns, "the list of patterns")]
        require(len(set(patterns)) == len(patterns), "a pattern stands there twice")
    for line in array(certificate["row_types"], "the row types"):
        price, cells, parts = array(line, "a row type", 3)
        cells = tuple(whole(x, 0, "a cell") for x in array(cells, "the list of cells", len(weights)))
        parts = [array(part, "a part", 2) for part in array(parts, "the list of parts")]
        parts = [(whole(rows, 1, "a number of rows"), columns_of(hidden, weights)) for rows, hidden in parts]
        require(parts, "a row type has no rows")
        lines.append((whole(price, -MOST, "a price"), cells, parts))
    return k, weights, patterns, lines


def columns_of(value, weights):  # noqa: D103
    found = [whole(x, 0, "a column") for x in array(value, "a list of columns")]
    require(found == sorted(set(found) & set(range(len(weights)))), "a list of columns has wrong ones")
    return tuple(found)


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
