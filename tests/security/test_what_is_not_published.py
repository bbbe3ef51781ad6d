"""What no argument publishes, and what a reader cannot learn from how cells are stored."""

from itertools import count

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from kanon_pg.errors import UnsuitableColumn
from tests.fixtures.interfaces import Interface
from tests.fixtures.releases import everything

_numbers = count(1)


def test_no_argument_publishes_a_declared_identifier(interface: Interface) -> None:
    interface.connection.execute(
        "create table people as select i, i % 3 as age from generate_series(1, 30) as i"
    )
    interface.declare("people", identifiers=["i"], quasi_identifiers=["age"])
    before = everything(interface.connection)
    for arguments in ({"sensitive": ["i"]}, {"quasi_identifiers": ["i", "age"]}):
        with pytest.raises(UnsuitableColumn, match="identifier, which is never published") as raised:
            interface.anonymize("people", 5, **arguments)
        assert raised.value.hint is not None
    assert everything(interface.connection) == before


@pytest.mark.parametrize("kind", ["text", "varchar", "varchar(400)", "char(400)", "bytea", "a_domain"])
def test_the_size_of_a_stored_cell_tells_nothing_but_the_cell(interface: Interface, kind: str) -> None:
    """A long row has its cells compressed; equal cells of short rows are not."""
    run = interface.connection.execute
    run("create domain a_domain as text not null")
    run(f"create table wide (cell {kind}, notes text)".encode())
    long, notes = f"repeat('8', 300)::{kind}", "string_agg(md5(i::text), '')"
    run(
        f"insert into wide select {long}, 'short' from generate_series(1, 5)"
        f" union all select {long}, {notes} from generate_series(1, 61) as i".encode()
    )
    sizes = "select pg_column_size(cell), count(*) from {} group by 1"
    assert len(run(sizes.format("wide").encode()).fetchall()) == 2
    interface.anonymize("wide", 3, quasi_identifiers=["cell"])
    ((_, rows),) = run(sizes.format("safe.wide").encode()).fetchall()
    assert rows == 6
    assert (
        run("select distinct cell::text from safe.wide").fetchall()
        == run("select distinct cell::text from wide").fetchall()
    )


@pytest.mark.parametrize("columns", ["", " (zip, id)"])
def test_row_types_are_shown_only_while_the_table_may_be_read(interface: Interface, columns: str) -> None:
    run, reader = interface.connection.execute, f"row_type_reader_{next(_numbers)}"
    run("create table homes as select i as id, i % 3 as zip from generate_series(1, 30) as i")
    run(f"create role {reader} login in role kanon_curator".encode())
    run(f"grant select{columns} on homes to {reader}".encode())
    interface.declare("homes", quasi_identifiers=["zip"])
    run(f"grant select on kanon.public_homes_row_types to {reader}".encode())
    counts = "select zip, rows from kanon.public_homes_row_types"
    with psycopg.connect(make_conninfo(interface.dsn, user=reader), autocommit=True) as own:
        assert len(own.execute(counts).fetchall()) == 3
        run(f"revoke select{columns} on homes from {reader}".encode())
        assert own.execute(counts).fetchall() == []
    run(f"drop owned by {reader}; drop role {reader}".encode())


def test_settings_of_the_session_change_no_cell(interface: Interface) -> None:
    """Some types are spelled as text to be published in one spelling, and text depends on the session."""
    run = interface.connection.execute
    cells = {
        "moments": "tstzrange('2020-06-01 00:00:00.5+00', '2020-12-01 00:00+00')",
        "floats": "array[1e300 / 3, null]",
        "labels": "array['NULL', null]",
        "span": "'-1 month +2 days -03:00:00'::interval",
        "price": "1.23::money",
    }
    columns = ", ".join(f"{cell} as {name}" for name, cell in cells.items())
    run(f"create table samples as select {columns} from generate_series(1, 5)".encode())
    run(
        "set datestyle = 'SQL, DMY'; set timezone = 'Asia/Kolkata';"
        " set extra_float_digits = -15; set array_nulls = off"
    )
    names = ", ".join(cells)
    for call in (
        lambda: interface.anonymize("samples", 5, quasi_identifiers=list(cells)),
        lambda: interface.refresh("samples"),
    ):
        call()
        assert run("show datestyle").fetchone() == ("SQL, DMY",)
        different = f"select {names} from samples except select {names} from safe.samples"
        assert run(different.encode()).fetchall() == []
    run("set datestyle = 'German'; set extra_float_digits = 0")
    interface.refresh("samples")
    assert run("select distinct kanon_suppressed from safe.samples").fetchall() == [([],)]
