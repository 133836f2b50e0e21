"""The discrete Laplace mechanism, exactly: its law, its loss, what clamping does, and what a release is worth."""

from collections.abc import Hashable
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lastbit as lb
from lastbit.audit.verdict import judge
from lastbit.mechanisms.laplace import NoisyValues

HALF, THREE_QUARTERS = lb.Eta(1, 1, 1), lb.Eta(3, 2, 1)


def mass(rate: Fraction, i: int) -> Fraction:
    return rate ** abs(i) * (1 - rate) / (1 + rate)


def steps_of(outcome: Hashable) -> list[int]:
    assert isinstance(outcome, NoisyValues)
    return outcome.steps.tolist()


def clamped_laplace(draw: lb.Draw, rate: Fraction, least: int, most: int) -> int:
    """CLAMPEDDISCLAP of the sparse vector paper, Algorithm 3, in steps: a region first, then a place inside it."""

    def tail(start: int) -> Fraction:
        # GETSUM of everything from `start` on, times 1 - rate.
        return rate**start if start > 0 else 1 + rate - rate ** (1 - start)

    below, above, everything = tail(1 - least), tail(most + 1), 1 + rate
    region = draw.index([below, everything - below - above, above])
    if region != 1:
        return least if region == 0 else most
    inside = range(least, most + 1)
    return inside[draw.index([rate ** abs(i) for i in inside])]


@pytest.mark.parametrize("cost", [{"eta": HALF}, {"eta": THREE_QUARTERS}, {"epsilon": "1/2"}, {"epsilon": 3}])
@pytest.mark.parametrize(("sensitivity", "resolution"), [(1, 1), (2, 1), (1, "1/4"), ("3/2", "1/2")])
def test_the_law_is_the_closed_form(cost: dict, sensitivity: object, resolution: object) -> None:
    mechanism = lb.DiscreteLaplace(**cost, sensitivity=sensitivity, resolution=resolution)
    law = lb.audit.law(mechanism.program([Fraction(7)]), tolerance=Fraction(1, 1000))
    start = Fraction(7) / Fraction(resolution)
    for outcome, found in law.masses.items():
        assert found == mass(mechanism.rate.fraction, steps_of(outcome)[0] - start)
    assert law.unexplored <= Fraction(1, 1000)


def test_a_vector_gets_independent_noise() -> None:
    law = lb.audit.law(lb.DiscreteLaplace(eta=HALF).program([3, -5]), tolerance=Fraction(1, 100))
    for outcome, found in law.masses.items():
        first, second = steps_of(outcome)
        assert found == mass(Fraction(1, 2), first - 3) * mass(Fraction(1, 2), second + 5)


@pytest.mark.parametrize("bounds", [(-2, 3), (0, 1), (1, 4), (-9, -3)])
@pytest.mark.parametrize("eta", [HALF, THREE_QUARTERS])
def test_clamping_gives_the_paper_s_clamped_laplace(bounds: tuple[int, int], eta: lb.Eta) -> None:
    paper = lb.audit.law(lambda draw: clamped_laplace(draw, eta.fraction, *bounds))
    assert paper.unexplored == 0
    tolerance = Fraction(1, 1 << 100)
    ours = lb.audit.law(lb.DiscreteLaplace(eta=eta, bounds=bounds).program([0]), tolerance=tolerance)
    assert 0 < ours.unexplored <= tolerance
    found = {steps_of(outcome)[0]: bound for outcome in ours for bound in [ours[outcome]]}
    assert found.keys() == paper.masses.keys()
    for step, (lower, upper) in found.items():
        inner = bounds[0] < step < bounds[1]
        assert lower == paper.masses[step] if inner else lower <= paper.masses[step] <= upper
        # Equation 2.
        inside = mass(eta.fraction, step)
        assert not inner or paper.masses[step] == inside


@pytest.mark.parametrize(
    ("bounds", "steps"),
    [
        ((0, 1 << 63), [5, 0]),
        ((-(1 << 63) - 1, 0), [0, -7]),
        ((-(10**25), 10**25), [5, -7]),
        ((10**20, 10**21), [10**20, 10**20]),
        ((-(10**21), -(10**20)), [-(10**20), -(10**20)]),
    ],
)
def test_bounds_may_lie_beyond_64_bits(bounds: tuple[int, int], steps: list[int]) -> None:
    # At this rate a word in the middle means no noise.
    mechanism = lb.DiscreteLaplace(epsilon=100, bounds=bounds)
    assert mechanism.release([5, -7], lb.Sampler(lb.Tape([1 << 63] * 2))).steps.tolist() == steps


