"""A program of Node through the gateway: texts, parameters, named statements, errors by node-postgres."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.fixtures.gateways import ANALYST, PASSWORD, ClinicGateway

PROGRAM = Path(__file__).parents[1] / "clients" / "client.mjs"
_FOLDERS = [str(Path(__file__).parents[3] / "build/node/node_modules"), "/usr/share/nodejs"]
ENVIRONMENT = os.environ | {"NODE_PATH": os.pathsep.join([*_FOLDERS, os.environ.get("NODE_PATH", "")])}


def has_driver() -> bool:
    """Return whether Node finds the driver: as ``make development`` installs it, or in NODE_PATH."""
    node = shutil.which("node")
    if node is None:
        return False
    command = [node, "-e", "require('pg')"]
    return not subprocess.run(command, check=False, capture_output=True, env=ENVIRONMENT).returncode


@pytest.mark.skipif(
    not has_driver(), reason="NODE IS NOT TESTED: its driver is not there (make development installs it)"
)
def test_a_program_of_node(gateway: ClinicGateway) -> None:
    answer = subprocess.run(
        ["node", PROGRAM, "127.0.0.1", str(gateway.port), gateway.clinic.database, ANALYST, PASSWORD],
        capture_output=True,
        env=ENVIRONMENT,
        text=True,
        timeout=120,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.splitlines() == [
        'plain: [{"ward":"Cardiology","n":"400"},{"ward":"Oncology","n":"400"},{"ward":"Surgery","n":"400"}]',
        "types: [25,20]",
        'F: "600"',
        'M: "600"',
        'refused: ["KA901","8"]',
        "parallel: [1,2,3]",
    ]
