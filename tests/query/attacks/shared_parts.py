"""Options, queries and steps that several classes of attacks share."""

from tests.query.cases import Policy, Step, V, Via
from tests.query.hospital import ADA

NEAR = "zip = '10437'"
"""A set of about a hundred people among whom the victim is the only one born on that day."""

IS_IN_ONCOLOGY = f"{V} and ward = 'oncology'"

PAIRWISE = Policy()
LINEAR = Policy()
STRICT = Policy()


def in_session(text: str, role: str = ADA) -> Step:
    return Step(text, role=role, via=Via.SESSION)


def beforehand(text: str) -> Step:
    return Step(text, via=Via.ADMIN)


def cost_of(where: str, role: str = ADA, session: int = 1) -> Step:
    return Step(f"select sum(cost) from patients where {where}", role=role, session=session)


def number_of(where: str) -> Step:
    return Step(f"select count(*) from patients where {where}")
