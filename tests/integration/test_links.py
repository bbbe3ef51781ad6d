"""Rows of a linked table belong to the people that its foreign keys lead to; without these, to nobody."""

import random
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import psycopg
import pytest

from kanon_pg import client
from kanon_pg.db.psycopg_adapter import PsycopgDatabase, mapped_errors
from kanon_pg.errors import (
    InputError,
    KanonError,
    NotPermitted,
    UnknownName,
    UnsuitableColumn,
    UnsuitableRelation,
)
from kanon_pg.queries.reading.facts import Facts, Link, Protection, Relation, Role, Volatility
from kanon_pg.queries.reading.load_facts import load_facts
from tests.fixtures.interfaces import Interface, interface_of

_SHOP = """
create table customers (id integer primary key, segment text, balance numeric, name text);
create table orders (
    id integer primary key, customer integer not null references customers,
    payer integer references customers, priority text,
    status text
);
create table items (
    "order" integer not null references orders, line integer, quantity integer, price numeric, note text,
    primary key ("order", line)
);
insert into customers select i, 's' || i % 3, i * 10, 'n' || i from generate_series(1, 40) as i;
"""


def _fill(connection: psycopg.Connection[Any], seed: int) -> dict[str, list[tuple[Any, ...]]]:
    """Make a shop with rows of chance; return the rows of both tables with the customer of each."""
    draw = random.Random(seed)
    connection.execute(_SHOP.encode())
    orders = [(i, draw.randint(1, 40), draw.choice("ab"), draw.choice("xy")) for i in range(1, 121)]
    items = [(one[0], line, draw.randint(1, 3)) for one in orders for line in range(draw.randint(0, 4))]
    with connection.cursor() as cursor:
        cursor.executemany("insert into orders values (%s, %s, null, %s, %s)", orders)
        cursor.executemany("insert into items values (%s, %s, %s, 1)", items)
    owner = {one[0]: one[1] for one in orders}
    return {
        "orders": [(one[1], one[2], one[3]) for one in orders],
        "items": [(owner[one[0]], one[2]) for one in items],
    }


def _declare_and_link(interface: Interface) -> None:
    interface.declare("customers", identifiers=["name"], quasi_identifiers=["segment"], sensitive=["balance"])
    interface.link("orders", "customers", columns=["customer"])
    interface.link("items", "orders")


def _linked(connection: psycopg.Connection[Any]) -> list[tuple[Any, ...]]:
    query = "select child::text, foreign_key::text, people::text, person::text[] from kanon.links order by 1"
    return connection.execute(query.encode()).fetchall()


def _facts(dsn: str, text: str, role: str = "postgres", path: tuple[str, ...] = ("public",)) -> Facts:
    with psycopg.connect(dsn) as connection:
        connection.execute("set local role kanon_reader")
        connection.execute("set local search_path = pg_catalog, pg_temp")
        return load_facts(PsycopgDatabase(connection), text, path, role)


def _named(facts: Facts, name: str) -> Relation:
    found = facts.find(None, name)
    assert found is not None
    return found


@pytest.mark.parametrize("seed", [1, 2])
def test_classes_count_the_people_at_the_end_of_the_chain(interface: Interface, seed: int) -> None:
    connection = interface.connection
    rows = _fill(connection, seed)
    _declare_and_link(interface)
    interface.declare("orders", quasi_identifiers=["priority", "status"])
    interface.declare("items", quasi_identifiers=["quantity"])
    for table, columns in (("orders", "priority, status"), ("items", "quantity")):
        people: dict[tuple[Any, ...], set[int]] = defaultdict(set)
        count: dict[tuple[Any, ...], int] = defaultdict(int)
        for person, *cells in rows[table]:
            people[tuple(cells)].add(person)
            count[tuple(cells)] += 1
        expected = sorted((*cells, count[cells], len(found)) for cells, found in people.items())
        shown = f"select {columns}, rows, people from kanon.public_{table}_row_types"
        assert sorted(connection.execute(shown.encode()).fetchall()) == expected
        measured = interface.measure(table)
        assert (measured.rows, measured.people) == (len(rows[table]), len({row[0] for row in rows[table]}))
        assert measured.k == min(map(len, people.values()))


