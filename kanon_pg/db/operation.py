"""One description of an operation, from which its SQL functions, their PL/Python entry and the calls follow.

The description is the operation's request: a dataclass whose fields have the order of the SQL function's
arguments, and say in an `Argument` what is particular to SQL. Names and defaults are those of the dataclass;
a field without an `Argument` is none of SQL's.

Examples
--------
>>> from dataclasses import make_dataclass
>>> from typing import Annotated
>>> relation = Annotated[str, Argument("regclass", "What to read.")]
>>> time_limit = Annotated[float, Argument("interval", "When to stop.")]
>>> ReadRequest = make_dataclass(
...     "ReadRequest", [("relation", relation), ("time_limit", time_limit, 30.0), ("details", bool, False)]
... )
>>> reading = Operation(ReadRequest)
>>> print(f"read({reading.parameters})")
read(
    relation regclass,
    time_limit interval DEFAULT '30 seconds'
)
>>> print(reading.passed)
relation, extract(epoch FROM time_limit)::double precision
>>> reading.request("patients", 5.0)
ReadRequest(relation='patients', time_limit=5.0, details=False)
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, fields
from typing import Any, Generic, TypeVar, get_type_hints

from kanon_pg.db.identifiers import Fragment, Identifier, Literal
from kanon_pg.db.statements import Statement, render
from kanon_pg.errors import InputError

Request = TypeVar("Request")

SqlValue = Any
"""An argument as PL/Python hands it over; None for NULL, which the services check."""

_KEYWORDS = {"column"}
"""Names of arguments that SQL takes in quotes only."""

_CARRIERS = {
    "regclass": ("bigint", "{}::bigint::oid::regclass"),
    "regclass[]": ("bigint[]", "{}::bigint[]::oid[]::regclass[]"),
    "name": ("text", "{}::text::name"),
    "name[]": ("text[]", "{}::text[]::name[]"),
    "jsonb": ("text", "{}::text::jsonb"),
    "interval": ("double precision", "pg_catalog.make_interval(secs => {}::double precision)"),
}
"""The type that carries an argument as a parameter, and how the argument is made of it, where they differ."""


@dataclass(frozen=True, slots=True)
class Argument:
    """What SQL says about an argument."""

    type: str
    """Its type. An ``interval`` is a number of seconds in Python, ``jsonb`` what the JSON says."""
    help: str
    """Its line in the function's comment, which ``kanon_help`` shows."""


@dataclass(frozen=True, slots=True)
class Spread(Argument):
    """An optional argument of SQL that is several fields of the request."""

    fields: Callable[[Any], Mapping[str, Any]]
    """Makes the fields of the argument's value."""
    value: Callable[[Mapping[str, Any]], Any]
    """Makes the value of all fields by name; None if none of them is given."""


