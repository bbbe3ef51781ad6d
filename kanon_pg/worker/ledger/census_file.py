"""A census as bytes: a session's first question need not read the whole relation if nothing changed.

What is read back belongs to one epoch of the server, in which a place that is visible with the same writer
holds the same row, and says nothing of snapshots: whether the relation is still what it was, the database is
asked (`kanon_pg.queries.check.write.table_snapshot.fingerprint`).
"""

from __future__ import annotations

import io
import json

import numpy as np
import numpy.typing as npt
from pyroaring import BitMap

from kanon_pg.errors import LedgerError
from kanon_pg.worker.ledger.table_snapshot import Census, Table


def census_bytes(census: Census, state: str, epoch: str) -> bytes | None:
    """Return a census with the state of the relation that it is of.

    Parameters
    ----------
    census : Census
        Of tables.
    state : str
        As the database said it.
    epoch : str
        As in `kanon_pg.queries.ledgers.Moment`.

    Returns
    -------
    bytes or None
        None if nobody could tell later whether the relation is still the same.
    """
    version = json.loads(state)["version"]
    if version is None or not census.has_places:
        return None
    tables = census.tables()
    head = {
        "epoch": epoch,
        "version": version,
        "tables": [[oid, table.stride] for oid, table in tables.items()],
    }
    arrays: dict[str, npt.NDArray[np.generic]] = {
        "head": np.frombuffer(json.dumps(head).encode(), dtype=np.uint8),
        "units": np.frombuffer(census.units.serialize(), dtype=np.uint8),
    }
    for index, table in enumerate(tables.values()):
        arrays[f"places{index}"], arrays[f"numbers{index}"] = table.places, table.numbers
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def census_from(data: bytes, epoch: str) -> tuple[str, Census]:
    """Rebuild what `census_bytes` returned.

    Returns
    -------
    tuple of str and Census
        The state, without a snapshot.

    Raises
    ------
    LedgerError
        It is of another epoch, or cannot be read.
    """
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as loaded:
            arrays = {name: loaded[name] for name in loaded.files}
        head = json.loads(arrays["head"].tobytes())
        if head["epoch"] != epoch:
            raise LedgerError("The census is of another time.")
        tables = {
            int(oid): Table(int(stride), arrays[f"places{index}"], arrays[f"numbers{index}"])
            for index, (oid, stride) in enumerate(head["tables"])
        }
        state = json.dumps({"snapshot": None, "version": head["version"]})
        return state, Census.of_tables(BitMap.deserialize(arrays["units"].tobytes()), tables)
    except LedgerError:
        raise
    except Exception as error:  # whatever a damaged archive makes its reader raise
        raise LedgerError("The census cannot be read.") from error
