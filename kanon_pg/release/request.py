"""What a data owner asks for, checked before anything is read.

The argument ``hierarchies`` names hierarchies of columns, how fine these may be published, what levels cost.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any

from kanon_pg.core.request import METHODS, PrivacyModels
from kanon_pg.db.identifiers import Identifier
from kanon_pg.db.operation import Argument, Operation, Spread
from kanon_pg.errors import InputError, UnknownName
from kanon_pg.release.models import (
    check_classes,
    check_models,
    check_suppressed_rows,
    field_options,
    option_fields,
)

LOSSES = ("ncp", "levels")
"""Names of losses: the share of values that a node stands for, and the share of the height."""

_EXAMPLE = """For example: hierarchies => '{"age": "ages", "zip": {"hierarchy": "zips", "lowest": 1}}'."""
_LOSS_HINT = (
    'Give "ncp", "levels", or one number per level from 0 to the top: not falling, the last one 1, '
    "for example [0, 0.2, 0.6, 1]."
)


@dataclass(frozen=True, slots=True)
class HierarchyWish:
    """What is asked for one column.

    Parameters
    ----------
    column : str
        Name of the quasi-identifier.
    hierarchy : str or None
        Name of a stored hierarchy.
    builder : mapping or None
        How to build one from the column instead; exactly one of the two is given.
    lowest : int
        Finest level at which a cell may be published, >= 0.
    loss : str or tuple of float
        One of `LOSSES`, or the loss of a cell per level: 0 to 1, not falling, the last one 1.
    """

    column: str
    hierarchy: str | None = None
    builder: Mapping[str, Any] | None = None
    lowest: int = 0
    loss: str | tuple[float, ...] = "ncp"


def parse_hierarchies(argument: Any) -> tuple[HierarchyWish, ...]:
    """Read the argument ``hierarchies`` as far as that needs no database.

    Parameters
    ----------
    argument : dict or None
        Parsed JSON: column -> name of a stored hierarchy, or an object with ``hierarchy`` or ``builder``,
        and optionally ``lowest`` and ``loss``; further keys belong to the builder.

    Returns
    -------
    tuple of HierarchyWish
        In the order given; empty for None.

    Raises
    ------
    InputError
        With the column, for the first wish that cannot be understood.
    """
    if argument is None:
        return ()
    if not isinstance(argument, Mapping):
        raise InputError("Argument hierarchies must be a JSON object of columns.", hint=_EXAMPLE)
    return tuple(_wish(column, asked) for column, asked in argument.items())


def _wish(column: str, asked: Any) -> HierarchyWish:
    quoted = Identifier.of(column)
    if isinstance(asked, str):
        asked = {"hierarchy": asked}
    if not isinstance(asked, Mapping):
        raise InputError(
            f"The hierarchy of column {quoted} is neither a name nor a JSON object.", hint=_EXAMPLE
        )
    named, built = asked.get("hierarchy"), asked.get("builder")
    if (named is None) == (built is None):
        raise InputError(
            f"Column {quoted} needs either the name of a stored hierarchy or a builder.", hint=_EXAMPLE
        )
    if not isinstance(built if named is None else named, str):
        raise InputError(f"The name of the hierarchy of column {quoted} is no text.", hint=_EXAMPLE)
    rest = {key: value for key, value in asked.items() if key not in ("hierarchy", "lowest", "loss")}
    if named is not None and set(rest) - {"builder"}:
        raise InputError(
            f"The stored hierarchy of column {quoted} takes lowest and loss, and nothing else.", hint=_EXAMPLE
        )
    return HierarchyWish(
        column=column,
        hierarchy=named,
        builder=rest if named is None else None,
        lowest=_lowest(quoted, asked.get("lowest")),
        loss=_loss(quoted, asked.get("loss")),
    )


def _lowest(column: Identifier, lowest: Any) -> int:
    if lowest is None:
        return 0
    if not isinstance(lowest, int) or isinstance(lowest, bool) or lowest < 0:
        raise InputError(
            f"The lowest level of column {column} is not a whole number of at least 0.",
            hint="Level 0 publishes values, level 1 at least their nodes.",
        )
    return lowest


def _loss(column: Identifier, loss: Any) -> str | tuple[float, ...]:
    if loss is None:
        return "ncp"
    if isinstance(loss, str) and loss in LOSSES:
        return loss
    if not isinstance(loss, Sequence) or isinstance(loss, str) or not _is_scale(loss):
        raise InputError(f"The loss of column {column} is not one of those there are.", hint=_LOSS_HINT)
    return tuple(float(number) for number in loss)


def _is_scale(losses: Sequence[Any]) -> bool:
    if not all(isinstance(n, int | float) and not isinstance(n, bool) and math.isfinite(n) for n in losses):
        return False
    rising = all(low <= high for low, high in pairwise(losses))
    return len(losses) >= 2 and rising and losses[0] >= 0 and losses[-1] == 1


DEFAULT_SECONDS = 30.0
"""Default time limit of a search for better solutions."""

AnyRelation = Annotated[str | None, Argument("regclass", "Any table, view or release that you may read.")]
QuasiIdentifiers = Annotated[Sequence[str] | None, Argument("name[]", "In place of the declared ones.")]
Seed = Annotated[int | None, Argument("integer", "Breaks ties at random, reproducibly.")]
TimeLimit = Annotated[float, Argument("interval", "How long to search; what is not proven by then is said.")]


@dataclass(frozen=True, slots=True)
class AnonymizeRequest:
    """The arguments of ``kanon_anonymize``.

    Parameters
    ----------
    relation : str
        The base relation, as SQL writes it.
    method : str
        One of `kanon_pg.core.request.METHODS`.
    l, p, t : optional
        Privacy models on the sensitive columns, see `kanon_pg.core.request.PrivacyModels`.
    patterns : list or dict, optional
        Allowed pattern vectors or wishes, see `kanon_pg.worker.patterns`.
    hierarchies : dict, optional
        Hierarchies of quasi-identifiers, see `kanon_pg.release.request.parse_hierarchies`.
    time_limit : float
        Seconds for the search for better solutions, > 0; counting, a first solution and publishing take
        what they take.
    release : str, optional
        Name of the view in schema ``safe``; the relation's name unless given.
    diversity : str, optional
        Meaning of `l`, a name of `kanon_pg.core.request.DIVERSITIES`; 'frequency' unless given.
    distance : str, optional
        Ground distance of `t`, a name of `kanon_pg.core.request.DISTANCES`; 'equal' unless given.
    fewest_classes, most_classes : int, optional
        Limits for the number of classes, >= 1.
    suppressed_rows : float, optional
        Largest share of fully suppressed rows, 0 to 1; for method ``full_domain``.
    """

    relation: Annotated[str, Argument("regclass", "Table or view, as SQL writes it.")]
    k: Annotated[int, Argument("integer", "Fewest people who share their values, at least 2.")]
    quasi_identifiers: QuasiIdentifiers = None
    sensitive: Annotated[Sequence[str] | None, Argument("name[]", "In place of the declared ones.")] = None
    method: Annotated[str, Argument("text", "How to solve; see the page on arguments.")] = "auto"
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
    patterns: Annotated[
        list[Any] | dict[str, Any] | None,
        Argument(
            "jsonb",
            "Which columns may be suppressed together: a list of patterns, or an object of wishes.",
        ),
    ] = None
    hierarchies: Annotated[Any, Argument("jsonb", "Object: column to the name of a stored hierarchy.")] = None
    time_limit: Annotated[
        float,
        Argument("interval", "How long to search for something better; what is found by then counts."),
    ] = DEFAULT_SECONDS
    release: Annotated[str | None, Argument("name", "Name of the view, if not that of the table.")] = None
    seed: Seed = None
    diversity: str | None = None
    distance: str | None = None
    fewest_classes: int | None = None
    most_classes: int | None = None
    suppressed_rows: float | None = None

    @property
    def wishes(self) -> tuple[HierarchyWish, ...]:
        """What is asked for generalized columns."""
        return parse_hierarchies(self.hierarchies)

    @property
    def models(self) -> PrivacyModels:
        """What every class must satisfy beside k-anonymity."""
        usual = PrivacyModels()
        return PrivacyModels(
            l=self.l,
            diversity=usual.diversity if self.diversity is None else self.diversity,
            p=self.p,
            t=self.t,
            distance=usual.distance if self.distance is None else self.distance,
        )

    def check(self) -> None:
        """Refuse arguments that are wrong whatever the database holds.

        Raises
        ------
        InputError
            With a sentence for the first argument that is wrong.
        """
        check_k(self.k)
        check_search(self.method, self.time_limit, self.seed)
        check_models(self)
        check_classes(self)
        check_suppressed_rows(self)
        parse_hierarchies(self.hierarchies)


ANONYMIZE = Operation(
    AnonymizeRequest,
    options=Spread(
        "jsonb",
        "Object: diversity, distance, classes, suppressed_rows.",
        fields=option_fields,
        value=field_options,
    ),
)


def check_search(method: str, time_limit: float | None, seed: int | None) -> None:
    """Refuse an unknown method, a time limit that is no time, and a negative seed.

    Raises
    ------
    InputError
        With a sentence for the first of them that is wrong.
    """
    if method not in METHODS:
        raise UnknownName("There is no such method.", hint="Choose one of: " + ", ".join(METHODS) + ".")
    if time_limit is None or not math.isfinite(time_limit) or time_limit <= 0:
        raise InputError(
            "time_limit must be a positive interval.", hint="For example: time_limit => '30 seconds'."
        )
    if seed is not None and seed < 0:
        raise InputError("seed must not be negative.", hint="Any other integer does, for example 1.")


def check_k(k: Any) -> None:
    """Refuse a k that is no integer or less than 2.

    Raises
    ------
    InputError
        With a sentence for what is wrong.
    """
    if k is None:
        raise InputError("k is NULL.", hint="Give the fewest people a class may have, for example 5.")
    if not isinstance(k, int) or isinstance(k, bool):
        raise InputError(
            "k must be an integer.", hint="Give the fewest people a class may have, for example 5."
        )
    if k < 2:
        raise InputError(
            f"k must be at least 2, not {k}.",
            hint="With k = 1 every row could be published as it is; 5 is a common choice.",
        )
