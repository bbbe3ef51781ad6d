"""The one way in which kernels are compiled: typed for the type checker, kept on disk by Numba.

Numba asks a locator of ours where code is (`NUMBA_CACHE_LOCATOR_CLASSES` in its documentation): in the
account's own folder (see `kanon_pg.core.code_folders`), under names without the place of the sources, so that
copies of the package share it, but with a digest of all modules that a kernel can take anything from: Numba
compares the kernel's file alone, and compiled code contains what it calls.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, Self, TypeVar

import numba

from kanon_pg.core.code_folders import CODE_FOLDER, fill, name_of, own_folder, processor, store_of

Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")


class Locator:
    """Where Numba keeps the code of a kernel, and what it is compared by."""

    def __init__(self, module: str, file: str) -> None:
        self._module = module
        self._file = file

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> Self:
        """Return the locator of a kernel."""
        return cls(function.__module__, file)

    def get_cache_path(self) -> str:
        """Return the folder."""
        return str(_FOLDER)

    def ensure_cache_path(self) -> None:
        """Do nothing: the folder exists."""

    def get_source_stamp(self) -> str:
        """Return what changes with the kernel's file."""
        return hashlib.sha256(Path(self._file).read_bytes()).hexdigest()

    def get_disambiguator(self) -> str:
        """Return what distinguishes functions of one name."""
        return name_of(self._module)


def _own() -> Path:
    own = own_folder()
    if own.temporary:
        atexit.register(shutil.rmtree, own.folder, ignore_errors=True)
    return own.folder


def _folder() -> Path:
    given = os.environ.get(CODE_FOLDER)
    folder = Path(given) if given is not None else _own()
    fill(folder, store_of())
    return folder


_FOLDER = _folder()

# the whole of a processor's level and nothing beyond, so that the code runs wherever the level does
numba.config.CPU_NAME, numba.config.CPU_FEATURES = processor(), ""
numba.config.CACHE_LOCATOR_CLASSES = f"{__name__}.{Locator.__name__}"

_OPTIONS = {"cache": True, "nogil": True, "no_cfunc_wrapper": True}


def kernel(function: Callable[Arguments, Returned]) -> Callable[Arguments, Returned]:
    """Compile a function on NumPy arrays to machine code that runs without the interpreter lock.

    Parameters
    ----------
    function : callable
        A function within Numba's nopython subset.

    Returns
    -------
    callable
        The same function, compiled at its first call for each signature and kept on disk.
    """
    # Explicit: a kernel compiled within an inner one would inherit that references are not counted, and fail.
    compiled: Callable[Arguments, Returned] = numba.njit(function, _nrt=True, **_OPTIONS)
    return compiled


def inner_kernel(function: Callable[Arguments, Returned]) -> Callable[Arguments, Returned]:
    """Compile a function that kernels call millions of times, without counting references to its arrays.

    Numba counts references to an array whenever it is taken out of a named tuple; in short functions the
    atomic counters cost more than the work, and all of them are compiled.

    Parameters
    ----------
    function : callable
        A function within Numba's nopython subset that creates no array and keeps none: it works on the
        arrays of its caller.

    Returns
    -------
    callable
        The same function, compiled as `kernel` does.
    """
    compiled: Callable[Arguments, Returned] = numba.njit(function, _nrt=False, **_OPTIONS)
    return compiled
