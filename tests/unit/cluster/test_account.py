"""The account that runs the server, and folders that only it may enter."""

import os
import pwd
import stat
from pathlib import Path

import pytest

from kanon_pg.admin.cluster import account as account_module
from kanon_pg.admin.cluster.account import ServerAccount, server_account
from kanon_pg.errors import ClusterError


@pytest.fixture
def own() -> ServerAccount:
    """The account of the tests themselves."""
    entry = pwd.getpwuid(os.geteuid())
    return ServerAccount(entry.pw_name, entry.pw_uid, entry.pw_gid)


def test_a_user_runs_the_server_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    uid = pwd.getpwnam("nobody").pw_uid
    monkeypatch.setattr(os, "geteuid", lambda: uid)
    assert server_account().name == "nobody"


def test_root_uses_an_unprivileged_account(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert server_account().uid != 0
    monkeypatch.setattr(account_module, "UNPRIVILEGED", ("no such account", "nobody"))
    assert server_account().name == "nobody"
    monkeypatch.setattr(account_module, "UNPRIVILEGED", ("no such account",))
    with pytest.raises(ClusterError, match="no unprivileged account"):
        server_account()


def test_programs_get_a_clean_environment(
    own: ServerAccount, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGDATA", "/elsewhere")
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    names = {line.split("=")[0] for line in own.run(["/usr/bin/env"], folder=tmp_path).splitlines()}
    assert names == {"PATH", "LANG", "HOME"}


def test_failure_of_a_program_says_what_it_printed(own: ServerAccount, tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match=r"The program sh failed \(exit code 3\)") as raised:
        own.run(["/bin/sh", "-c", "echo no luck >&2; exit 3"], folder=tmp_path)
    assert raised.value.detail == "no luck"


def test_program_that_is_missing(own: ServerAccount, tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match="The program initdb cannot be started"):
        own.run([tmp_path / "initdb"], folder=tmp_path)


def test_own_folder_is_closed_even_if_it_was_open(own: ServerAccount, tmp_path: Path) -> None:
    (tmp_path / "open").mkdir(mode=0o755)
    for name in ("open", "new"):
        own.own_folder(tmp_path / name)
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o700


def test_a_link_in_place_of_the_folder_is_refused(own: ServerAccount, tmp_path: Path) -> None:
    (tmp_path / "target").mkdir(mode=0o755)
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with pytest.raises(ClusterError, match="belongs to another account"):
        own.own_folder(tmp_path / "link")
    assert stat.S_IMODE((tmp_path / "target").stat().st_mode) == 0o755


def test_folder_of_somebody_else_is_refused(tmp_path: Path) -> None:
    other = ServerAccount("other", os.geteuid() + 1, os.getegid())
    (tmp_path / "prepared").mkdir()
    with pytest.raises(ClusterError, match="belongs to another account"):
        other.own_folder(tmp_path / "prepared")


def test_written_file_is_private_and_complete(own: ServerAccount, tmp_path: Path) -> None:
    file = tmp_path / "it's a file"
    for content in ("first\n", "second"):
        own.write(file, content)
        assert file.read_text() == content
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == [file.name]
