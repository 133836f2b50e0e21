"""Numbers in sentences: one of a thing is no plural, and the 31st is no 31th."""

from __future__ import annotations

import pytest

import lastbit as lb
from lastbit.questions.kinds import KINDS


def test_one_candidate_is_no_plural() -> None:
    with pytest.raises(lb.ParameterError, match=r"got k=2 and 1 candidate\. "):
        lb.NoisyTopK(k=2, epsilon=1).release([5])


@pytest.mark.parametrize(("k", "place", "others"), [(1, "11th", "1 other item"), (3, "31st", "3 other items")])
def test_a_promise_says_the_place_and_the_others(k: int, place: str, others: str) -> None:
    asked = {"source": "visits.csv", "by": "page", "unit": "person", "k": k, "epsilon": 1, "delta": "1e-6"}
    sentence = KINDS["top"].parse(asked).question.accuracy(1000).sentence
    assert f"than the {place} of all items" in sentence
    assert f"puts {others} ahead" in sentence


def test_one_item_is_no_plural() -> None:
    counts = lb.Counts(items=["flu"], values=[3], most_items=1)
    assert repr(counts) == "<Counts: 1 item, sensitivity 1, not monotone, at most 1 item a unit>"
    assert repr(lb.Unlisted.of({"flu": 3}, most_items=1)) == "<Unlisted: sensitivity 1, at most 1 item a unit>"
