"""What the image is built from and runs, as far as it can be tried without an engine."""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from ruamel.yaml import YAML

from kanon_pg.core.code_folders import is_complete, is_trusted, store_of
from kanon_pg.core.solving import KERNELS

CHECKOUT = Path(__file__).parents[2]
DOCKER = CHECKOUT / "docker"


def test_script_of_the_image_installs_kanon(empty_dsn: str) -> None:
    database = conninfo_to_dict(empty_dsn)
    environment = {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "PGHOST": str(database["host"]),
        "PGPORT": str(database["port"]),
        "POSTGRES_USER": str(database["user"]),
        "POSTGRES_DB": str(database["dbname"]),
    }
    for _ in range(2):
        done = subprocess.run(
            [DOCKER / "install-kanon.sh"], env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
    with psycopg.connect(empty_dsn) as connection:
        row = connection.execute("select sql_version = package_version from kanon_version()").fetchone()
    assert row == (True,)


def test_everything_the_image_copies_is_sent_to_the_engine() -> None:
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", (DOCKER / "Dockerfile").read_text(), re.MULTILINE)
    sources = [source for line in copied for source in line.split()]
    sent = {
        line.removeprefix("!")
        for line in (CHECKOUT / ".dockerignore").read_text().splitlines()
        if line.startswith("!")
    }
    assert sources
    for source in sources:
        assert (CHECKOUT / source).exists(), source
        assert {source, *map(str, Path(source).parents)} & sent, source


def test_services_ask_for_what_the_image_and_the_command_have() -> None:
    services = YAML(typ="safe").load(DOCKER / "compose.yaml")["services"]
    dockerfile = (DOCKER / "Dockerfile").read_text()
    gateway = services["gateway"]
    kanon = Path(sys.executable).with_name("kanon")
    offered = subprocess.run([kanon, "gateway", "--help"], capture_output=True, text=True, check=True).stdout
    asked = [word for word in gateway["command"] if word.startswith("--")]
    assert gateway["command"][:2] == ["kanon", "gateway"]
    assert asked
    assert [option for option in asked if option not in offered] == []
    for script in gateway["entrypoint"]:
        assert f"COPY docker/{script} /usr/local/bin/{script}\n" in dockerfile
    for service in services.values():
        for name, value in service["build"]["args"].items():
            default = re.search(rf"^ARG {name}=(.+)$", dockerfile, re.MULTILINE)
            assert default is not None
            assert value.endswith(f":-{default[1]}}}")


@pytest.mark.slow
def test_wheel_carries_the_sql_and_compiled_solvers_and_finds_them(tmp_path: Path) -> None:
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--disable-pip-version-check"]
    pip = [sys.executable, "-m", "pip"]
    subprocess.run([*pip, "wheel", *options, "--wheel-dir", tmp_path, CHECKOUT], check=True)
    (wheel,) = tmp_path.glob("kanon_pg-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        packed = {name.removeprefix("kanon_pg/_sql/") for name in archive.namelist() if "/_sql/" in name}
        archive.extractall(tmp_path / "unpacked")
    in_checkout = {str(path.relative_to(CHECKOUT / "sql")) for path in (CHECKOUT / "sql").rglob("*.sql")}
    assert packed == in_checkout
    found = subprocess.run(
        [sys.executable, "-c", "from kanon_pg.db.statements import sql_root; print(sql_root())"],
        env=os.environ | {"PYTHONPATH": str(tmp_path / "unpacked")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert Path(found.stdout.strip()) == tmp_path / "unpacked" / "kanon_pg" / "_sql"
    store = store_of(tmp_path / "unpacked" / "kanon_pg")
    assert is_trusted(store)
    assert all(is_complete(one, (store,)) for one in KERNELS)
    assert wheel.name.endswith(f"{os.uname().machine}.whl"), "the code is not for every machine"


def test_locks_name_no_package_index_and_pin_every_package() -> None:
    for lock in (CHECKOUT / ".ci" / "lock").glob("*.txt"):
        lines = lock.read_text().splitlines()
        packages = [line for line in lines if not line.startswith(" ")]
        assert packages
        assert all("==" in line for line in packages), lock
        assert "://" not in lock.read_text(), lock
        assert not any(line.startswith("-") for line in packages), lock