class Operation(Generic[Request]):
    """An operation by its request.

    Parameters
    ----------
    request : type
        A dataclass, see the head of this module.
    kept : tuple of str
        Arguments that the function for users does not hand to the one in PL/Python.
    **spread : Spread
        Further arguments of SQL, after all others.

    Attributes
    ----------
    fields : tuple of str
        The fields of the request.
    arguments : dict
        The arguments of SQL by name, in their order.
    defaults : dict
        The defaults of both in Python, `dataclasses.MISSING` where there is none.
    """

    def __init__(self, request: type[Request], *, kept: tuple[str, ...] = (), **spread: Spread) -> None:
        hints = get_type_hints(request, include_extras=True)
        own: tuple[Field[Any], ...] = fields(request)  # type: ignore[arg-type]
        described = {
            field.name: argument
            for field in own
            for argument in getattr(hints[field.name], "__metadata__", ())
            if isinstance(argument, Argument)
        }
        self._request = request
        self.fields = tuple(field.name for field in own)
        self.defaults: Mapping[str, Any] = {
            **{field.name: field.default for field in own},
            **dict.fromkeys(spread),
        }
        self.arguments: dict[str, Argument] = {**described, **spread}
        self._passed = {name: one for name, one in self.arguments.items() if name not in kept}

    @property
    def parameters(self) -> Fragment:
        """The parameters of the function for users, one per line."""
        return _lines(
            f"{_quoted(name)} {argument.type}{_default(argument.type, self.defaults[name])}"
            for name, argument in self.arguments.items()
        )

    @property
    def inner_parameters(self) -> Fragment:
        """The parameters of the function in PL/Python, one per line; it is always given all of them."""
        return _lines(
            f"{name}_seconds double precision"
            if argument.type == "interval"
            else f"{_quoted(name)} {argument.type}"
            for name, argument in self._passed.items()
        )

    @property
    def passed(self) -> Fragment:
        """What the function for users passes to the one in PL/Python."""
        return Fragment(
            ", ".join(
                f"extract(epoch FROM {name})::double precision"
                if argument.type == "interval"
                else _quoted(name)
                for name, argument in self._passed.items()
            )
        )

    @property
    def help(self) -> Fragment:
        """The lines of the comment that explain the arguments, inside a literal."""
        lines = "\n".join(f"{name}: {argument.help}" for name, argument in self.arguments.items())
        return Fragment(lines.replace("'", "''"))

    def read(self, *values: SqlValue) -> dict[str, Any]:
        """Return by name what PL/Python hands over: all arguments passed to it, in SQL's order.

        Raises
        ------
        InputError
            If an array is not a plain list of names, or JSON is nested too deeply.
        """
        given: dict[str, Any] = {}
        for (name, argument), value in zip(self._passed.items(), values, strict=True):
            read = _read(name, argument.type, value)
            given |= argument.fields(read) if isinstance(argument, Spread) else {name: read}
        return given

    def request(self, *values: SqlValue) -> Request:
        """Make the request of what PL/Python hands over, see `read`."""
        return self._request(**self.read(*values))

    def statement(self, name: str, function: Identifier) -> Statement:
        """Return the named statement that calls the SQL function, for `values`.

        Parameters
        ----------
        name : str
            Of a template with places for the ``function`` and its ``arguments``.
        """
        kinds = [argument.type for argument in self.arguments.values()]
        types, made = zip(*(_CARRIERS.get(kind, (kind, "{}::" + kind)) for kind in kinds), strict=True)
        arguments = _lines(
            f"{_quoted(argument)} => {how.format(f'${number}')}"
            for number, (argument, how) in enumerate(zip(self.arguments, made, strict=True), 1)
        )
        return Statement(render(name, function=function, arguments=arguments).text, types, name)

    def values(self, given: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the parameters of `statement`.

        Parameters
        ----------
        given : dict
            All fields by name; a relation as its oid.

        Raises
        ------
        InputError
            If a name is longer than PostgreSQL's.
        """
        return tuple(
            _sent(argument.type, argument.value(given) if isinstance(argument, Spread) else given[name])
            for name, argument in self.arguments.items()
        )


def _lines(items: Iterable[str]) -> Fragment:
    return Fragment("\n" + ",\n".join(f"    {item}" for item in items) + "\n")


def _quoted(name: str) -> str:
    return str(Identifier.of(name)) if name in _KEYWORDS else name


def _default(kind: str, value: Any) -> str:
    if value is MISSING:
        return ""
    if value is None:
        return " DEFAULT NULL"
    if kind == "interval":
        value = f"{value:g} seconds"
    elif kind.endswith("[]"):
        value = "{" + ",".join(map(str, value)) + "}"
    return f" DEFAULT {Literal(value) if isinstance(value, str) else value}"


def _read(name: str, kind: str, value: Any) -> Any:
    if kind in ("name[]", "regclass[]"):
        return _read_names(name, value)
    return read_json(value) if kind == "jsonb" else value


def _sent(kind: str, value: Any) -> Any:
    if value is None:
        return None
    if kind == "jsonb":
        return json.dumps(value)
    if kind == "name":
        return Identifier.of(value).name  # a cast would cut a longer one off without a word
    if kind == "name[]":
        return [Identifier.of(name).name for name in value]
    return list(value) if kind.endswith("[]") else value


def _read_names(argument: str, names: Any) -> list[str] | None:
    """Take a one-dimensional array without NULLs; PL/Python nests lists for further dimensions."""
    if names is None:
        return None
    if not all(isinstance(name, str) for name in names):
        raise InputError(
            f"{argument} must be a plain list of names.",
            hint="Without NULLs and nested arrays, for example '{zip,sex}'.",
        )
    return list(names)


_DEEPEST = 64
"""Levels of lists and objects; no argument has more than ten, and Python's own limit differs by version."""


def read_json(text: str | None) -> Any:
    """Return what a text in JSON says; None for NULL.

    Raises
    ------
    InputError
        If it is nested too deeply.
    """
    try:
        value = None if text is None else json.loads(text, parse_int=_number)
    except RecursionError as error:
        raise _too_deep() from error
    if _is_deeper(value, _DEEPEST):
        raise _too_deep()
    return value


def _too_deep() -> InputError:
    return InputError("A JSON argument is nested too deeply.", hint="Give plain lists and objects.")


def _is_deeper(value: Any, most: int) -> bool:
    """Whether a value has more than so many levels of lists and objects; goes level by level."""
    level = [value]
    for _ in range(most + 1):
        inner: list[Any] = []
        for part in level:
            if isinstance(part, dict):
                inner.extend(part.values())
            elif isinstance(part, list):
                inner.extend(part)
        if not inner:
            return False
        level = inner
    return True


def _number(digits: str) -> int | float:
    """Take an integer, which may have thousands of digits; infinity is refused where it arrives."""
    return int(digits) if len(digits) < 20 else float(digits)
