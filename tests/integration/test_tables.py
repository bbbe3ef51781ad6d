"""CSV files become tables that hold what they say, and releases become files that hold what they show."""

import csv
import gzip
import hashlib
import json
import math
from collections.abc import Callable, Iterator
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from kanon_pg.db.psycopg_adapter import connect
from kanon_pg.errors import DatabaseError, InputError, UnknownName
from kanon_pg.tables.column_types import CsvColumn
from kanon_pg.tables.csv_file import CsvFile
from kanon_pg.tables.export import FORMATS, export_all, export_release
from kanon_pg.tables.load import load_csv
from tests.fixtures.databases import role
from tests.fixtures.examples import examples

ONCE_PER_EXAMPLE = settings(
    max_examples=examples(15), suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture
def client(dsn: str) -> Iterator[Any]:
    """Yield a connection as the CLI opens it, whose changes are undone."""
    with connect(dsn) as connection:
        yield connection
        connection.rollback()


def write(folder: Path, content: str, name: str = "a.csv") -> CsvFile:
    path = folder / name
    path.write_text(content, encoding="utf-8", newline="")
    return CsvFile(path)


def types_of(connection: Any, table: str) -> dict[str, str]:
    found = connection.execute(
        "SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute"
        " WHERE attrelid = %s::regclass AND attnum > 0 ORDER BY attnum",
        [table],
    )
    return dict(found.fetchall())


def publish(connection: Any, name: str, query: str) -> None:
    """Make a view that looks like a release of this name."""
    view = f'safe."{name}"'
    connection.execute(f"CREATE VIEW {view} AS {query}")
    connection.execute(f"ALTER VIEW {view} OWNER TO kanon_owner")


def test_types_and_nulls(client: Any, tmp_path: Path) -> None:
    file = write(
        tmp_path,
        "i,l,d,b,day,at,code,mark,note\n"
        '1,3000000000,1.5,true,2024-02-29,2024-02-29 10:00:00,007,?,""\n'
        ",,,,,,,,\n"
        '"","","","","","",8,NA,x\n',
    )
    report = load_csv(client, file, "loaded")
    assert report.table == '"public"."loaded"'
    assert report.rows == 3
    assert types_of(client, "loaded") == {
        "i": "integer",
        "l": "bigint",
        "d": "numeric",
        "b": "boolean",
        "day": "date",
        "at": "timestamp without time zone",
        "code": "text",
        "mark": "text",
        "note": "text",
    }
    rows = client.execute("SELECT * FROM loaded").fetchall()
    assert rows == [
        (
            1,
            3_000_000_000,
            Decimal("1.5"),
            True,
            date(2024, 2, 29),
            datetime(2024, 2, 29, 10),
            "007",
            "?",
            "",
        ),
        (None,) * 9,
        (None, None, None, None, None, None, "8", "NA", "x"),
    ]


@pytest.mark.parametrize(
    ("given_name", "schema", "name"),
    [
        ("People", "public", "people"),
        ('"People"', "public", "People"),
        ('"a.b"', "public", "a.b"),
        ('"x""; DROP TABLE y; --"', "public", 'x"; DROP TABLE y; --'),
        ("elsewhere.people", "elsewhere", "people"),
        ('"Größe 日本"', "public", "Größe 日本"),
        ('"' + "n" * 63 + '"', "public", "n" * 63),
        ('"12"', "public", "12"),
    ],
)
def test_table_names_are_sql_names(
    client: Any, tmp_path: Path, given_name: str, schema: str, name: str
) -> None:
    client.execute("CREATE SCHEMA elsewhere")
    load_csv(client, write(tmp_path, "a\n1\n"), given_name)
    found = client.execute(
        "SELECT count(*) FROM pg_tables WHERE schemaname = %s AND tablename = %s", [schema, name]
    )
    assert found.fetchone() == (1,)


@pytest.mark.parametrize("name", ["", "a.b.c", '"', "1x", 'a"b', "x; DROP TABLE y", '"' + "n" * 64 + '"'])
def test_bad_table_names_are_refused(client: Any, tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="name"):
        load_csv(client, write(tmp_path, "a\n1\n"), name)


def test_odd_column_names_are_quoted(client: Any, tmp_path: Path) -> None:
    names = ['Größe "x"', "a,b", "select", " ", "ctid2", "日本", "x" * 63]
    path = tmp_path / "a.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([names, ["1"] * 7])
    load_csv(client, CsvFile(path), "odd")
    assert list(types_of(client, "odd")) == names


def test_a_name_that_would_be_cut_off_is_refused(client: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="longer than 63 bytes"):
        load_csv(client, write(tmp_path, "é" * 32 + "\n1\n"), "long")


def test_amounts_of_money_are_exact(client: Any, tmp_path: Path) -> None:
    load_csv(client, write(tmp_path, "cost\n12.50\n0.10\n0.20\n\n"), "t")
    assert types_of(client, "t") == {"cost": "numeric"}
    rows = client.execute("SELECT cost::text FROM t ORDER BY cost").fetchall()
    assert rows == [("0.10",), ("0.20",), ("12.50",), (None,)]
    assert client.execute("SELECT sum(cost)::text FROM t").fetchone() == ("12.80",)


def test_an_existing_table_is_refused_replaced_or_appended_to(client: Any, tmp_path: Path) -> None:
    first = write(tmp_path, "a,b\n1,x\n")
    load_csv(client, first, "t")
    with pytest.raises(InputError, match="exists already"):
        load_csv(client, first, "t")
    load_csv(client, write(tmp_path, 'b,a\n"",\n007,2\n'), "t", if_exists="append")
    rows = client.execute("SELECT a, b FROM t ORDER BY a NULLS FIRST").fetchall()
    assert rows == [(None, ""), (1, "x"), (2, "007")]
    load_csv(client, write(tmp_path, "c\n1.5\n"), "t", if_exists="replace")
    assert types_of(client, "t") == {"c": "numeric"}


def test_appending_needs_the_columns(client: Any, tmp_path: Path) -> None:
    load_csv(client, write(tmp_path, "a\n1\n"), "t")
    with pytest.raises(UnknownName, match='no column "z"'):
        load_csv(client, write(tmp_path, "z\n1\n"), "t", if_exists="append")


def test_what_is_added_is_read_like_what_is_new(client: Any, tmp_path: Path) -> None:
    client.execute("SET datestyle = 'SQL, MDY'; CREATE TABLE t (born date, cost numeric, note text)")
    report = load_csv(
        client,
        write(tmp_path, 'born;cost;note\n31.12.1980;"1234,5";NA\nNA;-;"1,5"\n'),
        "t",
        if_exists="append",
    )
    assert len(report.guesses) == 4
    rows = client.execute("SELECT born::date, cost, note FROM t ORDER BY born").fetchall()
    assert rows == [(date(1980, 12, 31), Decimal("1234.5"), "NA"), (None, None, "1,5")]
    for column, value in (("born", "01/02/1980"), ("cost", "1,234")):
        with pytest.raises(InputError, match=f'Column "{column}" cannot be read'):
            load_csv(client, write(tmp_path, f"{column};note\n{value};x\n"), "t", if_exists="append")
    assert client.execute("SELECT count(*) FROM t").fetchone() == (2,)


def test_a_zero_byte_is_refused_with_what_to_do(client: Any, tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match="zero byte") as raised:
        load_csv(client, write(tmp_path, "name,n\nBe\0rta,1\nAnna,2\n"), "loaded")
    assert raised.value.hint


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "latin-1", "cp1252"])
def test_files_load_in_any_encoding(client: Any, tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("Größe;geboren;Gehalt\nhünenhaft;31.12.1980;1234,50\nk. A.;NA;?\n".encode(encoding))
    load_csv(client, CsvFile(path), "t")
    assert types_of(client, "t") == {"Größe": "text", "geboren": "date", "Gehalt": "numeric"}
    assert client.execute("SELECT * FROM t").fetchall() == [
        ("hünenhaft", date(1980, 12, 31), Decimal("1234.50")),
        ("k. A.", None, None),
    ]


def test_a_table_that_others_need_is_not_replaced(client: Any, tmp_path: Path) -> None:
    file = write(tmp_path, "a\n1\n")
    load_csv(client, file, "t")
    client.execute("CREATE VIEW v AS SELECT * FROM t")
    with pytest.raises(InputError, match="needs it"):
        load_csv(client, file, "t", if_exists="replace")
    assert client.execute("SELECT a FROM v").fetchall() == [(1,)]


def test_what_does_not_fit_is_refused_without_quoting_it_and_nothing_changes(
    client: Any, tmp_path: Path
) -> None:
    load_csv(client, write(tmp_path, "a\n1\n"), "t")
    with pytest.raises(DatabaseError) as caught:
        load_csv(client, write(tmp_path, "a\n2\nhush\n"), "t", if_exists="append")
    assert "hush" not in str(caught.value)
    assert client.execute("SELECT a FROM t").fetchall() == [(1,)]


def test_progress_names_both_phases(client: Any, tmp_path: Path) -> None:
    seen: list[str] = []
    load_csv(client, write(tmp_path, "a\n1\n"), "t", progress=lambda phase, *_: seen.append(phase))
    assert list(dict.fromkeys(seen)) == ["reading types", "loading"]


VALUE = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(str),
    st.decimals(-(10**12), 10**12, places=2).map(lambda amount: format(amount, "f")),
    st.dates().map(date.isoformat),
    st.sampled_from(
        ["", "?", "\\.", "\\N", "NULL", "007", "t", "true", 'a"b', "a\nb", "x\n\\.\ny", " ", "'", "\\"]
    ),
    st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=6),
)


