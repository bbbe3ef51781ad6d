"""Compile all solvers and templates ahead, into the store beside the package that every account reads."""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import threading
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import kanon_pg
from kanon_pg.core.code_folders import (
    KERNEL,
    CodeFolder,
    copy_to_store,
    folders,
    is_complete,
    is_trusted,
    mark,
    own_folder,
    own_store,
    store_of,
)
from kanon_pg.core.solving import KERNELS
from kanon_pg.db import statements
from kanon_pg.db.statements import compiled_templates, sql_root
from kanon_pg.runner import launch
from kanon_pg.runner.limits import default_memory_budget, more_free_memory
from kanon_pg.runner.session import Caller, Job, Session


@functools.cache
def _templates() -> str:
    """Return the name of a set that no worker compiles: the SQL that is filled in, as it is now."""
    digest = hashlib.sha256()
    for file in (Path(statements.__file__), *sorted(sql_root().rglob("*.sql"))):
        digest.update(file.read_bytes())
    return f"templates{digest.hexdigest()[:16]}"


@dataclass(frozen=True, slots=True)
class CompilationReport:
    """What was done."""

    store: str
    """Folder that the code is in."""
    compiled: tuple[str, ...]
    """Sets of kernels that had to be compiled."""
    shared: bool
    """Whether every account finds the code there; otherwise only this one."""


def compile_ahead(
    progress: Callable[[str, float | None], None], sets: Collection[str] = KERNELS
) -> CompilationReport:
    """Compile what is not yet compiled, as many sets at once as there are processors.

    Parameters
    ----------
    progress : callable
        Called with what is done and the share done, from several threads, one at a time.

    Returns
    -------
    CompilationReport
        The store is beside the package or, if this account may not write there, the account's own.

    Raises
    ------
    KanonError
        A worker cannot be started, or failed.
    """
    store = own_store()
    if is_trusted(store) and all(is_complete(one, (store,)) for one in (*sets, _templates())):
        return CompilationReport(str(store), (), shared=True)
    with _working_folder() as own:
        among = folders(own)
        missing = tuple(one for one in KERNELS if one in sets and not is_complete(one, among))
        if missing:
            _compile(missing, own, progress)
        if not is_complete(_templates(), among):
            mark(own, _templates()).write_text("\n".join(compiled_templates()))
        try:
            copy_to_store(_complete(among), among, store)
        except OSError:
            return CompilationReport(str(own), missing, shared=False)
    return CompilationReport(str(store), missing, shared=is_trusted(store))


def share_compiled(package: Path) -> None:
    """Give a copy of this package the sets that this one has compiled.

    Parameters
    ----------
    package : Path
        Folder of the copy, of the same sources; this account may write there.
    """
    with _working_folder() as own:
        among = folders(own)
        if done := _complete(among):
            copy_to_store(done, among, store_of(package))


def _complete(among: tuple[Path, ...]) -> tuple[str, ...]:
    return tuple(one for one in (*KERNELS, _templates()) if is_complete(one, among))


@contextmanager
def _working_folder() -> Iterator[Path]:
    code = own_folder()
    try:
        yield code.folder
    finally:
        if code.temporary:
            shutil.rmtree(code.folder, ignore_errors=True)


def _compile(sets: tuple[str, ...], own: Path, progress: Callable[[str, float | None], None]) -> None:
    """Compile sets, in as many worker processes as there are processors; the first failure ends the others.

    A process takes one set after the other, because it keeps what numba itself has compiled (sorting, making
    arrays): that is a fifth of the work of each set.
    """
    code = CodeFolder(own, temporary=False)
    waiting = iter(sets)
    given_up = threading.Event()
    report = _Report(progress, len(sets))

    def checkpoint() -> None:
        if given_up.is_set():
            raise InterruptedError

    def work() -> None:
        session = Session(lambda: launch.start_process(code), "compiler", more_free_memory)
        memory = default_memory_budget()
        try:
            for kernels in waiting:
                job = Job("compile", [b""], Caller(memory, checkpoint, report), {"kernels": kernels})
                session.done(job, lambda _answer: None)
                report.one_set_more()
        finally:
            session.stop()

    processors = min(len(sets), len(os.sched_getaffinity(0)))
    with ThreadPoolExecutor(processors) as pool:
        try:
            for one in as_completed([pool.submit(work) for _ in range(processors)]):
                one.result()
        except BaseException:
            given_up.set()
            raise


class _Report:
    """Reports the share done: of all kernels or, because a set has some of them alone, of the sets.

    Which kernels a set has is known when it is compiled; what a worker reports is the name of one.
    """

    def __init__(self, progress: Callable[[str, float | None], None], sets: int) -> None:
        self._progress = progress
        self._ready = set[str]()
        self._sets, self._sets_ready = sets, 0
        self._lock = threading.Lock()
        package = Path(kanon_pg.__file__).parent
        self._count = sum(len(KERNEL.findall(file.read_bytes())) for file in package.rglob("*.py"))

    def __call__(self, name: str, _share: float | None) -> None:
        with self._lock:
            self._ready.add(name)
            self._tell()

    def one_set_more(self) -> None:
        with self._lock:
            self._sets_ready += 1
            self._tell()

    def _tell(self) -> None:
        of_kernels = min(1.0, len(self._ready) / self._count)
        self._progress("compiling", max(of_kernels, self._sets_ready / self._sets))
