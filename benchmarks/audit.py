"""The auditor: branches of a mechanism's own code in a second, and what of that is the auditor's."""

from __future__ import annotations

import time
from fractions import Fraction

import lastbit as lb
from benchmarks.measure import heading, report, shown

BRANCHES = 100_000


def run() -> None:
    heading(f"exact laws, {BRANCHES:,} branches")
    rate = lb.Rate.from_eta(lb.Eta(1, 1, 1))
    for name, program, bits in (
        ("a bare program, three geometrics", lambda draw: tuple(draw.geometric(rate, 3).tolist()), 56),
        ("DiscreteLaplace on three values", lb.DiscreteLaplace(eta=lb.Eta(1, 1, 1)).program([3, 1, 2]), 32),
    ):
        start = time.process_time()
        found = lb.audit.law(program, Fraction(1, 1 << bits))
        taken = time.process_time() - start
        report(
            name, taken / found.branches * BRANCHES, shown, 3.0, f"of processor time, from {found.branches:,} branches"
        )
