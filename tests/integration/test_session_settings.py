"""What a release shows depends on its table, whatever sessions have set: all types, and all settings."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from typing import Any

import psycopg
import pytest
from psycopg import sql

from tests.fixtures.dividing_solver import dividing
from tests.fixtures.interfaces import Interface, SqlInterface

pytestmark = pytest.mark.slow

_TYPES = """
create extension citext;
create extension hstore;
create extension cube;
create collation any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
create type mood as enum ('sad', 'ok', 'happy');
create type trip as (at timestamptz, took interval, cost numeric, share float8, note text, felt mood);
create type bill as (cost numeric, note citext, felt mood);
create type moments as range (subtype = timestamptz);
create type shares as range (subtype = float8);
create type names as range (subtype = text, collation = any_case);
create type trips as range (subtype = trip);
create domain days as date[];
create domain journey as trip;
create domain feeling as mood;
create domain long as interval;
create domain span as tstzrange;
create domain shouted as text collate any_case;
create domain exact as numeric(6, 2);
create domain moods as mood[];
create type nested as (inner_trip trip, felt feeling, at days);
"""

_SUMMER, _WINTER = "2021-07-01 12:00+00", "2021-01-03 05:06:07.000008+00"
_TRIP, _OTHER_TRIP = (
    f'("{at}","{took}",{cost},{share},"é {note}",{felt})'
    for at, took, cost, share, note, felt in (
        (_SUMMER, "1 day", "1.0", "0.1", "x", "sad"),
        (_WINTER, "-3 mon 2:00", "2", "1e-7", "y", "ok"),
    )
)


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


COMPARABLE: Mapping[str, tuple[str, ...]] = {
    "boolean": ("t", "f"),
    '"char"': ("a", "b"),
    "name": ("a", "b"),
    "text": ("é", "€"),
    "text collate any_case": ("bob", "BOB", "eve"),
    "varchar(3)": ("a", "b"),
    "citext": ("bob", "BOB", "eve"),
    "char(3)": ("a", "b"),
    "bpchar": ("a", "a  ", "b"),
    "smallint": ("1", "2"),
    "integer": ("1", "2"),
    "bigint": ("4294967296", "-1"),
    "oid": ("1", "2"),
    "numeric": ("1.0", "1.00", "NaN"),
    "numeric(6,2)": ("1", "2.5"),
    "real": ("0.1", "-0", "0"),
    "double precision": ("0.1", "-0", "0", "1e-7"),
    "money": ("1234.5", "-2"),
    "date": ("2021-02-03", "infinity"),
    "time": ("01:02:03.000004", "24:00"),
    "timetz": ("01:02+03", "01:02-03"),
    "timestamp": ("2021-02-03 04:05", "-infinity"),
    "timestamptz": (_SUMMER, _WINTER),
    "interval": ("1 day", "24 hours", "-1 year 2 mons -3 days 04:05:06.7"),
    "interval(0)": ("1 day", "24 hours", "-3 mons"),
    "bytea": ("\\x00ff", "\\x5c"),
    "uuid": ("00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002"),
    "inet": ("10.0.0.1", "10.0.0.1/8"),
    "cidr": ("10.0.0.0/8", "10.0.0.1/32"),
    "macaddr": ("08:00:2b:01:02:03", "08:00:2b:01:02:04"),
    "macaddr8": ("08:00:2b:01:02:03:04:05", "08:00:2b:01:02:03:04:06"),
    "bit(3)": ("101", "000"),
    "bit varying": ("1", "10"),
    "jsonb": ('{"a": 1.0, "t": "é"}', '{"a": 1, "t": "é"}', "[]"),
    "tsvector": ("a b", "c"),
    "tsquery": ("a & b", "c"),
    "pg_lsn": ("0/1", "0/2"),
    "xid8": ("1", "2"),
    "regclass": ("pg_catalog.pg_class", "public.t"),
    "regtype": ("public.mood", "integer"),
    "regrole": ("pg_monitor", "pg_read_all_data"),
    "regnamespace": ("public", "pg_catalog"),
    "regconfig": ("english", "simple"),
    "hstore": ("a=>1", "b=>é"),
    "cube": ("(0.1,0.30000000000000004)", "(1)"),
    "int4range": ("[1,3]", "empty"),
    "numrange": ("[1.0,2)", "[1,2)", "empty"),
    "daterange": ("[2021-01-02,2021-03-04)", "(,)"),
    "tsrange": ("[2021-01-02 03:04,)", "(,)"),
    "tstzrange": (f"[{_WINTER},{_SUMMER})", "(,)"),
    "tstzmultirange": (f"{{[{_WINTER},{_SUMMER})}}", "{}"),
    "datemultirange": ("{[2021-01-02,2021-03-04)}", "{}"),
    "nummultirange": ("{[1.0,2)}", "{[1,2)}", "{}"),
    "moments": (f"[{_WINTER},{_SUMMER})", "empty"),
    "shares": ("[-0,0.1)", "[0,0.1)", "empty"),
    "names": ("[bob,eve)", "[BOB,eve)", "empty"),
    "trips": (f"[{_quoted(_OTHER_TRIP)},{_quoted(_TRIP)})", "empty"),
    "tstzrange[]": (f'{{"[{_WINTER},{_SUMMER})"}}', "{}"),
    "moments[]": (f'{{"[{_WINTER},{_SUMMER})"}}', "{}"),
    "text[]": ("{é,NULL}", "{}"),
    "date[]": ("{2021-02-03,NULL}", "{{2021-02-03},{2022-03-04}}"),
    "timestamptz[]": (f'{{"{_SUMMER}"}}', f'{{"{_WINTER}"}}', f'[0:0]={{"{_WINTER}"}}'),
    "interval[]": ("{1 day}", "{24:00}", "{1 mon}", "{1 year}"),
    "double precision[]": ("{-0}", "{0}", "{0.1}"),
    "bytea[]": ('{"\\\\x00"}', '{"\\\\xff"}'),
    "money[]": ("{1234.5}", "{2}"),
    "citext[]": ("{bob}", "{BOB}", "{eve}"),
    "mood": ("sad", "ok"),
    "mood[]": ("{sad}", "{}"),
    "bill": ("(1.0,x,sad)", "(1,X,sad)", "(,,)"),
    "trip": (_TRIP, _OTHER_TRIP, "(,,,,,)"),
    "trip[]": (f"{{{_quoted(_TRIP)}}}", f"{{{_quoted(_OTHER_TRIP)},NULL}}"),
    "nested": (f'({_quoted(_TRIP)},sad,"{{2021-02-03}}")', "(,,)"),
    "days": ("{2021-02-03}", "{}"),
    "journey": (_TRIP, _OTHER_TRIP),
    "journey[]": (f"{{{_quoted(_TRIP)}}}", "{}"),
    "feeling": ("sad", "ok"),
    "feeling[]": ("{sad}", "{}"),
    "moods": ("{sad}", "{ok,NULL}"),
    "long": ("1 day", "24:00", "1 mon"),
    "span": (f"[{_WINTER},{_SUMMER})", "empty"),
    "shouted": ("bob", "BOB", "eve"),
    "exact": ("1", "2"),
}
"""Types that have an equality, with values of which some are equal but look different."""

OTHERS: Mapping[str, tuple[str, ...]] = {
    "pg_snapshot": ("1:2:", "3:4:3"),
    "json": ('{"a": 1.0}', "[]"),
    "xml": ("<a/>", "text"),
    "point": ("(0.1,2)", "(1e-7,2)"),
    "lseg": ("[(0.1,2),(3,4)]", "[(0,0),(1,1)]"),
    "line": ("{0.1,2,3}", "{1,2,3}"),
    "box": ("(0.1,2),(0,0)", "(1,1),(0,0)"),
    "path": ("((0.1,2),(3,4))", "[(0,0),(1,1)]"),
    "polygon": ("((0.1,2),(3,4))", "((0,0),(1,1))"),
    "circle": ("<(0.1,2),3>", "<(1,1),1>"),
    "point[]": ('{"(0.1,2)"}', "{}"),
    "aclitem": ("pg_monitor=r/pg_monitor", "pg_monitor=rw/pg_monitor"),
}
"""Types that have none: such columns are only carried along."""

_NOT_TRIED = {
    "statement_timeout", "lock_timeout", "transaction_timeout", "idle_in_transaction_session_timeout",
    "idle_session_timeout", "tcp_user_timeout", "client_connection_check_interval", "temp_file_limit",
    "transaction_read_only", "transaction_deferrable", "transaction_isolation",
    "default_transaction_read_only",
    "default_transaction_isolation", "role", "session_authorization", "is_superuser", "max_stack_depth",
    "session_replication_role", "zero_damaged_pages", "ignore_checksum_failure", "allow_system_table_mods",
    "row_security", "seed", "client_min_messages", "default_tablespace", "temp_tablespaces",
    "default_table_access_method", "post_auth_delay", "backtrace_functions", "dynamic_library_path",
    "session_preload_libraries", "local_preload_libraries", "restrict_nonsystem_relation_kind",
    "lo_compat_privileges",
    "exit_on_error", "stats_fetch_consistency", "jit_provider", "commit_delay", "huge_pages", "temp_buffers",
}  # fmt: skip
"""Settings that end calls, name what this server lacks, or are fixed once there were temporary tables."""

_TEXTS: Mapping[str, tuple[str, ...]] = {
    "TimeZone": ("America/New_York", "Asia/Kathmandu", "<+03>-3", "Antarctica/Troll"),
    "DateStyle": tuple(
        f"{style}, {order}" for style in ("SQL", "German", "Postgres") for order in ("DMY", "YMD")
    ),
    "client_encoding": ("LATIN1", "EUC_JP", "WIN1252"),
    "search_path": ("safe, public", "public, pg_catalog"),
    "default_text_search_config": ("german", "simple"),
    "timezone_abbreviations": ("Australia", "India"),
    "lc_monetary": ("C", "C.UTF-8", "POSIX"),
    "lc_numeric": ("C", "C.UTF-8"),
    "lc_time": ("C", "C.UTF-8"),
    "lc_messages": ("C", "C.UTF-8"),
    "application_name": ("somebody",),
}
"""Settings that are texts, with what they are set to."""


def variants(connection: psycopg.Connection[Any]) -> Iterator[tuple[str, str]]:
    """Yield what sessions can set, each as something else than it is."""
    rows = connection.execute(
        "select name, setting, vartype, min_val, max_val, enumvals from pg_settings"
        " where context in ('user', 'superuser')"
        " and name !~ '^(kanon|plpgsql|log|debug_print|debug_discard|trace)' order by 1"
    ).fetchall()
    for name, now, kind, least, most, choices in rows:
        if name in _NOT_TRIED:
            continue
        if kind == "bool":
            yield name, "off" if now == "on" else "on"
        elif kind == "enum":
            yield from ((name, choice) for choice in choices if choice != now)
        elif kind == "string":
            yield from ((name, text) for text in _TEXTS.get(name, ()))
        else:
            yield from ((name, end) for end in (least, most) if end != now)


_EXTREME = {
    "TimeZone": "Asia/Kathmandu", "DateStyle": "German, DMY", "IntervalStyle": "sql_standard",
    "extra_float_digits": "-15", "bytea_output": "escape", "search_path": "safe, public", "xmlbinary": "hex",
    "xmloption": "document", "array_nulls": "off", "client_encoding": "LATIN1", "quote_all_identifiers": "on",
    "transform_null_equals": "on", "standard_conforming_strings": "off", "enable_hashjoin": "off",
    "enable_hashagg": "off", "work_mem": "64kB", "default_text_search_config": "german",
    "timezone_abbreviations": "Australia", "escape_string_warning": "off", "jit": "off",
}  # fmt: skip
_OTHER_EXTREME = _EXTREME | {
    "TimeZone": "America/New_York", "DateStyle": "SQL, DMY", "IntervalStyle": "iso_8601",
    "extra_float_digits": "0", "search_path": "public", "xmlbinary": "base64", "client_encoding": "UTF8",
    "enable_hashjoin": "on", "enable_nestloop": "off", "enable_sort": "off", "enable_hashagg": "on",
}  # fmt: skip


def _set(connection: psycopg.Connection[Any], settings: Mapping[str, str]) -> None:
    for name, value in settings.items():
        connection.execute(sql.SQL("select set_config({}, {}, false)").format(name, value))


def _reset(connection: psycopg.Connection[Any]) -> None:
    connection.execute("reset all")
    connection.execute("set client_encoding to 'UTF8'")


def columns_of(types: Mapping[str, Any]) -> dict[str, str]:
    """Return a name for a column of each type."""
    return {f"c{number}": kind for number, kind in enumerate(types)}


@contextmanager
def filled(
    interface: Interface, types: Mapping[str, tuple[str, ...]], rows: int, *, kinds: int
) -> Iterator[list[str]]:
    """Make a table ``t`` of people of some kinds, which differ in every column; NULL among them."""
    connection, columns = interface.connection, columns_of(types)
    defined = ", ".join(f"{name} {kind}" for name, kind in columns.items())
    connection.execute(f"create table t (id integer primary key, kind text, {defined})".encode())
    names = ", ".join(columns)
    for number in range(rows):
        cells = [
            types[kind][number % kinds % len(types[kind])] if number % 17 else None
            for kind in columns.values()
        ]
        typed = ", ".join(f"%s::text::{kind.split(' collate')[0]}" for kind in columns.values())
        connection.execute(
            f"insert into t (id, kind, {names}) values (%s, %s, {typed})".encode(),
            [number, f"k{number % 2}", *cells],
        )
    yield list(columns)


def shown(dsn: str, view: str) -> Counter[Any]:
    """Read a release as text, by a session that sets nothing; each row once."""
    with psycopg.connect(dsn) as connection:
        return Counter(row for (row,) in connection.execute(f"select r::text from {view} as r".encode()))


def storage_of(interface: Interface) -> str:
    row = interface.connection.execute("select storage::text from kanon.release").fetchone()
    assert row is not None
    return str(row[0])


@pytest.fixture
def typed(interface: Interface) -> Interface:
    interface.connection.execute(_TYPES.encode())
    return interface


def publish_whole(interface: Interface) -> None:
    """Publish ``t`` with all cells; psycopg cannot read a report in every style of intervals."""
    if isinstance(interface, SqlInterface):
        interface.connection.execute("select 1 from kanon_anonymize('t', 3, patterns => '[[]]')")
    else:
        interface.anonymize("t", 3, patterns=[[]])


def refreshed_alike(interface: Interface, before: Counter[Any], *, one_by_one: bool = True) -> None:
    """Refresh the release under every setting, by PostgreSQL and by kanon; it must stay what it is."""
    connection, storage = interface.connection, storage_of(interface)
    is_first = isinstance(interface, SqlInterface)
    single = [dict([one]) for one in variants(connection)] if one_by_one and is_first else []
    assert not one_by_one or not is_first or len(single) > 150
    for settings in chain(single, [_EXTREME, _OTHER_EXTREME, {"search_path": ""}]):
        _set(connection, settings)
        connection.execute(f"refresh materialized view {storage}".encode())
        _reset(connection)
        assert shown(interface.dsn, "safe.t") == before, settings
    for settings in (_EXTREME, _OTHER_EXTREME, *({name: text} for name in _TEXTS for text in _TEXTS[name])):
        _set(connection, settings)
        interface.refresh("t")
        _reset(connection)
        assert shown(interface.dsn, "safe.t") == before, settings


HALVES = [dict(list(COMPARABLE.items())[half::2]) for half in (0, 1)]
"""As many types as a release can have quasi-identifiers."""


@pytest.mark.parametrize("types", HALVES)
def test_quasi_identifiers_of_all_types(typed: Interface, types: Mapping[str, tuple[str, ...]]) -> None:
    """Rows of one kind are one class, though their equal values look different; nothing is suppressed."""
    with filled(typed, types, 96, kinds=6) as columns:
        typed.declare("t", quasi_identifiers=columns, insensitive=["id"])
        _set(typed.connection, _EXTREME)
        publish_whole(typed)
        _reset(typed.connection)
        before = shown(typed.dsn, "safe.t")
        assert before.total() == 96
        suppressed = typed.connection.execute(
            "select count(*) from safe.t where kanon_suppressed <> '{}'"
        ).fetchone()
        assert suppressed == (0,)
        refreshed_alike(typed, before)
        _set(typed.connection, _OTHER_EXTREME)
        publish_whole(typed)
        _reset(typed.connection)
        assert shown(typed.dsn, "safe.t") == before


def test_divided_row_types_with_sensitive_columns_of_all_types(typed: Interface) -> None:
    """Which row of a row type is suppressed is drawn once, and told by all that is published of it."""
    with filled(typed, {**COMPARABLE, **OTHERS}, 60, kinds=60) as columns, dividing(typed.connection):
        typed.declare("t", quasi_identifiers=["kind"], sensitive=columns, insensitive=["id"])
        typed.anonymize("t", 3, seed=1)
        before = shown(typed.dsn, "safe.t")
        hidden = typed.connection.execute(
            "select count(*) from safe.t where kanon_suppressed <> '{}'"
        ).fetchone()
        assert hidden is not None
        assert 0 < hidden[0] < 60
        refreshed_alike(typed, before)


@pytest.mark.parametrize(
    "kind", ["timestamptz", "interval[]", "trip", "tstzrange", "date[]", "double precision"]
)
def test_diverse_sensitive_values(typed: Interface, kind: str) -> None:
    with filled(typed, {kind: COMPARABLE[kind]}, 60, kinds=4), dividing(typed.connection):
        typed.declare("t", quasi_identifiers=["kind"], sensitive=["c0"], insensitive=["id"])
        typed.anonymize("t", 3, l=2, seed=1)
        refreshed_alike(typed, shown(typed.dsn, "safe.t"), one_by_one=False)


def test_over_time_no_row_changes(typed: Interface) -> None:
    with filled(typed, {**COMPARABLE, **OTHERS}, 60, kinds=60) as columns:
        typed.declare("t", quasi_identifiers=["kind", "c0"], sensitive=[c for c in columns if c != "c0"])
        typed.anonymize("t", 3, over_time={})
        before = shown(typed.dsn, "safe.t")
        assert before.total() == 60
        refreshed_alike(typed, before, one_by_one=False)
        figures = typed.connection.execute(
            "select pending_people, withheld_rows, retained_rows from kanon.releases"
        )
        assert figures.fetchone() == (0, 0, 0)


@pytest.mark.parametrize("types", HALVES)
def test_remembered_versions_are_one(typed: Interface, types: Mapping[str, tuple[str, ...]]) -> None:
    """Whoever keeps versions that were published under different settings learns nothing more from them."""
    with filled(typed, types, 96, kinds=6) as columns:
        typed.declare("t", quasi_identifiers=columns, insensitive=["id"])
        typed.anonymize("t", 3, patterns=[[]], remember=5)
        for settings in (_EXTREME, _OTHER_EXTREME):
            _set(typed.connection, settings)
            typed.refresh("t")
            _reset(typed.connection)
        classes = typed.connection.execute(
            "select classes::text from kanon.remembered order by version"
        ).fetchall()
        tables = [
            typed.connection.execute(f"select row_id, class from {name} order by 1".encode()).fetchall()
            for (name,) in classes
        ]
        assert len(tables) == 3
        assert tables[0] == tables[1] == tables[2]
        _set(typed.connection, _EXTREME)
        found = typed.composition(["t@1", "t@2", "t@3"])[0]
        _reset(typed.connection)
        assert (found.people_below, found.unseen_rows) == (0, 0)


@pytest.mark.parametrize("kind", ["timestamptz", "date", "bytea", "double precision"])
def test_values_that_a_hierarchy_publishes_as_texts(typed: Interface, kind: str) -> None:
    """A release with texts for values is the same whoever publishes it, wherever they are."""
    with filled(typed, {kind: COMPARABLE[kind][:2]}, 60, kinds=2):
        typed.declare("t", quasi_identifiers=["c0"], insensitive=["id"])
        found, left_out = [], ("IntervalStyle", "search_path")
        for number, settings in enumerate(({}, _EXTREME, _OTHER_EXTREME)):
            _set(typed.connection, {name: value for name, value in settings.items() if name not in left_out})
            built = {"builder": "prefix"}
            typed.connection.execute(
                "select kanon_hierarchy_build(%s, 't', 'c0', %s::jsonb)", [f"h{number}", json.dumps(built)]
            )
            typed.anonymize("t", 3, hierarchies={"c0": built})
            _reset(typed.connection)
            found.append(shown(typed.dsn, "safe.t"))
            typed.anonymize("t", 3, hierarchies={"c0": f"h{number}"})
            found.append(shown(typed.dsn, "safe.t"))
        assert all(one == found[0] for one in found)
        texts = typed.connection.execute(
            "select hierarchy, array_agg(array[value] || nodes order by value)"
            " from kanon.hierarchy_value group by 1"
        ).fetchall()
        assert len({str(text) for _, text in texts}) == 1
