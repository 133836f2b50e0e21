"""What the page asks for each kind of question. From these fields follow the form, the plan and the options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from lastbit.data.ranges import range_of
from lastbit.errors import ParameterError
from lastbit.questions.kinds import KINDS


@dataclass(frozen=True)
class Field:
    """One thing that a person chooses. `option` is the option of the question whose help explains it."""

    name: str
    label: str
    kind: str = "text"
    """text, number, column, domain or choice."""
    usual: str = ""
    help: str = ""
    optional: bool = False
    choices: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Topic:
    """What a person may want to find."""

    name: str
    command: str
    """The kind of question that finds it."""
    label: str
    sentence: str
    fields: tuple[Field, ...]

    def help_of(self, field: Field) -> str:
        """The sentence that explains a field: its own, or the one that the command has for the option."""
        if field.help:
            return field.help
        for option in KINDS[self.command].options:
            if option.name == field.name:
                return str(option.annotation.__metadata__[0].help)
        return ""


_BY = Field("by", "Column of items", "column", help="The column that holds the items to find.")
_DOMAIN = Field(
    "domain", "Public items", "domain", optional=True,
    help="The list must be public: it may not come from the table itself. One item a line, or 1..12, or "
    "2026-01..2026-12.",
)  # fmt: skip
_DELTA = Field(
    "delta", "Delta", optional=True, usual="1e-6",
    help="For unknown items only: the probability that one person's presence shows. Most use 1e-6 or less.",
)  # fmt: skip
_K = Field("k", "How many items", "number", "10", help="The list has this many items. Fewer are more precise.")
_OF = Field("of", "Column of numbers", "column")
_LOW = Field("low", "Lowest number", usual="0", help="Numbers below count as this one. Choose it without the table.")
_HIGH = Field("high", "Highest number", usual="1000", help="Numbers above count as this one. A tight range is precise.")
_UNITS = Field(
    "units", "A guess how many people there are", "number", "1000",
    help="For the made-up sample, and for the accuracy of a mean. A guess: it does not come from the table.",
)  # fmt: skip
_WHERE = Field("where", "Only rows where", optional=True)
_LEVEL = Field(
    "level", "Intervals hold with probability", usual="0.95", help="0.95 is usual. A higher one makes them wider."
)
_PER = Field(
    "per", "A person with several rows counts with", "choice", "mean",
    choices=(("mean", "the mean of them"), ("total", "the total of them")),
)  # fmt: skip
_LAST = (_WHERE, _UNITS, _LEVEL)

TOPICS: Final[dict[str, Topic]] = {
    topic.name: topic
    for topic in (
        Topic(
            "top", "top", "Top items",
            "The items that most people have, best first, and how far each is ahead of the next.",
            (_BY, _DOMAIN, _DELTA, _K, *_LAST),
        ),
        Topic(
            "measure", "measure", "Top items with their numbers",
            "The items that most people have, and an estimate of how many have each.",
            (_BY, _DOMAIN, _K, *_LAST),
        ),
        Topic(
            "above", "above", "Items over a threshold",
            "The first items of a list that more people have than a number you choose, and by how many.",
            (
                _BY, _DOMAIN, Field("threshold", "Threshold", usual="100"),
                Field("limit", "Stop after", "number", "3"), *_LAST,
            ),
        ),
        Topic(
            "choose", "choose", "One item",
            "The item that most people have, or a few, without numbers. It costs the least.",
            (_BY, _DOMAIN, _DELTA, Field("k", "How many items", "number", "1", help="Best first."), *_LAST),
        ),
        Topic(
            "histogram", "histogram", "Histogram of items",
            "How many people each item has. With a list every item is shown, without one the common ones.",
            (
                _BY, _DOMAIN, _DELTA,
                Field("most_items", "Items of one person that count", "number", "1"), *_LAST,
            ),
        ),
        Topic(
            "bins", "histogram", "Histogram of numbers",
            "How many people fall into each of a few equal ranges of a number.",
            (_OF, _LOW, _HIGH, Field("bins", "Bins", "number", "10"), *_LAST),
        ),
        Topic(
            "quantile", "quantile", "Quantiles",
            "The median, the quartiles or the 95th percentile of a number.",
            (_OF, _LOW, _HIGH, Field("at", "Which quantiles", usual="0.25,0.5,0.75"), _PER, *_LAST),
        ),
        Topic(
            "mean", "mean", "Mean",
            "The mean of a number over all people who have it, and how many they are.",
            (_OF, _LOW, _HIGH, _PER, *_LAST),
        ),
        Topic(
            "sum", "sum", "Sum",
            "The sum of a number over all people.",
            (_OF, _LOW, _HIGH, *_LAST),
        ),
        Topic(
            "count", "count", "How many people",
            "How many people the table has.",
            _LAST,
        ),
    )
}  # fmt: skip
"""All topics, in the order of the page."""

_WHOLE: Final = ("k", "limit", "most_items", "bins")
_APART: Final = ("low", "high", "units", "delta", "domain")


def topic_of(values: Mapping[str, str]) -> Topic:
    """The topic that a form names."""
    name = values.get("topic", "")
    if name not in TOPICS:
        raise ParameterError(f"there is nothing to find by the name {name!r}. Use one of {', '.join(TOPICS)}.")
    return TOPICS[name]


def with_defaults(values: Mapping[str, str]) -> dict[str, str]:
    """The fields of a form, and the usual value of each that is not there."""
    topic = topic_of(values)
    return {field.name: field.usual for field in topic.fields if not field.optional} | dict(values)


def options_of(values: Mapping[str, str], items: tuple[str, ...] | None) -> dict[str, Any]:
    """The options of the question, as the command takes them. `items` is the public list; None where nobody has one."""
    topic, options = topic_of(values), dict[str, Any]()
    known = {option.name for option in KINDS[topic.command].options}
    for field in topic.fields:
        text = values.get(field.name, "").strip()
        if field.name in _APART or not text:
            continue
        if field.name in _WHOLE:
            if not text.isascii() or not text.isdigit() or len(text) > 9:
                raise ParameterError(f"{field.label} must be a whole number: got {text}.")
            options[field.name] = int(text)
        else:
            options[field.name] = [text] if field.name == "by" else text
    names = {field.name for field in topic.fields}
    for field in topic.fields:
        if field.kind == "column" and field.name not in options:
            raise ParameterError(f"{field.label}: choose a column.")
    if "low" in names:
        options["bounds"] = (values.get("low", ""), values.get("high", ""))
    if "domain" in names:
        if items is not None:
            options["domain"] = [domain_text(items)]
        elif "delta" in known:
            options["delta"] = values.get("delta", "").strip() or _DELTA.usual
    return options


def domain_text(items: tuple[str, ...]) -> Any:
    """A list of items as an option: a range as its text, other items as they are. No file is ever looked for."""
    if len(items) == 1 and range_of(items[0]) is not None:
        return items[0]
    return items


def items_in(text: str) -> tuple[str, ...]:
    """The items that a person typed: one a line, or with commas in a single line.

    >>> items_in("flu\\ncold, bad\\n"), items_in("flu, cold"), items_in("1..12")
    (('flu', 'cold, bad'), ('flu', 'cold'), ('1..12',))
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) == 1 and "," in lines[0]:
        lines = [item for item in map(str.strip, lines[0].split(",")) if item]
    return tuple(dict.fromkeys(lines))
