"""What reads all rows may use parallel workers, inside the server and over a connection."""

from collections.abc import Iterator

import pytest

from tests.fixtures.interfaces import Interface

STATEMENTS = {
    "counting": "types AS MATERIALIZED",
    "recounting": "by_pattern.*",
}
"""What the statements that group all rows have in them, and no others."""


@pytest.fixture
def plans(interface: Interface) -> Iterator[dict[str, str]]:
    """Return the plan of each statement of calls from now on, with a table worth several processes."""
    connection = interface.connection
    connection.execute(
        "create table people as select i as id, i % 7 as a, i % 5 as b from generate_series(1, 20000) as i;"
        "analyze people; load 'auto_explain'"
    )
    for name, value in {
        "auto_explain.log_min_duration": "0",
        "auto_explain.log_nested_statements": "on",
        "client_min_messages": "log",
        "min_parallel_table_scan_size": "0",
        "parallel_setup_cost": "0",
    }.items():
        connection.execute("select set_config(%s, %s, false)", [name, value])
    found: dict[str, str] = {}

    def remember(notice: object) -> None:
        text = getattr(notice, "message_primary", None) or ""
        found.update({step: text for step, part in STATEMENTS.items() if part in text})

    connection.add_notice_handler(remember)
    yield found
    connection.remove_notice_handler(remember)
    connection.execute("reset all")


@pytest.mark.parametrize("workers", [0, 2])
def test_statements_that_read_all_rows_use_as_many_workers_as_the_server_allows(
    interface: Interface, plans: dict[str, str], workers: int
) -> None:
    interface.connection.execute(f"set max_parallel_workers_per_gather = {workers}".encode())
    assert interface.anonymize("people", 5, quasi_identifiers=["a", "b"]).rows == 20000
    assert set(plans) == set(STATEMENTS)
    assert {step for step, plan in plans.items() if "Gather" in plan} == (
        set(STATEMENTS) if workers else set()
    )
