"""Every bad input has a sentence, hint and SQLSTATE of its own, equal by both interfaces, and no effect."""

import pytest

from kanon_pg.errors import KanonError, by_sqlstate
from tests.fixtures.interfaces import SqlInterface
from tests.fixtures.refusals import ALL_CASES, RELEASE_CASES, Case
from tests.fixtures.services import Services


@pytest.mark.parametrize("case", ALL_CASES, ids=lambda case: case.title)
def test_refusal(services: Services, case: Case) -> None:
    before, refusals = services.recorded(), []
    for calls in (services, SqlInterface(services.dsn, services.connection)):
        with pytest.raises(KanonError) as raised:
            case.call(calls)
        refusals.append(raised.value)
    first, second = refusals
    assert (type(first), first.message) == (case.kind, case.sentence)
    assert by_sqlstate(first.sqlstate) is case.kind
    assert first.hint
    assert (type(second), second.message) == (type(first), first.message)
    assert (second.detail, second.hint) == (first.detail, first.hint)
    assert services.recorded() == before


def test_sentences_of_refusals_differ() -> None:
    """Cases share a sentence only if the same thing is wrong with the same object."""
    by_sentence: dict[str, set[type[KanonError]]] = {}
    for case in RELEASE_CASES:
        by_sentence.setdefault(case.sentence, set()).add(case.kind)
    assert all(len(kinds) == 1 for kinds in by_sentence.values())
    assert len(by_sentence) > len(RELEASE_CASES) * 2 / 3
