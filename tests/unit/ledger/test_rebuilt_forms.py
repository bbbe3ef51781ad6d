"""Pivots that were chosen one answer at a time may use up the columns that another form needs."""

from __future__ import annotations

import numpy as np
import pytest
from pyroaring import BitMap

from kanon_pg.worker.ledger.field import PrimeField
from kanon_pg.worker.ledger.linear_code import LinearCode, forms_needed

K = 5


def disclosed_one_by_one() -> LinearCode:
    draw = np.random.default_rng(2)
    field = PrimeField(bytes(range(16)), 512)
    code = LinearCode.empty(field, K)
    for _ in range(45):
        start, size = int(draw.integers(0, 460)), int(draw.integers(9, 40))
        code = code.extended(code.independent_part(field.vectors([BitMap(range(start, start + size))], None)))
    return code


def test_forms_are_rebuilt_when_one_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    code = disclosed_one_by_one()
    assert len(code.forms) == forms_needed(K)
    pivots = [set(form.pivots.tolist()) for form in code.forms]
    assert len(set().union(*pivots)) == len(code.forms) * code.rank
    for form in code.forms:
        assert not np.any(code.forms[0].remainder(form.rows, code.field))
    monkeypatch.setattr(LinearCode, "_rebuilt_forms", lambda code, form: [])
    assert len(disclosed_one_by_one().forms) < forms_needed(K)
