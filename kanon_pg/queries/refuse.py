"""The two ways in which a question is refused."""

from __future__ import annotations

from collections.abc import Sequence

from kanon_pg.errors import AnswerWithheld, QuestionRefused
from kanon_pg.queries.check.findings import Finding

_MOST_SHOWN = 20


def withheld() -> AnswerWithheld:
    """Return the one refusal for every reason in which the data had a say; nothing about it can differ."""
    return AnswerWithheld(
        "The answer is withheld.",
        detail="Too few people stand behind a part of it, alone or together with earlier answers, "
        "or it could not be computed within the limits.",
        hint="Ask about larger groups. The words are the same for every reason.",
    )


def refused(findings: Sequence[Finding]) -> QuestionRefused:
    """Return the refusal that says everything that was found in a question's text.

    Parameters
    ----------
    findings : sequence of Finding
        At least one; the first gives the message.
    """
    first = findings[0]
    lines = [
        f"{finding.code} at {finding.start}-{finding.end}: {finding.sentence}"
        for finding in findings[:_MOST_SHOWN]
    ]
    return QuestionRefused(first.sentence, detail="\n".join(lines), hint=first.hint or None)