def written(value: str | None) -> str:
    return "" if value is None else '"' + value.replace('"', '""') + '"'


@ONCE_PER_EXAMPLE
@given(st.integers(1, 4).flatmap(lambda width: st.lists(st.tuples(*[VALUE] * width), min_size=1, max_size=8)))
def test_text_survives_load_and_export(
    client: Any, tmp_path: Path, rows: list[tuple[str | None, ...]]
) -> None:
    names = [f"c{number}" for number in range(len(rows[0]))]
    lines = [",".join(names), *(",".join(map(written, row)) for row in rows)]
    with client.transaction(force_rollback=True):
        load_csv(client, write(tmp_path, "\n".join(lines) + "\n"), "t", all_text=True)
        assert client.execute("SELECT * FROM t").fetchall() == rows
        client.execute("GRANT SELECT ON t TO kanon_owner")
        publish(client, "t", "SELECT * FROM t")
        export_release(client, "t", tmp_path / "t.csv")
        load_csv(client, CsvFile(tmp_path / "t.csv"), "again", all_text=True)
        assert client.execute("SELECT * FROM again").fetchall() == rows


@ONCE_PER_EXAMPLE
@given(st.lists(st.tuples(*[VALUE] * 3), min_size=1, max_size=8))
def test_no_file_is_refused_or_changed_by_the_chosen_types(
    client: Any, tmp_path: Path, rows: list[tuple[str | None, ...]]
) -> None:
    lines = ["a,b,c", *(",".join(map(written, row)) for row in rows)]
    with client.transaction(force_rollback=True):
        load_csv(client, write(tmp_path, "\n".join(lines) + "\n"), "t")
        kinds = types_of(client, "t")
        stored = client.execute("SELECT a::text, b::text, c::text FROM t").fetchall()
        for column, kind in enumerate(kinds.values()):
            for before, after in zip(rows, stored, strict=True):
                assert _means(before[column], kind) == _means(after[column], kind)


