"""SQL means the same in every session, whatever standard_conforming_strings says there."""

import re

from tests.docs.pages import ROOT

FILES = sorted((ROOT / "sql").rglob("*.sql"))
PLAIN = re.compile(r"(?<![A-Za-z0-9_&])'((?:[^'\n]|'')*)'")


def test_backslashes_are_written_in_escape_strings():
    """A plain literal with a backslash is another text where that setting is off."""
    assert FILES
    for path in FILES:
        lines = [line for line in path.read_text().splitlines() if not line.lstrip().startswith("--")]
        assert [text for line in lines for text in PLAIN.findall(line) if "\\" in text] == [], path
