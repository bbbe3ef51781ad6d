"""What a worker does to group the values of one attribute: reads packed numbers and calls the solvers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.grouping import GroupingAnswer, GroupingTask
from kanon_pg.core.termination import Termination
from kanon_pg.errors import DEFECT, SolverError
from kanon_pg.worker.clock import Clock, Progress
from kanon_pg.worker.grouping.intervals import intervals
from kanon_pg.worker.grouping.labels import group_labels
from kanon_pg.worker.grouping.rectangles import rectangles
from kanon_pg.worker.grouping.regions import regions
from kanon_pg.worker.grouping.result import SingleAttribute

Arrays = Mapping[str, NDArray[Any]]
Options = Mapping[str, Any]


def work(job: GroupingTask, progress: Progress) -> GroupingAnswer:
    """Group values by the task 'intervals', 'labels', 'regions' or 'rectangles'."""
    if job.task not in _TASKS:
        raise SolverError("The worker does not know this way of grouping.", hint=DEFECT)
    arrays = {name: np.frombuffer(data, dtype=kind) for name, (kind, data) in job.arrays.items()}
    clock = Clock(job.options["seconds"], progress)
    clock.report("grouping", None)
    return _TASKS[job.task](arrays, job.options, clock)


def _intervals(arrays: Arrays, options: Options, clock: Clock) -> GroupingAnswer:
    """Take weights in the order of the values."""
    return _answer(intervals(arrays["weights"], options["k"], options["cost"]), clock)


def _labels(arrays: Arrays, options: Options, clock: Clock) -> GroupingAnswer:
    """Take weights, and the options method and epsilon."""
    return _answer(
        group_labels(
            arrays["weights"],
            options["k"],
            options["method"],
            options["cost"],
            epsilon=options["epsilon"],
            clock=clock,
        ),
        clock,
    )


def _regions(arrays: Arrays, options: Options, clock: Clock) -> GroupingAnswer:
    """Take weights and pairs of neighbours, and the options method and on_light."""
    found = regions(
        arrays["weights"],
        arrays["edges"].reshape(-1, 2),
        options["k"],
        options["cost"],
        method=options["method"],
        on_light=options["on_light"],
        clock=clock,
    )
    return _answer(found, clock)


def _rectangles(arrays: Arrays, options: Options, clock: Clock) -> GroupingAnswer:
    """Take weights and coordinates, and the option method."""
    found = rectangles(
        arrays["x"],
        arrays["y"],
        arrays["weights"],
        options["k"],
        options["cost"],
        method=options["method"],
        clock=clock,
    )
    return _answer(found.found, clock, found.boxes)


def _answer(found: SingleAttribute, clock: Clock, boxes: NDArray[np.float64] | None = None) -> GroupingAnswer:
    ended = Termination.TIME if clock.has_cut else Termination.EXHAUSTED
    return GroupingAnswer(
        class_of=found.class_of.astype("<i8").tobytes(),
        boxes=b"" if boxes is None else boxes.astype("<f8").tobytes(),
        cost=found.cost,
        lower_bound=found.lower_bound,
        method=found.method,
        bound_method=found.bound_method,
        other=found.other,
        degree=found.degree,
        termination=Termination.OPTIMAL if found.optimal else ended,
    )


_TASKS: dict[str, Callable[[Arrays, Options, Clock], GroupingAnswer]] = {
    "intervals": _intervals,
    "labels": _labels,
    "regions": _regions,
    "rectangles": _rectangles,
}
