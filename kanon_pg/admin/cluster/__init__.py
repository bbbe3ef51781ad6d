"""A private PostgreSQL server: created, started, found again and stopped for the person who runs it."""

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
