"""Linked tables are published together: what joins show of a person is shown of k people, or not at all."""

from __future__ import annotations

import json
import random
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from kanon_pg import client
from kanon_pg.errors import (
    InputError,
    KanonError,
    NameTaken,
    ReleaseBusy,
    UnknownName,
    UnsuitableColumn,
    UnsuitableRelation,
)
from tests.fixtures.interfaces import Interface
from tests.fixtures.linked_tables import declare_clinic, fill_clinic

K = 3


def rows(connection: psycopg.Connection[Any], query: str) -> list[tuple[Any, ...]]:
    return connection.execute(query.encode()).fetchall()


def require_hidden(connection: psycopg.Connection[Any], k: int = K) -> None:
    """Count, of what joins show, that nobody is among fewer than k people who look alike in every way."""
    shown: dict[Any, list[Any]] = {
        row[0]: [tuple(map(str, row[1:])), []]
        for row in rows(
            connection, "select id, sex, region, admissions_clinic, kanon_suppressed from safe.patients"
        )
    }
    labs = Counter(row[0] for row in rows(connection, "select admission from safe.lab_results"))
    for key, patient in rows(connection, "select id, patient from safe.admissions"):
        shown[patient][1].append(labs.pop(key, 0))
    assert not labs, "a lab result hangs on nothing"
    invoices = Counter(row[0] for row in rows(connection, "select payer from safe.invoices"))
    assert invoices.keys() <= shown.keys()
    classes = Counter(
        (cells, tuple(sorted(numbers)), invoices[key]) for key, (cells, numbers) in shown.items()
    )
    assert not classes or min(classes.values()) >= k


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_what_joins_show_is_shown_of_k_people(interface: Interface, seed: int) -> None:
    connection = interface.connection
    fill_clinic(connection, seed)
    declare_clinic(interface)
    report = interface.anonymize(
        "patients", K, tables=["lab_results", "admissions", "invoices"], time_limit=2.0, seed=1
    )
    assert (report.rows, report.people) == (120, 120)
    require_hidden(connection)
    for table, key in (
        ("patients", None),
        ("admissions", "patient"),
        ("lab_results", "admission"),
        ("invoices", "payer"),
    ):
        found = rows(connection, f"select count(*), count(distinct surrogate) from safe.{table}")
        assert found[0][0] == found[0][1] > 0, key
    # what joins show is what is so: the surrogate keys say who is who
    joined = rows(
        connection,
        "select p.surrogate, a.surrogate, l.surrogate from safe.lab_results l"
        " join safe.admissions a on a.id = l.admission join safe.patients p on p.id = a.patient and p.id = "
        "l.patient",
    )
    truth = rows(
        connection,
        "select p.id, a.id, l.id from lab_results l join admissions a on a.id = l.admission join patients p "
        "on p.id = a.patient",
    )
    assert set(joined) <= set(truth)
    assert len(joined) == rows(connection, "select count(*) from safe.lab_results")[0][0]


def publish(interface: Interface, **options: Any) -> Any:
    given = {"tables": ["lab_results", "admissions", "invoices"], "time_limit": 1.0, "seed": 1} | options
    return interface.anonymize("patients", K, **given)


def in_turn(connection: psycopg.Connection[Any], names: list[str]) -> None:
    for name in names:
        connection.execute(f"refresh materialized view kanon.{name}_storage".encode())
        require_hidden(connection)


@pytest.mark.parametrize("seed", [1, 2])
def test_no_order_of_plain_refreshes_shows_more(interface: Interface, seed: int) -> None:
    """Rows come and go, and views are refreshed one by one by somebody who knows nothing of the others."""
    connection = interface.connection
    fill_clinic(connection, seed)
    declare_clinic(interface)
    publish(interface)
    draw = random.Random(seed)
    views = ["patients", "admissions", "lab_results", "invoices"]
    changes = [
        "delete from lab_results where id % 7 = 0",
        "delete from lab_results where admission in (select id from admissions where patient % 11 = 0);"
        "delete from admissions where patient % 11 = 0",
        "insert into admissions select 10000 + id, patient, ward, clinic, admitted, 0 from admissions"
        " where id < 40",
        "delete from lab_results where patient % 5 = 0; delete from admissions where patient % 5 = 0;"
        "delete from invoices where payer % 5 = 0; delete from patients where id % 5 = 0",
        "update lab_results set admission = (select min(id) from admissions), patient ="
        " (select patient from admissions order by id limit 1) where id % 13 = 1",
        "insert into patients select 1000 + i, 'F', 'north', 'new', 0 from generate_series(1, 2) as i;"
        "insert into invoices select 5000 + i, 1000 + i, 1, 0 from generate_series(1, 2) as i",
    ]
    for change in changes:
        connection.execute(change.encode())
        in_turn(connection, draw.choices(views, k=6))
    interface.refresh("patients")
    require_hidden(connection)
    assert rows(connection, "select count(*) > 0 from safe.invoices") == [(True,)]
    interface.anonymize("patients", K, tables=["lab_results", "admissions", "invoices"], time_limit=1.0)
    require_hidden(connection)


def test_two_publications_have_no_pseudonym_in_common(interface: Interface) -> None:
    connection = interface.connection
    fill_clinic(connection, 1)
    declare_clinic(interface)
    keys = "select id from safe.patients union all select id from safe.admissions"
    publish(interface)
    before = set(rows(connection, keys))
    in_turn(connection, ["patients", "admissions"])
    assert set(rows(connection, keys)) == before
    interface.refresh("patients")
    refreshed = set(rows(connection, keys))
    assert not before & refreshed
    before |= refreshed
    publish(interface)
    assert not before & set(rows(connection, keys))
    connection.execute("set role kanon_curator")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute("select value from kanon.secret")
    connection.execute("reset role")
    interface.notices.clear()
    for _ in range(2):
        publish(interface, secret="study")
        assert any("share a secret" in notice for notice in interface.notices)
    shared = set(rows(connection, keys))
    interface.refresh("patients")
    assert set(rows(connection, keys)) == shared
    interface.anonymize("patients", K, release="alone", pseudonyms=["id"], secret="study", time_limit=1.0)
    assert rows(connection, "select count(*) from safe.alone join safe.patients using (id)") == [(120,)]
    publish(interface, secret="study", release="again")
    assert set(rows(connection, "select id from safe.again")) == set(
        rows(connection, "select id from safe.patients")
    )
    assert set(rows(connection, keys)) == shared


