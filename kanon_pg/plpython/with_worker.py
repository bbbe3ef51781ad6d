"""The modules whose functions have work for a worker, which loads its libraries while they are imported."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from kanon_pg import plpython
from kanon_pg.errors import KanonError
from kanon_pg.runner.launch import AUDITOR, SOLVER
from kanon_pg.runner.parent import solver_session


def __getattr__(name: str) -> Any:
    with suppress(KanonError):  # it is tried again for its work, in which errors reach the user
        solver_session.start(prepared=AUDITOR if name == "analyses" else SOLVER)
    return getattr(plpython, name)
