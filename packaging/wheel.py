"""The build hook of the wheel: it brings the solvers compiled, so that nothing compiles at their first use.

Compiled code serves one Python, one version each of the compiler's libraries, and one level of processors;
its folder is named for them (`kanon_pg.core.code_folders`). Elsewhere the wheel works, too: the solvers are
compiled at their first use, as from a checkout.
"""

from __future__ import annotations

import sys
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledSolvers(BuildHookInterface):
    """Compiles the solvers and adds them to the wheel; without numba it has none, and serves every Python."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add what is compiled to a wheel, and nothing to an editable installation."""
        if version == "editable":
            return
        if find_spec("numba") is None:
            self.app.display_warning("There is no numba here: the wheel is built without compiled solvers.")
            return
        self.app.display_info("Compiling the solvers, which takes a minute or two where they are not yet.")
        store = self._compiled()
        build_data["force_include"][str(store)] = f"kanon_pg/{store.parent.name}/{store.name}"
        build_data["pure_python"] = False
        build_data["tag"] = _tag()

    def _compiled(self) -> Path:
        sys.path.insert(0, self.root)
        from kanon_pg.runner.compilation import compile_ahead  # noqa: PLC0415 - needs what the wheel needs

        report = compile_ahead(lambda phase, share: None)
        if not report.shared:
            raise RuntimeError(f"the solvers are compiled, but cannot be kept in {self.root}")
        return Path(report.store)


def _tag() -> str:
    """Return the tag of numba's own wheel.

    Compiled code calls that library, Python, and functions of the C library as old as memcpy, log and exp.
    """
    lines = (metadata.distribution("numba").read_text("WHEEL") or "").splitlines()
    tags = [line.removeprefix("Tag: ") for line in lines if line.startswith("Tag: ")]
    if not tags:
        raise RuntimeError(
            "numba was not installed from a wheel, so that nobody can tell where its code runs"
        )
    python = tags[0].rpartition("-")[0]
    return f"{python}-{'.'.join(tag.rpartition('-')[2] for tag in tags)}"
