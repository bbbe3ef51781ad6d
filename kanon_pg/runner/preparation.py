"""What comes before a worker is started for a session: its memory budget, and its solvers compiled."""

from __future__ import annotations

from kanon_pg.db.protocol import Database
from kanon_pg.db.queries import statement
from kanon_pg.runner.limits import default_memory_budget, parse_memory_size
from kanon_pg.runner.parent import compile_solvers, solvers_are_compiled


def memory_budget(db: Database) -> int:
    """Return the memory budget in bytes: ``kanon.memory_budget``, else a share of the machine.

    Raises
    ------
    InputError
        If the setting is not a memory size.
    """
    asked = db.row(statement("session_settings"))["memory_budget"]
    return parse_memory_size(asked) if asked else default_memory_budget()


COMPILED = {
    "plain": "the solvers for k-anonymity",
    "models": "the solvers for privacy models (l, p, t)",
    "pairs": "the method 'pairs'",
    "audit": "what audits use",
    "recoding": "the solvers for hierarchies",
}
"""What each set of `kanon_pg.core.request.KERNELS` is for, in the words of a notice."""


def compile_once(db: Database, memory_bytes: int, kernels: str) -> None:
    """Compile solvers unless that was done ahead; the time limit is not for that.

    Parameters
    ----------
    db : Database
        Its user is told what takes so long.
    memory_bytes : int
        Budget of the worker.
    kernels : str
        A name of `kanon_pg.core.request.KERNELS`.
    """
    if not solvers_are_compiled(kernels):
        db.notice(
            f"Compiling {COMPILED[kernels]}, for this account of the operating system alone; this takes a "
            "minute or two. Whoever owns the installed package can spare all accounts that: `kanon compile`."
        )
        db.progress("compiling")
        compile_solvers(
            kernels, checkpoint=db.checkpoint, progress=lambda *_: None, memory_bytes=memory_bytes
        )
