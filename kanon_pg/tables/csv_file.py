"""Reads CSV files, plain or gzipped, as batches of strings with bounded memory, and chooses types of columns.

A type is chosen only if it keeps what the text says: a code with leading zeros (`02134`), a number beyond
`bigint`, the thirtieth of February or a `?` make the column text. Values are looked at as distinct values per
batch, by Arrow's kernels, so the work is per distinct value, not per cell.
"""

from __future__ import annotations

import csv
import errno
import io
import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv

from kanon_pg.errors import InputError

Progress = Callable[[int, int], None]
"""Called with bytes read so far and bytes in all."""

_BLOCK_BYTES = 8 * 1024 * 1024
_GZIP_START = b"\x1f\x8b"
_HEADER_BYTES = 1024 * 1024
_LONGEST_FIELD = 2**31 - 1
_NAMES = {",": "commas", ";": "semicolons", "\t": "tabulators", "|": "bars"}
"""Delimiters that are looked for, and what a sentence calls them."""

Check = Callable[[pa.Array], bool]
_DAY = r"\d{4}-\d{2}-\d{2}"
_TIME = r"\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?"
# Offsets up to 14 hours: every zone in use, and within what both Arrow and PostgreSQL read.
_OFFSET = r"(Z|[+-](0\d|1[0-4])(:?[0-5]\d)?)"
_DECIMAL = r"-?((0|[1-9]\d*)(\.\d*)?|\.\d+)([eE][+-]?\d+)?"
# Numbers as people write them, money for example. More digits after the point are what programs print of
# floating-point numbers, which they also are afterwards.
_SHORT_DECIMAL = r"-?((0|[1-9]\d{0,17})(\.\d{0,9})?|\.\d{1,9})"
_NOT_FINITE = r"NaN|-?Infinity"


@dataclass(frozen=True, slots=True)
class _Rule:
    """A type, the spelling of its values, and what else must hold of them."""

    sql_type: str
    spelling: str
    holds: Check


def _all(mask: pa.Array) -> bool:
    return bool(pc.all(mask, min_count=0).as_py())


def _matches(values: pa.Array, spelling: str) -> bool:
    return _all(pc.match_substring_regex(values, f"^({spelling})$"))


def _within(low: int, high: int) -> Check:
    def holds(values: pa.Array) -> bool:
        if pc.max(pc.binary_length(values)).as_py() > len("-9223372036854775808"):
            return False
        numbers = pc.cast(values, pa.decimal128(20, 0))
        return bool(low <= pc.min(numbers).as_py() and pc.max(numbers).as_py() <= high)

    return holds


def _fits_double(values: pa.Array) -> bool:
    if pc.any(pc.match_substring_regex(values, r"^-?\d{19,}$")).as_py():
        return False  # beyond bigint: a long code, of which a double would drop digits
    spelled_out = values.filter(pc.invert(pc.match_substring_regex(values, f"^({_NOT_FINITE})$")))
    numbers = pc.cast(spelled_out, pa.float64())
    # PostgreSQL refuses what overflows, and what is too small to differ from zero but is not zero.
    vanished = pc.and_(pc.equal(numbers, 0.0), pc.match_substring_regex(spelled_out, r"^[^eE]*[1-9]"))
    return _all(pc.is_finite(numbers)) and not pc.any(vanished).as_py()


def _no_negative_zero(values: pa.Array) -> bool:
    return not pc.any(pc.match_substring_regex(values, r"^-[0.]*$")).as_py()  # numeric drops its sign


def _casts_to(arrow_type: pa.DataType) -> Check:
    def holds(values: pa.Array) -> bool:
        try:
            pc.cast(values, arrow_type)
        except pa.ArrowInvalid:  # no such day or time of day
            return False
        return not pc.any(pc.starts_with(values, "0000")).as_py()  # there is no year 0 in SQL

    return holds


def _holds(_values: pa.Array) -> bool:
    return True


