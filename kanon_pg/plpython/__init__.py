"""What the PL/Python functions call: opens the server's interface, calls a service, shapes the result.

Imported inside PostgreSQL backends, after ``kanon.boot()`` has put this package on the path and checked
its version. There is no logic here: what a function does, the services say.

A module is imported when one of its functions is first called: most sessions need few of them, and the
parser of queries takes longer to import than everything else. Imports run no statement, and only
statements notice that the user cancelled, so one is run between them now and then.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

_MODULES = ("analyses", "installation", "queries", "reading", "releases", "reports", "with_worker")

_MODULES_BETWEEN_CHECKPOINTS = 8
"""Counted, not timed, since ``client_min_messages = debug5`` shows how many statements ran."""


class _Attentive:
    """A finder of modules that finds none; its `checkpoint` lets the user cancel between two of them."""

    def __init__(self, checkpoint: Callable[[], object]) -> None:
        self._checkpoint = checkpoint
        self._searches = 0

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> None:
        """Leave every module to the finders that follow."""
        del name, path, target
        if self._searches % _MODULES_BETWEEN_CHECKPOINTS == 0:
            self._checkpoint()
        self._searches += 1


def _reraise(error: ImportError) -> None:
    raise error


_checkpoint: Callable[[], object] = lambda: None  # noqa: E731 - replaced by `prepare`
_refuse: Callable[[ImportError], object] = _reraise


def prepare(checkpoint: Callable[[], object], refuse: Callable[[ImportError], object]) -> None:
    """Say what is done while a module is imported.

    Parameters
    ----------
    checkpoint : callable
        Raises if the user cancelled.
    refuse : callable
        Raises the error that a user sees if a library is missing.
    """
    global _checkpoint, _refuse
    _checkpoint, _refuse = checkpoint, refuse


@contextmanager
def _attentive_imports() -> Iterator[None]:
    finder: Any = _Attentive(_checkpoint)
    sys.meta_path.insert(0, finder)
    # what is imported stays: a seventh of the time would go into looking for garbage among it
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    except ImportError as error:
        _refuse(error)
        raise
    finally:
        if collects:
            gc.enable()
        sys.meta_path.remove(finder)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with _attentive_imports():
        return import_module(f"{__name__}.{name}")
