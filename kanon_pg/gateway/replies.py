"""What the gateway itself says to a client."""

from __future__ import annotations

from collections.abc import Sequence

from kanon_pg.gateway.protocol import Fields, Message, error_message
from kanon_pg.queries.check.findings import Finding
from kanon_pg.queries.refuse import refused

_PLACES = (b"P", b"p", b"q", b"W")


def fatal(code: str, sentence: str, hint: str | None = None) -> Message:
    """Return the message that ends a session.

    Parameters
    ----------
    code : str
        SQLSTATE.
    sentence : str
        Why.
    hint : str, optional
        What to do about it.
    """
    fields = {b"S": b"FATAL", b"V": b"FATAL", b"C": code.encode(), b"M": sentence.encode()}
    if hint:
        fields[b"H"] = hint.encode()
    return error_message(fields)


def refusal(findings: Sequence[Finding], text: str) -> Message:
    """Return the error for a refused text, as the server words it: the first finding is the message.

    Parameters
    ----------
    findings : sequence of Finding
        At least one.
    text : str
        What they are about.
    """
    error, first = refused(findings), findings[0]
    fields = {b"S": b"ERROR", b"V": b"ERROR", b"C": error.sqlstate.encode(), b"M": error.message.encode()}
    for code, value in ((b"D", error.detail), (b"H", error.hint)):
        if value:
            fields[code] = value.encode()
    if first.start < min(first.end, len(text)):
        fields[b"P"] = str(first.start + 1).encode()
    return error_message(fields)


def without_places(fields: Fields) -> Message:
    """Return an error of the server without positions and context, which are those of another text."""
    return error_message({code: value for code, value in fields.items() if code not in _PLACES})
