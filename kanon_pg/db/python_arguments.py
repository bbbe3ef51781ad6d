"""Arguments of calls from Python: requests made of them, with refusals in the words of SQL.

What SQL's types refuse before a function is called is refused here: wrong types, arguments that there are
not. What a service checks by itself, such as the contents of JSON, is left to it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, fields
from typing import Any, TypeVar, get_type_hints

from kanon_pg.core.json_numbers import is_whole
from kanon_pg.db.operation import Argument
from kanon_pg.errors import InputError, UnknownName, as_given

Request = TypeVar("Request")


def request_of(kind: type[Request], arguments: Sequence[Any], options: Mapping[str, Any]) -> Request:
    """Make a request of the arguments of a call.

    Parameters
    ----------
    kind : type
        A dataclass whose fields say in an `kanon_pg.db.operation.Argument` what they are in SQL.

    Raises
    ------
    InputError
        If an argument is missing, given twice, or of a wrong type.
    UnknownName
        If there is no such argument.
    """
    own: tuple[Field[Any], ...] = fields(kind)  # type: ignore[arg-type]
    names = [field.name for field in own]
    hint = f"Arguments are: {', '.join(names)}."
    if len(arguments) > len(names):
        raise InputError(f"{len(arguments)} arguments are more than the {len(names)} there are.", hint=hint)
    given = dict(zip(names, arguments, strict=False))
    for name, value in options.items():
        if name not in names:
            raise UnknownName(f"There is no argument {as_given(name)}.", hint=hint)
        if name in given:
            raise InputError(f"Argument {name} is given twice.", hint="Give it by its place or by its name.")
        given[name] = value
    for field in own:
        if field.name not in given and field.default is MISSING and field.default_factory is MISSING:
            raise InputError(f"Argument {field.name} is missing.", hint=hint)
    hints = get_type_hints(kind, include_extras=True)
    for name, value in given.items():
        for argument in getattr(hints[name], "__metadata__", ()):
            if isinstance(argument, Argument):
                check_argument(name, argument.type, value)
    return kind(**given)


def check_argument(name: str, kind: str, value: Any) -> None:
    """Refuse a value that has another type than the argument has in SQL; None is NULL.

    Parameters
    ----------
    kind : str
        The type in SQL.

    Raises
    ------
    InputError
        With the name of the argument.
    """
    known = _TYPES.get(kind)
    if known is None or value is None:
        return
    fits, sentence, hint = known
    if not fits(value):
        raise InputError(sentence.format(name), hint=hint)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _are_texts(value: Any) -> bool:
    is_list = isinstance(value, Sequence) and not isinstance(value, str | bytes)
    return is_list and all(item is None or isinstance(item, str) for item in value)


_TYPES: dict[str, tuple[Callable[[Any], bool], str, str]] = {
    "integer": (is_whole, "{} must be an integer.", "Give for example 5."),
    "double precision": (_is_number, "{} must be a number.", "Give for example 0.2."),
    "interval": (_is_number, "{} must be a number of seconds.", "Give for example 30."),
    "text": (_is_text, "{} must be a text.", "Give a str."),
    "name": (_is_text, "{} must be a name.", "Give a str, for example 'zip'."),
    "regclass": (_is_text, "{} must be the name of a table or view.", "Give a str, for example 'patients'."),
    "regclass[]": (_are_texts, "{} must be a list of names of tables.", "Give for example ['admissions']."),
    "name[]": (_are_texts, "{} must be a plain list of names.", "Give for example ['zip', 'sex']."),
    "text[]": (_are_texts, "{} must be a plain list of names.", "Give for example ['a', 'b']."),
}
