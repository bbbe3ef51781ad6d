"""The argument ``hierarchies``, as far as it can be checked without a database."""

from dataclasses import replace
from typing import Any

import pytest

from kanon_pg.errors import InputError
from kanon_pg.release.plan.generalized import HierarchyRequest, parse_hierarchies
from kanon_pg.release.plan.request import AnonymizeRequest, option_fields, recorded_arguments


@pytest.mark.parametrize(
    ("asked", "requested"),
    [
        ("ages", HierarchyRequest("age", "ages")),
        ({"hierarchy": "ages"}, HierarchyRequest("age", "ages")),
        (
            {"hierarchy": "ages", "builder": None, "lowest": None, "loss": None},
            HierarchyRequest("age", "ages"),
        ),
        ({"hierarchy": "ages", "lowest": 2}, HierarchyRequest("age", "ages", lowest=2)),
        ({"hierarchy": "ages", "loss": "levels"}, HierarchyRequest("age", "ages", loss="levels")),
        ({"hierarchy": "ages", "loss": [0, 0.5, 1]}, HierarchyRequest("age", "ages", loss=(0.0, 0.5, 1.0))),
        (
            {"builder": "intervals", "width": 5, "lowest": 1},
            HierarchyRequest("age", None, {"builder": "intervals", "width": 5}, lowest=1),
        ),
    ],
)
def test_a_hierarchy_is_a_name_or_an_object(asked: Any, requested: HierarchyRequest) -> None:
    assert parse_hierarchies({"age": asked}) == (requested,)
    AnonymizeRequest("t", 2, hierarchies={"age": asked}).check()


def test_no_argument_means_no_hierarchies() -> None:
    assert parse_hierarchies(None) == parse_hierarchies({}) == ()


@pytest.mark.parametrize(
    "asked",
    [
        None,
        7,
        ["ages"],
        {},
        {"lowest": 1},
        {"hierarchy": 3},
        {"builder": ["intervals"]},
        {"hierarchy": "ages", "builder": "intervals"},
        {"hierarchy": "ages", "width": 5},
        *({"hierarchy": "ages", "lowest": lowest} for lowest in (-1, 1.0, True, "1")),
        *(
            {"hierarchy": "ages", "loss": loss}
            for loss in ("most", 1, [], [1], [0, 0.9], [0.5, 0.4, 1], [-0.1, 1], [0, "1"], [0, True, 1], {})
        ),
        {"hierarchy": "ages", "loss": [0, float("nan"), 1]},
        pytest.param({"hierarchy": "ages", "loss": [0, 10**400]}, id="a loss that no float holds"),
    ],
    ids=str,
)
def test_what_names_no_hierarchy_is_refused_with_the_column(asked: Any) -> None:
    with pytest.raises(InputError, match=r'[Cc]olumn "age"'):
        AnonymizeRequest("t", 2, hierarchies={"age": asked}).check()


def test_the_record_has_no_keys_of_builders_which_may_be_values() -> None:
    asked = {"age": {"builder": "priority", "order": ["rare disease"], "lowest": 1}, "zip": "zips"}
    recorded = recorded_arguments(AnonymizeRequest("t", 2, hierarchies=asked))
    assert recorded["hierarchies"] == {
        "age": {"builder": "priority", "lowest": 1, "loss": "ncp"},
        "zip": {"hierarchy": "zips", "lowest": 0, "loss": "ncp"},
    }


@pytest.mark.parametrize("names", [[], "age", ["sex"], ["age", "sex"], [None], [7], {"age": 1}])
def test_columns_of_one_level_have_a_hierarchy(names: object) -> None:
    request = AnonymizeRequest("t", 2, hierarchies={"age": "ages"})
    replace(request, same_level=["age"]).check()
    with pytest.raises(InputError, match="Option same_level"):
        replace(request, same_level=names).check()


def test_batches_of_a_release_over_time_cannot_share_a_level() -> None:
    with pytest.raises(InputError, match="other levels"):
        AnonymizeRequest("t", 2, hierarchies={"age": "ages"}, same_level=["age"], over_time={}).check()


def test_a_share_of_suppressed_rows_is_for_full_domain_recoding() -> None:
    AnonymizeRequest("t", 2, method="full_domain", suppressed_rows=0).check()
    for share, method in ((0.1, "auto"), (1.1, "full_domain"), (-0.1, "full_domain"), (True, "full_domain")):
        with pytest.raises(InputError, match="Option suppressed_rows"):
            AnonymizeRequest("t", 2, method=method, suppressed_rows=share).check()
    assert option_fields({"suppressed_rows": 0.25}) == {"suppressed_rows": 0.25}
