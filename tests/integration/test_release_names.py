"""Any name that PostgreSQL accepts works for schema, table, columns and release, and means nothing else."""

import pytest
from psycopg import sql

from kanon_pg.errors import InputError, UnknownName, as_given
from tests.fixtures.interfaces import Interface
from tests.fixtures.releases import people_by_class, published

HOSTILE = {
    "double quote": 'a"b',
    "single quote": "a'b",
    "injection": "a\"; drop table kanon.release; select '1",
    "percent": "100%s %(x)s %%",
    "template": "{{ relation }}{% raw %}",
    "template comment": "{# gone #}",
    "dollar": "$1 $$ $x$",
    "backslash": "a\\b\\",
    "newline": "a\n-- b\n;",
    "unicode": "Größe 年齢 😀",
    "mixed case": "MixedCase",
    "space": " ",
    "dot": "a.b",
    "comment": "/* a -- */",
    "63 bytes": "x" * 63,
    "63 bytes of unicode": "é" * 31 + "x",
    "key word": "select",
    "null": "null",
    "braces": "{a,b}",
}

INTERNAL = (
    *("q1", "q2", "c1", "person", "people", "pattern", "masked", "base", "counted", "hashed", "met"),
    *("mapping", "row_type", "class_hash", "is_new", "n", "key", "types", "pairs", "totals", "packed"),
    *("cell_1", "value_1", "keys", "rows", "leak", "smallest", "fingerprint", "v", "oid", "name"),
    *("class", "size", "place", "share", "value", "held", "whole_1", "judged_1", "satisfied", "row_number"),
    *(
        "typed",
        "assigned",
        "divided",
        "numbered",
        "s1",
        "first_rows",
        "patterns",
        "seed",
        "suppressed",
        "worst",
        "d",
    ),
)


def identifiers(*names: str) -> sql.Composed:
    return sql.SQL(", ").join(map(sql.Identifier, names))


