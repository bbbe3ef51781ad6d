"""Checks a file that `kanon certificate` wrote, without kanon_pg: python3 check_certificate.py FILE."""

import json
import sys
from collections import Counter, defaultdict
from fractions import Fraction
from math import gcd, lcm


def check(certificate):
    """Return (cost, bound, rows, classes, smallest class); raises an error if the certificate is wrong."""
    k, unit, patterns = certificate["k"], certificate["price_unit"], certificate["patterns"]
    weights, people, cost, types = [*map(Fraction, certificate["weights"])], Counter(), 0, []
    for price, cells, parts in certificate["row_types"]:
        for rows, hidden in parts:
            require(type(price) is type(rows) is int and rows > 0, "a number is no such number")
            require(patterns is None or hidden in patterns, "a pattern is none of those that are allowed")
            people[tuple(hidden), tuple(x for c, x in enumerate(cells) if c not in hidden)] += rows
            cost += rows * sum(weights[column] for column in hidden)
        types.append((price, sum(rows for rows, _ in parts), cells))
    require(sum(people.values()) == certificate["rows"], "there are more rows, or fewer")
    require(float(cost) == certificate["cost"], "the release has another cost")
    require(min(people.values()) >= k > 1 and min(weights) > 0, "a published class has fewer than k people")
    columns = sorted((-len({t[2][c] for t in types}), c, int(w * unit)) for c, w in enumerate(weights))
    groups = [sorted(types, reverse=True)]  # costliest first
    require(not is_undercut(k, columns, groups, 0, patterns), "a class would cost less than its prices")
    scale = lcm(*(weight.denominator for weight in weights))
    step = Fraction(gcd(*(int(weight * scale) for weight in weights)), scale)  # divides all costs
    bound = -(-Fraction(sum(price * rows for price, rows, _ in types), unit) // step) * step
    require(certificate["lower_bound"] <= bound, "the prices do not prove the bound")
    return float(cost), certificate["lower_bound"], certificate["rows"], len(people), min(people.values())


def is_undercut(k, columns, groups, cost, patterns):
    """Whether k rows of a group, or more, can cost less than their prices if further columns are hidden."""
    left, split = [], defaultdict(list)
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
    return any(is_undercut(k, columns, *branch) for branch in branches)


def require(is_so, otherwise):  # noqa: D103
    if not is_so:
        raise SystemExit(f"refused: {otherwise}")


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        print("cost {:g}, at least {:g}, {} rows, {} classes of {} or more".format(*check(json.load(file))))
