"""Forms that choose one of several values: CASE, coalesce, nullif, greatest, least."""

from __future__ import annotations

from kanon_pg.queries.check.bind.conversion import as_type, together
from kanon_pg.queries.check.findings import Refusal, Span
from kanon_pg.queries.check.plan.typed import Bound, Operation


def coalesce(operands: tuple[Bound, ...], span: Span) -> Bound:
    """Bind ``coalesce``."""
    parts = together(operands, span)
    places = ", ".join(f"{{{position}}}" for position in range(len(parts)))
    return _same(f"COALESCE({places})", "coalesce", parts, span)


def extreme(name: str, operands: tuple[Bound, ...], span: Span) -> Bound:
    """Bind ``greatest`` and ``least``, which look up their comparison by type, not by name."""
    parts = together(operands, span)
    places = ", ".join(f"{{{position}}}" for position in range(len(parts)))
    return _same(f"{name.upper()}({places})", name, parts, span)


def nullif(operands: tuple[Bound, ...], span: Span) -> Bound:
    """Bind ``nullif`` without the name lookup of its hidden ``=``."""
    if len(operands) != 2:
        raise Refusal("Q206", span, "nullif takes two arguments.")
    parts = together(operands, span)
    return _same("CASE WHEN {0} OPERATOR(pg_catalog.=) {1} THEN NULL ELSE {0} END", "nullif", parts, span)


def case(branches: tuple[tuple[Bound, Bound], ...], default: Bound | None, span: Span) -> Bound:
    """Bind CASE: conditions are bool, results have one type."""
    results = [result for _, result in branches]
    if default is not None:
        results.append(default)
    converted = together(tuple(results), span)
    operands: list[Bound] = []
    template = "CASE"
    for (condition, _), result in zip(branches, converted, strict=False):
        template += f" WHEN {{{len(operands)}}} THEN {{{len(operands) + 1}}}"
        operands += [as_type(condition, "bool"), result]
    if default is not None:
        template += f" ELSE {{{len(operands)}}}"
        operands.append(converted[-1])
    kind, wide = converted[0].type, converted[0].wide
    return Operation(
        type=kind, wide=wide, name="case", template=template + " END", operands=tuple(operands), span=span
    )


def _same(template: str, name: str, parts: tuple[Bound, ...], span: Span) -> Operation:
    return Operation(
        type=parts[0].type, wide=parts[0].wide, name=name, template=template, operands=parts, span=span
    )
