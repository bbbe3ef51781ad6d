"""How kernels are compiled, whatever calls them first; what is compiled ahead is all that calls need."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from kanon_pg.core.code_folders import CODE_FOLDER
from kanon_pg.worker import compiled
from kanon_pg.worker.compiled import inner_kernel, kernel


@kernel
def _copied(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    copied = np.empty(numbers.size, dtype=np.int64)
    copied[:] = numbers
    return copied


@kernel
def _sum_of_copy(numbers: NDArray[np.int64]) -> int:
    return int(_copied(numbers).sum())


@inner_kernel
def _sum(numbers: NDArray[np.int64]) -> int:
    return _sum_of_copy(numbers)


def test_a_kernel_may_create_arrays_though_one_that_counts_no_references_calls_it_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled, "_own", lambda: tmp_path)
    monkeypatch.setattr(compiled, "_folders", lambda: (tmp_path,))
    assert _sum(np.arange(5)) == 10


pytestmark = [pytest.mark.slow, pytest.mark.thorough]

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


def test_code_that_is_there_is_loaded_without_what_a_compiler_needs(tmp_path: Path) -> None:
    program = (
        "import sys, numpy; from tests.unit.worker.test_compiled import _sum_of_copy; "
        "print(_sum_of_copy(numpy.arange(5)), 'numba.np.arrayobj' in sys.modules)"
    )
    environment = os.environ | {"PYTHONPATH": str(TOP), CODE_FOLDER: str(tmp_path)}
    said = [
        subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, check=True
        ).stdout
        for _ in range(2)
    ]
    assert said == [b"10 True\n", b"10 False\n"]
