"""Intervals of numbers: of equal width, with equally many rows, or between given cuts.

Each level merges neighbours of the level below, so levels nest. Intervals hold their lower bound and not
their upper one. Running time is O(v log v) for v values and each level.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal, DecimalException, Inexact, localcontext
from itertools import accumulate, pairwise

from kanon_pg.core.hierarchy import MAX_HEIGHT, MAX_VALUES, GeneralizationHierarchy, from_levels
from kanon_pg.errors import InputError
from kanon_pg.hierarchies.inputs import ColumnValues, Spec
from kanon_pg.hierarchies.ranges import half_open, range_type

_DIGITS = 2_000
"""Precision of the arithmetic; what needs more is refused."""

_LARGEST = {"int4range": Decimal(2**31 - 1), "int8range": Decimal(2**63 - 1)}
"""A bound beyond it is left open: the column's type has no value there."""

_MOST_GROUPS = 100_000


def intervals(values: ColumnValues, spec: Spec) -> GeneralizationHierarchy:
    """Build intervals over the numbers of a column.

    `spec` has one of ``width`` (a number, or one per level, each a multiple of the one before; intervals
    begin at ``origin``, 0 unless given), ``groups`` (number of intervals with about equally many rows, or one
    per level, each dividing the one before) and ``cuts`` (lower bounds, or one list per level, each part of
    the one before). Without a list per level, ``factor`` (2) neighbours are merged per level, ``levels``
    times at most; with cuts there is one level unless factor is given. ``domain``: lowest and highest of the
    whole numbers that are expected.
    """
    ways: dict[str, Callable[[_Line, Spec], _Levels]] = {
        "width": _by_width,
        "groups": _by_groups,
        "cuts": _by_cuts,
    }
    chosen = [key for key in ways if spec.has(key)]
    if len(chosen) != 1:
        raise InputError(
            "Intervals need exactly one of the keys width, groups and cuts.",
            hint='For example: {"builder": "intervals", "width": 5}.',
        )
    with localcontext(prec=_DIGITS) as context:
        context.traps[Inexact] = True
        try:
            wanted = values.with_expected(_expected(values, spec))
            levels, keeps_all = ways[chosen[0]](_Line(wanted), spec)
            return from_levels(wanted.texts, levels, keeps_all=keeps_all)
        except DecimalException:
            raise InputError(
                f"The numbers of column {values.column.identifier} differ too much in size for intervals.",
                hint="Round the column in a view first.",
            ) from None


def _expected(values: ColumnValues, spec: Spec) -> Iterable[str]:
    """Return the whole numbers of the domain."""
    ends = spec.numbers("domain")
    if ends is None:
        return ()
    if values.column.base_type not in _WHOLE or len(ends) != 2 or any(end % 1 for end in ends):
        raise InputError(
            '"domain" of the intervals must be the lowest and the highest of whole numbers.',
            hint='For example: "domain": [0, 120].',
        )
    if not 0 <= ends[1] - ends[0] < MAX_VALUES:
        raise InputError(
            f'"domain" of the intervals must have 1 to {MAX_VALUES:,} numbers.',
            hint="The lowest comes first.",
        )
    return map(str, range(int(ends[0]), int(ends[1]) + 1))


_WHOLE = ("int2", "int4", "int8")
_Levels = tuple[list[list[str]], bool]
"""Per level the node of each value, and whether each level was given by itself."""


class _Line:
    """The numbers of a column on their line, and how its intervals are written."""

    def __init__(self, values: ColumnValues) -> None:
        self.values = values
        self.numbers = values.numbers()
        self.rows = values.rows
        self._range = range_type(values.column.base_type)
        self._largest = _LARGEST.get(self._range or "")

    def require_fitting(self, key: str, bounds: Sequence[Decimal]) -> None:
        """Refuse fractions where the column has whole numbers."""
        if self._largest is not None and any(bound % 1 for bound in bounds):
            raise InputError(
                f'"{key}" of the intervals must be whole numbers, as the column\'s are.', hint="Round them."
            )

    def written(self, low: Decimal | None, high: Decimal | None) -> str:
        """Return an interval as a range."""
        return half_open(self._bound(low), self._bound(high))

    def _bound(self, number: Decimal | None) -> str | None:
        if number is None or (self._largest is not None and not -self._largest <= number <= self._largest):
            return None
        return plain(number)

    def on_grid(self, lows: Sequence[Decimal], width: Decimal) -> list[str]:
        """Return the intervals of one width with these lower bounds."""
        names = {low: self.written(low, low + width) for low in set(lows)}
        return [names[low] for low in lows]

    def between(self, cuts: Sequence[Decimal]) -> list[str]:
        """Return for each number the interval between cuts in which it lies; the outer ones have no end."""
        ends = [None, *cuts, None]
        names = [self.written(low, high) for low, high in pairwise(ends)]
        return [names[bisect_right(cuts, number)] for number in self.numbers]


def plain(number: Decimal) -> str:
    """Return a number without exponent and without zeros that say nothing.

    Examples
    --------
    >>> plain(Decimal("1E+2")), plain(Decimal("2.50")), plain(Decimal("-0"))
    ('100', '2.5', '0')
    """
    written = format(number, "f")
    if "." in written:
        written = written.rstrip("0").rstrip(".")
    return "0" if written == "-0" else written


