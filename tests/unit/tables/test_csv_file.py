"""CSV files are read whole, in order, and refused with a reason that quotes no value."""

import csv
import gzip
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kanon_pg.errors import InputError
from kanon_pg.tables.column_types import CsvColumn
from kanon_pg.tables.csv_file import CsvFile

SECRET = "hush"


def write(folder: Path, content: str | bytes, name: str = "a.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def cells(file: CsvFile) -> list[list[str | None]]:
    return [list(row.values()) for batch in file.batches() for row in batch.to_pylist()]


def test_empty_fields_are_null_and_quoted_ones_are_not(tmp_path: Path) -> None:
    file = CsvFile(write(tmp_path, 'a,b\n,""\n?,NA\n'))
    assert cells(file) == [[None, ""], ["?", "NA"]]


def test_line_ends_delimiters_and_quotes_in_fields(tmp_path: Path) -> None:
    file = CsvFile(write(tmp_path, 'a;b\r\n"x;y\nz";"say ""hi"""\r\n'), ";")
    assert cells(file) == [["x;y\nz", 'say "hi"']]


def test_empty_lines_are_nulls_in_a_file_of_one_column_only(tmp_path: Path) -> None:
    assert cells(CsvFile(write(tmp_path, "a\n\nx\n"))) == [[None], ["x"]]
    assert cells(CsvFile(write(tmp_path, "a,b\n\n1,2\n"))) == [["1", "2"]]


def test_gzip_is_recognized_by_content(tmp_path: Path) -> None:
    packed = gzip.compress(b"a,b\n1,2\n") + gzip.compress(b"3,4\n")  # two members, as `cat` makes them
    assert cells(CsvFile(write(tmp_path, packed, "no-suffix"))) == [["1", "2"], ["3", "4"]]


def test_a_byte_order_mark_is_no_part_of_the_first_name(tmp_path: Path) -> None:
    assert CsvFile(write(tmp_path, "\ufeffa,b\n1,2\n")).names == ("a", "b")


def test_odd_column_names_are_kept(tmp_path: Path) -> None:
    names = ('Größe "x"', "a,b", "select", " ", "日本")
    path = tmp_path / "a.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerow(names)
    assert CsvFile(path).names == names


def test_a_header_alone_is_a_table_without_rows(tmp_path: Path) -> None:
    layout = CsvFile(write(tmp_path, "a,b\n")).layout()
    assert layout == (CsvColumn("a", "text"), CsvColumn("b", "text"))


def test_layout_obeys_what_the_user_says(tmp_path: Path) -> None:
    file = CsvFile(write(tmp_path, "a,b\n1,2\n"))
    assert [c.sql_type for c in file.layout()] == ["integer", "integer"]
    assert [c.sql_type for c in file.layout(frozenset({"b"}))] == ["integer", "text"]
    assert [c.sql_type for c in file.layout(all_text=True)] == ["text", "text"]
    with pytest.raises(InputError, match='no column "c"'):
        file.layout(frozenset({"c"}))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("a,b,a\n1,2,3\n", 'names column "a" more than once'),
        ("a,,b\n1,2,3\n", "empty column name"),
        (f"a,b\n1,2\n{SECRET},2,3\n", "has 3 fields, the header has 2"),
        (f"a,b\n{SECRET}\n", "has 1 fields, the header has 2"),
        (b"a,b\n" + SECRET.encode() + b",\xff\x81\n", "text neither in UTF-8"),
        (b"\xff\xfe,b\n1,2\n", "cannot be read as CSV in UTF-16"),
        (gzip.compress(b"a,b\n1,2\n", mtime=0)[:-9], "cannot be read"),
    ],
)
def test_bad_files_are_refused_without_quoting_them(
    tmp_path: Path, content: str | bytes, message: str
) -> None:
    path = write(tmp_path, content)
    with pytest.raises(InputError, match=message) as caught:
        CsvFile(path).layout()
    assert SECRET not in str(caught.value)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        CsvFile(tmp_path / "none.csv")
    with pytest.raises(InputError, match="cannot be read"):
        CsvFile(tmp_path)


@pytest.mark.parametrize("delimiter", ["", ";;", '"', "\n", "é"])
def test_odd_delimiters_are_refused(tmp_path: Path, delimiter: str) -> None:
    with pytest.raises(InputError, match="delimiter"):
        CsvFile(write(tmp_path, "a\n1\n"), delimiter)


def test_progress_ends_with_the_whole_file(tmp_path: Path) -> None:
    path = write(tmp_path, "a,b\n" + "12345,67890\n" * 2_000_000)
    seen: list[tuple[int, int]] = []
    CsvFile(path).layout(progress=lambda done, total: seen.append((done, total)))
    assert len(seen) > 1
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert all(0 < done <= total == path.stat().st_size for done, total in seen)


FIELD = st.text(
    st.characters(codec="utf-8", exclude_characters="\0\r", exclude_categories=("Cs",)),
    min_size=1,
    max_size=8,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(FIELD, min_size=3, max_size=3), min_size=1, max_size=20))
