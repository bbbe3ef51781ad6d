"""What the pages start from: databases by name, and how psql, kanon and Python reach them."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from kanon_pg.admin.cluster.programs import newest_with_python
from kanon_pg.admin.demo.patients import create_patients, patients
from kanon_pg.db.psycopg_adapter import connect
from tests.docs.pages import ROOT

BIN = Path(sys.executable).parent
"""Where the command kanon is."""


def environment(dsn: str, user: str | None = None) -> dict[str, str]:
    """Return an environment whose PG* variables name a database, and nothing else does."""
    address = urlsplit(dsn)
    where = {name: values[0] for name, values in parse_qs(address.query).items()}
    own = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    return own | {
        "PATH": f"{BIN}:{os.environ['PATH']}",
        "PGHOST": where["host"],
        "PGPORT": where["port"],
        "PGUSER": user or address.username or "",
        "PGDATABASE": address.path[1:],
        "PGCLIENTENCODING": "UTF8",
    }


def psql_command() -> list[str | Path]:
    """Return how to call psql so that it reads what is typed, and stops at the first error."""
    program = newest_with_python().program("psql")
    return [program, "--no-psqlrc", "--set=ON_ERROR_STOP=1", "--pset=footer=off", "--file=-"]


def psql(
    dsn: str, sql: str, user: str | None = None, *, verbosity: str = "verbose", folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run SQL as a reader does who types it into psql; stop at the first error."""
    return subprocess.run(
        [*psql_command(), f"--set=VERBOSITY={verbosity}"],
        env=environment(dsn, user),
        cwd=folder,
        input=sql,
        capture_output=True,
        text=True,
        check=False,
    )


def refusal(answer: subprocess.CompletedProcess[str]) -> str | None:
    """Return the SQLSTATE with which a server refused, None if it did not."""
    found = re.search(r"^(?:psql:\S+ )?ERROR:  (\w{5}):", answer.stderr, re.MULTILINE)
    return found[1] if found else None


def _clinic(dsn: str) -> None:
    """Make the small table `patients` of the how-to pages."""
    made = psql(dsn, (ROOT / "docs/clinic.sql").read_text(encoding="utf-8"))
    assert made.returncode == 0, made.stderr


_ASKED = """
SELECT kanon_declare('patients', identifiers => '{admission,name,ssn}',
    quasi_identifiers => '{birth_date,sex,zip}', sensitive => '{ward,diagnosis,cost}',
    entity => 'patient_id');
SELECT kanon_protect('patients', 5);
CREATE ROLE ada LOGIN;
GRANT kanon_analyst TO ada;
"""


def _asked(dsn: str) -> None:
    """Let the analyst ada ask the table `patients` of the how-to pages."""
    _clinic(dsn)
    made = psql(dsn, _ASKED)
    assert made.returncode == 0, made.stderr


def _demo(dsn: str) -> None:
    """Make the table of `kanon demo`."""
    with connect(dsn) as connection:
        create_patients(connection, patients())


def _nothing(dsn: str) -> None:
    """Leave a fresh database as it is."""


DATABASES: dict[str, tuple[bool, Callable[[str], None]]] = {
    "empty": (False, _nothing),
    "unprepared": (False, _clinic),
    "installed": (True, _nothing),
    "clinic": (True, _clinic),
    "asked": (True, _asked),
    "demo": (True, _demo),
    "citus": (True, _nothing),
}
"""Whether kanon is installed, and how the tables are made."""
