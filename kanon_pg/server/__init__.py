"""What the PL/Python functions call: opens the server's door, calls a service, shapes the result.

Imported inside PostgreSQL backends, after ``kanon.boot()`` has put this package on the path and checked
its version. There is no logic here: what a function does, the services say.
"""

from __future__ import annotations

from kanon_pg.server.asking import ask, check_query, hold_relations, query, record_query, serve_question
from kanon_pg.server.auditing import audit, identify, is_anonymous, risk, suggest
from kanon_pg.server.grouping import groups, intervals, rectangles, regions
from kanon_pg.server.hierarchy import (
    build_hierarchy,
    drop_hierarchy,
    hierarchy_values,
    read_hierarchy,
    show_hierarchy,
    store_hierarchy,
)
from kanon_pg.server.installation import install_check, version
from kanon_pg.server.protection import protect, query_log, record_states, restart_ledger, unprotect
from kanon_pg.server.release import anonymize, curve, declare, drop, measure, refresh, undeclare

__all__ = [
    "anonymize",
    "ask",
    "audit",
    "build_hierarchy",
    "check_query",
    "curve",
    "declare",
    "drop",
    "drop_hierarchy",
    "groups",
    "hierarchy_values",
    "hold_relations",
    "identify",
    "install_check",
    "intervals",
    "is_anonymous",
    "measure",
    "protect",
    "query",
    "query_log",
    "read_hierarchy",
    "record_query",
    "record_states",
    "rectangles",
    "refresh",
    "regions",
    "restart_ledger",
    "risk",
    "serve_question",
    "show_hierarchy",
    "store_hierarchy",
    "suggest",
    "undeclare",
    "unprotect",
    "version",
]
