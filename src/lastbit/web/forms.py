"""The cards and the forms of the page: which options each card shows, in which order, under which words.

What an option takes, its default, its choices and its help come from the option itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from lastbit.errors import ParameterError
from lastbit.questions.answer_view import AnswerView
from lastbit.questions.domain import Domain
from lastbit.questions.domains import Domains
from lastbit.questions.group_types import READINGS
from lastbit.questions.kind import Kind
from lastbit.questions.kinds import find_kind
from lastbit.questions.labels import label_of
from lastbit.questions.list_types import TextList
from lastbit.questions.option import Option
from lastbit.questions.value_types import Flag, OneOf, describe
from lastbit.questions.whole_number_types import WholeNumber
from lastbit.questions.within import UNITS
from lastbit.web.display import display_texts


@dataclass(frozen=True)
class Field:
    """The words around one option of a card."""

    name: str
    """The name of the option."""
    start: str = ""
    """What the form begins with, where the option has no default; two values have a blank between them."""
    choices: Mapping[str, str] = field(default_factory=dict)
    """The choices that the card offers, and the words for each."""


@dataclass(frozen=True)
class Input:
    """One input of a form, as the template shows it."""

    name: str
    label: str
    value: str
    help: str
    control: str
    """text, number, column, columns, domain or choice."""
    optional: bool
    choices: Mapping[str, str]


@dataclass(frozen=True)
class Topic:
    """A card: what a person may want to find, and the kind of question that finds it."""

    name: str
    kind: str
    label: str
    sentence: str
    fields: tuple[Field, ...]
    fixed: Mapping[str, Any] = field(default_factory=dict)
    """Options that the card itself sets."""
    has_numbers: bool = True
    """Whether the answer has a number for each row."""
    has_intervals: bool = True
    """Whether each of them has an interval."""

    @property
    def display(self) -> tuple[Field, ...]:
        """The fields that say how the answer is shown."""
        return _choose_display(self.has_numbers, self.has_intervals, (_PIVOT, _WHOLE) if self.kind == "tables" else ())

    @cached_property
    def more(self) -> tuple[Field, ...]:
        """The fields of all other options that the page may set: on the first card of a kind, and folded there."""
        cards = [card for card in TOPICS.values() if card.kind == self.kind]
        if cards[0] is not self:
            return ()
        shown = {*ELSEWHERE, *(place.name for card in cards for place in (*card.fields, *card.display))}
        shown |= {name for card in cards for name in card.fixed}
        shown |= {"k"} if "limit" in self.options else set()
        shown |= {"bounds"} if "of" not in self.options else set()
        options = [option for option in find_kind(self.kind).options if "page" in option.faces]
        return tuple(Field(option.name) for option in options if option.name not in shown)

    @property
    def all_fields(self) -> tuple[Field, ...]:
        """The fields of the form, with those of the display."""
        return (*self.fields, *self.more, *self.display)

    @cached_property
    def options(self) -> dict[str, Option]:
        """The options of the question, by name."""
        return {option.name: option for option in find_kind(self.kind).options}

    @property
    def takes_unlisted_items(self) -> bool:
        """Whether items may be published that nobody listed."""
        return self.kind != "tables" and "delta" in (field.name for field in self.fields)

    @property
    def has_optional_groups(self) -> bool:
        """Whether all people may be one group."""
        return _GROUPS[0] in self.fields

    def inputs(self, form: Mapping[str, str]) -> list[Input]:
        """Return the inputs of the question, with what a person typed before."""
        return self._list_inputs(self.fields, form)

    def more_inputs(self, form: Mapping[str, str]) -> list[Input]:
        """Return the inputs of all other options, with what a person typed before."""
        return self._list_inputs(self.more, form)

    def display_inputs(self, form: Mapping[str, str]) -> list[Input]:
        """Return the inputs of the display, with what a person typed before."""
        return self._list_inputs(self.display, form)

    def has_more(self, form: Mapping[str, str]) -> bool:
        """Return whether a person has typed something into the inputs of other options."""
        return [entry.value for entry in self.more_inputs(form)] != [entry.value for entry in self.more_inputs({})]

    def _list_inputs(self, fields: Iterable[Field], form: Mapping[str, str]) -> list[Input]:
        return list_inputs(fields, find_kind(self.kind), self.options, fill_form({**form, "topic": self.name}))


def list_inputs(
    fields: Iterable[Field], kind: Kind, options: Mapping[str, Option], filled: Mapping[str, str]
) -> list[Input]:
    """Return the inputs of some fields of a form, with what a person typed before."""
    inputs = []
    for place in fields:
        option = options[place.name]
        start = _start(place, option)
        inputs += [
            Input(
                name,
                label,
                filled.get(name, ""),
                kind.explain(option, "page"),
                _control(option),
                not option.required and not any(start) and not _choices(place, option),
                _choices(place, option),
            )
            for name, label in zip(input_names(option), label_of(option), strict=True)
        ]
    return inputs


def list_display_inputs(view: AnswerView) -> list[Input]:
    """Return the inputs that show a result otherwise; none where the server does not know its question."""
    request = view.request
    if request is None:
        return []
    options = {option.name: option for option in request.kind.display_options}
    several: tuple[Field, ...] = ()
    if len(request.values.get("by") or ()) > 1:
        several = (_PIVOT, _WHOLE) if "whole" in options else (_PIVOT,)
    fields = _choose_display(view.has_numbers, view.report.has_intervals, several)
    return list_inputs((_LEVEL, *fields), request.kind, options, {"level": request.level, **display_texts(request)})


def _choose_display(has_numbers: bool, has_intervals: bool, several: tuple[Field, ...]) -> tuple[Field, ...]:
    """Return the fields that say how an answer with these numbers is shown."""
    numbers = [place for place in DISPLAY_OF_NUMBERS if has_intervals or place.name not in ("together", "hide_wider")]
    return (*DISPLAY, *(numbers if has_numbers else ()), *several)


def input_names(option: Option) -> list[str]:
    """Return the names of the inputs of an option: one for each word that it takes.

    >>> from lastbit.questions.shared_options import BOUNDS, OF
    >>> input_names(OF), input_names(BOUNDS)
    (['of'], ['bounds_low', 'bounds_high'])
    """
    if option.type.words < 2:
        return [option.name]
    return [f"{option.name}_{word.lower()}" for word in option.type.metavar.split()]


def _start(place: Field, option: Option) -> list[str]:
    """Return what each input of an option begins with: the default of the option, or what the card suggests."""
    if isinstance(option.type, Flag):
        return [next(iter(_choices(place, option)))]
    words = [] if option.default is None or option.required else option.type.arguments(option.default)
    if words:
        return words[0]
    return place.start.split() or [""] * option.type.words if option.type.words > 1 else [place.start]


def _choices(place: Field, option: Option) -> Mapping[str, str]:
    """Return the choices of an option, and the words for each: those of the card, or the option's own."""
    if place.choices or not isinstance(option.type, OneOf | Flag):
        return place.choices
    if isinstance(option.type, Flag):
        return {_NO: _NO, _YES: _YES}
    return {**({"": "not said"} if option.default is None else {}), **{word: word for word in option.type.choices}}


