"""What the PL/Python functions of the readers call."""

from __future__ import annotations

from kanon_pg.db.spi_adapter import serve_reading


def read() -> None:
    """Serve ``kanon.read_1`` and the others: the statement of the call, with the reader's rights."""
    serve_reading()
