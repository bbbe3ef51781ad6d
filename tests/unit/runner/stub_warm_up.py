"""A compiler for the runner's tests: counts in a file how often it ran. Runs in the worker."""

import os
from pathlib import Path

from kanon_pg.core.code_folders import CODE_FOLDER


def warm_up(kernels: str, report) -> tuple[str, ...]:
    folder = Path(os.environ[CODE_FOLDER])
    if (folder / "broken").exists() and kernels == "pairs":
        raise ValueError("a defect")
    log = folder / f"runs-{kernels}"
    log.write_text((log.read_text() if log.exists() else "") + "x")
    report(kernels)
    return (log.name,)
