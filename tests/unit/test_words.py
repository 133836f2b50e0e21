"""Numbers in sentences: one of a thing is no plural, and the 31st is no 31th."""

from __future__ import annotations

import json

import pytest

import lastbit as lb
from lastbit.ledger.questions import question_of
from lastbit.questions.kinds import KINDS


def test_one_candidate_is_no_plural() -> None:
    with pytest.raises(lb.ParameterError, match=r"got k=2 and 1 candidate\. "):
        lb.NoisyTopK(k=2, epsilon=1).release([5])


@pytest.mark.parametrize(("k", "place", "others"), [(1, "11th", "1 other item"), (3, "31st", "3 other items")])
def test_a_promise_says_the_place_and_the_others(k: int, place: str, others: str) -> None:
    asked = KINDS["top"].build(source=["visits.csv"], by=["page"], unit="person", k=k, epsilon="1", delta="1e-6")
    assert f"than the {place} of all items" in asked.question.promise
    assert f"puts {others} ahead" in asked.question.promise


def test_one_item_is_no_plural_and_older_books_are_still_found() -> None:
    counts = lb.Counts(items=["flu"], values=[3], most_items=1)
    assert repr(counts) == "<Counts: 1 item, sensitivity 1, not monotone, at most 1 item a unit>"
    assert repr(lb.Unlisted.of({"flu": 3}, most_items=1)) == "<Unlisted: sensitivity 1, at most 1 item a unit>"
    # As books of older versions have it.
    said = "<Counts: 1 items, sensitivity 1, not monotone, at most 1 items a unit>"
    assert json.loads(question_of("by diagnosis", (counts,), {}))["values"][0][0] == said
    more = lb.Counts(items=range(11), values=[3] * 11, most_items=21)
    assert json.loads(question_of("by diagnosis", (more,), {}))["values"][0][0] == repr(more)
