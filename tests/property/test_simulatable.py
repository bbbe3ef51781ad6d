"""With the option 'simulatable', which queries are refused does not depend on any sensitive value."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import psycopg
import pytest

from kanon_pg.queries.check.checker import Options, check
from tests.fixtures.databases import Server
from tests.query.cases import Via, flat
from tests.query.corpus import ATTACKS
from tests.query.harness import Answer, Seen, outcome
from tests.query.honest import Expected, workload
from tests.query.hospital import ADA, DECLARATIONS, SCHEMA
from tests.query.people import World, load, zips
from tests.query.reference import run_on
from tests.query.snapshot import hospital

pytestmark = pytest.mark.slow

Connection = psycopg.Connection[Any]

_ORACLES = (
    "select count(*) from patients where zip = '{}' and ward = 'oncology'",
    "select ward, count(*) from patients where zip = '{}' and sex = 'F' group by ward",
    "select zip, sum(cost) from patients where zip = '{}' group by zip having sum(cost) > 300000",
    "select count(*) filter (where cost > 20000) from patients where zip = '{}'",
    "select count(*), sum(cost) from patients where zip = '{}' and sex = 'F'",
)

ORACLES: dict[str, list[Any]] = {text.format(row[0]): [] for text in _ORACLES for row in zips()}
QUERIES = {
    **ORACLES,
    **{one.text: [parameter.value for parameter in one.parameters] for one in workload()},
    **{
        step.text: list(step.params)
        for attack in ATTACKS
        for step in flat(attack.steps)
        if step.via is Via.INTERFACE
    },
}
"""Texts with the values of their parameters."""

SIMULATABLE = Options(simulatable=True)


def shuffle(admin: Connection) -> None:
    """Give everybody the sensitive values of somebody else."""
    for made in DECLARATIONS:
        table, names = f"{SCHEMA}.{made.table}", ", ".join(made.sensitive)
        (kind,) = admin.execute("select relkind from pg_class where oid = %s::regclass", [table]).fetchone()  # type: ignore[misc]
        if kind == "v":
            continue
        admin.execute(
            f"create temp table drawn as select {names}, row_number() over (order by md5(ctid::text)) as n"
            f" from {table}"
        )
        admin.execute(
            f"update {table} as t set ({names}) = (select {names} from drawn where n = o.n)"
            f" from (select tableoid, ctid as at, row_number() over (order by tableoid, ctid) as n"
            f" from {table}) as o where t.ctid = o.at and t.tableoid = o.tableoid"
        )
        admin.execute("drop table drawn")


@pytest.fixture(scope="module")
def two_worlds(server: Server) -> Iterator[tuple[Connection, Connection]]:
    with ExitStack() as stack:
        made = []
        for shuffled in (False, True):
            name = stack.enter_context(server.database("simulatable"))
            admin = stack.enter_context(psycopg.connect(server.dsn(name), autocommit=True))
            load(admin, World.AS_IS)
            if shuffled:
                shuffle(admin)
            made.append(admin)
        yield made[0], made[1]


def seen(connection: Connection, options: Options, queries: dict[str, list[Any]]) -> list[Seen]:
    ask = run_on(connection, options)
    return [ask(ADA, text, values, 1) for text, values in queries.items()]


@pytest.fixture(scope="module")
def pairs(two_worlds: tuple[Connection, Connection]) -> list[tuple[Seen, Seen]]:
    """What is seen of each query in the two worlds."""
    first, second = (seen(world, SIMULATABLE, QUERIES) for world in two_worlds)
    return list(zip(first, second, strict=True))


def test_what_is_refused_does_not_depend_on_sensitive_values(pairs: list[tuple[Seen, Seen]]) -> None:
    both = zip(QUERIES, pairs, strict=True)
    assert [text for text, (a, b) in both if outcome(a) is not outcome(b)] == []


def test_answers_differ_although_refusals_do_not(pairs: list[tuple[Seen, Seen]]) -> None:
    assert sum(a != b for a, b in pairs if isinstance(a, Answer)) > 5


def test_without_the_option_it_does(two_worlds: tuple[Connection, Connection]) -> None:
    first, second = (map(outcome, seen(world, Options(), ORACLES)) for world in two_worlds)
    assert sum(a is not b for a, b in zip(first, second, strict=True)) > 5


def test_honest_queries_about_known_columns_remain() -> None:
    honest = [one for one in workload() if one.expected is Expected.ANSWERED]
    accepted = [one for one in honest if check(one.text, hospital(), SIMULATABLE).accepted]
    assert len(accepted) > 20
