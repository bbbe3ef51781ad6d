"""The argument ``options`` and the privacy models that a request asks for."""

from typing import Any

import pytest

from kanon_pg.core.privacy_models import PrivacyModels
from kanon_pg.errors import InputError, UnknownName
from kanon_pg.release.plan.request import AnonymizeRequest, option_fields, require_sensitive


@pytest.mark.parametrize(
    ("options", "fields"),
    [
        (None, {}),
        ({}, {}),
        ({"diversity": "entropy"}, {"diversity": "entropy"}),
        ({"distance": "ordered", "diversity": None, "classes": None}, {"distance": "ordered"}),
        ({"classes": {}}, {}),
        ({"classes": {"min": 3}}, {"fewest_classes": 3}),
        ({"classes": {"min": 3, "max": 9}}, {"fewest_classes": 3, "most_classes": 9}),
        ({"classes": {"exact": 7, "max": None}}, {"fewest_classes": 7, "most_classes": 7}),
    ],
)
def test_options_become_fields_of_the_request(options: Any, fields: dict[str, Any]) -> None:
    assert option_fields(options) == fields
    AnonymizeRequest("t", 2, l=2, t=0.5, sensitive=["s"], **fields).check()


@pytest.mark.parametrize(
    ("options", "kind", "sentence"),
    [
        ([], InputError, "Options must be a JSON object."),
        ("entropy", InputError, "Options must be a JSON object."),
        (True, InputError, "Options must be a JSON object."),
        ({"l": 2}, UnknownName, 'Options has no key "l".'),
        ({'quo"te': 2}, UnknownName, 'Options has no key "quo""te".'),
        ({"classes": 7}, InputError, "Option classes must be a JSON object."),
        ({"classes": {"most": 7}}, UnknownName, 'Option classes has no key "most".'),
        ({"classes": {"exact": 7, "min": 7}}, InputError, "Option classes has exact beside min or max."),
    ],
)
def test_other_options_are_refused(options: Any, kind: type[InputError], sentence: str) -> None:
    with pytest.raises(kind) as refused:
        option_fields(options)
    assert (type(refused.value), refused.value.message) == (kind, sentence)
    assert refused.value.hint


def test_models_have_their_usual_meaning_unless_another_is_given() -> None:
    assert not AnonymizeRequest("t", 2).models
    assert AnonymizeRequest("t", 2, l=3).models == PrivacyModels(l=3, diversity="frequency")
    asked = AnonymizeRequest("t", 2, l=3, p=2, t=0.25, diversity="entropy", distance="ordered")
    assert asked.models == PrivacyModels(l=3, diversity="entropy", p=2, t=0.25, distance="ordered")


@pytest.mark.parametrize("model", [{"l": 2}, {"p": 2}, {"t": 0.0}])
def test_a_model_needs_a_sensitive_column(model: dict[str, Any]) -> None:
    asked = AnonymizeRequest("t", 2, **model)
    asked.check()
    require_sensitive(asked, ["diagnosis"])
    with pytest.raises(InputError, match=r"about sensitive columns, but there are none\."):
        require_sensitive(asked, [])
    require_sensitive(AnonymizeRequest("t", 2), [])
