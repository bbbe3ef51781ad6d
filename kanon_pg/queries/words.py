"""The names that a question may mean: so that only their part of the catalog is read."""

from __future__ import annotations

import re

from kanon_pg.queries.check.options import Limits

_PIECE = re.compile(
    r"""'(?:[^']|'')*'
    |--[^\r\n]*
    |/\*.*?\*/
    |"((?:[^"]|"")+)"
    |([A-Za-z_][A-Za-z0-9_]*)""",
    re.VERBOSE | re.DOTALL,
)


def words(text: str) -> tuple[str, ...]:
    """Return every name in a text as the catalog would have it, in no particular order.

    What is left out does not exist for the check that follows, so a text that this function reads
    differently than the checker can only be refused.

    Parameters
    ----------
    text : str
        Any text; nothing is found in one that is too long to be checked.

    Returns
    -------
    tuple of str
        Distinct names: quoted ones as they are, others in lower case.

    Examples
    --------
    >>> sorted(words('select "Ward" from Stays -- "not"'))
    ['Ward', 'from', 'select', 'stays']
    """
    if len(text) > Limits().characters:
        return ()
    found = {quoted.replace('""', '"') if quoted else word.lower() for quoted, word in _PIECE.findall(text)}
    return tuple(sorted(found - {""}))
