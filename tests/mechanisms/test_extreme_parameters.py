"""No legal parameter makes a constructor, or a promise about accuracy, go on without end: it works, or is refused.

A short run counts the work. `make fuzz` builds many more, in processes that have a second for each of them.
"""

from __future__ import annotations

import os
import sys
from fractions import Fraction
from pathlib import Path

import pytest

import lastbit as lb
from lastbit.audit.target import all_mechanisms
from tests import processes
from tests.bounded_work import TooMuchWork, within
from tests.extremes import PARAMETERS, TINY, Case, try_cases

LONG = bool(os.environ.get("LASTBIT_FUZZ"))
WORK = 1_000_000
"""Units of work that a constructor may take: some tenths of a second."""
SECONDS = 5
"""Seconds that a constructor may take in the long run, on a machine that does much else. Most take a millisecond."""

_MANY = """
import faulthandler, sys
from tests.extremes import try_cases
def watched(function):
    faulthandler.dump_traceback_later({seconds}, exit=True)
    try:
        return function()
    finally:
        faulthandler.cancel_dump_traceback_later()
print(*try_cases(sys.argv[1], range({cases}), watched))
"""


def test_no_mechanism_is_left_out_here() -> None:
    assert {mechanism.__name__ for mechanism in all_mechanisms()} == set(PARAMETERS)


@pytest.mark.parametrize("name", PARAMETERS)
def test_every_constructor_ends_with_little_work(name: str) -> None:
    built, refused = try_cases(name, range(16), lambda function: within(WORK, function))
    assert built >= 2
    assert refused + built >= 16


@pytest.mark.skipif(not LONG, reason="make fuzz")
@pytest.mark.parametrize("name", PARAMETERS)
def test_every_constructor_ends_soon(name: str) -> None:
    program = _MANY.format(seconds=SECONDS, cases=400)
    tree = Path(__file__).parents[2]
    done = processes.run([sys.executable, "-c", program, name], cwd=tree, capture_output=True, text=True, timeout=3000)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[0]) >= 50


def test_a_histogram_of_unlisted_items_takes_any_delta_and_any_number_of_items() -> None:
    for most_items in (1, 10_000, 10**30):
        for delta in (TINY, Fraction(1, 1 << 257), Fraction(1, 10**6), Fraction(49, 100), 1 - TINY):
            for pay in ({"epsilon": 1}, {"epsilon": "1e-60"}, {"rho": Fraction(min(most_items, 10**4), 10**6)}):
                if "rho" in pay and most_items > 10**4:
                    continue  # noise too wide to draw
                build = lambda m=most_items, d=delta, p=pay: lb.DiscoverHistogram(delta=d, most_items=m, **p)  # noqa: E731
                mechanism = within(WORK, build)
                assert 0 < mechanism.cost.delta <= delta
                # The threshold is the least: one step lower has more.
                above = mechanism._least - mechanism._reach
                assert above == 1 or mechanism._report_probability(above - 1) > delta


def test_a_k_that_no_table_has_is_refused() -> None:
    for build in (lb.NoisyTopK, lb.SelectAndMeasure):
        with pytest.raises(lb.ParameterError, match=r"k must be at most 2\^40, .*: got 10+\."):
            build(k=10**30, epsilon=1)
        within(WORK, lambda build=build: build(k=1 << 40, epsilon=1))


def test_the_watch_stops_what_does_not_end() -> None:
    def endless() -> None:
        while True:
            abs(1)

    def growing() -> Fraction:
        number = Fraction(3, 2)
        while True:
            number = number * number

    for function in (endless, growing):
        with pytest.raises(TooMuchWork):
            within(20_000, function)
    assert within(WORK, lambda: 3) == 3
    assert Case("NoisyMax", 3).parameters == Case("NoisyMax", 3).parameters
