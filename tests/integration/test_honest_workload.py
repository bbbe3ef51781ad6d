"""Honest analysts are answered by a real server, by default rules, and a refusal says what to write."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import psycopg
import pytest

from tests.fixtures.databases import Server, role
from tests.query.honest import HonestQuery, register_workload, workload
from tests.query.hospital import DECLARATIONS, SCHEMA, Declaration, K
from tests.query.people import World, load
from tests.query.registers import PUBLIC_TABLES, REGISTERS, REGISTERS_FILE

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

_LINKED = {"visits": "patients", "lab_results": "patients", "orders": "customers"}


Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Told:
    """What became of a query: the rows, and those without protection; or the SQLSTATE and the hint."""

    rows: Rows = field(default_factory=list)
    plain: Rows = field(default_factory=list)
    refused: str = ""


@pytest.fixture(scope="module")
def told(server: Server, kanon_template: str) -> Iterator[dict[str, Told]]:
    """Yield what became of each query."""
    found: dict[str, Told] = {}
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
                    for session in (admin, asking):
                        session.execute(f"set search_path = {schema}, public")
                    for query in queries:
                        found[f"{query.author}: {query.name}"] = ask(asking, admin, query)
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


def ask(asking: psycopg.Connection, admin: psycopg.Connection, query: HonestQuery) -> Told:
    """Ask a query, and PostgreSQL, too, if it is answered."""
    values = [given.value for given in query.parameters]
    try:
        rows = [row for (row,) in asking.execute("select * from kanon_query(%s, %s)", [query.text, values])]
    except psycopg.Error as error:
        return Told(refused=f"{error.sqlstate}: {error.diag.message_primary} {error.diag.message_hint}")
    plain = psycopg.RawCursor(admin).execute(f"select to_jsonb(t) from ({query.text}) as t".encode(), values)
    return Told(rows, [row for (row,) in plain])


def is_like(row: dict[str, Any], plain: dict[str, Any]) -> bool:
    """Return whether a row is PostgreSQL's; means and percentiles may be rounded."""
    return all(_is_near(row.get(name), value) for name, value in plain.items())


def _is_near(one: object, other: object) -> bool:
    if isinstance(one, list) and isinstance(other, list):
        return all(map(_is_near, one, other))
    if isinstance(one, int | float) and isinstance(other, int | float):
        return one == pytest.approx(other, rel=0.04)
    return one == other


def test_nearly_all_of_the_workload_is_answered_in_a_row(told: dict[str, Told]) -> None:
    assert len(told) == len(workload()) + len(register_workload())
    refused = {name: one.refused for name, one in told.items() if one.refused}
    assert len(told) - len(refused) >= 270, "\n".join(f"{name}: {what}" for name, what in refused.items())


def test_what_is_refused_is_so_because_of_its_form_and_says_what_to_write(told: dict[str, Told]) -> None:
    for name, one in told.items():
        what = one.refused
        assert not what or (what.startswith("KA901") and not what.endswith("None")), (name, what)


def test_what_is_shown_is_what_postgresql_says(told: dict[str, Told]) -> None:
    """Rows may be left out; of columns of one name JSON keeps the last."""
    for name, one in told.items():
        for row in one.rows:
            is_same = any(is_like(row, plain) for plain in one.plain)
            assert is_same or name in _TOLD_OTHERWISE, (name, row, one.plain[:3])


_TOLD_OTHERWISE = {
    "data_scientist: sums for a regression of one's own": "columns of one name have numbers",
    "clinic: mean length of stay as an interval": "times are rounded",
    "sales: delivery time": "times are rounded",
}
