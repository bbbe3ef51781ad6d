"""The rows of a block as SQL: a column for the person and for each key, argument and condition.

Exact and noisy answers are both calculated of these rows. The known rows are all of them; what secret columns
choose is a column (``chosen``, ``c1`` ...), so that an answer can be compared with the known rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from kanon_pg.db.identifiers import Identifier
from kanon_pg.queries.people.people import People
from kanon_pg.queries.reading.blocks import Block, Figure, Source, aliases, equal_columns
from kanon_pg.queries.reading.findings import Refusal
from kanon_pg.queries.reading.trees import Tree, render

_SPELLINGS = {
    "numeric": "pg_catalog.trim_scale",
    "interval": "pg_catalog.justify_interval",
    "real": "0::pg_catalog.float4 + ",
    "double precision": "0::pg_catalog.float8 + ",
}
"""By types whose equal values can be written in several ways: what writes them in one."""


class BlockRows:
    """The rows of a block.

    Parameters
    ----------
    constants : sequence of str
        SQL of the constants in the block's trees.
    spelled : collection of int
        Positions of the keys whose equal values are written in one way.
    seconds : collection of int
        Numbers of the figures whose argument is a time, of which they take the seconds.

    Attributes
    ----------
    known, secret : tuple of Tree
        The block's conditions.
    filters : list of tuple of Tree
        Sets of known rows: conditions on known columns, as figures have them; the first is that of all rows.
    is_person : bool
        Whether everybody has one row at most.
    is_row : bool
        Whether every row is somebody's, and the only one: nothing has to be grouped by person.
    """

    def __init__(
        self,
        block: Block,
        people: People,
        constants: Sequence[str],
        *,
        spelled: Collection[int],
        seconds: Collection[int] = (),
    ) -> None:
        self.block, self.people, self.constants = block, people, constants
        self._spelled, self._seconds = spelled, seconds
        self.known, self.secret = block.divided(block.conditions)
        self.filters = list(dict.fromkeys([(), *(block.divided(one.conditions)[0] for one in block.figures)]))
        self.is_person = people.alias == people.finest.alias and any(
            key <= set(people.columns) for key in people.finest.relation.unique_keys
        )
        self.is_row = self.is_person and people.finest.on is None and not block.chosen_by_secrets

    def sql(self, tree: Tree) -> str:
        """Return SQL of an expression."""
        return render(tree, self.constants)

    @property
    def keys(self) -> list[str]:
        """Names of the columns of keys."""
        return [f"k{number}" for number in range(1, len(self.block.keys) + 1)]

    @cached_property
    def arguments(self) -> dict[int, str]:
        """By the number of a figure: the column of its argument."""
        columns: dict[tuple[Tree, bool], str] = {}
        return {
            number: columns.setdefault((figure.argument, number in self._seconds), f"a{len(columns) + 1}")
            for number, figure in enumerate(self.block.figures, 1)
            if figure.argument is not None and not self.people.are_counted_by(figure)
        }

    def filter_of(self, figure: Figure) -> int:
        """Return the number of the set of a figure's known rows."""
        return self.filters.index(self.block.divided(figure.conditions)[0])

    def condition(self, number: int, figure: Figure) -> str:
        """Return the condition of a figure's rows, as FILTER has it; empty if there is none."""
        known = self.filter_of(figure)
        secret = self.block.divided(figure.conditions)[1]
        return both(f"w{known}" if known else "", f"c{number}" if secret else "")

    def number(self, number: int, figure: Figure) -> str:
        """Return SQL of what a figure adds up."""
        text = "" if figure.argument is None else self.sql(figure.argument)
        return f"extract(epoch FROM {text})" if number in self._seconds else text

    def select(self, hashes: Sequence[str] = ()) -> str:
        """Return the SELECT of the rows, with hashes as further columns ``r1`` ..."""
        outputs = [f"{self._key(place, key)} AS k{place + 1}" for place, key in enumerate(self.block.keys)]
        person = [
            f"{Identifier.of(self.people.alias)}.{Identifier.of(name)}::{kind}"
            for name, kind in zip(self.people.columns, self.people.types, strict=True)
        ]
        outputs.append(f"{person[0] if len(person) == 1 else 'ROW(' + ', '.join(person) + ')'} AS person")
        written = set[str]()
        for number, figure in enumerate(self.block.figures, 1):
            if number in self.arguments and self.arguments[number] not in written:
                outputs.append(f"{self.number(number, figure)} AS {self.arguments[number]}")
                written.add(self.arguments[number])
            secret = self.block.divided(figure.conditions)[1]
            if secret:
                outputs.append(f"{self._all_of(secret)} AS c{number}")
        outputs += [f"{self._all_of(one)} AS w{number}" for number, one in enumerate(self.filters) if number]
        if self.secret:
            outputs.append(f"{self._all_of(self.secret)} AS chosen")
        outputs += [f"{value} AS r{number}" for number, value in enumerate(hashes, 1)]
        return f"SELECT {', '.join(outputs)} {self._from_clause()}"

    def _all_of(self, conditions: Sequence[Tree]) -> str:
        return "coalesce(" + " AND ".join(f"({self.sql(one)})" for one in conditions) + ", false)"

    def _key(self, place: int, key: Tree) -> str:
        value = self.sql(self._without_nan(key))
        has_scale = key.kind == "Column" and "(" in self.block.column(key).type_name
        return f"{{=k{place + 1}}}({value})" if place in self._spelled and not has_scale else value

    def _without_nan(self, key: Tree) -> Tree:
        """Return a key in which secrets that are no number are missing, so that no function of them fails."""

        def change(node: Tree) -> Tree | None:
            if node.kind != "Column" or not self.block.secrets([node]):
                return None
            column = self.block.column(node)
            if not column.is_number or not column.type_name.startswith(("numeric", "real", "double")):
                return None
            nan = Tree("Literal", {"this": "NaN", "is_string": True})
            return Tree("Anonymous", {"this": "nullif", "expressions": (node, nan)})

        return key if key.kind == "Column" else key.replaced(change)

    # --- joins ---------------------------------------------------------------------------------------------

    def _from_clause(self) -> str:
        # a row that a secret chooses leaves the known rows as they are: it is joined to them by LEFT JOIN
        sources = [one for one in self.block.sources if one.alias not in self.block.chosen_by_secrets]
        text = " CROSS JOIN ".join(table(source) for source in sources if source.on is None)
        for step in self.people.steps:
            name = Identifier((step.parent.schema, step.parent.name))
            on = " AND ".join(
                f"{Identifier.of(step.child)}.{Identifier.of(a)} = {step.alias}.{Identifier.of(b)}"
                for a, b in zip(step.link.columns, step.link.parent_columns, strict=True)
            )
            text += f" INNER JOIN {name} AS {step.alias} ON {on}"
        for source in [*(one for one in sources if one.on is not None), *self._chosen_sources()]:
            on = " AND ".join(f"({self.sql(one)})" for one in source.on or ()) or "true"
            text += f" LEFT JOIN {table(source)} ON {on}"
        conditions = " AND ".join(f"({self.sql(one)})" for one in self.known)
        return f"FROM {text}{' WHERE ' + conditions if conditions else ''}"

    def _chosen_sources(self) -> Iterator[Source]:
        """Yield the sources of which secrets choose the row, each after those that its conditions name."""
        waiting = [one for one in self.block.sources if one.alias in self.block.chosen_by_secrets]
        while waiting:
            ready = next((one for one in waiting if self._has_given_key(one, waiting)), None)
            if ready is None:
                raise Refusal(
                    "Q404",
                    0,
                    "A table that a sensitive column chooses from is joined by its key.",
                    "Write ON.",
                )
            waiting.remove(ready)
            later = {one.alias for one in waiting}
            joins = [one for one in self.secret if one.kind == "EQ" and _is_about(one, ready, later)]
            yield replace(ready, on=tuple(joins)) if ready.on is None else ready

    def _has_given_key(self, source: Source, waiting: Sequence[Source]) -> bool:
        """Return whether conditions give a key of a source, without others that wait to be joined."""
        later = {one.alias for one in waiting} - {source.alias}
        given = {
            column
            for one in (self.secret if source.on is None else source.on)
            if _is_about(one, source, later)
            for alias, column in equal_columns(one)
            if alias == source.alias
        }
        return any(key <= given for key in source.relation.unique_keys)