def test_audits_of_a_linked_table_are_those_of_a_table_with_its_people(interface: Interface) -> None:
    connection = interface.connection
    _fill(connection, 3)
    _declare_and_link(interface)
    interface.declare("items", quasi_identifiers=["quantity", "price"])
    connection.execute(
        'create table flat as select i.*, o.customer from items as i join orders as o on o.id = i."order"'
    )
    interface.declare("flat", quasi_identifiers=["quantity", "price"], entity="customer")
    columns = ["line", "quantity", "order"]
    for name in ("items", "flat"):
        assert client.is_anonymous(connection, name, 30, ["quantity"]) == client.is_anonymous(
            connection, "flat", 30, ["quantity"]
        )
    one, other = (client.audit(connection, name, 10, columns=columns) for name in ("items", "flat"))
    assert (one.people, one.rows, one.sets) == (other.people, other.rows, other.sets)
    assert (one.entity, other.entity) == ("customers.id", "customer")
    found = [client.groups(connection, name, "quantity", 10) for name in ("items", "flat")]
    assert found[0].classes == found[1].classes
    (ours,), (theirs,) = (
        client.risk(connection, name, columns=["quantity", "line"]) for name in ("items", "flat")
    )
    assert replace(ours, relation=theirs.relation) == theirs
    curve = interface.curve("items", ks=[5])
    assert curve[0].k == 5


def test_people_of_several_columns_are_told_apart(interface: Interface) -> None:
    connection = interface.connection
    connection.execute(
        "create table people (country text, number integer, age integer, primary key (country, number));"
        "create table stays (id integer primary key, n integer not null, c text not null, ward text,"
        " foreign key (c, n) references people);"
        "create table costs (stay integer not null references stays, cost integer, kind integer);"
        "insert into people select c, i, i from generate_series(1, 10) as i, unnest('{a,b}'::text[]) as c;"
        "insert into stays select i, 1 + i % 10, case when i < 50 then 'a' else 'b' end, 'w' || i % 2"
        " from generate_series(1, 99) as i;"
        "insert into costs select i, j, j from generate_series(1, 99) as i, generate_series(1, 2) as j"
    )
    interface.declare("people", quasi_identifiers=["age"])
    interface.link("stays", "people")
    interface.link("costs", "stays")
    interface.declare("stays", quasi_identifiers=["ward"])
    interface.declare("costs", quasi_identifiers=["kind"])
    assert _linked(connection)[1] == ("stays", "stays_c_n_fkey", "people", ["country", "number"]) or _linked(
        connection
    )[1][2:] == ("people", ["country", "number"])
    for name, query in {
        "stays": "select ward, count(*), count(distinct (c, n)) from stays group by 1 order by 1",
        "costs": "select kind, count(*), count(distinct (c, n)) from costs, stays where id = stay"
        " group by 1 order by 1",
    }.items():
        expected = connection.execute(query.encode()).fetchall()
        shown = connection.execute(
            f"select * from kanon.public_{name}_row_types order by 1".encode()
        ).fetchall()
        assert shown == expected


