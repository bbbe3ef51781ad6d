"""Values of parameters: checked like constants before anything runs, and constants where a check needs them.

Drivers and SQLAlchemy send every constant as a parameter, also the month of ``date_trunc('month', day)``.
Which unit it is decides what runs, so parameters in the place of units, fields and fractions of percentiles
are replaced by their values before the check, wherever they stand. Values are words and fractions, so that
what is put into the text is nothing but one constant. A check without values, which says what types an answer
has, takes a usual one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from kanon_pg.queries.check.bind.constants import typed_constant, unknown_text
from kanon_pg.queries.check.findings import Finding, Refusal, Span
from kanon_pg.queries.check.verdict import Parameter, Verdict


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


_PARAMETER = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|/\*.*?\*/|\$(\d{1,3})(?!\d)""", re.DOTALL)
_VALUES: Final = {"Q204": re.compile(r"[A-Za-z]{1,20}"), "Q214": re.compile(r"0?\.\d{1,6}")}
_USUAL: Final = {"Q204": "day", "Q214": "0.5"}
_MOST = 24
"""Such parameters of one query; each means one more check."""


def with_constants(
    text: str, values: Sequence[str | None] | None, check: Callable[[str], Verdict]
) -> Verdict:
    """Check a query with values in the place of parameters that have to be constants.

    Parameters
    ----------
    values : sequence of (str or None), optional
        Of ``$1``, ``$2`` ...
    check : callable
        Checks a text.

    Returns
    -------
    Verdict
        Findings are about places in `text`; what became a constant is a parameter that nothing reads.
    """
    written, shifts, constants = text, list[tuple[int, int]](), set[int]()
    verdict = check(written)
    while len(constants) < _MOST and (found := _needed(written, verdict)) is not None:
        code, number = found
        value = _value(values, number, code)
        if value is None:
            break
        for start, end in reversed(_places(written, number)):
            written = written[:start] + value + written[end:]
            shifts.append((start, len(value) - (end - start)))
        constants.add(number)
        verdict = check(written)
    unread = constants - {parameter.number for parameter in verdict.parameters}
    parameters = (*verdict.parameters, *(Parameter(number, "text") for number in unread))
    return replace(
        verdict,
        findings=tuple(_moved_back(finding, shifts) for finding in verdict.findings),
        parameters=tuple(sorted(parameters, key=lambda parameter: parameter.number)),
    )


def _needed(text: str, verdict: Verdict) -> tuple[str, int] | None:
    """Return the code of the finding that a parameter is no constant, and its number."""
    for finding in verdict.findings:
        match = _PARAMETER.fullmatch(text, finding.start, finding.end)
        if finding.code in _VALUES and match is not None and match[1] is not None:
            return finding.code, int(match[1])
    return None


def _places(text: str, number: int) -> list[tuple[int, int]]:
    """Return where a parameter stands, outside of strings, quoted names and comments."""
    return [match.span() for match in _PARAMETER.finditer(text) if match[1] == str(number)]


def _value(values: Sequence[str | None] | None, number: int, code: str) -> str | None:
    """Return a constant as SQL writes it, None if the value is none that may stand there."""
    if values is None:
        value: str | None = _USUAL[code]
    else:
        value = values[number - 1] if 1 <= number <= len(values) else None
    if value is None or _VALUES[code].fullmatch(value) is None:
        return None
    return f"'{value}'" if code == "Q204" else value


def _moved_back(finding: Finding, shifts: Sequence[tuple[int, int]]) -> Finding:
    """Return a finding about the text as it was before values were put into it."""
    start, end = finding.start, finding.end
    for place, growth in reversed(shifts):
        start = max(place, start - growth) if start > place else start
        end = max(place, end - growth) if end > place else end
    return replace(finding, start=start, end=end)
