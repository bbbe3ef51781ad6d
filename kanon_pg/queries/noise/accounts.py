"""What the accounts of people still hold: by login, and in total, because logins can collude."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kanon_pg.db.protocol import Database
from kanon_pg.db.statements import statement
from kanon_pg.queries.noise.mechanism import Loss, capacity, epsilon_of, together
from kanon_pg.queries.noise_settings import NoiseSettings
from kanon_pg.queries.protection_rules import fetch_rules
from kanon_pg.queries.record.records import open_record


def accounts(db: Database, *, folder: str | None = None) -> list[dict[str, Any]]:
    """Return a row for each login that got noise, and one without a login for all, by space of people.

    ``epsilon`` and ``delta`` are those of the account, at which ``epsilon_spent`` is; ``delta_spent`` is that
    of thresholds; ``share_left`` is what a block costs a part of.
    """
    table = []
    for row in db.rows(statement("list_records")):
        _, record = open_record(db, row["space"], folder)
        spent = record.spent()
        rules = fetch_rules(db, row["space"])
        settings = None if rules is None else rules.noise
        if settings is None and not spent:
            continue
        # a table of people need not answer itself: what was recorded last says how large the account is
        epsilon, delta = spent[-1][1][2:] if settings is None else (settings.epsilon, settings.delta)
        for login in (None, *sorted({login for login, _ in spent})):
            losses = [Loss(*loss[:2]) for one, loss in spent if login in {None, one}]
            share = 1.0 if login is None else _share(settings)
            table.append(
                {"relation": row["relation"], "login": login} | _account(losses, epsilon, delta, share)
            )
    return table


def _share(settings: NoiseSettings | None) -> float:
    return 1.0 if settings is None else settings.per_login


def _account(losses: Sequence[Loss], epsilon: float, delta: float, share: float) -> dict[str, Any]:
    total, account = together(losses), capacity(epsilon, delta)
    spent = epsilon_of(losses, delta)
    return {
        "answers": len(losses),
        "epsilon": epsilon,
        "delta": delta,
        "epsilon_spent": spent,
        "epsilon_left": max(0.0, epsilon - spent),
        "delta_spent": total.delta,
        "share_left": max(0.0, min(share - total.rho / account.rho, share - total.delta / account.delta)),
    }