def test_numbers_that_nobody_can_know_leave_all_rows(interface: Interface) -> None:
    connection = interface.connection
    fill_clinic(connection, 1)
    declare_clinic(interface)
    _refused(interface, InputError, "cannot be kept", rows={"admissions": "unknown"})
    unknown = dict.fromkeys(["admissions", "lab_results", "invoices"], "unknown")
    publish(interface, rows=unknown)
    for table in ("admissions", "lab_results", "invoices"):
        assert rows(connection, f"select count(*) from safe.{table}") == rows(
            connection, f"select count(*) from {table}"
        )
    assert rows(connection, "select base::text from kanon.release_tables where numbers_known") == []
    publish(interface, rows={"invoices": 1, "lab_results": "unknown"})
    assert rows(
        connection, "select max(n) from (select count(*) as n from safe.invoices group by payer) as t"
    ) == [(1,)]
    told = "select distinct invoices_rows from safe.patients where invoices_rows is not null"
    assert rows(connection, told) == [("1 or more",)]
    require = "select count(*) from (select payer from safe.invoices group by 1 having count(*) > 1) as t"
    assert rows(connection, require) == [(0,)]


@pytest.mark.parametrize("figure", ["first", "last", "count", "set", {"set": "year"}])
def test_a_column_of_events_is_a_figure_of_the_person(interface: Interface, figure: Any) -> None:
    connection = interface.connection
    fill_clinic(connection, 1)
    declare_clinic(interface)
    interface.declare("admissions", quasi_identifiers=["clinic", "admitted"], sensitive=["ward"])
    with pytest.raises(UnsuitableColumn, match="several values for one"):
        publish(interface)
    publish(interface, figures={"admissions": {"admitted": figure}})
    kind = figure if isinstance(figure, str) else "set"
    name = "admissions_admitted" if kind == "set" else f"admissions_{kind}_admitted"
    classes = (
        f'select count(*) from safe.patients group by sex, region, admissions_clinic, "{name}", '
        "admissions_rows,"
        " invoices_rows, kanon_suppressed"
    )
    assert min(rows(connection, classes))[0] >= K
    published = {row[0] for row in rows(connection, f'select distinct "{name}"::text from safe.patients')} - {
        None
    }
    truth = {
        "first": "min(admitted)::text",
        "last": "max(admitted)::text",
        "count": "count(distinct admitted)::text",
        "set": "array_agg(distinct admitted::text order by admitted::text)::text",
    }[kind]
    if figure == {"set": "year"}:
        year = "date_trunc('year', admitted)::date::text"
        truth = f"array_agg(distinct {year} order by {year})::text"
    assert published
    assert published <= {
        row[0] for row in rows(connection, f"select {truth} from admissions group by patient")
    }
    columns = "select attname::text from pg_attribute where attrelid = 'safe.admissions'::regclass"
    assert ("admitted",) not in rows(connection, columns)


def _refused(interface: Interface, error: type[KanonError], words: str, **options: Any) -> None:
    before = rows(
        interface.connection, "select oid from pg_class union all select oid from pg_proc order by 1"
    )
    with pytest.raises(error, match=words):
        publish(interface, **options)
    assert (
        rows(interface.connection, "select oid from pg_class union all select oid from pg_proc order by 1")
        == before
    )


def test_what_cannot_be_published_is_refused_and_changes_nothing(interface: Interface) -> None:
    connection = interface.connection
    fill_clinic(connection, 1)
    declare_clinic(interface)
    connection.execute(
        'create table "od""d" (id integer primary key, x integer);'
        "create view admissions_view as select * from admissions;"
        "create table safe.taken (x integer);"
        "create table keyless (patient integer not null references patients, x integer)"
    )
    _refused(interface, UnsuitableRelation, "is not linked", tables=['"od""d"'])
    _refused(interface, UnsuitableRelation, "no ordinary table", tables=["admissions_view"])
    _refused(interface, InputError, "do not lead to", tables=["lab_results"])
    _refused(interface, InputError, "named twice", tables=["admissions", "admissions"])
    _refused(interface, InputError, "named twice", tables=["patients"])
    _refused(interface, InputError, "over_time or remember", over_time={})
    _refused(interface, InputError, "over_time or remember", remember=2)
    _refused(interface, InputError, "none of the tables", rows={"nothing": "unknown"})
    _refused(interface, InputError, "none of the tables", figures={"nothing": {}})
    _refused(interface, InputError, "no quasi-identifier", figures={"admissions": {"ward": "first"}})
    _refused(interface, InputError, "none of those there are", figures={"admissions": {"clinic": "middle"}})
    _refused(interface, InputError, "must be an integer", rows={"admissions": "many"})
    _refused(interface, InputError, "other tables hang on them", rows={"admissions": 2})
    _refused(interface, UnsuitableColumn, "not what the linked tables", pseudonyms=["sex"])
    _refused(interface, UnknownName, "nothing", pseudonyms=["nothing"])
    connection.execute("alter table invoices add codes integer[]")
    interface.declare("invoices", quasi_identifiers=["codes"])
    _refused(interface, UnsuitableColumn, "is an array")
    interface.declare("invoices", insensitive=["amount"])
    _refused(interface, InputError, "about linked tables", tables=None, rows={"admissions": 2})
    _refused(interface, InputError, "name of a secret", secret="")
    interface.link("keyless", "patients")
    _refused(interface, UnsuitableRelation, "no primary key", tables=["keyless"])
    connection.execute("alter table patients add admissions_rows integer")
    interface.declare("patients", quasi_identifiers=["sex", "admissions_rows"])
    _refused(interface, UnsuitableColumn, "as a figure of a linked table is")


def test_names_of_other_views_are_not_taken(interface: Interface) -> None:
    connection = interface.connection
    fill_clinic(connection, 1)
    declare_clinic(interface)
    interface.anonymize("patients", K, release="invoices", time_limit=1.0)
    _refused(interface, NameTaken, "exists already")
    publish(interface, release="clinic")
    names = "select relname::text from pg_class where relnamespace = 'safe'::regnamespace order by 1"
    assert [row[0] for row in rows(connection, names)] == [
        "clinic", "clinic_admissions", "clinic_invoices", "clinic_lab_results", "invoices"
    ]  # fmt: skip
    with pytest.raises(NameTaken):
        interface.anonymize("patients", K, release="clinic_admissions", time_limit=1.0)


