"""Numbers with a noun, as a sentence has them, and the nouns that a question has for people and rows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_PREPOSITIONS: Final = {"at", "by", "for", "from", "in", "of", "on", "per", "to", "with"}


def plural(number: int, one: str, more: str = "") -> str:
    """Write a number and its noun.

    >>> plural(1, "item"), plural(1200, "item"), plural(0, "query", "queries")
    ('1 item', '1,200 items', '0 queries')
    """
    return f"{number:,} {one if number == 1 else more or pluralize(one)}"


def pluralize(noun: str) -> str:
    """Return the plural of a noun, by the rules of spelling; a noun that looks like a plural stays.

    >>> [pluralize(noun) for noun in ("ward", "city", "day", "diagnosis", "sex", "status", "symptoms", "class")]
    ['wards', 'cities', 'days', 'diagnoses', 'sexes', 'statuses', 'symptoms', 'classes']
    """
    word = noun.lower()
    if word.endswith("is"):
        return f"{noun[:-2]}es"
    if word.endswith("y") and word[-2:-1] not in {*"aeiou"}:
        return f"{noun[:-1]}ies"
    if word.endswith(("ss", "us", "x", "z", "ch", "sh")):
        return f"{noun}es"
    return noun if word.endswith("s") else f"{noun}s"


def singular_and_plural(noun: str) -> tuple[str, str]:
    """Return both forms of a noun of which a person typed one, whichever it was.

    >>> singular_and_plural("patient"), singular_and_plural("patients")
    (('patient', 'patients'), ('patient', 'patients'))
    >>> [singular_and_plural(noun)[0] for noun in ("nurses", "cities", "boxes", "classes", "people", "class")]
    ['nurse', 'city', 'box', 'class', 'person', 'class']
    """
    word = noun.lower()
    if word in ("person", "people"):
        return "person", "people"
    if pluralize(noun) != noun:
        return noun, pluralize(noun)
    if word.endswith("ies"):
        return f"{noun[:-3]}y", noun
    doubled = word.endswith(("sses", "xes", "ches", "shes"))
    return noun[: -2 if doubled else -1], noun


def reads_as_noun(name: str) -> bool:
    """Return whether a name is made of words of which the last is the noun, so that it has a plural.

    >>> [reads_as_noun(name) for name in ("ward", "main diagnosis", "region of birth", "icd10", "Größe")]
    [True, True, False, False, False]
    """
    words = re.split("[ _-]", name)
    return all(re.fullmatch("[A-Za-z]+", word) for word in words) and not _PREPOSITIONS & {*map(str.lower, words)}


def nth(number: int) -> str:
    """Write a place in an order, such as 1st.

    >>> [nth(number) for number in (1, 2, 3, 11, 31, 112, 1001)]
    ['1st', '2nd', '3rd', '11th', '31st', '112th', '1,001st']
    """
    teens = number % 100 in (11, 12, 13)
    return f"{number:,}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


@dataclass(frozen=True)
class Words:
    """What people and rows are called: patients and visits. Where each row is one, people are called rows.

    >>> words = Words("patient", "patients", "visit", "visits")
    >>> words.count(1), words.count(1200), words.count_rows(3), words.a_person
    ('1 patient', '1,200 patients', '3 visits', 'a patient')
    """

    person: str = "person"
    people: str = "people"
    row: str = "row"
    rows: str = "rows"

    @property
    def a_person(self) -> str:
        """A person with the article, in the middle of a sentence."""
        return f"{article(self.person)} {self.person}"

    @property
    def one(self) -> str:
        """A person with the article, where a sentence begins."""
        return capitalize(self.a_person)

    def count(self, number: int) -> str:
        """Write so many people."""
        return plural(number, self.person, self.people)

    def count_within(self, number: int, low: int, high: int, level: str) -> str:
        """Write about how many people have something, with the interval of their number and the verb.

        >>> Words("patient", "patients").count_within(1, 0, 4, "95%")
        '1 patient (0 to 4 with probability 95%) has'
        """
        number = max(0, number)
        return f"{self.count(number)} ({low:,} to {high:,} with probability {level}) {'has' if number == 1 else 'have'}"

    def count_rows(self, number: int) -> str:
        """Write so many rows."""
        return plural(number, self.row, self.rows)


def article(noun: str) -> str:
    """Return the article of a noun.

    >>> [article(noun) for noun in ("patient", "employee", "user", "hour", "uncle")]
    ['a', 'an', 'a', 'an', 'an']
    """
    word = noun.lower()
    sounds_like_you = word.startswith(("eu", "one", "uni", "use", "usu", "ut"))
    return "an" if word.startswith(("a", "e", "i", "o", "u", "hour", "heir")) and not sounds_like_you else "a"


def capitalize(text: str) -> str:
    """Write the first letter large, and leave the others as they are.

    >>> capitalize("mean MRI")
    'Mean MRI'
    """
    return text[:1].upper() + text[1:]
