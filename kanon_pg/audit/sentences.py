"""An audit in words: counts and shares as a reader expects them, what was found, and what to do next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kanon_pg.audit.findings import AuditResult, ReleaseRisk, ViolatingSet
from kanon_pg.db.identifiers import Literal, array_element
from kanon_pg.errors import in_words

if TYPE_CHECKING:
    from kanon_pg.release.compare.composition import Composition


def percent(share: float) -> str:
    """Return a share with as many decimals as it needs; never 0 or 100 percent unless it is.

    Examples
    --------
    >>> [percent(share) for share in (0, 0.00001, 0.5, 0.123, 0.9999, 1)]
    ['0%', '<0.1%', '50%', '12.3%', '>99.9%', '100%']
    """
    if 0 < share < 0.001:
        return "<0.1%"
    if 0.999 < share < 1:
        return ">99.9%"
    return f"{share:.1%}".replace(".0%", "%")


def counted(amount: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> counted(1, "set"), counted(2000, "person", "people")
    ('1 set', '2,000 people')
    """
    return f"{amount:,} {one if amount == 1 else many or one + 's'}"


_NAMED = 3
"""Sets that are spelled out."""

_NAMED_BESIDE = 1
"""Sets with other columns that are spelled out where sets of declared quasi-identifiers are."""

_KS = (2, 3, 5, 10, 25, 50, 100)
"""Values of k that a curve is proposed for, as far as there are enough people."""

_MOST_IN_A_SENTENCE = 8
"""Columns that a sentence about all of them names."""


@dataclass(frozen=True, slots=True)
class Recommendation:
    """A statement to run, and what it is good for."""

    why: str
    sql: str


def headline(result: AuditResult) -> str:
    """Return the most important sentence: who is singled out by what others are declared to know.

    A risk by other columns leads only where there is none by the declared quasi-identifiers, or no
    declaration.
    """
    if result.is_anonymous:
        but = " but sensitive columns" if result.sensitive else ""
        of = f" of all that is published{but}" if result.release is not None else ""
        return f"Nobody: every combination of values{of} is shared by at least {result.k} people."
    if not result.sets:
        return "Nobody was found so far, but not all sets of columns were looked at."
    combined = result.quasi_identifiers if result.declared else None
    if combined is not None and combined.people_at_risk and combined.columns:
        some = "by the declared" if len(combined.columns) > 1 else "by the only declared"
        kind = _plural("quasi-identifier", len(combined.columns))
        return f"{_share_of(combined.people_at_risk, result)}, {some} {kind}, {_together(combined.columns)}."
    worst = _by_weight(result)[0]
    if not worst.columns:
        return f"Everybody: the whole table has {counted(result.people, 'person', 'people')}."
    if worst.people_at_risk is None:
        return f"Some people, by {_together(worst.columns)}; there was no time to count them."
    who = f"{_share_of(worst.people_at_risk, result)}, by {_together(worst.columns)}"
    nobody = (
        "Nobody by the declared quasi-identifiers, but " if combined is not None and combined.columns else ""
    )
    return f"{nobody}{who[0].lower() if nobody else who[0]}{who[1:]}{_undeclared(worst, result)}."


def sentences(result: AuditResult) -> tuple[str, ...]:
    """Return the findings, the most important first; column names and counts, no values.

    What is declared to be known to others comes before what might be.
    """
    return tuple(_all(result))


