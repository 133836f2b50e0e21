"""A release of a mechanism says in words what it is, and what it took each row for."""

from __future__ import annotations

import re
from typing import Any

import pytest

import lastbit as lb
from tests.ledger.test_published import RELEASES

EACH_ROW = "Each row was taken for one person."

NUMBERS = [3, 4, 5] * 40


@pytest.mark.parametrize("name", RELEASES)
def test_a_title_and_a_paragraph_have_no_name_of_a_class(name: str) -> None:
    release: Any = RELEASES[name]()
    # Snapping and tables are words, too.
    classes = [part for part in release.mechanism.split(" + ") if re.search("[a-z][A-Z]", part)]
    said = f"{release.title} {release.methods()}"
    assert not [part for part in classes if part in said.split()]
    assert release.cost.text.split(",")[0].replace(" ", " = ", 1) in release.methods()
    assert "To cite: lastbit" in said


@pytest.mark.parametrize(
    "mechanism",
    [
        lb.NoisyMean(epsilon=1, bounds=(0, 10)),
        lb.Quantile(epsilon=1, bounds=(0, 10)),
        lb.Quantiles(qs=[0, 1], epsilon=1, bounds=(0, 10)),
    ],
    ids=lambda mechanism: mechanism.name,
)
def test_a_column_of_numbers_is_taken_for_people_and_the_release_says_so(mechanism: Any) -> None:
    release = mechanism.release(NUMBERS)
    assert release.notes == (EACH_ROW,)
    for text in (str(release), release.to_html(), release.methods()):
        assert EACH_ROW in text
        assert str(len(NUMBERS)) not in text
    assert release.to_dict()["notes"] == [EACH_ROW]


def test_sums_of_people_say_nothing_of_rows() -> None:
    sums = lb.mean_sums(NUMBERS, bounds=(0, 10))
    release = lb.NoisyMean.of(sums, epsilon=1).release(sums)
    assert release.notes == ()
    assert "notes" not in release.to_dict()


def test_a_mean_of_numbers_is_built_of_them() -> None:
    mechanism = lb.NoisyMean.of(NUMBERS, epsilon=9, bounds=(0, 10))
    assert 3 < mechanism.release(NUMBERS).mean < 5
    assert mechanism == lb.NoisyMean(epsilon=9, bounds=(0, 10))
    with pytest.raises(lb.ParameterError, match=r"NoisyMean\.of needs bounds"):
        lb.NoisyMean.of(NUMBERS, epsilon=9)
