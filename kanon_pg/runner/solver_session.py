"""The worker that solves for this process. It can be started before what has work for it is imported."""

from __future__ import annotations

from typing import Any

from kanon_pg.runner import launch
from kanon_pg.runner.limits import more_memory
from kanon_pg.runner.session import Session


def _start(**chosen: Any) -> launch.Worker:
    return launch.start_process(**chosen)


solver_session = Session(_start, "solver", more_memory)
