"""What PostgreSQL checks of a block before anything is read: types, and whether constants fail."""

from __future__ import annotations

from collections.abc import Iterator

from kanon_pg.queries.counting.block_rows import BlockRows, grouped, table
from kanon_pg.queries.people.failing import COMPARISONS
from kanon_pg.queries.reading.blocks import aliases
from kanon_pg.queries.reading.findings import Refusal
from kanon_pg.queries.reading.scanner import NUMBER_MARK, words
from kanon_pg.queries.reading.trees import Tree

_ARITHMETIC = words("Add Sub Mul Div")
_MOST_ARITHMETIC = 20
_LONGEST_NUMBER = 20
"""Digits of a number beside secrets: twenty products of such numbers are far from the largest number."""

_SAMPLES = {"width_bucket": (0, "1"), "date_trunc": (1, "timestamptz '2000-01-01 00:00:00+00'")}
"""By functions that fail for some constants: which argument is a value, and a value for which they do."""


def types_of(rows: BlockRows) -> str:
    """Return SQL of one row with the type of each key ``k1`` ... and figure ``f1`` ...; it reads no row."""
    block = rows.block
    names = [*rows.keys, *(f"f{number}" for number in range(1, len(block.figures) + 1))]
    values = [*block.keys, *(figure.written for figure in block.figures)]
    outputs = ", ".join(f"{rows.sql(value)} AS {name}" for name, value in zip(names, values, strict=True))
    columns = ", ".join(f"pg_catalog.pg_typeof(t.{name})::pg_catalog.text AS {name}" for name in names)
    tables = " CROSS JOIN ".join(map(table, sorted(block.sources, key=lambda one: one.on is not None)))
    conditions = "".join(f" AND ({rows.sql(one)})" for one in (*block.conditions, *block.on))
    tried = " AND ".join(["true", *(f"({one}) IS NOT NULL" for one in _failing_constants(rows))])
    group = grouped([str(number) for number in range(1, len(block.keys) + 1)])
    return (
        f"SELECT {columns} FROM (SELECT 1) AS one LEFT JOIN"
        f" (SELECT {outputs} FROM {tables} WHERE false{conditions}{group}) AS t"
        f" ON true WHERE {tried}"
    )


def require_no_failing_constants(rows: BlockRows) -> None:
    """Refuse constants beside secrets for which an expression may fail for some values."""
    # a pattern that ends with a backslash fails for some values
    if any("\\" in pattern for pattern in _patterns(rows, "Like", "ILike")):
        raise Refusal(
            "Q303",
            0,
            "A pattern for a sensitive column has no backslash.",
            "Write _ for any character.",
        )
    for tree in filter(rows.block.depends_on_secrets, rows.block.trees):
        if not _has_plain_numbers(tree, rows):
            raise Refusal(
                "Q303",
                tree.place,
                "What is calculated of a sensitive column may fail.",
                "Write fewer and plainer numbers, and none that is 0 as a divisor.",
            )


def _has_plain_numbers(tree: Tree, rows: BlockRows) -> bool:
    """Return whether no sum or product of single values can be too large for its type."""
    nodes = [node for node in tree.walk() if aliases(node)]
    arithmetic = [node for node in nodes if node.kind in _ARITHMETIC]
    buckets = [node for node in nodes if node.called == "width_bucket"]
    if not arithmetic and not buckets:
        return True
    constants = [
        node for node in tree.walk(lambda one: one.kind not in COMPARISONS) if node.kind == "Literal"
    ]
    divisors = [part for node in arithmetic if node.kind == "Div" for part in node.children("expression")]
    return (
        len(arithmetic) <= _MOST_ARITHMETIC
        and all(_is_number(one) and _is_plain(rows.sql(one)) for one in constants)
        and not any(_is_number(one) and float(rows.sql(one)) == 0 for one in divisors)
        and all(len(rows.sql(node.arguments[-1])) < _LONGEST_NUMBER / 2 for node in buckets)
    )


def _is_number(tree: Tree) -> bool:
    """Return whether a node is a number as it is written."""
    is_text = tree.args.get("is_string") and not tree.text("this").endswith(NUMBER_MARK)
    return tree.kind == "Literal" and not is_text


def _is_plain(number: str) -> bool:
    return len(number) <= _LONGEST_NUMBER and "e" not in number.lower()


def _patterns(rows: BlockRows, *kinds: str) -> list[str]:
    """Return the patterns that secret columns are compared with."""
    return [
        rows.sql(pattern)
        for tree in rows.block.trees
        for node in tree.walk()
        if node.kind in kinds and rows.block.depends_on_secrets(node)
        for pattern in node.children("expression")
    ]


def _failing_constants(rows: BlockRows) -> Iterator[str]:
    """Yield conditions that fail for constants for which what is said of secrets would fail.

    A pattern that is none, a sum that is too large, bounds that are equal: they fail before they meet a
    value, and so for all values.
    """
    yield from (f"coalesce('' ~ {pattern}, true)" for pattern in _patterns(rows, "RegexpLike", "RegexpILike"))
    trees = filter(rows.block.depends_on_secrets, rows.block.trees)
    for node in (node for tree in trees for node in tree.walk()):
        if node.kind in _ARITHMETIC and not aliases(node):
            yield f"({rows.sql(node)}) IS NULL"
        if node.called in _SAMPLES and aliases(node):
            place, value = _SAMPLES[node.called]
            arguments = [rows.sql(one) for one in node.arguments]
            arguments[place : place + 1] = [value]
            yield f"pg_catalog.{node.called}({', '.join(arguments)}) IS NULL"
