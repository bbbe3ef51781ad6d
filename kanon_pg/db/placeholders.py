"""psycopg's placeholders in a text, as the numbered parameters that PostgreSQL has."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from kanon_pg.errors import InputError

Parameters = Sequence[Any] | Mapping[str, Any]

_PLACEHOLDER = re.compile(r"%(?:(%)|([sbt])|\((\w+)\)[sbt]|())")


def numbered(query: str, parameters: Parameters) -> tuple[str, list[Any]]:
    """Return a text with numbered parameters in place of psycopg's, and their values in order.

    Parameters
    ----------
    query : str
        With ``%s``, ``%(name)s`` and ``%%``.
    parameters : sequence or mapping
        The values.

    Raises
    ------
    InputError
        Placeholders and values do not belong together, or these are neither a sequence nor a mapping.

    Examples
    --------
    >>> numbered("SELECT %s, %%", [1])
    ('SELECT $1, %', [1])
    >>> numbered("SELECT %(a)s + %(a)s", {"a": 2})
    ('SELECT $1 + $1', [2])
    """
    if isinstance(parameters, str | bytes) or not isinstance(parameters, Sequence | Mapping):
        raise InputError(
            f"Parameters are a sequence or a mapping, not one {type(parameters).__name__}.",
            hint="Give a single value as [value].",
        )
    names: dict[str, int] = {}
    values: list[Any] = []

    def number(match: re.Match[str]) -> str:
        percent, positional, name, _ = match.groups()
        if percent:
            return "%"
        if positional and not isinstance(parameters, Mapping):
            if len(values) == len(parameters):
                raise InputError(
                    "There are more placeholders than parameters.", hint="Give one value for each."
                )
            values.append(parameters[len(values)])
            return f"${len(values)}"
        if name and isinstance(parameters, Mapping):
            if name not in parameters:
                raise InputError(f"There is no parameter named {name}.", hint="Give it in the mapping.")
            if name not in names:
                values.append(parameters[name])
                names[name] = len(values)
            return f"${names[name]}"
        raise InputError(
            "A placeholder does not fit the parameters.",
            hint="Write %s for a sequence, %(name)s for a mapping, and %% for a percent sign.",
        )

    text = _PLACEHOLDER.sub(number, query)
    if not isinstance(parameters, Mapping) and len(values) < len(parameters):
        raise InputError("There are more parameters than placeholders.", hint="Give one value for each %s.")
    return text, values
