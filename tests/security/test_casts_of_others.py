"""Casts and checks that the owner of a type made are never run by what kanon does with such a table."""

import pytest

from tests.fixtures.dividing_solver import dividing
from tests.fixtures.interfaces import Interface

_SPIES = """
create table spied (what text);
create function spy(what text) returns void language sql as 'insert into spied values (what)';
create type mood as enum ('sad', 'ok', 'happy');
create type trip as (at timestamptz, felt mood);
create type moods as range (subtype = mood);
create domain known as mood;
create function of_mood(mood) returns text language plpgsql as
    $$begin perform spy('mood'); return 'x'; end$$;
create function of_moods(mood[]) returns text language plpgsql as
    $$begin perform spy('array'); return 'x'; end$$;
create function of_trip(trip) returns text language plpgsql as
    $$begin perform spy('composite'); return 'x'; end$$;
create function of_trips(trip[]) returns text language plpgsql as
    $$begin perform spy('array of composites'); return 'x'; end$$;
create function of_range(moods) returns text language plpgsql as
    $$begin perform spy('range'); return 'x'; end$$;
create function to_json(mood) returns json language plpgsql as
    $$begin perform spy('json'); return 'null'; end$$;
create function to_mood(text) returns mood language plpgsql as
    $$begin perform spy('from text'); return null; end$$;
create function to_trip(text) returns trip language plpgsql as
    $$begin perform spy('from text'); return null; end$$;
create function fits(anyelement) returns boolean language plpgsql as
    $$begin perform spy('check'); return true; end$$;
create domain checked_text as text check (fits(value));
create domain checked_number as numeric check (fits(value));
create domain checked_float as double precision check (fits(value));
create domain checked_mood as mood check (fits(value));
create domain checked_array as timestamptz[] check (fits(value[1]));
create cast (mood as text) with function of_mood(mood) as implicit;
create cast (mood[] as text) with function of_moods(mood[]) as implicit;
create cast (trip as text) with function of_trip(trip) as implicit;
create cast (trip[] as text) with function of_trips(trip[]) as implicit;
create cast (moods as text) with function of_range(moods) as implicit;
create cast (mood as json) with function to_json(mood) as implicit;
create cast (text as mood) with function to_mood(text) as implicit;
create cast (text as trip) with function to_trip(text) as implicit;
"""

_COLUMNS = {
    "felt": ("mood", "'ok'"),
    "likewise": ("known", "'ok'"),
    "trip": ("trip", "row('2021-01-01', 'sad')::trip"),
    "trips": ("trip[]", "array[row('2021-01-01', 'sad')::trip]"),
    "several": ("mood[]", "array['sad', 'ok']::mood[]"),
    "between": ("moods", "moods('sad', 'ok')"),
    "named": ("checked_text", "'a'"),
    "paid": ("checked_number", "1.0"),
    "weighed": ("checked_float", "'-0'"),
    "checked": ("checked_mood", "'happy'"),
    "seen": ("checked_array", "array['2021-01-01'::timestamptz]"),
}


@pytest.fixture
def watched(interface: Interface) -> Interface:
    """Return an interface to a table of spying types; what filling it ran is forgotten."""
    run = interface.connection.execute
    run(_SPIES.encode())
    defined = ", ".join(f"{name} {kind}" for name, (kind, _) in _COLUMNS.items())
    values = ", ".join(value for _, value in _COLUMNS.values())
    run(f"create table t (id known, number integer, key text, primary key (id, number), {defined})".encode())
    run(f"insert into t select 'ok', i, 'k' || i % 2, {values} from generate_series(1, 24) as i".encode())
    run("delete from spied")
    return interface


def spied(interface: Interface) -> set[str]:
    return {what for (what,) in interface.connection.execute("select distinct what from spied").fetchall()}


def refreshed(interface: Interface) -> None:
    interface.refresh("t")
    ((storage,),) = interface.connection.execute("select storage::text from kanon.release").fetchall()
    interface.connection.execute(f"refresh materialized view {storage}".encode())


def test_the_spies_spy(watched: Interface) -> None:
    watched.connection.execute("select felt::text, trip::text, to_json(felt), 'a'::text::mood from t")
    watched.connection.execute("select ('a' || key)::checked_text from t")
    assert spied(watched) >= {"mood", "composite", "json", "from text", "check"}


def test_quasi_identifiers(watched: Interface) -> None:
    watched.declare("t", quasi_identifiers=list(_COLUMNS), insensitive=["number"])
    watched.anonymize("t", 3)
    refreshed(watched)
    watched.measure("t")
    assert spied(watched) == set()


def test_sensitive_columns_of_divided_row_types(watched: Interface) -> None:
    watched.declare("t", quasi_identifiers=["key"], sensitive=list(_COLUMNS), insensitive=["number"])
    with dividing(watched.connection):
        watched.anonymize("t", 3, seed=1, remember=2)
        watched.anonymize("t", 3, seed=2, release="other", remember=2)
    assert watched.composition(["t", "other"])
    watched.refresh("t")
    assert spied(watched) == set()


def test_people(watched: Interface) -> None:
    watched.connection.execute("update t set felt = (array['sad', 'ok', 'happy']::mood[])[1 + number % 3]")
    watched.connection.execute("delete from spied")
    watched.declare("t", quasi_identifiers=["key", "trip"], entity="felt", sensitive=["paid", "named"])
    watched.anonymize("t", 2)
    refreshed(watched)
    assert spied(watched) == set()


def test_versions_and_erasing_by_a_key_of_such_a_type(watched: Interface) -> None:
    watched.declare("t", quasi_identifiers=["key", "felt"], sensitive=["trip", "paid", "seen"])
    watched.anonymize("t", 3, over_time={})
    watched.connection.execute("delete from t where number = 1")
    watched.connection.execute("delete from spied")
    watched.refresh("t")
    watched.erase("t", "ok", "1")
    refreshed(watched)
    assert spied(watched) == set()


@pytest.mark.parametrize("column", ["felt", "likewise", "checked", "named", "paid"])
def test_hierarchies(watched: Interface, column: str) -> None:
    watched.declare("t", quasi_identifiers=["key", column], insensitive=["number"])
    watched.anonymize("t", 3, hierarchies={column: {"builder": "prefix"}})
    refreshed(watched)
    assert spied(watched) == set()
