"""The arguments of reports about releases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from kanon_pg.db.operation import Argument, Operation
from kanon_pg.relations.arguments import DEFAULT_SECONDS, check_time_limit


@dataclass(frozen=True, slots=True)
class ReleaseReportRequest:
    """The arguments of ``kanon_release_report``."""

    release: Annotated[str, Argument("text", "Its name, or its view: 'patients' or 'safe.patients'.")]
    """See `kanon_pg.release.plan.record.existing_release`."""
    curve: Annotated[
        bool, Argument("boolean", "Whether to find out what other k would cost, which takes the time limit.")
    ] = False
    time_limit: Annotated[float, Argument("interval", "How long to search for solutions of other k.")] = (
        DEFAULT_SECONDS
    )

    def check(self) -> None:
        """Refuse a time limit that is no time."""
        check_time_limit(self.time_limit)


RELEASE_REPORT = Operation(ReleaseReportRequest)
