"""What audits refuse, in the same words through both interfaces, and whose rights count."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kanon_pg.errors import (
    InputError,
    KanonError,
    NotPermitted,
    UnknownName,
    UnsuitableColumn,
    UnsuitableRelation,
)
from tests.fixtures.audits import COLUMNS, audit, identify, is_anonymous, risk, suggest
from tests.fixtures.interfaces import Interface, interface_of

REFUSALS: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any], type[KanonError], str]] = [
    (audit, ("people", None), {}, InputError, "k is NULL."),
    (audit, ("people", 5), {"time_limit": None}, InputError, "time_limit must be a positive interval."),
    (
        audit,
        ("people", 5),
        {"columns": ["doc"]},
        UnsuitableColumn,
        'Column "doc" of type json cannot be compared: the type has no equality.',
    ),
    (is_anonymous, ("empty", 5), {}, InputError, 'Relation "public"."empty" has no rows.'),
    (identify, ("people",), {"time_limit": -1}, InputError, "time_limit must be a positive interval."),
    (suggest, (None,), {}, InputError, "The relation is NULL."),
    (
        risk,
        ("people",),
        {"columns": ["age", "illness"], "population": "register"},
        UnknownName,
        'Relation "public"."register" has no column "illness".',
    ),
]
"""One of each function; all others are in ``tests/integration/services``."""


@pytest.mark.parametrize(("ask", "arguments", "options", "kind", "sentence"), REFUSALS)
def test_refusals_are_the_same_through_both_interfaces(
    audit_interfaces: tuple[Interface, Interface],
    ask: Callable[..., Any],
    arguments: tuple[Any, ...],
    options: dict[str, Any],
    kind: type[KanonError],
    sentence: str,
) -> None:
    refusals = []
    for interface in audit_interfaces:
        with pytest.raises(KanonError) as raised:
            ask(interface, *arguments, **options)
        refusals.append(raised.value)
    assert [(type(refusal), refusal.message) for refusal in refusals] == [(kind, sentence)] * 2
    assert refusals[0].hint == refusals[1].hint
    assert refusals[0].hint or refusals[0].detail


def test_nested_and_null_names_are_refused(audit_interfaces: tuple[Interface, Interface]) -> None:
    for names in (["age", None], [["age"], ["sex"]]):
        with pytest.raises(InputError, match="plain list of names"):
            audit(audit_interfaces[0], "people", 5, columns=names)


# --- rights -----------------------------------------------------------------------------------------------


def test_only_who_may_read_may_ask(audit_interface: Interface, login: Callable[[str], str]) -> None:
    with interface_of(login("kanon_analyst"), audit_interface) as own:
        for ask in (
            lambda: audit(own, "people", 5),
            lambda: is_anonymous(own, "people", 5),
            lambda: identify(own, "people"),
            lambda: suggest(own, "people"),
            lambda: risk(own, "people"),
        ):
            with pytest.raises(NotPermitted, match="may not read"):
                ask()


def test_what_row_security_hides_is_not_left_out_in_silence(audit_interface: Interface) -> None:
    audit_interface.connection.execute(
        "create table guarded as table people; alter table guarded enable row level security"
    )
    try:
        with pytest.raises(UnsuitableRelation, match="row-level security") as refused:
            audit(audit_interface, "guarded", 3, columns=COLUMNS)
        assert "Use a view" in (refused.value.hint or "")
    finally:
        audit_interface.connection.execute("drop table guarded")
