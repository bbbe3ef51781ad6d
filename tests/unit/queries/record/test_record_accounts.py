"""What noise costs is spent before a query runs: no failure, restart or older copy gives it back."""

import shutil
from pathlib import Path

import pytest

from kanon_pg.errors import LedgerError
from kanon_pg.queries.record.record import Record, Spending

LOSS = (0.01, 1e-8, 1.0, 1e-6)


def spending(most: int) -> Spending:
    return Spending(LOSS, lambda spent: len(spent) < most)


def test_what_is_asked_is_spent_even_if_nothing_is_recorded_later(path: Path, record: Record) -> None:
    assert record.ask("ann", "q", 0.0, spending=spending(2)).is_affordable
    other = Record.open(path)
    assert other.spent() == [("ann", LOSS)]
    other.close()


def test_what_cannot_be_afforded_costs_nothing_and_does_not_run(record: Record) -> None:
    record.ask("ann", "q", 0.0, spending=spending(1))
    assert not record.ask("bob", "q", 1.0, spending=spending(1)).is_affordable
    assert record.spent() == [("ann", LOSS)]
    assert [(one.outcome, one.reason) for one in record.log()] == [
        ("interrupted", ""),
        ("withheld", "budget"),
    ]


def test_a_copy_from_before_the_spending_is_refused(path: Path, record: Record) -> None:
    record.ask("ann", "q", 0.0, spending=spending(9))
    copy = path.with_name("copy.sqlite")
    record.close()
    shutil.copy(path, copy)
    later = Record.open(path)
    later.ask("ann", "q", 1.0, spending=spending(9))
    mark = later.mark()
    later.close()
    with pytest.raises(LedgerError, match="older"):
        Record.open(copy, [mark])
    Record.open(path, [mark]).close()
