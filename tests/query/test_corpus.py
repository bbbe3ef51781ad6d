"""The corpus is complete: every class of attack has several cases, every case says what it wants."""

from collections import Counter

import psycopg
import pytest

from tests.query.cases import Channel, Outcome
from tests.query.conftest import Worlds
from tests.query.corpus import ATTACKS, counts
from tests.query.honest import Expected, HonestQuery, workload
from tests.query.hospital import DECLARATIONS, DEPENDENT, FORBIDDEN, PUBLIC, SCHEMA
from tests.query.people import VICTIM, VICTIM_BORN, World, patients, tables


def test_there_are_enough_attacks_and_queries() -> None:
    assert len(ATTACKS) >= 170
    assert min(counts().values()) >= 4
    assert len(workload()) >= 70


def test_names_are_unique() -> None:
    names = Counter((attack.kind, attack.name) for attack in ATTACKS)
    assert names.most_common(1)[0][1] == 1
    names = Counter((query.author, query.name) for query in workload())
    assert names.most_common(1)[0][1] == 1


def test_an_attack_that_may_be_answered_says_why() -> None:
    for attack in ATTACKS:
        assert (Outcome.ANSWERED in attack.expect.outcomes) == bool(attack.expect.why), attack.name


def test_a_query_that_may_not_be_answered_says_why() -> None:
    for query in workload():
        assert (query.expected is Expected.ANSWERED) != bool(query.why), query.name


def test_worlds_differ_in_the_victim_alone() -> None:
    as_is, other, absent = (tables(world) for world in World)
    for table in as_is:
        position = [0, 1][table in ("visits", "lab_results")]
        for world in (other, absent):
            for row in set(map(tuple, as_is[table])) ^ set(map(tuple, world[table])):
                assert row[position] == VICTIM
    assert [person.patient_id for person in patients(World.AS_IS) if person.birth_date == VICTIM_BORN] == [
        VICTIM
    ]


def test_every_relation_of_the_schema_has_its_place(bare_worlds: Worlds) -> None:
    found = bare_worlds[World.AS_IS].execute(
        "select relname from pg_class where relnamespace = %s::regnamespace"
        " and relkind in ('r', 'p', 'v', 'm')",
        [SCHEMA],
    )
    declared = {declaration.table for declaration in DECLARATIONS}
    assert {row[0] for row in found} == declared | set(DEPENDENT) | set(PUBLIC) | set(FORBIDDEN)


@pytest.mark.parametrize("query", workload(), ids=lambda query: f"{query.author}: {query.name}")
def test_honest_queries_are_sql(query: HonestQuery, bare_worlds: Worlds) -> None:
    connection = bare_worlds[World.AS_IS]
    with connection.transaction(force_rollback=True):
        connection.execute(f"set local search_path = {SCHEMA}")
        cursor = psycopg.RawCursor(connection)
        cursor.execute(query.text.encode(), [parameter.value for parameter in query.parameters] or None)
        assert cursor.fetchall() or "no row" in query.tags


def test_most_attacks_are_shown_to_work() -> None:
    assert sum(attack.channel is Channel.ROWS for attack in ATTACKS) > len(ATTACKS) / 2
