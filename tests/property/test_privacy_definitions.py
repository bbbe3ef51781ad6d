"""Privacy models computed by kernels equal the definitions, written out naively in Python."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kanon_pg.core.privacy_models import DISTANCES, DIVERSITIES, PrivacyModels
from kanon_pg.errors import SolverError
from kanon_pg.worker.models.evaluator import MODELS, evaluator_of, violations
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solution import Solution
from kanon_pg.worker.verification.recount import require_models
from tests.fixtures.diversity import pack_sensitive, types_of, violated
from tests.fixtures.examples import examples

quick = settings(max_examples=examples(120), suppress_health_check=[HealthCheck.too_slow])
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
    found = violations(evaluator_of(types, models), class_of, 4)
    type_of = types_of(rows, secrets)
    for number in range(4):
        members = [m for m, t in enumerate(type_of) if class_of[t] == number]
        expected = violated(models, members, secrets, people) if members else set()
        for model, is_violated in zip(MODELS, found.found, strict=True):
            assert is_violated[number] == (model.name in expected), model.name
        assert found.any[number] == bool(expected)


@quick
@given(table=tables(), models=models)
def test_the_whole_table_is_close_to_itself(table, models):
    rows, secrets, people = table
    packed = pack_sensitive(rows, secrets, people=people, ordered=models.distance == "ordered")
    types = RowTypeTable.from_packed(packed)
    found = violations(evaluator_of(types, models), np.zeros(len(types), dtype=np.int64), 1)
    for model, is_violated in zip(MODELS, found.found, strict=True):
        assert model.name not in DISTANCES or not is_violated.any()


@quick
@given(table=tables(), models=models, data=st.data())
def test_merging_satisfying_classes_satisfies(table, models, data):
    rows, secrets, _ = table
    packed = pack_sensitive(rows, secrets, ordered=models.distance == "ordered")
    types = RowTypeTable.from_packed(packed)
    evaluator = evaluator_of(types, models)
    halves = np.array(
        data.draw(st.lists(st.integers(0, 2), min_size=len(types), max_size=len(types))), dtype=np.int64
    )
    apart = violations(evaluator, halves, 3).any
    merged = np.where(halves == 2, 1, 0)
    if not apart[:2].any():
        assert not violations(evaluator, merged, 2).any[0]


@quick
@given(table=tables(), models=models, data=st.data())
def test_the_recount_finds_what_the_definitions_say(table, models, data):
    rows, secrets, people = table
    packed = pack_sensitive(rows, secrets, people=people, ordered=models.distance == "ordered")
    types = RowTypeTable.from_packed(packed)
    drawn = data.draw(st.lists(st.integers(0, 2), min_size=len(types), max_size=len(types)))
    class_of = np.unique(np.array(drawn), return_inverse=True)[1].astype(np.int64)
    solution = Solution.undivided(types, np.zeros(len(types), dtype=np.int64))
    type_of = types_of(rows, secrets)
    expected = [
        violated(models, [m for m, t in enumerate(type_of) if class_of[t] == number], secrets, people)
        for number in range(int(class_of.max()) + 1)
    ]
    if any(expected):
        with pytest.raises(SolverError, match="violates"):
            require_models(packed, solution, class_of, models)
    else:
        require_models(packed, solution, class_of, models)


@quick
@given(table=tables(), models=models, data=st.data())
def test_the_recount_counts_divided_row_types_by_their_parts(table, models, data):
    rows, secrets, _ = table
    packed = pack_sensitive(rows, secrets, ordered=models.distance == "ordered")
    types = RowTypeTable.from_packed(packed)
    of_row = np.array(data.draw(st.lists(st.integers(0, 1), min_size=len(rows), max_size=len(rows))))
    type_of = np.array(types_of(rows, secrets))
    solution = Solution.of_parts(type_of, of_row.astype(np.int64), np.ones(len(rows), dtype=np.int64))
    class_of = np.unique(solution.vector, return_inverse=True)[1].astype(np.int64)
    bad = [violated(models, np.flatnonzero(of_row == one).tolist(), secrets, None) for one in set(of_row)]
    judged = violations(evaluator_of(solution.parts_of(types), models), class_of, int(class_of.max()) + 1)
    assert judged.any.any() == any(bad)
    if any(bad):
        with pytest.raises(SolverError, match="violates"):
            require_models(packed, solution, class_of, models)
    else:
        require_models(packed, solution, class_of, models)
