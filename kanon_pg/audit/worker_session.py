"""Counts what an audit is about, and has the worker do its tasks."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from kanon_pg.audit.subject import AuditColumn, AuditSubject
from kanon_pg.core.packed import PackedRowTypes
from kanon_pg.db.identifiers import Fragment, Identifier
from kanon_pg.db.protocol import Database
from kanon_pg.db.settings import exact_text, working_memory
from kanon_pg.relations.canonical import CanonicalColumn
from kanon_pg.relations.counting import Counted, count_row_types
from kanon_pg.relations.subject import no_rows
from kanon_pg.runner.parent import audit_in_child, compile_once, memory_budget, start_worker


@dataclass(slots=True)
class AuditSession:
    """A database, the worker, and the time there is for searching.

    Parameters
    ----------
    db : Database
        Of the caller.
    memory : int
        Budget in bytes.
    left : float
        Seconds that the worker may still search; counting and starting it take none of them.
    """

    db: Database
    memory: int
    left: float

    def count(self, subject: AuditSubject, sensitive: tuple[AuditColumn, ...] = ()) -> Counted:
        """Count the row types of some columns.

        Raises
        ------
        InputError
            If the relation has no rows.
        """
        self.db.progress("counting")
        known = subject.known
        counted = self._count(known.relation.identifier, subject.columns, known.entity, sensitive)
        if not counted.rows:
            raise no_rows(known.relation)
        return counted

    def count_rows(self, source: Identifier | Fragment, columns: tuple[AuditColumn, ...]) -> Counted:
        """Count the row types of columns in a relation or subquery, each row being a person."""
        return self._count(source, columns, None, ())

    def _count(
        self,
        source: Identifier | Fragment,
        columns: tuple[AuditColumn, ...],
        entity: CanonicalColumn | None,
        sensitive: tuple[AuditColumn, ...],
    ) -> Counted:
        start_worker()
        return count_row_types(
            self.db,
            source,
            columns,
            entity,
            sensitive=sensitive,
            memory_bytes=self.memory,
        )

    def ask(
        self, task: str, *tables: PackedRowTypes, share: float = 1.0, **arguments: Any
    ) -> Mapping[str, Any]:
        """Have the worker do a task, and search within a share of the time that is left."""
        seconds = share * self.left
        before = time.monotonic()
        answer = audit_in_child(
            tables,
            task,
            {"seconds": seconds, **arguments},
            checkpoint=self.db.checkpoint,
            progress=self.db.progress,
            memory_bytes=self.memory,
        )
        self.left -= min(seconds, time.monotonic() - before)
        return answer


@contextmanager
def audit_session(db: Database, time_limit: float) -> Iterator[AuditSession]:
    """Prepare for counting and for tasks of the worker.

    Parameters
    ----------
    time_limit : float
        Seconds for searching, > 0.
    """
    memory = memory_budget(db)
    compile_once(db, memory, "audit")
    with working_memory(db, memory), exact_text(db):
        yield AuditSession(db, memory, time_limit)
