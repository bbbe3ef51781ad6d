"""Finding an installed PostgreSQL."""

from pathlib import Path

import pytest

from kanon_pg.admin.cluster.programs import installed, newest_with_python, with_major_version
from kanon_pg.errors import ClusterError


@pytest.fixture
def servers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of servers on a machine whose PATH has no pg_config."""
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    return tmp_path


def add(servers: Path, name: str, *, python: bool, initdb: bool = True) -> None:
    (servers / name / "bin").mkdir(parents=True)
    (servers / name / "lib").mkdir()
    if initdb:
        (servers / name / "bin" / "initdb").touch()
    if python:
        (servers / name / "lib" / "plpython3.so").touch()


def test_newest_with_python_wins(servers: Path) -> None:
    add(servers, "9", python=True)
    add(servers, "14", python=True)
    add(servers, "15", python=True)
    add(servers, "16", python=False)
    add(servers, "17", python=True, initdb=False)
    assert newest_with_python(servers).major == 15


def test_no_server(servers: Path) -> None:
    with pytest.raises(ClusterError, match="not installed") as raised:
        newest_with_python(servers)
    assert "make setup" in (raised.value.hint or "")


def test_no_server_with_python(servers: Path) -> None:
    add(servers, "13", python=True)
    add(servers, "16", python=False)
    with pytest.raises(ClusterError, match="No PostgreSQL 14 or newer with PL/Python") as raised:
        newest_with_python(servers)
    assert "version 16 without PL/Python" in (raised.value.detail or "")
    assert "version 13 with PL/Python" in (raised.value.detail or "")


def test_data_of_a_version_that_is_gone(servers: Path) -> None:
    add(servers, "16", python=True)
    assert with_major_version(16, servers).folder == servers / "16" / "bin"
    with pytest.raises(ClusterError, match="made by PostgreSQL 15") as raised:
        with_major_version(15, servers)
    assert "postgresql-plpython3-15" in (raised.value.hint or "")


def test_pg_config_names_a_server_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add(tmp_path, "own", python=True)
    script = tmp_path / "pg_config"
    printed = ["PostgreSQL 17beta1", tmp_path / "own" / "bin", tmp_path / "own" / "lib"]
    script.write_text("#!/bin/sh\n" + "".join(f"echo '{line}'\n" for line in printed))
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert [(server.major, server.has_python) for server in installed(tmp_path / "none")] == [(17, True)]


def test_broken_pg_config_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "pg_config"
    script.write_text("#!/bin/sh\nexit 1\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert installed(tmp_path / "none") == []
