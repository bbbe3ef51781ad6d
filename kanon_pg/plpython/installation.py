"""What the PL/Python functions about the installation itself call."""

from __future__ import annotations

import platform
from dataclasses import asdict
from typing import Any

import kanon_pg
from kanon_pg.admin.install import check
from kanon_pg.db.spi_adapter import SpiDatabase, serve
from kanon_pg.queries.record.records import record_states
from kanon_pg.release import releasing
from kanon_pg.release.plan import base
from kanon_pg.release.plan.request import AnonymizeRequest


def version() -> list[dict[str, str]]:
    """Serve ``kanon_version``."""

    def operation(db: SpiDatabase) -> list[dict[str, str]]:
        found = check.versions(db)
        return [
            {
                # kanon.boot() has compared the two
                "sql_version": kanon_pg.__version__,
                "package_version": kanon_pg.__version__,
                "python_version": platform.python_version(),
                "server_version": found.server,
                "installed_by": found.installation,
            }
        ]

    return serve(operation)


def install_check() -> list[dict[str, Any]]:
    """Serve ``kanon_install_check``."""

    def operation(db: SpiDatabase) -> list[dict[str, Any]]:
        def trial(relation: str, release: str) -> None:
            request = AnonymizeRequest(
                relation=relation, k=2, release=release, quasi_identifiers=check.TRIAL_QUASI_IDENTIFIERS
            )
            releasing.anonymize(db, request, role=base.OWNER)

        return [asdict(item) for item in check.run_checks(db, trial, lambda: record_states(db))]

    return serve(operation)
