"""Every sentence and every column of every question has an entry: a number that no entry reads fails here."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import combinations, product
from typing import Any

import pytest

import lastbit as lb
from lastbit.errors import ParameterError
from lastbit.output.numbers import are_intervals, are_numbers
from lastbit.questions.kinds import KINDS
from lastbit.questions.question import Question
from tests.fixed_words import FixedWords
from tests.truth.claims import ENTRIES, NoEntry, claims_of_column, match_entries
from tests.truth.harness import FUZZ

NUMBERS = {"of": "number", "bounds": (0, 50)}
CHOSEN = {"of": "number", "bounds": "auto"}
BOTH = {"of": ("number", "letters"), "bounds": {"number": (0, 50), "letters": "auto"}}
ITEMS = {"by": "item", "domain": ("a", "b", "c")}
SUMS = {"weights": "number", "bounds": (0, 9)}
COST = ({"epsilon": 1}, {"rho": "1/8"})
UNIT = ({"unit": "person"}, {"unit": "row"}, {"unit": ("person", "day"), "noun": "person,people"})
SHARE = ({}, {"people_share": 0}, {"people_share": "1/4"})
BOUND = ({}, {"most_items": 1}, {"most_items": 2}, {"most_items": "auto"}, {"most_items": "all"})
PER = ({}, {"per": "total"}, {"per": "latest", "latest_by": "day"}, {"per": "first", "first_by": "day"}, {"per": "any"},
       {"rows": True, "most_rows": 2}, {"per": "row", "most_rows": 1},
       {"per": "row", "most_rows": 3})  # fmt: skip
MISSING = ({}, {"missing": "lowest"}, {"missing": 7})
LEVEL = ({}, {"level": "0.5"}, {"level": "0.999"})
LISTED = (ITEMS, {**ITEMS, **SUMS}, {**ITEMS, **SUMS, "missing": 3})
UNLISTED = ({"by": "item", "delta": "1e-6"}, {"by": "item", "delta": "1e-6", **SUMS})
COUNTED = ({**ITEMS, "counts": "number", "sensitivity": 1},)
BINS = (
    {**NUMBERS, "bins": 3},
    {**CHOSEN, "bins": 3},
    {"of": "number", "edges": (0, 3, 9), "missing": "bin"},
    {"of": "number", "edges": (0, 3), "missing": "lowest"},
    {"of": "number", "edges": (0, 3), "missing": 2},
    {"month": "day", "bounds": ("2024-01", "2024-03")},
)

PAGE = {"source": "table.jsonl", "unit": "person", "numbers": ("a",), "dates": ("b",), "texts": ("c",)}
AXES = (
    {"by": ("item",), "domain": {"item": ("a", "b")}, "edges": {"number": (0, 5, 9)}},
    {"by": ("item", "day"), "month": "day", "domain": {"item": ("a", "b"), "day": "2024-01..2024-02"}, "ways": 1},
)

FORMS: dict[str, list[tuple[tuple[Mapping[str, Any], ...], ...]]] = {
    "describe": [
        (
            (PAGE, {**PAGE, "of": ("a",)}, {**PAGE, "delta": "1e-6"}, {**PAGE, "resolution": 1, "texts": ()}),
            COST, LEVEL, ({}, {"weight": ("a=3",)}),
        ),
    ],
    "count": [
        (UNIT, COST, LEVEL),
        (({"rows": True, "most_rows": 1}, {"rows": True, "most_rows": 4}), UNIT, COST, SHARE),
        (({**ITEMS, "rows": True, "most_rows": 1}, {**ITEMS, "rows": True, "most_rows": 4}), COST, SHARE),
        (({"different": "item"}, {"different": "day", **ITEMS}), UNIT, COST, SHARE, BOUND[1:3]),
        (({"different": "item", "domain": {"item": ["a", "b"]}},), UNIT, COST, SHARE, BOUND),
        ((*LISTED, *UNLISTED), UNIT, COST, SHARE, (*BOUND, {"one_each": True})),
        (COUNTED, COST, ({}, {"monotone": True})),
    ],
    "histogram": [(BINS, UNIT, COST, SHARE, BOUND), ((*LISTED, *UNLISTED), UNIT, COST, BOUND)],
    "sum": [
        ((NUMBERS,), UNIT, COST, PER, MISSING, SHARE),
        ((CHOSEN,), UNIT, COST, PER, SHARE, LEVEL),
        ((BOTH, {**BOTH, **ITEMS}), UNIT, COST, ({}, {"rows": True, "most_rows": 2})),
        (({**NUMBERS, **ITEMS},), UNIT, COST, SHARE, BOUND, PER),
    ],
    "mean": [
        ((NUMBERS,), UNIT, COST, PER, MISSING, SHARE),
        ((CHOSEN,), UNIT, COST, PER, SHARE),
        ((BOTH, {**BOTH, **ITEMS}), UNIT, COST, BOUND),
        (({**NUMBERS, "epsilon": "1/10000"}, {**NUMBERS, **ITEMS, "epsilon": "1/10000"}), UNIT),
        (({**NUMBERS, **ITEMS},), UNIT, COST, SHARE, BOUND, PER),
    ],
    "share": [
        (({"of": "kind = 'x' and cost > 3.5"},), UNIT, COST, SHARE, ({}, {"rows": True, "most_rows": 2})),
        (({"of": "cost > 3", **ITEMS}, {"of": "a > 1", **ITEMS, "epsilon": "1/10000"}), UNIT, COST, SHARE, BOUND),
    ],
    "median": [((NUMBERS,), UNIT, COST, PER, SHARE), (({**NUMBERS, **ITEMS},), UNIT, COST, SHARE, BOUND, PER)],
    "quantile": [
        (({**NUMBERS, "at": ("0", "1/3", "0.9")}, {**NUMBERS, "at": ("1",)}), UNIT, COST, PER, SHARE),
        (({**NUMBERS, **ITEMS, "at": ("1/3", "0.9")},), UNIT, COST, SHARE, BOUND),
    ],
    "top": [
        ((*LISTED, *COUNTED), UNIT, COST, ({"k": 1}, {"k": 3}), LEVEL),
        (LISTED, UNIT, COST, ({"set": True, "k": 1}, {"set": True, "k": 2, "form": "left-out"})),
        (UNLISTED, UNIT, COST, SHARE, BOUND, ({"k": 1}, {"k": 12})),
    ],
    "choose": [
        (LISTED, UNIT, COST, ({}, {"k": 2}, {"k": 2, "delta": "1e-6"})),
        (UNLISTED, UNIT, COST, SHARE, BOUND, ({}, {"k": 2})),
    ],
    "measure": [((*LISTED, *COUNTED), UNIT, COST, ({"k": 1}, {"k": 3}), ({}, {"set": True}))],
    "above": [((*LISTED, *COUNTED), UNIT, COST, ({"threshold": 3}, {"threshold": 3, "limit": 2}), LEVEL)],
    "tables": [
        (UNIT, AXES, ({"rho": "1/2"}, {"delta": "1e-6"}), SHARE, ({}, {"most_items": 1}, {"most_items": 2}),
         ({}, {"latest_by": "day"}, {"missing": "show"}), ({}, {"ways": 1}), LEVEL),
        (UNIT, ({"by": ("item", "day"), "domain": {"item": ("a", "b"), "day": tuple(map(str, range(1500)))}},),
         ({"rho": "1/2"},), SHARE, ({"ways": 1}, {"ways": 2})),
    ],
}  # fmt: skip
"""For each kind its options, as choices of which each is combined with each other."""


def questions(kind: str) -> Iterator[tuple[dict[str, Any], Question]]:
    """Yield questions in which any two choices of a kind stand together somewhere; in the long run, all combinations.

    Some combinations are refused: two choices that only such have stand together nowhere.
    """
    for choices in FORMS[kind]:
        seen: set[Any] = set()
        for parts in product(*map(enumerate, choices)):
            pairs = {*combinations(enumerate(place for place, _ in parts), min(2, len(parts)))}
            if not FUZZ and pairs <= seen:
                continue
            options: dict[str, Any] = {"epsilon": 1, "source": "table.csv"}
            for _, part in parts:
                options |= part
            if "rho" in options:
                del options["epsilon"]
            options = {name: list(value) if isinstance(value, tuple) else value for name, value in options.items()}
            try:
                question = KINDS[kind].parse(options).question
            except ParameterError:
                continue
            seen |= pairs
            yield options, question


@pytest.mark.parametrize("kind", FORMS)
def test_every_sentence_and_column_of_every_form_has_an_entry(kind: str) -> None:
    asked = 0
    for options, question in questions(kind):
        for people in (0, 1, 300) if asked % 7 == 0 else (300,):
            asked += 1
            ready = question.prepare(question.sample(people))
            report = question.report(ready(lb.Sampler(FixedWords(f"{kind} {sorted(map(str, options.items()))}"))))
            for name, column in report.columns.items():
                if are_numbers(list(column)) or are_intervals(list(column)):
                    claims_of_column(name)
            for sentence in (*report.notes, *question.notes, question.accuracy(people).sentence):
                list(match_entries(sentence))
    assert asked > 10


@pytest.mark.parametrize("options", [ITEMS, {**NUMBERS, "bins": 3}], ids=["items", "bins"])
def test_rows_of_listed_items_have_a_sample(options: dict[str, Any]) -> None:
    """A plan shows one: a row is in one item."""
    parsed = {name: list(value) if isinstance(value, tuple) else value for name, value in options.items()}
    question = KINDS["histogram"].parse({"source": "table.csv", "unit": "row", "epsilon": 1, **parsed}).question
    question.prepare(question.sample(300))


def test_every_kind_has_its_forms() -> None:
    assert {*FORMS} == KINDS.keys()


@pytest.mark.parametrize(
    "text",
    [
        "The mean is 5.",
        "Each interval holds with probability 95% or more. It is 4 units wide.",
        "A person counts in 3 items at most, picked at random: 5 people have more.",
    ],
)
def test_a_number_without_an_entry_is_refused(text: str) -> None:
    with pytest.raises(NoEntry):
        list(match_entries(text))


def test_a_column_without_an_entry_is_refused() -> None:
    with pytest.raises(NoEntry):
        claims_of_column("people in all")


def test_no_entry_reads_a_number_that_it_does_not_name() -> None:
    """What may stand for words has no digit, but for a command, which is checked itself."""
    for template in ENTRIES:
        assert not re.search(r"\d", re.sub(r"\{\w+\}|as 1[,:]|counts 0\.|from 0 ", "", template)), template