@pytest.mark.parametrize("cost", [{"eta": HALF}, {"epsilon": "1/2"}])
@pytest.mark.parametrize("bounds", [None, (-1, 2)])
@pytest.mark.parametrize("values", [[0], [1, -1]])
def test_the_loss_is_within_the_cost_and_uses_it_up(cost: dict, bounds: tuple | None, values: list[int]) -> None:
    mechanism = lb.DiscreteLaplace(**cost, bounds=bounds)
    tolerance, less = (
        (Fraction(1, 10**4), Fraction(999, 1000)) if len(values) == 1 else (Fraction(1, 50), Fraction(3, 4))
    )
    assert lb.audit.check_all(mechanism, values, tolerance=tolerance).holds
    # Less is too little (a hair, where the tails are explored that far): the noise is no larger than it has to be.
    spent = Fraction(mechanism.cost.rate(Fraction(1)).loss_upper)
    laws = [lb.audit.law(mechanism.program(each), tolerance) for each in (values, [values[0] + 1, *values[1:]])]
    assert judge(spent * less, *laws, tolerance).verdict == "violated"


def test_sensitivity_counts_all_distances() -> None:
    mechanism = lb.DiscreteLaplace(eta=HALF)
    assert not lb.audit.check(mechanism, [0, 0], [1, 1], tolerance=Fraction(1, 100)).holds
    moved = list(lb.DiscreteLaplace(epsilon=1, sensitivity=2).neighbours([0, 0]))
    assert len(moved) == 12
    assert all(sum(map(abs, each)) <= 2 for each in moved)


@given(
    st.sampled_from(["1/20", "1", "5", "1/1000"]),
    st.integers(1, 200).map(lambda n: Fraction(n, 201)),
)
def test_accuracy_is_the_least_distance(epsilon: str, level: Fraction) -> None:
    mechanism = lb.DiscreteLaplace(epsilon=epsilon, resolution="1/2")
    r, steps = mechanism.rate.fraction, int(mechanism.accuracy(level) * 2)

    def beyond(t: int) -> Fraction:
        # From the law: what is left of 1 after 0 and both sides up to t.
        return 1 - mass(r, 0) - 2 * sum((mass(r, i) for i in range(1, t + 1)), Fraction(0))

    if steps <= 40:
        assert beyond(steps) <= 1 - level
        assert steps == 0 or beyond(steps - 1) > 1 - level
    assert 2 * r ** (steps + 1) / (1 + r) <= 1 - level
    assert steps == 0 or 2 * r**steps / (1 + r) > 1 - level


def test_accuracy_decides_exact_ties_exactly() -> None:
    # P(|X| > 0) = 2/3 and P(|X| > 3) = 1/12 at r = 1/2.
    mechanism = lb.DiscreteLaplace(eta=HALF)
    assert mechanism.accuracy("1/3") == 0
    assert mechanism.accuracy("11/12") == 3
    assert mechanism.accuracy(Fraction(11, 12) + Fraction(1, 1 << 3000)) == 4


@given(st.integers(0, 400), st.sampled_from(["0.5", "0.95", "0.999"]), st.sampled_from([1, 3]))
def test_for_accuracy_finds_the_least_epsilon(quarters: int, level: str, sensitivity: int) -> None:
    wish = Fraction(quarters, 4)
    found = lb.DiscreteLaplace.for_accuracy(wish, level, sensitivity=sensitivity, resolution="1/2")
    assert found.accuracy(level) <= wish
    digits = Fraction(10) ** (len(str(int(found.epsilon * 10**30))) - 30 - 9)
    assert (found.epsilon / digits).denominator == 1
    less = lb.DiscreteLaplace(epsilon=found.epsilon - digits, sensitivity=sensitivity, resolution="1/2")
    assert less.accuracy(level) > wish


def test_for_accuracy_searches_up_to_the_largest_epsilon() -> None:
    found = lb.DiscreteLaplace.for_accuracy(0, "0.6", sensitivity=1000)
    assert 1024 < found.epsilon < 2048
    assert found.accuracy("0.6") == 0
    assert lb.DiscreteLaplace(epsilon=found.epsilon - Fraction(1, 10**5), sensitivity=1000).accuracy("0.6") == 1


@pytest.mark.parametrize("bounds", [None, (-2, 3)])
@pytest.mark.parametrize("value", [-40, -4, 0, 3, 9, 50])
def test_intervals_cover(bounds: tuple | None, value: int) -> None:
    mechanism, level = lb.DiscreteLaplace(eta=THREE_QUARTERS, bounds=bounds), Fraction(8, 10)
    law = lb.audit.law(lambda draw: mechanism.release(value, draw), tolerance=Fraction(1, 1000))
    covered = Fraction(0)
    for outcome, found in law.masses.items():
        low, high = outcome.interval(level)
        covered += found * ((low is None or low <= value) and (high is None or value <= high))
    assert covered >= level - law.unexplored
    # Not by being endless: without a bound it is as narrow as the accuracy says.
    if bounds is None:
        assert high - low == 2 * mechanism.accuracy(level)


