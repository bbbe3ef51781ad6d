"""The requests of data owners: declarations and releases, checked before anything is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Annotated, Any

from kanon_pg.core.json_numbers import is_number
from kanon_pg.core.packed import MAX_COLUMNS
from kanon_pg.core.privacy_models import (
    MODEL_OPTIONS,
    MODEL_PARAMETERS,
    MODELS,
    PrivacyModels,
    require_each,
)
from kanon_pg.db.operation import Argument, Operation, Spread
from kanon_pg.errors import InputError, in_words
from kanon_pg.relations.arguments import (
    DEFAULT_SECONDS,
    OwnRelation,
    QuasiIdentifiers,
    Seed,
    Sensitive,
    check_choice,
    check_k,
    check_keys,
    check_search,
    check_share,
    check_whole,
)
from kanon_pg.release.plan.generalized import HierarchyRequest, parse_hierarchies
from kanon_pg.release.plan.over_time import parse_over_time

OPTIONS = (
    *MODEL_OPTIONS, "classes", "suppressed_rows", "same_level", "subsets", "over_time", "remember",
    "rows", "figures", "secret",
)  # fmt: skip
"""Keys of the argument ``options``."""

_CLASS_LIMITS = ("min", "max", "exact")
_FIELDS_OF_LIMITS = {"min": "fewest_classes", "max": "most_classes"}
_EXAMPLE = """For example: options => '{"diversity": "entropy", "classes": {"max": 100}}'."""
_REMEMBER_EXAMPLE = (
    """For example: options => '{"remember": 5}' keeps which row was in which class for five versions."""
)
_MOST_VERSIONS = 1000
_CLASSES_EXAMPLE = """For example: options => '{"classes": {"min": 10, "max": 100}}'."""


def option_fields(options: Any) -> dict[str, Any]:
    """Turn the argument ``options`` into fields of `AnonymizeRequest`.

    Parameters
    ----------
    options : dict or None
        Parsed JSON: ``diversity``, ``distance``, ``suppressed_rows``, ``same_level``, ``subsets``,
        ``over_time``, ``remember``, ``rows``, ``figures``, ``secret`` and ``classes``, the last with ``min``
        and ``max`` or with ``exact``. A null stands for a key that is not given.

    Returns
    -------
    dict
        The fields that were given; their values are checked with the request.

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
    check_keys("Options", options, OPTIONS, _EXAMPLE)
    given = {name: value for name, value in options.items() if value is not None}
    classes = given.pop("classes", None)
    return given if classes is None else given | _class_fields(classes)


