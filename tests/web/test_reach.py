"""Every option that a face may set can be reached there: on the cards of the page, and in the service."""

from __future__ import annotations

import re

import pytest

from lastbit.questions.kinds import KINDS
from lastbit.web.forms import TOPICS, fill_form, read_form
from lastbit.web.openapi import describe_kind

NOT_ON_THE_CARDS = {
    "epsilon": "the dials of the plan set it",
    "rho": "the dials of the plan are an epsilon",
    "within": "the dials of the plan set it",
    "weights": "an old word for of",
    "methods": "every result has the paragraph",
    "pivot": "the result offers it where the answer has two columns",
}
NUMBERS = ("together", "hide_below", "hide_wider", "round", "non_negative", "sort", "first")
"""The result offers them where it has a number for each row, or an interval."""


@pytest.mark.parametrize("kind", KINDS)
def test_every_option_of_a_kind_is_on_one_of_its_cards(kind: str) -> None:
    cards = [card for card in TOPICS.values() if card.kind == kind]
    if kind == "median":  # the card of quantiles asks for 0.5
        assert not cards
        return
    offered = {place.name for card in cards for place in card.all_fields} | {name for c in cards for name in c.fixed}
    options = {option.name for option in KINDS[kind].options if "page" in option.faces}
    missing = options - offered - NOT_ON_THE_CARDS.keys() - set(NUMBERS)
    assert missing == {"above": {"k"}, "count": {"bounds"}}.get(kind, set())


@pytest.mark.parametrize("topic", TOPICS)
def test_no_card_offers_an_option_twice_and_each_has_words_of_its_own(topic: str) -> None:
    card = TOPICS[topic]
    names = [place.name for place in card.all_fields]
    assert len(set(names)) == len(names)
    inputs = [*card.inputs({}), *card.more_inputs({}), *card.display_inputs({})]
    labels = [entry.label for entry in inputs]
    assert len(set(labels)) == len(labels), labels
    assert not [entry for entry in inputs if re.search(r"--\w", entry.help + entry.label)]
    assert not card.has_more({})


def test_the_service_describes_every_option_that_it_takes() -> None:
    for kind in KINDS.values():
        described = describe_kind(kind)["options"]
        assert set(described) == {option.name for option in kind.options if "service" in option.faces}
        assert not [name for name, option in described.items() if re.search(r"--\w", option["help"])]


def test_a_card_reads_lists_in_each_group() -> None:
    form = {"topic": "top", "by": "item", "in_each": "ward", "domain": "item: flu, cold\nward: 1..3", "one_each": "yes"}
    values = read_form(fill_form(form), {})
    assert values["domain"] == {"item": "flu, cold", "ward": "1..3"}
    assert (values["in_each"], values["one_each"]) == ("ward", True)
    assert TOPICS["top"].has_more(form)


def test_a_colon_in_an_item_names_no_column() -> None:
    values = read_form(fill_form({"topic": "top", "by": "time", "domain": "10:30\n11:00"}), {})
    assert values["domain"] == "10:30\n11:00"


def test_a_column_that_is_read_needs_no_other_list() -> None:
    values = read_form(fill_form({"topic": "count", "month": "day", "domain": "2024-01..2024-12"}), {})
    assert (values["month"], values["domain"]) == ("day", "2024-01..2024-12")
    assert "domain" not in read_form(fill_form({"topic": "count", "weekday": "day"}), {})
