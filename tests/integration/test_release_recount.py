"""The recount trusts nobody: it finds small classes and leaks in whatever relation it is given."""

from collections.abc import Sequence

import psycopg
import pytest

from kanon_pg.db.catalog import describe
from kanon_pg.db.identifiers import Identifier
from kanon_pg.db.psycopg_adapter import PsycopgDatabase
from kanon_pg.errors import VerificationFailed
from kanon_pg.relations.canonical import canonical_columns
from kanon_pg.release.plan.planning import ReleasePlan
from kanon_pg.release.publish.recount import Recount, recount

WHOLE = [("u", 1.0, 0)] * 2 + [("u", None, 2)] * 3 + [(None, None, 3)] * 2 + [(None, None, 0)] * 2
"""Cells and pattern of each row: four classes, two of which only the pattern tells apart."""


def recounted(
    connection: psycopg.Connection,
    rows: Sequence[tuple[str | None, float | None, int]],
    people: Sequence[int | None] | None = None,
) -> Recount:
    """Recount stored rows; `people` says whose each row is, if the release has an entity."""
    # Columns named as the recount's own: they must not be taken for each other.
    connection.execute(
        "create table stored (pattern text, n double precision, kanon_pattern bigint, kanon_person integer)"
    )
    with connection.cursor() as cursor:
        cursor.executemany(
            "insert into stored values (%s, %s, %s, %s)",
            [(*row, person) for row, person in zip(rows, people or [None] * len(rows), strict=True)],
        )
    db = PsycopgDatabase(connection)
    base = describe(db, "stored")
    columns = tuple(base.column(name) for name in ("pattern", "n"))
    plan = ReleasePlan(
        base=base,
        name="release",
        quasi_identifiers=canonical_columns(columns, {"n": 2.5}),
        sensitive=(),
        insensitive=(),
        entity=None if people is None else base.column("kanon_person"),
    )
    return recount(db, plan, Identifier.of("stored"), k=2)


def test_counts_of_classes_and_cells(connection: psycopg.Connection) -> None:
    assert recounted(connection, WHOLE) == Recount(
        rows=9,
        people=9,
        classes=4,
        guarded_classes=4,
        smallest_class=2,
        average_class=9 / 4,
        largest_class=3,
        suppressed_cells=3 + 2 * 2,
        weighted_cost=3 * 2.5 + 2 * 3.5,
        certainty_penalty=(3 + 2 * 2) / (9 * 2),
        generalization_height=(3 + 2 * 2) / (9 * 2),
    )


@pytest.mark.parametrize("leak", [("u", None, 1), ("u", 1.0, 2), ("u", 1.0, 3), (None, float("nan"), 2)])
def test_a_value_under_a_suppressed_cell_is_found(
    connection: psycopg.Connection, leak: tuple[str | None, float | None, int]
) -> None:
    with pytest.raises(VerificationFailed, match="values in cells marked as suppressed"):
        recounted(connection, [*WHOLE, leak, leak])


@pytest.mark.parametrize("lonely", [("v", 1.0, 0), (None, None, 1), ("u", -1.0, 0), ("U", None, 2)])
def test_a_class_below_k_is_found(
    connection: psycopg.Connection, lonely: tuple[str | None, float | None, int]
) -> None:
    with pytest.raises(VerificationFailed, match="a class of 1 people, fewer than 2"):
        recounted(connection, [*WHOLE, lonely])


@pytest.mark.parametrize("zero", [-0.0, 0.0])
def test_classes_are_what_a_reader_sees(connection: psycopg.Connection, zero: float) -> None:
    with pytest.raises(VerificationFailed, match="a class of 1 people"):
        recounted(connection, [*WHOLE, ("z", zero, 0), ("z", zero, 0), ("z", -zero, 0)])


def test_an_empty_release_is_refused(connection: psycopg.Connection) -> None:
    with pytest.raises(VerificationFailed, match="empty"):
        recounted(connection, [])


OWNERS = [1, 2, 1, 3, 3, 1, 4, 4, 5]
"""Whose the rows of `WHOLE` are: two people in each class, some with several rows in it."""


def test_with_an_entity_people_are_counted_and_not_rows(connection: psycopg.Connection) -> None:
    found = recounted(connection, WHOLE, OWNERS)
    assert (found.rows, found.people, found.classes) == (9, 5, 4)
    assert (found.smallest_class, found.average_class, found.largest_class) == (2, 2.0, 2)


@pytest.mark.parametrize("stranger", [1, None])
def test_rows_of_one_person_or_of_nobody_are_no_class(
    connection: psycopg.Connection, stranger: int | None
) -> None:
    rows = [*WHOLE, ("v", 1.0, 0), ("v", 1.0, 0), ("v", 1.0, 0)]
    with pytest.raises(VerificationFailed, match="a class of 1 people, fewer than 2"):
        recounted(connection, rows, [*OWNERS, 1, 1, stranger])
