"""The auditor: branches of a mechanism's own code in a second, and what of that is the auditor's."""

from __future__ import annotations

import time
from fractions import Fraction
from statistics import median

import lastbit as lb
from benchmarks.measure import as_time, heading, report
from lastbit.mechanisms.mechanism import Program

BRANCHES = 100_000
TARGET = 3.0
RUNS = 5
LEAST = 20_000
"""Branches in a run at least: a law of fewer is found again until there are that many."""

_BIT, _FOUR, _EIGHT = (lb.Eta(1, 1, z) for z in (1, 4, 8))
_RATE = lb.Rate.from_eta(_BIT)

PROGRAMS: tuple[tuple[str, Program, int], ...] = (
    ("three geometrics, no mechanism", lambda draw: tuple(draw.geometric(_RATE, 3).tolist()), 40),
    ("DiscreteLaplace on three values", lb.DiscreteLaplace(eta=_BIT).program([3, 1, 2]), 18),
    ("DiscreteLaplace on four, epsilon", lb.DiscreteLaplace(epsilon=1).program([3, 1, 2, 0]), 10),
    ("NoisyTopK on three values, k = 2", lb.NoisyTopK(k=2, eta=_FOUR, resolution=1).program([0, 1, 1]), 17),
    ("NoisyTopK on four values, k = 2", lb.NoisyTopK(k=2, eta=_EIGHT, resolution=1).program([0, 1, 1, 2]), 12),
    ("NoisyMax on four values", lb.NoisyMax(eta=_FOUR, resolution=1).program([0, 1, 1, 2]), 22),
    ("SelectAndMeasure on three, k = 1", lb.SelectAndMeasure(k=1, eta=_EIGHT, resolution=1).program([0, 1, 1]), 24),
    ("SparseVector on three values", lb.SparseVector(threshold=1, limit=2, eta=_EIGHT).program([0, 1, 2]), 14),
    ("SparseVector on four values", lb.SparseVector(threshold=1, limit=2, eta=_EIGHT).program([0, 1, 2, 1]), 7),
    ("AdaptiveSparseVector on three", lb.AdaptiveSparseVector(threshold=1, limit=1, eta=_EIGHT).program([0, 1, 2]), 6),
)
CHOICE = lb.ExponentialMechanism(eta=_FOUR).program(list(range(101)))


def seconds_a_branch(program: Program, tolerance: Fraction) -> tuple[float, int]:
    """Processor time of this thread for a branch, and how many a law has."""
    branches, start = 0, time.thread_time()
    while branches < LEAST:
        found = lb.audit.law(program, tolerance)
        branches += found.branches
    return (time.thread_time() - start) / branches, found.branches


def run() -> None:
    heading(f"exact laws, processor time for {BRANCHES:,} branches, median of {RUNS} runs")
    for name, program, bits in PROGRAMS:
        runs = [seconds_a_branch(program, Fraction(1, 1 << bits)) for _ in range(RUNS)]
        times = sorted(each * BRANCHES for each, _ in runs)
        spread = f"from {as_time(times[0])} to {as_time(times[-1])}, laws of {runs[0][1]:,} branches"
        report(name, median(times), as_time, TARGET, spread)
    each, branches = seconds_a_branch(CHOICE, Fraction(0))
    print(f"{'ExponentialMechanism on 101':<34} {as_time(each * branches):>8}  a whole law")
    start = time.process_time()
    verdicts = lb.audit.check_all(lb.NoisyMax(epsilon=1, resolution=1), [0, 1, 1, 2], "1/1000")
    report("NoisyMax on four, all neighbours", time.process_time() - start, as_time, 10.0, verdicts.tried)
