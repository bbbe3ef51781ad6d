"""Compare what each part of the project has in lines and files with what docs/architecture.md allows it.

    python -m tests.sizes

Growth is a decision: whoever outgrows a row raises it, in the same diff.
"""

import re
import sys
from pathlib import Path

_ROOT = Path(__file__).parents[1]
_ROW = re.compile(r"^\| `([a-z_./]+)` \| ([0-9,]+) \| ([0-9,]+) \|", re.MULTILINE)
_WITH_ROWS = ("kanon_pg", "kanon_pg/worker")
"""Folders each of whose own folders has a row, so that no part is left out."""


def size(part: str) -> tuple[int, int]:
    """Return the lines and files of a part: those of Python, of `sql` all."""
    path = _ROOT / part
    pattern = "*" if part == "sql" else "*.py"
    files = [path] if path.is_file() else [file for file in path.rglob(pattern) if file.is_file()]
    return sum(file.read_bytes().count(b"\n") for file in files), len(files)


def complaints(page: str) -> list[str]:
    """Return what is wrong with a page's table of sizes, or with the tree by it."""
    rows = {part: (_number(lines), _number(files)) for part, lines, files in _ROW.findall(page)}
    wrong = [
        f"{folder.relative_to(_ROOT)} has no row"
        for above in _WITH_ROWS
        for folder in sorted((_ROOT / above).iterdir())
        if (folder / "__init__.py").exists() and str(folder.relative_to(_ROOT)) not in rows
    ]
    for part, allowed in rows.items():
        counted = size(part)
        for what, most, there in zip(("lines", "files"), allowed, counted, strict=True):
            if there > most:
                wrong.append(f"{part} has {there:,} {what}, its row allows {most:,}")
            if not there:
                wrong.append(f"{part} has no {what}: its row is of something else")
    return wrong


def _number(text: str) -> int:
    return int(text.replace(",", ""))


if __name__ == "__main__":
    found = complaints((_ROOT / "docs" / "architecture.md").read_text())
    sys.exit("\n".join(found) or 0)
