"""Privacy models are closed against omission: no place that acts on them works without a rule for each."""

import subprocess
import sys
from dataclasses import fields
from importlib import import_module
from typing import Any

import pytest

from kanon_pg.core.privacy_models import (
    MODEL_OPTIONS,
    MODEL_PARAMETERS,
    MODELS,
    PLACES,
    AskedBy,
    ModelRules,
    PrivacyModels,
)
from kanon_pg.db.statements import named_statements
from kanon_pg.errors import SolverError, UnknownName
from kanon_pg.measures import Measures
from kanon_pg.release.publish.recount import MEASURED
from kanon_pg.release.publish.storage import GUARDED, model_parts

NUMBERS = {"l": 2, "p": 3, "t": 0.25}
"""Some number for each parameter."""

WHERE = {
    "the evaluation of classes": "kanon_pg.worker.models.evaluator",
    "the recount of a solution": "kanon_pg.worker.verification.recount",
    "bounds by prices": "kanon_pg.worker.verification.class_demands",
    "the recount of a release": "kanon_pg.release.publish.recount",
    "the guard of a release": "kanon_pg.release.publish.storage",
    "the columns of a release": "kanon_pg.release.plan.planning",
    "the sentences of a report": "kanon_pg.before_after.sentences",
}
"""Every place that acts on privacy models, and its module."""

WITH_ANOTHER = """
import importlib, sys
from kanon_pg.core import privacy_models
privacy_models.MODELS["novel"] = (privacy_models.AskedBy("p"),)
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
    except TypeError as error:
        print(name, "novel" in str(error))
"""


def asking(model: str) -> list[PrivacyModels]:
    """Return what asks for a model alone, in each of the ways there are."""
    return [
        PrivacyModels.of(
            {one.parameter: NUMBERS[one.parameter]} | ({one.option: one.choice} if one.option else {})
        )
        for one in MODELS[model]
    ]


@pytest.mark.parametrize("model", MODELS)
def test_what_asks_for_a_model_demands_it(model: str) -> None:
    for models, one in zip(asking(model), MODELS[model], strict=True):
        assert models
        assert models.demands() == ((model, NUMBERS[one.parameter]),)


def test_of_two_numbers_for_a_model_the_larger_one_counts() -> None:
    assert PrivacyModels(p=2, l=4, diversity="distinct").demands() == (("distinct", 4),)
    assert PrivacyModels(p=4, l=2, diversity="distinct").demands() == (("distinct", 4),)
    assert PrivacyModels(p=4, l=2).demands() == (("distinct", 4), ("frequency", 2))
    assert PrivacyModels().demands() == ()


def test_what_asks_for_no_model_is_refused() -> None:
    for models in (PrivacyModels(l=2, diversity="most"), PrivacyModels(t=0.1, distance="far")):
        with pytest.raises(UnknownName):
            models.demands()
        with pytest.raises(UnknownName):
            model_parts(models)


def test_every_field_asks_for_a_model_or_chooses_one() -> None:
    names = {one.name for one in fields(PrivacyModels)}
    assert names == {*MODEL_PARAMETERS, *MODEL_OPTIONS}
    assert set(NUMBERS) == set(MODEL_PARAMETERS)


def test_the_places_that_act_on_models_are_known() -> None:
    for module in WHERE.values():
        import_module(module)
    assert set(PLACES) == set(WHERE)


@pytest.mark.parametrize("place", WHERE)
@pytest.mark.parametrize("model", MODELS)
def test_a_place_without_a_rule_for_a_model_is_refused(place: str, model: str) -> None:
    import_module(WHERE[place])
    rules: dict[str, Any] = {name: PLACES[place][name] for name in MODELS}
    del rules[model]
    kept = PLACES[place]
    try:
        with pytest.raises(TypeError, match=model):
            ModelRules(place, rules)
        with pytest.raises(TypeError, match="other"):
            ModelRules(place, {**rules, model: None, "other": None})
    finally:
        PLACES[place] = kept


def test_nothing_that_acts_on_models_can_be_imported_with_a_model_that_it_does_not_know() -> None:
    run = subprocess.run(
        [sys.executable, "-c", WITH_ANOTHER, *WHERE.values()], capture_output=True, text=True, check=True
    )
    assert run.stdout.splitlines() == [f"{module} True" for module in WHERE.values()], run.stderr


@pytest.mark.parametrize("place", WHERE)
def test_a_model_that_is_registered_later_is_refused_where_it_has_no_rule(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_module(WHERE[place])
    monkeypatch.setitem(MODELS, "novel", (AskedBy("p"),))
    with pytest.raises(SolverError, match="no rule"):
        list(PLACES[place].of(PrivacyModels(p=2)))


@pytest.mark.parametrize("model", MODELS)
def test_the_guard_has_a_condition_for_every_model(model: str) -> None:
    assert f"guard/models/{model}" in named_statements()
    for models in asking(model):
        (condition,) = model_parts(models)["conditions"]
        assert condition["model"] == model
    assert GUARDED[model] is not None


def test_no_condition_of_the_guard_is_of_no_model() -> None:
    conditions = {name for name in named_statements() if name.startswith("guard/models/")}
    assert conditions == {f"guard/models/{model}" for model in MODELS}


@pytest.mark.parametrize("model", MODELS)
def test_every_model_is_measured(model: str) -> None:
    assert MEASURED[model].figure in {one.name for one in fields(Measures)}
