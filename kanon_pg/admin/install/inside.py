"""Runs a function of this package inside the server before, or after, the package can be imported there."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from kanon_pg.db.identifiers import Literal
from kanon_pg.db.protocol import Database
from kanon_pg.db.queries import statement


@contextmanager
def inside_server(db: Database, function: Callable[[str], str]) -> Iterator[Callable[[str], str]]:
    """Let the server's Python run a function, by the source text of its whole module.

    Parameters
    ----------
    db : Database
        A superuser's; plpython3u must exist.
    function : callable
        Of a module that uses the standard library alone and no annotations from elsewhere; takes and returns
        text.

    Yields
    ------
    callable
        The same function, running in the server as the server's user, until the block ends.
    """
    source = inspect.getsource(inspect.getmodule(function) or function)
    body = f"{source}\nreturn {function.__name__}(arguments)\n"
    db.execute(statement("create_probe", body=Literal(body)))

    def ask(question: str) -> str:
        answer: str = db.row(statement("run_probe"), question)["answer"]
        return answer

    yield ask
    db.execute(statement("drop_probe"))
