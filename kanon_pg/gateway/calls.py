"""The SELECT that asks a question in the server."""

from __future__ import annotations

from collections.abc import Sequence

from kanon_pg.db.identifiers import Identifier, Literal
from kanon_pg.queries.check.verdict import Verdict


def call(text: str, verdict: Verdict, types: Sequence[int], api_schema: str) -> str:
    """Return a SELECT with the columns of the answer, which hands the question to the server as a text.

    Parameters
    ----------
    text : str
        The question, which is checked once more in the server.
    verdict : Verdict
        Accepted.
    types : sequence of int
        OIDs of the parameters' types as far as the client gives them; 0 or none leaves one open.
    api_schema : str
        Where ``kanon_query_record`` is.
    """
    columns = [f"c{number}" for number in range(1, len(verdict.outputs) + 1)]
    named = list(zip(columns, verdict.outputs, strict=True))
    shown = ", ".join(f"{column} AS {Identifier((output.name,))}" for column, output in named)
    defined = ", ".join(
        f"{column} {Identifier(('pg_catalog', output.type_name))}" for column, output in named
    )
    function = Identifier((api_schema, "kanon_query_record"))
    arguments = ", ".join(filter(None, (str(Literal(text)), _values(verdict, types))))
    return f"SELECT {shown} FROM {function}({arguments}) AS kanon_answer({defined})"


def _values(verdict: Verdict, types: Sequence[int]) -> str:
    """Return the array of the parameters' values as text, nothing if there are none."""
    expected = {parameter.number: parameter.type_name for parameter in verdict.parameters}
    if not expected:
        return ""
    values = []
    for number in range(1, max(expected) + 1):
        value = f"${number}"
        if number not in expected:
            values.append("NULL")
            continue
        if number > len(types) or not types[number - 1]:
            value = f"CAST({value} AS {Identifier(('pg_catalog', expected[number]))})"
        values.append(f"CAST({value} AS pg_catalog.text)")
    return f"CAST(ARRAY[{', '.join(values)}] AS pg_catalog.text[])"
