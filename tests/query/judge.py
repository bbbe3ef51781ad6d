"""The reference judge: what exact answers may show, by the definition of `docs/exact.md` alone.

It reads lists, knows no database and shares no code with the implementation. It is slow on purpose: every
contribution is a row that can be looked at.

    judge = Judge(tables, rows, k=3)
    judge.alone(block)            # for each figure of each row, the rules that forbid it by itself
    judge.show(block, keys)       # what speaks against showing exactly these rows; remembers them as shown
    judge.most(block)             # rows that may be shown together
    judge.change(Change(...))     # a table changes
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from itertools import chain, combinations, product
from statistics import mean, stdev, variance
from typing import Any

from tests.query.blocks import (
    And,
    Block,
    Column,
    Combination,
    Condition,
    Exists,
    Figure,
    Not,
    Or,
    Reader,
    Row,
    Rows,
    Source,
    Table,
    Value,
    can,
    columns_of,
)

Person = tuple[Value, ...]
Amounts = Mapping[Person, Mapping[Hashable, int]]
"""How often each thing comes from each person."""


class Nobody:
    """Stands for the secret keys of a group that known columns let expect and that nobody is in."""


NOBODY = Nobody()
Key = tuple[Value | Nobody, ...]


@dataclass(frozen=True)
class Change:
    """A row that comes, goes or gets other values.

    Parameters
    ----------
    table : str
        The table.
    key : tuple of Value
        The row's key.
    row : Row or None
        Its columns afterwards, None if it goes.
    """

    table: str
    key: tuple[Value, ...]
    row: Row | None


@dataclass(frozen=True)
class Objection:
    """Why rows may not be shown.

    Parameters
    ----------
    rule : str
        E1, E2, E3 or left out.
    rows : frozenset of Key
        The rows of the new answer that it is about; without any of them it may fall.
    figure : int
        Which figure of them.
    why : str
        What is wrong, in words.
    """

    rule: str
    rows: frozenset[Key]
    figure: int
    why: str


@dataclass(frozen=True)
class Piece:
    """One known row of a figure: a combination of source rows that the known conditions choose.

    Parameters
    ----------
    at : int
        Its place among the combinations of its block.
    person : Person
        Whose it is.
    part : Hashable
        What its known values leave of the conditions on secret ones.
    rows : mapping of str to a sequence of (Hashable, Row)
        The rows that it consists of, by table: who they are, and what they held.
    """

    at: int
    person: Person
    part: Hashable
    rows: Mapping[str, Sequence[tuple[Hashable, Row]]]


@dataclass(frozen=True, eq=False)
class Shown:
    """A figure that was shown, or the roll-up of several, as E2 compares it.

    Parameters
    ----------
    name : str
        What it is, for people.
    rows : frozenset of Key
        The rows of the answer that it is made of.
    figure : int
        Which figure of them.
    population : str
        The table that its people stand in.
    finest : frozenset of str
        The tables that no join leads to.
    secrets : frozenset of Column
        The secret columns that it reads.
    once : bool
        Whether it counts everybody once, however many rows are theirs.
    rounded : Column or None
        The known column of which E3 lets the rounded mean be seen.
    pieces : tuple of Piece
        Its known rows.
    """

    name: str
    rows: frozenset[Key]
    figure: int
    population: str
    finest: frozenset[str]
    secrets: frozenset[Column]
    once: bool
    rounded: Column | None
    pieces: tuple[Piece, ...] = field(repr=False)

    @cached_property
    def parts(self) -> list[tuple[Piece, ...]]:
        """The known rows, by what their known values leave to secret ones; and all unions of these."""
        by_part: dict[Hashable, list[Piece]] = {}
        for piece in self.pieces:
            by_part.setdefault(piece.part, []).append(piece)
        return [tuple(chain(*some)) for some in _subsets(by_part.values())]


class Judge:
    """Replays blocks and changes, and says what may be shown.

    Parameters
    ----------
    tables : iterable of Table
        What is declared.
    rows : Rows
        What the tables hold at first; the judge keeps a copy.
    k : int
        How many people are enough.
    """

    def __init__(self, tables: Iterable[Table], rows: Rows, k: int) -> None:
        self.tables = {table.name: table for table in tables}
        self.rows: dict[str, list[Row]] = {name: [dict(row) for row in held] for name, held in rows.items()}
        self.k = k
        self.record: list[Shown] = []

    def change(self, change: Change) -> None:
        """Change a row; rows that are linked to one that goes must have gone before."""
        key = self.tables[change.table].key
        kept = [row for row in self.rows[change.table] if tuple(row[name] for name in key) != change.key]
        self.rows[change.table] = kept + ([dict(change.row)] if change.row is not None else [])

    def read(self, block: Block) -> Answer:
        """Return the full answer to a block, as things are now."""
        return Answer(block, Reader(self.tables, self.rows), self.k)

    def alone(self, block: Block) -> dict[Key, list[set[str]]]:
        """Say for each figure of each row which rules forbid to show it, after what was shown so far."""
        answer = self.read(block)
        verdicts: dict[Key, list[set[str]]] = {key: [set() for _ in block.figures] for key in answer.keys}
        for key in answer.keys:
            for objection in self.objections(answer, [key]):
                if objection.rule != "left out":
                    verdicts[key][objection.figure].add(objection.rule)
        return verdicts

    def show(self, block: Block, keys: Collection[Key] | None = None) -> list[Objection]:
        """Say what speaks against showing exactly these rows, by default all; they count as shown then."""
        answer = self.read(block)
        keys = answer.keys if keys is None else keys
        objections = self.objections(answer, keys)
        self.record += answer.shown(keys)
        return objections

    def most(self, block: Block) -> list[Key]:
        """Return rows that may be shown together: all, without the smallest of whatever is wrong."""
        answer = self.read(block)
        keys = list(answer.keys)
        while objections := self.objections(answer, keys):
            keys.remove(min((key for key in keys if key in objections[0].rows), key=answer.size))
        return keys

    def objections(self, answer: Answer, keys: Collection[Key]) -> list[Objection]:
        """Return all that speaks against showing exactly these rows of an answer."""
        if answer.population is None:
            return []
        new = answer.shown(keys)
        pairs = chain(combinations(new, 2), product(new, self.record))
        return [
            *answer.too_few(keys),
            *chain.from_iterable(self._undivided(one) for one in new),
            *chain.from_iterable(self._too_close(one, other) for one, other in pairs),
            *answer.left_out(keys),
        ]

    def _undivided(self, one: Shown) -> Iterator[Objection]:
        """E2 with the figure of nobody, which everybody has seen: each part has enough people."""
        for part in one.parts:
            if 0 < (people := len({piece.person for piece in part})) < self.k:
                yield Objection("E2", one.rows, one.figure, f"known values let secrets choose among {people}")

    def _too_close(self, one: Shown, other: Shown) -> Iterator[Objection]:
        if one.population != other.population:
            return
        differing = sorted({n for n in _differing(one, other) if 0 < n < self.k})
        if differing:
            why = f"{one.name} and {other.name} differ in {differing[0]}"
            yield Objection("E2", one.rows, one.figure, why)
        if None not in (one.rounded, other.rounded) and one.rounded != other.rounded:
            same = one.finest == other.finest and 0 in set(_rows_apart(one.pieces, other.pieces))
            if same:
                why = f"{one.name} and {other.name} are means of two known columns"
                yield Objection("E3", one.rows, one.figure, why)


# --- one answer


class Answer:
    """A block evaluated at one moment: its rows, figures and contributions.

    Parameters
    ----------
    block : Block
        The block.
    reader : Reader
        The tables.
    k : int
        How many people are enough.
    """

    def __init__(self, block: Block, reader: Reader, k: int) -> None:
        self.block, self.reader, self.k = block, reader, k
        self.all = reader.combinations(block.sources)
        about = [source.table for source in block.sources if self._population(source.table)]
        self._about = about[0] if about else ""
        self.population = self._population(about[0]) if about else None
        conditions = And((block.where, *(figure.where for figure in block.figures)))
        joined = frozenset(source.table for source in block.sources)
        read = joined.union(exists.table for exists in _exists_in(conditions))
        self.hidden = frozenset(
            Column(name, column) for name in read for column in reader.tables[name].secret
        )
        self.finest = joined.difference(map(self._leads_to, block.sources))
        # a known group that secret conditions leave empty is a row, too: that it is missing would tell so
        expected: list[Key] = [
            tuple(NOBODY if column in self.hidden else self._value(column, at) for column in block.keys)
            for at in self.all
            if True in can(reader.left(block.where, at, self.hidden))
        ]
        real = [self._key(at) for at in self.all if reader.left(block.where, at) is True]
        known = [place for place, column in enumerate(block.keys) if column not in self.hidden]
        filled = {tuple(key[place] for place in known) for key in real}
        empty = [key for key in expected if tuple(key[place] for place in known) not in filled]
        # few people whom a secret could sort anywhere are missing from where they are not
        secret = [place for place, column in enumerate(block.keys) if column in self.hidden]
        sorts = {tuple(key[place] for place in secret): key for key in real}
        few = [key for key in dict.fromkeys(expected) if known and secret and self._is_of_few(key)]
        empty += [
            tuple(sort[place] if place in secret else value for place, value in enumerate(key))
            for key in few
            for sort in sorts.values()
        ]
        self.keys: list[Key] = list(dict.fromkeys(real)) if block.keys else [()]
        self.expected: list[Key] = list(dict.fromkeys([*self.keys, *empty]))

    def _is_of_few(self, key: Key) -> bool:
        """Return whether fewer than k people have the known values of a row."""
        ats = [
            at
            for at in self.all
            if True in can(self.reader.left(self.block.where, at, self.hidden))
            and all(
                value is NOBODY or value == self._value(column, at)
                for value, column in zip(key, self.block.keys, strict=True)
            )
        ]
        return len(self.people(ats)) < self.k

    def _population(self, name: str) -> str | None:
        table = self.reader.tables[name]
        if table.link:
            return self._population(table.link.parent)
        return self._population(table.view_of) if table.view_of else name if table.person else None

    def _leads_to(self, source: Source) -> str:
        """Return which end of a join is found at most once: the joined table if its key is given."""
        if not source.on or {own for own, _ in source.on} >= set(self.reader.tables[source.table].key):
            return source.table if source.on else ""
        ends = {there.table for _, there in source.on}
        end = ends.pop()
        given = {there.name for _, there in source.on}
        return end if not ends and given >= set(self.reader.tables[end].key) else ""

    def _value(self, column: Column, at: Combination) -> Value:
        row = at[column.table]
        return None if row is None else row[column.name]

    def _key(self, at: Combination) -> tuple[Value, ...]:
        return tuple(self._value(column, at) for column in self.block.keys)

    def _person(self, at: Combination) -> Person:
        row = at[self._about]
        return () if row is None else self.reader.person(self._about, row) or ()

    def people(self, ats: Iterable[Combination]) -> set[Person]:
        """Return whose rows these are."""
        return {self._person(at) for at in ats}

    def size(self, key: Key) -> int:
        """Return how many people a row has."""
        return len(self.people(self.chosen([key], Figure("count"))))

    def chosen(self, keys: Collection[Key], figure: Figure) -> list[Combination]:
        """Return the rows of a figure, in some rows of the answer."""
        both = And((self.block.where, figure.chosen))
        return [at for at in self.all if self._key(at) in keys and self.reader.left(both, at) is True]

    def secrets(self, figure: Figure) -> frozenset[Column]:
        """Return the secret columns by which a figure's rows are chosen."""
        named = (*columns_of(self.block.where), *columns_of(figure.chosen), *self.block.keys)
        return self.hidden.intersection(named)

    # --- E1 and E3

    def too_few(self, keys: Collection[Key]) -> Iterator[Objection]:
        """E1 and E3, figure by figure."""
        for key in keys:
            for number, figure in enumerate(self.block.figures):
                if not self.enough(figure, self.chosen([key], figure)):
                    yield Objection("E1", frozenset([key]), number, f"too few people in {figure}")
                plain = figure.kind in ("sum", "avg") and figure.factor == 1
                if self.rounds(figure) and not plain:
                    yield Objection("E3", frozenset([key]), number, "only plain means of a known column")

    def enough(self, figure: Figure, ats: Collection[Combination]) -> bool:
        """E1: whether a figure has enough people in these rows."""
        column, people = figure.column, self.people(ats)
        if not people and not self.secrets(figure):
            return True
        if figure.kind in ("count", "people"):
            return len(people) >= self.k
        assert column is not None
        if figure.kind in ("min", "max"):
            return len(people) >= self.k and self._population(column.table) is None
        if column in self.hidden:
            ignored = {None} if figure.kind == "median" else {None, self._commonest(column)}
            people = self.people(at for at in ats if self._value(column, at) not in ignored)
            return len(people) >= self.k * (1 + (figure.kind == "variance"))
        return len(people) >= self.k

    def _commonest(self, column: Column) -> Value:
        """Return the commonest value, of several the least, as mode() does."""
        held = Counter(row[column.name] for row in self.reader.rows_of(column.table))
        values: list[Any] = [value for value in held if value is not None]
        return min(values, key=lambda value: (-held[value], value), default=None)

    def rounds(self, figure: Figure) -> bool:
        """Whether E3 speaks of a figure: it is a number of a known column, and secret ones choose."""
        return (
            figure.kind not in ("count", "people")
            and figure.column not in self.hidden
            and bool(self.secrets(figure))
        )

    def value(self, key: Key, figure: Figure) -> Any:
        """Return what a figure shows: exactly what SQL says, but for medians and what E3 rounds."""
        ats = self.chosen([key], figure)
        if figure.kind == "count":
            return len(ats)
        if figure.kind == "people":
            return len(self.people(ats))
        column = figure.column
        assert column is not None
        held = [(self._value(column, at), self._person(at)) for at in ats]
        pairs = [(figure.factor * value, person) for value, person in held if isinstance(value, int)]
        values = [Fraction(value) for value, _ in pairs]
        if not values:
            return None
        if figure.kind == "median":
            return nearest(pairs, self.k)
        shown: dict[str, Callable[[], Any]] = {
            "sum": lambda: sum(values),
            "avg": lambda: mean(values),
            "variance": lambda: variance(values) if len(values) > 1 else None,
            "min": lambda: min(values),
            "max": lambda: max(values),
        }
        if self.rounds(figure):
            everywhere = [row[column.name] for row in self.reader.rows_of(column.table)]
            numbers = [value for value in everywhere if isinstance(value, int)]
            rounded = rounded_mean(values, numbers, len(self.people(ats)))
            return rounded * len(values) if figure.kind == "sum" else rounded
        return shown[figure.kind]()

    # --- left out

    def left_out(self, keys: Collection[Key]) -> Iterator[Objection]:
        """What is missing from a roll-up could be shown, or is about nobody."""
        for group in self._groups(self.expected):
            here = [key for key in group if key in keys]
            missing = [key for key in group if key not in keys]
            if not here or not missing:
                continue
            for number, figure in enumerate(self.block.figures):
                ats = self.chosen(missing, figure)
                if not self.enough(figure, ats) and (ats or self.secrets(figure)):
                    yield Objection(
                        "left out", frozenset(here), number, f"{len(self.people(ats))} are left out"
                    )

    def _groups(self, keys: Collection[Key]) -> Iterator[list[Key]]:
        """Yield the rows that each roll-up adds up, but for single rows."""
        for places in _subsets(range(len(self.block.keys)), least=0):
            if len(places) < len(self.block.keys):
                groups: dict[Key, list[Key]] = {}
                for key in keys:
                    groups.setdefault(tuple(key[place] for place in places), []).append(key)
                yield from groups.values()

    # --- E2

    def shown(self, keys: Collection[Key]) -> list[Shown]:
        """Return the figures of some rows and their roll-ups, with their known rows."""
        groups = {frozenset([key]) for key in keys} | {frozenset(group) for group in self._groups(keys)}
        if self.population is None:
            return []
        return [
            self._shown(group, number, figure)
            for group in sorted(groups, key=lambda group: (len(group), sorted(map(repr, group))))
            for number, figure in enumerate(self.block.figures)
        ]

    def _shown(self, group: frozenset[Key], number: int, figure: Figure) -> Shown:
        read = self.secrets(figure) | self.hidden.intersection([figure.column] if figure.column else [])
        pieces: dict[int, Piece] = {}
        for key in group:
            pieces |= {piece.at: piece for piece in self._known_rows(key, figure, read)}
        assert self.population is not None
        return Shown(
            name=f"figure {number} of {sorted(map(str, group))}",
            rows=group,
            figure=number,
            population=self.population,
            finest=self.finest,
            secrets=read,
            once=figure.kind == "people" and len(group) == 1,
            rounded=figure.column if self.rounds(figure) else None,
            pieces=tuple(pieces.values()),
        )

    def _known_rows(self, key: Key, figure: Figure, read: frozenset[Column]) -> Iterator[Piece]:
        both = And((self.block.where, figure.chosen))
        for place, at in enumerate(self.all):
            opened = [
                column for column in self.block.keys if column in self.hidden and at[column.table] is not None
            ]
            decided = all(
                column in opened or self._value(column, at) == value
                for column, value in zip(self.block.keys, key, strict=True)
            )
            left = self.reader.left(both, at, self.hidden)
            if decided and True in can(left):
                # what a left join did not find is a contribution, too: the row is counted
                rows = {name: [self._item(name, row) if row else ((), {})] for name, row in at.items()}
                for exists in _exists_in(both):
                    if read.intersection(columns_of(exists.where)):
                        inside = self.reader.inside(exists, at, self.hidden)
                        found = [self._item(exists.table, row) for row, left in inside if True in can(left)]
                        rows[exists.table] = [*rows.get(exists.table, ()), *found]
                yield Piece(place, self._person(at), (left, frozenset(opened)), rows)

    def _item(self, name: str, row: Row) -> tuple[Hashable, Row]:
        return tuple(row[column] for column in self.reader.tables[name].key), row


