"""A time limit for statements that already run inside a server function.

``SET statement_timeout`` has no effect on a statement that has started, and Python timers do not fire
while SQL runs. A POSIX timer that sends SIGINT to the backend does what a cancel request does.
"""

from __future__ import annotations

import ctypes
import signal
from collections.abc import Iterator
from contextlib import contextmanager

_CLOCK_MONOTONIC = 1


class _Timespec(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long))


class _TimerSpec(ctypes.Structure):
    _fields_ = (("interval", _Timespec), ("value", _Timespec))


class _SignalEvent(ctypes.Structure):
    # glibc's struct sigevent: 64 bytes, the union behind `notify` is unused for SIGEV_SIGNAL (0).
    _fields_ = (
        ("value", ctypes.c_void_p),
        ("number", ctypes.c_int),
        ("notify", ctypes.c_int),
        ("rest", ctypes.c_char * 48),
    )


@contextmanager
def interrupt_after(seconds: float) -> Iterator[None]:
    """Send SIGINT to this process once `seconds` have passed, unless the block ended before.

    Parameters
    ----------
    seconds : float
        > 0; a repeated signal follows every 0.5 s, in case one meets a moment that ignores it.

    Raises
    ------
    OSError
        If the kernel grants no timer.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    timer = ctypes.c_void_p()
    event = _SignalEvent(number=signal.SIGINT, notify=0)
    if libc.timer_create(_CLOCK_MONOTONIC, ctypes.byref(event), ctypes.byref(timer)):
        raise OSError(ctypes.get_errno(), "timer_create")
    try:
        whole = int(seconds)
        first = _Timespec(whole, max(1, int((seconds - whole) * 1e9)))
        spec = _TimerSpec(interval=_Timespec(0, 500_000_000), value=first)
        if libc.timer_settime(timer, 0, ctypes.byref(spec), None):
            raise OSError(ctypes.get_errno(), "timer_settime")
        yield
    finally:
        libc.timer_delete(timer)
