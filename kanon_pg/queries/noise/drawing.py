"""Noisy rows of a block: what its mechanisms cost is known before anything is read, and then they draw.

Keys are shown by a threshold on the noisy count of their people. Groups of fewer than k people never come
here; the others count with k - 1 people less, which changes by no more from one table to a neighbouring one
than the count itself does, and is 0 for groups that are not there. So OpenDP's threshold holds for these
counts, and whatever is shown has k people at least, for certain.

Noise is drawn for the groups that are shown. The noise of other groups would be independent of it, so
nothing differs from drawing it for all keys that there could be, and showing a part. The least noisy score is
drawn in each group by itself: if one person changes the scores of group g by d(g), the losses are at most
sum d(g)^2 / (2 scale^2) <= (sum d(g))^2 / (2 scale^2), the loss that OpenDP maps the whole distance to.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from kanon_pg.queries.counting.rest import Values
from kanon_pg.queries.noise.mechanism import FINE, Gaussian, Loss, NoisyLeast, Thresholded, together
from kanon_pg.queries.noise.plan import CELLS, ROW, VALUE, Cells, NoisyFigure, NoisyForm
from kanon_pg.queries.reading.scanner import words

_INTEGERS = words("smallint integer bigint")


# finding a threshold takes a twentieth of a second
_thresholded = lru_cache(maxsize=64)(Thresholded)


class Drawing:
    """The mechanisms of one block, with equal parts of the budget; `loss` is what they cost together."""

    def __init__(self, form: NoisyForm, budget: Loss, k: int) -> None:
        self.form, self.k = form, k
        parts = len(form.numbers) + len(form.cells) + bool(form.keys)
        # OpenDP rounds losses up
        rho = budget.rho / max(1, parts) * (1 - 1e-6)
        self.threshold = _thresholded(form.groups, rho, budget.delta) if form.keys else None
        self.numbers = [Gaussian(one.distance, rho) for one in form.numbers]
        self.leasts = [NoisyLeast(one.distance, rho) for one in form.cells]
        losses = [one.loss for one in self.numbers] + [one.loss for one in self.leasts]
        self.loss = together([*losses, *([self.threshold.loss] if self.threshold else [])])

    def rows(self, groups: Sequence[Mapping[str, Any]], kinds: Mapping[str, str]) -> list[Values]:
        """Return the rows that are shown, in an order that says nothing.

        Parameters
        ----------
        groups : sequence of mapping
            What the form's text returned.
        """
        people: list[float] = [0.0] * len(groups)
        if self.threshold is not None:
            keys = [f"k{number}" for number in range(1, self.form.keys + 1)]
            by_key = {json.dumps([row[key] for key in keys]): row for row in groups}
            counts = {key: int(row["people"]) - (self.k - 1) for key, row in by_key.items()}
            shown = self.threshold.draw({key: count for key, count in counts.items() if count > 0})
            names = sorted(shown)
            groups = [by_key[name] for name in names]
            people = [shown[name] + self.k - 1 for name in names]
        numbers = [[int(one) for one in json.loads(row["numbers"])] for row in groups]
        drawn = [
            mechanism.draw([row[place] for row in numbers]) if groups else []
            for place, mechanism in enumerate(self.numbers)
        ]
        cells = [json.loads(row["cells"]) for row in groups]
        least = [
            [mechanism.draw(scores(row[place], self.form.cells[place])) for row in cells]
            for place, mechanism in enumerate(self.leasts)
        ]
        rows: list[Values] = []
        for place, group in enumerate(groups):
            row = {f"k{number}": group[f"k{number}"] for number in range(1, self.form.keys + 1)}
            own = [values[place] for values in drawn], [values[place] for values in least]
            for number, figure in enumerate(self.form.figures, 1):
                row[f"f{number}"] = _text(_value(figure, people[place], *own), kinds[f"f{number}"])
            rows.append(row)
        return rows

    def notices(self) -> list[str]:
        """Return what the answer says of its settings; nothing depends on data."""
        notices = [
            f"This answer has noise. A person counts with {self.form.rows} rows at most"
            + (f", in {self.form.groups} groups at most." if self.form.keys else ".")
        ]
        if self.threshold is not None:
            least = self.threshold.threshold / FINE + self.k - 1
            people = f"{self.k} at least, and {least:.0f} with noise"
            notices.append(f"Groups are shown whose people are {people}.")
        notices += [
            f"Figure {number} ({one.function}): {self._error(one)}"
            for number, one in enumerate(self.form.figures, 1)
        ]
        return notices

    def _error(self, figure: NoisyFigure) -> str:
        within = (
            ""
            if figure.bounds is None
            else f" Values count from {figure.bounds[0]:g} to {figure.bounds[1]:g}."
        )
        if figure.cells >= 0:
            mechanism, cells = self.leasts[figure.cells], self.form.cells[figure.cells]
            share = max(cells.thousandths, 1000 - cells.thousandths)
            rows = mechanism.scale * math.pi / math.sqrt(6) / share / ROW
            return f"its rank has a standard error of about {rows:.3g} rows.{within}"
        if figure.function == "count_distinct" and figure.count < 0 and self.threshold is not None:
            return f"standard error {self.threshold.scale / FINE:.3g}."
        if figure.total < 0:
            return f"standard error {self.numbers[figure.count].scale / ROW:.3g}."
        total = self.numbers[figure.total].scale / VALUE * figure.reach
        if figure.function == "sum":
            return f"standard error {total:.4g}.{within}"
        if figure.function == "avg":
            return f"standard error about {total:.4g} divided by the number of rows.{within}"
        squares = self.numbers[figure.squares].scale / VALUE * figure.reach**2
        return f"its variance has a standard error of about {squares:.4g} divided by the rows.{within}"


def scores(packed: Sequence[Sequence[int]], cells: Cells) -> list[int]:
    """Return how far each candidate is from dividing the rows by the fraction; the least is the best."""
    counts = [0] * (CELLS + 1)
    for cell, rows in packed:
        counts[cell] += int(rows)
    below, total = 0, sum(counts)
    distances = []
    for rows in counts:
        distances.append(abs((1000 - cells.thousandths) * below - cells.thousandths * (total - below)))
        below += rows
    return distances


def _value(figure: NoisyFigure, people: float, numbers: Sequence[int], least: Sequence[int]) -> float:
    """Return a figure: what is calculated of noisy numbers reveals no more than they do."""
    if figure.cells >= 0:
        return figure.centre + figure.reach * least[figure.cells]
    rows = numbers[figure.count] / ROW if figure.count >= 0 else people
    if figure.function in {"count", "count_distinct"}:
        return max(0.0, round(rows))
    total = numbers[figure.total] / VALUE
    if figure.function == "sum":
        return total * figure.reach
    rows = max(rows, 1.0)
    mean = max(-1.0, min(1.0, total / rows))
    if figure.function == "avg":
        return figure.centre + figure.reach * mean
    spread = max(0.0, min(1.0, numbers[figure.squares] / VALUE / rows - mean**2)) * figure.reach**2
    if not figure.function.endswith("_pop"):
        spread *= rows / max(rows - 1, 1.0)
    return math.sqrt(spread) if figure.function.startswith("stddev") else spread


def _text(value: float, kind: str) -> str:
    return str(round(value)) if kind in _INTEGERS else f"{value:.15g}"
