"""What names of columns and tables say, by the words in ``roles.toml``."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from itertools import combinations
from typing import Any, Literal

Kind = Literal["text", "number", "moment", "other"]

TEXTS = frozenset({"text", "varchar", "bpchar"})
"""Types whose values have a length that tells free text."""

NUMBERS = frozenset({"int2", "int4", "int8", "float4", "float8", "numeric", "money"})
"""Types of amounts, counts and measurements, and of numbers that stand for something."""

MOMENTS = frozenset({"date", "timestamp", "timestamptz"})
"""Types of when something happened."""

_PIECES = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})

_DATA: Mapping[str, Any] = tomllib.loads(
    resources.files("kanon_pg.audit").joinpath("roles.toml").read_text(encoding="utf-8")
)


def kind_of(base_type: str) -> Kind:
    """Return what a type holds, as far as roles depend on it."""
    if base_type in TEXTS:
        return "text"
    if base_type in NUMBERS:
        return "number"
    return "moment" if base_type in MOMENTS else "other"


def without_accents(text: str) -> str:
    """Return a text with its letters alone.

    Examples
    --------
    >>> without_accents("Código Größe")
    'Codigo Grosse'
    """
    decomposed = unicodedata.normalize("NFKD", text.replace("ß", "ss"))
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))


def listed(languages: Mapping[str, str]) -> Iterator[str]:
    """Yield the phrases of all languages, each as it may be spelled without accents."""
    for text in languages.values():
        for phrase in text.split(", "):
            yield from {without_accents(phrase), without_accents(phrase.translate(_UMLAUTS))}


class Phrases:
    """Phrases of which names may have one, as whole words or as beginnings of one."""

    def __init__(self, languages: Mapping[str, str]) -> None:
        phrases = [" ".join(_without_connecting(phrase.split())) for phrase in listed(languages)]
        self._whole = frozenset(phrase for phrase in phrases if not phrase.endswith("*"))
        self._starts = tuple(phrase[:-1] for phrase in phrases if phrase.endswith("*"))

    def __contains__(self, word: object) -> bool:
        return word in self._whole

    def longest_in(self, column: str) -> int:
        """Return the length of the longest phrase that a name contains; 0 if none."""
        words = words_of(column)
        for some in (words, [_in_the_singular(word) for word in words]):
            longest = max(map(len, self._in(some)), default=0)
            if longest:
                return longest
        return 0

    def _in(self, words: Sequence[str]) -> Iterator[str]:
        for first, last in combinations(range(len(words) + 1), 2):
            phrase = " ".join(words[first:last])
            if phrase in self._whole:
                yield phrase
        for word in words:
            yield from (start for start in self._starts if word.startswith(start))


def words_of(name: str) -> list[str]:
    """Return the words of a name in lower case, without those that connect others.

    Examples
    --------
    >>> words_of("dateOfBirth"), words_of("código_postal"), words_of("Kundennummer")
    (['date', 'birth'], ['codigo', 'postal'], ['kunden', 'nummer'])
    """
    pieces = (piece.lower() for piece in _PIECES.findall(without_accents(name)))
    return list(_without_connecting(part for piece in pieces for part in _parts(piece)))


def _parts(word: str) -> tuple[str, ...]:
    """Return the parts of a compound that ends like a number that stands for something."""
    for ending in _NUMBER_ENDINGS:
        start = word.removesuffix(ending)
        if start in _PEOPLE and start != word:
            return start, ending
    return (word,)


def _without_connecting(words: Any) -> Iterator[str]:
    return (word for word in words if word not in _CONNECTING)


def _in_the_singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


_CONNECTING = frozenset(listed(_DATA["connecting"]))
_NUMBER_ENDINGS = tuple(listed(_DATA["number_endings"]))
_PEOPLE = Phrases(_DATA["people"])
_NUMBER_WORDS = Phrases(_DATA["number_words"])
_LISTS = Phrases(_DATA["lists"])
_CODED = Phrases(_DATA["coded"])
_SELDOM_KNOWN = Phrases(_DATA["seldom_known"])
_WEIGHTS = Phrases(_DATA["weights"])
_POSTAL_CODES = Phrases(_DATA["postal_codes"])

A_PERSON = "a number that stands for a person"


@dataclass(frozen=True, slots=True)
class NamedRole:
    """A role that a name hints at, and what columns of such names are about."""

    role: str
    topic: str


@dataclass(frozen=True)
class _Topic:
    """What columns with some words in their names are about; `only` columns of that kind."""

    role: str
    topic: str
    words: Mapping[str, str]
    widely_known: bool = False
    only: Kind | None = None

    @cached_property
    def phrases(self) -> Phrases:
        return Phrases(self.words)


_TOPICS = tuple(_Topic(**topic) for topic in _DATA["topics"])


def role_by_name(column: str, kind: Kind | None = None) -> NamedRole | None:
    """Return the role that the name of a column hints at; the longest matching words decide.

    With `kind` only topics of columns of that kind are thought of.

    Examples
    --------
    >>> role_by_name("dateOfBirth")
    NamedRole(role='quasi_identifier', topic='when something happened')
    >>> [role_by_name(name).role for name in ("last_name", "fecha_nacimiento", "Familienstand", "salaire")]
    ['identifier', 'quasi_identifier', 'quasi_identifier', 'sensitive']
    >>> role_by_name("patientNr").topic
    'a number that stands for a person'
    >>> role_by_name("usage") is None
    True
    """
    if _numbers_a_person(words_of(column)):
        return NamedRole("identifier", A_PERSON)
    best: NamedRole | None = None
    longest = 0
    for topic in _TOPICS:
        if kind is not None and topic.only not in (None, kind):
            continue
        length = topic.phrases.longest_in(column)
        if length > longest:
            best, longest = NamedRole(topic.role, topic.topic), length
            if topic.role == "withheld":
                break
    return best


def is_widely_known(column: str) -> bool:
    """Return whether a name suggests what neighbours, colleagues or registers know of a person.

    Examples
    --------
    >>> is_widely_known("birth_date"), is_widely_known("industry"), is_widely_known("country_of_birth_father")
    (True, False, False)
    """
    known = (topic.phrases.longest_in(column) for topic in _TOPICS if topic.widely_known)
    return any(known) and not is_seldom_known(column)


def is_seldom_known(column: str) -> bool:
    """Return whether a name suggests somebody else, or what is no longer so."""
    return _SELDOM_KNOWN.longest_in(column) > 0


def may_be_a_weight(column: str) -> bool:
    """Return whether a name is that of what somebody weighs, or a row of a survey.

    Examples
    --------
    >>> may_be_a_weight("weight"), may_be_a_weight("birth_weight")
    (True, False)
    """
    words = words_of(column)
    return len(words) == 1 and words[0] in _WEIGHTS


def is_a_number(column: str) -> bool:
    """Return whether a name says that its values stand for something, as in "order no" or "key".

    Examples
    --------
    >>> is_a_number("order_no"), is_a_number("num_children"), is_a_number("turnover")
    (True, False, False)
    """
    words = words_of(column)
    return bool(words) and words[-1] in _NUMBER_WORDS


def is_coded(column: str) -> bool:
    """Return whether a name says that numbers stand for kinds of something.

    Examples
    --------
    >>> is_coded("industry_recode"), is_coded("hours_per_week")
    (True, False)
    """
    return _CODED.longest_in(column) > 0


def has_postal_codes(column: str) -> bool:
    """Return whether a name is that of postal codes."""
    return _POSTAL_CODES.longest_in(column) > 0


def names_a_person(column: str) -> bool:
    """Return whether a column is named like a number that stands for a person.

    Examples
    --------
    >>> [names_a_person(name) for name in ("patient_id", "idPerson", "numéro du client", "encounter_id")]
    [True, True, True, False]
    """
    named = role_by_name(column)
    return named is not None and named.topic == A_PERSON


def lists_people(table: str) -> bool:
    """Return whether a table is named like a list of people.

    Examples
    --------
    >>> [lists_people(name) for name in ("patients", "dim_person", "user_master", "patient_visits")]
    [True, True, True, False]
    """
    words = [word for word in words_of(table) if word not in _LISTS]
    return bool(words) and (words[-1] in _PEOPLE or words[-1].removesuffix("s") in _PEOPLE)


def _numbers_a_person(words: list[str]) -> bool:
    """Return whether words are those of a person's number: "patient id", "id person", "person"."""
    if len(words) == 1:
        return words[0] in _PEOPLE
    if len(words) == 2 and words[0] in _NUMBER_WORDS:
        return words[1] in _PEOPLE
    return len(words) > 1 and words[-1] in _NUMBER_WORDS and words[-2] in _PEOPLE


@dataclass(frozen=True)
class Scale:
    """The hierarchy of numbers with some words in their names, and between which two they must lie."""

    words: Mapping[str, str]
    hierarchy: Mapping[str, Any]
    least: float | None = None
    most: float | None = None
    whole: bool = False

    @cached_property
    def phrases(self) -> Phrases:
        """Words of the names."""
        return Phrases(self.words)

    def holds(self, numbers: Sequence[float]) -> bool:
        """Return whether all of some numbers lie on it."""
        return all(
            (self.least is None or self.least <= number)
            and (self.most is None or number <= self.most)
            and not (self.whole and number % 1)
            for number in numbers
        )


SCALES = tuple(Scale(**scale) for scale in _DATA["scales"])

FIRST_NAMES = frozenset(name for name in listed(_DATA["first_names"]))
