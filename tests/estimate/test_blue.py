"""The BLUE is generalised least squares, in fractions; its error bounds have the probability they state."""

import math
from fractions import Fraction
from itertools import product
from random import Random

import numpy as np
import pytest

from lastbit import Eta, ParameterError, Rate
from lastbit.estimate.blue import _loss, blue, error_bounds, variance_left
from lastbit.papers.free_gap_top_k import blue_of_theorem_3

Matrix = list[list[Fraction]]
RATIOS = [Fraction(1, 2), Fraction(1), Fraction(4), Fraction(7, 3)]


def solve(a: Matrix, b: Matrix) -> Matrix:
    """a⁻¹·b, by elimination."""
    n = len(a)
    rows = [[*left, *right] for left, right in zip(a, b, strict=True)]
    for i in range(n):
        pivot = next(j for j in range(i, n) if rows[j][i])
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for j in range(n):
            if j != i:
                rows[j] = [x - rows[j][i] * y for x, y in zip(rows[j], rows[i], strict=True)]
    return [row[n:] for row in rows]


def product_of(a: Matrix, b: Matrix) -> Matrix:
    return [
        [sum((x * y for x, y in zip(row, column, strict=True)), Fraction(0)) for column in zip(*b, strict=True)]
        for row in a
    ]


def least_squares(measurements: list[Fraction], gaps: list[Fraction], ratio: Fraction) -> tuple[list[Fraction], Matrix]:
    """(AᵀC⁻¹A)⁻¹AᵀC⁻¹y and (AᵀC⁻¹A)⁻¹, from the model alone: k measurements, then k-1 differences of noisy values."""
    k = len(measurements)
    see = [[Fraction(i == j) for j in range(k)] for i in range(k)]
    see += [[Fraction((i == j) - (i + 1 == j)) for j in range(k)] for i in range(k - 1)]
    covariance = [[Fraction(0)] * (2 * k - 1) for _ in range(2 * k - 1)]
    for i in range(k):
        covariance[i][i] = Fraction(1)
    for i, j in product(range(k - 1), repeat=2):
        covariance[k + i][k + j] = ratio * {0: 2, 1: -1}.get(abs(i - j), 0)
    weighted = [list(row) for row in zip(*solve(covariance, see), strict=True)]
    information = product_of(weighted, see)
    seen = [[value] for value in [*measurements, *gaps]]
    identity = [[Fraction(i == j) for j in range(k)] for i in range(k)]
    return [row[0] for row in solve(information, product_of(weighted, seen))], solve(information, identity)


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("k", range(1, 9))
def test_the_blue_is_generalised_least_squares(k: int, ratio: Fraction) -> None:
    source = Random(k)
    measurements = [Fraction(source.randrange(-50, 50), 3) for _ in range(k)]
    gaps = [Fraction(source.randrange(50), 7) for _ in range(k - 1)]
    estimates, covariance = least_squares(measurements, gaps, ratio)
    assert list(blue(measurements, gaps, ratio)) == estimates
    assert all(covariance[i][i] == variance_left(k, ratio) for i in range(k))
    if ratio == 4:
        assert blue_of_theorem_3(measurements, gaps) == tuple(estimates)


def test_a_last_gap_to_someone_not_measured_adds_nothing() -> None:
    measurements, gaps = [Fraction(9), Fraction(5)], [Fraction(3)]
    assert blue(measurements, [*gaps, Fraction(100)], Fraction(1)) == blue(measurements, gaps, Fraction(1))


@pytest.mark.parametrize("gaps", [[], [Fraction(1)] * 3])
def test_gaps_that_do_not_fit_are_refused(gaps: list[Fraction]) -> None:
    with pytest.raises(ParameterError, match="2 measurements"):
        blue([Fraction(1), Fraction(2)], gaps, Fraction(1))


