"""The script that runs a command in another Debian says so, and does nothing, where it cannot."""

import os
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / ".ci" / "on-debian"
SKIPPED = 77


def call(*arguments: str, path: str, cache: Path) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": path, "HOME": str(cache), "KANON_DEBIAN_CACHE": str(cache / "systems")}
    return subprocess.run(
        [SCRIPT, *arguments], env=environment, capture_output=True, text=True, check=False, timeout=60
    )


@pytest.fixture
def without_debootstrap(tmp_path: Path) -> str:
    """Return a search path with everything that the script needs but debootstrap."""
    for folder in os.get_exec_path():
        for program in ("bash", "sed", "id", "dirname", "unshare", "flock", "git"):
            if (Path(folder) / program).exists() and not (tmp_path / program).exists():
                (tmp_path / program).symlink_to(Path(folder) / program)
    return str(tmp_path)


def test_without_debootstrap_or_root_it_is_skipped_aloud(without_debootstrap: str, tmp_path: Path) -> None:
    done = call("trixie", "touch", str(tmp_path / "ran"), path=without_debootstrap, cache=tmp_path)
    assert done.returncode == SKIPPED
    assert done.stderr.startswith("on-debian: skipped: ")
    assert not (tmp_path / "ran").exists()
    assert not (tmp_path / "systems").exists()


@pytest.mark.parametrize("arguments", [(), ("trixie",), ("--other", "trixie", "true"), ("--in", "folder")])
def test_a_call_that_says_too_little_is_told_how(arguments: tuple[str, ...], tmp_path: Path) -> None:
    done = call(*arguments, path=os.environ["PATH"], cache=tmp_path)
    assert done.returncode == 2
    assert ".ci/on-debian [--keep] SUITE COMMAND" in done.stderr
