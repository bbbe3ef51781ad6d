"""Python API: the operations of ``kanon_...`` functions over a psycopg connection.

Works with any PostgreSQL that `kanon_pg.admin.install` has prepared, also without PL/Python in the server.
Each operation is one ``REPEATABLE READ`` transaction: a release is counted, solved and written from
one and the same state of the table.

Examples
--------
>>> from kanon_pg import client
>>> report = client.anonymize("dbname=clinic", "patients", 5)  # doctest: +SKIP
"""

from __future__ import annotations

from kanon_pg.client.operations import (
    anonymize,
    audit,
    build_hierarchy,
    check_query,
    curve,
    declare,
    define_hierarchy,
    drop,
    drop_hierarchy,
    erase,
    groups,
    hierarchies,
    hierarchy_content,
    identify,
    intervals,
    is_anonymous,
    load_hierarchy,
    measure,
    protect,
    query,
    rectangles,
    refresh,
    regions,
    releases,
    risk,
    show_hierarchy,
    suggest,
    undeclare,
    unprotect,
)

__all__ = [
    "anonymize",
    "audit",
    "build_hierarchy",
    "check_query",
    "curve",
    "declare",
    "define_hierarchy",
    "drop",
    "drop_hierarchy",
    "erase",
    "groups",
    "hierarchies",
    "hierarchy_content",
    "identify",
    "intervals",
    "is_anonymous",
    "load_hierarchy",
    "measure",
    "protect",
    "query",
    "rectangles",
    "refresh",
    "regions",
    "releases",
    "risk",
    "show_hierarchy",
    "suggest",
    "undeclare",
    "unprotect",
]
