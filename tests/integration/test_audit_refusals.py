"""Whose rights count in audits; other refusals are in `services/test_refusals.py`."""

from collections.abc import Callable

import pytest

from kanon_pg.errors import (
    InputError,
    NotPermitted,
    UnsuitableRelation,
)
from tests.fixtures.audits import COLUMNS
from tests.fixtures.interfaces import Interface, interface_of


def test_nested_and_null_names_are_refused(audit_interfaces: tuple[Interface, Interface]) -> None:
    for names in (["age", None], [["age"], ["sex"]]):
        with pytest.raises(InputError, match="plain list of names"):
            audit_interfaces[0].audit("people", 5, columns=names)


# --- rights -----------------------------------------------------------------------------------------------


def test_only_who_may_read_may_ask(audit_interface: Interface, login: Callable[[str], str]) -> None:
    with interface_of(login("kanon_analyst"), audit_interface) as own:
        for ask in (
            lambda: own.audit("people", 5),
            lambda: own.is_anonymous("people", 5),
            lambda: own.identify("people"),
            lambda: own.suggest("people"),
            lambda: own.risk("people"),
        ):
            with pytest.raises(NotPermitted, match="may not read"):
                ask()


def test_what_row_security_hides_is_not_left_out_in_silence(audit_interface: Interface) -> None:
    audit_interface.connection.execute(
        "create table guarded as table people; alter table guarded enable row level security"
    )
    try:
        with pytest.raises(UnsuitableRelation, match="row-level security") as refused:
            audit_interface.audit("guarded", 3, columns=COLUMNS)
        assert "Use a view" in (refused.value.hint or "")
    finally:
        audit_interface.connection.execute("drop table guarded")
