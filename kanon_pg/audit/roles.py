"""Which role a column is proposed to have, and why: rules over names, keys, types and statistics."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from kanon_pg.audit.findings import Suggestion
from kanon_pg.db.catalog import ColumnFacts
from kanon_pg.errors import in_words

_PIECES = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

_IDENTIFIERS = {
    "the name of a person": """
        first name, last name, full name, given name, family name, middle name, patient name, user name,
        username, surname, forename, firstname, lastname, fullname, maiden name, name
    """,
    "a number that stands for a person": """
        ssn, social security, national id, nin, passport, mrn, medical record, insurance number, insurance
        no, insurance id, tax id, driver license, driving licence, ssn number
    """,
    "a number of something that belongs to a person": """
        license plate, licence plate, account number, account no, iban, card number, credit card, vin, imei,
        device id, encounter id
    """,
    "a number that stands for a household": """
        hid, hhid, household id, household no, family id
    """,
    "a way to reach a person": """
        email, e mail, mail, phone, telephone, tel, mobile, fax, address, street, ip, ip address, url,
        homepage, twitter
    """,
    "a trace of a person": """
        photo, picture, fingerprint, iris, signature
    """,
}

_QUASI_IDENTIFIERS = {
    "where somebody lives or works": """
        zip, zipcode, zip code, postcode, postal, postal code, plz, city, town, county, state, province,
        region, district, country, municipality, latitude, longitude, lat, lon, geo, native country, place
        of birth, birthplace, residence, hospital, ward, clinic, school, urban, rural
    """,
    "when something happened": """
        birth, birthday, birthdate, dob, date of birth, birth date, birth year, year of birth, admission,
        admitted, discharge, discharged, death, date of death, visit date, time in hospital, length of stay
    """,
    "what somebody is like": """
        age, sex, gender, race, ethnicity, ethnic, nationality, citizenship, citizen, foreign, immigrant,
        marital, marital status, married, civil status, personal status, education, degree, occupation, job,
        profession, employer, employment, employed, unemployment, working, worker, workclass, industry,
        language, children, dependent, household, family, housing, relationship, height, weight, hispanic,
        veteran
    """,
}

_WIDELY_KNOWN = """
    age, sex, gender, race, ethnicity, ethnic, hispanic, nationality, citizenship, native country, country
    of birth, birth, birthday, birthdate, dob, birthplace, place of birth, zip, zipcode, postcode, postal,
    plz, city, town, county, state, region, district, country, municipality, marital, married, civil status,
    education, degree, occupation, job, profession
"""
"""Known to neighbours and colleagues, and in registers."""

_SELDOM_KNOWN = """
    father, mother, parent, previous, prev, former, last, questionnaire
"""
"""Words of what is about somebody else, or no longer so."""

_SENSITIVE = {
    "health": """
        diagnosis, diagnoses, diag, disease, illness, icd, medical condition, health, health condition,
        symptom, treatment, therapy, medication, medical, drug, prescription, hiv, lab, lab result, blood,
        glucose, serum, a 1 c, hba 1 c, cholesterol, bmi, allergy, disability, pregnant, pregnancy,
        procedure, clinical outcome, treatment outcome, contraceptive, contraception, diabetes, insulin,
        metformin, readmission, readmitted, outpatient, inpatient
    """,
    "money": """
        salary, income, wage, debt, balance, cost, credit, loan, saving, expend, expenditure, payment,
        payer, price, amount, capital gain, capital loss, capital losses, capital, dividend, tax, benefit,
        pension, profit, earning, asset, finance, financial, checking, installment, fund, property
    """,
    "school and exams": """
        grade, gpa, exam, exam result, exam score, test score, final result, course result, assessment
    """,
    "beliefs or conduct": """
        religion, faith, politics, party, union, sexual, orientation, criminal, offence, offense,
        conviction, arrest, vote
    """,
}

_SURVEY_WEIGHTS = """
    fnlwgt, afnlwgt, wgt, wt, weights, fnl wgt, final weight, instance weight, sample weight, sampling
    weight, survey weight, household weight, person weight, case weight, design weight, replicate weight,
    weight factor, weighting, pweight, perwt, hhwt, wtfinl, asecwt, expansion factor
