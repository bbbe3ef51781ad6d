"""The SQL of the rest of a query: the analyst's own, over the rows that its blocks gave."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from kanon_pg.db.identifiers import Identifier, Literal
from kanon_pg.queries.reading.blocks import Cut
from kanon_pg.queries.reading.trees import render

Values: TypeAlias = "dict[str, str | None]"
"""What a row shows, as text, by column."""


@dataclass(frozen=True, slots=True)
class BlockAnswer:
    """What was shown of a block."""

    types: Mapping[str, str]
    """SQL of the type of each column, in order."""
    rows: Sequence[Values]


def rest_sql(cut: Cut, answers: Mapping[str, BlockAnswer]) -> str:
    """Return the SQL of the rest; its one parameter is `rest_rows` as jsonb.

    Parameters
    ----------
    answers : Mapping of str to BlockAnswer
        By the name of the block.
    """
    tables = [
        f"{Identifier.of(name)} AS (SELECT * FROM pg_catalog.jsonb_to_recordset("
        f"$1::pg_catalog.jsonb OPERATOR(pg_catalog.->) {Literal(name)}) AS t({_columns(answer)}))"
        for name, answer in answers.items()
    ]
    clause = cut.rest.child("with_")
    is_recursive = clause is not None and bool(clause.args.get("recursive"))
    tables += [render(one, cut.constants) for one in (() if clause is None else clause.arguments)]
    body = render(cut.rest.having(with_=None), cut.constants)
    return f"WITH {'RECURSIVE ' if is_recursive else ''}{', '.join(tables)} {body}" if tables else body


def rest_rows(answers: Mapping[str, BlockAnswer]) -> str:
    """Return the rows of all blocks as JSON."""
    return json.dumps({name: answer.rows for name, answer in answers.items()})


def _columns(answer: BlockAnswer) -> str:
    return ", ".join(f"{Identifier.of(name)} {kind}" for name, kind in answer.types.items())
