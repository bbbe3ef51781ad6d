"""What becomes of a cohort: the statements of a series and the rules in plain Python say the same."""

import itertools

import psycopg
import pytest

from kanon_pg.db.identifiers import Identifier
from kanon_pg.db.statements import statement
from tests.fixtures.cohorts import CohortCounts, Rules, fate

K, VERSION = 2, 9

_TABLES = """
create table cohorts (cohort bigint primary key, rows bigint, people bigint, is_shown boolean);
create table members (cohort bigint, person bigint, left_in bigint, erased boolean);
"""

COHORTS = [
    (CohortCounts(present, min(present, people), left, min(left, people), first, erased), was_shown)
    for present, left, people, first, erased, was_shown in itertools.product(
        range(4), range(4), (1, 3), (VERSION - 3, VERSION), (False, True), (False, True)
    )
    if present + left and (left or not erased)
]
"""Whether somebody was erased is only said of those who left."""


@pytest.mark.parametrize("entity", [None, 1], ids=["rows are people", "people"])
@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("longest", [2, 12])
@pytest.mark.parametrize("leavers", ["retain", "withhold", "show"])
def test_statements_decide_as_the_rules_do(
    empty_connection: psycopg.Connection, leavers: str, longest: int, whole: bool, entity: int | None
) -> None:
    cohorts = [(counts, was_shown) for counts, was_shown in COHORTS if entity or _one_row_each(counts)]
    empty_connection.execute(_TABLES)
    with empty_connection.cursor() as cursor:
        for number, (counts, was_shown) in enumerate(cohorts):
            rows = counts.present_rows + counts.left_rows
            cursor.execute("insert into cohorts values (%s, %s, 0, %s)", (number, rows, was_shown))
        cursor.executemany("insert into members values (%s, %s, %s, %s)", _members(cohorts))
    names = {name: Identifier.of("public", name) for name in ("members", "cohorts", "fates")}
    _run(
        empty_connection,
        "series/create_fates",
        **names,
        k=K,
        version=VERSION,
        leavers=leavers,
        longest_retain=longest,
        whole=1 if whole else None,
        entity=entity,
    )
    _run(empty_connection, "series/settle_cohorts", **names, k=K)
    found = dict(empty_connection.execute("select cohort, fate from fates").fetchall())
    shown = dict(empty_connection.execute("select cohort, is_shown from cohorts").fetchall())
    expected = Rules(K, leavers, longest, whole=whole)
    for number, (counts, was_shown) in enumerate(cohorts):
        if not counts.left_rows and was_shown:
            assert number not in found
            assert shown[number]
            continue
        said = fate(counts, VERSION, expected)
        assert found[number] == said, counts
        stays = said == "leaving" and counts.present_people >= K
        assert shown[number] == (said in ("shown", "retained") or stays), counts


def _one_row_each(counts: CohortCounts) -> bool:
    return (counts.present_people, counts.left_people) == (counts.present_rows, counts.left_rows)


def _members(cohorts: list[tuple[CohortCounts, bool]]) -> list[tuple[int, int, int | None, bool]]:
    members: list[tuple[int, int, int | None, bool]] = []
    for number, (counts, _) in enumerate(cohorts):
        for row in range(counts.present_rows):
            members.append((number, row % max(counts.present_people, 1), None, False))
        for row in range(counts.left_rows):
            left_in = counts.first_left if row == 0 else VERSION
            members.append((number, 100 + row % counts.left_people, left_in, counts.erased and row == 0))
    return members


def _run(connection: psycopg.Connection, name: str, **parts: object) -> None:
    connection.execute(statement(name, **parts).text.encode())