def release_everything(
    interface: Interface, schema: str, table: str, columns: list[str], release: str
) -> None:
    """Declare, publish twice, refresh, read and drop under these names."""
    connection, qualified = interface.connection, sql.Identifier(schema, table)
    connection.execute(sql.SQL("create schema if not exists {}").format(sql.Identifier(schema)))
    connection.execute(
        sql.SQL(
            "create table {} ({}) as select i % 2, 'v' || i % 3, i / 2, i from generate_series(1, 24) as i"
        ).format(qualified, identifiers(*columns))
    )
    name = qualified.as_string(connection)
    first, second, entity, sensitive = columns
    interface.declare(
        name, quasi_identifiers=[first, second], sensitive=[sensitive], entity=entity, weights={first: 2}
    )
    for patterns in (None, [[first], [second]]):
        report = interface.anonymize(name, 3, release=release, patterns=patterns)
        assert report.release == sql.Identifier("safe", release).as_string(connection)
        rows = published(connection, release, [first, second], sensitive)
        assert min(people_by_class(rows, {i: i // 2 for i in range(1, 25)}).values()) >= 3
        assert len(rows) == 24
    assert {name for row in rows for name in row.suppressed} <= {first, second}
    report = interface.anonymize(name, 3, release=release, l=2, t=0.99)
    assert report.rows == 24
    interface.refresh(release)
    assert published(connection, release, [first, second], sensitive)
    interface.drop(release)
    interface.undeclare(name)
    connection.execute(sql.SQL("drop table {}").format(qualified))


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_name_everywhere(lasting_interface: Interface, name: str) -> None:
    short = name.encode()[:60].decode(errors="ignore")
    others = [f"{short}{number}" for number in range(3)]
    release_everything(lasting_interface, name, name, [name, *others], name)


@pytest.mark.parametrize("start", range(0, len(INTERNAL) - 3, 3))
def test_names_that_the_queries_use_themselves(lasting_interface: Interface, start: int) -> None:
    columns = list(INTERNAL[start : start + 4])
    release_everything(lasting_interface, "public", columns[0], columns, columns[1])


def test_long_names_that_differ_at_the_end_stay_apart(lasting_interface: Interface) -> None:
    names = ["x" * 62 + end for end in "ab"]
    for name in names:
        lasting_interface.connection.execute(
            f"create table {name} as select i % 2 as a from generate_series(1, 9) as i".encode()
        )
        lasting_interface.declare(name, quasi_identifiers=["a"])
        lasting_interface.anonymize(name, 2)
    for name in names:
        assert len(published(lasting_interface.connection, name, ["a"], "a")) == 9
        lasting_interface.drop(name)
        lasting_interface.undeclare(name)


@pytest.mark.parametrize("name", ["x" * 64, "x" * 100, "é" * 32, "é" * 31 + "xx", "😀" * 16])
def test_a_name_that_is_too_long_is_never_cut_off(interface: Interface, name: str) -> None:
    """Cut off, it would be another release: of 63 bytes, or of fewer if a character ends behind them."""
    connection = interface.connection
    connection.execute("create table base as select i % 2 as a from generate_series(1, 20) as i")
    for call in (f"'{name}'", f"'{name}'::text", f"repeat('{name[0]}', {len(name)})"):
        if call.startswith("repeat") and name != name[0] * len(name):
            continue
        with pytest.raises(Exception, match="longer than 63 bytes"):
            connection.execute(
                f"select kanon_anonymize('base', 5, quasi_identifiers => '{{a}}', release => {call})".encode()
            )
    with pytest.raises(InputError, match="longer than 63 bytes"):
        _release(interface, name)
    shorter = name.encode()[:63].decode(errors="ignore")
    _release(interface, shorter)
    for action in (interface.refresh, interface.drop, interface.certificate):
        with pytest.raises(UnknownName):
            action(name)
    interface.drop(f'safe."{shorter}"')


def _release(interface: Interface, name: str) -> None:
    interface.anonymize("base", 5, quasi_identifiers=["a"], release=name)


@pytest.mark.parametrize(
    ("name", "called"),
    [
        ("people", "SAFE.People"),
        ("My Patients", 'safe."My Patients"'),
    ],
)
def test_a_release_is_found_as_sql_and_reports_write_it(interface: Interface, name: str, called: str) -> None:
    connection = interface.connection
    connection.execute("create table base as select i % 3 as a from generate_series(1, 60) as i")
    _release(interface, name)
    connection.execute("delete from base where a = 0")
    interface.refresh(called)
    left = connection.execute(sql.SQL("select count(*) from safe.{}").format(sql.Identifier(name)))
    assert left.fetchone() == (40,)
    interface.drop(called)
    assert connection.execute("select release from kanon.releases").fetchall() == []


def test_a_release_may_be_named_with_its_schema_when_it_is_published(interface: Interface) -> None:
    connection = interface.connection
    connection.execute("create table base as select i % 3 as a from generate_series(1, 60) as i")
    reported = {
        name: interface.anonymize("base", 5, quasi_identifiers=["a"], release=name).release
        for name in ("safe.foo", 'SAFE."A b"', "foo")
    }
    assert reported == {"safe.foo": '"safe"."foo"', 'SAFE."A b"': '"safe"."A b"', "foo": '"safe"."foo"'}
    found = connection.execute("select release from kanon.releases order by release")
    assert [name for (name,) in found] == ["A b", "foo"]


@pytest.mark.parametrize("name", ["safe.", "safe.a.b", "safe.a b"])
def test_what_follows_the_schema_has_to_be_a_name(interface: Interface, name: str) -> None:
    interface.connection.execute("create table base as select i % 3 as a from generate_series(1, 60) as i")
    with pytest.raises(InputError) as raised:
        _release(interface, name)
    assert "begins with the schema safe" in raised.value.message
    assert "without its schema" in (raised.value.hint or "")


@pytest.mark.parametrize("called", ["public.base", "x.safe.base", '"Base"', "base;", '"base', "", "s." * 40])
def test_nothing_else_is_taken_for_a_release(interface: Interface, called: str) -> None:
    interface.connection.execute("create table base as select i % 3 as a from generate_series(1, 60) as i")
    _release(interface, "base")
    for operation in (interface.refresh, interface.drop, interface.certificate, interface.erase):
        with pytest.raises(UnknownName) as raised:
            operation(called)
        assert raised.value.message == f"There is no release {as_given(called)}."


def test_the_exact_name_of_a_release_comes_before_what_it_would_mean_in_sql(interface: Interface) -> None:
    connection = interface.connection
    connection.execute("create table base as select i % 3 as a from generate_series(1, 60) as i")
    connection.execute('create table "safe.base" as table base')
    _release(interface, "base")
    for name in (None, "safe.base"):
        report = interface.anonymize('"safe.base"', 5, quasi_identifiers=["a"], release=name)
        assert report.release == '"safe"."safe.base"'
    interface.drop("safe.base")
    assert connection.execute("select release from kanon.releases").fetchall() == [("base",)]
