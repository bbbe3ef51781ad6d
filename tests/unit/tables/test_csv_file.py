"""CSV files are read whole, in order, and refused with a reason that quotes no value."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kanon_pg.errors import InputError
from kanon_pg.tables.csv_file import CsvColumn, CsvFile

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
        (b"a,b\n" + SECRET.encode() + b",\xff\xfe\n", "cannot be read as CSV in UTF-8"),
        (b"\xff\xfe,b\n1,2\n", "cannot be read as CSV in UTF-8"),
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
