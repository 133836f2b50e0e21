"""Every erratum has a label that the code may use, and a witness that runs; those without one elsewhere are here."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from itertools import combinations_with_replacement, product
from pathlib import Path

import pytest

import lastbit as lb
from lastbit.audit.broken.gallery import GALLERY
from lastbit.papers.errata import ERRATA, TOPK, find
from lastbit.papers.free_gap_sparse import _two_deviations
from lastbit.papers.sparse_vector import Inputs
from lastbit.papers.sparse_vector_sampling import clamp, get_sum

ROOT = Path(__file__).parents[2]
F = Fraction


def test_labels_are_unique_and_in_order() -> None:
    labels = [(each.label[0], int(each.label[1:])) for each in ERRATA]
    assert labels == sorted(set(labels))


@pytest.mark.parametrize("erratum", ERRATA, ids=lambda each: each.label)
def test_the_witness_is_a_test_that_exists(erratum: object) -> None:
    path, _, name = erratum.witness.partition("::")
    assert re.search(rf"^def {name}\(", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE), erratum.witness


def test_every_label_that_the_code_uses_is_listed() -> None:
    known, used = {each.label for each in ERRATA}, set()
    for path in [*(ROOT / "src/lastbit").rglob("*.py"), *(ROOT / "experiments").glob("*.py")]:
        for line in re.findall(r"[Ee]rrat(?:um|a)[^\n]*(?:\n[^\n]*)?", path.read_text(encoding="utf-8")):
            used |= set(re.findall(r"\b[ABC]\d+\b", line))
    assert {"A1", "A2", "A3", "A7", "A8", "A9", "A10", "B1", "B2", "B5", "B6", "B11", "B12"} <= used <= known


def test_every_erratum_says_what_the_released_code_does() -> None:
    """Of the paper on secure top-k we know no code."""
    assert {each.paper for each in ERRATA if not each.released} == {TOPK}
    assert all(each.released for each in ERRATA if each.paper != TOPK)
    assert all(not each.released.endswith(".") for each in ERRATA)


def test_the_gallery_and_the_errata_name_each_other() -> None:
    shown = {case.erratum for case in GALLERY if case.erratum}
    # A10 is a hair above epsilon: its own test counts it, and no auditor's tolerance.
    assert shown == {each.label for each in ERRATA if each.breaks_privacy} - {"A10"}
    for case in GALLERY:
        if case.erratum:
            assert case.authors_code.startswith("The authors' released code ")
            assert case.kind == find(case.erratum).kind
        assert case.is_printed <= bool(case.erratum)


def test_b2_sigma_is_two_deviations() -> None:
    """On a fine grid the discrete margin is the corrected one, and nowhere near the printed one."""
    for epsilon in (F(1, 2), F(2)):
        steps = 1000
        margin = _two_deviations(lb.Rate.from_epsilon(epsilon / steps).fraction) / steps
        assert margin == pytest.approx(2 * math.sqrt(2) / epsilon, rel=1e-3)
        assert margin != pytest.approx(2 * math.sqrt(2) * epsilon, rel=0.5)


def test_b4_the_printed_shift_leaves_no_room() -> None:
    lower, upper = -10, 10
    printed = F(upper - lower, 2)
    assert upper - printed == 0
    for lower, upper in ((-10, 10), (1000, 2000), (-3, 1)):
        middle, bound = F(lower + upper, 2), F(upper - lower, 2)
        assert (lower - middle, upper - middle) == (-bound, bound)
    assert (2000 - F(1000, 2), F(1000, 2)) == (1500, 500)  # the printed B of [1000, 2000] is three times too large


def variance(values: tuple[Fraction, ...], others: tuple[Fraction, ...]) -> Fraction:
    n = len(values)
    mean, other = F(sum(values), n), F(sum(others), n)
    return sum((x - mean) * (y - other) for x, y in zip(values, others, strict=True)) / F(n - 1)


@pytest.mark.parametrize("n", [3, 5, 7])
def test_b7_the_largest_variance_and_covariance_of_odd_samples(n: int) -> None:
    """Variance and covariance are convex in each value, so the largest have all values at the ends."""
    levels = (F(0), F(1, 2), F(1))
    largest = max(variance(each, each) for each in combinations_with_replacement(levels, n))
    assert largest == F(n + 1, 4 * n) > F(1, 4)
    half = (n - 1) // 2
    printed = (*[F(0)] * half, F(1, 2), *[F(1)] * half)
    assert variance(printed, printed) == F(1, 4)
    if n < 7:
        ends = list(product((F(0), F(1)), repeat=n))
        assert max(variance(x, y) for x in ends for y in ends) == F(n + 1, 4 * n)


def test_b9_the_chance_that_a_bound_binds() -> None:
    epsilon, step, widest, gamma = 1.0, 1.0, 3.0, 0.05
    bound = widest + step / 2 * (1 + 2 * math.log(1 / gamma))
    below = math.exp(-epsilon * (bound + widest + step / 2)) / 2
    above = math.exp(-epsilon * (bound - widest - step / 2)) / 2
    assert below + above == pytest.approx(0.025, abs=1e-4)
    assert below + above <= gamma < 1 - (below + above)


def test_b10_negative_utilities() -> None:
    weight = F(3, 4) ** -1
    assert weight == F(4, 3)
    assert weight.denominator & (weight.denominator - 1)  # no power of two: no number of bits holds it
    half = F(1, 2) ** -1
    assert half.denominator & (half.denominator - 1) == 0


def test_b11_granularity() -> None:
    assert lb.Rate.from_eta(lb.Eta(1, 1, 2), F(1, 2)).fraction == F(1, 2)  # z·γ = 1 is whole
    root = lb.Rate.from_eta(lb.Eta(1, 1, 1), F(1, 2)).fraction  # z·γ = 1/2: rounded up, as √½ is no fraction
    assert root**2 > F(1, 2)
    # Rounding to the nearest multiple of γ moves a difference by at most γ, flooring by nothing where γ divides Δ.
    gamma, delta = F(1, 4), F(1)
    grid = [F(i, 16) for i in range(-40, 41)]
    for one, other in product(grid, grid):
        if abs(one - other) <= delta:
            nearest = [math.floor(each / gamma + F(1, 2)) * gamma for each in (one, other)]
            floored = [math.floor(each / gamma) * gamma for each in (one, other)]
            assert abs(nearest[0] - nearest[1]) <= delta + gamma
            assert abs(floored[0] - floored[1]) <= delta + (0 if (one - other).denominator <= 4 else gamma)
            if abs(one - other) == delta:
                assert abs(floored[0] - floored[1]) == delta


def test_b12_gaps_must_rise() -> None:
    """Given [2, 1], the step to the gap 1 would have a probability above 1, given that the gap 2 is reached."""
    assert get_sum(F(1, 2), 1, None) > get_sum(F(1, 2), 2, None)
    with pytest.raises(lb.ParameterError, match="rising order"):
        Inputs([0], (-4, 4), width=8, limit=1, eta1=lb.Eta(1, 1, 1), eta2=lb.Eta(1, 2, 1), gaps=[2, 1])


def test_b15_the_inequality_of_p_u() -> None:
    epsilon, step, bound, value = 0.99, 2.0, 6.0, 5.40

    def above(x: float) -> float:  # 1 - F(x) of Laplace noise of scale 1/ε', for x below 0
        return 1 - math.exp(epsilon * x) / 2

    exact, stated = above(bound - value - step / 2), above(bound - value - 1 / epsilon)
    assert (f"{exact:.4f}", f"{stated:.4f}") == ("0.6635", "0.6668")


def test_b16_figures_of_the_base_2_paper() -> None:
    assert [f"{-math.log2(x):.3f}" for x in (15 / 16, 31 / 32)] == ["0.093", "0.046"]
    assert [f"{-math.log(x):.2f}" for x in (15 / 16, 31 / 32)] == ["0.06", "0.03"]

    def rejected(total: Fraction) -> Fraction:  # a value below the next power of two is taken where it is below t
        power = next(F(2) ** k for k in range(20) if F(2) ** k >= total)
        return 1 - total / power

    assert rejected(F(128)) == 0
    assert F(49, 100) < rejected(F(257, 2)) < F(1, 2)
    assert rejected(F(127)) == F(1, 128)  # 2^l - 1: hardly ever, and not never
    # The total of 256 outcomes, all of utility 1, and with one of utility 0, at weights 2^-u: figure 9.
    assert (256 * F(1, 2), 1 + 255 * F(1, 2)) == (128, F(257, 2))


def test_b17_the_first_inequality_of_part_a() -> None:
    """CLAMP rises with z, so to reach it is less likely from z - α than from z - Δ, for α <= Δ."""
    delta, base = 2, F(1, 2)
    strict = 0
    for z, q, w, alpha in product(range(-4, 5), range(-2, 3), range(4), range(-delta, delta + 1)):
        nearer, further = (get_sum(base, clamp(z - each, q, w) - q, None) for each in (alpha, delta))
        assert nearer <= further
        strict += nearer < further
        # What the proof goes on with: the neighbour q' = q - α at z - α is as near to its threshold.
        assert get_sum(base, clamp(z - alpha, q - alpha, w) - (q - alpha), None) == get_sum(
            base, clamp(z, q, w) - q, None
        )
    assert strict


def test_c2_sign() -> None:
    for rho, q, nu, g in product(range(-3, 4), repeat=4):
        assert (nu + q >= rho + g) == (rho - q - nu <= -g)


def test_c4_variances() -> None:
    """Discrete Laplace noise on a fine grid has the variance 2·scale²: 8k²/ε² for the scale 2k/ε, and four times it."""
    k, epsilon, steps = 3, F(1, 2), 200
    for times, variance_of in ((1, 8), (2, 32)):
        rate = lb.Rate.from_epsilon(epsilon / (2 * k * times * steps))
        assert float(rate.laplace_variance) / steps**2 == pytest.approx(variance_of * k**2 / epsilon**2, rel=1e-3)


def test_c5_the_sign_of_the_random_order() -> None:
    """The order of two fractional parts decides the gap: one step less where the first has the smaller part."""
    for one, other in product(range(3), repeat=2):
        for i, j in product(range(8), repeat=2):
            if i != j:
                gap = math.floor(one + F(i, 8) - other - F(j, 8))
                assert gap == one - other - (i < j)
                assert gap != one - other - (-1 if i < j else 0) or i > j
