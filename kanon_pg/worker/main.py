"""The worker process that solves."""

from __future__ import annotations

import gc
import importlib
import json
import os
import shutil
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kanon_pg.core.certificate import MAPPING_BUFFERS, CertificateTask
from kanon_pg.core.code_folders import CODE_FOLDER, mark
from kanon_pg.core.grouping import GroupingAnswer, GroupingTask
from kanon_pg.core.packed import PackedRowTypes
from kanon_pg.core.solving import SolveOutcome, SolveRequest
from kanon_pg.errors import SolverUnavailable
from kanon_pg.runner.limits import limited_memory
from kanon_pg.runner.messages import Message, send
from kanon_pg.worker.serving import Reply, ignore_signals, serve

PROGRESS_SECONDS = 0.1
"""Shortest time between two messages about the same phase."""

Progress = Callable[[str, float | None], None]


def main(
    *,
    channel: int,
    parent: int,
    solver: str,
    auditor: str,
    grouper: str,
    certifier: str,
    warm_up: str,
    prepared: str,
    idle_seconds: float,
    temporary_folder: str | None,
) -> None:
    """Serve the parent until it closes its end of the channel or has been silent for too long.

    Parameters
    ----------
    channel : int
        Descriptor of this end of the pair.
    parent : int
        Process id of the parent.
    solver : str
        Module whose function ``solve`` is called.
    auditor : str
        Module whose function ``work`` is called for audits.
    grouper : str
        Module whose function ``work`` is called to group the values of one attribute.
    certifier : str
        Module whose function ``certify`` writes the certificate of a release.
    warm_up : str
        Module whose function ``warm_up`` compiles the solvers.
    prepared : str
        Module to load before the first job.
    idle_seconds : float
        How long to wait for a job.
    temporary_folder : str or None
        Folder to remove at the end.
    """
    ignore_signals()

    def work(job: Message, connection: socket.socket) -> Reply:
        if job.kind == "compile":
            return _compile(warm_up, job.fields["kernels"], _Reporter(connection))
        if job.kind == "audit":
            return _audit(job, auditor, _Reporter(connection))
        if job.kind == "group":
            return _group(job, grouper, _Reporter(connection))
        if job.kind == "certify":
            return _certify(job, certifier, _Reporter(connection))
        return _solve(job, solver, _Reporter(connection))

    try:
        with socket.socket(fileno=channel) as connection:
            serve(work, lambda: _prepare(prepared), connection, parent, idle_seconds)
    finally:
        if temporary_folder is not None:
            shutil.rmtree(temporary_folder, ignore_errors=True)


def _prepare(module: str) -> None:
    # what is imported stays: a tenth of the time went into looking for garbage among it
    gc.disable()
    try:
        importlib.import_module(module)
    finally:
        gc.freeze()
        gc.enable()


@contextmanager
def _importing() -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise SolverUnavailable(
            "The solvers cannot be loaded.",
            detail=f"Importing {error.name or 'a library'} failed.",
            hint="Install kanon_pg's dependencies for the same Python version, readable to this user.",
        ) from error


def _received(header: dict[str, Any], buffers: Sequence[Any]) -> PackedRowTypes:
    """Return row types with distinct pairs; without an entity that takes no array library."""
    row_types = PackedRowTypes.from_buffers(header, buffers)
    if row_types.people or not row_types.keys:
        return row_types
    with _importing():
        arrays = importlib.import_module("kanon_pg.worker.row_types")
    found: PackedRowTypes = arrays.with_distinct_pairs(row_types)
    return found


@contextmanager
def _loaded(job: Message, module: str, function: str) -> Iterator[tuple[Any, Any, list[memoryview]]]:
    """Yield what does a job, within the memory of the job, with the job's header and buffers."""
    with _importing():
        work = getattr(importlib.import_module(module), function)
    with limited_memory(job.fields["memory_bytes"]):
        text, *buffers = job.map_parts()
        yield work, json.loads(bytes(text)), buffers


def _solve(job: Message, solver: str, progress: Progress) -> Reply:
    with _loaded(job, solver, "solve") as (solve, (header, request), buffers):
        row_types = _received(header, buffers)
        outcome: SolveOutcome = solve(row_types, SolveRequest.from_json(request), progress)
    return Reply("solved", [json.dumps(outcome.to_json()).encode(), *outcome.buffers()])


def _audit(job: Message, auditor: str, progress: Progress) -> Reply:
    with _loaded(job, auditor, "work") as (work, request, buffers):
        rest = iter(buffers)
        tables = [
            _received(header, [next(rest) for _ in range(count)]) for header, count in request["tables"]
        ]
        answer: dict[str, Any] = work(request["task"], tables, request["arguments"], progress)
    return Reply("audited", [json.dumps(answer).encode()])


def _group(job: Message, grouper: str, progress: Progress) -> Reply:
    with _loaded(job, grouper, "work") as (work, header, buffers):
        answer: GroupingAnswer = work(
            GroupingTask.from_parts(header, [bytes(one) for one in buffers]), progress
        )
    return Reply("grouped", [json.dumps(answer.header()).encode(), answer.class_of, answer.boxes])


def _certify(job: Message, certifier: str, progress: Progress) -> Reply:
    with _loaded(job, certifier, "certify") as (certify, (header, request), buffers):
        row_types = _received(header, buffers[:-MAPPING_BUFFERS])
        task = CertificateTask.from_parts(request, buffers[-MAPPING_BUFFERS:])
        answer: str = certify(row_types, task, progress)
    return Reply("certified", [answer.encode()])


def _compile(warm_up: str, kernels: str, progress: Progress) -> Reply:
    with _importing():
        # only here: a worker of a test has no compiler
        module = importlib.import_module(warm_up)
        # 5 % of the processor time went into looking for garbage, of which a compiler makes little
        gc.freeze()
        gc.set_threshold(100_000)
        compiled = module.warm_up(kernels, lambda name: progress(name, None))
    mark(Path(os.environ[CODE_FOLDER]), kernels).write_text("\n".join(compiled))
    return Reply("compiled")


class _Reporter:
    """Sends the progress on, but not more often than anyone can read it."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._phase: str | None = None
        self._next = 0.0

    def __call__(self, phase: str, share: float | None = None) -> None:
        now = time.monotonic()
        if phase != self._phase or now >= self._next:
            self._phase, self._next = phase, now + PROGRESS_SECONDS
            send(self._connection, "progress", {"phase": phase, "share": share})
