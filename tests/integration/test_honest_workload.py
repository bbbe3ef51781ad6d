"""Honest analysts are answered by a real server, by default rules, and a refusal says what to write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import psycopg
import pytest

from tests.fixtures.databases import Server, role
from tests.query.honest import HonestQuery, register_workload, workload
from tests.query.hospital import DECLARATIONS, SCHEMA, Declaration, K
from tests.query.people import World, load
from tests.query.registers import PUBLIC_TABLES, REGISTERS, REGISTERS_FILE

pytestmark = pytest.mark.slow

_LINKED = {"visits": "patients", "lab_results": "patients", "orders": "customers"}


@pytest.fixture(scope="module")
def told(server: Server, kanon_template: str) -> Iterator[dict[str, str]]:
    """Yield what became of each query: an empty text, or the SQLSTATE and the hint."""
    found: dict[str, str] = {}
    with server.database("honest", kanon_template) as name:
        dsn = server.dsn(name)
        with role(dsn, "analyst", "IN ROLE kanon_analyst") as analyst, psycopg.connect(dsn) as admin:
            admin.autocommit = True
            load(admin, World.AS_IS, (analyst, "kanon_reader"))
            # a table and what inherits from it have no key together
            admin.execute(f"alter table {SCHEMA}.old_visits no inherit {SCHEMA}.visits")
            protect(admin, SCHEMA, DECLARATIONS)
            admin.execute(REGISTERS_FILE.read_bytes())
            for table in PUBLIC_TABLES:
                admin.execute(f"grant select on public.{table} to {analyst}, kanon_reader".encode())
            protect(admin, "public", REGISTERS)
            with psycopg.connect(dsn, user=analyst, autocommit=True) as asking:
                for schema, queries in ((SCHEMA, workload()), ("public", register_workload())):
                    asking.execute(f"set search_path = {schema}, public")
                    found |= {f"{query.author}: {query.name}": ask(asking, query) for query in queries}
        yield found


def protect(admin: psycopg.Connection, schema: str, declarations: Sequence[Declaration]) -> None:
    """Declare tables, link those of the same people, and protect them."""
    for made in declarations:
        one = replace(made, entity=None) if made.table in _LINKED else made
        admin.execute(
            "select kanon_declare(%s::regclass, identifiers => %s::name[], quasi_identifiers => %s::name[],"
            " sensitive => %s::name[], entity => %s::name)",
            [
                f"{schema}.{one.table}",
                list(one.identifiers),
                list(one.quasi_identifiers),
                list(one.sensitive),
                one.entity,
            ],
        )
    for made in declarations:
        if made.table in _LINKED:
            parent = f"{schema}.{_LINKED[made.table]}"
            admin.execute("select kanon_link(%s::regclass, %s::regclass)", [f"{schema}.{made.table}", parent])
    for made in declarations:
        admin.execute(
            "select kanon_protect(%s::regclass, %s, %s::jsonb)",
            [f"{schema}.{made.table}", K, '{"refusals": null}'],
        )


def ask(asking: psycopg.Connection, query: HonestQuery) -> str:
    """Return what became of a query."""
    values = [given.value for given in query.parameters] or None
    try:
        asking.execute("select * from kanon_query(%s, %s)", [query.text, values])
    except psycopg.Error as error:
        return f"{error.sqlstate}: {error.diag.message_primary} {error.diag.message_hint}"
    return ""


def test_nearly_all_of_the_workload_is_answered_in_a_row(told: dict[str, str]) -> None:
    assert len(told) == len(workload()) + len(register_workload())
    refused = {name: what for name, what in told.items() if what}
    assert len(told) - len(refused) >= 270, "\n".join(f"{name}: {what}" for name, what in refused.items())


def test_what_is_refused_is_so_because_of_its_form_and_says_what_to_write(told: dict[str, str]) -> None:
    for name, what in told.items():
        assert not what or (what.startswith("KA901") and not what.endswith("None")), (name, what)