def test_dropping_and_publishing_anew_leave_nothing_behind(interface: Interface) -> None:
    connection = interface.connection
    fill_clinic(connection, 1)
    declare_clinic(interface)
    left = (
        "select relname::text from pg_class where relnamespace in ('safe'::regnamespace, "
        "'kanon_bases'::regnamespace)"
        " or relkind = 'm' union all select proname::text from pg_proc where pronamespace = "
        "'kanon_bases'::regnamespace"
        " union all select name from kanon.secret order by 1"
    )
    before = rows(connection, left)
    publish(interface)
    connection.execute("grant select on safe.admissions to kanon_analyst")
    publish(interface, tables=["admissions"])
    shown = [row[0] for row in rows(connection, "select view::text from kanon.release_tables")]
    assert shown == ["safe.admissions"]
    assert rows(connection, "select has_table_privilege('kanon_analyst', 'safe.admissions', 'select')") == [
        (True,)
    ]
    interface.drop("patients")
    assert rows(connection, left) == before
    publish(interface)
    interface.anonymize("patients", K, time_limit=1.0)
    assert rows(connection, "select count(*) from kanon.release_tables") == [(0,)]
    interface.drop("patients")
    assert rows(connection, left) == before
    publish(interface)
    connection.execute("drop table patients, admissions, lab_results, invoices cascade")
    interface.drop("patients")


def test_a_certificate_proves_the_bound_of_the_people(interface: Interface) -> None:
    fill_clinic(interface.connection, 2)
    declare_clinic(interface)
    report = publish(interface)
    assert report.lower_bound is not None
    certificate = json.loads(interface.certificate("patients", time_limit=2.0))
    assert certificate["k"] == K


_COMPOSITE = """
create table "pe""ople" (country text, number integer, "a ge" integer, primary key (country, number));
create table "st$$ays" (
    country text, number integer, "se'q" integer, ward text, primary key (country, number, "se'q"),
    foreign key (country, number) references "pe""ople"
);
create table costs (
    id uuid primary key default gen_random_uuid(), country text not null, number integer not null,
    stay integer not null, cost integer, foreign key (country, number, stay) references "st$$ays",
    foreign key (country, number) references "pe""ople"
);
insert into "pe""ople" select c, i, i % 3 from generate_series(1, 30) as i, unnest('{a,b}'::text[]) as c;
insert into "st$$ays" select country, number, j, 'w' from "pe""ople", generate_series(1, 1 + number % 2) as j;
insert into costs (country, number, stay, cost) select country, number, "se'q", 5 from "st$$ays";
"""


def test_keys_of_several_columns_and_hostile_names(interface: Interface) -> None:
    connection = interface.connection
    connection.execute(_COMPOSITE.encode())
    interface.declare('"pe""ople"', quasi_identifiers=["a ge"])
    interface.declare('"st$$ays"', sensitive=["ward"])
    interface.declare("costs", insensitive=["cost"])
    interface.link('"st$$ays"', '"pe""ople"')
    interface.link("costs", '"st$$ays"')
    interface.anonymize('"pe""ople"', K, tables=['"st$$ays"', "costs"], time_limit=1.0)
    joined = """
        select count(*), count(distinct (p.country, p.number)) from safe."pe""ople" p
        join safe."st$$ays" s using (country, number)
        join safe.costs c on (c.country, c.number, c.stay) = (s.country, s.number, s."se'q")
            and (c.country, c.number) = (p.country, p.number)
    """
    truth = "select count(*), count(distinct (country, number)) from costs"
    assert rows(connection, joined) == rows(connection, truth)


def test_a_key_of_a_single_table_is_published_as_a_pseudonym(interface: Interface) -> None:
    connection = interface.connection
    fill_clinic(connection, 1)
    declare_clinic(interface)
    interface.anonymize("patients", K, pseudonyms=["id"], time_limit=1.0)
    first = {row[0] for row in rows(connection, "select id from safe.patients")}
    assert len(first) == 120
    assert rows(connection, "select pg_typeof(id)::text from safe.patients limit 1") == [("uuid",)]
    interface.anonymize("patients", K, pseudonyms=["id"], time_limit=1.0)
    assert not first & {row[0] for row in rows(connection, "select id from safe.patients")}
    with pytest.raises(UnsuitableColumn, match="is not unique"):
        interface.anonymize("patients", K, pseudonyms=["region"], time_limit=1.0)


