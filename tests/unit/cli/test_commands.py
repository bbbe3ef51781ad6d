"""The table of commands agrees with the commands, and listing them imports none of them."""

import inspect
import json
import subprocess
import sys
from importlib import import_module

import pytest
from typer.testing import CliRunner

from kanon_pg import __version__
from kanon_pg.cli import app, commands
from kanon_pg.cli.commands import COMMANDS, CommandEntry, loaded
from kanon_pg.cli.output import CompletedAction, facts, lay_out, listing, show


def test_summary_is_the_first_line_of_the_docstring() -> None:
    for name in COMMANDS:
        entry = COMMANDS[name]
        function = getattr(import_module(f"kanon_pg.cli.{entry.module}"), entry.function)
        assert (inspect.getdoc(function) or "").splitlines()[0] == entry.summary, name


def test_every_command_explains_itself() -> None:
    for name in COMMANDS:
        result = CliRunner().invoke(app, [*name.split(), "--help"])
        assert result.exit_code == 0, name
        assert f"kanon {name}" in result.stdout, name


def test_every_command_but_two_can_print_json() -> None:
    for name in COMMANDS.keys() - {"psql", "mcp"}:  # what mcp prints is a protocol
        options = [option for parameter in loaded(name, COMMANDS[name]).params for option in parameter.opts]
        assert "--json" in options, name


def test_help_lists_every_command_without_importing_drivers_or_solvers() -> None:
    program = (
        "import sys\n"
        "from typer.testing import CliRunner\n"
        "from kanon_pg.cli import app\n"
        "print(CliRunner().invoke(app, ['--help']).stdout)\n"
        "assert not {'psycopg', 'numpy', 'numba', 'pyarrow'} & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for name, entry in COMMANDS.items():
        assert f" {name} " in done.stdout
        assert entry.panel in done.stdout


def test_what_asks_no_query_does_without_the_parser_of_queries() -> None:
    program = "import sys, kanon_pg.cli.audit, kanon_pg.cli.release; sys.exit('sqlglot' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_version() -> None:
    assert CliRunner().invoke(app, ["--version"]).stdout == f"{__version__}\n"


def test_unknown_command_is_wrong_usage() -> None:
    assert CliRunner().invoke(app, ["nonsense"]).exit_code == 2


def test_refusal_says_code_message_and_hint_on_standard_error(monkeypatch: pytest.MonkeyPatch) -> None:
    result = CliRunner().invoke(app, ["status", "--name", "Not A Name"])
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "error KA100: This is not a name for a private server." in result.stderr
    assert "hint: Use 1 to 40 lower-case letters" in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        "up",
        "down",
        "status",
        "dsn",
        "install host=/nowhere --python-path /nowhere",
        "uninstall host=/nowhere",
        "check host=/nowhere",
        "extension install --pg-config /nowhere",
    ],
)
def test_every_refusal_can_be_json(arguments: str) -> None:
    named = ["--name", "Not A Name"] if " " not in arguments else []
    refused = CliRunner().invoke(app, [*arguments.split(), *named, "--json"])
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert set(json.loads(refused.stderr)) == {"sqlstate", "message", "detail", "hint"}


def test_detail_of_a_refusal_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = CommandEntry("cluster", "refuse", "Test")
    monkeypatch.setitem(commands.COMMANDS, "refuse", entry)
    module = import_module("kanon_pg.cli.cluster")
    monkeypatch.setattr(module, "refuse", _refuse, raising=False)
    result = CliRunner().invoke(app, ["refuse"])
    assert result.exit_code == 1
    assert result.stderr.splitlines() == ["error KA200: No.", "detail: Never.", "hint: Give up."]


def _refuse() -> None:
    """Refuse."""
    from kanon_pg.errors import InfeasibleError

    raise InfeasibleError("No.", detail="Never.", hint="Give up.")


@pytest.mark.parametrize(
    ("library", "arguments"),
    [
        ("pyarrow", ["load", "people.csv", "people"]),
        ("pyarrow", ["export", "people", "people.csv"]),
        ("matplotlib", ["curve", "people", "--plot", "curve.png"]),
        ("matplotlib", ["curve", "people", "--plot", "curve.png", "--json"]),
    ],
)
def test_a_library_of_an_extra_that_is_missing_is_named_before_anything_is_done(
    library: str, arguments: list[str]
) -> None:
    program = f"import sys; sys.modules[{library!r}] = None; from kanon_pg.cli import app; app({arguments!r})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert f"This needs the library {library}, which is not installed." in done.stderr
    assert "pip install 'kanon_pg[" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_an_interrupt_says_so_and_has_an_exit_code_of_its_own(
    monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("kanon_pg.cli.cluster.Cluster", interrupt)
    result = CliRunner().invoke(app, ["status", *options])
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "interrupted\n")


def test_every_list_of_columns_takes_commas_and_repeated_options() -> None:
    for name in COMMANDS:
        for parameter in loaded(name, COMMANDS[name]).params:
            is_of_columns = parameter.param_type_name == "option" and "COLUMN" in (parameter.metavar or "")
            if parameter.multiple and is_of_columns and parameter.name != "hierarchies":
                assert (parameter.metavar or "").endswith(("...", "COLUMN,COLUMN")), parameter.name
                with loaded(name, COMMANDS[name]).make_context(name, [], resilient_parsing=True) as context:
                    given = parameter.process_value(context, ["a,b", '"c, d"'])
                assert given == ["a", "b", "c, d"], name


def test_an_empty_item_of_a_list_is_wrong_usage() -> None:
    result = CliRunner().invoke(app, ["measure", "t", "--qi", "a,,b"])
    assert result.exit_code == 2
    assert "an item of the list" in result.stderr


def test_texts_are_printed_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    text = f"dropped a[b] :smile: {'x' * 300}"
    show(CompletedAction("dropped", "a[b]"), as_json=False, render=lambda _: text)
    assert capsys.readouterr().out == f"{text}\n"


def test_tables_in_a_pipe_have_no_blanks_at_the_end_of_lines(capsys: pytest.CaptureFixture[str]) -> None:
    lay_out(listing(("name", "because"), [("a", "short"), ("b", "long " * 300)], frozenset()))
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["name  because", "a     short", "b     " + ("long " * 300).rstrip()]


def test_names_with_brackets_are_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    lay_out(listing(("[a]",), [["safe.[bold]x[/nothing]"]], frozenset()), facts([("b", "[red]c")]))
    shown = capsys.readouterr().out
    assert "safe.[bold]x[/nothing]" in shown
    assert "[red]c" in shown