def test_what_the_standard_library_writes_is_read_back(tmp_path: Path, rows: list[list[str]]) -> None:
    path = tmp_path / "written.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["a", "b", "c"], *rows])
    assert cells(CsvFile(path)) == rows


@pytest.mark.parametrize("sign", [";", "\t", "|", ","])
def test_the_delimiter_is_the_one_that_separates_most_names(tmp_path: Path, sign: str) -> None:
    path = write(
        tmp_path, sign.join(["age", "zip", '"a, b"']) + "\n" + sign.join(["1", "2", '"3, 4"']) + "\n"
    )
    assert CsvFile(path).names == ("age", "zip", "a, b")


def test_one_column_needs_no_delimiter(tmp_path: Path) -> None:
    assert CsvFile(write(tmp_path, "age\n1\n")).names == ("age",)


@pytest.mark.parametrize("packed", [False, True])
def test_a_record_of_another_length_is_named_by_its_line(tmp_path: Path, packed: bool) -> None:
    text = 'a;b\n1;2\n\n"of two\nlines";3\n4;5;6\n7;8\n'
    path = write(tmp_path, text)
    if packed:
        path.write_bytes(gzip.compress(text.encode()))
    with pytest.raises(InputError, match="has 3 fields, the header has 2") as raised:
        list(CsvFile(path).batches())
    assert raised.value.detail == "It begins in line 6."
    assert "separated by semicolons" in (raised.value.hint or "")


@pytest.mark.parametrize(
    ("name", "reason"), [("none.csv", "No such file or directory"), (".", "Is a directory")]
)
def test_what_cannot_be_opened_says_why_in_few_words(tmp_path: Path, name: str, reason: str) -> None:
    with pytest.raises(InputError) as raised:
        CsvFile(tmp_path / name)
    assert raised.value.message == f"The file {tmp_path / name} cannot be read: {reason}."
    assert raised.value.hint


TEXT = 'Name;Größe\nJürgen "J" Łé;1\n'
LATIN = "Name;Größe\nJürgen;1\nÉmile;2\n"


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    ("text", "encoding", "found"),
    [
        (TEXT, "utf-8", "utf-8"),
        (TEXT, "utf-8-sig", "utf-8"),
        (TEXT, "utf-16", "utf-16"),
        ("\ufeff" + TEXT, "utf-16-be", "utf-16"),
        (TEXT, "utf-16-le", "utf-16-le"),
        (TEXT, "utf-16-be", "utf-16-be"),
        (TEXT, "utf-32", "utf-32"),
        (LATIN, "latin-1", "cp1252"),
        (LATIN.replace("É", "€"), "cp1252", "cp1252"),
        ("a;b\n1;2\n", "ascii", "utf-8"),
        ("name;b\nBe\0rta;2\nAnna;3\nCleo;4\n", "ascii", "utf-8"),
    ],
)
def test_the_encoding_is_guessed_and_said(
    tmp_path: Path, text: str, encoding: str, found: str, packed: bool
) -> None:
    content = text.replace('"J"', "J").encode(encoding)
    file = CsvFile(write(tmp_path, gzip.compress(content) if packed else content))
    records = list(csv.reader(text.removeprefix("\ufeff").replace('"J"', "J").splitlines(), delimiter=";"))
    assert [list(file.names), *cells(file)] == records
    assert file.encoding == found
    said = file.guesses(file.layout())
    assert len(said) == (found != "utf-8")
    assert file.layout()[1].sql_type == "integer"


def test_a_byte_late_in_a_file_counts(tmp_path: Path) -> None:
    content = b"a,b\n" + b"plain,1\n" * 200_000 + "Jürgen,2\n".encode("latin-1")
    file = CsvFile(write(tmp_path, content))
    assert [batch.column("a")[-1].as_py() for batch in file.batches()][-1] == "Jürgen"


def test_an_encoding_that_is_given_is_taken(tmp_path: Path) -> None:
    path = write(tmp_path, "a,ä\nЖ,2\n".encode("cp1251", "replace"))
    file = CsvFile(path, encoding="windows-1251")
    assert cells(file) == [["Ж", "2"]]
    assert file.guesses(file.layout()) == ()
    with pytest.raises(InputError, match="cannot be read as CSV in UTF-8"):
        CsvFile(path, encoding="utf8").layout()
    for unknown in ("klingon", "hex", ""):
        with pytest.raises(InputError, match="There is no encoding"):
            CsvFile(path, encoding=unknown)


def test_a_header_without_end_is_refused_with_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        CsvFile(write(tmp_path, b"\xc3" * 300_000), encoding="latin-1").layout()


def test_a_record_of_another_length_is_named_by_its_line_in_any_encoding(tmp_path: Path) -> None:
    path = write(tmp_path, "a;b\nä;2\n1;2;3\n".encode("utf-16"))
    with pytest.raises(InputError, match="has 3 fields") as raised:
        CsvFile(path).layout()
    assert raised.value.detail == "It begins in line 3."
