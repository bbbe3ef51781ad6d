"""A solver for the runner's tests: the request's method says how it behaves. Runs in the worker."""

import ctypes
import json
import os
import signal
import socket
import struct
import sys
from pathlib import Path

from kanon_pg.core.packed import PackedRowTypes
from kanon_pg.core.solving import SolveOutcome, SolveRequest
from kanon_pg.errors import InfeasibleError

SECRET = "Smith, John, 1970-01-01"


def outcome(patterns: bytes, notes: tuple[str, ...] = ()) -> SolveOutcome:
    return SolveOutcome(
        patterns=patterns,
        suppressed_cells=3,
        weighted_cost=3.5,
        lower_bound=1.0,
        optimal=False,
        method="echo",
        bound_method=None,
        classes=2,
        average_class=1.5,
        usefulness=None,
        notes=notes,
    )


def solve(row_types: PackedRowTypes, request: SolveRequest, progress) -> SolveOutcome:
    return BEHAVIOURS[request.method](row_types, request, progress)


def echo(row_types, request, progress):
    """Answer with the keys as patterns, and with what arrived as notes."""
    sums = [sum(struct.unpack(f">{len(cells) // 8}q", cells)) for cells in row_types.cells]
    return outcome(
        bytes(row_types.keys), (json.dumps(row_types.header()), json.dumps(sums), f"k={request.k}")
    )


def say_pid(row_types, request, progress):
    return outcome(bytes(row_types.keys), (str(os.getpid()), str(os.getppid())))


def report(row_types, request, progress):
    for phase, share in (("read", None), ("search", 0.5), ("improve", 1)):
        progress(phase, share)
    return outcome(bytes(row_types.keys))


def chatter(row_types, request, progress):
    for step in range(10_000):
        progress("loop", step / 10_000)
    progress("end", None)
    return outcome(bytes(row_types.keys))


def hang(row_types, request, progress):
    """Never return, in native code that holds the interpreter's lock and ignores signals."""
    progress("hang", None)
    libc = ctypes.PyDLL(None)
    while True:
        libc.pause()


def refuse(row_types, request, progress):
    raise InfeasibleError("Fewer than k people.", detail="3 people", hint="Choose a smaller k.")


def fail(row_types, request, progress):
    raise ValueError(SECRET)


def allocate(row_types, request, progress):
    return outcome(bytes(int(request.seconds)))


def signalled(row_types, request, progress):
    os.kill(os.getpid(), signal.Signals[request.patterns[0]])
    signal.pause()


def vanish(row_types, request, progress):
    os._exit(request.seed)


def short(row_types, request, progress):
    return outcome(b"")


def garbage(row_types, request, progress):
    """Send something else than the protocol says."""
    channel = socket.socket(fileno=os.dup(json.loads(sys.argv[1])["channel"]))
    with channel, open("/dev/null", "rb") as file:
        text = json.dumps(request.patterns[0]).encode() if request.patterns else b"\xff\x00 garbage"
        socket.send_fds(channel, [text], [file.fileno()] if request.seed else [])
    signal.pause()


def close(row_types, request, progress):
    os.close(json.loads(sys.argv[1])["channel"])
    signal.pause()


def state(row_types, request, progress):
    """Answer with facts about the process."""
    facts = {
        "session": os.getsid(0) == os.getpid(),
        "environment": sorted(os.environ),
        "oom": Path("/proc/self/oom_score_adj").read_text().strip(),
        "sigint": signal.getsignal(signal.SIGINT) == signal.SIG_IGN,
        "files": [os.readlink(f"/proc/self/fd/{name}") for name in list_descriptors()],
        "site": "site" in sys.modules,
        "folder": os.getcwd(),
        "cache": os.environ["KANON_PG_CODE"],
    }
    return outcome(bytes(row_types.keys), (json.dumps(facts),))


def list_descriptors() -> list[str]:
    names = os.listdir("/proc/self/fd")  # one of them is that of the listing itself, closed by now
    return [name for name in names if os.path.islink(f"/proc/self/fd/{name}")]


BEHAVIOURS = {
    function.__name__: function
    for function in (
        echo,
        say_pid,
        report,
        chatter,
        hang,
        refuse,
        fail,
        allocate,
        signalled,
        vanish,
        short,
        garbage,
        close,
        state,
    )
}