"""
"""Names of the number of people of the population that a row of a survey stands for."""


def _words_in(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PEOPLE = _words_in(
    """
    person people patient customer client member user employee subject student pupil citizen resident
    inhabitant participant respondent individual donor driver passenger applicant grantee taxpayer insured
    beneficiary enrollee worker guest tenant voter subscriber policyholder cardholder
    """
)
"""Who a row may be about."""

_NUMBER_WORDS = _words_in("id ids nbr no nr num number key code uid uuid guid pid sk ref identifier")
"""Words of a number that stands for something."""

_LISTS = _words_in("master data register registry table list info base dim record records")
"""Words of a table besides those of its contents."""

_A_PERSON = "a number that stands for a person"


@dataclass(frozen=True, slots=True)
class NamedRole:
    """A role that a name hints at, and what columns of such names are about."""

    role: str
    topic: str


def role_by_name(column: str) -> NamedRole | None:
    """Return the role that the name of a column hints at; the longest matching words decide.

    Examples
    --------
    >>> role_by_name("dateOfBirth")
    NamedRole(role='quasi_identifier', topic='when something happened')
    >>> role_by_name("last_name").role
    'identifier'
    >>> role_by_name("patientNr").topic
    'a number that stands for a person'
    >>> role_by_name("usage") is None
    True
    """
    words = _words(column)
    if _numbers_a_person(words):
        return NamedRole("identifier", _A_PERSON)
    best: NamedRole | None = None
    longest = 0
    for role, topics in _ROLES:
        for topic, text_of_topic in topics.items():
            length = _longest(text_of_topic, column)
            if length > longest:
                best, longest = NamedRole(role, topic), length
    return best


def is_widely_known(column: str) -> bool:
    """Return whether a name suggests what neighbours, colleagues or registers know of a person.

    Examples
    --------
    >>> is_widely_known("birth_date"), is_widely_known("industry"), is_widely_known("country_of_birth_father")
    (True, False, False)
    """
    return _longest(_WIDELY_KNOWN, column) > 0 and not is_seldom_known(column)


def is_seldom_known(column: str) -> bool:
    """Return whether a name suggests somebody else, or what is no longer so."""
    return _longest(_SELDOM_KNOWN, column) > 0


def is_survey_weight(column: str) -> bool:
    """Return whether a name suggests the people for whom a row of a survey stands.

    Examples
    --------
    >>> [is_survey_weight(name) for name in ("fnlwgt", "instance_weight", "HHWT", "weight", "birth_weight")]
    [True, True, True, False, False]
    """
    return _longest(_SURVEY_WEIGHTS, column) > 0


def is_a_number(column: str) -> bool:
    """Return whether a name says that its values stand for something, as in "order no" or "key".

    Examples
    --------
    >>> is_a_number("order_no"), is_a_number("num_children"), is_a_number("turnover")
    (True, False, False)
    """
    words = _words(column)
    return bool(words) and words[-1] in _NUMBER_WORDS


def _longest(text: str, column: str) -> int:
    """Return the length of the longest phrase of a list that a name contains as words; 0 if none."""
    words = _words(column)
    for some in (words, [_in_the_singular(word) for word in words]):
        joined = f" {' '.join(some)} "
        longest = max((len(phrase) for phrase in _phrases(text) if f" {phrase} " in joined), default=0)
        if longest:
            return longest
    return 0


def _in_the_singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def names_a_person(column: str) -> bool:
    """Return whether a column is named like a number that stands for a person.

    Examples
    --------
    >>> names_a_person("patient_id"), names_a_person("idPerson"), names_a_person("encounter_id")
    (True, True, False)
    """
    named = role_by_name(column)
    return named is not None and named.topic == _A_PERSON


def lists_people(table: str) -> bool:
    """Return whether a table is named like a list of people.

    Examples
    --------
    >>> [lists_people(name) for name in ("patients", "dim_person", "user_master", "patient_visits")]
    [True, True, True, False]
    """
    words = [word for word in _words(table) if word not in _LISTS]
    return bool(words) and (words[-1] in _PEOPLE or words[-1].removesuffix("s") in _PEOPLE)


def _words(name: str) -> list[str]:
    return [piece.lower() for piece in _PIECES.findall(name)]


def _numbers_a_person(words: list[str]) -> bool:
    """Return whether words are those of a person's number: "patient id", "id person", "person"."""
    if len(words) == 1:
        return words[0] in _PEOPLE
    if len(words) == 2 and words[0] in _NUMBER_WORDS:
        return words[1] in _PEOPLE
    return len(words) > 1 and words[-1] in _NUMBER_WORDS and words[-2] in _PEOPLE


