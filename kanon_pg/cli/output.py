"""How results, errors and progress look: JSON for programs, tables and bars for people."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, is_dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from rich.console import Console, ConsoleDimensions
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from kanon_pg.cli.failures import known_errors
from kanon_pg.errors import KanonError

if TYPE_CHECKING:  # few commands draw, and Matplotlib takes its time
    from matplotlib.figure import Figure

Json = Annotated[bool, typer.Option("--json", help="Print JSON, also for an error.")]
_UNLIMITED = 32_767
Result = TypeVar("Result")
Advance = Callable[[str, float | None], None]
"""Called with a phase and the share of it that is done, None if unknown."""

_NOTICE = "notice: "


def show(result: Result, as_json: bool, render: Callable[[Result], Any]) -> None:
    """Print a result on standard output: as JSON, or as what `render` makes of it, for rich or as it is."""
    if as_json:
        typer.echo(to_json(result))
        return
    rendered = render(result)
    if isinstance(rendered, str):
        # rich would take [...] in it for markup, and break a DSN where the terminal ends
        typer.echo(rendered)
    else:
        lay_out(rendered)


@dataclass(frozen=True, slots=True)
class CompletedAction:
    """Something that was done and has no figures to report."""

    action: str
    object: str


def show_done(action: str, name: str, as_json: bool) -> None:
    """Print that something was done to a table or release."""
    show(CompletedAction(action, name), as_json, lambda done: f"{done.action} {done.object}")


def lay_out(*parts: Any) -> None:
    """Print what rich renders: as wide as a terminal, or, in a pipe, without blanks at the end of lines."""
    console = console_up_to(_UNLIMITED)
    if console.is_terminal:
        console.print(*parts, sep="\n")
        return
    with console.capture() as captured:
        console.print(*parts, sep="\n")
    for line in captured.get().splitlines():
        typer.echo(line.rstrip(" "))


def console_up_to(width: int) -> Console:
    """Return standard output: as wide as the terminal, but not wider than `width`; a pipe is that wide."""
    console = Console(highlight=False)
    widest = min(console.width, width) if console.is_terminal else width
    console.size = ConsoleDimensions(widest, console.height)
    return console


def to_json(result: Any) -> str:
    """Return the fields of a dataclass, or what each item of a sequence is, as JSON."""
    return json.dumps(_plain(result), ensure_ascii=False, indent=2, default=_text)


def _plain(result: Any) -> Any:
    if is_dataclass(result) and not isinstance(result, type):
        return asdict(result)
    return [item if isinstance(item, str) else _plain(item) for item in result]


def _text(value: Any) -> str:
    return str(value.value if isinstance(value, Enum) else value)


@contextmanager
def errors_as(as_json: bool) -> Iterator[None]:
    """Print an error of the block as JSON on standard error and exit with code 1, if `as_json`."""
    try:
        with known_errors():
            yield
    except KanonError as error:
        if not as_json:
            raise
        fields = {"message": error.message, "detail": error.detail, "hint": error.hint}
        typer.echo(json.dumps({"sqlstate": error.sqlstate, **fields}, ensure_ascii=False), err=True)
        raise typer.Exit(1) from error


@contextmanager
def progress_bar(wanted: bool) -> Iterator[Advance]:
    """Show a bar on standard error while the block runs, if that is a terminal."""
    console = Console(stderr=True)
    if not wanted or not console.is_terminal:
        yield lambda _phase, _share: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task, shown = progress.add_task("connecting", total=None), "connecting"

        def advance(phase: str, share: float | None) -> None:
            nonlocal task, shown
            if phase != shown:  # a task whose total was known once cannot forget it
                progress.remove_task(task)
                task, shown = progress.add_task(phase, total=None), phase
            progress.update(task, total=None if share is None else 1.0, completed=share or 0.0)

        yield advance


def with_notes(advance: Advance) -> Advance:
    """Return what the client's operations may report to: notices become notes, phases reach `advance`."""

    def report(phase: str, share: float | None) -> None:
        if phase.startswith(_NOTICE):
            note(phase.removeprefix(_NOTICE))
        else:
            advance(phase, share)

    return report


def note(message: str) -> None:
    """Print something the user should know besides the result, on standard error."""
    typer.echo(f"note: {message}", err=True)


def check_plot(path: Path | None) -> None:
    """Refuse the name of a figure's file before anything is counted, see `figure_format`."""
    if path is not None:
        from kanon_pg.reports.plots import figure_format

        figure_format(path)


def write_plot(figure: Figure, path: Path) -> None:
    """Write a figure to the file that the user named."""
    from kanon_pg.reports.plots import write_figure

    write_figure(figure, path)
    note(f"the figure is in {path}")


def facts(rows: Sequence[tuple[str, str]]) -> Table:
    """Lay out names and values in two columns."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(name, Text(value))  # not a str, in which [...] would be markup
    return table


def listing(headings: Sequence[str], rows: Sequence[Sequence[str]], numbers: frozenset[str]) -> Table:
    """Lay out rows under headings; columns named in `numbers` are aligned to the right."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(heading, justify="right" if heading in numbers else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    return table