def test_analysts_read_the_views_and_nothing_behind_them(interface: Interface) -> None:
    connection = interface.connection
    fill_clinic(connection, 1)
    declare_clinic(interface)
    publish(interface)
    connection.execute("grant select on all tables in schema safe to kanon_analyst; set role kanon_analyst")
    assert rows(
        connection, "select count(*) > 0 from safe.patients p join safe.admissions a on a.patient = p.id"
    ) == [(True,)]
    for behind in ("kanon.admissions_storage", "admissions", "kanon.release_table", "kanon.secret"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(f"select * from {behind}".encode())
    definitions = "select pg_get_viewdef(oid) from pg_class where relnamespace = 'safe'::regnamespace"
    assert not any("w1" in row[0] for row in rows(connection, definitions))


def test_who_may_not_read_the_people_may_not_read_a_further_table(interface: Interface) -> None:
    """Default rights on schema safe give analysts what was taken from them for this release."""
    connection = interface.connection
    fill_clinic(connection, 1)
    declare_clinic(interface)
    publish(interface, tables=["invoices"])
    may = (
        "select has_table_privilege('kanon_analyst', 'safe.patients', 'select'),"
        " has_table_privilege('kanon_analyst', 'safe.admissions', 'select')"
    )
    connection.execute("revoke select on safe.patients, safe.invoices from kanon_analyst")
    publish(interface, tables=["invoices", "admissions"])
    assert rows(connection, may) == [(False, False)]
    interface.drop("patients")
    publish(interface, tables=["invoices", "admissions"])
    assert rows(connection, may) == [(True, True)]


def test_a_key_that_leads_elsewhere_than_the_links_is_withheld(interface: Interface) -> None:
    connection = interface.connection
    fill_clinic(connection, 1)
    connection.execute(
        "alter table invoices add owed_by integer references patients;"
        "update invoices set owed_by = 1 + payer % 120; alter table lab_results alter patient drop not null;"
        "update lab_results set patient = null where id = 3"
    )
    interface.declare("patients", quasi_identifiers=["sex"])
    interface.declare("invoices", insensitive=["amount", "owed_by"])
    interface.link("invoices", "patients", columns=["payer"])
    interface.anonymize("patients", K, tables=["invoices"], time_limit=1.0)
    shown = (
        "select attname::text from pg_attribute where attrelid = 'safe.invoices'::regclass order by attnum"
    )
    assert rows(connection, shown) == [("payer",), ("amount",)]
    # of several further keys to one table one is shown, and what it shows is checked
    connection.execute(
        "alter table invoices add again integer references patients;"
        "update invoices set owed_by = payer, again = payer"
    )
    interface.declare("invoices", insensitive=["amount", "owed_by", "again"])
    interface.anonymize("patients", K, tables=["invoices"], time_limit=1.0)
    assert rows(connection, shown) in (
        [(name,) for name in ("payer", "amount", one)] for one in ("owed_by", "again")
    )


def test_rows_that_can_be_followed_are_in_the_class_of_their_person(interface: Interface) -> None:
    connection = interface.connection
    connection.execute(
        "create table visits (visit integer primary key, person text, sex text, day date, ill text);"
        "insert into visits select i, 'p' || i % 60, (array['F', 'M'])[1 + i % 60 % 2],"
        " date '2020-01-01' + i / 60, 'ill ' || i % 4 from generate_series(1, 150) as i;"
        "insert into visits values (999, null, 'F', null, 'x')"
    )
    interface.declare("visits", quasi_identifiers=["sex"], sensitive=["ill"], insensitive=[], entity="person")
    report = interface.anonymize("visits", K, pseudonyms=["person"], time_limit=1.0)
    assert report.people == 60
    joined = (
        "select p.person, p.sex, p.kanon_suppressed::text, count(r.person) from safe.visits as p"
        " left join safe.visits_rows as r using (person) group by 1, 2, 3"
    )
    classes = Counter(row[1:] for row in rows(connection, joined))
    assert min(classes.values()) >= K
    assert sum(key[-1] * n for key, n in classes.items()) == 150
    interface.refresh("visits")
    assert not any("withheld" in notice for notice in interface.notices)
    interface.declare("visits", quasi_identifiers=["sex", "day"], sensitive=["ill"], entity="person")
    with pytest.raises(UnsuitableColumn, match="several values for one"):
        interface.anonymize("visits", K, pseudonyms=["person"], time_limit=1.0)
    first = {"visits": {"day": "first"}}
    interface.anonymize("visits", K, pseudonyms=["person"], figures=first, time_limit=1.0)
    assert rows(connection, "select count(first_day) > 0 from safe.visits") == [(True,)]
    interface.drop("visits")


def test_a_policy_has_linked_releases_and_the_rights_on_their_views(interface: Interface) -> None:
    connection = interface.connection
    fill_clinic(connection, 1)
    declare_clinic(interface)
    publish(interface, rows={"invoices": 1})
    connection.execute("grant select on safe.patients, safe.admissions to kanon_analyst")
    document = client.policy(connection)
    assert client.apply_policy(connection, document, check=True) == []
    interface.drop("patients")
    client.apply_policy(connection, document)
    require_hidden(connection)
    may = "select has_table_privilege('kanon_analyst', 'safe.admissions', 'select')"
    assert rows(connection, may) == [(True,)]
    assert client.apply_policy(connection, document, check=True) == []


def _joined_classes(connection: psycopg.Connection[Any]) -> Counter[Any]:
    """Count people by all that joins of a chain show, and by their cells."""
    shown = (
        "select p.id, p.sex, p.kanon_suppressed::text, p.visits_rows, array(select (select count(*) from"
        " safe.results r where r.visit = v.id)::text || ' ' || (select count(*) from safe.orders o where"
        " o.visit = v.id)::text from safe.visits v where v.person = p.id order by 1)::text from safe.people p"
    )
    return Counter(row[1:] for row in rows(connection, shown))


_CHAIN = """
create table people (id integer primary key, sex text);
create table visits (id integer primary key, person integer not null references people);
create table results (id serial primary key, visit integer not null references visits);
create table orders (id serial primary key, visit integer not null references visits);
insert into people select i, 'F' from generate_series(1, 12) as i;
insert into visits select i, (1 + i) / 2 from generate_series(1, 24) as i;
insert into results (visit) select i from generate_series(1, 24) as i, generate_series(1, 2) where i % 2 = 0;
insert into orders (visit) select i from generate_series(1, 24) as i where i % 2 = 1;
"""

_SWAP = (
    "update results set visit = case visit when 1 then 2 else 1 end where visit in (1, 2);"
    "update orders set visit = case visit when 1 then 2 else 1 end where visit in (1, 2)"
)


@pytest.mark.parametrize("first", ["results", "orders", "visits", "people"])
def test_tables_that_were_stored_at_two_moments_do_not_fit_together(interface: Interface, first: str) -> None:
    """One person's results and orders change places: every number stays, and only the joins tell."""
    connection = interface.connection
    connection.execute(_CHAIN.encode())
    interface.declare("people", quasi_identifiers=["sex"])
    for table, parent in (("visits", "people"), ("results", "visits"), ("orders", "visits")):
        interface.link(table, parent)
    tables = ["visits", "results", "orders"]
    interface.anonymize("people", K, tables=tables, time_limit=1.0)
    assert min(_joined_classes(connection).values()) >= K
    for then in ("results", "orders", "visits"):
        connection.execute(_SWAP.encode())
        for name in (first, then):
            connection.execute(f"refresh materialized view kanon.{name}_storage".encode())
            assert min(_joined_classes(connection).values()) >= K
    interface.refresh("people")
    assert min(_joined_classes(connection).values()) >= K
    assert rows(connection, "select count(*) from safe.results") == [(24,)]


_THREE = """
create table people (id integer primary key, sex text);
create table stays (id integer primary key, person integer not null references people);
create table visits (id integer primary key, stay integer not null references stays);
create table results (id serial primary key, visit integer not null references visits);
insert into people select i, 'F' from generate_series(1, 8) as i;
insert into stays select 10 * i + n, i from generate_series(1, 8) as i, generate_series(1, 2) as n;
insert into visits select 100 * i + 11, 10 * i + 1 from generate_series(1, 8) as i;
insert into visits select 100 * i + 12, 10 * i + 1 from generate_series(1, 8) as i;
insert into visits select 100 * i + 20, 10 * i + 2 from generate_series(1, 8) as i;
insert into results (visit) select 100 * i + 11 from generate_series(1, 8) as i;
insert into results (visit) select 100 * i + 12 from generate_series(1, 8) as i, generate_series(1, 3);
"""


def _three_levels(connection: psycopg.Connection[Any]) -> Counter[Any]:
    """Count people by what joins of a chain of three show."""
    shown = (
        "select p.id, array(select array(select (select count(*) from safe.results r where r.visit = v.id)"
        " from safe.visits v where v.stay = s.id order by 1)::text from safe.stays s where s.person = p.id"
        " order by 1)::text from safe.people p"
    )
    return Counter(row[1] for row in rows(connection, shown))


_CHANGES = {
    "undone": (
        "delete from results where visit = 111; delete from visits where id = 111;"
        "insert into visits values (119, 11)",
        "update visits set id = 111 where id = 119; insert into results (visit) values (111)",
    ),
    "links": (
        "update visits set stay = case stay when 11 then 12 else 11 end where id in (112, 120)",
        "select 1",
    ),
    "moved": ("update visits set stay = 12 where id = 112", "select 1"),
}


@pytest.mark.parametrize("change", _CHANGES)
def test_rows_hang_on_rows_that_are_stored_as_they_are(interface: Interface, change: str) -> None:
    """One person's rows change, are stored, and change back; or the links between rows alone change."""
    connection = interface.connection
    connection.execute(_THREE.encode())
    interface.declare("people", quasi_identifiers=["sex"])
    for table, parent in (("stays", "people"), ("visits", "stays"), ("results", "visits")):
        interface.link(table, parent)
    interface.anonymize("people", K, tables=["stays", "visits", "results"], time_limit=1.0)
    assert set(_three_levels(connection).values()) == {8}
    for before in ((), ("visits",), ("results",), ("visits", "results"), ("stays", "visits")):
        for then in (("results",), ("visits",), ("visits", "results")):
            with connection.transaction(force_rollback=True):
                for text, names in zip(_CHANGES[change], (before, then), strict=True):
                    connection.execute(text.encode())
                    for name in names:
                        connection.execute(f"refresh materialized view kanon.{name}_storage".encode())
                    assert min(_three_levels(connection).values()) >= K, (before, then)


def test_no_row_has_two_people_once_its_key_is_gone(interface: Interface) -> None:
    connection = interface.connection
    connection.execute(_CHAIN.encode())
    interface.declare("people", quasi_identifiers=["sex"])
    for table, parent in (("visits", "people"), ("results", "visits")):
        interface.link(table, parent)
    interface.anonymize("people", K, tables=["visits", "results"], time_limit=1.0)
    connection.execute(
        "alter table visits drop constraint visits_pkey cascade; delete from visits where id = 3;"
        "insert into visits values (1, 2)"
    )
    with pytest.raises(psycopg.errors.UniqueViolation):
        connection.execute("refresh materialized view kanon.visits_storage")


@pytest.mark.parametrize(("parent", "child"), [("numeric(10, 2)", "integer"), ("numeric", "numeric(10, 1)")])
def test_keys_of_other_scales_meet(interface: Interface, parent: str, child: str) -> None:
    connection = interface.connection
    connection.execute(
        f"create table people (id {parent} primary key, sex text);"
        f"create table visits (id integer primary key, person {child} not null references people);"
        "insert into people select i, 'F' from generate_series(1, 12) as i;"
        "insert into visits select i, i from generate_series(1, 12) as i".encode()
    )
    interface.declare("people", quasi_identifiers=["sex"])
    interface.link("visits", "people")
    interface.anonymize("people", K, tables=["visits"], time_limit=1.0)
    joined = "select count(*) from safe.people p join safe.visits v on v.person = p.id"
    assert rows(connection, joined) == [(12,)]


_TEXT_KEYS = """
create table people (id integer primary key, sex text);
create table visits (id text primary key, person integer not null references people);
create table results (id serial primary key, visit text not null references visits);
insert into people select i, 'F' from generate_series(1, 12) as i;
insert into visits select i || letter, i from generate_series(1, 12) as i, unnest(array['a', 'b']) as letter;
insert into results (visit) select id from visits union all select id from visits where id ~ 'b';
"""


@pytest.mark.parametrize("key", ["7a 1; 7b", "2:7a 1 2:7b", "7a1;7b", "2:7a 1 7b"])
def test_no_key_reads_like_two(interface: Interface, key: str) -> None:
    """One visit with two results takes the place of two visits, and its key spells what these were."""
    connection = interface.connection
    connection.execute(_TEXT_KEYS.encode())
    interface.declare("people", quasi_identifiers=["sex"])
    interface.link("visits", "people")
    interface.link("results", "visits")
    interface.anonymize("people", K, tables=["visits", "results"], time_limit=1.0)
    connection.execute(
        "delete from results where visit in ('7a', '7b'); delete from visits where id in ('7a', '7b')"
    )
    connection.execute("insert into visits values (%s, 7)", [key])
    connection.execute("insert into results (visit) values (%s), (%s)", [key, key])
    shown = (
        "select p.id, p.visits_rows, count(distinct v.id), count(r.visit) from safe.people p"
        " left join safe.visits v on v.person = p.id left join safe.results r on r.visit = v.id group by 1, 2"
    )
    for view in ("results", "visits", "results"):
        connection.execute(f"refresh materialized view kanon.{view}_storage".encode())
        assert min(Counter(row[1:] for row in rows(connection, shown)).values()) >= K


def test_numbers_of_three_tables_below_each_other_are_published_as_they_are(interface: Interface) -> None:
    """Rows with 10 notes stand before or after those with 1, in whatever order the database has them."""
    connection = interface.connection
    connection.execute(
        "create table people (id integer primary key, sex text);"
        "create table visits (id integer primary key, person integer not null references people);"
        "create table results (id integer primary key, visit integer not null references visits);"
        "create table notes (day date, number serial, result integer not null references results,"
        " primary key (day, number));"
        "insert into people select i, 'F' from generate_series(1, 12) as i;"
        "insert into visits select i, (1 + i) / 2 from generate_series(1, 24) as i;"
        "insert into results select i, (1 + i) / 2 from generate_series(1, 48) as i;"
        "insert into notes (day, result) select date '2020-01-01' + n, i from generate_series(1, 48) as i,"
        " generate_series(1, (array[1, 2, 10, 2])[1 + i % 4]) as n"
    )
    interface.declare("people", quasi_identifiers=["sex"])
    for table, parent in (("visits", "people"), ("results", "visits"), ("notes", "results")):
        interface.link(table, parent)
    interface.declare("notes", insensitive=["day"])
    interface.anonymize("people", K, tables=["visits", "results", "notes"], time_limit=1.0)
    assert rows(connection, "select count(*), count(distinct visits_rows) from safe.people") == [(12, 1)]
    assert rows(connection, "select count(*) from safe.notes") == rows(
        connection, "select count(*) from notes"
    )
    ((numbers,),) = rows(connection, "select distinct visits_rows from safe.people")
    assert sorted(numbers.replace(")", "").replace("(", "; ").split("; "))[-1].startswith("results 2")
    connection.execute("set datestyle = 'SQL, DMY'; refresh materialized view kanon.notes_storage")
    assert rows(connection, "select count(*) from safe.notes") == rows(
        connection, "select count(*) from notes"
    )


def test_the_people_are_not_refreshed_concurrently(interface: Interface) -> None:
    """That would write what has changed alone, where everybody can see which rows these are."""
    connection = interface.connection
    fill_clinic(connection, 1)
    declare_clinic(interface)
    publish(interface)
    ((database,),) = rows(connection, "select quote_ident(current_database())")
    connection.execute(f"grant temporary on database {database} to kanon_owner".encode())
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState):
        connection.execute("refresh materialized view concurrently kanon.patients_storage")


