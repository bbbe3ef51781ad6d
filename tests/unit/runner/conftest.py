"""A worker that runs the stub solver."""

import pytest

from kanon_pg.runner import launch, parent
from tests.unit.runner.stub_caller import PACKAGE_FOLDER, STUB_FOLDER, Call, open_files


@pytest.fixture
def call(monkeypatch):
    monkeypatch.setattr(launch, "SOLVER", "stub_solver")
    monkeypatch.setattr(launch, "python_path", lambda: [PACKAGE_FOLDER, STUB_FOLDER])
    parent.solver_session.stop()
    before = open_files()
    yield Call()
    parent.solver_session.stop()
    assert open_files() == before, "the call left files open"