@cache
def _phrases(text: str) -> tuple[str, ...]:
    return tuple(" ".join(phrase.split()) for phrase in text.split(","))


_ROLES = (("identifier", _IDENTIFIERS), ("quasi_identifier", _QUASI_IDENTIFIERS), ("sensitive", _SENSITIVE))


_NUMBERING = frozenset({"uuid", "inet", "cidr", "macaddr", "macaddr8"})
"""Types of ``pg_catalog`` whose values number people, devices or connections."""

_MEASURED = frozenset({"float4", "float8", "numeric", "money", "timestamp", "timestamptz", "interval"})
"""Types whose values may differ in nearly all rows without naming anybody."""

_NUMBERS = frozenset({"int2", "int4", "int8", "float4", "float8", "numeric", "money"})
"""Types of amounts, counts and measurements, and of numbers that stand for something."""

TEXTS = frozenset({"text", "varchar", "bpchar"})
"""Types whose values have a length that tells free text."""

_NEARLY_UNIQUE = 0.95
_FREE_TEXT_LENGTH = 40
_FREE_TEXT_RATIO = 0.5
_OFTEN_SINGLE = 0.01

_EXACT_RATIO = 0.1
_EXACT_VALUES = 100
"""Different values per row, and different values, from which a number is so exact that hardly any of its
cells could be published as a quasi-identifier."""

_WEIGHTS = frozenset({"weight"})
"""Names of what somebody weighs, or of what a row of a survey weighs."""

_FEW_VALUES = 10
_FEW_RATIO = 0.01
"""Different values, and different values per row, up to which no column can name people."""

MOST_QUASI_IDENTIFIERS = 10
"""Quasi-identifiers that are proposed. More of them single everybody out, so that a release of them all has
hardly a cell left; whoever knows what others can know adds to them."""


@dataclass(frozen=True, slots=True)
class ObservedColumn:
    """A column and what was counted of it.

    Parameters
    ----------
    distinct, single : int or None
        Different values, and those that one row has; None if that cannot be counted.
    determined_by : tuple of (str, float)
        Columns that determine it, with the share of rows in which they do.
    people : str or None
        Table to which it refers by a foreign key, if that is named like a list of people.
    is_constant : bool
        Whether all rows have the same value, NULL being one: who differs by having a value at all is
        singled out by it.
    """

    facts: ColumnFacts
    rows: int
    missing: float
    length: float | None
    distinct: int | None
    single: int | None
    determined_by: tuple[tuple[str, float], ...]
    determines: tuple[str, ...]
    separation: float = 0.0
    people: str | None = None
    is_repeated: bool = False
    is_constant: bool = False

    @property
    def ratio(self) -> float | None:
        """Different values / rows with a value; None without any."""
        filled = self.rows * (1 - self.missing)
        return None if self.distinct is None or not filled else min(1.0, self.distinct / filled)

    @property
    def is_exact_number(self) -> bool:
        """Whether it has numbers that are different in many rows."""
        return (
            self.facts.base_type in _NUMBERS
            and (self.ratio or 0.0) >= _EXACT_RATIO
            and (self.distinct or 0) > _EXACT_VALUES
        )

    @property
    def has_few_values(self) -> bool:
        """Whether its values are too few to name people."""
        return (
            self.distinct is not None
            and self.distinct <= _FEW_VALUES
            and self.distinct <= _FEW_RATIO * self.rows
        )

    @property
    def may_tell_people_apart(self) -> bool:
        """Whether key constraints or its name say that a value stands for a person."""
        return self.people is not None or names_a_person(self.facts.name)


