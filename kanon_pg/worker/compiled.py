"""The one way in which kernels are compiled: typed for the type checker, kept on disk.

Numba's own cache keeps code by the place of its source and writes where it reads. Here code is kept by what
it is made of, so that copies of the package share it: in a store beside the package that every account reads,
else in this account's own folder (see `kanon_pg.core.code_folders`).
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import os
import pickle
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, ParamSpec, TypeVar, cast

import numba
import numpy as np
from llvmlite import binding as llvm
from numba import types
from numba.core import compiler, serialize
from numba.core.caching import _Cache
from numba.core.registry import CPUDispatcher
from numba.core.runtime import rtsys

from kanon_pg.core.code_folders import CODE_FOLDER, code_in, folders, own_folder, processor

Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")

# the whole of a processor's level and nothing beyond, so that the code runs wherever the level does
numba.config.CPU_NAME, numba.config.CPU_FEATURES = processor(), ""

_FORM = 2
"""Counts the forms that `_KernelCache` gave its files."""

_used: dict[str, None] = {}
_digests: dict[str, str] = {}
_watchers: list[Callable[[str], None]] = []


def kernel(function: Callable[Arguments, Returned]) -> Callable[Arguments, Returned]:
    """Compile a function to machine code that runs without the interpreter lock.

    It works on NumPy arrays, within numba's nopython subset; it is compiled at its first call for each
    signature and kept on disk.
    """
    # Explicit: a kernel compiled within an inner one would inherit that references are not counted, and fail.
    return cast("Callable[Arguments, Returned]", _Kernel(function, {}, _OPTIONS | {"_nrt": True}))


def inner_kernel(function: Callable[Arguments, Returned]) -> Callable[Arguments, Returned]:
    """Compile a function that kernels call millions of times, without counting references to its arrays.

    Numba counts references to an array whenever it is taken out of a named tuple; in short functions the
    atomic counters cost more than the work, and all of them are compiled. So the function must create no
    array and keep none.
    """
    return cast("Callable[Arguments, Returned]", _Kernel(function, {}, _OPTIONS | {"_nrt": False}))


def used_files() -> tuple[str, ...]:
    """Return the files of all compiled code that this process has loaded or written and called."""
    return tuple(_used)


@contextmanager
def watched(watcher: Callable[[str], None]) -> Iterator[None]:
    """Have the name of every kernel reported that becomes ready within the block."""
    _watchers.append(watcher)
    try:
        yield
    finally:
        _watchers.remove(watcher)


_OPTIONS = {"nopython": True, "nogil": True, "boundscheck": None, "no_cfunc_wrapper": True}


class _Kernel(CPUDispatcher):  # type: ignore[misc]  # numba has no types
    """A compiled function; what kernels call is compiled apart from what Python calls.

    Kernels need no conversion of Python objects, whose code is long for named tuples of arrays. And they call
    with numbers of many types (narrow ones, constants), each of which would make a signature of its own.
    """

    def __init__(
        self,
        py_func: Callable[..., Any],
        locals: dict[str, Any],  # noqa: A002 - numba calls it by name
        targetoptions: dict[str, Any],
    ) -> None:
        # numba would compile what a function without counted references calls without them, too
        super().__init__(py_func, locals, {"_nrt": True} | targetoptions)
        self.given_options = dict(targetoptions)
        self._cache = _KernelCache(py_func, targetoptions)
        self._called_by_kernels: _Kernel | None = None

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return how a kernel calls this one; for numba's compiler."""
        _, args = self._compiler.fold_argument_types(args, kws)
        inner = self._inner()
        return super(_Kernel, inner).get_call_template([_widest(one) for one in args], {})

    def get_overload(self, sig: Any) -> Any:
        """Return what a kernel calls; for numba's compiler."""
        return super(_Kernel, self._inner()).get_overload(sig)

    def _inner(self) -> _Kernel:
        if self._called_by_kernels is None:
            options = self.given_options | {"no_cpython_wrapper": True}
            self._called_by_kernels = _Kernel(self.py_func, {}, options)
        return self._called_by_kernels


def _widest(argument: Any) -> Any:
    plain = types.unliteral(argument)
    is_narrow = isinstance(plain, types.Integer) and plain.signed and not isinstance(argument, types.Omitted)
    return types.int64 if is_narrow else plain


