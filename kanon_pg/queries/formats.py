"""Answers and verdicts in the forms in which the functions of the server return them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from kanon_pg.db.identifiers import Identifier
from kanon_pg.queries.check.types import NUMBERS
from kanon_pg.queries.check.verdict import OutputColumn, Verdict
from kanon_pg.queries.request import AnswerTable

_NO_JSON_NUMBERS = frozenset({"NaN", "Infinity", "-Infinity"})

Json = str | bool | None


def as_lines(answer: AnswerTable) -> list[list[str | None]]:
    """Return an answer as lines of texts: names, types, rows."""
    return [list(answer.names), list(answer.types), *map(list, answer.rows)]


def as_objects(answer: AnswerTable) -> list[str]:
    """Return an answer as one JSON object per row.

    Numbers are JSON numbers with all their digits, truth values are true and false, everything else is text.
    """
    names = [json.dumps(name) for name in unique_names(answer.names)]
    return ["{" + ", ".join(map(_member, names, answer.types, row)) + "}" for row in answer.rows]


def _member(name: str, type_name: str, value: str | None) -> str:
    if value is None:
        return f"{name}: null"
    if type_name == "bool" or (type_name in NUMBERS and value not in _NO_JSON_NUMBERS):
        return f"{name}: {value}"
    return f"{name}: {json.dumps(value)}"


def unique_names(names: Sequence[str]) -> list[str]:
    """Return names of which none repeats; the second "a" is "a_2".

    Examples
    --------
    >>> unique_names(["a", "b", "a", "a_2"])
    ['a', 'b', 'a_3', 'a_2']
    """
    taken, found = set(names), []
    for name in names:
        chosen, number = name, 1
        while chosen in found or (number > 1 and chosen in taken):
            number += 1
            chosen = f"{name}_{number}"
        found.append(chosen)
    return found


def verdict_row(verdict: Verdict) -> dict[str, Json]:
    """Return the row of ``kanon_check_query``."""
    findings = [
        {
            "code": finding.code,
            "start": finding.start,
            "end": finding.end,
            "sentence": finding.sentence,
            "hint": finding.hint,
        }
        for finding in verdict.findings
    ]
    outputs = [{"name": output.name, "type": output.type_name} for output in verdict.outputs]
    return {
        "accepted": verdict.accepted,
        "findings": json.dumps(findings),
        "canonical_sql": verdict.canonical_sql,
        "outputs": json.dumps(outputs) if verdict.accepted else None,
    }


def typed_statement(outputs: Sequence[OutputColumn]) -> str:
    """Return the statement that calls ``kanon.query_lines`` ($1, $2, $3) and gives each column its type."""
    columns = ", ".join(
        f"CAST(r.line[{number}] AS pg_catalog.{Identifier.of(output.type_name)})"
        for number, output in enumerate(outputs, 1)
    )
    return f"SELECT {columns} FROM (SELECT q.line FROM kanon.query_lines($1, $2, $3) AS q OFFSET 2) AS r"


def column_definitions(outputs: Sequence[OutputColumn]) -> str:
    """Return the list of columns that a caller of ``kanon_query_record`` has to write."""
    return ", ".join(_listed(outputs))


def _listed(outputs: Sequence[OutputColumn]) -> Iterator[str]:
    for name, output in zip(unique_names([output.name for output in outputs]), outputs, strict=True):
        yield f"{Identifier((name,))} {output.type_name}"
