"""What the documentation shows is true: statements run, commands exist, links lead somewhere."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest
from typer.testing import CliRunner

from kanon_pg.cli import app
from kanon_pg.cli.commands import COMMANDS, loaded
from kanon_pg.gateway.listener import GatewayOptions
from tests.docs.databases import DATABASES, environment, psql, refusal
from tests.docs.pages import ROOT, Block, Page, pages
from tests.docs.sessions import Sessions, sessions
from tests.docs.transcript import Exchange, exchanges, matches
from tests.fixtures.databases import Server
from tests.fixtures.gateways import RunningGateway

PAGES = pages()
NOT_RUN = ("up", "down", "status", "dsn", "psql", "demo", "gateway")
"""Commands on the private server of whoever runs the tests, and the one that does not end."""


def in_database(block: Block) -> bool:
    return block.kind in ("sql", "psql", "python") or "run" in block.marks


WITH_STATEMENTS = [page for page in PAGES if any(map(in_database, page.blocks()))]


@pytest.fixture
def roles(server: Server, kanon_template: str) -> Iterator[None]:
    """Drop the roles that a page creates, once its database is gone."""
    with psycopg.connect(server.dsn("postgres"), autocommit=True) as connection:
        before = {row[0] for row in connection.execute("select rolname from pg_roles")}
        yield
        for (name,) in connection.execute("select rolname from pg_roles").fetchall():
            if name not in before:
                connection.execute(psycopg.sql.SQL("drop role {}").format(psycopg.sql.Identifier(name)))


@pytest.mark.parametrize("page", WITH_STATEMENTS, ids=lambda page: page.name)
def test_what_a_page_shows_works_from_top_to_bottom(
    page: Page, roles: None, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    assert page.database in DATABASES, f"the first line of {page.name} must name the database it starts from"
    is_installed, prepare = DATABASES[page.database]
    on_citus = page.database == "citus"  # where there is none, the page is skipped
    dsn = request.getfixturevalue("citus_dsn" if on_citus else "dsn" if is_installed else "empty_dsn")
    prepare(dsn)
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    with sessions(dsn, tmp_path) as readers:
        for block in filter(in_database, page.blocks()):
            run_block(dsn, block, readers, f"{page.name}:{block.line}", tmp_path)


def run_block(dsn: str, block: Block, readers: Sessions, where: str, folder: Path) -> None:
    if "gateway" in block.marks:
        run_through_gateway(dsn, block, where, folder)
    elif block.kind == "sql":
        check(block, readers.run(block.text, block.marks.get("as")), where)
    elif block.kind == "psql":
        for exchange in exchanges(block.text):
            run_exchange(readers, block, exchange, where)
    else:
        run_program(dsn, block, where, folder)


def check(block: Block, answer: subprocess.CompletedProcess[str], where: str) -> None:
    assert refusal(answer) == block.marks.get("fails"), f"{where}: {answer.stderr}"
    assert (answer.returncode == 0) == ("fails" not in block.marks), f"{where}: {answer.stderr}"


def run_through_gateway(dsn: str, block: Block, where: str, folder: Path) -> None:
    address = urlsplit(dsn)
    found = {name: values[0] for name, values in parse_qs(address.query).items()}
    service = f"host={found['host']} port={found['port']} dbname={address.path[1:]} user=gateway"
    gateway = RunningGateway(GatewayOptions(service, port=0, trusts_server=True))
    try:
        gateway.start()
        through = f"postgresql://{address.path}?host=127.0.0.1&port={gateway.port}"
        if block.kind == "python":
            run_program(through, at_gateway(block, gateway.port, address.path[1:], where), where, folder)
        else:
            check(block, psql(through, block.text, block.marks.get("as"), folder=folder), where)
    finally:
        gateway.stop()


def at_gateway(block: Block, port: int, database: str, where: str) -> Block:
    """Return a program with the gateway and the database of the test in place of those of the page."""
    imported = set(re.findall(r"^import (\w+)", block.text, re.MULTILINE))
    missing = sorted(name for name in imported if find_spec(name) is None)
    if missing:
        pytest.skip(f"{where} AND WHAT FOLLOWS ARE NOT TESTED: install {missing} (make development does)")
    text = block.text
    for shown, used in (
        ("gateway.example.org:6432/clinic", f"127.0.0.1:{port}/{database}"),
        ('"gateway.example.org"', '"127.0.0.1"'),
        ("port=6432", f"port={port}"),
        ('database="clinic"', f'database="{database}"'),
    ):
        text = text.replace(shown, used)
    return replace(block, text=text)


def run_exchange(readers: Sessions, block: Block, exchange: Exchange, where: str) -> None:
    assert exchange.is_superuser == ("as" not in block.marks), f"{where}: the prompt is that of somebody else"
    answer = readers.run(exchange.sql, block.marks.get("as"), verbosity="terse")
    said = answer.stdout + re.sub(r"^psql:\S+ ", "", answer.stderr, flags=re.MULTILINE)
    shown = [line for line in exchange.output if line.strip()]
    if "rows vary" in block.marks:
        said, shown = said.splitlines()[0], shown[:1]
    assert matches(shown, said), f"{where}: {exchange.sql}\n{said}"


def run_program(dsn: str, block: Block, where: str, folder: Path) -> None:
    if block.kind == "python":
        answer = subprocess.run(
            [sys.executable, "-c", block.text],
            env=environment(dsn),
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        check_program(block, answer.returncode, answer.stderr, where)
        return
    commands = [words for words in shell_commands(block.text) if words[0] == "kanon"]
    assert not [words for words in commands if words[1] in NOT_RUN], where
    for words in commands:
        returncode, errors = run_command(words[1:], environment(dsn), folder)
        check_program(block, returncode, errors, f"{where}: {shlex.join(words)}")


def run_command(arguments: list[str], variables: dict[str, str], folder: Path) -> tuple[int, str]:
    """Run kanon in this process, where libraries and the worker are loaded once for all pages."""
    others: dict[str, str | None] = dict.fromkeys(os.environ.keys() - variables.keys())
    with chdir(folder):
        done = CliRunner().invoke(app, arguments, env=others | variables)
    return done.exit_code, done.stderr


def check_program(block: Block, returncode: int, errors: str, where: str) -> None:
    fails = block.marks.get("fails")
    assert (returncode == 0) == (fails is None), f"{where}\n{errors}"
    assert fails is None or f"error {fails}:" in errors, f"{where}: {errors}"


def shell_commands(text: str) -> list[list[str]]:
    joined = text.replace("\\\n", " ")
    lines = [shlex.split(line, comments=True) for line in joined.splitlines() if line.strip()]
    return [line[: line.index("|")] if "|" in line else line for line in lines]


def command_name(words: list[str]) -> str:
    """Return the name of a command, which may have two words."""
    return next((name for name in (" ".join(words[:2]), *words[:1]) if name in COMMANDS), " ".join(words[:1]))


def test_commands_in_blocks_are_complete() -> None:
    for page in PAGES:
        commands = [
            command
            for block in page.blocks()
            if block.kind == "sh"
            for command in shell_commands(block.text)
            if command and Path(command[0]).name == "kanon"
        ]
        for _, *words in commands:
            name, arguments = command_name(words), words[len(command_name(words).split()) :]
            command = loaded(name, COMMANDS[name])
            with command.make_context(name, list(arguments)) as context:
                assert context.params is not None, page.name


def test_commands_in_prose_exist() -> None:
    for page in PAGES:
        for code in re.findall(r"`([^`\n]+)`", page.prose):
            words = code.split()[1:]
            name = command_name(words)
            if not code.startswith("kanon ") or not (words and words[0].isalpha() and words[0].islower()):
                continue
            assert name in COMMANDS, f"{page.name}: {code}"
            options = {
                option
                for parameter in loaded(name, COMMANDS[name]).params
                for option in (*parameter.opts, *parameter.secondary_opts)
            }
            given = {word for word in words if word.startswith("--")}
            assert given <= options | {"--help"} or COMMANDS[name].context, f"{page.name}: {code}"


def test_targets_of_make_exist() -> None:
    for page in PAGES:
        targets = set(
            re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
        )
        named = re.findall(r"(?:`|^)make ([a-z]+)", page.text, re.MULTILINE)
        assert set(named) <= targets, page.name


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for link in page.links():
            target, _, anchor = link.partition("#")
            path = (page.path.parent / target).resolve() if target else page.path
            assert path.exists(), f"{page.name}: {link}"
            assert not anchor or anchor in Page(path).anchors(), f"{page.name}: {link}"


def test_every_page_is_linked_from_another() -> None:
    linked = {
        (page.path.parent / link.partition("#")[0]).resolve()
        for page in PAGES
        for link in page.links()
        if link.partition("#")[0]
    }
    alone = [page.name for page in PAGES if page.path not in linked and page.name != "README.md"]
    assert not alone


def test_named_test_functions_exist() -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    named = {name for page in PAGES for name in re.findall(r"`(test_\w+)`", page.text)}
    assert named, "docs/guarantees.md names the test of each guarantee"
    assert not {name for name in named if f"def {name}(" not in sources}
