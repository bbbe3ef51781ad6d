"""What the PL/Python function for reports about releases calls."""

from __future__ import annotations

import json

from kanon_pg.before_after import reporting
from kanon_pg.before_after.request import RELEASE_REPORT
from kanon_pg.db.catalog import requesting_role
from kanon_pg.db.operation import SqlValue
from kanon_pg.db.spi_adapter import SpiDatabase, serve


def release_report(*arguments: SqlValue) -> str:
    """Serve ``kanon_release_report``."""

    def operation(db: SpiDatabase) -> str:
        request = RELEASE_REPORT.request(*arguments)
        return json.dumps(reporting.release_report(db, request, role=requesting_role(db, "release_report")))

    return serve(operation)
