"""What is released of counts under a bound says whom it is about, by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import lastbit as lb

VISITS = pd.DataFrame({"who": [1, 1, 1, 2], "item": ["a", "b", "c", "a"]})
ITEMS = ["a", "b", "c"]
SENTENCE = (
    "A person counts in 2 items at most. Whoever has more is missing from the others: an item may have more people."
)


def count(most: int | None) -> lb.Counts:
    return lb.count(VISITS, by="item", unit="who", domain=ITEMS, most_items=most)


@pytest.mark.parametrize("mechanism", [lb.DiscreteLaplace, lb.NoisyMax, lb.SubsetTopK])
def test_a_release_of_bounded_counts_says_whom_it_is_about(mechanism: Any) -> None:
    counts = count(2)
    options = {"k": 1} if mechanism is lb.SubsetTopK else {}
    release = mechanism.of(counts, epsilon=1, **options).release(counts)
    assert SENTENCE in str(release)
    assert SENTENCE in release.to_html()
    assert "at most 2 items a unit" in repr(counts)


@pytest.mark.parametrize("most", [None, 3, 9])
def test_where_nobody_is_left_out_nothing_is_said(most: int | None) -> None:
    counts = count(most)
    assert lb.DiscreteLaplace.of(counts, epsilon=1).release(counts).of_whom == ""
    assert lb.DiscreteLaplace(epsilon=1).release([5, 6]).of_whom == ""


def test_items_that_nobody_listed_and_a_ledger_say_it_too(tmp_path: Path) -> None:
    unlisted = lb.count(VISITS, by="item", unit="who", domain=lb.UNKNOWN, most_items=2)
    found = lb.DiscoverHistogram.of(unlisted, epsilon=1, delta="1e-6").release(unlisted)
    assert SENTENCE in str(found)
    ledger, counts = lb.Ledger(str(tmp_path / "books.db")), count(2)
    ledger.create("clinic", epsilon=9)
    mechanism = lb.DiscreteLaplace.of(counts, epsilon=1)
    first = ledger.release("clinic", mechanism, counts, query="items")
    again = ledger.release("clinic", mechanism, counts, query="items", reuse=True)
    assert first.of_whom == again.of_whom == SENTENCE
    assert first == again