def _exists_in(condition: Condition) -> Iterator[Exists]:
    match condition:
        case Exists():
            yield condition
            yield from _exists_in(condition.where)
        case Not():
            yield from _exists_in(condition.condition)
        case And() | Or():
            for each in condition.conditions:
                yield from _exists_in(each)


def _subsets(items: Iterable[Any], least: int = 1) -> Iterator[tuple[Any, ...]]:
    held = list(items)
    return chain.from_iterable(combinations(held, size) for size in range(least, len(held) + 1))


# --- how many people differ


def _differing(one: Shown, other: Shown) -> Iterator[int]:
    """Yield in how many people two figures differ, for each way to look at their contributions."""
    common = one.finest & other.finest
    read = {column.table for column in one.secrets} & {column.table for column in other.secrets}
    both = one.secrets & other.secrets
    for left, right in product(one.parts, other.parts):
        if not common:
            yield from _apart(_amounts(left, lambda _: [0]), _amounts(right, lambda _: [0]))
        for tables in _subsets(sorted(common | read)):
            secrets = [column for column in both if column.table in tables]
            # who the rows are, then what they hold too
            for held in ([], secrets) if secrets else ([],):
                see = _seen(tables, held)
                yield from _apart(_amounts(left, see), _amounts(right, see))
                if (one.once or other.once) and read.issuperset(tables):
                    yield from _apart(_once(_amounts(left, see)), _once(_amounts(right, see)))