_REFUSED: dict[str, tuple[str, tuple[str, str], dict[str, Any], type[KanonError], str]] = {
    "no foreign key": ("", ("customers", "orders"), {}, UnknownName, "No foreign key leads from"),
    "several": ("", ("orders", "customers"), {}, InputError, "Several foreign keys lead from"),
    "none of these columns": (
        "",
        ("orders", "customers"),
        {"columns": ["id"]},
        UnknownName,
        'No foreign key "id"',
    ),
    "none of this name": (
        "",
        ("orders", "customers"),
        {"foreign_key": "x"},
        UnknownName,
        'No foreign key "x"',
    ),
    "nullable": ("", ("orders", "customers"), {"columns": ["payer"]}, UnsuitableColumn, 'Column "payer"'),
    "not validated": (
        "alter table orders drop constraint orders_customer_fkey;"
        "alter table orders add constraint k foreign key (customer) references customers not valid",
        ("orders", "customers"),
        {"foreign_key": "k"},
        UnsuitableRelation,
        'The foreign key "k"',
    ),
    "not enforced": (
        "alter table orders disable trigger all",
        ("orders", "customers"),
        {"columns": ["customer"]},
        UnsuitableRelation,
        'The foreign key "orders_customer_fkey"',
    ),
    "inheritance": (
        "create table late () inherits (orders)",
        ("orders", "customers"),
        {"columns": ["customer"]},
        UnsuitableRelation,
        "has inheritance children",
    ),
    "nowhere": ("", ("items", "orders"), {}, InputError, "ends at a table that says nothing of people"),
    "itself": (
        "alter table customers add column friend integer not null default 1 references customers",
        ("customers", "customers"),
        {},
        InputError,
        "would lead back to it",
    ),
    "a view": (
        "create view v as table items",
        ("v", "orders"),
        {},
        UnsuitableRelation,
        "is no ordinary table",
    ),
    "no such table": ("", ("items", "nothing"), {}, UnknownName, "nothing"),
}


@pytest.mark.parametrize("case", _REFUSED)
def test_what_cannot_be_linked(interface: Interface, case: str) -> None:
    change, tables, which, kind, sentence = _REFUSED[case]
    connection = interface.connection
    connection.execute(_SHOP.encode())
    if change:
        connection.execute(change.encode())
    interface.declare("customers", quasi_identifiers=["segment"])
    if case == "no such table":
        with pytest.raises((UnknownName, psycopg.Error, KanonError)):
            interface.link(*tables, **which)
    else:
        with pytest.raises(kind) as raised:
            interface.link(*tables, **which)
        assert sentence in raised.value.message
        assert raised.value.hint
    assert _linked(connection) == []


def test_a_circle_and_an_entity_of_its_own_are_refused(interface: Interface) -> None:
    connection = interface.connection
    connection.execute(_SHOP.encode())
    connection.execute("delete from customers")
    connection.execute(
        "alter table customers add column latest integer not null default 1 references orders deferrable"
    )
    interface.declare("customers", quasi_identifiers=["segment"])
    interface.declare("orders", quasi_identifiers=["status"], entity="payer")
    with pytest.raises(InputError) as raised:
        interface.link("orders", "customers", columns=["customer"])
    assert 'declared with an entity of its own, "payer"' in raised.value.message
    interface.declare("orders", quasi_identifiers=["status"])
    interface.link("orders", "customers", columns=["customer"])
    with pytest.raises(InputError, match="would lead back"):
        interface.link("customers", "orders")
    with pytest.raises(InputError, match="is linked: its rows belong to the people of"):
        interface.declare("orders", quasi_identifiers=["status"], entity="payer")
    with pytest.raises(InputError, match="belong to the people of"):
        interface.undeclare("customers")
    with pytest.raises(UnsuitableRelation, match="whose people no release"):
        interface.anonymize("orders", 2)


