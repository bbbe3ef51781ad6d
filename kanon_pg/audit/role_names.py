"""What the name of a column says about its role."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

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
        license plate, licence plate, account number, account no, iban, card number, credit card, vin,
        imei, device id, encounter id
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
        region, district, country, municipality, latitude, longitude, lat, lon, geo, native country,
        place of birth, birthplace, residence, hospital, ward, clinic, school, urban, rural
    """,
    "when something happened": """
        birth, birthday, birthdate, dob, date of birth, birth date, birth year, year of birth,
        admission, admitted, discharge, discharged, death, date of death, visit date, time in hospital,
        length of stay
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
    age, sex, gender, race, ethnicity, ethnic, hispanic, nationality, citizenship, native country, country of
    birth, birth, birthday, birthdate, dob, birthplace, place of birth, zip, zipcode, postcode, postal, plz,
    city, town, county, state, region, district, country, municipality, marital, married, civil status,
    education, degree, occupation, job, profession
"""
"""What neighbours and colleagues know, and registers tell."""

_SELDOM_KNOWN = """
    father, mother, parent, previous, prev, former, last, questionnaire
"""
"""Words of what is about somebody else, or no longer so."""

_SENSITIVE = {
    "health": """
        diagnosis, diagnoses, diag, disease, illness, icd, medical condition, health, health condition,
        symptom, treatment, therapy, medication, medical, drug, prescription, hiv, lab, lab result, blood,
        glucose, serum, a 1 c, hba 1 c, cholesterol, bmi, allergy, disability, pregnant, pregnancy, procedure,
        clinical outcome, treatment outcome, contraceptive, contraception, diabetes, insulin, metformin,
        readmission, readmitted, outpatient, inpatient
    """,
    "money": """
        salary, income, wage, debt, balance, cost, credit, loan, saving, expend, expenditure,
        payment, payer, price, amount, capital gain, capital loss, capital losses, capital, dividend, tax,
        benefit, pension, profit, earning, asset, finance, financial, checking, installment, fund,
        property
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
    fnlwgt, afnlwgt, wgt, wt, weights, fnl wgt, final weight, instance weight, sample weight, sampling weight,
    survey weight, household weight, person weight, case weight, design weight, replicate weight, weight
    factor, weighting, pweight, perwt, hhwt, wtfinl, asecwt, expansion factor
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

_NUMBERS = _words_in("id ids nbr no nr num number key code uid uuid guid pid sk ref identifier")
"""What is said of a number that stands for something."""

_LISTS = _words_in("master data register registry table list info base dim record records")
"""What is said of a table beside what it lists."""

_A_PERSON = "a number that stands for a person"


@dataclass(frozen=True, slots=True)
class NamedRole:
    """What a name hints at.

    Parameters
    ----------
    role : {'identifier', 'quasi_identifier', 'sensitive'}
        The role.
    topic : str
        What columns of such names are about.
    """

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
    return bool(words) and words[-1] in _NUMBERS


def _longest(text: str, column: str) -> int:
    """Return the length of the longest phrase of a list that a name contains as words; 0 if none."""
    words = _words(column)
    for some in (words, [_in_the_singular(word) for word in words]):
        joined = f" {' '.join(some)} "
        found = max((len(phrase) for phrase in _phrases(text) if f" {phrase} " in joined), default=0)
        if found:
            return found
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
    if len(words) == 2 and words[0] in _NUMBERS:
        return words[1] in _PEOPLE
    return len(words) > 1 and words[-1] in _NUMBERS and words[-2] in _PEOPLE


@cache
def _phrases(text: str) -> tuple[str, ...]:
    return tuple(" ".join(phrase.split()) for phrase in text.split(","))


_ROLES = (
    ("identifier", _IDENTIFIERS),
    ("quasi_identifier", _QUASI_IDENTIFIERS),
    ("sensitive", _SENSITIVE),
)