def test_numbers_of_rows_can_have_one_level(interface: Interface) -> None:
    fill_clinic(interface.connection, 1)
    declare_clinic(interface)
    publish(interface, same_level=["invoices_rows"])
    shown = (
        "select distinct invoices_rows from safe.patients where not 'invoices_rows' = any (kanon_suppressed)"
    )
    found = {row[0] for row in rows(interface.connection, shown)}
    assert found
    assert not (found & {"1", "2"} and any(" to " in one for one in found))
    _refused(interface, InputError, "no quasi-identifier with a hierarchy", same_level=["sex"])


def test_numbers_of_rows_have_no_other_hierarchy(interface: Interface) -> None:
    fill_clinic(interface.connection, 1)
    declare_clinic(interface)
    _refused(
        interface, InputError, "a hierarchy of its own", hierarchies={"invoices_rows": {"builder": "prefix"}}
    )


def test_keys_are_not_told_by_other_columns(interface: Interface) -> None:
    connection = interface.connection
    connection.execute(
        "create table people (id integer primary key, code text unique not null, sex text);"
        "create table visits (id integer primary key, person text not null references people (code),"
        " day date, after date generated always as (day + 1) stored, serial integer unique, ward text);"
        "insert into people select i, 'c' || i, 'F' from generate_series(1, 30) as i;"
        "insert into visits (id, person, day, serial, ward)"
        " select i, 'c' || i, '2020-01-01', i, 'w' from generate_series(1, 30) as i"
    )
    interface.declare("people", quasi_identifiers=["sex"], insensitive=["id"])
    interface.declare("visits", quasi_identifiers=["day"], sensitive=["ward"], insensitive=["serial"])
    interface.link("visits", "people")
    interface.anonymize("people", K, tables=["visits"], time_limit=1.0)
    columns = (
        "select attrelid::regclass::text, attname::text from pg_attribute where attrelid in"
        " ('safe.people'::regclass, 'safe.visits'::regclass) order by 1, 2"
    )
    assert rows(connection, columns) == [
        ("safe.people", name) for name in ("code", "kanon_suppressed", "sex", "visits_day", "visits_rows")
    ] + [("safe.visits", "person"), ("safe.visits", "ward")]
    connection.execute("alter table visits add low text generated always as (lower(ward)) stored")
    for roles, models in (
        ({"quasi_identifiers": ["day"], "insensitive": ["after"]}, {}),
        ({"quasi_identifiers": ["after"], "insensitive": ["day"]}, {}),
        ({"sensitive": ["ward"], "insensitive": ["low"]}, {"l": 2}),
        ({"sensitive": ["low"], "insensitive": ["ward"]}, {"l": 2}),
    ):
        interface.declare("visits", **roles)
        with pytest.raises(UnsuitableColumn, match="computed from"):
            interface.anonymize("people", K, tables=["visits"], time_limit=1.0, **models)