_BREAKS = {
    "foreign key dropped": "alter table orders drop constraint orders_customer_fkey",
    "not validated any more": (
        "alter table orders drop constraint orders_customer_fkey;"
        "alter table orders add constraint orders_customer_fkey foreign key (customer) references customers"
        " not valid"
    ),
    "leads elsewhere": (
        "alter table orders drop constraint orders_customer_fkey;"
        "alter table orders add constraint orders_customer_fkey foreign key (payer) references customers"
    ),
    "nullable": "alter table orders alter column customer drop not null",
    "column renamed": "alter table orders rename column customer to client",
    "triggers off": "alter table orders disable trigger all",
    "inheritance": "create table late () inherits (orders)",
    "end forgotten": "delete from kanon.declaration where relation = 'customers'::regclass",
    "middle forgotten": "delete from kanon.link where child = 'orders'::regclass",
    "end without a key": (
        "alter table orders drop constraint orders_customer_fkey, drop constraint orders_payer_fkey;"
        "alter table customers drop constraint customers_pkey;"
        "create unique index on customers (id);"
        "alter table orders add foreign key (customer) references customers (id)"
    ),
    "parent dropped": "drop table customers cascade",
}


@pytest.mark.parametrize("case", _BREAKS)
def test_a_broken_link_leads_to_nobody(dsn: str, connection: psycopg.Connection[Any], case: str) -> None:
    connection.execute(_SHOP.encode())
    client.declare(connection, "customers", quasi_identifiers=["segment"])
    client.link(connection, "orders", "customers", columns=["customer"])
    client.link(connection, "items", "orders")
    client.declare(connection, "items", quasi_identifiers=["quantity"])
    _protect(connection, "items", 3)
    assert _named(_facts(dsn, "items"), "items").obstacle is None
    connection.execute("drop view if exists kanon.public_customers_row_types cascade")
    connection.execute(_BREAKS[case].encode())
    shown = {child: people for child, _, people, _ in _linked(connection)}
    assert shown["items"] is None or shown["items"] == "orders"
    if case != "middle forgotten":
        assert shown == {"items": None, "orders": None}
    sentence, hint = _named(_facts(dsn, "items"), "items").obstacle or ("", "")
    assert "leads to nobody any more" in sentence
    assert "kanon_link" in hint
    for refused in (
        lambda: client.measure(connection, "items"),
        lambda: client.audit(connection, "items", 3),
        lambda: client.declare(connection, "items", quasi_identifiers=["quantity"]),
        lambda: _protect(connection, "items", 3),
    ):
        with pytest.raises(UnsuitableRelation, match="leads to nobody any more"):
            refused()


def test_a_foreign_key_that_comes_back_is_a_link_again(dsn: str, connection: psycopg.Connection[Any]) -> None:
    connection.execute(_SHOP.encode())
    client.declare(connection, "customers", quasi_identifiers=["segment"])
    client.link(connection, "orders", "customers", foreign_key="orders_customer_fkey")
    connection.execute("alter table orders drop constraint orders_customer_fkey")
    connection.execute("alter table orders add constraint again foreign key (customer) references customers")
    assert _linked(connection) == [("orders", "again", "customers", ["id"])]
    connection.execute("drop table orders cascade")
    assert _linked(connection) == []


def test_protected_tables_keep_their_people(interface: Interface) -> None:
    connection = interface.connection
    _fill(connection, 4)
    _declare_and_link(interface)
    interface.declare("items", quasi_identifiers=["quantity"])
    interface.protect("items", 3)
    assert not [one for one in interface.notices if "counts as a person" in one]
    for refused in (
        lambda: interface.unlink("items"),
        lambda: interface.unlink("orders"),
        lambda: interface.link("items", "orders"),
        lambda: interface.link("orders", "customers", columns=["customer"]),
    ):
        with pytest.raises(InputError, match=r'"public"\."items" answers queries') as raised:
            refused()
        assert "kanon_unprotect" in (raised.value.hint or "")
    with pytest.raises(UnknownName, match="is not linked"):
        interface.unlink("customers")


def _readers(connection: psycopg.Connection[Any], table: str) -> set[str]:
    found = connection.execute(
        "select a.grantee::regrole::text from pg_class as c, aclexplode(c.relacl) as a"
        " where c.oid = %s::regclass and a.grantee::regrole::text like 'kanon%%'",
        [table],
    )
    return {name for (name,) in found}


