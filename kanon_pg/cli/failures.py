"""What stops a command, as an error of this package: what libraries and the database driver raise, too."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from kanon_pg.core.extras import EXTRAS, missing


@contextmanager
def known_errors() -> Iterator[None]:
    """Raise as an error of this package what the block raises because of the database or of a library.

    Raises
    ------
    DatabaseError
        In place of an error of the database driver, also one that passes the services: a cancellation, and
        what a commit meets.
    InstallError
        In place of the error of an import, if an extra of the package brings the library.
    """
    with _extras_required():
        try:
            yield
        except Exception:
            # not imported here: what did not import the driver has no errors of it, and needs no time for it
            adapter = sys.modules.get("kanon_pg.db.psycopg_adapter")
            if adapter is None:
                raise
            with adapter.every_error_mapped():
                raise


@contextmanager
def _extras_required() -> Iterator[None]:
    """Say which extra of the package brings a library that the block needs and that is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library not in EXTRAS:
            raise
        raise missing(library) from error
