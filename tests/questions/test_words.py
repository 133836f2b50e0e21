"""The nouns of a question: in sentences, columns and messages, and never in its identity."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

import lastbit as lb
from lastbit.questions.identity import identity_of
from lastbit.questions.kinds import KINDS
from lastbit.questions.within import describe_percent

OPTIONS: dict[str, Any] = {"unit": "who", "by": "ward", "domain": "a,b", "epsilon": 1, "one_each": True}


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    path = tmp_path / "visits.csv"
    path.write_text("who,ward,cost\n" + "".join(f"{who},{'ab'[who % 2]},{who % 7}\n" for who in range(300)))
    return path


def test_people_have_the_noun_that_was_asked_for(visits: Path) -> None:
    named = str(lb.ask("count", visits, **OPTIONS, noun="patient,patients"))
    assert "patients counted" in named
    assert "A patient counts in one ward, picked at random" in named
    assert " people" not in named
    plain = str(lb.ask("count", visits, **OPTIONS))
    assert "A person counts in one ward" in plain
    assert " unit" not in plain


def test_where_each_row_is_one_people_are_rows(visits: Path) -> None:
    said = str(
        lb.ask("count", visits, unit="row", by="ward", domain="a,b", epsilon=1, row_noun="visit", noun="patient")
    )
    assert "visits" in said
    assert "patient" not in said


def test_rows_have_their_noun(visits: Path) -> None:
    options = {"of": "cost", "unit": "who", "per": "row", "most_rows": 2, "bounds": (0, 9), "epsilon": 1}
    said = str(lb.ask("mean", visits, **options, noun="employee", row_noun="visit"))
    assert "At most 2 visits of an employee count, picked at random" in said
    assert "Each visit has one number, its cost" in said


@pytest.mark.parametrize("noun", ["patient", "patients", "patient,patients", ["patient", "patients"], "Patients "])
def test_one_form_of_a_noun_brings_the_other(visits: Path, noun: Any) -> None:
    said = str(lb.ask("count", visits, **OPTIONS, noun=noun)).lower()
    assert "patientss" not in said
    assert "any one patient;" in said


def test_nouns_are_no_part_of_a_questions_identity() -> None:
    plain = KINDS["count"].parse({"source": "v.csv", **OPTIONS})
    assert identity_of(plain) == identity_of(KINDS["count"].parse({"source": "v.csv", **OPTIONS, "noun": "cat,cats"}))


@pytest.mark.parametrize("noun", ["", ",", "a,b,c", "a,", "x" * 41, "two\nlines", 7, ["a"] * 3, [1, 2]])
def test_what_is_no_noun_is_refused(noun: Any) -> None:
    with pytest.raises(lb.ParameterError, match="--noun must be a noun for one and for more"):
        KINDS["count"].parse({"source": "v.csv", **OPTIONS, "noun": noun})


def test_groups_are_called_what_their_column_holds(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    path.write_text("who,day,age,area\n" + "".join(f"{who},2026-01-0{1 + who % 9},{who},n\n" for who in range(60)))
    options = {"unit": "who", "epsilon": 1, "most_items": 2}
    months = lb.ask("count", path, **options, month="day", domain="2026-01..2026-03")
    text = " ".join(str(months).split())
    assert "month people counted" in text
    assert "A person counts in 2 months at most, picked at random" in text
    assert "Rows without day, or with a month that is not listed, are left out." in text
    assert "day" in months.to_frame()
    ages = " ".join(str(lb.ask("count", path, unit="who", epsilon=1, edges={"age": [0, 18, 65]})).split())
    assert "A person may count in all 3 groups" in ages
    areas = " ".join(str(lb.ask("count", path, unit="who", epsilon=1, by={"area": ["n", "s"]})).split())
    assert "or with an area that is not listed" in areas


@pytest.mark.parametrize("label", ["people counted", "interval", "all people"])
def test_a_label_that_is_the_name_of_a_number_hides_no_groups(visits: Path, label: str) -> None:
    facts = {"ward": {"values": ["a", "b"], "label": label}}
    options = {name: value for name, value in OPTIONS.items() if name != "domain"}
    text = " ".join(str(lb.ask("count", visits, **options, columns=facts)).split())
    assert "ward people counted interval all people" in text


def test_a_command_in_a_sentence_is_one_line_that_runs(visits: Path) -> None:
    facts = {"ward": {"values": ["a, b", "b"]}}
    options = {name: value for name, value in OPTIONS.items() if name != "domain"}
    text = " ".join(str(lb.ask("count", visits, **options, columns=facts)).split())
    assert "To ask that: printf '%s\\n' 'a, b' b > items-1.txt && lastbit count" in text


@pytest.mark.parametrize(
    ("kind", "options", "whole"),
    [
        ("count", {}, "2% is of 500 people, a guess: --people says how many there are."),
        ("mean", {"of": "cost", "bounds": (10, 60)}, "2% is of 50, which is how far the bounds are apart, and not of "),
        ("sum", {"of": "cost", "bounds": (-9, 4)}, "2% is of 4,500, as far from 0 as a sum of 500 people can be, "),
    ],
)
def test_a_plan_in_percent_says_of_what(kind: str, options: dict[str, Any], whole: str) -> None:
    request = KINDS[kind].parse_plan({"unit": "who", "epsilon": 1, **options})
    (said,) = describe_percent(request, "2%", 500)
    assert said.startswith(whole)
    assert describe_percent(request, "20", 500) == []


def test_a_mean_of_nobody_says_so(visits: Path) -> None:
    sentence = "Too few to say: perhaps nobody has a number in ward, or the interval"
    for kind, mean in (("mean", "value"), ("sum", "mean")):
        nobody, people = (lb.ask(kind, visits, unit="who", of=of, bounds=(0, 6), epsilon=50) for of in ("ward", "cost"))
        assert sentence in " ".join(str(nobody).split())
        assert "Too few to say" not in str(people)
        assert [math.isnan(asked.to_frame()[mean][0]) for asked in (nobody, people)] == [True, False]
        assert nobody.to_frame()["why"][0] == "too few to say"


def test_a_sum_is_the_mean_of_totals_to_the_ledger() -> None:
    shared = {"source": "v.csv", "unit": "who", "of": "cost", "bounds": [0, 6], "epsilon": 1}
    total, mean = (KINDS[kind].parse({**shared, "per": "total"}) for kind in ("sum", "mean"))
    assert identity_of(total) == identity_of(mean) == identity_of(KINDS["sum"].parse(shared))
    assert total.question.mechanism.parameters == mean.question.mechanism.parameters
    assert identity_of(KINDS["mean"].parse(shared)) == identity_of(KINDS["sum"].parse({**shared, "per": "mean"}))
    assert identity_of(KINDS["mean"].parse(shared)) != identity_of(mean)
