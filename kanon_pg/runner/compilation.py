"""Compile all solvers ahead, in parallel, into the store beside the package that every account reads."""

from __future__ import annotations

import os
import re
import shutil
import threading
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import kanon_pg
from kanon_pg.core.code_folders import CodeFolder, fill, is_complete, is_trusted, own_folder, share, store_of
from kanon_pg.core.solving import KERNELS
from kanon_pg.errors import SolverError, SolverUnavailable
from kanon_pg.runner import launch
from kanon_pg.runner.limits import default_memory_budget, more_free_memory
from kanon_pg.runner.session import Caller, Job, Session, WorkerKind

_COMPILER = WorkerKind("compiler", SolverError, SolverUnavailable, {"compile": "compiled"}, more_free_memory)
_KERNEL = re.compile(rb"^@(?:inner_)?kernel$", re.MULTILINE)

Progress = Callable[[str, float | None], None]


@dataclass(frozen=True, slots=True)
class CompilationReport:
    """What was done.

    Parameters
    ----------
    store : str
        Folder that the code is in.
    compiled : tuple of str
        Sets of kernels that had to be compiled.
    shared : bool
        Whether every account finds the code there; otherwise only this one.
    """

    store: str
    compiled: tuple[str, ...]
    shared: bool


def compile_ahead(progress: Progress, sets: Collection[str] = KERNELS) -> CompilationReport:
    """Compile what is not yet compiled, as many sets at once as there are processors.

    Parameters
    ----------
    progress : callable
        Called with what is done and the share done, from several threads.
    sets : collection of str
        Names of `KERNELS`: what to compile.

    Returns
    -------
    CompilationReport
        The store is beside the package or, if this account may not write there, the account's own.

    Raises
    ------
    KanonError
        A worker cannot be started, or failed.
    """
    store = store_of()
    with _working_folder() as own:
        missing = tuple(one for one in KERNELS if one in sets and not is_complete(one, own))
        if missing:
            _compile(missing, own, progress)
        try:
            share(own, store)
        except OSError:
            return CompilationReport(str(own), missing, shared=False)
    return CompilationReport(str(store), missing, shared=is_trusted(store))


def share_compiled(package: Path) -> None:
    """Give a copy of this package, of the same sources, what this one has compiled."""
    with _working_folder() as own:
        share(own, store_of(package))


@contextmanager
def _working_folder() -> Iterator[Path]:
    code = own_folder()
    try:
        fill(code.folder, store_of())
        yield code.folder
    finally:
        if code.temporary:
            shutil.rmtree(code.folder, ignore_errors=True)


def _compile(sets: tuple[str, ...], own: Path, progress: Progress) -> None:
    """Compile sets side by side; the first failure ends the others.

    Of two processes that add to the index of one kernel at the same time, one may be lost: a last process
    runs all sets again, and compiles what is.
    """
    given_up = threading.Event()
    package = Path(kanon_pg.__file__).parent
    kernels = sum(len(_KERNEL.findall(file.read_bytes())) for file in package.rglob("*.py"))

    def checkpoint() -> None:
        if given_up.is_set():
            raise InterruptedError
        progress("compiling", min(1.0, len(list(own.glob("*.nbi"))) / kernels))

    def work(waiting: Iterator[str]) -> None:
        # one process for several sets: it keeps what Numba itself has compiled, a fifth of each
        session = Session(lambda: launch.start_process(CodeFolder(own, temporary=False)), _COMPILER)
        try:
            for one in waiting:
                job = Job("compile", [b""], Caller(default_memory_budget(), checkpoint), {"kernels": one})
                session.done(job, lambda _answer: None)
        except BaseException:
            given_up.set()
            raise
        finally:
            session.stop()

    waiting, processors = iter(sets), min(len(sets), len(os.sched_getaffinity(0)))
    with ThreadPoolExecutor(processors) as pool:
        for done in as_completed([pool.submit(work, waiting) for _ in range(processors)]):
            done.result()  # the first that ended is the one that failed
    work(iter(sets))
