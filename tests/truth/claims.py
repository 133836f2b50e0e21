"""What an answer says, sentence by sentence, and what each number in a sentence must satisfy.

A sentence is an entry: a template whose places are numbers, and a function that compares these numbers with the truth.
A sentence with a number that no entry reads is an error. `claims_counts`, `claims_groups`, `claims_numbers`,
`claims_selections` and `claims_in_each` have the entries, and `claims_tables` those of tables.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from lastbit.privacy.zcdp import largest_rho
from lastbit.questions.question import Question
from lastbit.questions.report import Report
from tests.truth.cases import Case
from tests.truth.reference import Reference


class Outcome(NamedTuple):
    """Whether something that was said is true of this release."""

    claim: str
    held: bool
    sure: bool = False
    """Whether it was said without a probability: then it always holds."""


@dataclass(frozen=True)
class Answer:
    """A release, all that is said about it, and the truth."""

    case: Case
    truth: Reference
    question: Question
    report: Report
    release: Any
    counted: Any
    """What a lot left: the number of each group, or the numbers in each group."""
    plan: Callable[..., str]
    """Returns the sentence of the plan of this question, or of the same with some other options."""
    whole: Any = None
    """The release that this is one part of, where it is about one of several columns of numbers."""

    @property
    def level(self) -> Fraction:
        """The probability that was asked for."""
        return Fraction(self.case.options.get("level", "0.95"))

    @property
    def sentences(self) -> list[str]:
        """Everything that is said in words: with the answer, with the rules of reading, and in the plan.

        What the plan and the answer say in the same words is heard once.
        """
        plan, said = self.plan(), [*self.report.notes, *self.question.notes]
        return said if any(plan in sentence for sentence in said) else [*said, plan]

    @cached_property
    def outcomes(self) -> list[Outcome]:
        """Every claim of every sentence."""
        if isinstance(self.case.options.get("of"), tuple) and self.case.kind in ("sum", "mean"):
            return [*read_title(self), *_read_several(self)]
        return [*read_title(self), *(outcome for sentence in self.sentences for outcome in read(sentence, self))]

    def column(self, name: str) -> Sequence[Any]:
        """Return a column of the table."""
        return self.report.columns[name]

    @property
    def of_all(self) -> Sequence[Any] | None:
        """The intervals of all people; None where there are none."""
        columns = self.report.columns.items()
        return next((column for name, column in columns if name.startswith("all ") or " of all " in name), None)

    @property
    def values(self) -> Sequence[Any]:
        """The number of each row of the table: the column before the first interval."""
        names = list(self.report.columns)
        return self.report.columns[names[names.index("interval") - 1]]

    @property
    def most(self) -> int | None:
        """The bound on the groups of a person: as it was asked for, or as it was published."""
        if self.case.options.get("one_each"):
            return 1
        if self.case.options.get("most_items") == "auto":
            return int(self.release["bound"].value)
        most: int | None = self.case.options.get("most_items")
        return most


Check = Callable[[Answer, Mapping[str, str]], Iterator[Outcome]]

NUMBER = r"-?\d[\d,]*(?:\.\d+)?(?:e[+-]\d+)?"
PLACES = {
    "level": r"(?:more than )?[\d.]+%",
    "false": r"[\d.]+%",
    "sd_share": r"[\d.]+%",
    "first_day": r"\d{4}-\d\d-\d\d",
    "last_day": r"\d{4}-\d\d-\d\d",
    "counted": r"people counted|records counted|rows",
    "order": r"day",
    "where": rf"one (?:item|group|month)|{NUMBER} (?:item|group|month)s? at most",
    "rows_count": r"row counts|rows count",
    "rows_of_person": r"row of a person counts|rows of a person count",
    "people": r"person|people|rows?",
    "noun": r"people|rows",
    "whose": r"With|Of what is counted: with",
    "more": r"(?:(?:person|people|rows?) more|more in number)(?: counted)?",
    "amount": r"person|people|rows?|in number",
    "group": r"an? (?:item|group|month)",
    "one_group": r"item|group|month",
    "groups": r"(?:item|group|month)s?",
    "in_each": r"(?:Of the people counted: in|In) each (?:month|group)",
    "who": r"(?:Of what is counted: )?(?:[Ii]n each group, with|[Ww]ith)",
    "high_bound": r"-?[0-9.,/e+]+",
    "values": r"the value is|all values are",
    "quantiles": r"quantiles?",
    "other_items": r"other items?",
    "than": rf"a listed item|the {NUMBER}(?:st|nd|rd|th) of all items",
    "th": r"st|nd|rd|th",
    "have": r"has|have",
    "limit": r"2,147,483,647",
    "condition": r".+",
    "promise": r".+",
    "column": r"[A-Za-z ]+?",
    "command": r"lastbit .+",
    "different": r"different [a-z]+",
    "different_values": r"different [a-z]+",
    "intervals": r"intervals?",
}
"""What may stand at a place of a template; at a place with another name, a number."""

ENTRIES: dict[str, tuple[re.Pattern[str], Check]] = {}


def says(*templates: str) -> Callable[[Check], Check]:
    """Enter sentences that say the same of the truth."""

    def enter(check: Check) -> Check:
        for template in templates:
            ENTRIES[template] = _compile(template), check
        return check

    return enter


def _compile(template: str) -> re.Pattern[str]:
    parts = re.split(r"\{(\w+)\}", template)
    seen: set[str] = set()
    pattern = ""
    for index, part in enumerate(parts):
        if index % 2 == 0:
            pattern += re.escape(part)
            continue
        pattern += f"(?P={part})" if part in seen else f"(?P<{part}>{PLACES.get(part, NUMBER)})"
        seen.add(part)
    return re.compile(pattern + r"(?= |$)")


_OF_ONE = re.compile(r"^Of (?:number|letters): (?P<first>.)")
"""How a sentence begins that is about one of several columns of numbers."""


class NoEntry(AssertionError):
    """A sentence has a number that no entry reads."""


@lru_cache(maxsize=4096)  # of many answers most sentences are the same
def match_entries(text: str) -> tuple[tuple[str, re.Match[str], Check] | None, ...]:
    """Return the entries of all sentences of a text in their order; None for a sentence without a number."""
    return tuple(_match_entries(text))


def _match_entries(text: str) -> Iterator[tuple[str, re.Match[str], Check] | None]:
    rest = text
    while rest:
        rest = _OF_ONE.sub(lambda match: match["first"].upper(), rest)
        matches = [(template, match, check) for template, (pattern, check) in ENTRIES.items()
                   if (match := pattern.match(rest))]  # fmt: skip
        if matches:
            entry = max(matches, key=lambda entry: entry[1].end())
            yield entry
            rest = rest[entry[1].end() :].lstrip()
            continue
        wordy = re.match(r"[^\d]*?[.:](?= |$)", rest)
        if wordy is None:
            raise NoEntry(f"no entry of the harness reads this: {rest}")
        yield None
        rest = rest[wordy.end() :].lstrip()


def read(text: str, answer: Answer) -> Iterator[Outcome]:
    """Yield the outcomes of all claims of a text."""
    for entry in match_entries(text):
        if entry is None:
            continue
        template, match, check = entry
        places = {**match.groupdict(), "text": text}
        if "level" in places:
            yield Outcome(f"the level of: {template}", percent(places["level"]) == answer.level, sure=True)
        yield from check(answer, places)


def _read_several(answer: Answer) -> Iterator[Outcome]:
    """Yield what is said of several columns of numbers: what names none is said of each, and is about its own rows."""
    parts = {column: split_answer(answer, column) for column in answer.case.options["of"]}
    for sentence in answer.sentences:
        pieces = re.split(r"(?:^|(?<= ))Of (number|letters): ", sentence)
        said = [(column, pieces[0]) for column in parts if pieces[0].strip()]
        said += zip(pieces[1::2], pieces[2::2], strict=True)
        for column, text in said:
            for outcome in read(f"{text[:1].upper()}{text[1:]}", parts[column]):
                yield outcome._replace(claim=f"{outcome.claim} of {column}")


def split_answer(answer: Answer, column: str) -> Answer:
    """Return what an answer about several columns of numbers says of one: its rows, its share, its truth."""
    report, options, release = answer.report, dict(answer.case.options), answer.release[column]
    rows = [row for row, name in enumerate(report.columns["of"]) if name == column]

    def pick(table: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
        return {name: [cells[row] for row in rows] for name, cells in table.items() if name != "of"}

    bounds = options["bounds"][column]
    place = options["of"].index(column)
    chosen = {"bounds": report.data["bounds"][place], "clamps_people": True} if bounds == "auto" else {}
    currency = "rho" if "rho" in options else "epsilon"
    own = {"of": column, "bounds": bounds, currency: Fraction(options[currency]) / len(options["of"])}
    case = replace(answer.case, options={**options, **own, "columns of numbers": options["of"]})
    truth = answer.truth.of_column(column, {**answer.truth.options, **own, **chosen})
    counted = None if answer.counted is None else answer.counted[column]
    part = replace(report, columns=pick(report.columns), frame=pick(report.frame), data=report.data["parts"][column])
    own_release = {"release": release, "whole": answer.release}
    return replace(answer, case=case, truth=truth, report=part, counted=counted, **own_release)


TITLE = re.compile(
    r"[A-Za-z +]+, (?P<currency>epsilon|rho) (?P<cost>\S+?)(?:, delta (?P<delta>\S+?))?"
    r"(?:: (?P<listed>[\d,]+) of (?P<asked>[\d,]+) (?:query|queries) above)?(?:: [a-z ]+)?"
)


def read_title(answer: Answer) -> Iterator[Outcome]:
    """Yield the claims of the title: the cost, and how many of how many queries are above."""
    title, options = TITLE.fullmatch(answer.report.title), answer.case.options
    if title is None:
        raise NoEntry(f"no entry of the harness reads the title {answer.report.title}")
    said = Fraction(title["cost"])
    if title["currency"] == "rho" and "rho" not in options:  # that which an epsilon and a delta buy
        exact = largest_rho(options["epsilon"], options["delta"])
        right = abs(said - exact) <= exact / 10**6  # it is long, and people read its first digits
    else:
        right = said == Fraction(options.get(title["currency"], 0))
    right = right and Fraction(title["delta"] or 0) <= Fraction(options.get("delta", 0))
    if title["asked"]:
        right = right and parse(title["listed"]) == len(answer.column("item"))
        right = right and parse(title["asked"]) == answer.release.answered
    yield Outcome("the title", right, sure=True)


def percent(text: str) -> Fraction:
    """Return a probability as people read it."""
    return Fraction(text.rstrip("%")) / 100


@lru_cache(maxsize=4096)
def parse(text: str) -> Fraction:
    """Return a number as people read it."""
    return Fraction(text.replace(",", ""))


def within(interval: tuple[Any, Any], truth: Fraction | int) -> bool:
    """Whether an interval holds the truth."""
    low, high = interval
    return (low is None or low <= truth) and (high is None or truth <= high)


def between(places: Mapping[str, str], truth: int) -> bool:
    """Whether a number is between the low and the high end that a sentence names."""
    return parse(places["low"]) <= truth <= parse(places["high"])


COLUMNS: dict[str, tuple[str, ...]] = {
    r"item|group|rank|quantile|day|month|number": (),
    r"table|cells": (),
    r"each number within": ("list",),
    r"under \d+|\d+ to \d+|\d+ and over|\(all\)|[ab]|\d{4}-\d\d|\(missing\)": ("crosswise", "all tables add up"),
    r"people|rows|people counted|rows counted|records counted": (
        "interval",
        "intervals together",
        "interval of a group",
    ),
    r"different [a-z]+( counted)?": ("interval",),
    r"sum|sum of number|sum of number counted": ("interval", "intervals together", "interval of a group"),
    r"standard deviation|interval of standard deviations": ("interval of a group",),
    r"interval of sums": ("intervals together", "interval of a group"),
    r"interval of (means|these)|percent|(people for whom|rows for which) it is true": ("interval of a group",),
    r"all (people|rows)|sum of number of all (people|rows)": ("interval of all",),
    r"mean|mean of number|interval of (people|rows)": ("intervals together", "interval of a group"),
    r"interval": ("interval", "intervals together", "interval of a group"),
    r"number at \d\S*": ("ranks",),
    r"true gap(, of those counted)?|ahead of the next by": ("gaps", "interval", "needed"),
    r"above by|estimate|at least": ("at least",),
}
"""For each column which claims speak for its numbers: one of them must be made. Names of groups and places need none.

The number of a quantile has the name of its column, as the heading of bins does.
"""


def claims_of_column(name: str) -> tuple[str, ...]:
    """Return the claims one of which must speak for a column, or refuse a column that has no entry."""
    for pattern, claims in COLUMNS.items():
        if re.fullmatch(pattern, name):
            return claims
    raise NoEntry(f"no entry of the harness reads the column {name}")
