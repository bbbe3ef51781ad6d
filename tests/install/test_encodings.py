"""Databases of other encodings than UTF-8: what works there, and what is refused everywhere alike."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from typer.testing import CliRunner

from kanon_pg import client
from kanon_pg.admin.install.extension import write_extension
from kanon_pg.admin.install.installer import install
from kanon_pg.cli import app
from kanon_pg.errors import InputError, InstallError, KanonError
from tests.docs.databases import psql
from tests.fixtures.databases import Server
from tests.fixtures.extension_servers import extension_server
from tests.fixtures.interfaces import INTERFACES, Interface

WORDS = {
    "LATIN1": ["Zürich", "Genève", "Åbo"],
    "LATIN9": ["5 €", "Œuvre", "Zürich"],
    "WIN1252": ["5 €", "Œuvre", "„ja“"],
    "WIN1251": ["Москва", "Київ", "Минск"],
    "LATIN8": ["Ŵyr", "Ŷnys", "tŷ"],
    "EUC_JP": ["東京", "大阪", "京都"],
    "EUC_KR": ["서울", "부산", "대구"],
    "EUC_TW": ["臺北", "高雄", "臺中"],
}
"""Encodings with words that each can write; of the last and LATIN8 psycopg knows nothing."""

WITHOUT_CHARACTERS = ["SQL_ASCII", "MULE_INTERNAL"]


@contextmanager
def database(server: Server, encoding: str) -> Iterator[str]:
    name = f"in_{encoding.lower()}"
    with psycopg.connect(server.dsn("postgres"), autocommit=True) as connection:
        connection.execute(
            f"create database {name} encoding '{encoding}' locale 'C' template template0".encode()
        )
        try:
            yield server.dsn(name)
        finally:
            connection.execute(f"drop database {name} with (force)".encode())


@pytest.fixture(params=WORDS)
def encoding(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def call(*arguments: str) -> dict[str, Any]:
    result = CliRunner().invoke(app, [*arguments, "--json"])
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_texts_of_other_encodings_are_published_and_found_again(
    server: Server, encoding: str, tmp_path: Path
) -> None:
    words = WORDS[encoding]
    file = tmp_path / "people.csv"
    lines = [f"{i},{words[i % 3]},{words[(i + 1) % 3]},{i % 2}" for i in range(60)]
    file.write_text("\n".join(["id,city,birthplace,age", *lines]), encoding="utf-8")
    with database(server, encoding) as dsn:
        call("install", dsn)
        call("load", str(file), "people", "--dsn", dsn)
        call("check", dsn)
        with psycopg.connect(dsn, client_encoding="UTF8", autocommit=True) as connection:
            for kind in INTERFACES.values():
                publish(kind(dsn, connection), words)
            connection.execute("alter table people add primary key (id)")
            connection.execute("""select kanon_protect('people', 5, '{"beside_releases": "allow"}')""")
            query = "select city, count(*) as n from people group by city order by city"
            answers = connection.execute("select * from kanon_query(%s)", [query]).fetchall()
            assert sorted(row[0]["city"] for row in answers) == sorted(words)
            query = f"select count(*) as n from people where city = '{words[1]}'"
            if words[1].isascii():
                answer = connection.execute("select * from kanon_query(%s)", [query]).fetchall()
                assert answer == [({"n": 20},)]
            else:  # refused in the words of every query that is refused
                with pytest.raises(psycopg.Error) as raised:
                    connection.execute("select * from kanon_query(%s)", [query])
                assert (raised.value.sqlstate or "").startswith("KA")
        exported = tmp_path / "people.out.csv"
        call("export", "people", str(exported), "--dsn", dsn)
        assert any(word in exported.read_text(encoding="utf-8") for word in words)
        script = tmp_path / "releases.sql"
        call("dump", "--file", str(script), "--dsn", dsn)
        with server.database("replica") as replica:
            assert psql(server.dsn(replica), script.read_text(encoding="utf-8")).returncode == 0
            with psycopg.connect(server.dsn(replica)) as connection:
                found = connection.execute("select distinct birthplace from safe.people").fetchall()
                assert {place for (place,) in found} == {*words}


def publish(interface: Interface, words: list[str]) -> None:
    """Publish a table with a hierarchy, and find its words again."""
    above = [[word, word[0]] for word in words]
    client.define_hierarchy(interface.connection, "cities", above)
    interface.declare(
        "people", identifiers=["id"], quasi_identifiers=["city", "age"], sensitive=["birthplace"]
    )
    interface.anonymize("people", 5, hierarchies={"city": "cities"})
    interface.refresh("people")
    shown = interface.connection.execute("select city, birthplace from safe.people").fetchall()
    assert {city for city, _ in shown} - {None} <= {*words, *(word[0] for word in words)}
    assert {city for city, _ in shown} != {None}
    assert {place for _, place in shown} == {*words}
    assert interface.measure("people").rows == 60


def test_names_are_refused_where_the_server_would_take_them_for_others(server: Server) -> None:
    with database(server, "WIN1252") as dsn:
        install(dsn)
        with psycopg.connect(dsn, client_encoding="UTF8", autocommit=True) as connection:
            connection.execute(
                'create table prices as select i % 3 as "in €" from generate_series(1, 60) as i'
            )
            for name, kind in INTERFACES.items():
                interface = kind(dsn, connection)
                if name == "client":
                    assert interface.anonymize("prices", 5).rows == 60
                else:
                    with pytest.raises(InputError, match="ASCII"):
                        interface.anonymize("prices", 5)


def test_a_character_that_a_database_lacks_is_refused_as_such(server: Server, tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("id,city\n1,東京\n", encoding="utf-8")
    with database(server, "LATIN1") as dsn:
        install(dsn)
        result = CliRunner().invoke(app, ["load", str(file), "people", "--dsn", dsn])
        assert result.exit_code != 0
        assert "encoding" in result.output
        with pytest.raises(KanonError, match=r"encoding|東京"):
            client.measure(dsn, "東京")


REFUSED: dict[str, Callable[[str], Any]] = {
    "install": install,
    "install for the client": lambda dsn: install(dsn, plpython=False),
    "an operation": lambda dsn: client.measure(dsn, "people"),
}


@pytest.mark.parametrize("encoding", WITHOUT_CHARACTERS)
def test_where_texts_are_only_bytes_everything_is_refused_in_one_sentence(
    server: Server, encoding: str, tmp_path: Path
) -> None:
    file = tmp_path / "people.csv"
    file.write_text("id,city\n1,a\n", encoding="utf-8")
    with database(server, encoding) as dsn:
        said = set()
        for refused in REFUSED.values():
            with pytest.raises(InstallError) as raised:
                refused(dsn)
            said.add((raised.value.message, raised.value.hint))
        ((message, _),) = said
        assert encoding in message
        for command in (["install", dsn], ["check", dsn], ["load", str(file), "people", "--dsn", dsn]):
            result = CliRunner().invoke(app, command)
            assert result.exit_code != 0
            assert " ".join(message.split()) in " ".join(result.output.split())


def test_the_extension_is_refused_in_the_same_sentence() -> None:
    # of encoding MULE_INTERNAL the server itself reads no script of an extension
    with extension_server("encodings") as started:
        write_extension(started.folders)
        with database(started.server, "SQL_ASCII") as dsn:
            with pytest.raises(InstallError) as client_says:
                install(dsn)
            with psycopg.connect(dsn, autocommit=True, client_encoding="UTF8") as connection:
                for version in ("", "VERSION 'unpackaged'"):
                    with pytest.raises(psycopg.Error) as server_says:
                        connection.execute(f"CREATE EXTENSION kanon_pg {version} CASCADE".encode())
                    assert server_says.value.sqlstate == InstallError.sqlstate
                    said = (server_says.value.diag.message_primary, server_says.value.diag.message_hint)
                    assert said == (f"kanon: {client_says.value.message}", client_says.value.hint)


def test_a_connection_that_carries_bytes_is_refused(server: Server, kanon_template: str) -> None:
    with (
        server.database("kanon", kanon_template) as name,
        psycopg.connect(server.dsn(name), autocommit=True) as connection,
    ):
        connection.execute("set client_encoding to 'SQL_ASCII'")
        with pytest.raises(InputError, match="only bytes"):
            client.measure(connection, "people")
        connection.execute("set client_encoding to 'LATIN1'")
        with pytest.raises(InputError, match="encoding of the connection"):
            client.measure(connection, "東京")


def test_functions_in_a_database_that_was_restored_without_an_encoding_say_the_same(server: Server) -> None:
    with database(server, "SQL_ASCII") as dsn, psycopg.connect(dsn, autocommit=True) as connection:
        with pytest.raises(InstallError) as client_says:
            install(dsn)
        connection.execute("create extension plpython3u")
        connection.execute(
            "create function served() returns void language plpython3u as $$\n"
            "import sys, json\n"
            f"sys.path[:0] = {_folders()!r}\n"
            "from kanon_pg.db.spi_adapter import serve\n"
            "serve(lambda db: None)\n$$".encode()
        )
        with pytest.raises(psycopg.Error) as server_says:
            connection.execute("select served()")
        assert server_says.value.sqlstate == InstallError.sqlstate
        assert client_says.value.message in (server_says.value.diag.message_primary or "")


def _folders() -> list[str]:
    from kanon_pg.admin.install.python_path import own_folders

    return own_folders()
