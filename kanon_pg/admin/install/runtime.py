"""A copy of this package and of what the server needs beside it, in a folder that the server can read."""

from __future__ import annotations

import compileall
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from importlib import metadata
from importlib.util import cache_from_source
from pathlib import Path

import kanon_pg
from kanon_pg.core.code_folders import STORE
from kanon_pg.db.queries import sql_root
from kanon_pg.runner.compilation import share_compiled

_REQUIRED = ("jinja2", "sqlglot", "pyroaring", "numpy", "numba", "ortools")
_NOT_NEEDED = {"pandas", "absl-py", "immutabledict", "typing-extensions"}
"""What OR-Tools requires for modules of it that the solvers never load."""

_LEFT_OUT = {"..", "tests", "__pycache__"}
"""Parts of paths: programs outside the packages' folder, tests (half of all files), bytecode as listed."""

_APART = ("_sql/", f"{STORE}/")
"""Folders of the package that are copied by themselves."""

_NAME = re.compile(r"^[A-Za-z0-9._-]+")


def copy_runtime(parent: Path) -> Path:
    """Copy everything into a new folder below `parent`, unless the same is there already.

    Parameters
    ----------
    parent : Path
        Made if missing.

    Returns
    -------
    Path
        ``<parent>/<version>-<digest>``; complete, readable by everybody, writable by its owner only.
    """
    package, distributions = _package_files(), _distributions()
    target = parent / f"{kanon_pg.__version__}-{_digest(package, distributions)}"
    if target.is_dir():
        share_compiled(target / "kanon_pg")
        return target
    parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    building = Path(tempfile.mkdtemp(prefix=".building-", dir=parent))
    try:
        for name, source in [*package, *_distribution_files(distributions)]:
            copy = building / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, copy)  # with its time, which tells whether compiled files are fresh
        compileall.compile_dir(building, quiet=2, stripdir=str(building), prependdir=str(target), workers=1)
        _open_for_reading(building)
        building.rename(target)
    finally:
        shutil.rmtree(building, ignore_errors=True)
    share_compiled(target / "kanon_pg")
    return target


def _package_files() -> list[tuple[str, Path]]:
    package = Path(kanon_pg.__file__).resolve().parent
    found = [(f"kanon_pg/{name}", path) for name, path in _files(package) if not name.startswith(_APART)]
    return found + [(f"kanon_pg/_sql/{name}", path) for name, path in _files(sql_root())]


def _files(root: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted(root.rglob("*")):
        if path.is_file():
            yield path.relative_to(root).as_posix(), path


def _distributions() -> list[metadata.Distribution]:
    """Return the required distributions and, transitively, what they require without extras."""
    found: dict[str, metadata.Distribution] = {}
    waiting = list(_REQUIRED)
    while waiting:
        name = waiting.pop().lower().replace("_", "-")
        if name in found:
            continue
        found[name] = metadata.distribution(name)
        for requirement in found[name].requires or ():
            match = _NAME.match(requirement)
            if match and ";" not in requirement and match.group() not in _NOT_NEEDED:
                waiting.append(match.group())
    return [found[name] for name in sorted(found)]


def _distribution_files(distributions: list[metadata.Distribution]) -> Iterator[tuple[str, Path]]:
    for distribution in distributions:
        for file in distribution.files or ():
            if not _LEFT_OUT.intersection(file.parts):
                path = Path(str(distribution.locate_file(file)))
                yield file.as_posix(), path
                # installers need not list the bytecode, which is fresh in the copy, too
                if path.suffix == ".py" and (bytecode := Path(cache_from_source(str(path)))).exists():
                    yield (file.parent / "__pycache__" / bytecode.name).as_posix(), bytecode


def _digest(package: list[tuple[str, Path]], distributions: list[metadata.Distribution]) -> str:
    digest = hashlib.blake2b(digest_size=6)
    for distribution in distributions:
        digest.update(f"{distribution.name} {distribution.version}\n".encode())
    for name, path in package:
        if "__pycache__" in path.parts:
            continue
        digest.update(f"{name}\n".encode() + hashlib.blake2b(path.read_bytes()).digest())
    return digest.hexdigest()


def _open_for_reading(root: Path) -> None:
    root.chmod(0o755)
    for folder, folders, files in os.walk(root):
        for name in folders:
            Path(folder, name).chmod(0o755)
        for name in files:
            Path(folder, name).chmod(0o644)
