"""The one way in which kernels are compiled: typed for the type checker, cached on disk.

Numba keeps compiled kernels beside the module or, when that folder is read-only, in the folder named
by the environment variable ``NUMBA_CACHE_DIR``. Numba reads the variable when it is imported, so
whoever starts a solver process on a read-only installation sets it before importing this module.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

import numba

Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")


def kernel(function: Callable[Arguments, Returned]) -> Callable[Arguments, Returned]:
    """Compile a function on NumPy arrays to machine code that runs without the interpreter lock.

    Parameters
    ----------
    function : callable
        A function within numba's nopython subset.

    Returns
    -------
    callable
        The same function, compiled at its first call for each signature and cached on disk.
    """
    return cast("Callable[Arguments, Returned]", numba.njit(cache=True, nogil=True)(function))


def inner_kernel(function: Callable[Arguments, Returned]) -> Callable[Arguments, Returned]:
    """Compile a function that kernels call millions of times, without counting references to its arrays.

    Numba counts references to an array whenever it is taken out of a named tuple; in short functions the
    atomic counters cost more than the work.

    Parameters
    ----------
    function : callable
        A function within numba's nopython subset that creates no array and keeps none: it works on the
        arrays of its caller.

    Returns
    -------
    callable
        The same function, compiled as `kernel` does.
    """
    options: dict[str, Any] = {"cache": True, "nogil": True, "_nrt": False}
    return cast("Callable[Arguments, Returned]", numba.njit(**options)(function))
