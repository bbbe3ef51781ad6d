"""What a release promises, what it does not, and what is proven, for readers who do not know this package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kanon_pg.core.privacy_models import ModelRules, PrivacyModels
from kanon_pg.core.termination import Termination
from kanon_pg.db.protocol import Row
from kanon_pg.errors import in_words
from kanon_pg.release.plan.record import ReleaseRecord

MODELS: ModelRules[str] = ModelRules(
    "the sentences of a report",
    {
        "distinct": "In each class {columns} has at least {number:g} different values.",
        "frequency": "In each class no value of {columns} is that of more than 1 in {number:g} rows.",
        "entropy": "In each class the values of {columns} are as mixed as {number:g} equally frequent ones "
        "(entropy l-diversity).",
        "equal": "The values of {columns} in each class are distributed as in the whole table, up to a share "
        "of {number:g} (t-closeness).",
        "ordered": "The values of {columns} in each class are distributed as in the whole table, up to "
        "{number:g} of the way from the lowest to the highest (t-closeness).",
    },
)


def guarantee(
    record: ReleaseRecord, models: PrivacyModels, parameters: Mapping[str, Any], tables: Sequence[Row] = ()
) -> list[str]:
    """Return what is guaranteed, also of the further tables of linked ones."""
    people = (
        "Each row counts as a person."
        if record.entity is None
        else f"People, not rows, are counted: {record.entity} tells them apart."
    )
    columns, few = _named(record.quasi_identifiers), record.subsets
    known = columns if few is None else f"no more than {few} of {columns}"
    sentences = [
        f"Whoever knows {known} of a person finds at least {record.k} people in "
        "the release who look the same by these columns: every combination of their values, suppressed cells "
        f"included, is shared by at least {record.k} people.",
        people,
        "This is counted again by the release itself each time that it is refreshed; rows that would be in "
        "a smaller class are withheld.",
    ]
    constrained = [*record.sensitive]
    constrained += [f"{column} of {table['view']}" for table in tables for column in table["sensitive"]]
    if constrained:
        columns = "each of " + _named(tuple(constrained)) if len(constrained) > 1 else constrained[0]
        sentences += [rule.format(columns=columns, number=number) for rule, number in MODELS.of(models)]
    if record.generalized:
        sentences.append(f"{_named(record.generalized)} may be shown coarser, by a hierarchy.")
    for table in tables:
        known = (
            f"how many rows a person has there is part of what the {record.k} people share."
            if table["numbers_known"]
            else "that nobody can know how many rows a person has there was declared."
        )
        sentences.append(
            f"{table['view']} shows rows of these people alone, with pseudonyms as keys; {known}"
        )
    if parameters.get("over_time") is not None:
        sentences.append(
            f"It is a release over time: in any comparison of its versions everybody is among {record.k} "
            "people."
        )
    return sentences


def not_promised(
    record: ReleaseRecord, models: PrivacyModels, parameters: Mapping[str, Any], tables: Sequence[Row] = ()
) -> list[str]:
    """Return what is not guaranteed, also of the further tables of linked ones."""
    sentences = (
        []
        if record.subsets is None
        else [f"Whoever knows more than {record.subsets} of these columns may find a person alone."]
    )
    sentences += [
        f"{_named(unchanged)} of {table['view']} can be read for all rows of a person together: who knows "
        "some of them may find the person."
        for table in tables
        if (unchanged := (*table["sensitive"], *table["insensitive"]))
    ]
    if record.sensitive and not models:
        sentences.append(
            f"Everybody in a class may have the same value of {_named(record.sensitive)}: then whoever finds "
            "the class learns it. No privacy model (l, p, t) was asked for."
        )
    if record.sensitive or record.insensitive:
        sentences.append(
            f"{_named((*record.sensitive, *record.insensitive))} {_is(record)} published as in the table: "
            "whoever knows a value of a person may find the row by it."
        )
    sentences.append("Whoever knows more of a person than these columns say may exclude others of the class.")
    if parameters.get("over_time") is None:
        sentences.append(
            "Several releases of the table, or versions of this one, may tell more together than each alone: "
            "SELECT * FROM kanon_composition(...) counts it for releases that are remembered."
        )
    sentences.append(
        "This report tells figures of the table. Two reports, made before and after a change of it, can be "
        "compared like two releases: hand out one."
    )
    return sentences


def proof(facts: Row) -> dict[str, Any]:
    """Return what is proven about the cost of a release, with a sentence that says it."""
    cost, bound = facts["weighted_cost"], facts["lower_bound"]
    if facts["optimal"]:
        words = f"Proven: no release with these rules costs less than this one, {cost:,.6g}."
    elif bound is None:
        words = f"This release costs {cost:,.6g}; nothing is proven about how little could suffice."
    else:
        words = (
            f"This release costs {cost:,.6g}; proven: every release with these rules costs at least "
            f"{bound:,.6g}, so that at most {facts['gap'] or 0:.1%} of its cost could be avoided."
        )
    if facts["refreshed_at"] is not None:
        words = f"Of what was published first, not of what was refreshed since: {words}"
    ended = None if facts["termination"] is None else Termination(facts["termination"]).words
    return {
        "sentence": f"{words} A suppressed cell costs the weight of its column, 1 unless declared; a "
        "generalized cell a part of that.",
        "cost": cost,
        "lower_bound": bound,
        "gap": facts["gap"],
        "optimal": facts["optimal"],
        "method": facts["method"],
        "bound_method": facts["bound_method"],
        "search": ended,
    }


def _named(columns: tuple[str, ...], most: int = 12) -> str:
    return in_words(columns) if len(columns) <= most else in_words((*columns[:most], "others"))


def _is(record: ReleaseRecord) -> str:
    return "is" if len(record.sensitive) + len(record.insensitive) == 1 else "are"
