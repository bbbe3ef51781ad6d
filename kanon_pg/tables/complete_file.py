"""Files and folders that appear complete or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from kanon_pg.errors import InputError


@contextmanager
def complete_or_absent(path: Path, name: str, *, private: bool = False) -> Iterator[BinaryIO]:
    """Open a file beside `path` that takes its place if the block succeeds.

    A pipe or a device (``/dev/stdout``) is written to as it is: nothing could take its place.

    Parameters
    ----------
    private : bool
        Whether this account alone may read the file, from its beginning on.
    """
    try:
        if path.exists() and not path.is_file():
            with path.open("wb") as file:
                yield file
        else:
            with _beside(path, 0o600 if private else 0o666) as file:
                yield file
    except OSError as error:
        raise InputError(f"{name} cannot be written: {error.strerror}.", hint="Name another file.") from error


@contextmanager
def complete_or_absent_folder(path: Path) -> Iterator[Path]:
    """Make a folder beside `path` that takes its place, or that of an empty one, if the block succeeds.

    Raises
    ------
    InputError
        If there is something already, but for an empty folder.
    """
    part = path.parent / f".{secrets.token_hex(8)}.part"
    try:
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise InputError(f"{path} exists already.", hint="Name a folder that is not there, or empty.")
        part.mkdir()
        yield part
        part.replace(path)
    except OSError as error:
        raise InputError(
            f"The folder {path} cannot be written: {error.strerror}.", hint="Name another folder."
        ) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


@contextmanager
def _beside(path: Path, mode: int) -> Iterator[BinaryIO]:
    part = path.parent / f".{secrets.token_hex(8)}.part"
    try:
        with open(part, "xb", opener=lambda file, flags: os.open(file, flags, mode)) as file:
            yield file
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
