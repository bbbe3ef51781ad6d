"""A caller who sees rows only must not take a search that was cut short for an all-clear."""

from dataclasses import replace
from typing import Any

import pytest

from kanon_pg.audit import auditing
from kanon_pg.audit.findings import AuditResult
from kanon_pg.audit.request import AuditRequest
from kanon_pg.errors import InputError, LimitExceeded
from tests.fixtures.audit_reports import audit_of, violating

NOTHING = replace(audit_of(sets=(), releases=0), is_complete=False, minimum=None)


def rows(monkeypatch: pytest.MonkeyPatch, result: AuditResult) -> Any:
    monkeypatch.setattr(auditing, "audit", lambda _db, _call: result)
    return auditing.rows_of_audit(None, AuditRequest("t", 5))  # type: ignore[arg-type]


@pytest.mark.parametrize(("complete", "most"), [(0, None), (2, None), (2, 3)])
def test_nothing_found_in_time_is_refused(
    monkeypatch: pytest.MonkeyPatch, complete: int, most: int | None
) -> None:
    with pytest.raises(LimitExceeded, match="not all could be looked at") as refused:
        rows(monkeypatch, replace(NOTHING, complete_columns=complete, max_columns=most))
    assert refused.value.detail


def test_nothing_among_as_few_columns_as_were_asked_for_is_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    assert rows(monkeypatch, replace(NOTHING, complete_columns=3, max_columns=3)) == ()


def test_nothing_at_all_is_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    assert rows(monkeypatch, replace(NOTHING, is_complete=True)) == ()


def test_what_was_found_is_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    found = (violating(["sex"], 3, 1),)
    assert rows(monkeypatch, replace(NOTHING, sets=found, complete_columns=1)) == found


def test_rows_of_a_release_that_hides_people_prove_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="people might"):
        rows(monkeypatch, replace(NOTHING, complete_columns=0, hides_people=True))
