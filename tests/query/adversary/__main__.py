"""Prints what each strategy learns, and for how many refusals, under each set of rules.

An attacker as a program: strategies adapt to answers, over hundreds of queries, about many victims. Names of
rules and strategies as arguments choose some.
"""

from __future__ import annotations

import sys
from typing import Any

import psycopg

from kanon_pg.admin.install.installer import install
from tests.fixtures.databases import private_server
from tests.query.adversary.figures import attack
from tests.query.adversary.strategies import OTHERS, REFUSAL_BITS, percentiles
from tests.query.adversary.town import build

RULES: dict[str, dict[str, Any]] = {
    "default": {},
    "strict": {"strict": True},
    "linear": {"ledger": "linear"},
    "simulatable": {"simulatable": True},
}


def main(chosen: list[str]) -> None:
    """Print the figures."""
    strategies = {**REFUSAL_BITS, **OTHERS, "percentiles": percentiles}
    rules = [name for name in RULES if name in chosen] or list(RULES)
    names = [name for name in strategies if name in chosen] or list(strategies)
    with private_server("adversary") as server, server.database("town") as name:
        dsn = server.dsn(name)
        install(dsn, plpython=True)
        with psycopg.connect(dsn, autocommit=True) as admin:
            town = build(dsn, admin, seed=3)
            for rule in rules:
                for strategy in names:
                    found = attack(town, strategies[strategy], RULES[rule])
                    sys.stdout.write(f"{rule:12} {strategy:24} {found.line()}\n")
                    for text in found.explained:
                        sys.stdout.write(f"    {text[:300]}\n")
                    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