def next_steps(result: AuditResult) -> Iterator[Recommendation]:
    """Yield what to do about it, each with the exact SQL."""
    relation, k = Literal(result.relation), result.k
    if result.column_figures and all(column.role is None for column in result.column_figures):
        yield Recommendation(
            "Find out which roles the columns should have.", f"SELECT * FROM kanon_suggest({relation});"
        )
    if result.release is not None and not result.is_anonymous:
        yield Recommendation(
            f"Publish the release again from its table, with k = {k}; this says which table that is.",
            f"SELECT base, k FROM kanon.releases WHERE release = {Literal(result.release)};",
        )
    elif result.sets and not result.releases and result.people >= k:
        ks = ",".join(str(one) for one in sorted({*_KS, k}) if one <= result.people)
        yield Recommendation(
            "See what each k would cost before anything is published.",
            f"SELECT k, suppressed_share, gap FROM kanon_curve({relation}, '{{{ks}}}');",
        )
        yield Recommendation(
            f"Publish a view in which at least {k} people share every combination of values.",
            f"SELECT * FROM kanon_anonymize({relation}, {k});",
        )
    for release in result.releases:
        view = Literal(release.after.relation)
        yield Recommendation(
            f"Test release {release.release} at any time.",
            f"SELECT kanon_is_anonymous({view}, {release.k});",
        )
    if result.not_compared:
        names = ",".join(array_element(one.release) for one in result.releases)
        yield Recommendation(
            "Find out what the releases disclose together before anybody reads more than one of them.",
            f"SELECT * FROM kanon_composition({Literal('{' + names + '}')});",
        )
    if result.together and result.together[0].people_below:
        worst = result.together[0 if len(result.together[0].releases) == 2 else 1].releases[-1]
        yield Recommendation(
            "Publish what readers need as one release, and drop the others.",
            f"SELECT kanon_drop({Literal(worst)});",
        )


def about_not_compared(result: AuditResult) -> str | None:
    """Return which releases were not compared with the others, in a sentence; None if all were."""
    names = result.not_compared
    if not names:
        return None
    if len(names) == len(result.releases):
        which = f"the releases {in_words(names)}"
    else:
        which = f"{in_words(names)} and the other releases"
    return f"Not checked: what {which} disclose together. Nobody knows that it is safe."


def not_counted(result: AuditResult) -> str | None:
    """Return which figures an audit has not, in a sentence; None if it has all."""
    parts = (
        ("what each column contributes", result.column_figures),
        ("how large the groups of alike people are", result.quasi_identifiers),
        ("how likely somebody is found", result.risk),
    )
    missing = tuple(words for words, figures in parts if not figures)
    return f"Not counted: {in_words(missing)}." if missing else None


def about_together(joint: Composition) -> str:
    """Return in a sentence what several releases disclose to who reads all of them."""
    releases = in_words(joint.releases)
    if not joint.people_below:
        disclosed = f"leave nobody among fewer than {joint.k} people"
    else:
        most, least = ("up to ", ", perhaps") if joint.unseen_rows else ("", ",")
        disclosed = (
            f"leave {most}{share_in_words(joint.people_below, joint.people)} among fewer than {joint.k}"
            f"{least} somebody among {joint.smallest}"
        )
    unseen = (
        f"; {counted(joint.unseen_rows, 'row')} of erased people are not known" if joint.unseen_rows else ""
    )
    return f"Side by side, the releases {releases} {disclosed}{unseen}."


def share_in_words(part: int, total: int) -> str:
    """Return a part and its share in words.

    Examples
    --------
    >>> share_in_words(354, 3000)
    '354 of 3,000 people (11.8%)'
    """
    return f"{part:,} of {total:,} people ({percent(part / total)})" if total else f"{part:,} people"


def _all(result: AuditResult) -> Iterator[str]:
    if result.is_anonymous:
        yield (
            f"No combination of the {len(result.columns)} audited columns singles out fewer than "
            f"{result.k} people."
        )
    elif not result.sets:
        yield "No column was found that singles people out."
    if result.declared:
        yield from _about_quasi_identifiers(result)
        yield from _about_risk(result)
        yield from _about_sets(result)
    else:
        yield from _about_sets(result)
        yield from _about_quasi_identifiers(result)
        yield from _about_risk(result)
    for release in result.releases:
        yield _about_release(release)
    if result.together:
        yield about_together(result.together[0])
    not_compared = about_not_compared(result)
    if not_compared is not None:
        yield not_compared
    yield from result.unchecked
    if result.sensitive:
        yield f"Not looked at, as others do not know what is sensitive: {in_words(result.sensitive)}."
    if result.left_out:
        yield f"Nothing is known of {in_words(result.left_out)}: the types have no equality."
    limitation = result.limitation()
    if limitation is not None:
        yield limitation


