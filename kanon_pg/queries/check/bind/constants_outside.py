"""Aggregates of people whose constants stand outside: ``sum(x / 7.0)`` as ``sum(x) / 7.0``.

A quotient is rounded row by row, to sixteen digits, and then added exactly. So ``sum(x / c)`` is a sum of a
function of each value that is as good as random, and another one for each ``c``: some twenty of them, about
one set of people, give everybody's value. Casts to floating point numbers and products of these are rounded,
too. What runs is therefore written so that nothing which constants of the query change is rounded before it
is added up:

* Constant factors and divisors, and casts to floating point numbers above them, stand outside. A standard
  deviation is multiplied by the absolute value, a variance by the square; a percentile of ``-x`` is the
  percentile of ``x`` from the other end; of a correlation nothing is left but the sign.
* Terms with different divisors get a common one: ``sum(x / 7.0 + 1)`` is ``sum(x + 7.0) / 7.0``.
* A quotient by a column, which is equal for all people of a class (`plan.classes`), is the product with the
  column's reciprocal: the sum over a class is the sum of values times one number then.

Whole numbers and decimals are added, subtracted and multiplied exactly: PostgreSQL keeps 16383 decimals of a
product, and the eight factors that a row takes (`rules.arithmetic`) have 100 each at most, so that of a
column with up to 15000 decimals none is lost. What is not written anew here is refused where it rounds
(`rules.aggregate_arguments`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from kanon_pg.queries.check.bind.conversion import cast, in_number_type
from kanon_pg.queries.check.bind.operators import bind_coalesce, bind_operator
from kanon_pg.queries.check.functions import PAIRS, PERCENTILES, SPREADS, SUMS
from kanon_pg.queries.check.plan.sums import (
    EXACT_QUOTIENT,
    is_epoch_of_difference,
    is_exact_quotient,
    is_fraction,
    is_whole,
)
from kanon_pg.queries.check.plan.typed import (
    Aggregate,
    AllowedCall,
    Bound,
    ParameterRef,
    TypedConstant,
    constant_value,
    is_constant,
    number_type,
    walk,
)
from kanon_pg.queries.check.types import FLOATS, INTEGERS, NUMBERS

_ADDED: Final = frozenset({"+", "-"})
_LARGEST: Final = 10**12
_MOST: Final = 8
_VARIANCES: Final = frozenset({"variance", "var_samp", "var_pop"})
_WITHOUT_SIZE: Final = frozenset({"corr", "regr_r2"})
_COVARIANCES: Final = frozenset({"covar_pop", "covar_samp"})
_DECIMALS: Final = "pg_catalog.trim_scale(pg_catalog.round({0}, 24))"
"""Of a sum of products with reciprocals, which have 40 decimals."""


class _KeptError(Exception):
    """An argument cannot be written anew; the rules judge it as it is."""


def with_constants_outside(bound: Bound) -> Bound:
    """Return an aggregate over people, or an operation on some, with constants outside of their arguments.

    Returns
    -------
    Bound
        Of the same type and meaning; as it was where nothing has to be written anew, or nothing can.
    """
    if isinstance(bound, AllowedCall):
        operands = tuple(map(with_constants_outside, bound.operands))
        return replace(bound, operands=operands) if operands != bound.operands else bound
    if not isinstance(bound, Aggregate) or bound.argument is None or is_constant(bound.argument):
        return bound
    try:
        if bound.function in PAIRS:
            return _pair(bound)
        if bound.function in SUMS | PERCENTILES | SPREADS and bound.argument.type in NUMBERS:
            return _of_one(bound, bound.argument)
    except _KeptError:
        pass
    return bound


@dataclass(frozen=True, slots=True)
class _Scaled:
    """An expression over rows, times constants, by constants."""

    inner: Bound
    factors: tuple[Bound, ...] = ()
    divisors: tuple[Bound, ...] = ()

    def is_negative(self) -> bool:
        values = map(_value, (*self.factors, *self.divisors))
        return sum(value < 0 for value in values) % 2 == 1


def _value(constant: Bound) -> Decimal:
    value = constant_value(constant)
    if value is None:
        raise _KeptError
    return value


def _of_one(aggregate: Aggregate, argument: Bound) -> Bound:
    """Write an aggregate of numbers anew."""
    is_spread = aggregate.function in SPREADS
    scaled = _unmoved(argument, may_move=True) if is_spread else _scaled(argument)
    inner = scaled.inner
    if inner == argument:
        return aggregate
    if aggregate.function in PERCENTILES:
        inner = in_number_type(inner, "float8" if argument.type in FLOATS else "numeric")
    changed = replace(aggregate, argument=inner, as_numeric=False, type=_type_of(aggregate, inner))
    if is_spread:
        scaled = _of_spread(aggregate, scaled)
    if aggregate.function in PERCENTILES and scaled.is_negative():
        changed = replace(changed, descending=not aggregate.descending)
    figure: Bound = changed
    if any(is_exact_quotient(part) for part in walk(inner)):
        figure = AllowedCall(
            type="numeric", name="round", template=_DECIMALS, operands=(figure,), span=aggregate.span
        )
    return _as_written(aggregate, _times(figure, scaled))


def _type_of(aggregate: Aggregate, inner: Bound) -> str:
    kind = number_type(inner)
    if aggregate.function in PERCENTILES:
        return kind
    if aggregate.function == "sum":
        return {"int2": "int8", "int4": "int8", "float4": "float4", "float8": "float8"}.get(kind, "numeric")
    return "float8" if kind in FLOATS else "numeric"


def _of_spread(aggregate: Aggregate, scaled: _Scaled) -> _Scaled:
    times = 2 if aggregate.function in _VARIANCES else 1
    factors, divisors = (
        tuple(_number(abs(_value(item)), item) for item in items) * times
        for items in (scaled.factors, scaled.divisors)
    )
    return _Scaled(scaled.inner, factors, divisors)


def _number(value: Decimal, like: Bound) -> TypedConstant:
    return TypedConstant(type="numeric", text=format(value, "f"), span=like.span)


def _times(figure: Bound, scaled: _Scaled) -> Bound:
    """Return a figure of groups times factors, by divisors; whole numbers are calculated as decimals."""
    if figure.type not in FLOATS and (scaled.factors or scaled.divisors):
        figure = in_number_type(figure, "numeric")
    for operator, items in (("*", scaled.factors), ("/", scaled.divisors)):
        for item in items:
            figure = bind_operator(operator, (figure, item), figure.span)
    return figure


def _as_written(aggregate: Aggregate, figure: Bound) -> Bound:
    """Return a figure in the type of the aggregate that was written."""
    if aggregate.type not in INTEGERS:
        return figure if number_type(figure) == aggregate.type else cast(figure, aggregate.type, figure.span)
    if figure.type == aggregate.type and not figure.as_numeric and not aggregate.as_numeric:
        return figure
    template = "pg_catalog.round({0})" if aggregate.function in PERCENTILES else "{0}"
    whole = AllowedCall(
        type=aggregate.type,
        as_numeric=True,
        name="cast",
        template=template,
        operands=(in_number_type(figure, "numeric"),),
        span=aggregate.span,
    )
    return whole if aggregate.as_numeric else cast(whole, aggregate.type, aggregate.span)


def _scaled(argument: Bound) -> _Scaled:
    """Return an argument without constant divisors, factors around it all, and casts of what is computed."""
    cleared = _cleared(argument)
    found = _factored(cleared.inner)
    number = len(found.factors) + len(cleared.divisors)
    if number > _MOST:
        raise _KeptError
    inner = _uncast(found.inner) if cleared.divisors else found.inner
    return _Scaled(inner, found.factors, cleared.divisors)


def _cleared(item: Bound) -> _Scaled:
    """Return an expression without constant divisors; the factors are part of it."""
    if not isinstance(item, AllowedCall) or is_constant(item):
        return _Scaled(item)
    if is_epoch_of_difference(item) and item.name == "date_part":
        template = "EXTRACT({0} FROM {1})"
        return _Scaled(replace(item, type="numeric", name="extract", template=template))
    rule = _CLEARED.get(item.name)
    return _Scaled(item) if rule is None or item.type not in NUMBERS else rule(item)


def _cleared_quotient(item: AllowedCall) -> _Scaled:
    dividend, divisor = item.operands
    if item.type in INTEGERS or _has_sum(dividend):
        raise _KeptError
    found = _cleared(dividend)
    if is_constant(divisor):
        if not _is_usable(divisor):
            raise _KeptError
        return _Scaled(found.inner, (), (*found.divisors, divisor))
    if divisor.type in FLOATS and not is_fraction(divisor):
        raise _KeptError
    inner = _exact(found.inner)
    return _Scaled(_quotient(inner, divisor, item), (), found.divisors)


def _exact(item: Bound) -> Bound:
    """Return a number that is no floating point number, without the cast to one."""
    while isinstance(item, AllowedCall) and item.name == "cast" and item.type in FLOATS:
        item = item.operands[0]
    if item.type in FLOATS:
        raise _KeptError
    return in_number_type(item, "numeric")


def _quotient(dividend: Bound, divisor: Bound, like: AllowedCall) -> AllowedCall:
    return replace(like, type="numeric", template=EXACT_QUOTIENT, operands=(dividend, divisor))


def _cleared_sum(item: AllowedCall) -> _Scaled:
    left, right = map(_cleared, item.operands)
    if (left.inner, right.inner) == item.operands and not left.divisors and not right.divisors:
        return _Scaled(item)
    if left.divisors == right.divisors:
        return _Scaled(bind_operator(item.name, (left.inner, right.inner), item.span), (), left.divisors)
    operands = (_multiplied(left.inner, right.divisors), _multiplied(right.inner, left.divisors))
    divisors = (*left.divisors, *right.divisors)
    return _Scaled(bind_operator(item.name, operands, item.span), (), divisors)


def _multiplied(item: Bound, divisors: tuple[Bound, ...]) -> Bound:
    if constant_value(item) == 0:
        return item
    for divisor in divisors:
        if number_type(divisor) in FLOATS:
            raise _KeptError
        item = bind_operator("*", (item, divisor), item.span)
    return item


def _cleared_product(item: AllowedCall) -> _Scaled:
    found = tuple(map(_cleared, item.operands))
    inners = tuple(one.inner for one in found)
    divisors = tuple(divisor for one in found for divisor in one.divisors)
    if inners == item.operands:
        return _Scaled(item, (), divisors)
    return _Scaled(bind_operator(item.name, inners, item.span), (), divisors)


def _cleared_cast(item: AllowedCall) -> _Scaled:
    (operand,) = item.operands
    if operand.type not in NUMBERS:
        return _Scaled(item)
    if (item.type in FLOATS and _has_sum(operand)) or (item.type == "float4" and operand.type != "float4"):
        raise _KeptError
    found = _cleared(operand)
    if operand.type not in FLOATS and item.type == "float8" and isinstance(found.inner, AllowedCall):
        # of what is computed; whole numbers are floating point numbers, too
        return found if not is_whole(operand) else _Scaled(item)
    return found if found.divisors or found.inner != operand else _Scaled(item)


def _cleared_choice(item: AllowedCall) -> _Scaled:
    value, *others = item.operands
    found = _cleared(value)
    if found.inner == value and not found.divisors:
        return _Scaled(item)
    parts = (found.inner, *(_multiplied(other, found.divisors) for other in others))
    if not all(map(is_constant, others)):
        raise _KeptError
    return _Scaled(bind_coalesce(parts, item.span), (), found.divisors)


_CLEARED: Final[dict[str, Callable[[AllowedCall], _Scaled]]] = {
    "/": _cleared_quotient,
    "+": _cleared_sum,
    "-": _cleared_sum,
    "*": _cleared_product,
    "neg": _cleared_product,
    "cast": _cleared_cast,
    "coalesce": _cleared_choice,
}


def _factored(item: Bound) -> _Scaled:
    """Return an expression without the constants by which all of it is multiplied."""
    factors: list[Bound] = []
    rest = item
    while isinstance(rest, AllowedCall) and rest.type in NUMBERS and not is_constant(rest):
        if rest.name == "neg":
            factors.append(TypedConstant(type="int4", text="-1", span=rest.span))
            (rest,) = rest.operands
        elif rest.name == "*" and any(map(_is_usable, rest.operands)):
            fixed, other = sorted(rest.operands, key=lambda one: not _is_usable(one))
            factors.append(fixed)
            rest = other
        elif rest.name == "cast" and _is_exact_cast(rest):
            (rest,) = rest.operands
        else:
            break
    if isinstance(rest, AllowedCall) and is_exact_quotient(rest):
        dividend, divisor = rest.operands
        found = _factored(dividend)
        if found.factors:
            rest = _quotient(_exact(found.inner), divisor, rest)
            factors += found.factors
    return _Scaled(rest, tuple(factors)) if factors else _Scaled(item)


def _uncast(item: Bound) -> Bound:
    """Return a whole number or decimal without casts to decimals."""
    while isinstance(item, AllowedCall) and item.name == "cast" and _is_exact_cast(item):
        (item,) = item.operands
    return item


def _is_exact_cast(item: AllowedCall) -> bool:
    return item.operands[0].type in {*INTEGERS, "numeric"} and item.type != "float4"


def _is_usable(operand: Bound) -> bool:
    """Return whether an operand is a constant of ordinary size and no parameter."""
    if not is_constant(operand) or any(isinstance(part, ParameterRef) for part in walk(operand)):
        return False
    value = constant_value(operand)
    return value is None or (value != 0 and 1 / _LARGEST <= abs(float(value)) <= _LARGEST)


def _has_sum(item: Bound) -> bool:
    return any(
        isinstance(part, AllowedCall) and part.name in _ADDED and not is_constant(part) for part in walk(item)
    )


def _pair(aggregate: Aggregate) -> Bound:
    """Write an aggregate of two numbers anew: of both there is left what the constants move and stretch."""
    pair = aggregate.argument
    if not isinstance(pair, AllowedCall):
        raise _KeptError
    may_move = aggregate.function != "regr_intercept"
    first, second = (_unmoved(side, may_move=may_move) for side in pair.operands)
    inner = tuple(in_number_type(side.inner, "float8") for side in (first, second))
    if inner == pair.operands:
        return aggregate
    figure: Bound = replace(aggregate, argument=replace(pair, operands=inner))
    if aggregate.function in _WITHOUT_SIZE:
        turned = aggregate.function == "corr" and first.is_negative() != second.is_negative()
        return bind_operator("neg", (figure,), aggregate.span) if turned else figure
    figure = _times(figure, first)
    if aggregate.function in _COVARIANCES:
        return _times(figure, second)
    if aggregate.function == "regr_slope":
        return _times(figure, _Scaled(second.inner, second.divisors, second.factors))
    return figure


def _unmoved(argument: Bound, *, may_move: bool) -> _Scaled:
    """Return a number without constants that are added to it, and those by which it is multiplied.

    What is added to a product or quotient moves it, too, so that nothing but the factors counts.

    Parameters
    ----------
    may_move : bool
        Whether the figure is the same if all numbers are moved by a constant.
    """
    factors: list[Bound] = []
    divisors: list[Bound] = []
    rest = argument
    while isinstance(rest, AllowedCall) and not is_constant(rest):
        if rest.name == "cast" and _is_exact_cast(rest):
            (rest,) = rest.operands
            continue
        step = _affine(rest, may_move=may_move)
        if step is None:
            break
        rest, by, is_divisor = step
        (divisors if is_divisor else factors).extend(() if by is None else (by,))
    if len(factors) + len(divisors) > _MOST:
        raise _KeptError
    cleared = _cleared(rest)
    return _Scaled(cleared.inner, tuple(factors), (*divisors, *cleared.divisors))


def _affine(item: AllowedCall, *, may_move: bool) -> tuple[Bound, Bound | None, bool] | None:
    """Return the operand that is no constant, by what it is multiplied, and whether it is divided by that."""
    minus = TypedConstant(type="int4", text="-1", span=item.span)
    if item.name == "neg":
        return item.operands[0], minus, False
    if item.name not in {"+", "-", "*", "/"} or (item.type in INTEGERS and item.name == "/"):
        return None
    first, second = item.operands
    if item.name in _ADDED:
        by = minus if item.name == "-" and _is_usable(first) else None
        is_left_out = may_move and (item.type not in FLOATS or is_whole(item))
        if is_left_out and (_is_usable(first) or _is_usable(second)):
            return second if _is_usable(first) else first, by, False
        return None
    fixed, varying = (first, second) if item.name == "*" and _is_usable(first) else (second, first)
    is_known = _is_usable(fixed) and constant_value(fixed) is not None
    return (varying, fixed, item.name == "/") if is_known else None
