"""``python -m tests.benchmarks [SPEC ...] [--quick] [--figures FOLDER] [--list]``."""

import os
import platform
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tests.benchmarks.registry import SPECS, Settings


def main(
    specs: Annotated[list[str] | None, typer.Argument(help="Which specs; all unless given.")] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer values of k, smaller tables, one run.")
    ] = False,
    figures: Annotated[Path | None, typer.Option(help="Folder for figures.")] = None,
    only_list: Annotated[bool, typer.Option("--list", help="List the specs and stop.")] = False,
) -> None:
    """Measure and print one table per spec."""
    console = Console(width=180)
    chosen = specs or list(SPECS)
    unknown = [name for name in chosen if name not in SPECS]
    if unknown:
        raise typer.BadParameter(f"no such spec: {', '.join(unknown)}; there are: {', '.join(SPECS)}")
    if only_list:
        for name, spec in SPECS.items():
            console.print(f"{name:<16} {(spec.__doc__ or '').splitlines()[0]}")
        return
    console.print(
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"load {os.getloadavg()[0]:.1f} at the start"
    )
    settings = Settings(repeats=1 if quick else 3, quick=quick, figures=figures)
    for name in chosen:
        for table in SPECS[name](settings):
            console.print(table)


if __name__ == "__main__":
    typer.run(main)