def test_readers_read_what_links_lead_to_and_no_longer(interface: Interface) -> None:
    connection = interface.connection
    _fill(connection, 5)
    interface.declare("customers", quasi_identifiers=["segment"])
    before = {table: _readers(connection, table) for table in ("customers", "orders", "items")}
    interface.link("orders", "customers", columns=["customer"])
    interface.link("items", "orders")
    of_items = connection.execute(
        "select 'kanon_base_' || reader from kanon.base where relation = 'items'::regclass"
    )
    ((reader,),) = of_items.fetchall()
    assert all(reader in _readers(connection, table) for table in ("customers", "orders", "items"))
    interface.unlink("items")
    assert not any(reader in _readers(connection, table) for table in ("customers", "orders", "items"))
    interface.unlink("orders")
    assert {table: _readers(connection, table) for table in ("customers", "orders", "items")} == before


def test_who_may_not_declare_both_may_not_link(
    both_interfaces: tuple[Interface, Interface], login: Callable[[str], str]
) -> None:
    connection = both_interfaces[0].connection
    connection.execute("drop table if exists items, orders, customers cascade")
    connection.execute(_SHOP.encode())
    both_interfaces[0].declare("customers", quasi_identifiers=["segment"])
    curator, analyst, owner = login("kanon_curator"), login("kanon_analyst"), login("kanon_owner")
    connection.execute(f"grant select on customers to {curator}".encode())
    with interface_of(curator, both_interfaces[0]) as own:
        with pytest.raises(NotPermitted, match="may not read"):
            own.link("orders", "customers", columns=["customer"])
        connection.execute(f"grant select on orders to {curator}".encode())
        # may read both, and let nobody else read: orders have no reader
        with pytest.raises(NotPermitted, match="has no reader"):
            own.link("orders", "customers", columns=["customer"])
        with pytest.raises(psycopg.Error, match="called directly"):
            own.connection.execute("select kanon.link('orders', 'customers', '{customer}', null)")
    with interface_of(analyst, both_interfaces[0]) as own, pytest.raises((psycopg.Error, KanonError)):
        own.link("orders", "customers", columns=["customer"])
    assert _linked(connection) == []
    both_interfaces[1].link("orders", "customers", columns=["customer"])
    assert len(_linked(connection)) == 1
    with interface_of(curator, both_interfaces[0]) as own:
        assert own.connection.execute("select count(*) from kanon.links").fetchone() == (1,)
        for table in ("kanon.link", "kanon.declaration"):
            with pytest.raises(psycopg.Error, match="permission denied"):
                own.connection.execute(f"table {table}".encode())
    both_interfaces[0].unlink("orders")
    both_interfaces[0].undeclare("customers")
    connection.execute("drop table items, orders, customers cascade")
    assert owner


# --- facts ------------------------------------------------------------------------------------------------


@pytest.fixture
def shop(connection: psycopg.Connection[Any]) -> psycopg.Connection[Any]:
    """Yield a connection to a shop whose tables are linked, declared and protected."""
    _fill(connection, 6)
    client.declare(
        connection, "customers", identifiers=["name"], quasi_identifiers=["segment"], sensitive=["balance"]
    )
    client.link(connection, "orders", "customers", columns=["customer"])
    client.link(connection, "items", "orders")
    client.declare(
        connection, "items", quasi_identifiers=["quantity"], insensitive=["order"], sensitive=["price"]
    )
    _protect(connection, "items", 3)
    _protect(connection, "customers", 4)
    connection.execute("create table colours (id integer primary key, colour text)")
    connection.execute("grant select on colours to kanon_reader")
    return connection


def _protect(connection: psycopg.Connection[Any], name: str, k: int) -> None:
    with mapped_errors():
        connection.execute("select kanon_protect(%s::regclass, %s)", [name, k])


def _oid(connection: psycopg.Connection[Any], name: str) -> int:
    found = connection.execute("select %s::regclass::oid::bigint", [name]).fetchone()
    assert found is not None
    return int(found[0])


