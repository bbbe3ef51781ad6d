"""k-anonymity enforced inside PostgreSQL.

``kanon_pg.anonymize`` and its companions are those of `kanon_pg.client`. They are imported at first use,
because PostgreSQL backends import this package too and have no need of a client.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kanon_pg.client import anonymize, curve, declare, drop, refresh, releases, undeclare

__version__ = "0.2.0"

__all__ = ["anonymize", "curve", "declare", "drop", "refresh", "releases", "undeclare"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module("kanon_pg.client"), name)
