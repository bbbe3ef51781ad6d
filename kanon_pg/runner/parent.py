"""Solve in a worker process while staying attentive to the caller: the caller's side.

Solvers are native code: they may not be stoppable, may hold the interpreter's lock for minutes, and when
memory runs out in one of their threads they abort. In a PostgreSQL backend that would mean an uncancellable
query, or the restart of the whole server. Here it is the end of a worker and one clean error.

Before that come the memory budget, which a setting of the session may name, and solvers that are compiled.
This module starts no thread and sets no signal handler.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, TypeVar

from kanon_pg.core.certificate import CertificateTask
from kanon_pg.core.code_folders import folders, is_complete
from kanon_pg.core.grouping import GroupingAnswer, GroupingTask
from kanon_pg.core.packed import ITEM_BYTES, PackedRowTypes
from kanon_pg.core.solving import SolveOutcome, SolveRequest
from kanon_pg.db.protocol import Database
from kanon_pg.db.statements import statement
from kanon_pg.errors import MemoryExceeded
from kanon_pg.runner.limits import default_memory_budget, more_memory, parse_memory_size
from kanon_pg.runner.messages import Attachment, Message, MessageError
from kanon_pg.runner.session import Caller, Job, parsed
from kanon_pg.runner.solver_session import solver_session

Found = TypeVar("Found")

_MAX_OUTCOME_BYTES = 1024 * 1024
_MAX_AUDIT_BYTES = 512 * 1024 * 1024
_MAX_CERTIFICATE_BYTES = 512 * 1024 * 1024


def solve_in_worker(
    row_types: PackedRowTypes,
    request: SolveRequest,
    caller: Caller,
) -> SolveOutcome:
    """Solve in this session's worker, which is started if there is none and kept for the next call.

    Raises
    ------
    MemoryExceeded
        The solver needed more, or the machine ran out of memory.
    SolverUnavailable
        The worker or its libraries cannot be started.
    SolverError
        The solver failed.
    KanonError
        Whatever the solver refused, as the same class.
    """
    with handed_over(row_types, request, caller) as solve:
        return solve()


@contextmanager
def handed_over(
    row_types: PackedRowTypes,
    request: SolveRequest,
    caller: Caller,
) -> Iterator[Callable[[], SolveOutcome]]:
    """Put row types where this session's worker reads them; what is given has them solved, once.

    The caller may forget them before it waits for the worker, which then has their memory.

    Raises
    ------
    KanonError
        As in `solve_in_worker`, here or when solving.
    """
    count = len(row_types)
    parts = [json.dumps([row_types.header(), request.to_json()]).encode(), *row_types.buffers()]
    _require_room(parts, "row types", caller)
    del row_types
    with ExitStack() as stack:
        try:
            attached = stack.enter_context(solver_session.attached(parts, caller.checkpoint))
        except BaseException:
            solver_session.stop()
            raise
        del parts
        job = Job("solve", attached, caller)
        yield lambda: solver_session.done(job, lambda answer: _solved(answer, count, caller.checkpoint))


def audit_in_worker(
    tables: Sequence[PackedRowTypes],
    task: str,
    arguments: Mapping[str, Any],
    caller: Caller,
) -> dict[str, Any]:
    """Have a task of `kanon_pg.worker.audit.auditor` done in this session's worker; return its answer."""
    buffers = [list(table.buffers()) for table in tables]
    headers = [[table.header(), len(own)] for table, own in zip(tables, buffers, strict=True)]
    request = {"task": task, "tables": headers, "arguments": dict(arguments)}
    parts = [json.dumps(request).encode(), *(buffer for own in buffers for buffer in own)]
    job = Job("audit", parts, caller)
    return _done(job, "row types", lambda answer: _audited(answer, caller.checkpoint))


def group_in_worker(
    task: GroupingTask,
    caller: Caller,
) -> GroupingAnswer:
    """Have the values of one attribute grouped in this session's worker."""
    parts = [json.dumps(task.header()).encode(), *task.buffers()]
    values = len(task.arrays["weights"][1])
    job = Job("group", parts, caller)
    return _done(job, "values", lambda answer: _grouped(answer, values, caller.checkpoint))


