"""Write the reference pages anew, or say which are stale: ``python -m tests.docs [--write]``."""

import sys
import tempfile
from pathlib import Path

import psycopg

from kanon_pg.admin.cluster import Cluster
from kanon_pg.admin.install.installer import install
from tests.docs.pages import ROOT
from tests.docs.references import cli_reference, code_reference, sql_reference

SQL = ROOT / "docs/reference/sql.md"
CLI = ROOT / "docs/reference/cli.md"
CODES = ROOT / "docs/query-codes.md"


def _references() -> dict[Path, str]:
    with tempfile.TemporaryDirectory(prefix="kanon-docs-") as folder:
        Path(folder).chmod(0o755)
        cluster = Cluster("docs", home=Path(folder))
        dsn = cluster.up().dsn
        assert dsn is not None
        try:
            install(dsn, plpython=True)
            with psycopg.connect(dsn) as connection:
                return {
                    SQL: sql_reference(connection),
                    CLI: cli_reference(),
                    CODES: code_reference(),
                }
        finally:
            cluster.down(delete=True)


def main(arguments: list[str]) -> int:
    """Return the exit code: 1 if a page is stale and not written."""
    stale = [
        (path, text)
        for path, text in _references().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    for path, text in stale:
        if "--write" in arguments:
            path.write_text(text, encoding="utf-8")
        sys.stdout.write(f"{'wrote' if '--write' in arguments else 'stale:'} {path.relative_to(ROOT)}\n")
    return 1 if stale and "--write" not in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
