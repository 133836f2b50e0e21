"""The judge itself: statements that are known to be false are convicted, and true ones are not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from math import comb, floor
from pathlib import Path

import pytest

import lastbit as lb
from tests.fixed_words import FixedWords
from tests.truth.cases import CASES, Case
from tests.truth.claims import Outcome, within
from tests.truth.harness import STAGES, Judge, Trial, at_most, hear_case
from tests.truth.populations import STOCK
from tests.truth.reference import Reference

NOBODY = Case("a statement of this test", "count", "nobody")


def case_named(name: str) -> Case:
    return next(case for case in CASES if case.name == name)


def hear(statements: Iterator[list[Outcome]], folder: Path) -> Judge:
    return hear_case(Trial(NOBODY, folder), statements)


@pytest.mark.parametrize(
    "name", ["count by one_each people_share 0 of clinic", "histogram month day most_items 1 of clinic"]
)
def test_the_people_counted_taken_for_all_people_are_convicted_in_every_group(name: str, tmp_path: Path) -> None:
    """Four visits a person, and one of them counts: 0 of 24 months hold."""
    trial = Trial(case_named(name), tmp_path)

    def statements() -> Iterator[list[Outcome]]:
        for repetition in range(STAGES[-1]):
            intervals = trial.answer(repetition).column("interval")
            groups = trial.truth.counts.items()
            yield [
                Outcome(group, within(interval, people))
                for (group, people), interval in zip(groups, intervals, strict=True)
            ]

    judge = hear_case(trial, statements())
    assert len(judge.convicted) == len(judge.heard) == 24


def test_cells_of_the_people_counted_taken_for_all_people_are_convicted(tmp_path: Path) -> None:
    """The same in tables: four visits a person, and one record of each counts."""
    trial = Trial(case_named("tables by ways 1 rho 1/2 of clinic"), tmp_path)

    def statements() -> Iterator[list[Outcome]]:
        people = trial.truth.people_of_cells(("item",))
        for repetition in range(STAGES[-1]):
            intervals = trial.answer(repetition).column("interval")
            yield [
                Outcome(str(cell), within(interval, people[cell]))
                for cell, interval in zip(people, intervals, strict=True)
            ]

    judge = hear_case(trial, statements())
    assert len(judge.convicted) == len(judge.heard) == 24


@pytest.mark.parametrize(
    ("population", "step", "size"),
    [("below a step", Fraction(1), 1), ("tenths", Fraction(1, 128), 50)],
    ids=["1,000 people with 0.9", "100,000 rows of 0.1 at 1/128"],
)
def test_sums_of_rows_that_are_floored_one_by_one_are_convicted(
    population: str, step: Fraction, size: int, tmp_path: Path
) -> None:
    times = {Fraction(number): size * rows for number, rows in Counter(row.number for row in STOCK[population]).items()}
    total = sum((number * rows for number, rows in times.items()), Fraction(0))
    floored = sum((floor(number / step) * step * rows for number, rows in times.items()), Fraction(0))
    mechanism = lb.DiscreteLaplace(epsilon=1, sensitivity=4, resolution=step)
    draw = lb.Sampler(FixedWords(population))

    def statements() -> Iterator[list[Outcome]]:
        for _ in range(STAGES[-1]):
            interval = mechanism.release(floored, draw=draw).interval("0.95")
            yield [Outcome("the sum of the rows", within(interval, total))]

    assert hear(statements(), tmp_path).convicted == {"the sum of the rows": "held 0 of 100 times"}


def test_the_mean_of_people_is_not_the_mean_of_rows(tmp_path: Path) -> None:
    """The negative control of a reference: an answer about rows does not pass for one about people."""
    options = {"unit": "person", "of": "number", "bounds": (0, 100), "kind": "mean"}
    people = Reference(STOCK["same rows"], options)
    rows = Reference(STOCK["same rows"], {**options, "unit": None})
    mechanism, draw = lb.NoisyMean(epsilon=1, bounds=(0, 100)), lb.Sampler(FixedWords("rows"))

    def statements() -> Iterator[list[Outcome]]:
        for _ in range(STAGES[-1]):
            release = mechanism.release([float(number) for *_, number in rows.numbers], draw=draw)
            yield [Outcome("how many people", within(release.people_interval(), len(people.numbers)))]

    assert "how many people" in hear(statements(), tmp_path).convicted


@pytest.mark.parametrize(("level", "convicted"), [("0.90", True), ("0.95", False), ("0.99", False)])
@pytest.mark.parametrize("tape", range(4))
def test_a_coverage_of_90_is_convicted_and_one_of_95_is_not(
    level: str, convicted: bool, tape: int, tmp_path: Path
) -> None:
    """The noise is so wide that the coverage of the interval is its level, but for a thousandth."""
    mechanism, draw = lb.DiscreteLaplace(epsilon="1/1000"), lb.Sampler(FixedWords(f"{level} {tape}"))
    statements = (
        [Outcome("the interval", within(mechanism.release(0, draw=draw).interval(level), 0))] for _ in range(STAGES[-1])
    )
    assert bool(hear(statements, tmp_path).convicted) is convicted


def test_what_is_said_for_certain_fails_once(tmp_path: Path) -> None:
    statements = ([Outcome("always", place != 70, sure=True), Outcome("often", held=True)] for place in range(2000))
    assert hear(statements, tmp_path).convicted == {"always": "was said for certain"}


@pytest.mark.parametrize("failures", [0, 3, 10, 40])
def test_the_tail_of_failures_is_that_of_exact_fractions(failures: int) -> None:
    rate = Fraction(1, 20)
    exact = sum(comb(100, k) * rate**k * (1 - rate) ** (100 - k) for k in range(failures + 1))
    assert abs(at_most(failures, 100, rate) - float(exact)) < 1e-9


def test_of_claims_that_hold_for_90_at_least_95_of_100_are_convicted() -> None:
    """Each stage acquits at most one in a hundred of them, and after the last one the rest is convicted."""
    last = STAGES[-1]
    judge = Judge(Fraction(95, 100))
    least = next(n for n in range(last) if 1 - at_most(n - 1, last, Fraction(1, 20)) <= 1e-5)
    assert at_most(least - 1, last, Fraction(1, 10)) < 1e-3
    for stage in STAGES:
        judge.heard["it"] = stage
        acquitted = [n for n in range(stage) if at_most(n, stage, Fraction(1, 10)) <= 0.01]
        for failed in acquitted[-1:]:
            judge.failed["it"] = failed
            assert judge.acquits("it")
            judge.failed["it"] = failed + 1
            assert not judge.acquits("it")