def _control(option: Option) -> str:
    if isinstance(option.type, Domains):
        return "domain"
    if isinstance(option.type, OneOf | Flag):
        return "choice"
    if option.type.metavar == "COLUMN":
        return "columns" if isinstance(option.type, TextList) else "column"
    return "number" if isinstance(option.type, WholeNumber) else "text"


_YES: Final = "yes"
_NO: Final = "no"
"""The choice that sets an option of true or false; any other leaves it out."""

_BY: Final = Field("by")
_DOMAIN: Final = Field("domain")
_DELTA: Final = Field("delta")
_K: Final = Field("k")
_OF: Final = Field("of")
_BOUNDS: Final = Field("bounds", "0 1000")
_RULES: Final = {
    "mean": "the mean of them",
    "total": "the total of them",
    "latest": "the latest of them",
    "first": "the first of them",
    "any": "the largest of them",
    "row": "each of them",
}
_PER: Final = Field("per", choices=_RULES)
_PER_OF_SUMS: Final = Field("per", choices={"total": _RULES["total"], **_RULES})
_GROUPS: Final = (Field("by"), Field("domain"))
_LEVEL: Final = Field("level")
_LAST: Final = (Field("where"), Field("people", str(UNITS)), _LEVEL)
DISPLAY: Final = (Field("title"), Field("noun"), Field("row_noun"))
"""How any answer is shown."""
DISPLAY_OF_NUMBERS: Final = (
    Field("together"),
    Field("hide_below"),
    Field("hide_wider"),
    Field("round"),
    Field("non_negative", choices={_NO: "as they were drawn", _YES: "as 0"}),
    Field("sort", choices={"": "as they are listed", "value": "with the largest number first"}),
    Field("first"),
)
"""How an answer with a number for each row is shown."""
_PIVOT: Final = Field("pivot")
_WHOLE: Final = Field("whole", choices={_NO: "as they were drawn", _YES: "whole and not below 0"})

