"""What is said around the numbers of an answer is true: its title, its method, how many intervals may miss."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from math import ceil
from pathlib import Path

import pytest

import lastbit as lb
from lastbit.questions.answer_report import complete, describe_answer
from lastbit.questions.rendering import render_answer
from tests.fixed_words import FixedWords
from tests.truth.cases import CASES, Case
from tests.truth.harness import FUZZ, Judge, Trial

METHOD = re.compile(
    r"Method: (?P<noise>\D+), drawn exactly; "
    r"(?P<currency>epsilon|rho) (?P<cost>\S+?)(?:, delta (?P<delta>\S+?))? protects "
    r"(?P<whom>all rows of any one person|any single row|any one person|"
    r"all rows with the same person and day \(not all with the same person\))"
    r"(?P<about>; intervals are for these (?P<noun>\w+), not for (?P=noun) in general)?\."
)
MISSES = re.compile(r"About (?P<misses>\d+) of these (?P<all>\d+) intervals may miss. --together gives .*")
KNOWN = (METHOD, MISSES)


@pytest.mark.parametrize("case", [case for case in CASES if FUZZ or not case.long], ids=lambda case: case.name)
def test_every_sentence_around_an_answer_is_true(case: Case, tmp_path: Path) -> None:
    trial, options = Trial(case, tmp_path), case.options
    request, question = trial.request, trial.request.question
    published = question.prepare(trial.values(0))(lb.Sampler(FixedWords(case.name)))
    report = question.report(published)
    view = render_answer(replace(request, face="command"), None, published)
    for number in re.findall(r"\d+", view.title):  # a title repeats what was asked for, and how much of it was found
        assert number in str(options.values()) or f"{number} of the " in view.title
    said = view.report.notes[len(report.notes) + len(question.notes) :]
    assert [*report.notes, *question.notes] == list(view.report.notes[: len(view.report.notes) - len(said)])
    for sentence in said:
        matches = [match for pattern in KNOWN if (match := pattern.fullmatch(sentence))]
        assert matches, f"no entry reads this: {sentence}"
    method = METHOD.fullmatch(said[-1])
    assert method is not None
    if method["currency"] in options:
        assert Fraction(method["cost"]) == Fraction(options[method["currency"]])
    else:  # an epsilon and a delta bought a rho
        assert lb.largest_rho(options["epsilon"], options["delta"]) >= Fraction(method["cost"]) * Fraction(
            999999, 10**6
        )
    assert Fraction(method["delta"] or 0) <= Fraction(options.get("delta", 0))
    protected = "any one person" if "counts" in options else "any single row" if "unit" not in options else "all rows"
    assert method["whom"].startswith(protected)
    assert bool(method["about"]) == view.report.has_intervals
    for sentence in said[:-1]:
        match = MISSES.fullmatch(sentence)
        assert match is not None
        rows = sum(low is not None for low in view.report.table["low"])
        assert int(match["all"]) == rows
        assert int(match["misses"]) == ceil(rows * (1 - Fraction(request.level)))
    paragraph = view.methods()
    assert f"{method['currency']} = {method['cost']}" in paragraph
    assert ("probability " in paragraph) == view.report.has_intervals


NAMES = (
    "count by one_each of clinic",
    "count by most_items auto of crowd",
    "histogram month day most_items 1 of clinic",
)


@pytest.mark.parametrize("case", [case for case in CASES if case.name in NAMES], ids=lambda case: case.name)
def test_intervals_that_are_said_to_hold_together_do(case: Case, tmp_path: Path) -> None:
    trial = Trial(case, tmp_path)
    request = trial.request.change(together=True, level="0.8")
    judge = Judge(Fraction("0.8"))
    for repetition in range(60):
        answer = trial.answer(repetition)
        report = complete(request, answer.release, describe_answer(request, answer.release), [])
        table = report.table
        truths = [trial.truth.counts[group] for group in trial.truth.groups]
        assert f"All {len(truths):,} hold together with probability 80% or more." in report.notes
        ends = zip(table["low"], table["high"], truths, strict=True)
        held = all((low is None or low <= truth) and (high is None or truth <= high) for low, high, truth in ends)
        judge.heard["together"] += 1
        judge.failed["together"] += not held
    assert not judge.convicted
