"""Privacy models judged by kernels equal the definitions, written out naively in Python."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kanon_pg.core.privacy import judge_of, violations
from kanon_pg.core.request import DISTANCES, DIVERSITIES, PrivacyModels
from kanon_pg.core.row_types import RowTypeTable
from tests.fixtures.diversity import pack_sensitive, types_of, violated

quick = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
LARGE = 2**40

models = st.builds(
    PrivacyModels,
    l=st.one_of(st.none(), st.integers(2, 4)),
    diversity=st.sampled_from(DIVERSITIES),
    p=st.one_of(st.none(), st.integers(2, 4)),
    t=st.one_of(st.none(), st.sampled_from([0, 0.1, 0.2, 0.25, 1 / 3, 0.5, 0.75])),
    distance=st.sampled_from(DISTANCES),
)


@st.composite
def tables(draw):
    size = draw(st.integers(1, 20))
    value = st.sampled_from([None, -7, 0, 2, 3, LARGE])
    columns = draw(st.integers(1, 2))
    rows = draw(st.lists(st.tuples(st.integers(0, 4)), min_size=size, max_size=size))
    secrets = draw(st.lists(st.tuples(*[value] * columns), min_size=size, max_size=size))
    who = st.one_of(st.none(), st.integers(0, 9))
    people = draw(st.one_of(st.none(), st.lists(who, min_size=size, max_size=size)))
    if people is not None and not set(people) - {None}:
        people = None
    return rows, secrets, people


@quick
@given(table=tables(), models=models, data=st.data())
def test_classes_of_row_types_are_judged_as_defined(table, models, data):
    rows, secrets, people = table
    packed = pack_sensitive(rows, secrets, people=people, ordered=models.distance == "ordered")
    types = RowTypeTable.from_packed(packed)
    class_of = np.array(
        data.draw(st.lists(st.integers(0, 3), min_size=len(types), max_size=len(types))), dtype=np.int64
    )
    found = violations(judge_of(types, models), class_of, 4)
    type_of = types_of(rows, secrets)
    for number in range(4):
        members = [m for m, t in enumerate(type_of) if class_of[t] == number]
        expected = violated(models, members, secrets, people) if members else set()
        for name in ("distinct", "frequency", "entropy", "closeness"):
            assert getattr(found, name)[number] == (name in expected), name
        assert found.any[number] == bool(expected)


@quick
@given(table=tables(), models=models)
def test_the_whole_table_is_close_to_itself(table, models):
    rows, secrets, people = table
    packed = pack_sensitive(rows, secrets, people=people, ordered=models.distance == "ordered")
    types = RowTypeTable.from_packed(packed)
    found = violations(judge_of(types, models), np.zeros(len(types), dtype=np.int64), 1)
    assert not found.closeness.any()


@quick
@given(table=tables(), models=models, data=st.data())
def test_merging_satisfying_classes_satisfies(table, models, data):
    rows, secrets, _ = table
    packed = pack_sensitive(rows, secrets, ordered=models.distance == "ordered")
    types = RowTypeTable.from_packed(packed)
    judge = judge_of(types, models)
    halves = np.array(
        data.draw(st.lists(st.integers(0, 2), min_size=len(types), max_size=len(types))), dtype=np.int64
    )
    apart = violations(judge, halves, 3).any
    merged = np.where(halves == 2, 1, 0)
    if not apart[:2].any():
        assert not violations(judge, merged, 2).any[0]