ELSEWHERE: Final = {
    "epsilon": "the dials of the plan set it",
    "rho": "the dials of the plan are an epsilon",
    "within": "the dials of the plan set it",
    "weights": "an old word for of",
    "methods": "every result has the paragraph",
    **dict.fromkeys(
        ("pivot", *(place.name for place in DISPLAY_OF_NUMBERS)), "the result offers it where it has such numbers"
    ),
}
"""Options that no card has, and why."""

TOPICS: Final[dict[str, Topic]] = {
    topic.name: topic
    for topic in (
        Topic(
            "describe",
            "describe",
            "About the table",
            "One page about a table that nobody has looked at: people, rows, missing values, quartiles, common items.",
            (
                *map(Field, ("numbers", "dates", "texts", "of")),
                _DELTA,
                *_LAST,
            ),
            has_numbers=False,
        ),
        Topic(
            "top",
            "top",
            "Top items",
            "The items that most people have, best first, and how far each is ahead of the next.",
            (_BY, _DOMAIN, _DELTA, _K, *_LAST),
            has_numbers=False,
        ),
        Topic(
            "set",
            "top",
            "Top items as a set",
            "The items that most people have, without ranks. It often finds more of them than a ranked list does.",
            (_BY, _DOMAIN, _K, Field("form"), *_LAST),
            {"set": True},
            has_numbers=False,
        ),
        Topic(
            "measure",
            "measure",
            "Top items with their numbers",
            "The items that most people have, and an estimate of how many have each.",
            (_BY, _DOMAIN, _K, *_LAST),
        ),
        Topic(
            "above",
            "above",
            "Items over a threshold",
            "The first items of a list that more people have than a number you choose, and by how many.",
            (
                _BY,
                _DOMAIN,
                Field("threshold", "100"),
                Field("limit"),
                Field(
                    "numbers",
                    choices={_NO: "no: how far each is above", _YES: "yes, and how far each is above"},
                ),
                *_LAST,
            ),
            has_numbers=False,
        ),
        Topic(
            "choose",
            "choose",
            "One item",
            "The item that most people have, or a few, without numbers. It costs the least.",
            (_BY, _DOMAIN, _DELTA, _K, *_LAST),
            has_numbers=False,
        ),
        Topic(
            "histogram",
            "histogram",
            "Histogram of items",
            "How many people each item has. With a list every item is shown, without one the common ones.",
            (_BY, _DOMAIN, _DELTA, Field("most_items"), *_LAST),
        ),
        Topic(
            "bins",
            "histogram",
            "Histogram of numbers",
            "How many people fall into each of a few equal ranges of a number.",
            (_OF, _BOUNDS, Field("bins", "10"), *_LAST),
        ),
        Topic(
            "quantile",
            "quantile",
            "Quantiles",
            "The median, the quartiles or the 95th percentile of a number.",
            (_OF, _BOUNDS, Field("at", "0.25,0.5,0.75"), _PER, *_GROUPS, *_LAST),
            has_intervals=False,
        ),
        Topic(
            "mean",
            "mean",
            "Mean",
            "The mean of a number over all people who have it, their total, and how many they are.",
            (_OF, _BOUNDS, _PER, *_GROUPS, *_LAST),
        ),
        Topic(
            "sum",
            "sum",
            "Sum",
            "The sum of a number over all people, their mean, and how many have it.",
            (_OF, _BOUNDS, _PER_OF_SUMS, *_GROUPS, *_LAST),
        ),
        Topic(
            "share",
            "share",
            "Share",
            "The share of people of whom something is true, with both numbers, in all or in each group.",
            (Field("of", "kind = 'emergency'"), *_GROUPS, *_LAST),
        ),
        Topic(
            "tables",
            "tables",
            "Tables that agree",
            "How many people there are by each of some columns and by each two of them. All sums agree.",
            (
                Field("by"),
                Field("domain"),
                Field("edges"),
                Field("ways", "2"),
                Field("delta", "1e-6"),
                *_LAST,
            ),
        ),
        Topic(
            "count",
            "count",
            "How many people",
            "How many people the table has, or how many rows; in all or in each group.",
            (*_GROUPS, _DELTA, Field("rows"), Field("most_rows"), *_LAST),
        ),
        Topic(
            "different",
            "count",
            "Different values",
            "How many different values of a column people have, each counted once.",
            (Field("different"), Field("most_items", "5"), *_LAST),
        ),
    )
}
"""All cards, in the order of the page."""

