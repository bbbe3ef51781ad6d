"""A compiler for the runner's tests: counts in a file how often it ran. Runs in the worker."""

import os
from pathlib import Path


def warm_up(kernels: str) -> None:
    log = Path(os.environ["NUMBA_CACHE_DIR"], "runs")
    log.write_text((log.read_text() if log.exists() else "") + "x")
