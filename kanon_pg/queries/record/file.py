"""The file of a record: private, never replaced, of one format; how its SQLite is opened, locked and read.

Nothing here opens the file itself once it is in use: closing it would release the locks that SQLite has on it
in this process.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from kanon_pg.errors import LedgerError, LedgerUnavailable
from kanon_pg.queries.record.log import BEGIN_ANEW, damaged

_APPLICATION = 0x6B616E6F
_FORMAT = 1
_POLL_SECONDS = 0.002
_BUSY_MILLISECONDS = 5000


def create_file(path: Path, script: str) -> None:
    """Make a file with the tables that a script creates, durably, readable by its owner alone."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600))
        try:
            with sqlite_errors(), closing(sqlite3.connect(draft, isolation_level=None)) as db:
                db.executescript(
                    f"PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; "
                    f"PRAGMA application_id = {_APPLICATION}; PRAGMA user_version = {_FORMAT}; {script}"
                )
            # a link, not a rename: it fails if the name is taken, so that no record is ever replaced
            os.link(draft, path)
        finally:
            draft.unlink()
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        os.fsync(folder)
        os.close(folder)
    except OSError as error:
        raise LedgerUnavailable("The record of answers cannot be created.", detail=error.strerror) from error


class RecordFile:
    """An open file, which must stay the one that it was.

    While another session writes, `checkpoint` is called every few milliseconds and may raise; waiting ends
    with an error after some seconds.
    """

    def __init__(self, path: Path, checkpoint: Callable[[], None], seconds: float) -> None:
        self._path, self._checkpoint, self._seconds = path, checkpoint, seconds
        self._identity = _private_file(path)
        with sqlite_errors():
            self.db = sqlite3.connect(
                f"file:{quote(str(path.absolute()))}?mode=rw", uri=True, isolation_level=None
            )

    def prepare(self) -> None:
        """Check the format, and set how SQLite reads and writes."""
        db = self.db
        db.execute(f"PRAGMA busy_timeout = {_BUSY_MILLISECONDS}")
        if (self._pragma("application_id"), self._pragma("user_version")) != (_APPLICATION, _FORMAT):
            raise damaged("It does not begin like a record of this version.")
        db.executescript(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -16000; "
            "PRAGMA temp_store = MEMORY; PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF"
        )

    def require_all_pages(self) -> None:
        """Refuse a file that is shorter than it says."""
        pages, waiting = self._pragma("page_count"), 0
        with suppress(FileNotFoundError):
            waiting = self._path.with_name(f"{self._path.name}-wal").stat().st_size
        # pages that the file lacks may wait in the write-ahead log
        if not waiting and self._path.stat().st_size < pages * self._pragma("page_size"):
            raise damaged("It is shorter than it says.")

    def _pragma(self, name: str) -> int:
        return int(self.db.execute(f"PRAGMA {name}").fetchone()[0])

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read the state of one moment."""
        self.db.execute("BEGIN")
        try:
            yield
        finally:
            with suppress(sqlite3.Error):
                self.db.execute("ROLLBACK")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write alone, durably, or not at all."""
        with sqlite_errors():
            self._lock()
            try:
                self._require_same_file()
                yield
                self._require_same_file()
                self.db.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    self.db.execute("ROLLBACK")
                raise

    def _lock(self) -> None:
        end = time.monotonic() + self._seconds
        # SQLite would wait without calling the checkpoint
        self.db.execute("PRAGMA busy_timeout = 0")
        try:
            while True:
                try:
                    self.db.execute("BEGIN IMMEDIATE")
                    return
                except sqlite3.OperationalError as error:
                    if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                        raise
                    if time.monotonic() > end:
                        raise LedgerUnavailable(
                            "Another session has been recording an answer for too long.",
                            hint="Ask again later; if nobody else asks, look for a session that hangs.",
                        ) from error
                self._checkpoint()
                time.sleep(_POLL_SECONDS)
        finally:
            self.db.execute(f"PRAGMA busy_timeout = {_BUSY_MILLISECONDS}")

    def _require_same_file(self) -> None:
        if _private_file(self._path) != self._identity:
            raise LedgerError(
                "The record of answers was replaced while it was open.",
                hint="End this session; the next one checks the file that is there now.",
            )


def _private_file(path: Path) -> tuple[int, int]:
    """Return what tells a file from another one in its place."""
    try:
        file, folder = path.lstat(), path.parent.stat()
    except OSError as error:
        raise LedgerError(
            "The record of answers is missing.",
            detail=error.strerror,
            hint=f"Put the file back that the server wrote last, or {BEGIN_ANEW}",
        ) from error
    files = [file]
    for end in ("-wal", "-shm"):
        with suppress(FileNotFoundError):
            files.append(path.with_name(path.name + end).lstat())
    for one in files:
        is_own_file = stat.S_ISREG(one.st_mode) and one.st_uid == os.geteuid() and one.st_nlink == 1
        if not is_own_file or one.st_mode & 0o077 or folder.st_mode & 0o022:
            raise LedgerError(
                "The record of answers must be a file that the server's account alone can read and write.",
                hint="It is no link, belongs to that account and has mode 0600, and nobody else may write in "
                "its folder. Make it so if nobody can have changed it.",
            )
    return file.st_dev, file.st_ino


@contextmanager
def sqlite_errors() -> Iterator[None]:
    """Turn errors of SQLite into LedgerUnavailable or LedgerError."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
        if code in _UNAVAILABLE:
            raise LedgerUnavailable(
                "The record of answers cannot be read or written now.",
                detail=str(error),
                hint="Its disk is full or broken, or another session has it locked.",
            ) from error
        raise damaged(str(error)) from error


_UNAVAILABLE = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_INTERRUPT,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_READONLY,
}
