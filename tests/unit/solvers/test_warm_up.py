"""What is compiled ahead is all that calls need."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

TOP = Path(__file__).parents[3]


def test_no_call_compiles_anything():
    done = subprocess.run(
        [sys.executable, "-m", "tests.unit.solvers.every_call"],
        cwd=TOP,
        env=os.environ | {"PYTHONPATH": str(TOP)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.stdout, f"left out by warm_up: {done.stdout}"
    assert done.returncode == 0, done.stderr
