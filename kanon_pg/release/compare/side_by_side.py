"""The notice of who publishes: what the readers of a release see together with others that they may read."""

from __future__ import annotations

from collections.abc import Sequence

from kanon_pg.db.failures import SERIALIZATION_FAILURE
from kanon_pg.db.identifiers import Identifier, Literal, array_element
from kanon_pg.db.protocol import Database, Row, undone
from kanon_pg.db.statements import statement
from kanon_pg.errors import DatabaseError, KanonError, LimitExceeded
from kanon_pg.release.compare.composition import MOST, Composition, CompositionRequest, composition

_MOST_ROWS = 1_000_000
"""Rows of all releases that are compared unasked: it takes about as long as to refresh them."""

_INTERVENTION = ("57", "08")
"""Classes of SQLSTATE: somebody intervened (a cancelled statement, a limit, a shutdown); no connection."""


def notice_side_by_side(db: Database, release: str, *, role: str) -> None:
    """Say what the readers of a new release see together with others of the same table."""
    others = db.rows(statement("releases_for_same_readers"), release)[: MOST - 1]
    same = [row for row in others if row["is_same"]]
    if same:
        _notice_together(db, release, same, role)
    if len(same) < len(others):  # of views, partitions: rows may not be matched
        _notice_together(db, release, others, role)


def _notice_together(db: Database, release: str, others: Sequence[Row], role: str) -> None:
    names = [release, *(row["release"] for row in others)]
    first, *more = others[0]["readers"]
    who = str(Identifier.of(first))
    if more:
        who += f" and {len(more)} other role" + ("s" if len(more) > 1 else "")
    views = ", ".join(str(Identifier.of("safe", name)) for name in names)
    array = "{" + ",".join(map(array_element, names)) + "}"
    call = f"SELECT * FROM kanon_composition({Literal(array)});"
    if sum(row["rows"] for row in others) + others[0]["own_rows"] > _MOST_ROWS:
        db.notice(f"{who} may read {views}. {call} says what they disclose together.")
        return
    whole = _compared_or_error(db, names, role)
    if isinstance(whole, KanonError):
        why = " ".join(filter(None, (whole.message, whole.hint)))
        db.notice(f"{who} may read {views}. What they disclose together is not known: {why}")
        return
    db.notice(f"{who} may read {views}: together these leave {_left_by(whole)}. {call} says more.")


def _compared_or_error(db: Database, names: Sequence[str], role: str) -> Composition | KanonError:
    """Compare releases; what prevents it is returned, but for what ends the whole call.

    The comparison locks the other releases, which a call that publishes one of them wants for itself, while
    it may compare this one: so it is undone.
    """
    try:
        with undone(db):
            whole, *_ = composition(db, CompositionRequest(names), role=role)
    except KanonError as error:
        if _ends_the_call(error):
            raise
        return error
    return whole


def _ends_the_call(error: KanonError) -> bool:
    """Whether the user or a limit stopped the call, or it cannot be completed whatever it does next."""
    if isinstance(error, DatabaseError):
        state = error.server_state
        return state is None or state == SERIALIZATION_FAILURE or state.startswith(_INTERVENTION)
    return isinstance(error, LimitExceeded)


def _left_by(whole: Composition) -> str:
    if not whole.people_below:
        return f"nobody among fewer than {whole.k}"
    return (
        f"{whole.people_below} of {whole.people} people among fewer than {whole.k}, somebody among "
        f"{whole.smallest}"
    )