def _means(text: str | None, kind: str) -> Any:
    if kind == "text" or text is None:
        return text
    if text in ("", "?", "NULL", "\\N"):
        return None
    meanings: dict[str, Callable[[str], Any]] = {
        # with the digits that were written
        "numeric": lambda number: Decimal(number.replace(",", ".")).as_tuple(),
        "double precision": lambda number: float(number.replace(",", ".")),
        "boolean": lambda word: word[0].lower() == "t",
    }
    return meanings.get(kind, str)(text)


TYPED = st.tuples(
    st.none() | st.integers(-(2**31), 2**31 - 1),
    st.none() | st.integers(-(2**63), 2**63 - 1),
    st.none() | st.floats(),
    st.none() | st.booleans(),
    st.none() | st.dates(),
    st.none() | st.datetimes(),
    st.none() | st.decimals(-(10**20), 10**20, places=4),
    st.none() | st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6),
    st.lists(st.sampled_from(["age", 'a"b', "a,b", "{", "Größe"]), unique=True),
)


@ONCE_PER_EXAMPLE
@given(st.lists(TYPED, max_size=8))
def test_parquet_keeps_types_and_values(client: Any, tmp_path: Path, rows: list[tuple[Any, ...]]) -> None:
    columns = "i int4, l int8, f float8, b bool, d date, t timestamp, n numeric(30,4), s text"
    with client.transaction(force_rollback=True):
        client.execute(f"CREATE TABLE t ({columns}, kanon_suppressed name[])")
        for row in rows:
            client.execute("INSERT INTO t VALUES (%s,%s,%s,%s,%s,%s,%s,%s,%s::name[])", row)
        client.execute("GRANT SELECT ON t TO kanon_owner")
        publish(client, "t", "SELECT * FROM t")
        report = export_release(client, "safe.t", tmp_path / "t.parquet")
    table = parquet.read_table(tmp_path / "t.parquet")
    assert report.rows == table.num_rows == len(rows)
    assert [str(kind) for kind in table.schema.types] == [
        "int32",
        "int64",
        "double",
        "bool",
        "date32[day]",
        "timestamp[us]",
        "decimal128(30, 4)",
        "string",
        "list<element: string>",
    ]
    read = [tuple(row.values()) for row in table.to_pylist()]
    assert _without_nan(read) == _without_nan([(*row[:-1], list(row[-1])) for row in rows])