def test_facts_of_linked_tables(dsn: str, shop: psycopg.Connection[Any]) -> None:
    customers, orders, items = (_oid(shop, name) for name in ("customers", "orders", "items"))
    facts = _facts(dsn, "select count(*) from items")
    assert {one.name for one in facts.relations} == {"customers", "orders", "items"}
    one = facts.of(items)
    assert one.protection == Protection(3, customers, (), items)
    assert one.links == (Link(("order",), orders, ("id",)),)
    assert (one.key, one.obstacle) == (("order", "line"), None)
    assert {column.name: column.role for column in one.columns} == {
        "order": Role.KNOWN,
        "line": Role.WITHHELD,
        "quantity": Role.KNOWN,
        "price": Role.SECRET,
        "note": Role.WITHHELD,
    }
    middle = facts.of(orders)
    assert middle.links == (Link(("customer",), customers, ("id",)),)
    assert {column.role for column in middle.columns} == {Role.WITHHELD}
    assert middle.obstacle is not None
    assert "does not answer queries" in middle.obstacle[0]
    end = facts.of(customers)
    assert end.protection == Protection(4, customers, ("id",), customers)
    assert end.obstacle is None
    types = {column.name: (column.type_name, column.is_number, column.number) for column in end.columns}
    assert types["balance"] == ("numeric", True, 3)
    assert types["segment"] == ("text", False, 2)


def test_facts_of_views_partitions_and_public_tables(dsn: str, shop: psycopg.Connection[Any]) -> None:
    shop.execute(
        'create view lines as select o.customer, i.quantity from items as i join orders as o on id = "order";'
        "create materialized view stored as select customer, status, priority from orders;"
        "create view bare as select quantity from items;"
        "create view colourful as select colour from colours where random() < 2;"
        "create table days (day date, who integer, what integer) partition by range (day);"
        "create table days_1 partition of days for values from ('2020-01-01') to ('2021-01-01');"
        "create table doctors (id integer primary key, ward text);"
        "create view met as select s.segment, d.ward, s.id from customers as s, doctors as d;"
    )
    client.declare(shop, "lines", quasi_identifiers=["quantity"], entity="customer")
    client.declare(shop, "stored", quasi_identifiers=["status"], entity="customer")
    client.declare(shop, "days", quasi_identifiers=["day"], entity="who")
    client.declare(shop, "doctors", quasi_identifiers=["ward"])
    client.declare(shop, "met", quasi_identifiers=["ward"], entity="id")
    for name in ("lines", "stored", "days", "doctors"):
        _protect(shop, name, 5)
    with pytest.raises(UnsuitableRelation, match="not known whose people"):
        _protect(shop, "met", 5)
    facts = _facts(dsn, "lines stored bare colourful days days_1 colours met customers doctors")
    customers = _oid(shop, "customers")
    for name in ("lines", "stored"):
        protection = _named(facts, name).protection
        assert protection == Protection(5, customers, ("customer",), _oid(shop, name))
        assert _named(facts, name).obstacle is None
    for name in ("days", "days_1"):
        assert _named(facts, name).protection == Protection(
            5, _oid(shop, "days"), ("who",), _oid(shop, "days")
        )
    assert _named(facts, "doctors").protection == Protection(
        5, _oid(shop, "doctors"), ("id",), _oid(shop, "doctors")
    )
    obstacles = {one.name: (one.obstacle or ("",))[0] for one in facts.relations}
    assert "reads tables of people, and is not declared itself" in obstacles["bare"]
    assert _named(facts, "bare").protection is not None
    assert "calls random" in obstacles["colourful"]
    assert _named(facts, "colours").protection is None
    assert obstacles["colours"] == ""
    assert _named(facts, "colours").key == ("id",)


