"""Groups the values of a column through either interface, with the caller's rights; changes nothing.

Intervals are called by ranges in PostgreSQL's own notation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from kanon_pg.core.grouping import GroupingAnswer, GroupingTask, Kind, class_names, packed, unpacked
from kanon_pg.core.termination import Termination
from kanon_pg.db.catalog import ColumnFacts
from kanon_pg.db.identifiers import Fragment
from kanon_pg.db.protocol import Database
from kanon_pg.db.settings import exact_text, working_memory
from kanon_pg.db.statements import statement
from kanon_pg.errors import DEFECT, UnsuitableColumn, VerificationFailed
from kanon_pg.grouping.classes import Box, Grouped, GroupedValue, ValueClass
from kanon_pg.grouping.counting import (
    CountedValues,
    Weighing,
    coordinates,
    count_points,
    count_values,
    neighbours,
    numbered,
    require_enough,
    resolve_weighing,
    value_column,
)
from kanon_pg.grouping.request import (
    GroupingRequest,
    IntervalsRequest,
    LabelsRequest,
    RectanglesRequest,
    RegionsRequest,
)
from kanon_pg.hierarchies.ranges import ELEMENTS, range_type
from kanon_pg.runner.parent import group_in_worker, memory_budget
from kanon_pg.runner.session import Caller
from kanon_pg.runner.solver_session import solver_session

_Arrays = dict[str, tuple[Kind, bytes]]

_GREATEST = {"int4range": "2147483647", "int8range": "9223372036854775807"}


def require_range(column: ColumnFacts) -> None:
    """Refuse a column whose values have no range type."""
    if range_type(column.base_type) is None:
        raise UnsuitableColumn(
            f"Column {column.identifier} of type {column.type} has no intervals.",
            hint="Numbers, dates and timestamps have; for labels without order there is kanon_groups.",
        )


def interval_labels(
    db: Database, column: ColumnFacts, values: Sequence[GroupedValue], classes: Sequence[int]
) -> list[str]:
    """Return the interval of each class: from its least value to that of the next, without it.

    The last one ends with the greatest value. So every value in between belongs to one interval, also one
    that does not occur yet.
    """
    starts = [place for place, number in enumerate(classes) if place == 0 or number != classes[place - 1]]
    lows = [values[place].value for place in starts]
    name, greatest = range_type(column.base_type) or "", values[-1].value
    # Nothing follows the greatest integer that could end its range, which then has no end.
    highs = [*lows[1:], None if greatest == _GREATEST.get(name) else greatest]
    bounds = ["[)"] * (len(lows) - 1) + ["[]"]
    query = statement("group_ranges", range=Fragment(name), type=Fragment(ELEMENTS[name]))
    return [row["label"] for row in db.rows(query, lows, highs, bounds)]


@dataclass(frozen=True, slots=True)
class _Answer:
    """The worker's answer about values, with the class of each, from 0."""

    counted: CountedValues
    fields: GroupingAnswer
    classes: list[int]

    @property
    def boxes(self) -> list[Box]:
        """Rectangles of the classes."""
        numbers = unpacked("<f8", self.fields.boxes)
        return [tuple(numbers[place : place + 4]) for place in range(0, len(numbers), 4)]

    def names(self) -> list[str]:
        """Return the classes' names, made of those of their values."""
        return class_names(self.counted.weighed(), self.classes, max(self.classes) + 1, self.fields.other)


@dataclass(frozen=True, slots=True)
class _Session:
    """A call, how rows count for it, and the memory there is."""

    db: Database
    call: GroupingRequest
    weighing: Weighing
    memory: int

    def run(self, task: str, counted: CountedValues, arrays: _Arrays, **options: Any) -> _Answer:
        """Have the worker group values; `arrays` is what the task takes besides their weights."""
        call = self.call
        grouping = GroupingTask(
            task,
            {"k": call.k, "cost": call.cost, "seconds": call.time_limit, **options},
            {"weights": ("<i8", packed("<i8", counted.weights())), **arrays},
        )
        answer = group_in_worker(grouping, Caller.of(self.db, self.memory))
        return _Answer(counted, answer, unpacked("<i8", answer.class_of))

    def result(
        self,
        kind: str,
        columns: Sequence[str | None],
        answer: _Answer,
        names: Sequence[str],
        edges: tuple[tuple[int, int], ...] = (),
    ) -> Grouped:
        """Put the result together; refuse classes that are too small, which are counted again here."""
        call, fields, missing = self.call, answer.fields, answer.counted.missing
        values = numbered(answer.counted.values, answer.classes)
        classes = _classes(values, names, answer.boxes)
        cost, bound = fields.cost, fields.lower_bound
        if missing is not None:  # a class that every solution has
            values += numbered([missing], [len(classes)])
            classes.append(ValueClass(len(classes) + 1, None, missing.weight, 1))
            if call.cost == "max":
                cost, bound = max(cost, missing.weight), max(bound, missing.weight)
            else:
                own = missing.weight * (missing.weight - call.k)
                cost, bound = cost + own, bound + own
        if any(one.size < call.k for one in classes):
            raise VerificationFailed(f"A class has less than k = {call.k:,}.", hint=DEFECT)
        return Grouped(
            relation=str(self.weighing.relation.identifier),
            columns=tuple(name for name in columns if name is not None),
            kind=kind,
            k=call.k,
            unit=self.weighing.unit,
            cost_kind=call.cost,
            cost=cost,
            lower_bound=bound,
            ratio=1.0 if cost <= bound else cost / bound if bound else None,
            optimal=cost <= bound,
            method=fields.method,
            bound_method=fields.bound_method,
            classes=tuple(classes),
            values=values,
            edges=edges,
            degree=fields.degree,
            termination=Termination.OPTIMAL if cost <= bound else fields.termination,
        )