def _is_about(condition: Tree, source: Source, later: set[str]) -> bool:
    """Return whether a condition is about a source, and about none that is joined later."""
    return source.alias in aliases(condition) and later.isdisjoint(aliases(condition))


def typed(form: str, kinds: Mapping[str, str]) -> str:
    """Return a form with types in place of ``{f1}`` ..., and what spells keys in place of ``{=k1}`` ..."""
    for name, kind in kinds.items():
        form = form.replace("{" + name + "}", kind).replace("{=" + name + "}", _SPELLINGS.get(kind, ""))
    return form


def table(source: Source) -> str:
    """Return SQL of a source with its alias."""
    name = Identifier((source.relation.schema, source.relation.name))
    return f"{name} AS {Identifier.of(source.alias)}"


def record(keys: Sequence[str], before: str = "") -> str:
    """Return a record of keys, which is equal to another one where both have NULL."""
    return f"ROW({', '.join(before + key for key in keys)})" if keys else "true"


def both(*conditions: str) -> str:
    """Return one condition of those that are not empty."""
    return " AND ".join(filter(None, conditions))


def filtered(condition: str) -> str:
    """Return FILTER with a condition, nothing if it is empty."""
    return f" FILTER (WHERE {condition})" if condition else ""


def grouped(keys: Sequence[str]) -> str:
    """Return GROUP BY with a space before it, nothing without keys."""
    return f" GROUP BY {', '.join(keys)}" if keys else ""