def suggestions_for(columns: Sequence[ObservedColumn]) -> tuple[Suggestion, ...]:
    """Return the proposed role of each column with reasons, the deciding one first.

    The rules, the first that applies: keys, references to people, types that number things, constants, survey
    weights, names, values that nearly every row has for itself, free text, exact numbers. What nothing speaks
    for may be a quasi-identifier: others may know it. Then whatever tells the value of an identifier becomes
    one, and the identifier that stands for a person in several rows becomes the entity, by which people are
    counted. Of the quasi-identifiers those stay that others know best, by their names, and among these those
    that tell most rows apart. All others are withheld, as columns are that a declaration does not mention.
    """
    decided = [_decide(column) for column in columns]
    named = _identifiers(columns, decided)
    for number, column in enumerate(columns):
        dependent = [name for name in column.determines if name in named]
        role = decided[number][0]
        # A number with a value of its own in every row tells everything, which is no sign of an
        # identifier; one that is the same in several rows and tells whose they are stands for a person.
        if dependent and (
            role == "quasi_identifier" or (role == "withheld" and (column.ratio or 1) < _NEARLY_UNIQUE)
        ):
            decided[number] = "identifier", f"Its value tells that of {dependent[0]}, an identifier."
    _withhold(columns, decided)
    hidden = _identifiers(columns, decided)
    entity = _entity(columns, decided)
    return tuple(
        _suggestion(_beside_published(column, hidden), *_proposed(column, role, reason, entity))
        for column, (role, reason) in zip(columns, decided, strict=True)
    )


def _withhold(columns: Sequence[ObservedColumn], decided: list[tuple[str, str]]) -> None:
    """Keep the quasi-identifiers that others know best and that tell most rows apart; withhold the others."""
    linking = [number for number, (role, _) in enumerate(decided) if role == "quasi_identifier"]
    chosen: list[str] = []
    for number in sorted(linking, key=lambda number: _rank(columns[number])):
        determinants = [
            name for name, share in columns[number].determined_by if share == 1 and name in chosen
        ]
        if determinants:
            decided[number] = "withheld", f"{determinants[0]} always tells its value: one of both is enough."
        elif len(chosen) < MOST_QUASI_IDENTIFIERS:
            chosen.append(columns[number].facts.name)
        else:
            reason = decided[number][1].removesuffix(".")
            decided[number] = (
                "withheld",
                f"{reason}; but {MOST_QUASI_IDENTIFIERS} others are better known or tell more rows apart.",
            )


def _rank(column: ObservedColumn) -> tuple[int, float]:
    """Return how well others know a column, best known first, and how many rows it tells apart."""
    name = column.facts.name
    if is_widely_known(name):
        known = 0
    elif role_by_name(name) is None:
        known = 3
    else:
        known = 2 if is_seldom_known(name) else 1
    return known, -column.separation


def _entity(columns: Sequence[ObservedColumn], decided: Sequence[tuple[str, str]]) -> ObservedColumn | None:
    """Return the column by which people should be counted; None if every row seems to be a person."""
    candidates = [
        column
        for column, (role, _) in zip(columns, decided, strict=True)
        if role == "identifier" and column.is_repeated and column.may_tell_people_apart
    ]
    return max(candidates, key=lambda one: (one.people is not None, one.distinct or 0), default=None)


def _proposed(
    column: ObservedColumn, role: str, reason: str, entity: ObservedColumn | None
) -> tuple[str, tuple[str, ...]]:
    if column is not entity:
        return role, (reason,)
    return "entity", (
        reason,
        "Several rows have the same value: they are one person's, so count people by it.",
    )


def _identifiers(columns: Sequence[ObservedColumn], decided: Sequence[tuple[str, str]]) -> set[str]:
    return {
        column.facts.name for column, (role, _) in zip(columns, decided, strict=True) if role == "identifier"
    }


def _beside_published(column: ObservedColumn, hidden: set[str]) -> ObservedColumn:
    """Forget that identifiers tell the value: they are never published."""
    return replace(
        column,
        determined_by=tuple((name, share) for name, share in column.determined_by if name not in hidden),
    )