def _about_sets(result: AuditResult) -> Iterator[str]:
    if not result.sets:
        return
    smallest = result.sets[0]
    if not smallest.columns:
        yield f"The whole table has {result.people:,} people, fewer than {result.k}."
        return
    number = f"{len(result.sets):,} minimal {_plural('set', len(result.sets))} of columns"
    verb = "singles" if len(result.sets) == 1 else "single"
    yield f"{number} {verb} out fewer than {result.k} people."
    if result.minimum is not None:
        count = sum(violation.size == result.minimum for violation in result.sets)
        sets = "The smallest set has" if count == 1 else f"The {count:,} smallest sets have"
        columns = f"{result.minimum} {_plural('column', result.minimum)}"
        yield f"{sets} {columns}; no smaller set singles anybody out."
    known = [violation for violation in _by_weight(result) if violation.people_at_risk is not None]
    own = [violation for violation in known if _is_declared(violation, result)]
    beside = [violation for violation in known if not _is_declared(violation, result)]
    for violation in (*own[:_NAMED], *beside[: _NAMED_BESIDE if own else _NAMED]):
        yield _about_set(violation, result)


def _by_weight(result: AuditResult) -> list[ViolatingSet]:
    """Return the sets, those of declared quasi-identifiers first, then by people at risk."""
    return sorted(
        result.sets,
        key=lambda violation: (
            not _is_declared(violation, result),
            -(violation.people_at_risk or 0),
            violation.size,
        ),
    )


def _is_declared(violation: ViolatingSet, result: AuditResult) -> bool:
    return set(result.declared).issuperset(violation.columns)


def _undeclared(violation: ViolatingSet, result: AuditResult) -> str:
    """Return which columns of a set are not declared to be known to others; nothing without a declaration."""
    others = tuple(name for name in violation.columns if name not in result.declared)
    if not result.declared or not others:
        return ""
    kind = "is no declared quasi-identifier" if len(others) == 1 else "are no declared quasi-identifiers"
    return f"; {_few(others)} {kind}"


def _share_of(people: int, result: AuditResult) -> str:
    if people == result.people:
        return f"All {counted(people, 'person', 'people')}"
    return share_in_words(people, result.people)


def _together(columns: tuple[str, ...]) -> str:
    return f"{columns[0]} alone" if len(columns) == 1 else f"{_few(columns)} together"


def _about_set(violation: ViolatingSet, result: AuditResult) -> str:
    together = "alone exposes" if violation.size == 1 else "together expose"
    return (
        f"{in_words(violation.columns)} {together} "
        f"{share_in_words(violation.people_at_risk or 0, result.people)}; the smallest "
        f"class has {counted(violation.smallest_class or 0, 'person', 'people')}"
        f"{_undeclared(violation, result)}."
    )


def _about_quasi_identifiers(result: AuditResult) -> Iterator[str]:
    combined = result.quasi_identifiers
    if combined is None or not combined.columns:
        return
    yield (
        f"By {_few(combined.columns)} together, "
        f"{share_in_words(combined.people_at_risk, result.people)} are in classes of fewer than {result.k}."
    )


def _about_risk(result: AuditResult) -> Iterator[str]:
    risk = result.risk
    if risk is None:
        return
    combined = result.quasi_identifiers
    is_same = combined is not None and set(risk.columns) == set(combined.columns)
    # an audit of some columns has the risk of all that are declared
    knowledge = (
        "that somebody is in the table" if is_same else f"{_few(risk.columns)} of somebody in the table"
    )
    yield (
        f"Who knows {knowledge} finds the row with a chance of "
        f"{percent(risk.prosecutor_risk)} at worst, {percent(risk.prosecutor_average)} on average."
    )
    for one in risk.homogeneous:
        if one.people:
            yield (
                f"For {share_in_words(one.people, risk.people)} the class alone tells the value of "
                f"{one.column}: everybody in it has the same."
            )


def _few(columns: tuple[str, ...]) -> str:
    return in_words(columns) if len(columns) <= _MOST_IN_A_SENTENCE else f"{len(columns)} columns"


def _about_release(release: ReleaseRisk) -> str:
    before, after = release.before, release.after
    return (
        f"Release {release.release} (k = {release.k}) lowers the risk from "
        f"{percent(before.prosecutor_risk)} to {percent(after.prosecutor_risk)} at worst and from "
        f"{percent(before.prosecutor_average)} to "
        f"{percent(after.prosecutor_average)} on average, for {release.suppressed_cells:,} suppressed cells "
        f"({percent(release.suppressed_share)})."
    )


def _plural(word: str, number: int) -> str:
    return word if number == 1 else f"{word}s"