_RULES = (
    _Rule("boolean", "true|false|True|False|TRUE|FALSE", _holds),
    _Rule("integer", r"0|-?[1-9]\d*", _within(-(2**31), 2**31 - 1)),
    _Rule("bigint", r"0|-?[1-9]\d*", _within(-(2**63), 2**63 - 1)),
    _Rule("numeric", _SHORT_DECIMAL, _no_negative_zero),
    _Rule("double precision", f"{_DECIMAL}|{_NOT_FINITE}", _fits_double),
    _Rule("date", _DAY, _casts_to(pa.date32())),
    _Rule("timestamp", f"{_DAY}[ T]{_TIME}", _casts_to(pa.timestamp("us"))),
    _Rule("timestamp with time zone", f"{_DAY}[ T]{_TIME}{_OFFSET}", _casts_to(pa.timestamp("us", "UTC"))),
)
"""In order of preference; what fits none is text."""


class ColumnType:
    """SQL types that the values of one column, seen batch by batch, allow.

    Examples
    --------
    >>> column = ColumnType()
    >>> column.observe(pa.array(["7", "12", None]))
    >>> column.sql_type
    'integer'
    >>> column.observe(pa.array(["007"]))
    >>> column.sql_type
    'text'
    """

    def __init__(self) -> None:
        self._possible = list(_RULES)
        self._seen = False
        self._number_seen = False

    def observe(self, values: pa.Array) -> None:
        """Take in further values; NULL and the empty string allow every type."""
        if not self._possible:
            return
        distinct = pc.unique(values).drop_null()
        distinct = distinct.filter(pc.not_equal(distinct, ""))
        if not len(distinct):
            return
        self._seen = True
        self._possible = [r for r in self._possible if _matches(distinct, r.spelling) and r.holds(distinct)]
        self._number_seen = self._number_seen or not _matches(distinct, _NOT_FINITE)

    @property
    def sql_type(self) -> str:
        """The narrowest type that holds every value seen, ``text`` if none does or none was seen."""
        if not self._seen or not self._possible or not self._number_seen:
            return "text"
        return self._possible[0].sql_type


@dataclass(frozen=True, slots=True)
class CsvColumn:
    """A column of a CSV file and the SQL type its values allow."""

    name: str
    sql_type: str


