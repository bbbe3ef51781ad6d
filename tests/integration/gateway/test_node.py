"""A program of Node through the gateway: texts, parameters, named statements, errors by node-postgres."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.fixtures.gateways import ANALYST, PASSWORD, ClinicGateway

PROGRAM = Path(__file__).parents[1] / "clients" / "client.mjs"


def has_driver() -> bool:
    """Return whether Node finds the driver: installed anywhere in NODE_PATH, or by Debian's node-pg."""
    node = shutil.which("node")
    return (
        node is not None
        and not subprocess.run([node, "-e", "require('pg')"], check=False, capture_output=True).returncode
    )


@pytest.mark.skipif(
    not has_driver(), reason="NODE IS NOT TESTED: npm install pg, and set NODE_PATH to its folder"
)
def test_a_program_of_node(gateway: ClinicGateway) -> None:
    answer = subprocess.run(
        ["node", PROGRAM, "127.0.0.1", str(gateway.port), gateway.clinic.database, ANALYST, PASSWORD],
        capture_output=True,
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