class _KernelCache(_Cache):  # type: ignore[misc]  # numba has no types
    """The compiled code of a kernel, a file for each signature; what numba expects of a cache."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        self._function = function
        self._options = sorted(options.items())
        self._enabled = True

    @property
    def cache_path(self) -> str:
        return str(_own())

    def enable(self) -> None:
        self._enabled = True

    def disable(self) -> None:
        self._enabled = False

    def flush(self) -> None:
        """Nothing is outdated: other sources have other names."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        # all that loading needs of what `refresh` does, which imports what a compiler needs
        rtsys.initialize(target_context)
        name = self._name(sig)
        for folder in _folders():
            stored = code_in(folder, name)
            if stored is not None:
                with suppress(Exception):  # a file that is cut off is compiled and written anew
                    result = compiler.CompileResult._rebuild(target_context, *pickle.loads(stored))  # noqa: S301
                    self._note(name)
                    return result
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        if data.library.has_dynamic_globals or data.lifted:
            raise TypeError(
                f"{self._function.__qualname__} cannot be kept: it uses what this process alone has"
            )
        name = self._name(sig)
        with suppress(OSError):  # it is compiled again where it cannot be written
            _write(_own() / name, serialize.dumps(self._what_is_loaded(data)))
        self._note(name)

    def _what_is_loaded(self, data: Any) -> Any:
        """Return what `load_overload` rebuilds code from.

        That takes five times as long with what it has no use for: the environments of what is called (for
        Python objects, of which kernels have none), and the code for the compiler, if no kernel calls this
        one. Of that only the names are read then.
        """
        library, description, *others, _environments = data._reduce()
        if self._is_called_by_python:
            name, kind, (code, _for_the_compiler) = library
            names = (description.llvm_func_name, description.llvm_cpython_wrapper_name)
            named = "".join(f'define void @"{one}"() {{ ret void }}\n' for one in names)
            library = name, kind, (code, llvm.parse_assembly(named).as_bitcode())
        return library, description, *others, ()

    def _name(self, sig: Any) -> str:
        digest = _digest(self._function)
        # Code is linked by this name, so that a kernel would call whichever of two was loaded first.
        name = f"{self._function.__module__}.{self._function.__qualname__}"
        if _digests.setdefault(name, digest) != digest:
            raise TypeError(f"two kernels have the name {name}; give each a __qualname__ of its own")
        made_of = repr((_FORM, digest, str(sig), self._options))
        return f"{self._function.__name__}-{hashlib.sha256(made_of.encode()).hexdigest()[:24]}"

    @property
    def _is_called_by_python(self) -> bool:
        return "no_cpython_wrapper" not in dict(self._options)

    def _note(self, name: str) -> None:
        if self._is_called_by_python:  # it contains the code of those that it calls
            _used[name] = None
        for watcher in _watchers:
            watcher(f"{self._function.__module__}.{self._function.__qualname__}")


@functools.cache
def _folders() -> tuple[Path, ...]:
    return folders(_own())


@functools.cache
def _own() -> Path:
    given = os.environ.get(CODE_FOLDER)
    if given is not None:
        return Path(given)
    own = own_folder()
    if own.temporary:
        atexit.register(shutil.rmtree, own.folder, ignore_errors=True)
    return own.folder


@functools.cache
def _digest(function: Callable[..., Any]) -> str:
    """Return what changes with a kernel, with any kernel that it calls, and with any constant that they use.

    Compiled code contains all of them. Names of modules count, because they are in the names that code is
    linked by: a kernel that has moved is compiled again.
    """
    return hashlib.sha256("\n".join(_ingredients(function, {function})).encode()).hexdigest()


def _ingredients(function: Callable[..., Any], met: set[Any]) -> Iterator[str]:
    yield f"{function.__module__}.{function.__qualname__} {function.__defaults__!r}"
    yield from _of_code(function.__code__)
    names, cells = _names(function.__code__), function.__closure__ or ()
    used = {name: value for name, value in function.__globals__.items() if name in names}
    used |= {name: one.cell_contents for name, one in zip(function.__code__.co_freevars, cells, strict=True)}
    for name, value in sorted(used.items()):
        yield f"{name} {_of_value(value)}"
        if isinstance(value, _Kernel) and value.py_func not in met:
            met.add(value.py_func)
            yield repr(sorted(value.given_options.items()))
            yield from _ingredients(value.py_func, met)


def _names(code: CodeType) -> set[str]:
    inside = (_names(constant) for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*inside)


def _of_code(code: CodeType) -> Iterator[str]:
    yield f"{code.co_code!r} {code.co_names} {code.co_varnames}"
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _of_code(constant)
        else:
            yield repr(constant)


def _of_value(value: Any) -> str:
    """Return in words what a kernel finds under a global name."""
    if isinstance(value, ModuleType):
        if value.__name__.startswith("kanon_pg"):
            raise TypeError(
                f"a kernel names what it uses of {value.__name__}; the whole module cannot be compared"
            )
        return value.__name__
    if isinstance(value, type):
        return f"{value.__module__}.{value.__qualname__} {getattr(value, '_fields', '')}"
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape} {value.tobytes()!r}"
    if isinstance(value, _Kernel) or callable(value):
        return f"{value.__module__}.{value.__name__}"
    return f"{type(value).__name__} {value!r}"


def _write(file: Path, content: bytes) -> None:
    number, part = tempfile.mkstemp(dir=file.parent, prefix=".part-")
    try:
        with os.fdopen(number, "wb") as opened:
            opened.write(content)
        Path(part).replace(file)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise
