"""What `plan` promises and the intervals of `top`, held to exact laws; and the bar that people see."""

from __future__ import annotations

import io
import threading
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from rich.console import Console

import lastbit as lb
from lastbit.mechanisms.top_k.mechanism import noise_bound
from lastbit.questions.progress import run_with_progress


@pytest.mark.parametrize("rate", [lb.Rate(1, 1), lb.Rate(3, 2), lb.Rate(63, 6)])
@pytest.mark.parametrize("n", [1, 7, 10_000])
def test_steps_within_is_the_least_that_the_bound_allows(rate: lb.Rate, n: int) -> None:
    steps = noise_bound(rate, n, "0.9")
    assert n * rate.fraction**steps <= Fraction(1, 10) < n * rate.fraction ** (steps - 1)


@pytest.mark.parametrize("values", [[4, 0], [1, 1], [0, 2]])
def test_intervals_and_accuracy_hold_in_the_exact_law(values: list[int]) -> None:
    mechanism = lb.NoisyTopK(k=1, eta=lb.Eta(1, 1, 1), resolution=1, monotone=True)
    level = Fraction(3, 4)
    reach = mechanism.accuracy(2, level)
    law = lb.audit.law(lambda draw: mechanism.release(values, draw=draw), Fraction(1, 1000))
    held = close = Fraction(0)
    for release, mass in law.masses.items():
        assert isinstance(release, lb.Release)
        (winner,) = release.indices
        ((low, high),) = release.gap_intervals(level)
        true_gap = values[winner] - values[1 - winner]
        held += mass if low <= true_gap <= high else 0
        close += mass if -true_gap < reach else 0
    assert held >= level - law.unexplored
    assert close >= level - law.unexplored


@pytest.mark.parametrize("wish", [5, 50, "123.4"])
def test_the_epsilon_for_an_accuracy_is_enough_and_hardly_more(wish: object) -> None:
    epsilon = lb.NoisyTopK.for_accuracy(wish, 1000, "0.95", k=10, monotone=True).epsilon

    def accuracy_at(by: Fraction) -> Fraction:
        return lb.NoisyTopK(k=10, epsilon=by, monotone=True).accuracy(1000, "0.95")

    assert accuracy_at(epsilon) <= Fraction(str(wish)) < accuracy_at(epsilon * Fraction(99, 100))


def test_a_bar_appears_for_those_who_wait_and_only_then() -> None:
    def run_with_bar(patience: float, *, long: bool) -> str:
        console, asked = Console(file=io.StringIO(), force_terminal=True), threading.Event()

        def work() -> int:
            if long:
                asked.wait()  # as long as it takes the bar to ask how far the work is
            return 7

        def progress() -> float:
            asked.set()
            return 40.0

        assert run_with_progress(work, progress, patience=patience, console=console) == 7
        return console.file.getvalue()

    assert "reading" in run_with_bar(0.01, long=True)
    assert run_with_bar(600, long=False) == ""


def test_what_the_work_raises_comes_through_the_bar() -> None:
    def fails() -> None:
        raise lb.DataError("no")

    with pytest.raises(lb.DataError):
        run_with_progress(fails, lambda: -1.0, patience=0.01, console=Console(file=io.StringIO()))


def test_an_interval_reaches_exactly_as_far_as_noise_within_the_bound() -> None:
    mechanism = lb.NoisyTopK(k=1, eta=lb.Eta(1, 1, 1), resolution="1/2", monotone=True)
    reach, gap = noise_bound(mechanism._selector.rate, 5, "0.9"), 20
    # The noises, whole steps and fraction, are from 0 to below reach: so the floored gap is off by -reach to reach - 1.
    possible = range(gap - reach, gap + reach)
    published = mechanism.release([0] * 5), {"ahead": np.array(possible), "candidates": 5}
    intervals = replace(published[0], **published[1]).gap_intervals("0.9")
    assert all(low <= Fraction(gap, 2) <= high for low, high in intervals)
    assert intervals[-1][0] == intervals[0][1] == Fraction(gap, 2)
