"""Calls the stub solver in a worker, on a small table; used by the runner's tests and their processes."""

import os
import select
import struct
from pathlib import Path

import kanon_pg
from kanon_pg.core.packed import PackedRowTypes, QuasiIdentifier
from kanon_pg.core.solving import SolveRequest
from kanon_pg.runner import parent
from kanon_pg.runner.session import Caller

PACKAGE_FOLDER = str(Path(kanon_pg.__file__).resolve().parents[1])
STUB_FOLDER = str(Path(__file__).parent)


def packed(*numbers: int) -> bytes:
    return struct.pack(f">{len(numbers)}q", *numbers)


def small_table() -> PackedRowTypes:
    return PackedRowTypes(
        columns=(QuasiIdentifier("zip", weight=2.0), QuasiIdentifier('größe "x"', "numeric")),
        keys=packed(11, -12, 2**63 - 1),
        rows=packed(1, 2, 3),
        people=packed(1, 1, 2),
        cells=(packed(1, 2, 3), packed(-(2**40), 5, 6)),
        values=(None, struct.pack(">3d", 1.5, float("nan"), float("-inf"))),
        pair_keys=packed(11, -12),
        pair_people=packed(7, 8),
    )


class Call:
    """Calls the stub in a worker; remembers what the caller saw."""

    def __init__(self) -> None:
        self.table = small_table()
        self.progress: list[tuple[str, float | None]] = []
        self.checkpoints = 0

    def __call__(self, behaviour: str, *, memory_bytes: int = 2**30, **request: object):
        request = SolveRequest(k=5, method=behaviour, **request)
        return parent.solve_in_worker(self.table, request, self.caller(memory_bytes))

    def caller(self, memory_bytes: int = 2**30) -> Caller:
        return Caller(
            memory_bytes, self.checkpoint, lambda phase, share: self.progress.append((phase, share))
        )

    def checkpoint(self) -> None:
        self.checkpoints += 1


def open_files() -> list[str]:
    names = os.listdir("/proc/self/fd")
    return sorted(
        os.readlink(f"/proc/self/fd/{name}") for name in names if os.path.islink(f"/proc/self/fd/{name}")
    )


def wait_for_end(pid: int, seconds: float = 20) -> bool:
    """Whether the process ends in time, whoever's child it is."""
    try:
        watch = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        poller = select.poll()
        poller.register(watch, select.POLLIN)
        return bool(poller.poll(seconds * 1000))
    finally:
        os.close(watch)
