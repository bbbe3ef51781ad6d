"""Removes the records of queries of a database: a function whose source text runs inside the server.

See `kanon_pg.admin.install.scripts`; it uses the standard library alone.
"""

import os
import shutil

_FOLDER = "kanon_ledger"


def remove_records(database: str) -> str:
    """Remove the folder of a database below that of all records, which goes too if it is empty then.

    Parameters
    ----------
    database : str
        OID of the database, in decimal digits.

    Returns
    -------
    str
        Why it could not be removed, empty if it is gone or never was.
    """
    # the working directory of a backend is the server's data directory
    if not os.path.isfile(os.path.join("global", "pg_control")):
        return "the server's data directory was not found"
    try:
        shutil.rmtree(os.path.join(_FOLDER, str(int(database))))
    except FileNotFoundError:
        pass
    except OSError as error:
        return error.strerror or "unknown reason"
    try:
        os.rmdir(_FOLDER)
    except OSError:
        # other databases have records there, or there never were any
        return ""
    return ""
