"""What a data owner may ask for beside k: privacy models and limits for the number of classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kanon_pg.core.request import DISTANCES, DIVERSITIES
from kanon_pg.errors import InputError, UnknownName, VerificationFailed

if TYPE_CHECKING:
    from kanon_pg.release.request import AnonymizeRequest

OPTIONS = ("diversity", "distance", "classes", "suppressed_rows")
"""Keys of the argument ``options``."""

_CLASS_LIMITS = ("min", "max", "exact")
_FIELDS_OF_LIMITS = {"min": "fewest_classes", "max": "most_classes"}
_MOST = (1 << 31) - 1
"""Largest ``integer`` of SQL."""

_EXAMPLE = """For example: options => '{"diversity": "entropy", "classes": {"max": 100}}'."""
_CLASSES_EXAMPLE = """For example: options => '{"classes": {"min": 10, "max": 100}}'."""


def option_fields(options: Any) -> dict[str, Any]:
    """Turn the argument ``options`` into fields of `kanon_pg.release.request.AnonymizeRequest`.

    Parameters
    ----------
    options : dict or None
        Parsed JSON: ``diversity``, ``distance``, ``suppressed_rows`` and ``classes``, the last with ``min``
        and ``max`` or with ``exact``. A null stands for a key that is not given.

    Returns
    -------
    dict
        The fields that were given; their values are checked by `check_models`, `check_classes` and
        `check_suppressed_rows`.

    Raises
    ------
    InputError
        If this is no object, or ``classes`` is none or contradicts itself.
    UnknownName
        If there is no such option.

    Examples
    --------
    >>> option_fields({"diversity": "entropy", "classes": {"exact": 7}})
    {'diversity': 'entropy', 'fewest_classes': 7, 'most_classes': 7}
    """
    if options is None:
        return {}
    _require_object("options", options, OPTIONS, _EXAMPLE)
    given = {name: value for name, value in options.items() if value is not None}
    classes = given.pop("classes", None)
    return given if classes is None else given | _class_fields(classes)


def field_options(fields: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the argument ``options`` that says what some fields of the request say.

    Parameters
    ----------
    fields : dict
        Fields of `kanon_pg.release.request.AnonymizeRequest`; None where nothing is asked for.

    Examples
    --------
    >>> field_options({"diversity": "entropy", "fewest_classes": 7, "most_classes": None})
    {'diversity': 'entropy', 'classes': {'min': 7}}
    """
    limits = {limit: fields.get(field) for limit, field in _FIELDS_OF_LIMITS.items()}
    classes = {limit: value for limit, value in limits.items() if value is not None}
    given = {name: fields.get(name) for name in OPTIONS} | {"classes": classes or None}
    return {name: value for name, value in given.items() if value is not None} or None


def _class_fields(classes: Any) -> dict[str, Any]:
    _require_object("option classes", classes, _CLASS_LIMITS, _CLASSES_EXAMPLE)
    given = {name: value for name, value in classes.items() if value is not None}
    if "exact" in given:
        if len(given) > 1:
            raise InputError(
                "Option classes has exact beside min or max.", hint="Give either exact, or min and max."
            )
        return {"fewest_classes": given["exact"], "most_classes": given["exact"]}
    return {_FIELDS_OF_LIMITS[name]: value for name, value in given.items()}


def _require_object(what: str, value: Any, keys: Sequence[str], example: str) -> None:
    if not isinstance(value, dict):
        raise InputError(f"{what.capitalize()} must be a JSON object.", hint=example)
    for key in value:
        if key not in keys:
            shown = str(key)[:64].replace('"', '""')
            raise UnknownName(
                f'{what.capitalize()} has no key "{shown}".', hint="Keys are: " + ", ".join(keys) + "."
            )