def test_nobody_whose_code_could_read_others_tables_takes_part(interface: Interface) -> None:
    """A policy on a table of somebody else would run as the reader of the person table."""
    connection = interface.connection
    fill_clinic(connection, 1)
    declare_clinic(interface)
    publish(interface)
    connection.execute("alter table invoices enable row level security")
    with pytest.raises(UnsuitableRelation, match="row-level security"):
        interface.refresh("patients")
    connection.execute("alter table invoices disable row level security")
    interface.refresh("patients")
    connection.execute("create role mallory_of_linked; alter table invoices owner to mallory_of_linked")
    try:
        with pytest.raises(UnsuitableRelation, match="may not read"):
            interface.refresh("patients")
        _refused(interface, UnsuitableRelation, "may not read")
    finally:
        connection.execute("alter table invoices owner to postgres; drop role mallory_of_linked")


def test_a_report_says_what_became_of_each_table(interface: Interface) -> None:
    connection = interface.connection
    fill_clinic(connection, 1)
    declare_clinic(interface)
    publish(interface, rows={"invoices": "unknown"})
    for change in ("select 1", "update admissions set ward = 'w1' where id < 9"):
        connection.execute(change.encode())
        said = client.release_report(connection, "patients")
        assert any("safe.invoices shows" in one for one in said["guarantee"])
        assert any("ward and surrogate of safe.admissions" in one for one in said["not_promised"])
        interface.refresh("patients")
    with pytest.raises(UnknownName, match="is a table of release"):
        interface.drop("admissions")
    publish(interface, l=2)
    (said,) = [one for one in client.release_report(connection, "patients")["guarantee"] if "1 in 2" in one]
    assert "ward of safe.admissions" in said
    assert "kind of safe.lab_results" in said
    # of a value, rows of the table less rows of the release would be those of classes that do not satisfy it
    tables = client.release_report(connection, "patients")["linked"]
    assert not any(column["role"] == "sensitive" for table in tables for column in table["columns"])
    with pytest.raises(UnknownName, match="is not remembered"):
        client.composition(connection, ["patients"])


def test_a_name_that_is_being_published_is_nobody_elses(interface: Interface) -> None:
    """Two calls want one name at the same time: the second waits, and is refused."""
    fill_clinic(interface.connection, 1)
    declare_clinic(interface)
    refused: list[Exception] = []

    def publish_other() -> None:
        try:
            client.anonymize(interface.dsn, "patients", K, release="invoices", time_limit=1.0)
        except KanonError as error:
            refused.append(error)

    other = threading.Thread(target=publish_other)
    with psycopg.connect(interface.dsn) as first:
        first.execute(
            "select kanon_anonymize('patients', 3, tables => '{invoices}', time_limit => '1 second')"
        )
        other.start()
        other.join(3)
        assert other.is_alive()
    other.join()
    assert isinstance(refused[0], NameTaken | ReleaseBusy)
    assert rows(interface.connection, "select count(*) from kanon.releases") == [(1,)]


@contextmanager
def another_owner(connection: psycopg.Connection[Any], name: str) -> Iterator[None]:
    """Create a role that owns the patients and their invoices for the context."""
    connection.execute(f'create role "{name}"'.encode())
    for table in ("patients", "invoices"):
        connection.execute(f'alter table {table} owner to "{name}"'.encode())
    try:
        yield
    finally:
        connection.execute(
            f'reassign owned by "{name}" to postgres; drop owned by "{name}"; drop role "{name}"'.encode()
        )


