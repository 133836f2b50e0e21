"""The nouns of a question: in sentences, columns and messages, and never in its identity."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lastbit as lb
from lastbit.questions.identity import identity_of
from lastbit.questions.kinds import KINDS

OPTIONS: dict[str, Any] = {"unit": "who", "by": "ward", "domain": "a,b", "epsilon": 1, "one_each": True}


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    path = tmp_path / "visits.csv"
    path.write_text("who,ward,cost\n" + "".join(f"{who},{'ab'[who % 2]},{who % 7}\n" for who in range(300)))
    return path


def test_people_have_the_noun_that_was_asked_for(visits: Path) -> None:
    named = str(lb.ask("count", visits, **OPTIONS, noun="patient,patients"))
    assert "patients counted" in named
    assert "A patient counts in one item, picked at random" in named
    assert " people" not in named
    plain = str(lb.ask("count", visits, **OPTIONS))
    assert "A person counts in one item" in plain
    assert " unit" not in plain


def test_where_each_row_is_one_people_are_rows(visits: Path) -> None:
    said = str(lb.ask("count", visits, by="ward", domain="a,b", epsilon=1, row_noun="visit", noun="patient"))
    assert "visits" in said
    assert "patient" not in said


def test_rows_have_their_noun(visits: Path) -> None:
    options = {"of": "cost", "unit": "who", "per": "row", "most_rows": 2, "bounds": (0, 9), "epsilon": 1}
    said = str(lb.ask("mean", visits, **options, noun="employee", row_noun="visit"))
    assert "At most 2 visits of an employee count, picked at random" in said
    assert "Each visit has one number, its cost" in said


def test_nouns_are_no_part_of_a_questions_identity() -> None:
    plain = KINDS["count"].parse({"source": "v.csv", **OPTIONS})
    assert identity_of(plain) == identity_of(KINDS["count"].parse({"source": "v.csv", **OPTIONS, "noun": "cat,cats"}))


@pytest.mark.parametrize("noun", ["", ",", "a,b,c", "a,", "x" * 41, "two\nlines", 7, ["a"] * 3, [1, 2]])
def test_what_is_no_noun_is_refused(noun: Any) -> None:
    with pytest.raises(lb.ParameterError, match="--noun must be a noun for one and for more"):
        KINDS["count"].parse({"source": "v.csv", **OPTIONS, "noun": noun})
