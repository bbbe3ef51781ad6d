"""A compiler for the runner's tests: counts in a file how often it ran. Runs in the worker."""

import os
from pathlib import Path

from kanon_pg.core.code_folders import CODE_FOLDER


def warm_up(kernels: str, report) -> tuple[str, ...]:
    log = Path(os.environ[CODE_FOLDER], "runs")
    log.write_text((log.read_text() if log.exists() else "") + "x")
    report(kernels)
    return ("runs",)
