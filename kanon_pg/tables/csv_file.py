"""Reads CSV files, plain or gzipped, as batches of strings with bounded memory."""

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
import pyarrow.csv as arrow_csv

from kanon_pg.errors import InputError
from kanon_pg.tables.column_types import ColumnType

Progress = Callable[[int, int], None]
"""Called with bytes read so far and bytes in all."""

_BLOCK_BYTES = 8 * 1024 * 1024
_GZIP_START = b"\x1f\x8b"
_HEADER_BYTES = 1024 * 1024
_LONGEST_FIELD = 2**31 - 1
_NAMES = {",": "commas", ";": "semicolons", "\t": "tabulators", "|": "bars"}
"""Delimiters that are looked for, and what a sentence calls them."""


@dataclass(frozen=True, slots=True)
class CsvColumn:
    """A column of a CSV file and the SQL type its values allow."""

    name: str
    sql_type: str


@dataclass(frozen=True, slots=True)
class CsvLayout:
    """What reading a whole CSV file once has shown.

    Parameters
    ----------
    columns : tuple of CsvColumn
        In the order of the file.
    rows : int
        Records after the header.
    """

    columns: tuple[CsvColumn, ...]
    rows: int


class CsvFile:
    """A CSV file with a header row, in UTF-8.

    An empty field is NULL; a quoted empty field (``""``) is the empty string in a text column and
    NULL in any other. No other text stands for NULL.

    Parameters
    ----------
    path : Path
        The file; gzip is recognized by its content.
    delimiter : str, optional
        One ASCII character; by default the one of ``, ; | tab`` that separates most names in the header.

    Raises
    ------
    InputError
        If the file cannot be read, is empty, or its header has empty or repeated names.
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
        self.delimiter = self._found_delimiter() if delimiter is None else delimiter
        self.names = self._read_names()

    def batches(self, progress: Progress | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the records in order; every column is a string array.

        Parameters
        ----------
        progress : callable, optional
            Called before every batch.

        Raises
        ------
        InputError
            If a record has another number of fields than the header, or is not UTF-8.
        """
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
    ) -> CsvLayout:
        """Read the whole file once and choose the type of every column.

        Parameters
        ----------
        text_columns : frozenset of str
            Columns that stay text whatever they hold.
        all_text : bool
            Whether all do.
        progress : callable, optional
            See `batches`.

        Raises
        ------
        InputError
            If `text_columns` names a column that the file does not have; and see `batches`.
        """
        unknown = sorted(text_columns - set(self.names))
        if unknown:
            raise InputError(
                f'The CSV file has no column "{unknown[0]}".', hint="Columns: " + ", ".join(self.names) + "."
            )
        kinds = {name: ColumnType() for name in self.names if not all_text and name not in text_columns}
        rows = 0
        for batch in self.batches(progress):
            rows += batch.num_rows
            for name, kind in kinds.items():
                kind.observe(batch.column(name))
        columns = tuple(CsvColumn(n, kinds[n].sql_type if n in kinds else "text") for n in self.names)
        return CsvLayout(columns, rows)

    def _dialect(self, invalid_row_handler: Callable[[arrow_csv.InvalidRow], str]) -> arrow_csv.ParseOptions:
        return arrow_csv.ParseOptions(
            delimiter=self.delimiter,
            newlines_in_values=True,
            # In a file of one column an empty line is a NULL, elsewhere it is nothing.
            ignore_empty_lines=len(self.names) > 1,
            invalid_row_handler=invalid_row_handler,
        )

    def _found_delimiter(self) -> str:
        """Return what separates most names in the header, a comma if several do."""
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
