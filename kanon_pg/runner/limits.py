"""Memory budgets: how much a worker may use, and how the operating system is made to enforce it."""

from __future__ import annotations

import re
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

from kanon_pg.errors import InputError

_UNITS = {"B": 0, "kB": 1, "MB": 2, "GB": 3, "TB": 4}
_SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?)\s*([A-Za-z]+)\s*", re.ASCII)
_SHARE_OF_AVAILABLE = Fraction(1, 2)
_UNKNOWN_MACHINE = 2 * 1024**3

_CONTROL_GROUPS = (  # limit, use, key prefix in memory.stat: unified hierarchy, then the older one
    ("memory.max", "memory.current", ""),
    ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_"),
)


def parse_memory_size(text: str, *, setting: str = "kanon.memory_budget") -> int:
    """Return the bytes that a size in PostgreSQL's notation stands for.

    Parameters
    ----------
    text : str
        A positive number and a unit (``4GB``, ``1.5 GB``); units are ``B``, ``kB``, ``MB``, ``GB`` and ``TB``
        in multiples of 1024, upper and lower case as in PostgreSQL's own settings.

    Raises
    ------
    InputError
        The text is not such a size, or is less than one byte.
    """
    match = _SIZE.fullmatch(text)
    if match is None or match[2] not in _UNITS:
        raise InputError(
            f'The value of "{setting}" is not a size of memory.',
            hint=f'Give a number and a unit (one of {", ".join(_UNITS)}), for example "4GB".',
        )
    size = int(Fraction(match[1]) * 1024 ** _UNITS[match[2]])
    if size < 1:
        raise InputError(
            f'The value of "{setting}" must be more than nothing.',
            hint='Give for example "4GB", or reset the setting to have a share of the free memory.',
        )
    return size


def format_memory_size(size: int) -> str:
    """Return a number of bytes in the largest unit that leaves at least one, rounded down to a tenth."""
    for unit in reversed(_UNITS):
        factor = 1024 ** _UNITS[unit]
        if size >= factor:
            tenths = size * 10 // factor
            return f"{tenths // 10} {unit}" if tenths % 10 == 0 else f"{tenths // 10}.{tenths % 10} {unit}"
    return "0 B"


def more_memory(budget: int) -> str:
    """Return the hint for a request that exceeded its budget."""
    return (
        f"Raise the setting kanon.memory_budget (it was {format_memory_size(budget)}) if the machine has "
        "more memory, or choose fewer quasi-identifiers."
    )


def more_free_memory(budget: int) -> str:
    """Return the hint for a job that exceeded `default_memory_budget`, which no setting raises."""
    return (
        f"It may use half of the memory that is available (half was {format_memory_size(budget)}): free some "
        "on this machine, or give it more."
    )


def default_memory_budget(root: Path = Path("/")) -> int:
    """Return half of the memory that is available to this process now, in bytes.

    Available is the least of what the machine reports and of what each enclosing control group has
    left; file cache counts as available.
    """
    available = [_available_on_machine(root), *_available_in_groups(root)]
    return int(min(available) * _SHARE_OF_AVAILABLE)


def _available_on_machine(root: Path) -> int:
    for line in _lines(root / "proc/meminfo"):
        name, _, amount = line.partition(":")
        if name == "MemAvailable":
            return int(amount.split()[0]) * 1024
    return _UNKNOWN_MACHINE


def _available_in_groups(root: Path) -> Iterator[int]:
    for line in _lines(root / "proc/self/cgroup"):
        _, controllers, path = line.split(":", 2)
        if controllers not in ("", "memory"):
            continue
        top = root / "sys/fs/cgroup" / controllers
        # Inside a container the path may be the host's, which does not exist here: then only the top counts.
        group = top / path.lstrip("/")
        for folder in (group, *group.parents):
            yield from _left_in(folder)
            if folder == top:
                break


def _left_in(folder: Path) -> Iterator[int]:
    for limit_name, use_name, prefix in _CONTROL_GROUPS:
        limit, use = _lines(folder / limit_name), _lines(folder / use_name)
        if limit and use and limit[0].isdecimal():
            cache = {f"{prefix}active_file", f"{prefix}inactive_file"}
            pairs = (line.split() for line in _lines(folder / "memory.stat"))
            reclaimable = sum(int(pair[1]) for pair in pairs if pair[0] in cache)
            yield max(0, int(limit[0]) - int(use[0]) + reclaimable)


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text().splitlines()
    except OSError:
        return []


@contextmanager
def limited_memory(budget: int) -> Iterator[None]:
    """Let this process grow by at most `budget` bytes of address space within the block.

    Allocations beyond it fail, in native code too; the soft limit of before is restored at the end.
    """
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    wanted = pages * resource.getpagesize() + budget
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    allowed = [limit for limit in (wanted, soft, hard) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min(allowed), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