def check_models(asked: AnonymizeRequest) -> None:
    """Refuse privacy models whose parameters make no sense.

    Parameters
    ----------
    asked : AnonymizeRequest
        A request.

    Raises
    ------
    InputError
        With a sentence for the first argument that is wrong.
    """
    _require_integer("l", asked.l, 2, "l => 3 lets no sensitive value have more than a third of a class.")
    _require_integer("p", asked.p, 2, "p => 2 demands two different sensitive values in each class.")
    if asked.t is not None and not (_is_number(asked.t) and 0 <= asked.t < 1):
        raise InputError(
            "t must be a number of at least 0 and less than 1.",
            hint="It is the greatest distance of a class from the whole table, for example t => 0.2.",
        )
    _require_choice("diversity", asked.diversity, DIVERSITIES, of="l", given=asked.l is not None)
    _require_choice("distance", asked.distance, DISTANCES, of="t", given=asked.t is not None)
    if asked.sensitive is not None and not asked.sensitive:
        require_sensitive(asked, ())


def require_sensitive(asked: AnonymizeRequest, sensitive: Sequence[object]) -> None:
    """Refuse a privacy model without a sensitive column that it could speak of.

    Parameters
    ----------
    asked : AnonymizeRequest
        A request.
    sensitive : sequence
        The sensitive columns, given or declared.

    Raises
    ------
    InputError
        If there are none.
    """
    for name in ("l", "p", "t"):
        if getattr(asked, name) is not None and not sensitive:
            raise InputError(
                f"Argument {name} is about sensitive columns, but there are none.",
                hint="Name them, for example sensitive => '{diagnosis}', or declare them.",
            )


def check_classes(asked: AnonymizeRequest) -> None:
    """Refuse limits for the number of classes that make no sense.

    Parameters
    ----------
    asked : AnonymizeRequest
        A request.

    Raises
    ------
    InputError
        With a sentence for what is wrong.
    """
    fewest, most = asked.fewest_classes, asked.most_classes
    _require_integer("The least number of classes", fewest, 1, _CLASSES_EXAMPLE)
    _require_integer("The largest number of classes", most, 1, _CLASSES_EXAMPLE)
    if fewest is not None and most is not None and fewest > most:
        raise InputError(
            f"At least {fewest} classes and at most {most} classes contradict each other.",
            hint=_CLASSES_EXAMPLE,
        )


def check_suppressed_rows(asked: AnonymizeRequest) -> None:
    """Refuse a largest share of suppressed rows that is no share, or that the method does not know.

    Parameters
    ----------
    asked : AnonymizeRequest
        A request.

    Raises
    ------
    InputError
        With a sentence for what is wrong.
    """
    share = asked.suppressed_rows
    if share is None:
        return
    if not (_is_number(share) and 0 <= share <= 1):
        raise InputError(
            "Option suppressed_rows must be a number from 0 to 1.",
            hint="It is the largest share of rows in which everything is suppressed, for example 0.05.",
        )
    if asked.method != "full_domain":
        raise InputError(
            "Option suppressed_rows is for method full_domain.",
            hint="Other methods suppress what costs least; leave the option out.",
        )


def require_classes(asked: AnonymizeRequest, classes: int) -> None:
    """Refuse a solution whose number of classes is not what was asked for.

    Parameters
    ----------
    asked : AnonymizeRequest
        A request.
    classes : int
        Classes of the solution.

    Raises
    ------
    VerificationFailed
        If it has too few or too many.
    """
    fewest, most = asked.fewest_classes, asked.most_classes
    if (fewest is not None and classes < fewest) or (most is not None and classes > most):
        raise VerificationFailed(
            f"The solution has {classes} classes, which is not what was asked for; nothing was published.",
            hint="This is a defect: please report it.",
        )


def _require_integer(what: str, value: Any, least: int, hint: str) -> None:
    if value is None:
        return
    if not isinstance(value, int) or isinstance(value, bool):
        raise InputError(f"{what} must be an integer.", hint=hint)
    if not least <= value <= _MOST:
        raise InputError(f"{what} must be at least {least} and at most {_MOST}, not {value}.", hint=hint)


def _require_choice(name: str, value: Any, choices: Sequence[str], *, of: str, given: bool) -> None:
    if value is None:
        return
    if value not in choices:
        raise UnknownName(f"There is no such {name}.", hint="Choose one of: " + ", ".join(choices) + ".")
    if not given:
        raise InputError(
            f"Option {name} says what {of} means, but {of} is not given.",
            hint=f"Give {of} too, or leave {name} out.",
        )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
