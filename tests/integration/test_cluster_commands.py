"""``kanon up``, ``down``, ``status``, ``dsn`` and ``psql`` as a person types them."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def kanon() -> Iterator[Run]:
    """Run the command with a home for clusters of its own; nothing is left afterwards."""
    with tempfile.TemporaryDirectory(prefix="kanon commands ") as folder:
        Path(folder).chmod(0o755)
        own = {name: text for name, text in os.environ.items() if not name.startswith("PG")}
        environment = own | {"KANON_CLUSTER_HOME": folder}

        def run(*arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
            command = [str(Path(sys.executable).with_name("kanon")), *arguments]
            return subprocess.run(
                command, env=environment, input=text, capture_output=True, text=True, check=False
            )

        yield run
        run("down", "--delete")


def test_from_nothing_to_an_installed_server_and_back(kanon: Run) -> None:
    status = kanon("status", "--json")
    assert status.returncode == 3
    assert json.loads(status.stdout)["state"] == "absent"
    for command in (["dsn"], ["psql", "-c", "select 1"]):
        refused = kanon(*command)
        assert refused.returncode == 1
        assert "hint: Start it with 'kanon up'." in refused.stderr

    up = kanon("up")
    assert up.returncode == 0, up.stderr
    dsn = up.stdout.strip()
    assert dsn.startswith("postgresql://postgres@/kanon?host=")
    assert kanon("up").stdout.strip() == dsn
    assert kanon("dsn").stdout.strip() == dsn
    assert kanon("dsn", "--database", "a b").stdout.strip() == dsn.replace("/kanon?", "/a%20b?")
    assert json.loads(kanon("dsn", "--json").stdout) == {"dsn": dsn}

    status = kanon("status", "--json")
    assert status.returncode == 0
    facts = json.loads(status.stdout)
    assert facts["state"] == "running"
    assert facts["dsn"] == dsn
    assert "is running." in kanon("status").stdout

    down = kanon("down", "--json")
    assert down.returncode == 0
    assert json.loads(down.stdout)["state"] == "stopped"
    again = kanon("down")
    assert again.returncode == 0
    assert "It did not run before." in again.stdout
    unknown = kanon("down", "--name", "nosuch")
    assert unknown.returncode == 0
    assert "There was none of this name." in unknown.stdout


def test_psql_hands_options_input_and_exit_code_on(kanon: Run) -> None:
    assert kanon("up").returncode == 0
    assert kanon("psql", "-Atc", "select current_database()").stdout == "kanon\n"
    assert kanon("psql", "-At", "-d", "postgres", text="select current_database()").stdout == "postgres\n"
    assert kanon("psql", "-c", "select nonsense").returncode == 1
    installed = kanon("psql", "-Atc", "select to_regnamespace('kanon') is not null")
    assert installed.stdout == "t\n"


def test_port_out_of_range(kanon: Run) -> None:
    refused = kanon("up", "--tcp", "80")
    assert refused.returncode == 1
    assert "hint: Choose a number from 1024 to 65535." in refused.stderr


def test_installing_checking_and_uninstalling_work_on_the_private_server_unless_told_otherwise(
    kanon: Run,
) -> None:
    assert kanon("up").returncode == 0
    for arguments, said in (
        (["uninstall"], "Removed kanon from database kanon"),
        (["releases"], "kanon is not installed in database kanon"),
        (["install"], "Installed kanon"),
        (["check"], "ok      trial release"),
    ):
        done = kanon(*arguments)
        assert done.returncode == (1 if arguments == ["releases"] else 0), done.stderr
        assert said in done.stdout + done.stderr
