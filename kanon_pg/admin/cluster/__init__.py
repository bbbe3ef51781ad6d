"""A private PostgreSQL server: created, started, found again and stopped for the person who runs it.

`server` is the life of one by its name, `instance` the folder that it runs from. Nothing here installs
kanon_pg into a database, and no server but a private one is ever started or stopped.
"""

from kanon_pg.admin.cluster.account import ServerAccount, server_account
from kanon_pg.admin.cluster.server import DATABASE, DEFAULT_NAME, Cluster, ClusterStatus, State

__all__ = [
    "DATABASE",
    "DEFAULT_NAME",
    "Cluster",
    "ClusterStatus",
    "ServerAccount",
    "State",
    "server_account",
]
