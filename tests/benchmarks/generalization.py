"""Generalized releases of Adult against the figures published for another tool on the same work."""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
from rich.table import Table

from kanon_pg.core.generalization import PackedHierarchy
from kanon_pg.core.packed import PackedRowTypes
from kanon_pg.core.solving import SolveRequest
from kanon_pg.worker.solvers.registry import solve
from tests.benchmarks.columns import QI8
from tests.benchmarks.packed import counted_file, packed_table
from tests.benchmarks.settings import DATA, Settings, missing, table

# ARX 3.9.2 on the same rows, columns and hierarchies, measured 2026-11-20 on a machine of the same kind: the
# mean over all cells of (leaves below the node - 1) / (leaves of the hierarchy - 1), in per cent.
_ARX_LOCAL = {2: 2.39, 5: 5.38, 10: 7.79, 100: 19.33}
_ARX_FULL = {
    0.0: {2: 58.6, 5: 65.6, 10: 68.0, 100: 71.1},
    0.05: {2: 17.6, 5: 29.3, 10: 35.0, 100: 55.4},
}

_COLUMNS = ["method", "k", "NCP %", "ARX %", "bound %", "classes", "suppressed cells", "CPU s", "s"]


def adult(settings: Settings) -> Iterator[Table]:
    """Adult, 8 quasi-identifiers with hierarchies: local and full-domain recoding, mean loss of a cell."""
    file, folder = DATA / "adult.csv.gz", DATA / "hierarchies" / "adult"
    if not file.exists() or not folder.exists():
        yield missing("adult with hierarchies")
        return
    packed = generalized_file(file, folder, QI8)
    solve(packed, SolveRequest(100, "local", seconds=1.0))
    rows = []
    for k, published in _ARX_LOCAL.items():
        for method in ("mondrian", "greedy", "local"):
            rows.append(_measured(packed, SolveRequest(k, method), method, published))
        for share, full in _ARX_FULL.items():
            request = SolveRequest(k, "full_domain", suppressed_rows=share)
            rows.append(_measured(packed, request, f"full domain, {share:.0%} rows", full[k]))
    yield table("Adult, 8 columns with hierarchies", _COLUMNS, rows)


def _measured(packed: PackedRowTypes, request: SolveRequest, name: str, published: float) -> list[object]:
    before, cpu = time.perf_counter(), time.process_time()
    found = solve(packed, request)
    seconds, cpu = time.perf_counter() - before, time.process_time() - cpu
    cells = np.frombuffer(packed.rows, dtype=">i8").sum() * len(packed.columns) / 100
    bound = None if found.lower_bound is None else float(found.lower_bound / cells)
    loss = float(found.weighted_cost / cells)
    return [
        name,
        request.k,
        loss,
        published,
        bound,
        found.classes,
        found.suppressed_cells,
        cpu,
        seconds,
    ]


def generalized_file(file: Path, folder: Path, columns: Sequence[str]) -> PackedRowTypes:
    """Read columns of a CSV file with the hierarchies of a folder, one file per column.

    A value that a hierarchy does not know is a node of its own below the top.
    """
    counted = counted_file(file, columns)
    packed = packed_table(counted, columns)
    hierarchies = []
    for number, name in enumerate(columns):
        values = counted[name].cast(pa.string()).to_pylist()
        cells = np.frombuffer(packed.cells[number], dtype=">i8")
        identities = dict(zip(values, cells.tolist(), strict=True))
        hierarchies.append(_hierarchy(folder / f"{name}.csv.gz", identities))
    return replace(packed, hierarchies=tuple(hierarchies))


def _hierarchy(file: Path, identities: dict[str, int]) -> PackedHierarchy:
    """Return a hierarchy with the loss of each node: the share of the other leaves that it stands for."""
    options = pa.csv.ReadOptions(autogenerate_column_names=True, skip_rows=1)
    every_text = pa.csv.ConvertOptions(column_types={f"f{level}": pa.string() for level in range(9)})
    read = pa.csv.read_csv(file, read_options=options, convert_options=every_text)
    nodes = {row[0]: row for row in zip(*(column.to_pylist() for column in read.columns), strict=True)}
    height = read.num_columns - 1
    for value in identities:
        nodes.setdefault(value, (value,) * height + ("*",))
    leaves = len(nodes)
    known = list(identities)
    numbers, losses = [], []
    for level in range(height + 1):
        below = Counter(path[level] for path in nodes.values())
        number = {node: place for place, node in enumerate(below)}
        numbers.append(np.array([number[nodes[value][level]] for value in known], dtype=">i8").tobytes())
        loss = [(below[nodes[value][level]] - 1) / (leaves - 1) for value in known]
        losses.append(np.array(loss, dtype=">f8").tobytes())
    cells = np.array([identities[value] for value in known], dtype=">i8").tobytes()
    return PackedHierarchy(height, cells, tuple(numbers[1:height]), tuple(losses))