def _suggestion(column: ObservedColumn, role: str, reasons: tuple[str, ...]) -> Suggestion:
    if role == "sensitive" and column.is_exact_number:
        reasons = (*reasons, "Whoever knows the exact number finds the row: think of publishing ranges.")
    return Suggestion(
        column=column.facts.name,
        role=role,
        reasons=(*reasons, *_observations(column)),
        distinct_values=column.distinct,
        distinct_ratio=column.ratio,
        unique_values=column.single,
        missing=column.missing,
        restored_by=tuple(name for name, _ in column.determined_by),
    )


def _decide(column: ObservedColumn) -> tuple[str, str]:
    facts = column.facts
    stands_for = _what_it_stands_for(column)
    if stands_for is not None:
        return "identifier", stands_for
    if column.is_constant:
        return "insensitive", "All rows have the same value."
    if is_survey_weight(facts.name) and facts.base_type in _NUMBERS:
        return ("withheld", "Its name suggests a row's weight in a survey, which nobody knows of a person.")
    named = _named(column)
    if named is not None:
        return named.role, f"Its name suggests {named.topic}{_CONSEQUENCE[named.role]}."
    if column.distinct is None:
        return "identifier", f"Type {facts.type} has no equality, so nobody can check what it tells."
    return _by_statistics(column)


def _named(column: ObservedColumn) -> NamedRole | None:
    """Return the role by name, unless the values contradict it."""
    named = role_by_name(column.facts.name)
    if named is None:
        return None
    if named.role == "identifier" and column.has_few_values:
        return None
    # A number that is as exact as a weight of a survey is hardly what somebody weighs.
    is_weight = column.facts.name.lower() in _WEIGHTS and column.is_exact_number
    return None if is_weight else named


def _what_it_stands_for(column: ObservedColumn) -> str | None:
    """Return how keys or the type say that a value stands for one row or person; None if they don't."""
    facts = column.facts
    if facts.is_key:
        return "It is a key: every row has its own value."
    if column.people is not None:
        return f"It refers to {column.people}, by its name a table of people."
    if facts.base_type in _NUMBERING:
        return f"Values of type {facts.type} stand for one person, device or connection."
    return None


_CONSEQUENCE = {
    "identifier": "",
    "quasi_identifier": ", which others may know",
    "sensitive": ", which nobody should learn about a person",
}


def _by_statistics(column: ObservedColumn) -> tuple[str, str]:
    ratio = column.ratio or 0.0
    is_long = column.length is not None and column.length >= _FREE_TEXT_LENGTH
    if is_long and ratio >= _FREE_TEXT_RATIO:
        return "identifier", "It looks like free text, which may name people."
    if column.is_exact_number and not is_a_number(column.facts.name):
        return "withheld", "Hardly a cell of a number so exact could be published; ranges of it could."
    if ratio >= _NEARLY_UNIQUE and column.facts.base_type not in _MEASURED:
        which = "row with a value" if column.missing else "row"
        return "identifier", f"Nearly every {which} has its own."
    return "quasi_identifier", "Nothing says that others cannot know it."


def _observations(column: ObservedColumn) -> list[str]:
    """Return sentences about what was counted."""
    observations = []
    if column.distinct is not None:
        values = "1 value" if column.distinct == 1 else f"{column.distinct:,} different values"
        observations.append(f"{values} in {column.rows:,} rows.")
    if column.single and not column.facts.is_key and column.single > _OFTEN_SINGLE * (column.distinct or 0):
        observations.append(f"{column.single:,} of them in one row only.")
    if column.missing:
        observations.append(f"{column.missing:.1%} of the rows have no value.")
    if column.determined_by:
        observations.append(f"{_listed(column.determined_by)}: suppressing this column alone hides nothing.")
    return observations


def _listed(determined_by: Sequence[tuple[str, float]]) -> str:
    parts = [name if share == 1 else f"{name} (in {share:.1%} of the rows)" for name, share in determined_by]
    verb = "tells" if len(parts) == 1 else "each tell"
    return f"{in_words(parts)} {verb} its value"
