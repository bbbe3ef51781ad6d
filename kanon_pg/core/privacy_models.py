"""The privacy models that there are, what asks for each of them, and rules that leave none of them out.

A place that acts on privacy models names none of them in a condition: it has a rule for each in
`ModelRules`, and asks `PrivacyModels.demands` which ones are wanted. A model without a rule somewhere is an
error when that place is imported, or at the latest when it is asked for; none goes unenforced.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, Generic, NamedTuple, TypeVar

from kanon_pg.errors import DEFECT, SolverError, UnknownName

Rule = TypeVar("Rule")


class AskedBy(NamedTuple):
    """A parameter of `PrivacyModels` that asks for a model, if an option has a choice where several can."""

    parameter: str
    option: str | None = None
    choice: str | None = None


MODELS: dict[str, tuple[AskedBy, ...]] = {
    "distinct": (AskedBy("p"), AskedBy("l", "diversity", "distinct")),
    "frequency": (AskedBy("l", "diversity", "frequency"),),
    "entropy": (AskedBy("l", "diversity", "entropy"),),
    "equal": (AskedBy("t", "distance", "equal"),),
    "ordered": (AskedBy("t", "distance", "ordered"),),
}
"""All privacy models and what asks for them; the larger number counts where several do."""


class ModelParameter(NamedTuple):
    """A number that asks for a model."""

    sql_type: str
    weakest: int | None
    """The number that demands least, where smaller ones demand less; None where larger ones do."""
    what: str
    """What it means for a sensitive column of a release, for the comment of a view."""


MODEL_PARAMETERS: dict[str, ModelParameter] = {
    "l": ModelParameter("integer", 2, "The l of l-diversity that every class has in each sensitive column"),
    "p": ModelParameter(
        "integer", 2, "Different values that every class has at least in each sensitive column"
    ),
    "t": ModelParameter(
        "double precision", None, "The t of t-closeness that every class keeps in each sensitive column"
    ),
}
"""The parameters of `PrivacyModels` any of which asks for a model."""

DIVERSITIES = ("frequency", "entropy", "distinct")
"""Meanings of l: no value more often than 1/l, entropy of at least log l, at least l distinct values."""

DISTANCES = ("equal", "ordered")
"""Ground distances of t-closeness: all values equally far, or by rank."""

MODEL_OPTIONS = {"diversity": DIVERSITIES, "distance": DISTANCES}
"""Options of `PrivacyModels` and their choices."""


class ModelDemand(NamedTuple):
    """A model that is asked for, and with which number."""

    model: str
    number: float


@dataclass(frozen=True, slots=True)
class PrivacyModels:
    """What every class must satisfy besides k-anonymity, for each sensitive column."""

    l: int | None = None  # noqa: E741 - the field's standard name
    """l-diversity (Machanavajjhala et al. 2007), >= 2."""
    diversity: str = "frequency"
    """Which one, a name of `DIVERSITIES`; 'frequency' is that of Bredereck et al. (2014), section 4.3."""
    p: int | None = None
    """p-sensitivity (Truta and Vinay 2006): at least p distinct values, >= 2."""
    t: float | None = None
    """t-closeness (Li, Li and Venkatasubramanian 2007): greatest earth mover's distance between the values of
    a class and those of the whole table, 0 <= t < 1."""
    distance: str = "equal"
    """Ground distance of t-closeness, a name of `DISTANCES`; 'ordered' needs numeric values."""

    def __bool__(self) -> bool:
        return any(getattr(self, name) is not None for name in MODEL_PARAMETERS)

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> PrivacyModels:
        """Return the models that some arguments ask for; None asks for nothing."""
        names = [one.name for one in fields(cls)]
        return cls(**{name: given[name] for name in names if given.get(name) is not None})

    def demands(self) -> tuple[ModelDemand, ...]:
        """Return the models that are asked for.

        Raises
        ------
        UnknownName
            An option names no model of its parameter.
        """
        found = []
        unmet = {name for name in MODEL_PARAMETERS if getattr(self, name) is not None}
        wanted = set(unmet)
        for model, asking in MODELS.items():
            numbers = [
                getattr(self, one.parameter)
                for one in asking
                if one.parameter in wanted and (one.option is None or getattr(self, one.option) == one.choice)
            ]
            if numbers:
                found.append(ModelDemand(model, max(numbers)))
                unmet -= {
                    one.parameter
                    for one in asking
                    if one.option is None or getattr(self, one.option) == one.choice
                }
        for name in sorted(unmet):
            raise UnknownName(
                f"No privacy model is what {name} asks for.",
                hint="Options are: "
                + "; ".join(f"{option}: {', '.join(choices)}" for option, choices in MODEL_OPTIONS.items()),
            )
        return tuple(found)


class ModelRules(Generic[Rule]):
    """What one place does about each model of `MODELS`.

    Parameters
    ----------
    place : str
        What the rules are for, in words.
    rules : mapping
        Rule of each model; that a place does nothing about a model it says by None.

    Raises
    ------
    TypeError
        A model has no rule, or a rule is of no model: whoever added the one forgot the other.
    """

    def __init__(self, place: str, rules: Mapping[str, Rule]) -> None:
        require_each(place, rules, MODELS)
        self.place, self._rules = place, dict(rules)
        PLACES[place] = self

    def __getitem__(self, model: str) -> Rule:
        if model not in self._rules:
            raise SolverError(f"There is no rule for {self.place} under {model}.", hint=DEFECT)
        return self._rules[model]

    def of(self, models: PrivacyModels) -> Iterator[tuple[Rule, float]]:
        """Yield the rules of the models that are asked for, with their numbers.

        Raises
        ------
        SolverError
            One of them has no rule.
        """
        for demand in models.demands():
            yield self[demand.model], demand.number


PLACES: dict[str, ModelRules[Any]] = {}
"""The places that were imported."""


def require_each(place: str, rules: Iterable[str], known: Iterable[str]) -> None:
    """Refuse rules that are not for exactly what there is.

    Raises
    ------
    TypeError
        With the names of which there is one and not the other.
    """
    odd = sorted(set(rules) ^ set(known))
    if odd:
        raise TypeError(f"rules for {place}: there is a rule or a definition of {', '.join(odd)}, not both")


def _require_closed() -> None:
    """Refuse parameters and options that ask for no model, and choices of which none is a model."""
    asking = [one for every in MODELS.values() for one in every]
    read = {one.parameter for one in asking} | {one.option for one in asking if one.option is not None}
    choices = {(one.option, one.choice) for one in asking if one.option is not None}
    known = {(option, choice) for option, of_it in MODEL_OPTIONS.items() for choice in of_it}
    declared = {one.name for one in fields(PrivacyModels)}
    if declared != read or declared != {*MODEL_PARAMETERS, *MODEL_OPTIONS} or choices != known:
        raise TypeError("parameters and options of privacy models and what asks for models are not the same")


_require_closed()