def test_facts_are_those_that_the_analyst_may_know(
    dsn: str, shop: psycopg.Connection[Any], analysts: tuple[str, str]
) -> None:
    role = analysts[0]
    shop.execute("create table secret (id integer); create table seen (a integer, b integer)")
    shop.execute(f"grant select (a) on seen to {role}; grant select on seen to kanon_reader".encode())
    facts = _facts(dsn, "secret seen items", role)
    assert {one.name for one in facts.relations} == {"seen", "items", "orders", "customers"}
    assert [column.name for column in _named(facts, "seen").columns] == ["a"]
    shop.execute("drop table secret, seen")


def test_names_are_found_as_postgresql_reads_them(dsn: str, shop: psycopg.Connection[Any]) -> None:
    shop.execute(
        'create schema "S""x"; create table "S""x"."Tä b" (a integer); create table äöü (id integer)'
    )
    shop.execute(
        "create type mood as enum ('a'); create domain age as integer; create type pair as (a integer)"
    )
    shop.execute("create table typed (m mood, a age, p pair, i interval, n numeric(10, 2), t text[])")
    found = _facts(dsn, 'from "S""x"."Tä b", ÄÖÜ, äöü, TYPED -- items\n where \'items\' = $$items$$')
    assert {(one.schema, one.name) for one in found.relations} == {
        ('S"x', "Tä b"),
        ("public", "äöü"),
        ("public", "typed"),
    }
    assert found.find('S"x', "Tä b") is not None
    assert found.find(None, "Tä b") is None
    shop.execute("grant select on typed to kanon_reader")
    typed = _named(_facts(dsn, "typed"), "typed")
    assert {
        column.name: (column.type_name, column.is_built_in, column.is_number) for column in typed.columns
    } == {
        "m": ("public.mood", True, False),
        "a": ("public.age", True, True),
        "p": ("public.pair", False, False),
        "i": ("interval", True, True),
        "n": ("numeric(10,2)", True, True),
        "t": ("text[]", True, False),
    }


def test_functions_are_known_by_what_they_depend_on(dsn: str) -> None:
    facts = _facts(
        dsn,
        "select lower(a), length(b), date_trunc('x', c), extract(year from d), to_char(e, 'x'), now(),"
        " random(), generate_series(1, 2), sum(a), coalesce(a, b), age(a, b), clock, pg_sleep (1),"
        ' "UPPER"(a), nothing(1),'
        " to_timestamp(a, 'x'), width_bucket(a, 1, 2, 3), current_setting('x'), date_part('x', a)",
    )
    found = dict(facts.functions)
    assert {name for name, one in found.items() if one is Volatility.IMMUTABLE} == {
        "lower",
        "coalesce",
        "width_bucket",
    }
    assert {name for name, one in found.items() if one is Volatility.PINNED} == {
        *("length", "date_trunc", "extract", "to_char", "age", "to_timestamp", "date_part"),
    }
    assert {name for name, one in found.items() if one is Volatility.OTHER} == {
        *("now", "random", "generate_series", "sum", "pg_sleep", "current_setting"),
    }
    assert _facts(dsn, "select age(f(a, b)), age(a, b)").functions["age"] is Volatility.OTHER


def test_a_table_of_somebody_who_may_not_read_its_people_is_not_linked(interface: Interface) -> None:
    """What a table brings along runs as its reader, which reads the table of people for a link."""
    connection = interface.connection
    connection.execute(_SHOP.encode())
    interface.declare("customers", quasi_identifiers=["segment"])
    connection.execute("create role mallory_of_links; alter table orders owner to mallory_of_links")
    try:
        with pytest.raises(UnsuitableRelation, match="may not read"):
            interface.link("orders", "customers", columns=["customer"])
        connection.execute("grant select on customers to mallory_of_links")
        interface.link("orders", "customers", columns=["customer"])
        interface.unlink("orders")
    finally:
        connection.execute(
            "alter table orders owner to postgres; drop owned by mallory_of_links; drop role mallory_of_links"
        )
