"""The printed listings that break privacy must be convicted, and the repaired ones acquitted."""

import math
from fractions import Fraction

import pytest

import lastbit as lb
from lastbit.audit.broken.printed_sparse_vector import (
    CASES,
    TOTAL,
    gap_instance,
    no_clamp_instance,
    printed_disc_sv,
    printed_sim_gap_sv,
)
from lastbit.audit.verdict import judge
from lastbit.papers.sparse_vector import disc_sv, sim_gap_sv


def verdict(pair, cost=TOTAL):
    one, other = (lb.audit.law(program, 0) for program in pair)
    return judge(cost, one, other, Fraction(0))


def bits(pair, transcript):
    """The loss of one transcript, as the odds it shifts."""
    one, other = (lb.audit.law(program, 0)[transcript][0] for program in pair)
    return max(one / other, other / one)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_printed_is_convicted_and_repaired_is_acquitted(case):
    found = verdict((case.program, case.neighbour), case.cost)
    assert found.verdict == "violated"
    assert found.witness
    assert verdict(case.repaired, case.cost).holds


@pytest.mark.parametrize(("gaps", "printed", "fixed"), [(3, 3.585, 2.56), (4, 4.27, 2.57), (8, 4.90, 2.57)])
def test_erratum_a1_figures(gaps, printed, fixed):
    every = ((False,), (False,), (True,) * (gaps + 1))
    assert abs(math.log2(bits(gap_instance(printed_sim_gap_sv, gaps), every)) - printed) < 0.005
    assert abs(math.log2(bits(gap_instance(sim_gap_sv, gaps), every)) - fixed) < 0.005


def test_erratum_a1_with_one_gap_the_print_is_right():
    printed, fixed = (
        [dict(lb.audit.law(program, 0).masses) for program in gap_instance(each, 1)]
        for each in (printed_sim_gap_sv, sim_gap_sv)
    )
    assert printed == fixed


@pytest.mark.parametrize(("n", "printed"), [(10, 3.37), (50, 16.1)])
def test_erratum_a2_figures(n, printed):
    below = (False,) * n
    assert abs(math.log2(bits(no_clamp_instance(printed_disc_sv, n), below)) - printed) < 0.05
    assert bits(no_clamp_instance(disc_sv, n), below) <= 2
