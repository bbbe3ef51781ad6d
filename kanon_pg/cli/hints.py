"""Hints of the services, which speak of SQL, in the words of the command line."""

from __future__ import annotations

IN_COMMANDS = (
    ("SELECT * FROM kanon.releases lists them.", "`kanon releases` lists them."),
    ("SELECT kanon_drop(...);", "kanon drop NAME"),
    ("SELECT * FROM kanon_suggest(...);", "`kanon suggest`"),
    ("SELECT kanon_declare(...);", "`kanon declare`"),
    (
        "Pass a larger time_limit, for example time_limit => '5 minutes'.",
        "Pass a larger time limit, for example --time-limit 300.",
    ),
    ("release => 'other_name'", "--release other_name"),
    ("quasi_identifiers => '{zip,sex}'", "--quasi-identifier zip --quasi-identifier sex"),
)
"""What services say, and how the same is done with a command."""


def as_command(hint: str | None) -> str | None:
    """Return a hint with the command in place of the statement, where there is one.

    Parameters
    ----------
    hint : str or None
        Hint of an error.

    Examples
    --------
    >>> as_command("Remove its record: SELECT kanon_drop(...);")
    'Remove its record: kanon drop NAME'
    """
    if hint is not None:
        for statement, command in IN_COMMANDS:
            hint = hint.replace(statement, command)
    return hint
