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
        place of birth, birthplace, residence, hospital, ward, clinic, school
    """,
    "when something happened": """
        birth, birthday, birthdate, dob, date of birth, birth date, birth year, year of birth,
        admission, admitted, discharge, discharged, death, date of death, visit date
    """,
    "what somebody is like": """
        age, sex, gender, race, ethnicity, ethnic, nationality, citizenship, marital, marital status,
        married, education, degree, occupation, job, profession, employer, workclass, industry,
        language, children, household, relationship, height, weight, hispanic, veteran
    """,
}

_SENSITIVE = {
    "health": """
        diagnosis, diag, disease, illness, icd, condition, symptom, treatment, therapy, medication,
        drug, prescription, hiv, result, lab, allergy, disability, pregnant, pregnancy, procedure,
        outcome, insulin, metformin
    """,
    "money": """
        salary, income, wage, wages, debt, balance, cost, costs, credit, loan, savings, expend, payment,
        price, amount, capital gain, capital loss, capital gains, capital losses, dividends
    """,
    "beliefs or conduct": """
        religion, faith, politics, party, union, sexual, orientation, criminal, offence, offense,
        conviction, arrest, vote
    """,
}


def _words_in(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PEOPLE = _words_in(
    """
    person people patient customer client member user employee subject student pupil citizen resident
    inhabitant participant respondent individual donor driver passenger applicant borrower taxpayer insured
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
    spoken = f" {' '.join(words)} "
    best: NamedRole | None = None
    longest = 0
    for role, topics in _ROLES:
        for topic, text_of_topic in topics.items():
            for phrase in _phrases(text_of_topic):
                if len(phrase) > longest and f" {phrase} " in spoken:
                    best, longest = NamedRole(role, topic), len(phrase)
    return best


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