def _without_nan(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return [tuple("NaN" if isinstance(v, float) and math.isnan(v) else v for v in row) for row in rows]


def test_parquet_types_of_domains_and_of_types_without_a_match(client: Any, tmp_path: Path) -> None:
    client.execute("CREATE DOMAIN grade AS integer")
    publish(
        client,
        "t",
        "SELECT 3::grade AS g, 1.25::numeric AS n, repeat('9', 60)::numeric AS wide,"
        " '[1,5)'::int4range AS r, '{\"a\": 1}'::jsonb AS j, '2024-01-01 12:00+02'::timestamptz AS z",
    )
    export_release(client, "t", tmp_path / "t.parquet")
    table = parquet.read_table(tmp_path / "t.parquet")
    kinds = dict(zip(table.schema.names, map(str, table.schema.types), strict=True))
    assert kinds == {
        "g": "int32",
        "n": "decimal128(3, 2)",
        "wide": "string",
        "r": "string",
        "j": "string",
        "z": "timestamp[us, tz=UTC]",
    }
    (row,) = table.to_pylist()
    assert row["r"] == "[1,5)"
    assert row["wide"] == "9" * 60
    assert row["z"].isoformat() == "2024-01-01T10:00:00+00:00"


@pytest.mark.parametrize(
    "value", ["'infinity'::date", "'0044-03-15 BC'::date", "'NaN'::numeric", "'infinity'::timestamp"]
)
def test_what_parquet_cannot_hold_is_refused_by_column_and_leaves_no_file(
    client: Any, tmp_path: Path, value: str
) -> None:
    publish(client, "t", f"SELECT 1 AS a, {value} AS odd")
    with pytest.raises(InputError, match='column "odd"'):
        export_release(client, "t", tmp_path / "t.parquet")
    assert list(tmp_path.iterdir()) == []


def test_csv_does_not_depend_on_the_session(client: Any, tmp_path: Path) -> None:
    client.execute("SET datestyle = 'German'; SET timezone = 'Asia/Tokyo'; SET extra_float_digits = -10")
    publish(
        client, "t", "SELECT '2024-02-29'::date AS d, 1/3::float8 AS f, '2024-01-01 00:00Z'::timestamptz AS z"
    )
    export_release(client, "t", tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "d,f,z\n2024-02-29,0.3333333333333333,2024-01-01 00:00:00+00\n"


def test_gzip_holds_the_same_as_csv(client: Any, tmp_path: Path) -> None:
    publish(client, "t", "SELECT i, repeat('x', 200) AS s FROM generate_series(1, 20000) AS i")
    report = export_release(client, "t", tmp_path / "t.csv")
    export_release(client, "t", tmp_path / "t.csv.gz")
    plain = (tmp_path / "t.csv").read_bytes()
    assert gzip.decompress((tmp_path / "t.csv.gz").read_bytes()) == plain
    assert report.rows == 20_000
    assert report.bytes == len(plain)
    assert arrow_csv.read_csv(tmp_path / "t.csv").num_rows == 20_000


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
def test_an_empty_release_is_a_file_with_columns(client: Any, tmp_path: Path, suffix: str) -> None:
    publish(client, "t", "SELECT 1 AS a, ARRAY['a']::name[] AS kanon_suppressed WHERE false")
    path = tmp_path / f"t{suffix}"
    assert export_release(client, "t", path).rows == 0
    read = parquet.read_table if suffix == ".parquet" else arrow_csv.read_csv
    table: pa.Table = read(path)
    assert table.num_rows == 0
    assert table.column_names == ["a", "kanon_suppressed"]


@pytest.mark.parametrize("name", ["t.xlsx", "csv", ".csv", "t.csv.bz2"])
def test_unknown_formats_are_refused(client: Any, tmp_path: Path, name: str) -> None:
    publish(client, "t", "SELECT 1 AS a")
    with pytest.raises(InputError, match="format"):
        export_release(client, "t", tmp_path / name)


def test_only_releases_are_exported(client: Any, tmp_path: Path) -> None:
    client.execute("CREATE TABLE people AS SELECT 1 AS a; CREATE VIEW safe.mine AS SELECT 1 AS a")
    for name in ("people", "public.people", "mine", "nobody"):
        with pytest.raises(UnknownName, match="no release"):
            export_release(client, name, tmp_path / "t.csv")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("called", ["My Release", '"My Release"', 'safe."My Release"', '"safe"."My Release"'])
def test_a_release_to_export_may_be_written_as_in_sql(client: Any, tmp_path: Path, called: str) -> None:
    publish(client, "My Release", "SELECT 1 AS a, '{}'::name[] AS kanon_suppressed")
    assert export_release(client, called, tmp_path / "t.csv").release == "My Release"


def test_an_existing_file_stays_if_the_export_fails(client: Any, tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    path.write_text("before")
    publish(client, "t", "SELECT 'infinity'::date AS odd")
    with pytest.raises(InputError):
        export_release(client, "t", path)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_does_not_exist_is_refused(client: Any, tmp_path: Path) -> None:
    publish(client, "t", "SELECT 1 AS a")
    with pytest.raises(InputError, match="cannot be written"):
        export_release(client, "t", tmp_path / "none" / "t.csv")


@pytest.fixture
def clinic(dsn: str, connection: Any) -> str:
    """Yield the DSN of a database with a release of generalized ages, and a plain one."""
    connection.execute(
        "CREATE TABLE people (id integer PRIMARY KEY, age integer, town text, ill text);"
        "INSERT INTO people SELECT i, 20 + i % 61, 't' || i % 7, 'i' || i % 3"
        " FROM generate_series(1, 400) AS i;"
        "SELECT kanon_declare('people', quasi_identifiers => '{age,town}', sensitive => '{ill}');"
        "SELECT kanon_anonymize('people', 5, time_limit => '2 seconds', release => 'ages',"
        ' hierarchies => \'{"age": {"builder": "intervals", "width": 10}}\');'
        "SELECT kanon_anonymize('people', 7, '{town}', time_limit => '2 seconds', release => 'towns')"
    )
    return dsn


_ROLES = {
    "age": "quasi-identifier",
    "town": "quasi-identifier",
    "ill": "sensitive",
    "kanon_suppressed": "suppressed columns",
}


def test_an_export_says_what_the_release_says_of_itself(clinic: str, connection: Any, tmp_path: Path) -> None:
    with connect(clinic) as client:
        for name in ("t.csv", "t.csv.gz", "t.parquet"):
            export_release(client, "ages", tmp_path / name)
    sides = {name: json.loads((tmp_path / f"{name}.json").read_text()) for name in ("t.csv", "t.csv.gz")}
    for name, side in sides.items():
        content = (tmp_path / name).read_bytes()
        assert (side["file"], side["rows"], side["bytes"]) == (name, 400, len(content))
        assert side["sha256"] == hashlib.sha256(content).hexdigest()
    inside = json.loads(parquet.read_schema(tmp_path / "t.parquet").metadata[b"kanon_pg"])
    published = connection.execute(
        "SELECT published_at FROM kanon.releases WHERE release = 'ages'"
    ).fetchone()
    for about in (*sides.values(), inside):
        assert (about["release"], about["k"], about["counts_people"]) == ("ages", 5, False)
        assert datetime.fromisoformat(about["published_at"]) == published[0].replace(microsecond=0)
        assert about["refreshed_at"] is None
        assert {column["name"]: column["role"] for column in about["columns"]} == _ROLES
        assert about["columns"][0]["type"] == "int4range"
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "t.csv",
        "t.csv.gz",
        "t.csv.gz.json",
        "t.csv.json",
        "t.parquet",
    ]


def test_an_export_has_the_digest_of_a_certificate_of_this_publication(
    clinic: str, connection: Any, tmp_path: Path
) -> None:
    row = connection.execute("SELECT kanon_certificate('ages')::text").fetchone()
    proof = tmp_path / "proof"
    proof.write_text(row[0])
    with connect(clinic) as client:
        one = export_release(client, "ages", tmp_path / "t.csv", certificates=[proof])
        assert one.about["certificate_sha256"] == hashlib.sha256(proof.read_bytes()).hexdigest()
        all_of_them = export_all(client, tmp_path / "all", certificates=[proof]).releases
        assert [report.about["certificate_sha256"] is None for report in all_of_them] == [False, True]
        proof.write_text(row[0].replace('"k": 5', '"k": 6'))
        with pytest.raises(InputError, match="another publication"):
            export_release(client, "ages", tmp_path / "u.csv", certificates=[proof])
        with pytest.raises(InputError, match="is of none of the releases"):
            export_release(client, "towns", tmp_path / "u.csv", certificates=[proof])
        proof.write_text("{}")
        with pytest.raises(InputError, match="cannot be read as a certificate"):
            export_release(client, "ages", tmp_path / "u.csv", certificates=[proof])
    assert not (tmp_path / "u.csv").exists()


def test_who_may_read_the_view_alone_gets_the_rows_alone(clinic: str, tmp_path: Path) -> None:
    with role(clinic, "guest") as guest, connect(clinic) as client:
        client.execute(f"GRANT USAGE ON SCHEMA safe TO {guest}".encode())
        client.execute(f"GRANT SELECT ON safe.ages TO {guest}".encode())
        client.execute(f"SET ROLE {guest}".encode())
        client.commit()
        report = export_all(client, tmp_path / "all")
        (one,) = report.releases
        assert (one.release, one.rows, one.about["k"]) == ("ages", 400, None)
        client.execute("RESET ROLE")
        client.commit()


@pytest.mark.parametrize("kind", [".csv", ".parquet"])
def test_bounds_of_ranges_are_columns(client: Any, tmp_path: Path, kind: str) -> None:
    publish(
        client,
        "t",
        "SELECT * FROM (VALUES"
        " ('[1,5)'::int4range, '[1.5,2.25)'::numrange, '[2024-01-01,2025-01-01)'::daterange, 'x'),"
        " ('(,5)', '(1,)', NULL, NULL), ('empty', NULL, NULL, NULL)) AS t (a, n, d, s)",
    )
    report = export_release(client, "t", tmp_path / f"t{kind}", bounds=True)
    read = parquet.read_table if kind == ".parquet" else arrow_csv.read_csv
    table: pa.Table = read(tmp_path / f"t{kind}")
    names = ["a", "a_lower", "a_upper", "n", "n_lower", "n_upper", "d", "d_lower", "d_upper", "s"]
    assert table.column_names == [column["name"] for column in report.about["columns"]] == names
    assert report.about["columns"][1]["role"] == "lower bounds of a"
    assert table.column("a_lower").to_pylist() == [1, None, None]
    assert table.column("a_upper").to_pylist() == [5, 5, None]
    assert [float(n) for n in table.column("n_lower").to_pylist() if n is not None] == [1.5, 1.0]
    assert table.column("d_upper").to_pylist() == [date(2025, 1, 1), None, None]


def test_bounds_never_take_the_name_of_a_column(client: Any, tmp_path: Path) -> None:
    publish(client, "t", "SELECT '[1,5)'::int4range AS a, 1 AS a_lower")
    with pytest.raises(InputError, match='Column "a_lower" would stand in the file twice'):
        export_release(client, "t", tmp_path / "t.csv", bounds=True)
    publish(client, "long", f"SELECT '[1,5)'::int4range AS {'x' * 63}")
    report = export_release(client, "long", tmp_path / "t.parquet", bounds=True)
    assert len({column["name"] for column in report.about["columns"]}) == 3


@pytest.mark.parametrize("kind", FORMATS)
def test_a_folder_has_a_file_for_each_release_and_a_manifest(client: Any, tmp_path: Path, kind: str) -> None:
    names = ["../out", "a b", "a/b", ".", "Größe", "manifest", "manifest.json", "q'\"\n", "n" * 63]
    for number, name in enumerate(names):
        publish(client, name.replace('"', '""'), f"SELECT {number} AS a")
    folder = tmp_path / "all"
    report = export_all(client, folder, kind=kind)
    manifest = json.loads((folder / "manifest.json").read_text())
    assert [one["release"] for one in manifest["releases"]] == sorted(names, key=str.encode)
    files = [one["file"] for one in manifest["releases"]]
    assert sorted([*files, "manifest.json"]) == sorted(path.name for path in folder.iterdir())
    assert [Path(one.path) for one in report.releases] == [folder / file for file in files]
    assert list(tmp_path.iterdir()) == [folder]
    read = parquet.read_table if kind == ".parquet" else arrow_csv.read_csv
    for one in manifest["releases"]:
        assert read(folder / one["file"]).column("a").to_pylist() == [names.index(one["release"])]


def test_a_folder_appears_whole_or_not_at_all(client: Any, tmp_path: Path) -> None:
    publish(client, "a", "SELECT 1 AS a")
    publish(client, "b", "SELECT 'infinity'::date AS odd")
    with pytest.raises(InputError, match='column "odd"'):
        export_all(client, tmp_path / "all", kind=".parquet")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "all").mkdir()
    assert [one.release for one in export_all(client, tmp_path / "all", ["safe.a"]).releases] == ["a"]
    for there in (tmp_path / "all", tmp_path / "all" / "a.csv"):
        with pytest.raises(InputError, match="exists already"):
            export_all(client, there)
    with pytest.raises(InputError, match="cannot be written"):
        export_all(client, tmp_path / "no" / "all")
    assert json.loads((tmp_path / "all" / "manifest.json").read_text())["releases"][0]["release"] == "a"


def test_the_census_file_loads_whole(client: Any) -> None:
    path = Path(__file__).parents[3] / "shared" / "data" / "census_income_kdd.csv.gz"
    if not path.exists():
        pytest.skip("needs ../shared/data/census_income_kdd.csv.gz beside the checkout")
    report = load_csv(client, CsvFile(path), "census")
    assert report.rows == 199_523
    kinds = types_of(client, "census")
    assert len(kinds) == 42
    assert (kinds["age"], kinds["instance_weight"], kinds["education"]) == (
        "integer",
        "numeric",
        "text",
    )
    counted = client.execute("SELECT count(*) FROM (SELECT DISTINCT * FROM census) AS d").fetchone()
    assert counted == (196_294,)


def test_a_schema_that_does_not_exist_and_a_view_are_refused_with_a_sentence(
    client: Any, tmp_path: Path
) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a;b\n1;2\n")
    with pytest.raises(UnknownName, match='There is no schema "nowhere"') as raised:
        load_csv(client, CsvFile(path), "nowhere.t")
    assert 'CREATE SCHEMA "nowhere";' in (raised.value.hint or "")
    client.execute("CREATE VIEW v AS SELECT 1 AS a")
    with pytest.raises(InputError, match="is not a table, so it is not replaced"):
        load_csv(client, CsvFile(path), "v", if_exists="replace")
    assert load_csv(client, CsvFile(path), "t").columns == (
        CsvColumn("a", "integer"),
        CsvColumn("b", "integer"),
    )
