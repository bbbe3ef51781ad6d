"""Values of parameters, checked like constants before anything runs."""

from __future__ import annotations

import re

from kanon_pg.queries.check.bind.constants import typed_constant, unknown_text
from kanon_pg.queries.check.findings import Refusal, Span
from kanon_pg.queries.check.verdict import Verdict


def parameter_values(
    verdict: Verdict, text: str, parameters: tuple[str | None, ...]
) -> tuple[str | None, ...]:
    """Return the values of a query's parameters as the canonical SQL takes them.

    Returns
    -------
    tuple of (str or None)
        In the order of `verdict.parameters`.

    Raises
    ------
    Refusal
        A value is missing, superfluous or not of its type.
    """
    whole = Span(0, len(text))
    numbers = [parameter.number for parameter in verdict.parameters]
    if numbers and max(numbers) > len(parameters):
        sentence = f"The query has ${max(numbers)}, but {len(parameters)} values were given."
        raise Refusal("Q209", whole, sentence, "Give one value for each parameter, NULL for none.")
    if len(parameters) > max(numbers, default=0):
        sentence = f"{len(parameters)} values were given, more than the query has parameters."
        raise Refusal("Q209", whole, sentence, "Give one value for each parameter.")
    if numbers != list(range(1, len(numbers) + 1)):
        raise Refusal(
            "Q209", whole, "The parameters are not numbered $1, $2 ... without gaps.", "Number them."
        )
    return tuple(
        value if value is None else _read(value, parameter.number, parameter.type_name, whole)
        for parameter, value in zip(verdict.parameters, parameters, strict=True)
    )


def _read(value: str, number: int, type_name: str, whole: Span) -> str:
    element = type_name.removesuffix("[]")
    if element == type_name:
        return _constant(value, number, type_name, whole)
    items = _items(value)
    if items is None:
        sentence = f"The value of ${number} is no plain list of type {element}."
        raise Refusal("Q201", whole, sentence, "Write it like '{a,b}'.")
    read = [None if item is None else _constant(item, number, element, whole) for item in items]
    return "{" + ",".join("NULL" if item is None else _quoted(item) for item in read) + "}"


def _constant(value: str, number: int, type_name: str, whole: Span) -> str:
    try:
        constant = typed_constant(unknown_text(value, whole), type_name)
    except Refusal as refusal:
        sentence = f"The value of ${number} is none of type {type_name} that can be used."
        raise Refusal("Q201", whole, sentence, refusal.finding.hint) from None
    return str(getattr(constant, "text", None))


_ITEM = re.compile(r"""\s*(?:"((?:[^"\\]|\\.)*)"|([^{},"\\]*[^{},"\\\s]))\s*(,|$)""", re.DOTALL)


def _items(value: str) -> list[str | None] | None:
    """Return the elements of an array of one dimension as PostgreSQL writes it, None if it is none."""
    stripped = value.strip()
    if not (stripped.startswith("{") and stripped.endswith("}")):
        return None
    inner, position, found = stripped[1:-1].strip(), 0, list[str | None]()
    while inner and position <= len(inner):
        match = _ITEM.match(inner, position)
        if match is None:
            return None
        quoted, plain, comma = match.groups()
        if quoted is not None:
            found.append(re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL))
        else:
            found.append(None if plain.strip().lower() == "null" else plain.strip())
        if not comma:
            return found
        position = match.end()
    return found


def _quoted(item: str) -> str:
    return '"' + item.replace("\\", "\\\\").replace('"', '\\"') + '"'