def _by_width(line: _Line, spec: Spec) -> _Levels:
    widths, factor, most = (
        spec.numbers("width") or [],
        spec.whole("factor", 2, 1000),
        spec.whole("levels", 1, 62),
    )
    origins = spec.numbers("origin") or [Decimal(0)]
    if len(origins) > 1:
        raise InputError('"origin" of the intervals must be one number.', hint="For example 0.")
    origin = origins[0]
    line.require_fitting("width", [*widths, origin])
    if any(width <= 0 for width in widths):
        raise InputError('"width" of the intervals must be positive.', hint="For example 5.")
    if len(widths) > 1:
        _refuse_with_list(factor, most)
        if any(above % below for below, above in pairwise(widths)):
            raise _not_nesting("width", "a multiple of the one before")
        return [line.on_grid(lows, width) for lows, width in _grids(line, widths, origin)], True
    growing = _growing(widths[0], factor or 2, 2 * max(abs(number - origin) for number in line.numbers))
    levels: list[list[str]] = []
    fewest = len(line.numbers) + 1
    for lows, width in _grids(line, growing, origin):
        nodes = len(set(lows))
        if nodes == 1 or len(levels) == (most or MAX_HEIGHT - 1):
            break
        if nodes < fewest:  # else it merges nothing, and would only say less
            levels.append(line.on_grid(lows, width))
            fewest = nodes
    return levels, False


def _growing(width: Decimal, factor: int, most: Decimal) -> Iterator[Decimal]:
    """Yield widths, each a multiple of the one before, until two intervals hold everything."""
    yield width
    while width < most:
        width *= factor
        yield width


def _grids(
    line: _Line, widths: Iterable[Decimal], origin: Decimal
) -> Iterator[tuple[list[Decimal], Decimal]]:
    """Yield for each width the lower bound of each number's interval, found from the level below."""
    lows = line.numbers
    for width in line.values.by_level(widths):
        below = {low: _floor(low, width, origin) for low in set(lows)}
        lows = [below[low] for low in lows]
        yield lows, width


def _floor(number: Decimal, width: Decimal, origin: Decimal) -> Decimal:
    steps = (number - origin) // width  # rounds towards zero
    low = origin + steps * width
    return low - width if low > number else low


def _by_groups(line: _Line, spec: Spec) -> _Levels:
    wanted = [int(number) if not number % 1 else 0 for number in spec.numbers("groups") or []]
    factor, most = spec.whole("factor", 2, 1000), spec.whole("levels", 1, 62)
    if not all(2 <= groups <= _MOST_GROUPS for groups in wanted):
        raise InputError(
            '"groups" of the intervals must be whole numbers, at least 2.', hint="For example 16."
        )
    cuts = list(_even_cuts(line, wanted[0]))
    if len(wanted) == 1:
        return _merging(line, cuts, factor or 2, most)
    _refuse_with_list(factor, most)
    if any(below % above for below, above in pairwise(wanted)):
        raise _not_nesting("groups", "a divisor of the one before")
    steps = [wanted[0] // groups for groups in wanted]
    return [line.between(cuts[step - 1 :: step]) for step in line.values.by_level(steps)], True


def _by_cuts(line: _Line, spec: Spec) -> _Levels:
    listed = spec.number_lists("cuts") or []
    factor, most = spec.whole("factor", 2, 1000), spec.whole("levels", 1, 62)
    line.require_fitting("cuts", [cut for cuts in listed for cut in cuts])
    if any(low >= high for cuts in listed for low, high in pairwise(cuts)):
        raise InputError('"cuts" of the intervals must rise.', hint="For example: [18, 30, 45, 65].")
    if len(listed) == 1 and factor is not None:
        return _merging(line, listed[0], factor, most)
    _refuse_with_list(factor, most)
    if any(not set(above) <= set(below) for below, above in pairwise(listed)):
        raise _not_nesting("cuts", "part of the one before")
    return [line.between(cuts) for cuts in line.values.by_level(listed)], True


def _merging(line: _Line, cuts: Sequence[Decimal], factor: int, most: int | None) -> _Levels:
    levels: list[list[str]] = []
    while cuts and len(levels) < (most or MAX_HEIGHT - 1):
        line.values.checkpoint()
        levels.append(line.between(cuts))
        cuts = cuts[factor - 1 :: factor]
    return levels, False


def _even_cuts(line: _Line, groups: int) -> Iterator[Decimal]:
    """Yield where to cut so that each part has about equally many rows: next to the ideal place."""
    ordered = sorted(zip(line.numbers, line.rows, strict=True))
    until = list(accumulate(rows for _, rows in ordered))
    last = 0
    for part in range(1, groups):
        ideal = until[-1] * part / groups
        after = bisect_right(until, ideal)
        if after > 0 and (after == len(ordered) or ideal - until[after - 1] <= until[after] - ideal):
            after -= 1
        place = after + 1  # the part ends with value number `after`
        if last < place < len(ordered):
            yield roundest(ordered[place - 1][0], ordered[place][0])
            last = place


def roundest(low: Decimal, high: Decimal) -> Decimal:
    """Return the number above `low`, up to `high`, with the fewest digits: a cut need not be a value.

    Examples
    --------
    >>> roundest(Decimal(37), Decimal(52)), roundest(Decimal("0.12"), Decimal("0.13"))
    (Decimal('50'), Decimal('0.13'))
    """
    for exponent in range(max(low.adjusted(), high.adjusted()) + 1, -_DIGITS, -1):
        step = Decimal(1).scaleb(exponent)
        number = high // step * step
        number = number - step if number > high else number
        if number > low:
            return Decimal(plain(number))
    return high


def _refuse_with_list(factor: int | None, most: int | None) -> None:
    if factor is not None or most is not None:
        raise InputError(
            "Intervals with a list per level take no factor and no levels.",
            hint="The list says both already.",
        )


def _not_nesting(key: str, rule: str) -> InputError:
    return InputError(
        f'Levels of the intervals would not nest: each entry of "{key}" must be {rule}.',
        hint="A higher level can only merge intervals of the level below.",
    )