@pytest.mark.parametrize("rate", [Rate(1, 1), Rate(7, 3), Rate.from_epsilon("1/20")])
def test_variances_are_those_of_the_laws(rate: Rate) -> None:
    """E X = r/(1-r) and E X(X-1) = 2r²/(1-r)², the derivatives of the generating function at 1."""
    r = rate.fraction
    mean = r / (1 - r)
    assert rate.geometric_variance == 2 * mean**2 + mean - mean**2
    assert rate.laplace_variance == 2 * rate.geometric_variance


@pytest.mark.parametrize("level", ["0.5", "0.9", "0.99"])
@pytest.mark.parametrize("r", [Rate(1, 1), Rate(15, 4)])
def test_bounds_of_one_measurement_are_the_least_that_hold(r: Rate, level: str) -> None:
    low, high = error_bounds(1, r, r, level)
    assert low == -high

    def outside(m: int) -> Fraction:
        return 2 * r.fraction ** (m + 1) / (1 + r.fraction)

    assert outside(int(high)) <= 1 - Fraction(level)
    assert high == 0 or outside(int(high) - 1) > 1 - Fraction(level)


@pytest.mark.parametrize("level", ["0.5", "0.9", "0.95", "0.99"])
@pytest.mark.parametrize(("selection", "measurement"), [("1/20", "1/20"), ("1/40", "1/10"), ("1/5", "1/30")])
def test_bounds_of_two_hold_with_the_stated_probability(selection: str, measurement: str, level: str) -> None:
    """For k = 2 the gap noise is a difference of exponentials, which is Laplace: its law has a closed form."""
    rates = Rate.from_epsilon(selection), Rate.from_epsilon(measurement)
    low, high = error_bounds(2, *rates, level)
    ratio = float(rates[0].geometric_variance / rates[1].laplace_variance)
    r = float(rates[1].fraction)
    reach = int(20 / float(Fraction(measurement)))
    steps = np.arange(-reach, reach + 1)
    mass = (1 - r) / (1 + r) * r ** np.abs(steps)
    own, other = (1 + 2 * ratio) / (2 + 2 * ratio), 1 / (2 + 2 * ratio)
    measured = own * steps[:, None] + other * steps[None, :]
    scale = other / float(Fraction(selection))

    def below(x: float) -> float:
        far = np.exp(-np.abs(x - measured) / scale) / 2
        return float((mass[:, None] * mass[None, :] * np.where(measured <= x, 1 - far, far)).sum())

    tail = (1 - float(level)) / 2
    assert math.isclose(below(low), tail, abs_tol=1e-4)
    assert math.isclose(below(high), 1 - tail, abs_tol=1e-4)


@pytest.mark.parametrize("level", [0, 1, "3/2", "-0.1"])
def test_a_level_is_a_probability(level: object) -> None:
    half = Rate.from_eta(Eta(1, 1, 1))
    with pytest.raises(ParameterError, match="level"):
        error_bounds(2, half, half, level)


@pytest.mark.parametrize("epsilon", [1, 37, 38, 80, 700, 1000, 2000])
def test_bounds_exist_at_every_loss(epsilon: int) -> None:
    """Above about 37 nats a step, 1 - r is 1 as a float; above 745, r is 0."""
    rate = Rate.from_epsilon(epsilon)
    assert error_bounds(1, rate, rate, "0.95") == ((-3, 3) if epsilon == 1 else (0, 0))
    low, high = error_bounds(2, rate, rate, "0.95")
    # Without a step of noise the error of two is a third of the gap's noise: Laplace, of scale 1/(3·loss).
    assert epsilon == 1 or (low, high) == pytest.approx((-math.log(20) / 3 / epsilon, math.log(20) / 3 / epsilon), 1e-3)
    low, high = error_bounds(5, rate, rate, "0.95")
    assert -3 / epsilon < low < 0 < high < 3 / epsilon
    assert _loss(rate) == pytest.approx(epsilon, rel=1e-12)
