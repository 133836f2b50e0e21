"""The base-2 paper's algorithms: their laws under the auditor, against the closed form and against our mechanism."""

from collections.abc import Callable
from fractions import Fraction
from functools import partial

import gmpy2
import pytest

from lastbit import Draw, Eta, ExponentialMechanism, LastbitError, ParameterError, Reference, Sampler, Tape, audit
from lastbit.exact.rounding import fraction, power_bounds
from lastbit.papers import base2_exponential as paper
from lastbit.papers import base2_sampling as sampling

HALF, THREE_QUARTERS, QUARTER = Eta(1, 1, 1), Eta(3, 2, 1), Eta(1, 1, 2)


def bits_of(value: Fraction) -> int:
    """How many bits a dyadic number takes, from its first to its last one."""
    return (value.numerator // (value.numerator & -value.numerator)).bit_length()


@pytest.mark.parametrize("eta", [HALF, THREE_QUARTERS, QUARTER, Eta(15, 4, 1)])
@pytest.mark.parametrize(("u_min", "u_max", "o_max"), [(0, 1, 1), (0, 3, 5), (2, 6, 9), (1, 4, 16)])
def test_precision_is_the_least_that_suffices_or_the_next_power_of_two(
    eta: Eta, u_min: int, u_max: int, o_max: int
) -> None:
    largest = eta.fraction**u_min
    sums = [eta.fraction**u + -(-(o_max * largest) // 1) for u in range(u_min, u_max + 1)]
    partial_sums = [i * largest for i in range(1, o_max + 1)]
    least = max(2, *(bits_of(value) for value in [*sums, *partial_sums, eta.fraction**u_max]))
    # Single weights computed on the way may need their numerators: (x/2^y)^z first.
    least = max(least, eta.x.bit_length(), *(bits_of(eta.fraction**u) for u in range(u_min, u_max + 1)))
    assert sampling.check_precision(u_min, u_max, o_max, eta, least)
    assert not sampling.check_precision(u_min, u_max, o_max, eta, least - 1)
    found = sampling.compute_precision(u_min, u_max, o_max, eta)
    assert least <= found < 2 * least
    assert found & (found - 1) == 0
    assert least <= sampling.sufficient_precision(u_min, u_max, o_max, eta)


def test_negative_utilities_are_refused_by_the_precision() -> None:
    for function in (sampling.sufficient_precision, sampling.compute_precision):
        with pytest.raises(ParameterError, match="Shift"):
            function(-1, 3, 5, HALF)


def exact_weights(eta: Eta, utilities: list[int], p: int) -> list[object]:
    with sampling.exact_arithmetic(p):
        b = sampling.base(eta)
        return [b**u for u in utilities]


SAMPLERS = {
    "Algorithm 2": partial(sampling.normalized_sample, tries=1),
    "Algorithm 2, all weights": partial(sampling.normalized_sample, scan_all=True, tries=1),
    "Algorithm 2, k = 2": partial(sampling.normalized_sample, k=2, tries=2),
    "Algorithm 4": partial(sampling.optimized_sample, tries=1),
    "Algorithm 4, two tries": partial(sampling.optimized_sample, tries=2),
}


def given_a_sample(law: audit.Law) -> dict[int, Fraction]:
    assert law.unexplored == 0
    missing = law.masses.get(None, Fraction(0))
    return {outcome: mass / (1 - missing) for outcome, mass in law.masses.items() if outcome is not None}


@pytest.mark.parametrize("name", SAMPLERS)
@pytest.mark.parametrize(
    ("eta", "utilities"),
    [(HALF, [0, 1, 2]), (HALF, [0, 0]), (HALF, [1, 1, 1]), (THREE_QUARTERS, [1, 0, 1]), (QUARTER, [0]), (HALF, [3, 0])],
)
def test_samplers_have_the_normalized_law(name: str, eta: Eta, utilities: list[int]) -> None:
    p = 5
    weights = exact_weights(eta, utilities, p)
    law = audit.law(lambda draw: SAMPLERS[name](draw, weights, p), 0)
    exact = [eta.fraction**u for u in utilities]
    assert given_a_sample(law) == {i: weight / sum(exact) for i, weight in enumerate(exact)}
    # A try fails when U lands in [t, 2^g).
    above = min(Fraction(2) ** g for g in range(-8, 8) if Fraction(2) ** g >= sum(exact))
    tries = SAMPLERS[name].keywords["tries"]
    assert law.masses.get(None, Fraction(0)) == (1 - sum(exact) / above) ** tries


@pytest.mark.parametrize("sample", [partial(sampling.normalized_sample, scan_all=True), sampling.optimized_sample])
def test_without_end_they_try_until_there_is_a_sample(sample: Callable) -> None:
    weights = exact_weights(HALF, [0, 0, 0], 2)
    law = audit.law(lambda draw: sample(draw, weights, 2), "1/1000")
    assert set(law) == {0, 1, 2}
    assert all(law[i][0] <= Fraction(1, 3) <= law[i][1] for i in law)
    assert law.unexplored <= Fraction(1, 1000)


@pytest.mark.parametrize("empirical", [False, True])
@pytest.mark.parametrize("sample", [SAMPLERS["Algorithm 2, all weights"], SAMPLERS["Algorithm 4"]])
@pytest.mark.parametrize("utilities", [[0, 1], [1, 0, 1], [Fraction(1, 4), 1, Fraction(2, 3)], [-3, 7]])
def test_algorithm_3_is_our_mechanism(empirical: bool, sample: Callable, utilities: list[Fraction]) -> None:
    def with_weights(draw: Draw, weights: list, p: int) -> tuple[tuple[object, ...], int | None]:
        return tuple(weights), sample(draw, weights, p)

    run = partial(
        paper.exponential_mechanism, eta=HALF, u_min=0, u_max=1, o_max=3, sample=with_weights, empirical=empirical
    )
    law = audit.law(lambda draw: run(draw, utilities), 0)
    # Utilities are rounded once, then the sampler tries until it has a sample: so for each rounding on its own.
    theirs = dict.fromkeys(range(len(utilities)), Fraction(0))
    for weights in {weights for weights, _ in law.masses}:
        chances = {i: mass for (these, i), mass in law.masses.items() if these == weights}
        rounding = sum(chances.values())
        missing = chances.pop(None, Fraction(0))
        for i, mass in chances.items():
            theirs[i] += mass / (rounding - missing) * rounding
    off_grid = any(Fraction(u).denominator > 1 for u in utilities)
    ours = ExponentialMechanism(eta=QUARTER, bounds=(-1, 0), rounding="randomized" if off_grid else "floor")
    found = audit.law(ours.program([-u for u in utilities]), 0)
    assert theirs == {choice.index: mass for choice, mass in found.masses.items()}


def test_algorithm_3_shifts_negative_utilities() -> None:
    run = partial(
        paper.exponential_mechanism, eta=THREE_QUARTERS, u_min=-1, u_max=0, o_max=2, sample=SAMPLERS["Algorithm 4"]
    )
    law = given_a_sample(audit.law(lambda draw: run(draw, [-1, 0]), 0))
    assert law == {0: Fraction(4, 7), 1: Fraction(3, 7)}


def test_too_many_outcomes_are_refused() -> None:
    with pytest.raises(ParameterError, match="o_max"):
        paper.exponential_mechanism(Sampler(), [0, 0, 0], eta=HALF, u_min=0, u_max=1, o_max=2)


def test_too_little_precision_raises_instead_of_rounding() -> None:
    with pytest.raises(gmpy2.InexactResultError):
        exact_weights(THREE_QUARTERS, [2], 3)
    weights = exact_weights(HALF, [0, 5], 8)
    with pytest.raises(gmpy2.InexactResultError):
        sampling.normalized_sample(Reference(Tape([0] * 30)), weights, 4)
    # A cut that p bits cannot tell from its neighbours is an error where the value falls beside it.
    fine = exact_weights(HALF, [3, 3, 1], 8)
    with pytest.raises(LastbitError, match="precision"):
        sampling.normalized_sample(Reference(Tape([0] * 30)), fine, 2)


def test_the_algorithms_run_on_every_draw() -> None:
    words = [(i * 0x9E3779B97F4A7C15) % (1 << 64) for i in range(1, 200)]
    run = partial(paper.exponential_mechanism, eta=HALF, u_min=0, u_max=4, o_max=4)
    found = [run(draws(Tape(words)), [4, 0, Fraction(1, 2), 2]) for draws in (Sampler, Reference)]
    assert found[0] == found[1]
    assert found[0] in range(4)


UTILITIES = [
    [Fraction(1, 2), Fraction(0)],
    [Fraction(1, 3), Fraction(5, 4), Fraction(2), Fraction(1, 10)],
    [abs(Fraction(i, 4)) for i in range(-3, 4)],
]


@pytest.mark.parametrize("utilities", UTILITIES)
def test_rounding_moves_no_probability_by_more_than_lemma_a2_says(utilities: list[Fraction]) -> None:
    mechanism = ExponentialMechanism(eta=Eta(1, 1, 2), rounding="randomized")
    law = audit.law(mechanism.program([-u for u in utilities]), 0)
    weights = [tuple(fraction(end) for end in power_bounds(Fraction(1, 2), u, 200)) for u in utilities]
    lower, upper = (sum(weight[side] for weight in weights) for side in (0, 1))
    bounds = paper.rounding_error_upper(HALF, utilities)
    for choice, mass in law.masses.items():
        low, high = weights[choice.index][0] / upper, weights[choice.index][1] / lower
        assert max(abs(mass - low), abs(mass - high)) <= bounds[choice.index] + Fraction(1, 1 << 150)
        assert bounds[choice.index] < Fraction(1, 10)


def test_lemma_a2_by_hand() -> None:
    # q = 1/2·1/2 + 1/2·1/3 = 5/12 and 1/(1 + 3/4) = 4/7, so A = 1/84; unrounded, the first has √2 - 1.
    first, _ = paper.rounding_error_upper(HALF, UTILITIES[0])
    root = Fraction(1, 84) + Fraction(5, 12) + 1 - first
    assert abs(root * root - 2) < Fraction(1, 1 << 200)