class CsvFile:
    """A CSV file with a header row, in UTF-8.

    An empty field is NULL; a quoted empty field (``""``) is the empty string in a text column and
    NULL in any other. No other text stands for NULL.

    The delimiter is one ASCII character, unless given the one of ``, ; | tab`` that separates most names in
    the header.
    """

    def __init__(self, path: Path, delimiter: str | None = None) -> None:
        if delimiter is not None and (
            len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0'
        ):
            raise InputError(
                "The delimiter is not one ASCII character other than a quote or a line end.",
                hint="For example: --delimiter ';'",
            )
        self.path = path
        self.delimiter = self._likely_delimiter() if delimiter is None else delimiter
        self.names = self._read_names()

    def batches(self, progress: Progress | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the records in order, each column as strings; refuse records that don't fit the header."""
        total = self.path.stat().st_size
        bad_rows: list[int] = []

        def note(row: arrow_csv.InvalidRow) -> str:
            bad_rows.append(row.actual_columns)
            return "skip"

        with self._errors(), self._raw() as (raw, content):
            reader = arrow_csv.open_csv(
                content,
                read_options=arrow_csv.ReadOptions(use_threads=True, block_size=_BLOCK_BYTES),
                parse_options=self._dialect(note),
                convert_options=arrow_csv.ConvertOptions(
                    column_types={name: pa.string() for name in self.names},
                    null_values=[""],
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=False,
                ),
            )
            for batch in reader:
                if bad_rows:
                    break
                if progress is not None:
                    progress(raw.tell(), total)
                yield batch
        if bad_rows:
            raise InputError(
                f"A record of the CSV file has {bad_rows[0]} fields, the header has {len(self.names)}.",
                detail=self._place_of_bad_record(),
                hint=f"Fields are separated by {_NAMES.get(self.delimiter, self.delimiter)}; --delimiter "
                "changes that. A field with one of them, or with a line end, must be in double quotes.",
            )

    def layout(
        self,
        text_columns: frozenset[str] = frozenset(),
        all_text: bool = False,
        progress: Progress | None = None,
    ) -> tuple[CsvColumn, ...]:
        """Read the whole file once and choose the type of every column but those that stay text."""
        unknown = sorted(text_columns - set(self.names))
        if unknown:
            raise InputError(
                f'The CSV file has no column "{unknown[0]}".', hint="Columns: " + ", ".join(self.names) + "."
            )
        kinds = {name: ColumnType() for name in self.names if not all_text and name not in text_columns}
        for batch in self.batches(progress):
            for name, kind in kinds.items():
                kind.observe(batch.column(name))
        return tuple(CsvColumn(n, kinds[n].sql_type if n in kinds else "text") for n in self.names)

    def _dialect(self, invalid_row_handler: Callable[[arrow_csv.InvalidRow], str]) -> arrow_csv.ParseOptions:
        return arrow_csv.ParseOptions(
            delimiter=self.delimiter,
            newlines_in_values=True,
            # In a file of one column an empty line is a NULL, elsewhere it is nothing.
            ignore_empty_lines=len(self.names) > 1,
            invalid_row_handler=invalid_row_handler,
        )

    def _likely_delimiter(self) -> str:
        """Return the delimiter of most names in the header, a comma if several are."""
        with self._errors(), self._raw() as (_, content):
            text = content.read(_HEADER_BYTES).decode("utf-8", "replace")

        def names(delimiter: str) -> int:
            return len(next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), ()))

        return max(_NAMES, key=names)

    def _place_of_bad_record(self) -> str | None:
        """Return where the first record is that has not as many fields as the header."""
        csv.field_size_limit(_LONGEST_FIELD)
        with self._raw() as (_, content), io.TextIOWrapper(content, "utf-8", "replace", newline="") as lines:
            records = csv.reader(lines, delimiter=self.delimiter)
            begins = 1
            try:
                for record in records:
                    if record and len(record) != len(self.names):
                        return f"It begins in line {begins}."
                    begins = records.line_num + 1
            except csv.Error:  # told apart by Arrow, which reads quotes as strictly as it likes
                pass
        return None

    def _read_names(self) -> tuple[str, ...]:
        self.names = ()
        with self._errors(), self._raw() as (_, content):
            names = tuple(
                arrow_csv.open_csv(content, parse_options=self._dialect(lambda _: "skip")).schema.names
            )
        if not all(names):
            raise InputError("The header of the CSV file has an empty column name.")
        repeated = [name for name, times in Counter(names).items() if times > 1]
        if repeated:
            raise InputError(
                f'The header of the CSV file names column "{repeated[0]}" more than once.',
                hint="Give every column a name of its own.",
            )
        return names

    @contextmanager
    def _raw(self) -> Iterator[tuple[pa.NativeFile, pa.NativeFile]]:
        """Open the file; yields it twice, as stored (for the position) and unpacked."""
        if self.path.is_dir():
            raise IsADirectoryError(errno.EISDIR, None)
        with pa.OSFile(str(self.path)) as raw:
            start = raw.read(len(_GZIP_START))
            raw.seek(0)
            if start != _GZIP_START:
                yield raw, raw
                return
            with pa.CompressedInputStream(raw, "gzip") as content:
                yield raw, content

    @contextmanager
    def _errors(self) -> Iterator[None]:
        # Arrow's messages quote the text around an error, so none of them is passed on.
        try:
            yield
        except (pa.ArrowInvalid, UnicodeDecodeError) as error:
            if "Empty CSV" in str(error):
                raise InputError(
                    "The CSV file is empty.", hint="The first line must name the columns."
                ) from None
            raise InputError(
                "The file cannot be read as CSV in UTF-8.",
                hint="Check the delimiter, the quoting and the encoding (iconv can convert it).",
            ) from None
        except OSError as error:
            reason = os.strerror(error.errno) if error.errno else "it may be damaged"
            raise InputError(
                f"The file {self.path} cannot be read: {reason}.", hint="Name a CSV file, plain or gzipped."
            ) from None
