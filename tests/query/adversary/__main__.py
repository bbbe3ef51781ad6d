"""Prints what each strategy learns, and for how many refusals, under each set of rules.

An attacker as a program: strategies adapt to answers, over hundreds of queries, about many victims. Names of
rules and strategies as arguments choose some; ``dashboard`` runs an honest analyst's queries instead.
"""

from __future__ import annotations

import argparse
import sys
from contextlib import ExitStack
from itertools import product
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo

from kanon_pg.admin.install.installer import install
from tests.fixtures.databases import private_server
from tests.query.adversary.dashboard import ask_all, build_hospital, reasons_of
from tests.query.adversary.figures import attack
from tests.query.adversary.strategies import NEAR_K, OTHERS, REFUSAL_BITS, bisection, percentiles
from tests.query.adversary.town import EVE, build

RULES: dict[str, dict[str, Any]] = {
    "default": {},
    "strict": {"strict": True},
    "linear": {"ledger": "linear"},
    "simulatable": {"simulatable": True},
}


STRATEGIES = {
    **REFUSAL_BITS,
    **NEAR_K,
    **OTHERS,
    "percentiles": percentiles,
    "bisection": bisection,
}

DASHBOARD = "dashboard"


def main(chosen: list[str]) -> None:
    """Print the figures."""
    if chosen == [DASHBOARD]:
        _dashboard()
        return
    rules = [name for name in RULES if name in chosen] or list(RULES)
    names = [name for name in STRATEGIES if name in chosen] or list(STRATEGIES)
    with private_server("adversary") as server, ExitStack() as stack:
        worlds = []
        for world in range(2):
            dsn = server.dsn(stack.enter_context(server.database(f"town{world}")))
            install(dsn, plpython=True)
            admin = stack.enter_context(psycopg.connect(dsn, autocommit=True))
            worlds.append(build(dsn, admin, 3, world))
        for rule in rules:
            for strategy in names:
                found = attack(worlds, STRATEGIES[strategy], RULES[rule])
                sys.stdout.write(f"{rule:12} {strategy:24} {found.line()}\n")
                for text in found.explained:
                    sys.stdout.write(f"    {text[:300]}\n")
                sys.stdout.flush()


def _dashboard() -> None:
    with private_server("dashboard") as server, ExitStack() as stack:
        for patients, seed in product((2_000, 10_000, 30_000), range(1, 4)):
            dsn = server.dsn(stack.enter_context(server.database(f"hospital_{patients}_{seed}")))
            install(dsn, plpython=True)
            with psycopg.connect(dsn, autocommit=True) as admin:
                build_hospital(admin, patients, {})
                with psycopg.connect(make_conninfo(dsn, user=EVE), autocommit=True) as session:
                    oracle = ask_all(session, seed)
                why = ", ".join(f"{name} {number}" for name, number in sorted(reasons_of(admin).items()))
            shown = f"{patients:6} patients, seed {seed}: {oracle.asked} queries, withheld {oracle.withheld}"
            sys.stdout.write(f"{shown} ({why})\n")
            sys.stdout.flush()


if __name__ == "__main__":
    parser = argparse.ArgumentParser("tests.query.adversary", description=(__doc__ or "").split("\n\n")[0])
    names = [*RULES, *STRATEGIES, DASHBOARD]
    listed = ", ".join(map(repr, names))
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {listed}; all by default")
    found = parser.parse_args().names
    unknown = [name for name in found if name not in names]
    if unknown:
        parser.error(f"there is no {', '.join(map(repr, unknown))}")
    main(found)
