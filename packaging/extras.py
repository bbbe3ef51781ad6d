"""Move what only some extras need out of an environment: python packaging/extras.py ENVIRONMENT FOLDER."""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

KEPT = {"policy", "metrics"}
"""Extras that are small."""


def main(environment: Path, folder: Path) -> None:
    """Move the files of every distribution that kanon-pg with `KEPT` does not require."""
    installed = {canonicalize_name(one.name): one for one in metadata.distributions(path=[str(environment)])}
    needed: set[str] = set()
    waiting = [("kanon-pg", KEPT)]
    while waiting:
        name, extras = waiting.pop()
        needed.add(name)
        for requirement in map(Requirement, installed[name].requires or ()):
            required = canonicalize_name(requirement.name)
            wanted = [{"extra": extra} for extra in ("", *extras)]
            if required in needed or required not in installed:
                continue
            if requirement.marker is None or any(map(requirement.marker.evaluate, wanted)):
                waiting.append((required, requirement.extras))
    for name in installed.keys() - needed:
        for file in installed[name].files or ():
            source = environment / file
            if source.is_file():
                target = folder / file
                target.parent.mkdir(parents=True, exist_ok=True)
                source.rename(target)
    for left in sorted(environment.rglob("*"), reverse=True):
        if left.is_dir() and not any(left.iterdir()):
            left.rmdir()


main(*map(Path, sys.argv[1:]))