_USUAL_DELTA: Final = "1e-6"
"""What publishing unknown items may cost in delta, where a person leaves it blank."""


def find_topic(form: Mapping[str, str]) -> Topic:
    """Return the card that a form is of."""
    name = form.get("topic", "")
    if name not in TOPICS:
        raise ParameterError(f"there is nothing to find by the name {describe(name)}. Use one of {', '.join(TOPICS)}.")
    return TOPICS[name]


def fill_form(form: Mapping[str, str]) -> dict[str, str]:
    """Return the form with what it begins with, for each input that is not there."""
    topic = find_topic(form)
    start: dict[str, str] = {}
    for place in topic.all_fields:
        option = topic.options[place.name]
        start |= zip(input_names(option), _start(place, option), strict=True)
    return start | dict(form)


def _split_domain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the lists of several columns, where each line names its column: `region: north, south`."""
    names = {str(values.get(name, "")).strip() for name in ("in_each", "by")}
    names |= {name.strip() for name in str(values.get("by", "")).split(",")}
    lines = [line.partition(":") for line in str(values.get("domain", "")).splitlines() if line.strip()]
    if not lines or not all(colon and column.strip() in names for column, colon, _ in lines):
        return {}
    return {"domain": {column.strip(): items.strip() for column, _, items in lines}}


def read_form(form: Mapping[str, str], lists: Mapping[str, Domain]) -> dict[str, Any]:
    """Return what a person typed for each option, as the option parses it. A blank input leaves its option out."""
    topic, values = find_topic(form), dict[str, Any]()
    for place in topic.all_fields:
        option = topic.options[place.name]
        texts = [form.get(name, "").strip() for name in input_names(option)]
        if isinstance(option.type, Flag):
            # Any other text goes on to the option, which refuses it.
            values[option.name] = {_YES: True, _NO: False, "": False}.get(texts[0], texts[0])
        elif any(texts):
            values[option.name] = texts[0] if len(texts) == 1 else texts
    values |= topic.fixed
    if "domain" not in (place.name for place in topic.fields):
        return values
    values |= _split_domain(values)
    is_read = not values.keys().isdisjoint(READINGS)
    if topic.has_optional_groups and "by" not in values and not is_read:
        values.pop("domain", None)  # all people are one group
        return values
    choice, column = form.get("domain_from", "typed"), values.get("by", "")
    if choice == "list":
        if column not in lists:
            raise ParameterError(f"the server has no public list for {describe(column)}. Type the items.")
        values["domain"] = lists[column]
    elif choice == "unknown":
        values.pop("domain", None)
        if topic.takes_unlisted_items:
            values.setdefault("delta", _USUAL_DELTA)
    elif "domain" not in values and not is_read:
        raise ParameterError("Public items: type at least one, or choose another way to name them.")
    return values
