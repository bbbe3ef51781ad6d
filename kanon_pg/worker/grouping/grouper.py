"""Grouping of one attribute in a worker: reads packed numbers and calls the solvers."""

from __future__ import annotations

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


def work(job: GroupingTask, progress: Progress) -> GroupingAnswer:
    """Group values by the task 'intervals', 'labels', 'regions' or 'rectangles'."""
    arrays = {name: np.frombuffer(data, dtype=kind) for name, (kind, data) in job.arrays.items()}
    options, weights = job.options, arrays["weights"]
    k, cost = options["k"], options["cost"]
    clock = Clock(options["seconds"], progress)
    clock.report("grouping", None)
    if job.task == "intervals":
        return _answer(intervals(weights, k, cost), clock)
    method = options["method"]
    if job.task == "labels":
        labels = group_labels(weights, k, method, cost, epsilon=options["epsilon"], clock=clock)
        return _answer(labels, clock)
    if job.task == "regions":
        edges, on_light = arrays["edges"].reshape(-1, 2), options["on_light"]
        return _answer(regions(weights, edges, k, cost, method=method, on_light=on_light, clock=clock), clock)
    if job.task == "rectangles":
        cut = rectangles(arrays["x"], arrays["y"], weights, k, cost, method=method, clock=clock)
        return _answer(cut.classes, clock, cut.boxes)
    raise SolverError("The worker does not know this way of grouping.", hint=DEFECT)


def _answer(
    classes: SingleAttribute, clock: Clock, boxes: NDArray[np.float64] | None = None
) -> GroupingAnswer:
    ended = Termination.TIME if clock.has_cut else Termination.EXHAUSTED
    return GroupingAnswer(
        class_of=classes.class_of.astype("<i8").tobytes(),
        boxes=b"" if boxes is None else boxes.astype("<f8").tobytes(),
        cost=classes.cost,
        lower_bound=classes.lower_bound,
        method=classes.method,
        bound_method=classes.bound_method,
        other=classes.other,
        degree=classes.degree,
        termination=Termination.OPTIMAL if classes.optimal else ended,
    )