@pytest.mark.parametrize(
    ("other", "first", "second"),
    [("mallory_of_secrets", "study", "study"), ("postgres:of", "of:study", "study")],
)
def test_a_secret_is_shared_by_tables_of_one_owner_alone(
    interface: Interface, other: str, first: str, second: str
) -> None:
    """Else whoever may choose keys of a table looks up what stands for each."""
    connection = interface.connection
    fill_clinic(connection, 1)
    declare_clinic(interface)
    publish(interface, tables=["invoices"], secret=first)
    shown = set(rows(connection, "select id from safe.patients"))
    with another_owner(connection, other):
        publish(interface, tables=["invoices"], secret=second)
        assert not shown & set(rows(connection, "select id from safe.patients"))


def test_rows_of_a_linked_table_are_not_counted_as_people(interface: Interface) -> None:
    fill_clinic(interface.connection, 1)
    declare_clinic(interface)
    interface.anonymize("patients", K, tables=["admissions"], time_limit=1.0)
    for call in (
        lambda: interface.measure("safe.admissions"),
        lambda: interface.anonymize("safe.admissions", K, quasi_identifiers=["ward"], release="again"),
        lambda: client.risk(interface.connection, "safe.admissions"),
        lambda: client.audit(interface.connection, "safe.admissions", K, columns=["ward"]),
        lambda: client.curve(interface.connection, "safe.admissions", [K], quasi_identifiers=["ward"]),
    ):
        with pytest.raises(UnsuitableRelation, match="its rows are no people"):
            call()
    assert interface.measure("safe.patients").rows == 120


_WARDS = """
    select p.sex, p.kanon_suppressed::text, p.admissions_rows, p.invoices_rows, p.id::text, a.ward
    from safe.admissions a join safe.patients p on p.id = a.patient
    where not 'ward' = any (a.kanon_suppressed)
"""


def require_diverse(connection: psycopg.Connection[Any]) -> None:
    """Count that no ward is that of more than half of the people of a class, nor of its rows."""
    classes: dict[Any, list[tuple[str, str]]] = {}
    for *cells, person, ward in rows(connection, _WARDS):
        classes.setdefault(tuple(cells), []).append((person, ward))
    for found in classes.values():
        people = {person for person, _ in found}
        assert 2 * max(Counter(ward for _, ward in found).values()) <= len(found)
        assert 2 * max(Counter(ward for _, ward in set(found)).values()) <= len(people)


def publish_diverse(interface: Interface, **models: Any) -> None:
    interface.declare("patients", identifiers=["name"], quasi_identifiers=["sex"], sensitive=["region"])
    interface.declare("admissions", sensitive=["ward"], insensitive=["surrogate"])
    interface.connection.execute("update admissions set ward = 'w' || id % 6")
    interface.anonymize("patients", K, tables=["admissions", "invoices"], time_limit=1.0, **models)


def test_no_sensitive_value_of_a_linked_table_is_frequent_in_a_class(interface: Interface) -> None:
    connection = interface.connection
    fill_clinic(connection, 1)
    declare_clinic(interface)
    publish_diverse(interface, l=2)
    count = (
        "select count(*), count(*) filter (where 'ward' = any (kanon_suppressed)),"
        " count(*) filter (where ward is null) from safe.admissions"
    )
    ((shown, suppressed, empty),) = rows(connection, count)
    assert 0 < suppressed == empty < shown
    told = f'"safe"."admissions" suppresses sensitive cells in {suppressed} of {shown} rows'
    assert any(told in notice for notice in interface.notices)
    require_diverse(connection)
    # rows change: the guard counts again, whatever is refreshed
    connection.execute("update admissions set ward = 'w1' where patient % 3 = 0")
    for refresh in (
        lambda: connection.execute("refresh materialized view kanon.admissions_storage"),
        lambda: interface.refresh("patients"),
    ):
        refresh()
        require_diverse(connection)
    assert rows(connection, count)[0][1] > suppressed
    false = "select surrogate, ward from safe.admissions where ward is not null except table truth"
    assert rows(connection, f"with truth as (select id, ward from admissions) {false}") == []
    for models in ({"p": 2}, {"l": 2, "diversity": "entropy"}, {"t": 0.4}):
        publish_diverse(interface, **models)
        ((shown, suppressed, empty),) = rows(connection, count)
        assert suppressed == empty < shown


def test_models_hold_in_the_classes_that_joins_show(interface: Interface) -> None:
    """Visits change hands, and only the results are refreshed, which joins find by visits as they were."""
    connection = interface.connection
    connection.execute(
        "create table people (id integer primary key, sex text);"
        "create table visits (id integer primary key, person integer not null references people);"
        "create table results (id serial primary key, visit integer not null references visits, kind text);"
        "insert into people select i, (array['F', 'M'])[1 + i % 2] from generate_series(1, 20) as i;"
        "insert into visits select i, i from generate_series(1, 20) as i;"
        "insert into results (visit, kind) select i, 'kind ' || i % 4 from generate_series(1, 20) as i"
    )
    interface.declare("people", quasi_identifiers=["sex"])
    interface.declare("results", sensitive=["kind"])
    interface.link("visits", "people")
    interface.link("results", "visits")
    unknown = {"rows": {"visits": "unknown", "results": "unknown"}}
    interface.anonymize("people", K, tables=["visits", "results"], l=2, time_limit=1.0, **unknown)
    connection.execute(
        "update visits set person = person + (array[0, 1, -1, 0])[1 + id % 4];"
        "update results set kind = case when visit % 2 = 0 then 'b' else 'kind ' || visit end"
    )
    connection.execute("refresh materialized view kanon.results_storage")
    found = rows(
        connection,
        "select sex, kind, count(*) from safe.results r join safe.visits v on v.id = r.visit"
        " join safe.people p on p.id = v.person where not 'kind' = any (r.kanon_suppressed) group by 1, 2",
    )
    for sex in "FM":
        numbers = [number for one, _, number in found if one == sex]
        assert 2 * max(numbers, default=0) <= sum(numbers)


def test_models_need_a_sensitive_column_in_one_of_the_tables(interface: Interface) -> None:
    fill_clinic(interface.connection, 1)
    declare_clinic(interface)
    publish(interface, l=2)
    assert any('safe"."lab_results" suppresses' in notice for notice in interface.notices)
    _refused(interface, InputError, "about sensitive columns", tables=["invoices"], l=2)