def field_options(fields: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the argument ``options`` that says what some fields of the request say.

    Parameters
    ----------
    fields : dict
        Fields of `AnonymizeRequest`; None where nothing is given.

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
    check_keys("Option classes", classes, _CLASS_LIMITS, _CLASSES_EXAMPLE)
    given = {name: value for name, value in classes.items() if value is not None}
    if "exact" in given:
        if len(given) > 1:
            raise InputError(
                "Option classes has exact beside min or max.", hint="Give either exact, or min and max."
            )
        return {"fewest_classes": given["exact"], "most_classes": given["exact"]}
    return {_FIELDS_OF_LIMITS[name]: value for name, value in given.items()}


@dataclass(frozen=True, slots=True)
class AnonymizeRequest:
    """The arguments of ``kanon_anonymize``."""

    relation: OwnRelation
    """The base relation, as SQL writes it."""
    k: Annotated[int, Argument("integer", "Fewest people who share their values, at least 2.")]
    quasi_identifiers: QuasiIdentifiers = None
    sensitive: Sensitive = None
    method: Annotated[str, Argument("text", "How to solve; see the page on arguments.")] = "auto"
    """One of `kanon_pg.core.solving.METHODS`."""
    l: Annotated[  # noqa: E741 - the field's standard name, fixed by the SQL surface
        int | None, Argument("integer", "l-diversity of the sensitive columns, at least 2.")
    ] = None
    p: Annotated[
        int | None, Argument("integer", "Fewest different sensitive values in a class, at least 2.")
    ] = None
    t: Annotated[
        float | None,
        Argument("double precision", "t-closeness of the sensitive columns, from 0 to less than 1."),
    ] = None
    """`l`, `p`, `t`: privacy models on the sensitive columns, see
    `kanon_pg.core.privacy_models.PrivacyModels`."""
    patterns: Annotated[
        list[Any] | dict[str, Any] | None,
        Argument(
            "jsonb",
            "Which columns may be suppressed together: a list of patterns, or an object of constraints.",
        ),
    ] = None
    """Allowed pattern vectors or constraints, see `kanon_pg.worker.patterns`."""
    hierarchies: Annotated[Any, Argument("jsonb", "Object: column to the name of a stored hierarchy.")] = None
    """Hierarchies of quasi-identifiers, see `kanon_pg.release.plan.generalized.parse_hierarchies`."""
    time_limit: Annotated[
        float,
        Argument("interval", "How long to search for something better; what is found by then counts."),
    ] = DEFAULT_SECONDS
    """Seconds for the search for better solutions, > 0; counting, a first solution and publishing take
    what they take."""
    release: Annotated[str | None, Argument("text", "Name of the view, if not that of the table.")] = None
    """Name of the view in schema ``safe``, see `kanon_pg.release.plan.record.name_to_publish`; the
    relation's name unless given."""
    seed: Seed = None
    tables: Annotated[
        Sequence[str] | None,
        Argument("regclass[]", "Tables that are linked to it (kanon_link), to be published with it."),
    ] = None
    pseudonyms: Annotated[
        Sequence[str] | None, Argument("name[]", "Keys that are published as pseudonyms.")
    ] = None
    diversity: str | None = None
    """Meaning of `l`, a name of `kanon_pg.core.privacy_models.DIVERSITIES`; 'frequency' unless given."""
    distance: str | None = None
    """Ground distance of `t`, a name of `kanon_pg.core.privacy_models.DISTANCES`; 'equal' unless given."""
    fewest_classes: int | None = None
    most_classes: int | None = None
    """`fewest_classes`, `most_classes`: limits for the number of classes, >= 1."""
    suppressed_rows: float | None = None
    """Largest share of fully suppressed rows, 0 to 1; for method ``full_domain``."""
    same_level: Sequence[str] | None = None
    """Columns of `hierarchies` whose cells have one level each, in all classes, or are suppressed."""
    subsets: int | None = None
    """Of how many quasi-identifiers every combination is shared by k people, >= 1; all of them unless
    given."""
    over_time: dict[str, Any] | None = None
    """Rules of a release whose versions may be compared, see `kanon_pg.release.plan.over_time.OverTime`."""
    remember: int | None = None
    """Versions that are remembered for `kanon_pg.release.compare.composition`, the latest included, >= 1."""
    rows: dict[str, Any] | None = None
    """Per linked table ``"unknown"`` if nobody can know how many rows a person has there, or how many are
    shown at most."""
    figures: dict[str, Any] | None = None
    """Per linked table and quasi-identifier what of it becomes a figure of the person, see
    `kanon_pg.release.linked.figures`."""
    secret: str | None = None
    """Name of a secret by which several releases have the same pseudonyms."""

    @property
    def requested_hierarchies(self) -> tuple[HierarchyRequest, ...]:
        """The hierarchies requested for columns."""
        return parse_hierarchies(self.hierarchies)

    @property
    def models(self) -> PrivacyModels:
        """What every class must satisfy besides k-anonymity."""
        return PrivacyModels.of({one.name: getattr(self, one.name) for one in fields(self)})

    def check(self) -> None:
        """Refuse what is wrong whatever the database holds."""
        check_k(self.k)
        check_search(self.method, self.time_limit, self.seed)
        _check_models(self)
        _check_classes(self)
        _check_suppressed_rows(self)
        parse_hierarchies(self.hierarchies)
        _check_over_time(self)
        _check_same_level(self)
        _check_subsets(self)
        if self.remember is not None:
            check_whole("Option remember", self.remember, 1, _REMEMBER_EXAMPLE, most=_MOST_VERSIONS)
        _check_tables(self)


ANONYMIZE = Operation(
    AnonymizeRequest,
    options=Spread(
        "jsonb",
        "Object: diversity, distance, classes, suppressed_rows, same_level, subsets, over_time, remember, "
        "rows, figures, secret.",
        fields=option_fields,
        value=field_options,
    ),
)


@dataclass(frozen=True, slots=True)
class DeclareRequest:
    """The arguments of ``kanon_declare``; None stands for no column."""

    relation: OwnRelation
    identifiers: Annotated[Sequence[str] | None, Argument("name[]", "Name a person; never published.")] = ()
    quasi_identifiers: Annotated[
        Sequence[str] | None, Argument("name[]", "Can be linked with other sources.")
    ] = ()
    sensitive: Annotated[
        Sequence[str] | None,
        Argument("name[]", "Must not be learned about a person; published unchanged."),
    ] = ()
    insensitive: Annotated[
        Sequence[str] | None, Argument("name[]", "Tell nothing about a person; published unchanged.")
    ] = ()
    entity: Annotated[
        str | None, Argument("name", "Names the person, where a person may have several rows.")
    ] = None
    weights: Annotated[
        Mapping[str, float] | None,
        Argument("jsonb", "Object: cost of a suppressed cell per column, 1 where not mentioned."),
    ] = None
    """Cost of a suppressed cell per column, > 0; 1 where not mentioned."""


DECLARE = Operation(DeclareRequest)


def recorded_arguments(request: AnonymizeRequest) -> dict[str, Any]:
    """Return all arguments of a call but for what only builders of hierarchies read: curators see the record.

    Examples
    --------
    >>> asked = {"age": {"builder": "intervals", "cuts": [18, 65], "lowest": 1}}
    >>> recorded_arguments(AnonymizeRequest("patients", 5, hierarchies=asked))["hierarchies"]
    {'age': {'builder': 'intervals', 'lowest': 1, 'loss': 'ncp'}}
    """
    hierarchies = {
        one.column: (
            {"hierarchy": one.hierarchy} if one.builder is None else {"builder": one.builder["builder"]}
        )
        | {"lowest": one.lowest, "loss": one.loss}
        for one in request.requested_hierarchies
    }
    return asdict(request) | {"hierarchies": None if request.hierarchies is None else hierarchies}


_EXAMPLES = {
    "l": "l => 3 lets no sensitive value have more than a third of a class.",
    "p": "p => 2 demands two different sensitive values in each class.",
    "t": "It is the greatest distance of a class from the whole table, for example t => 0.2.",
}

require_each("examples of parameters", _EXAMPLES, MODEL_PARAMETERS)
require_each(
    "arguments of kanon_anonymize",
    {one.name for one in fields(AnonymizeRequest)} & {*MODEL_PARAMETERS, *MODEL_OPTIONS},
    {*MODEL_PARAMETERS, *MODEL_OPTIONS},
)


def _check_models(request: AnonymizeRequest) -> None:
    """Refuse privacy models that make no sense whatever the table holds."""
    for name, parameter in MODEL_PARAMETERS.items():
        value, least = getattr(request, name), parameter.weakest
        if value is None:
            continue
        if least is not None:
            check_whole(name, value, least, _EXAMPLES[name])
        elif not (is_number(value) and 0 <= value < 1):
            raise InputError(f"{name} must be a number of at least 0 and less than 1.", hint=_EXAMPLES[name])
    for option, choices in MODEL_OPTIONS.items():
        parameters = {one.parameter for asking in MODELS.values() for one in asking if one.option == option}
        for of in sorted(parameters):
            given = getattr(request, of) is not None
            _require_choice(option, getattr(request, option), choices, of=of, given=given)
    if request.sensitive is not None and not request.sensitive:
        require_sensitive(request, ())


def require_sensitive(request: AnonymizeRequest, sensitive: Sequence[object]) -> None:
    """Refuse a privacy model without a sensitive column that it could constrain.

    Parameters
    ----------
    sensitive : sequence
        The sensitive columns, given or declared.

    Raises
    ------
    InputError
        If there are none.
    """
    for name in MODEL_PARAMETERS:
        if getattr(request, name) is not None and not sensitive:
            raise InputError(
                f"Argument {name} is about sensitive columns, but there are none.",
                hint="Name them, for example sensitive => '{diagnosis}', or declare them.",
            )


def _check_classes(request: AnonymizeRequest) -> None:
    """Refuse limits for the number of classes that make no sense."""
    fewest, most = request.fewest_classes, request.most_classes
    if fewest is not None:
        check_whole("The least number of classes", fewest, 1, _CLASSES_EXAMPLE)
    if most is not None:
        check_whole("The largest number of classes", most, 1, _CLASSES_EXAMPLE)
    if fewest is not None and most is not None and fewest > most:
        raise InputError(
            f"At least {fewest} classes and at most {most} classes contradict each other.",
            hint=_CLASSES_EXAMPLE,
        )


def _check_suppressed_rows(request: AnonymizeRequest) -> None:
    """Refuse a largest share of suppressed rows that is no share, or that the method does not know."""
    share = request.suppressed_rows
    if share is None:
        return
    check_share(
        "Option suppressed_rows",
        share,
        "It is the largest share of rows in which everything is suppressed, for example 0.05.",
    )
    if request.method != "full_domain":
        raise InputError(
            "Option suppressed_rows is for method full_domain.",
            hint="Other methods suppress what costs least; leave the option out.",
        )


_ROWS_EXAMPLE = """For example: options => '{"rows": {"lab_results": "unknown", "admissions": 5}}'."""


_TABLES_EXAMPLES = {
    "rows": _ROWS_EXAMPLE,
    "figures": """For example: options => '{"figures": {"admissions": {"admitted": "first"}}}'.""",
}


def _check_tables(request: AnonymizeRequest) -> None:
    """Refuse what linked tables and pseudonyms cannot have."""
    for name in ("rows", "figures"):
        given = getattr(request, name)
        if given is None:
            continue
        if not (request.tables or request.pseudonyms):
            raise InputError(
                f"Option {name} is about linked tables, of which none is named.",
                hint="Name them: tables => '{...}'.",
            )
        if not isinstance(given, Mapping):
            raise InputError(f"Option {name} must be an object of tables.", hint=_TABLES_EXAMPLES[name])
    for most in (request.rows or {}).values():
        if most != "unknown":
            check_whole('What is not "unknown" in option rows', most, 1, _ROWS_EXAMPLE)
    if request.secret is not None:
        if not isinstance(request.secret, str) or not request.secret:
            raise InputError("Option secret must be the name of a secret.", hint='For example: "study".')
        if not (request.tables or request.pseudonyms):
            raise InputError(
                "Option secret is about pseudonyms, of which there are none.",
                hint="Name keys: pseudonyms => '{...}'.",
            )
    for name in ("tables", "pseudonyms"):
        given = getattr(request, name)
        if given and any(one is None for one in given):
            raise InputError(f"A name in {name} is NULL.", hint="Leave it out.")
        if given and (request.over_time is not None or request.remember is not None):
            raise InputError(
                f"{name} cannot be given with option over_time or remember: pseudonyms would tell which rows "
                "of two "
                "versions are the same person's.",
                hint="Publish anew with kanon_anonymize; each publication has pseudonyms of its own.",
            )


def _check_over_time(request: AnonymizeRequest) -> None:
    """Refuse rules of a release over time that make no sense, or that one batch of it cannot keep."""
    if parse_over_time(request.over_time) is None:
        return
    if request.fewest_classes is not None or request.most_classes is not None:
        raise InputError(
            "A release over time gets new classes with each version, so option classes cannot bound them.",
            hint="Leave out either classes or over_time.",
        )


def _check_same_level(request: AnonymizeRequest) -> None:
    """Refuse names of what has no levels, and releases over time: each batch would have levels of its own."""
    names = request.same_level
    if names is None:
        return
    known = {one.column for one in parse_hierarchies(request.hierarchies)}
    is_list = isinstance(names, list | tuple) and bool(names)
    # numbers of rows of linked tables have a hierarchy, too: the solver knows all of them
    if not is_list or not (request.tables or known >= set(map(str, names))):
        raise InputError(
            "Option same_level must be a list of columns that have a hierarchy.",
            hint="""For example: '{"same_level": ["age"]}' beside hierarchies => '{"age": "ages"}'.""",
        )
    if request.over_time is not None:
        raise InputError(
            "A release over time gets new classes with each version, which may need other levels.",
            hint="Leave out either same_level or over_time.",
        )


_SUBSETS_EXAMPLE = """For example: options => '{"subsets": 3}'."""
_BESIDE_SUBSETS = (
    *MODEL_PARAMETERS, "fewest_classes", "most_classes", "hierarchies", "patterns", "over_time", "remember",
    "tables", "pseudonyms",
)  # fmt: skip
"""What speaks of classes by all quasi-identifiers, or of cells that are not only shown or suppressed."""


def _check_subsets(request: AnonymizeRequest) -> None:
    """Refuse a number of columns that is none, and what does not go with it."""
    if request.subsets is None:
        return
    check_whole("Option subsets", request.subsets, 1, _SUBSETS_EXAMPLE, most=MAX_COLUMNS)
    given = [name for name in _BESIDE_SUBSETS if getattr(request, name) is not None]
    given = [name for name in given if name not in ("tables", "pseudonyms") or getattr(request, name)]
    given += ["method"] if request.method != "auto" else []
    if given:
        raise InputError(
            f"Option subsets cannot be given together with {in_words(given)}.",
            hint="Leave out one of them. Without subsets, k people share all quasi-identifiers.",
        )


def _require_choice(name: str, value: Any, choices: Sequence[str], *, of: str, given: bool) -> None:
    if value is None:
        return
    check_choice(name, value, choices)
    if not given:
        raise InputError(
            f"Option {name} says what {of} means, but {of} is not given.",
            hint=f"Give {of} too, or leave {name} out.",
        )
