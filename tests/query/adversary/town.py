"""The town that is attacked: everybody's number, street and sex are known, illness and cost are secrets.

Every victim's illness is drawn by a fair coin that the attacker does not see, so who guesses is right half
of the time. There are two worlds: in the second one each victim has the other side of the coin, and another
cost. A strategy's sets hold one victim each, so what differs between the two worlds of an attempt is one
person.

In the first streets the illness is rarer than elsewhere, which everybody knows.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo

K = 5
PEOPLE = 4000
VICTIMS = tuple(range(1, 51))
ILLNESS = "flu"
_OTHERS = ("cold", "gout", "none")
EVE = "query_eve"
WITHHELD = "KA902"


RARE_STREETS = 10
"""Streets, from 0, in which fewer have the illness."""
_SHARES = (10, 25, 30, 35)
_ELSEWHERE = (30, 25, 20, 25)


@dataclass(frozen=True)
class Person:
    """A row of ``town.people``."""

    id: int
    street: int
    sex: str
    illness: str
    cost: int


def people(seed: int, world: int) -> list[Person]:
    """Return everybody in world 0 or 1; the victims' secrets depend on the seed, too."""
    draw, coins = Random(7), Random(seed)
    found = []
    for number in range(1, PEOPLE + 1):
        street, sex, cost = draw.randrange(40), draw.choice("FM"), draw.randrange(1000, 100_000)
        shares = _SHARES if street < RARE_STREETS else _ELSEWHERE
        illness = draw.choices((ILLNESS, *_OTHERS), shares)[0]
        if number in VICTIMS:
            is_ill, other = coins.random() < 0.5, coins.choice(_OTHERS)
            illness = ILLNESS if is_ill == (world == 0) else other
            cost = [coins.randrange(1000, 100_000) for _ in range(2)][world]
        found.append(Person(number, street, sex, illness, cost))
    return found


Rows = list[tuple[Any, ...]]


@dataclass
class Oracle:
    """What the attacker asks: one session of one login.

    Parameters
    ----------
    connection : psycopg.Connection
        The attacker's.
    known : sequence of Person
        Of whom the attacker knows number, street and sex.
    """

    connection: psycopg.Connection[Any]
    known: list[Person]
    asked: int = 0
    withheld: int = 0
    explained: list[str] = field(default_factory=list)

    def ask(self, text: str) -> Rows | None:
        """Return the answer, or None if it is withheld or refused."""
        self.asked += 1
        try:
            lines = self.connection.execute("select line from kanon.query_lines(%s, '{}')", [text]).fetchall()
        except psycopg.Error as error:
            if error.sqlstate != WITHHELD:
                self.explained.append(f"{text}: {error}")
            self.withheld += 1
            return None
        return [tuple(line) for (line,) in lines[2:]]


@dataclass(frozen=True)
class Town:
    """A database with the town, under some rules."""

    dsn: str
    admin: psycopg.Connection[Any]
    people: list[Person]

    @contextmanager
    def oracle(self) -> Iterator[Oracle]:
        """Yield a session of the attacker."""
        with psycopg.connect(make_conninfo(self.dsn, user=EVE), autocommit=True) as connection:
            yield Oracle(connection, [replace(one, illness="", cost=0) for one in self.people])

    def begin(self, rules: dict[str, Any]) -> None:
        """Begin a ledger under other rules."""
        self.admin.execute("select kanon_protect('town.people', %s, %s::jsonb)", [K, json.dumps(rules)])
        self.admin.execute("select kanon.restart_ledger('town.people')")

    def reasons(self) -> dict[str, int]:
        """Return why answers were withheld, as an administrator sees it."""
        found = self.admin.execute(
            "select reason, count(*) from kanon.query_log where reason is not null"
            " and asked_at >= (select begun_at from kanon.ledger) group by 1"
        )
        return dict(found.fetchall())


def build(dsn: str, admin: psycopg.Connection[Any], seed: int, world: int) -> Town:
    """Make the town of a world in a database with kanon, and let the attacker in."""
    made = people(seed, world)
    admin.execute("create schema town")
    admin.execute(
        "create table town.people (id int primary key, street int not null, sex text not null,"
        " illness text not null, cost int not null)"
    )
    with admin.cursor().copy("copy town.people from stdin") as copy:
        for person in made:
            copy.write_row((person.id, person.street, person.sex, person.illness, person.cost))
    admin.execute(
        "select kanon_declare('town.people', quasi_identifiers => '{id,street,sex}',"
        " sensitive => '{illness,cost}')"
    )
    if admin.execute("select from pg_roles where rolname = %s", [EVE]).fetchone() is None:
        admin.execute(f"create role {EVE} login in role kanon_analyst".encode())
    admin.execute("select kanon_protect('town.people', %s)", [K])
    return Town(dsn, admin, made)