def _rows_apart(left: Sequence[Piece], right: Sequence[Piece]) -> Iterator[int]:
    tables = sorted({name for piece in (*left, *right) for name in piece.rows})
    return _apart(_amounts(left, _seen(tables, [])), _amounts(right, _seen(tables, [])))


def _seen(tables: Collection[str], secrets: Collection[Column]) -> Callable[[Piece], Iterable[Hashable]]:
    """Return what a known row is in some tables: keys, and values of some secret columns."""

    def see(piece: Piece) -> Iterable[Hashable]:
        return product(*map(partial(things, piece), tables))

    def things(piece: Piece, name: str) -> list[Hashable]:
        read = [column.name for column in secrets if column.table == name]
        return [(key, *map(row.get, read)) for key, row in piece.rows.get(name, ())]

    return see


def _amounts(pieces: Iterable[Piece], see: Callable[[Piece], Iterable[Hashable]]) -> Amounts:
    amounts: dict[Person, Counter[Hashable]] = {}
    for piece in pieces:
        for thing in see(piece):
            amounts.setdefault(piece.person, Counter())[thing] += 1
    return amounts


def _once(amounts: Amounts) -> Amounts:
    return {person: dict.fromkeys(things, 1) for person, things in amounts.items()}


def _apart(left: Amounts, right: Amounts) -> Iterator[int]:
    """Yield how many people differ if one side is taken as often as somebody's amounts say.

    Whoever knows that a join shows everybody twice halves its sum.
    """
    factors = {Fraction(1)} | {
        Fraction(left[person][thing], right[person][thing])
        for person in left.keys() & right.keys()
        for thing in left[person].keys() & right[person].keys()
    }
    for factor in factors:
        scaled = {person: {t: factor * n for t, n in things.items()} for person, things in right.items()}
        yield sum(left.get(person, {}) != scaled.get(person, {}) for person in left.keys() | right.keys())


# --- numbers that are not shown exactly


def rounded_mean(values: Sequence[Fraction], everywhere: Sequence[int], people: int) -> Fraction:
    """Round a mean to half its standard error; E3."""
    step = Fraction(stdev(everywhere)) / Fraction(people**0.5) / 2 if len(everywhere) > 1 else Fraction(0)
    return round(mean(values) / step) * step if step else mean(values)


def nearest(pairs: Sequence[tuple[int, Person]], k: int) -> Fraction | None:
    """Return the mean of the values around the median that k people have; None if fewer have any.

    The window widens on both sides by one rank at a time, and takes all that equals its ends: so it does not
    depend on the order of equal values.
    """
    values = sorted(value for value, _ in pairs)
    last = len(values) - 1
    for reach in range(len(values)):
        low, high = values[max(0, last // 2 - reach)], values[min(last, (last + 1) // 2 + reach)]
        within = [(value, person) for value, person in pairs if low <= value <= high]
        if len({person for _, person in within}) >= k:
            return mean([Fraction(value) for value, _ in within])
    return None
