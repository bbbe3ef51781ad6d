"""SQL names as a type of their own, so that a name can never be taken for SQL text or a value."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from kanon_pg.errors import InputError

MAX_NAME_BYTES = 63
"""PostgreSQL's NAMEDATALEN - 1."""


@dataclass(frozen=True, slots=True)
class Identifier:
    """A possibly qualified SQL name; `str()` gives its quoted form.

    Examples
    --------
    >>> str(Identifier.of("kanon", 'od"d'))
    '"kanon"."od""d"'
    """

    parts: tuple[str, ...]

    @classmethod
    def of(cls, *parts: str) -> Identifier:
        """Build a name from its parts (schema, relation, column).

        Raises
        ------
        InputError
            If a part is empty, contains a NUL or is longer than 63 bytes.
        """
        for part in parts:
            if not part or "\0" in part:
                raise InputError(
                    "A name is empty or contains a NUL character.", hint="Give a valid SQL name."
                )
            if len(part.encode()) > MAX_NAME_BYTES:
                raise InputError(
                    f"A name is longer than {MAX_NAME_BYTES} bytes.",
                    hint="PostgreSQL would cut it off; shorten it.",
                )
        return cls(parts)

    def __str__(self) -> str:
        return ".".join('"' + part.replace('"', '""') + '"' for part in self.parts)

    @property
    def name(self) -> str:
        """The last part, unquoted."""
        return self.parts[-1]


@dataclass(frozen=True, slots=True)
class Fragment:
    """SQL text that was rendered from a template; the only text a template accepts as SQL."""

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Literal:
    """A text value that must stand inside a definition; `str()` gives its quoted form."""

    value: str

    def __str__(self) -> str:
        if "\0" in self.value:
            raise InputError("A text value contains a NUL character.")
        escaped = self.value.replace("'", "''").replace("\\", "\\\\")
        return f" E'{escaped}'" if "\\" in self.value else f"'{escaped}'"


def array_element(text: str) -> str:
    r"""Quote a text as an element in the text of an array.

    Examples
    --------
    >>> array_element('a "b"')
    '"a \\"b\\""'
    """
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def derived_name(*parts: str) -> str:
    """Join parts with underscores into a name of at most 63 bytes.

    A name that would be longer ends in a digest of the whole, so that different parts never give the
    same cut-off name.

    Examples
    --------
    >>> derived_name("public", "patients", "row_types")
    'public_patients_row_types'
    """
    name = "_".join(parts)
    encoded = name.encode()
    if len(encoded) <= MAX_NAME_BYTES:
        return name
    digest = hashlib.blake2b("\0".join(parts).encode(), digest_size=6).hexdigest()
    head = encoded[: MAX_NAME_BYTES - len(digest) - 1].decode(errors="ignore")
    return f"{head}_{digest}"
