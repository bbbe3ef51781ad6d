"""Groups that the text itself names: values of a condition or of a CASE with constants in GROUP BY.

``GROUP BY (born that day AND in that ward)`` names the groups true and false whatever the data. If a named
group has one person, the answer is refused; if it has nobody, the group is merely absent, and that
difference is an answer about one person. In the strict mode every named group has to be there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kanon_pg.queries.check.findings import Finding
from kanon_pg.queries.check.options import Options
from kanon_pg.queries.check.plan.levels import Level
from kanon_pg.queries.check.plan.typed import Bound, ColumnOf, Fixed, Operation, columns, is_constant, walk


@dataclass(frozen=True, slots=True)
class NamedGroups:
    """The values that the text gives a group key.

    Parameters
    ----------
    key : int
        Position of the key.
    values : int
        Number of values other than NULL.
    null : bool
        Whether NULL is one, too.
    """

    key: int
    values: int
    null: bool

    def counts(self, base: str) -> tuple[tuple[str, int], ...]:
        """Return scalar subqueries, each with the smallest value that means "every group is there"."""
        column = f'"k{self.key}"'
        distinct = f"(SELECT pg_catalog.count(DISTINCT {column}) FROM {base})"
        found = [(distinct, self.values)] if self.values else []
        if self.null:
            found.append((f"(SELECT pg_catalog.count(*) FROM {base} WHERE {column} IS NULL)", 1))
        return tuple(found)


def named_groups(level: Level) -> tuple[NamedGroups, ...]:
    """Return the keys of a level whose values the text names."""
    found = []
    for position, key in enumerate(level.keys):
        named = _values(key)
        if named is not None:
            found.append(NamedGroups(position, *named))
    return tuple(found)


def _values(key: Bound) -> tuple[int, bool] | None:
    if isinstance(key, ColumnOf) or is_constant(key):
        return None
    if key.type == "bool":
        return 2, any(column.nullable for column in columns(key))
    if isinstance(key, Operation) and key.name == "case":
        results = _results(key)
        if all(isinstance(result, Fixed) for result in results):
            texts = {result.text for result in results if isinstance(result, Fixed)}
            return len(texts - {None}), None in texts or not _has_default(key)
    return None


def _has_default(case: Operation) -> bool:
    return len(case.operands) % 2 == 1


def _results(case: Operation) -> list[Bound]:
    return [*case.operands[1::2], *(case.operands[-1:] if _has_default(case) else ())]


def hidden_conditions(level: Level, options: Options) -> Iterator[Finding]:
    """Yield a finding for every condition inside a group key whose groups cannot be told from the text."""
    if not options.strict or not level.protected():
        return
    for key in level.keys:
        if _values(key) is not None or isinstance(key, ColumnOf):
            continue
        for item in walk(key):
            if isinstance(item, Operation) and (item.type == "bool" or item.name == "case"):
                sentence = "A condition inside a calculated group hides which groups there can be."
                hint = "Group by the condition itself, or by a CASE with constants only."
                yield Finding("Q340", item.span.start, item.span.end, sentence, hint)
                break