def certify_in_worker(
    row_types: PackedRowTypes,
    task: CertificateTask,
    caller: Caller,
) -> str:
    """Have the certificate of a release written in this session's worker; returns it as text."""
    header = json.dumps([row_types.header(), task.header()]).encode()
    parts = [header, *row_types.buffers(), *task.mapping.buffers()]
    job = Job("certify", parts, caller)
    return _done(job, "row types", lambda answer: _certified(answer, caller.checkpoint))


def compile_solvers(
    kernels: str,
    caller: Caller,
) -> None:
    """Compile solvers for this account unless that was done before; takes a minute or two then."""
    if not solvers_are_compiled(kernels):
        job = Job("compile", [b""], caller, {"kernels": kernels})
        _done(job, "names", lambda _answer: None)


def solvers_are_compiled(kernels: str) -> bool:
    """Whether `compile_solvers` would return at once."""
    return is_complete(kernels, folders(solver_session.start().code_folder))


def _done(job: Job, parts: str, read: Callable[[Message], Found]) -> Found:
    """Return what is read from the answer to a job, unless its parts exceed the budget by themselves."""
    assert not isinstance(job.parts, Attachment)  # noqa: S101 - those were looked at before
    _require_room(job.parts, parts, job.caller)
    return solver_session.done(job, read)


def _require_room(parts: Sequence[bytes], name: str, caller: Caller) -> None:
    if sum(map(len, parts)) > caller.memory_bytes:
        raise MemoryExceeded(
            f"The {name} alone exceed the memory budget.", hint=more_memory(caller.memory_bytes)
        )


def _solved(answer: Message, count: int, checkpoint: Callable[[], None]) -> SolveOutcome:
    expected = count * ITEM_BYTES
    parts = answer.copy_parts(_MAX_OUTCOME_BYTES + 5 * expected, tick=checkpoint)
    if len(parts) < 2 or len(parts[1]) != expected:
        raise MessageError("the patterns do not match the row types")
    return parsed(lambda: SolveOutcome.from_json(json.loads(parts[0]), parts[1:]))


def _audited(answer: Message, checkpoint: Callable[[], None]) -> dict[str, Any]:
    (text,) = answer.copy_parts(_MAX_AUDIT_BYTES, tick=checkpoint)
    found: dict[str, Any] = parsed(lambda: json.loads(text))
    return found


def _grouped(answer: Message, values: int, checkpoint: Callable[[], None]) -> GroupingAnswer:
    parts = answer.copy_parts(_MAX_OUTCOME_BYTES + 5 * values, tick=checkpoint)
    if len(parts) != 3 or len(parts[1]) != values:
        raise MessageError("the classes do not match the values")
    return parsed(lambda: GroupingAnswer.from_parts(json.loads(parts[0]), parts[1], parts[2]))


def _certified(answer: Message, checkpoint: Callable[[], None]) -> str:
    (text,) = answer.copy_parts(_MAX_CERTIFICATE_BYTES, tick=checkpoint)
    return parsed(text.decode)


def memory_budget(db: Database) -> int:
    """Return the memory budget in bytes: ``kanon.memory_budget``, else a share of the machine."""
    setting = db.row(statement("session_settings"))["memory_budget"]
    return parse_memory_size(setting) if setting else default_memory_budget()


COMPILED = {
    "plain": "the solvers for k-anonymity",
    "models": "the solvers for privacy models (l, p, t)",
    "pairs": "the method 'pairs'",
    "audit": "what audits use",
    "recoding": "the solvers for hierarchies",
}
"""What each set of `kanon_pg.core.solving.KERNELS` is for, in the words of a notice."""


def compile_once(db: Database, memory_bytes: int, kernels: str) -> None:
    """Compile solvers, with a notice of what takes so long, unless that was done; no limit is for that."""
    if not solvers_are_compiled(kernels):
        db.notice(
            f"Compiling {COMPILED[kernels]}, for this account of the operating system alone; this takes a "
            "minute or two. Whoever owns the installed package can spare all accounts that: `kanon compile`."
        )
        db.progress("compiling")
        compile_solvers(kernels, Caller(memory_bytes, db.checkpoint))
