"""Reads CSV files, plain or gzipped, in any encoding, as batches of strings with bounded memory."""

from __future__ import annotations

import codecs
import csv
import errno
import io
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as arrow_csv

from kanon_pg.errors import InputError, as_given
from kanon_pg.tables.column_types import GUESSED, ColumnType, CsvColumn, Spelling, with_one_decimal_sign

Progress = Callable[[int, int], None]
"""Called with bytes read so far and bytes in all."""

_BLOCK_BYTES = 8 * 1024 * 1024
_GZIP_START = b"\x1f\x8b"
_HEADER_BYTES = 1024 * 1024
_LONGEST_FIELD = 2**31 - 1
_NAMES = {",": "commas", ";": "semicolons", "\t": "tabulators", "|": "bars"}
"""Delimiters that are looked for, and what a sentence calls them."""

_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",  # begins as the next one does
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
    codecs.BOM_UTF32_BE: "utf-32",
}
_TRIED = ("utf-8", "cp1252")
"""Encodings of bytes. In the second most bytes are something, so it says the least; Latin-1 is part of it.

charset-normalizer guesses one for each language. Of tables with few letters beyond ASCII it made Latin-1 in
German, French and Spanish Windows-1250, CP775 and HP Roman-8.
"""


class CsvFile:
    """A CSV file with a header row.

    An empty field is NULL; a quoted empty field (``""``) is the empty string in a text column and
    NULL in any other.

    Parameters
    ----------
    delimiter : str, optional
        One ASCII character, unless given the one of ``, ; | tab`` that separates most names in the header.
    encoding : str, optional
        As Python calls it; unless given, that of a mark at the beginning, of zero bytes in every second
        place, or the first of UTF-8 and Windows-1252 in which all bytes are text.
    spelling : Spelling
        How values are written, where that is known.
    """

    def __init__(
        self,
        path: Path,
        delimiter: str | None = None,
        *,
        encoding: str | None = None,
        spelling: Spelling = GUESSED,
    ) -> None:
        if delimiter is not None and (
            len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0'
        ):
            raise InputError(
                "The delimiter is not one ASCII character other than a quote or a line end.",
                hint="For example: --delimiter ';'",
            )
        self.path = path
        self.spelling = spelling
        self.encoding = "utf-8" if encoding is None else _known(encoding)
        self._is_guess = encoding is None
        if self._is_guess:
            self.encoding = self._likely_encoding()
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
                read_options=arrow_csv.ReadOptions(block_size=_BLOCK_BYTES, encoding=self.encoding),
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
        as_text = frozenset(self.names) if all_text else text_columns
        kinds = {name: ColumnType(self.spelling) for name in self.names}
        for batch in self.batches(progress):
            for name in kinds.keys() - as_text:
                kinds[name].observe(batch.column(name))
        return with_one_decimal_sign((kind.chosen(name) for name, kind in kinds.items()), self.spelling)

    def guesses(self, columns: Iterable[CsvColumn]) -> tuple[str, ...]:
        """Say what was taken for what without being told, in sentences."""
        said = [note for column in columns for note in column.guesses(self.spelling)]
        if self._is_guess and self.encoding != "utf-8":
            said.insert(0, f"The file is taken for {_in_words(self.encoding)}. --encoding says what it is.")
        return tuple(said)

    def _dialect(self, invalid_row_handler: Callable[[arrow_csv.InvalidRow], str]) -> arrow_csv.ParseOptions:
        return arrow_csv.ParseOptions(
            delimiter=self.delimiter,
            newlines_in_values=True,
            # In a file of one column an empty line is a NULL, elsewhere it is nothing.
            ignore_empty_lines=len(self.names) > 1,
            invalid_row_handler=invalid_row_handler,
        )

    def _likely_encoding(self) -> str:
        with self._errors(), self._raw() as (_, content):
            start = content.read(_HEADER_BYTES)
        for mark, name in _MARKS.items():
            if start.startswith(mark):
                return name
        if start.count(0) * 8 > len(start):
            return "utf-16-le" if start[1::2].count(0) > start[::2].count(0) else "utf-16-be"
        for name in _TRIED:
            if self._is_text_in(name):
                return name
        raise InputError(
            "The file is text neither in UTF-8 or UTF-16 nor in Windows-1252.",
            hint="Say in what it is, for example --encoding cp850 or --encoding shift_jis.",
        )

    def _is_text_in(self, encoding: str) -> bool:
        decoder = codecs.getincrementaldecoder(encoding)()
        with self._errors(), self._raw() as (_, content):
            try:
                while block := content.read(_BLOCK_BYTES):
                    decoder.decode(block)
                decoder.decode(b"", final=True)
            except UnicodeDecodeError:
                return False
        return True

    def _likely_delimiter(self) -> str:
        """Return the delimiter of most names in the header, a comma if several are."""
        with self._errors(), self._raw() as (_, content):
            text = content.read(_HEADER_BYTES).decode(self.encoding, "replace")
        csv.field_size_limit(_LONGEST_FIELD)

        def names(delimiter: str) -> int:
            return len(next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), ()))

        return max(_NAMES, key=names)

    def _place_of_bad_record(self) -> str | None:
        """Return where the first record is that has not as many fields as the header."""
        csv.field_size_limit(_LONGEST_FIELD)
        with (
            self._raw() as (_, content),
            io.TextIOWrapper(content, self.encoding, "replace", newline="") as lines,
        ):
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
            reader = arrow_csv.open_csv(
                content,
                read_options=arrow_csv.ReadOptions(encoding=self.encoding),
                parse_options=self._dialect(lambda _: "skip"),
            )
            names = tuple(reader.schema.names)
        if not all(names):
            raise InputError(
                "The header of the CSV file has an empty column name.",
                hint="Name every column; a separator at the end of each line makes one without a name, too.",
            )
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
                f"The file cannot be read as CSV in {_in_words(self.encoding)}.",
                hint="Check --delimiter, --encoding and the quoting.",
            ) from None
        except OSError as error:
            reason = os.strerror(error.errno) if error.errno else "it may be damaged"
            raise InputError(
                f"The file {self.path} cannot be read: {reason}.", hint="Name a CSV file, plain or gzipped."
            ) from None


def _known(encoding: str) -> str:
    """Return Python's name of an encoding of text."""
    try:
        name = codecs.lookup(encoding).name
        "".encode(name)
    except (LookupError, ValueError):
        raise InputError(
            f"There is no encoding {as_given(encoding)}.", hint="For example: utf-8, latin-1, cp1252, utf-16."
        ) from None
    return name


def _in_words(encoding: str) -> str:
    return "Windows-1252" if encoding == "cp1252" else encoding.upper()