def test_sampler_and_reference_release_the_same() -> None:
    words = [0, (1 << 64) - 1, 1 << 63, 0x0123456789ABCDEF, (1 << 63) - 1] * 3
    mechanism = lb.DiscreteLaplace(epsilon="1/3", bounds=(-5, 30))
    releases = [mechanism.release(list(range(5)), draw(lb.Tape(words))) for draw in (lb.Sampler, lb.Reference)]
    assert releases[0] == releases[1]


@pytest.mark.parametrize("epsilon", ["1e-18", "1e-30"])
def test_noise_beyond_int64_is_added_exactly(epsilon: str) -> None:
    mechanism = lb.DiscreteLaplace(epsilon=epsilon)
    values = [2**61, -(2**61)] * 10
    words = [(0x9E3779B97F4A7C15 * i) % 2**64 for i in range(1, 500)]
    noise = lb.Reference(lb.Tape(words)).laplace(mechanism.rate, 20).tolist()
    expected = [value + int(by) for value, by in zip(values, noise, strict=True)]
    assert max(map(abs, expected)) > 1 << 62
    assert list(mechanism.release(values, lb.Sampler(lb.Tape(words))).values) == expected


class Given(lb.audit.Enumerator):
    """Draws what it was given."""

    def __init__(self, *values: int) -> None:
        super().__init__()
        self._values = values

    def _many(self, distribution: object, n: int) -> np.ndarray:
        return np.resize(np.array(self._values, np.int64), n)


def test_noise_that_only_just_fits_int64_is_added_exactly() -> None:
    noise = [(1 << 63) - 1, -(1 << 63), 1 << 62, (1 << 62) + 1, -(1 << 62) - 1]
    for each in noise:
        for value in (1 << 61, -(1 << 61), 0):
            assert lb.DiscreteLaplace(epsilon=1).release([value], Given(each)).values == (value + each,)


def test_one_number_releases_as_one_number() -> None:
    for value in (42, 42.9, Fraction(85, 2), np.float64(42.5), np.int64(42), np.array(42.7)):
        release = lb.DiscreteLaplace(epsilon=1).release(value, Given(0))
        assert release.values == (42,)
        assert int(release) == 42
        assert float(release) == 42.0
    many = lb.DiscreteLaplace(epsilon=1, resolution="1/2").release([1.6, -0.1], Given(0))
    assert many.values == (Fraction(3, 2), Fraction(-1, 2))
    with pytest.raises(TypeError, match="take a release of one number: got 2"):
        float(many)


def test_empty_vectors_release_nothing() -> None:
    for empty in ([], np.array([], np.float64), np.array([], np.int64)):
        assert lb.DiscreteLaplace(epsilon=1).release(empty).values == ()


def test_all_pairs_of_exact_values_and_sensitivities() -> None:
    for of_values, of_mechanism in product((1, 2, 3), repeat=2):
        values = lb.exact_sum([1], bounds=(0, of_values))
        mechanism = lb.DiscreteLaplace(epsilon=1, sensitivity=of_mechanism)
        if of_values <= of_mechanism:
            assert len(mechanism.release(values).values) == 1
        else:
            with pytest.raises(lb.ParameterError, match="one person can move the values by"):
                mechanism.release(values)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"bounds": (3, 1)}, "bounds must rise"),
        ({"bounds": (0, "1/2")}, "resolution must divide the upper bound"),
        ({"bounds": ("-1/2", 1)}, "resolution must divide the lower bound"),
        ({"bounds": 5}, "bounds must be a pair"),
        ({"bounds": (0, float("nan"))}, "must be a finite number"),
    ],
)
def test_wrong_parameters_are_refused_when_built(wrong: dict, message: str) -> None:
    with pytest.raises(lb.ParameterError, match=message):
        lb.DiscreteLaplace(epsilon=1, **wrong)


@pytest.mark.parametrize("level", [0, 1, -1, 2])
def test_levels_are_probabilities(level: int) -> None:
    with pytest.raises(lb.ParameterError, match="above 0 and below 1"):
        lb.DiscreteLaplace(epsilon=1).accuracy(level)


def test_impossible_accuracies_are_refused() -> None:
    with pytest.raises(lb.ParameterError, match="must not be negative"):
        lb.DiscreteLaplace.for_accuracy(-1)
    with pytest.raises(lb.ParameterError, match="epsilon 2048 can give"):
        lb.DiscreteLaplace.for_accuracy(0, 1 - Fraction(1, 10**1000), sensitivity=1000)