def _classes(values: Sequence[GroupedValue], names: Sequence[str], boxes: Sequence[Box]) -> list[ValueClass]:
    sizes, counts = [0] * len(names), [0] * len(names)
    for value in values:
        sizes[value.class_number - 1] += value.weight
        counts[value.class_number - 1] += 1
    return [
        ValueClass(place + 1, name, sizes[place], counts[place], boxes[place] if boxes else None)
        for place, name in enumerate(names)
    ]


@contextmanager
def _session(db: Database, call: GroupingRequest) -> Iterator[_Session]:
    call.check()
    with exact_text(db):
        memory = memory_budget(db)
        with working_memory(db, memory):
            solver_session.start()
            yield _Session(db, call, resolve_weighing(db, call), memory)


def intervals(db: Database, call: IntervalsRequest) -> Grouped:
    """Group the values of an ordered column into intervals, at the least cost there is.

    Missing values are a class of their own.
    """
    with _session(db, call) as session:
        column = value_column(db, session.weighing, str(call.column))
        require_range(column.facts)
        values = count_values(db, session.weighing, column)
        counted = require_enough(values, call.k, missing_alone=True)
        answer = session.run("intervals", counted, {})
        names = interval_labels(db, column.facts, counted.values, answer.classes)
    return session.result("intervals", [column.facts.name], answer, names)


def labels(db: Database, call: LabelsRequest) -> Grouped:
    """Group the values of a column without order; a missing value is a label like others."""
    with _session(db, call) as session:
        column = value_column(db, session.weighing, str(call.column))
        values = count_values(db, session.weighing, column)
        counted = require_enough(values, call.k, missing_alone=False)
        answer = session.run("labels", counted, {}, method=call.method, epsilon=call.epsilon)
    return session.result("labels", [column.facts.name], answer, answer.names())


def regions(db: Database, call: RegionsRequest) -> Grouped:
    """Group the values of a column into regions of neighbours; a missing value has none."""
    with _session(db, call) as session:
        weighing = session.weighing
        column = value_column(db, weighing, str(call.column))
        positions = None if call.positions is None else coordinates(db, weighing, *call.positions)
        values = count_values(db, weighing, column, positions)
        counted = require_enough(values, call.k, missing_alone=False)
        edges = neighbours(db, call, weighing, counted)
        arrays: _Arrays = {"edges": ("<i8", packed("<i8", [place for edge in edges for place in edge]))}
        answer = session.run("regions", counted, arrays, method=call.method, on_light=call.on_light)
    if answer.fields.other is not None:
        db.notice(
            f"Parts of the map with less than k = {call.k:,} and no way to the others are gathered in one "
            "class, which is not connected."
        )
    return session.result("regions", [column.facts.name], answer, answer.names(), edges)


def rectangles(db: Database, call: RectanglesRequest) -> Grouped:
    """Group points into rectangles; rows without both coordinates are a class of their own."""
    with _session(db, call) as session:
        x, y = coordinates(db, session.weighing, str(call.x), call.y)
        points = count_points(db, session.weighing, x, y)
        counted = require_enough(points, call.k, missing_alone=True)
        arrays: _Arrays = {
            name: ("<f8", packed("<f8", [getattr(value, name) for value in counted.values])) for name in "xy"
        }
        answer = session.run("rectangles", counted, arrays, method=call.method)
    names = [f"({box[0]:g},{box[1]:g}),({box[2]:g},{box[3]:g})" for box in answer.boxes]
    return session.result("rectangles", [call.x, call.y], answer, names)
