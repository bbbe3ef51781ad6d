"""Libraries that few commands need, and that not every installation has."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from kanon_pg.errors import InstallError

_EXTRAS = {"matplotlib": "plots", "pyarrow": "files"}
"""Which extra of the package brings a library."""


@contextmanager
def extras_required() -> Iterator[None]:
    """Say which extra of the package brings a library that the block needs and that is not installed.

    Raises
    ------
    InstallError
        In place of the error of the import.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library not in _EXTRAS:
            raise
        raise InstallError(
            f"This needs the library {library}, which is not installed.",
            hint=f"pip install 'kanon_pg[{_EXTRAS[library]}]', or all that the commands need: "
            f"'kanon_pg[{','.join(_EXTRAS.values())}]'.",
        ) from error
