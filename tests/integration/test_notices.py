"""What a data owner should know is said, with what to do: stale declarations, releases that hold little."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kanon_pg import client
from kanon_pg.errors import UnknownName
from tests.fixtures.doors import Door

_ROWS = "select i as a, i % 7 as b, i * 11 as cost from generate_series(1, 120) as i"


@pytest.mark.parametrize(
    "call",
    [
        lambda door: door.anonymize("t", 5),
        lambda door: door.measure("t"),
        lambda door: door.curve("t", ks=[2]),
        lambda door: client.audit(door.connection, "t", 5),
    ],
    ids=["anonymize", "measure", "curve", "audit"],
)
def test_a_declaration_that_names_a_renamed_column_is_what_is_wrong(
    both_doors: tuple[Door, Door], call: Callable[[Door], object]
) -> None:
    connection = both_doors[0].connection
    connection.execute(f"create table t as {_ROWS}".encode())
    both_doors[0].declare("t", quasi_identifiers=["a", "b"], sensitive=["cost"])
    connection.execute('alter table t rename column b to "B\'s"')
    for door in both_doors:
        with pytest.raises(UnknownName) as raised:
            call(door)
        assert raised.value.message == (
            'The declaration of "public"."t" names column "b", which was renamed or dropped since.'
        )
        assert 'SELECT kanon_declare(\'"public"."t"\', ...);' in (raised.value.hint or "")
    both_doors[0].declare("t", quasi_identifiers=["a", "B's"])
    both_doors[0].undeclare("t")
    connection.execute("drop table t")


def test_a_release_without_values_and_one_without_a_view_are_told(door: Door) -> None:
    door.connection.execute(f"create table t as {_ROWS}".encode())
    door.declare("t", quasi_identifiers=["a"], sensitive=["b", "cost"])
    door.notices.clear()
    report = door.anonymize("t", 5, method="greedy")
    assert report.suppressed_share == 1
    assert [text for text in door.notices if "100% of the cells" in text and "kanon_curve" in text]
    (unique,) = [text for text in door.notices if "a value of its own" in text]
    assert unique.startswith('Sensitive column "cost" ')
    door.connection.execute("drop view safe.t")
    door.connection.execute("delete from t where a > 100")
    door.notices.clear()
    door.refresh("t")
    (gone,) = [text for text in door.notices if "was dropped" in text]
    assert "kanon_anonymize publishes it anew" in gone
    assert "SELECT kanon_drop('t');" in gone
    kept = "select rows, suppressed_cells, classes from kanon.releases where release = 't'"
    assert door.connection.execute(kept).fetchone() == (100, 100, 1)
    door.drop("t")
