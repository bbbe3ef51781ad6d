"""Brings the living database of an earlier version back to life, from the files beside this module."""

from __future__ import annotations

import json
import os
import shutil
import tarfile
from pathlib import Path

import psycopg

from kanon_pg.admin.install.python_path import own_folders
from tests.fixtures.databases import Server

HERE = Path(__file__).parent


def install_earlier(db: psycopg.Connection, version: str) -> None:
    """Install what `kanon install` of that version did, into an empty database."""
    parts = {"api": '"public"', "version": f"'{version}'", "python_path": f"'{json.dumps(own_folders())}'"}
    text = (HERE / f"install-{version}.sql").read_text(encoding="utf-8")
    for name, value in parts.items():
        text = text.replace(f"%({name})s", value)
    with db.transaction():
        db.execute("CREATE EXTENSION IF NOT EXISTS plpython3u")
        db.execute("SET LOCAL search_path = pg_catalog, pg_temp")
        db.execute("SET LOCAL client_min_messages = warning")
        db.execute(text)
        db.execute(
            "INSERT INTO kanon.version (version, api_schema, plpython, created_extension, revoked_temporary)"
            " VALUES (%s, 'public', true, true, true)",
            [version],
        )
        db.execute(f"REVOKE TEMPORARY ON DATABASE {db.info.dbname} FROM PUBLIC")


def bring_to_life(server: Server, db: psycopg.Connection, version: str) -> None:
    """Install that version and give it its releases, hierarchies, declarations and records.

    Parameters
    ----------
    server : Server
        On this machine: records are files of it.
    db : psycopg.Connection
        A superuser's, in autocommit mode, to an empty database.
    version : str
        One of which there are files.
    """
    install_earlier(db, version)
    with db.transaction():
        db.execute("SET LOCAL search_path = ''")
        db.execute((HERE / f"living-{version}.sql").read_text(encoding="utf-8"))
    (folder,) = db.execute(
        "SELECT current_setting('data_directory') || '/kanon_ledger/' || oid FROM pg_database"
        " WHERE datname = current_database()"
    ).fetchone()
    records = Path(folder)
    records.mkdir(parents=True, mode=0o700)
    with tarfile.open(HERE / f"ledger-{version}.tar.gz") as archive:
        for member in archive:
            if (file := archive.extractfile(member)) is not None:
                path = records / member.name.lstrip("/")
                path.parent.mkdir(mode=0o700, exist_ok=True)
                path.write_bytes(file.read())
                path.chmod(0o600)
    if os.geteuid() == 0:
        for path in [records.parent, records, *records.rglob("*")]:
            shutil.chown(path, server.os_user, server.os_user)
    records.chmod(0o700)
    records.parent.chmod(0o700)