def test_a_key_that_leads_elsewhere_by_now_tells_nobody_apart(interface: Interface) -> None:
    """The patient of a lab result is not that of its admission any more: its class shows no lab results."""
    connection = interface.connection
    fill_clinic(connection, 1)
    declare_clinic(interface)
    publish(interface)
    by_key = (
        "select p.sex, p.region, p.admissions_clinic, p.kanon_suppressed::text, p.admissions_rows,"
        " count(l.patient) from safe.patients p left join safe.lab_results l on l.patient = p.id"
        " group by p.id, 1, 2, 3, 4, 5"
    )
    assert min(Counter(rows(connection, by_key)).values()) >= K
    connection.execute("update lab_results set patient = 1 + patient % 120 where id in (1, 20, 40)")
    for refresh in (
        lambda: connection.execute("refresh materialized view kanon.lab_results_storage"),
        lambda: interface.refresh("patients"),
    ):
        refresh()
        assert min(Counter(rows(connection, by_key)).values()) >= K


def test_nobody_is_two_people_once_the_key_is_gone(interface: Interface) -> None:
    connection = interface.connection
    fill_clinic(connection, 1)
    declare_clinic(interface)
    publish(interface)
    connection.execute(
        "alter table patients drop constraint patients_pkey cascade;"
        "insert into patients select * from patients where id < 20"
    )
    with pytest.raises(psycopg.errors.UniqueViolation):
        connection.execute("refresh materialized view kanon.patients_storage")
    for view in ("admissions", "lab_results", "invoices"):
        connection.execute(f"refresh materialized view kanon.{view}_storage".encode())
    with pytest.raises(UnsuitableRelation, match="leads to nobody"):
        interface.refresh("patients")
    require_hidden(connection)
    assert rows(connection, "select count(*), count(distinct id) from safe.patients") == [(120, 120)]


def test_a_table_that_was_dropped_is_said_to_be_gone(interface: Interface) -> None:
    connection = interface.connection
    fill_clinic(connection, 1)
    declare_clinic(interface)
    left = "select relname::text from pg_class where relnamespace = 'kanon_bases'::regnamespace order by 1"
    before = rows(connection, left)
    publish(interface, rows={"invoices": "unknown"})
    connection.execute("drop table invoices cascade")
    for ask in (
        lambda: interface.certificate("patients"),
        lambda: client.release_report(connection, "patients"),
    ):
        with pytest.raises(UnsuitableRelation, match="was dropped"):
            ask()
    gone = "select base::text, storage::text from kanon.release_tables where base is null or storage is null"
    assert rows(connection, gone) == [(None, None)]
    interface.drop("patients")
    assert rows(connection, left) == before


@pytest.mark.parametrize("call", ["anonymize", "refresh"])
def test_a_reader_of_two_views_waits_for_no_publication(interface: Interface, call: str) -> None:
    """Who has read a further table and goes on to the people must not wait for a call that waits for them."""
    fill_clinic(interface.connection, 1)
    declare_clinic(interface)
    publish(interface)
    waiting = (
        "select count(*) from pg_locks where not granted and relation in"
        " (select oid from pg_class where relnamespace = 'safe'::regnamespace)"
    )
    with psycopg.connect(interface.dsn) as reader:
        reader.execute("select count(*) from safe.lab_results")
        tables = ["lab_results", "admissions", "invoices"]
        publishing = threading.Thread(
            target=lambda: (
                client.refresh(interface.dsn, "patients")
                if call == "refresh"
                else client.anonymize(interface.dsn, "patients", K, tables=tables, time_limit=1.0)
            )
        )
        publishing.start()
        while rows(interface.connection, waiting) == [(0,)]:
            assert publishing.is_alive()
        reader.execute("set statement_timeout = '20s'")
        for view in ("patients", "admissions", "invoices"):
            reader.execute(f"select count(*) from safe.{view}".encode())
    publishing.join()
    require_hidden(interface.connection)


def test_rows_of_nobody_have_no_several_values(interface: Interface) -> None:
    connection = interface.connection
    connection.execute(
        "create table visits (visit integer primary key, person text, sex text, ill text);"
        "insert into visits select i, 'p' || i % 60, (array['F', 'M'])[1 + i % 60 % 2], 'ill ' || i % 4"
        " from generate_series(1, 150) as i;"
        "insert into visits values (998, null, 'F', 'x'), (999, null, 'M', 'x')"
    )
    interface.declare("visits", quasi_identifiers=["sex"], sensitive=["ill"], entity="person")
    interface.anonymize("visits", K, pseudonyms=["person"], l=2, time_limit=1.0)
    assert rows(connection, "select count(*) from safe.visits") == [(60,)]
    assert any('visits_rows" suppresses' in notice for notice in interface.notices)


def test_nobody_is_told_apart_by_the_lack_of_a_key(interface: Interface) -> None:
    connection = interface.connection
    connection.execute(
        "create table users (id integer primary key, email text unique, sex text);"
        "create table orders (id integer primary key, email text not null references users (email));"
        "insert into users select i, nullif('u' || i, 'u1'), 'F' from generate_series(1, 30) as i;"
        "insert into orders select i, 'u' || i from generate_series(2, 30) as i"
    )
    interface.declare("users", quasi_identifiers=["sex"])
    interface.link("orders", "users")
    with pytest.raises(UnsuitableRelation, match="may be NULL"):
        interface.anonymize("users", K, tables=["orders"], time_limit=1.0)
    connection.execute(
        "update users set email = 'x' where email is null; alter table users alter email set not null"
    )
    interface.anonymize("users", K, tables=["orders"], time_limit=1.0)
    connection.execute("alter table users alter email drop not null")
    with pytest.raises(UnsuitableRelation, match="may be NULL"):
        interface.refresh("users")
    connection.execute(
        "update users set email = null where id = 1; refresh materialized view kanon.users_storage"
    )
    lacking = "select count(*) > 0, count(*) filter (where email is null) from safe.users"
    assert rows(connection, lacking) == [(True, 0)]
    told = "select details -> 'tables' ->> 0 from kanon.history where operation = 'anonymize'"
    assert rows(connection, told) == [("safe.orders",)]
    with pytest.raises(InputError, match="no curve"):
        client.release_report(connection, "users", curve=True)


def test_long_names_become_names_of_figures(interface: Interface) -> None:
    connection, long = interface.connection, "t" * 63
    connection.execute(
        "create table people (id integer primary key, sex text);"
        f"create table {long} (id serial primary key, person integer not null references people,"
        f" {'c' * 63} text);"
        "insert into people select i, 'F' from generate_series(1, 12) as i;"
        f"insert into {long} (person, {'c' * 63}) select i, 'x' from generate_series(1, 12) as i".encode()
    )
    interface.declare("people", quasi_identifiers=["sex"])
    interface.link(long, "people")
    interface.anonymize("people", K, tables=[long], time_limit=1.0)
    assert rows(connection, "select count(*) from kanon.release_tables where rows = 12") == [(1,)]
