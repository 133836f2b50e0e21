"""The discrete Gaussian mechanism: its law, its sensitivity in squared steps, its rho, and what a release is worth."""

from fractions import Fraction
from itertools import product
from math import floor

import gmpy2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lastbit as lb
from lastbit.chance.gaussian import MOST_DEVIATION, Gaussian
from lastbit.mechanisms.gaussian import most_squared_steps


def law_of(rate: lb.Rate) -> dict[int, "gmpy2.mpq"]:
    """r^(i²) over the sum of all, written out: all but those beyond `last`, whose share is below 2^-400."""
    last = int((300 / rate.loss_upper) ** 0.5) + 1
    assert rate.loss_upper * last**2 > 300
    powers = {i: gmpy2.mpz(rate.x) ** (i * i) << rate.y * (last**2 - i * i) for i in range(-last, last + 1)}
    whole = sum(powers.values())
    return {i: gmpy2.mpq(power, whole) for i, power in powers.items()}


@pytest.mark.parametrize("rho", ["1/2", 2, "1/3"])
@pytest.mark.parametrize(
    ("sensitivity", "resolution"), [({}, 1), ({"squared_sensitivity": 2}, 1), ({"sensitivity": 1}, "1/2")]
)
def test_the_law_is_r_to_the_square(rho: object, sensitivity: dict, resolution: object) -> None:
    mechanism = lb.DiscreteGaussian(rho=rho, **sensitivity, resolution=resolution)
    law, expected = lb.audit.law(mechanism.program([7]), tolerance="1e-9"), law_of(mechanism.rate)
    assert 0 < law.unexplored <= Fraction(1, 10**9)
    for outcome, found in law.masses.items():
        (step,) = outcome.steps.tolist()
        true = expected[int(step - 7 / Fraction(resolution))]
        assert abs(found / true - 1) < gmpy2.mpq(1, 1 << 200)


@pytest.mark.parametrize("rho", ["1/2", "1/100", 3, "7/3"])
@pytest.mark.parametrize("squared", [1, 2, 3, "7/2", 10])
def test_the_squared_steps_times_the_loss_are_just_within_rho(rho: str, squared: object) -> None:
    mechanism = lb.DiscreteGaussian(rho=rho, squared_sensitivity=squared)
    steps = floor(Fraction(squared))
    with gmpy2.context(precision=200, round=gmpy2.RoundDown):
        loss = -gmpy2.log(gmpy2.mpfr(gmpy2.mpq(mechanism.rate.fraction)))
    assert steps * Fraction(*map(int, loss.as_integer_ratio())) <= Fraction(rho)
    assert steps * mechanism.rate.loss_upper > float(Fraction(rho)) * (1 - 2**-50)
    assert mechanism.cost.rho == Fraction(rho)
    assert mechanism.cost.epsilon is None


def whole_moves(squared: Fraction, n: int) -> int:
    """The largest squared distance between floors, by trying all moves of every value in turn.

    A value that starts t above its step and moves by d is floored ⌊t + d⌋ steps away. To be a steps above costs more
    than a - 1, by as little as one likes, and as much to be a steps below: so sums of (|a| - 1)² below the square.
    """
    reach = range(-floor(squared) - 2, floor(squared) + 3)
    moves = (move for move in product(reach, repeat=n) if sum(max(abs(a) - 1, 0) ** 2 for a in move) < squared)
    return max(sum(a * a for a in move) for move in moves)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_squared_steps_of_floored_values_by_brute_force(n: int) -> None:
    tight = 0
    for quarters in range(4, 29):
        squared = Fraction(quarters, 4)
        bound, found = most_squared_steps(squared, n), whole_moves(squared, n)
        assert bound >= found
        tight += bound == found
        # Where the squares of unit moves fill the sensitivity, and for one value, nothing is given away.
        if n == 1 or squared <= n + 1:
            assert bound == found
        assert most_squared_steps(squared) == floor(squared) <= found
    assert tight >= 7


@pytest.mark.parametrize("squared", [Fraction(1), Fraction(2), Fraction(9, 4), Fraction(5, 2), Fraction(4)])
@pytest.mark.parametrize("values", [[Fraction(0)], [Fraction(0), Fraction(1, 3)], [0.0, 0.0, 0.0]])
def test_neighbours_of_floored_values_reach_the_squared_steps(squared: Fraction, values: list) -> None:
    mechanism = lb.DiscreteGaussian(rho=1, squared_sensitivity=squared)
    start = mechanism.grid.steps(values)
    most = 0
    for other in mechanism.neighbours(values):
        assert sum((b - Fraction(a)) ** 2 for a, b in zip(values, other, strict=True)) <= squared
        most = max(most, int(((mechanism.grid.steps(other) - start) ** 2).sum()))
    bound = most_squared_steps(squared, len(values))
    assert most <= bound
    if Fraction(values[-1]) == 0:
        assert most == whole_moves(squared, len(values))


def test_neighbours_of_whole_numbers_are_whole_and_within_the_distance() -> None:
    found = set(lb.DiscreteGaussian(rho=1, squared_sensitivity=2).neighbours([0, 5]))
    assert found == {(a, 5 + b) for a, b in product((-1, 0, 1), repeat=2)} - {(0, 5)}
    wide = set(lb.DiscreteGaussian(rho=1, sensitivity=2).neighbours([0, 0]))
    assert wide == {move for move in product(range(-2, 3), repeat=2) if 0 < move[0] ** 2 + move[1] ** 2 <= 4}


def test_values_off_the_grid_get_the_noise_of_their_number() -> None:
    mechanism = lb.DiscreteGaussian(rho="1/2", sensitivity="3/2")
    on_grid, one, three = (mechanism.release(values).rate for values in ([1, 2, 3], [0.5], [0.5, 1.5, 2.5]))
    assert on_grid == mechanism.rate == lb.Rate.from_epsilon(Fraction(1, 2) / 2)
    assert one == lb.Rate.from_epsilon(Fraction(1, 2) / 4)
    # m = 2: 3 + 2·min(2, ⌊√6⌋) + 2.
    assert three == lb.Rate.from_epsilon(Fraction(1, 2) / 9)
    assert mechanism.accuracy("0.9") < mechanism.accuracy("0.9", n=1) < mechanism.accuracy("0.9", n=3)


def test_known_values_say_their_squared_sensitivity() -> None:
    counts = lb.Counts(items="abc", values=[5, 6, 7], sensitivity=2, monotone=True)
    mechanism = lb.DiscreteGaussian.of(counts, rho="1/2")
    assert mechanism.squared_sensitivity == 12
    assert mechanism.release(counts).rate == lb.Rate.from_epsilon(Fraction(1, 24))
    assert lb.DiscreteGaussian.of(counts, rho=1, sensitivity=4).sensitivity == 4
    total = lb.exact_sum([1, 2], bounds=(0, 10), resolution="1/4")
    assert lb.DiscreteGaussian.of(total, rho=1).sensitivity == 10
    for too_small in ({}, {"squared_sensitivity": 11}, {"sensitivity": 3}):
        with pytest.raises(lb.ParameterError, match=r"add up to 12; .* Build it with squared_sensitivity='12'"):
            lb.DiscreteGaussian(rho=1, **too_small).release(counts)


def test_equal_sensitivities_make_equal_mechanisms() -> None:
    one, other = lb.DiscreteGaussian(rho=1, sensitivity="3/2"), lb.DiscreteGaussian(rho=1, squared_sensitivity="9/4")
    assert one == other
    assert hash(one) == hash(other)
    assert one.parameters == other.parameters == {"rho": "1", "sensitivity": "3/2", "resolution": "1"}
    root = lb.DiscreteGaussian(rho=1, squared_sensitivity=2)
    assert root.parameters == {"rho": "1", "squared_sensitivity": "2", "resolution": "1"}
    assert lb.DiscreteGaussian(**root.parameters) == root != one


def inside(rate: lb.Rate, steps: int) -> Fraction:
    """P(|X| <= steps), from the masses: below the truth by less than 2^-200."""
    return sum((mass for i, mass in Gaussian(rate).masses() if abs(i) <= steps), Fraction(0))


@given(st.sampled_from(["1/800", "1/20", "1/2", "5"]), st.integers(1, 200).map(lambda n: Fraction(n, 201)))
def test_accuracy_is_the_least_distance(rho: str, level: Fraction) -> None:
    mechanism = lb.DiscreteGaussian(rho=rho, resolution="1/2")
    steps = int(mechanism.accuracy(level) * 2)
    assert inside(mechanism.rate, steps) >= level
    assert steps == 0 or inside(mechanism.rate, steps - 1) < level - Fraction(1, 1 << 199)


@pytest.mark.parametrize(
    ("wish", "level"), [*product(["0", "1/2", "3", "20", "1000"], ["0.5", "0.95", "0.999999"]), ("50000", "0.9999")]
)
def test_for_accuracy_finds_the_least_rho(wish: str, level: str) -> None:
    found = lb.DiscreteGaussian.for_accuracy(wish, level, squared_sensitivity=3, resolution="1/2")
    assert found.accuracy(level) <= Fraction(wish)
    digits = Fraction(10) ** (len(str(int(found.rho * 10**30))) - 30 - 9)
    assert (found.rho / digits).denominator == 1
    less = lb.DiscreteGaussian(rho=found.rho - digits, squared_sensitivity=3, resolution="1/2")
    assert less.accuracy(level) > Fraction(wish)


@pytest.mark.parametrize("bounds", [None, (-2, 3)])
@pytest.mark.parametrize("value", [-40, 0, 3, 9])
def test_intervals_cover(bounds: tuple | None, value: int) -> None:
    mechanism, level = lb.DiscreteGaussian(rho="1/8", bounds=bounds), Fraction(8, 10)
    law = lb.audit.law(lambda draw: mechanism.release(value, draw), tolerance=Fraction(1, 1000))
    covered = Fraction(0)
    for outcome, found in law.masses.items():
        low, high = outcome.interval(level)
        covered += found * ((low is None or low <= value) and (high is None or value <= high))
    assert covered >= level - law.unexplored
    if bounds is None:
        assert high - low == 2 * mechanism.accuracy(level)


def test_clamping_moves_all_mass_beyond_a_bound_to_it() -> None:
    law = lb.audit.law(lb.DiscreteGaussian(rho="1/2", bounds=(-1, 2)).program([0]), tolerance="1e-20")
    free = lb.audit.law(lb.DiscreteGaussian(rho="1/2").program([0]), tolerance="1e-20")
    steps = {outcome.steps.item(): mass for outcome, mass in law.masses.items()}
    open_ended = {outcome.steps.item(): mass for outcome, mass in free.masses.items()}
    assert set(steps) == {-1, 0, 1, 2}
    assert steps[0] == open_ended[0]
    assert abs(steps[2] - sum(mass for step, mass in open_ended.items() if step >= 2)) <= Fraction(1, 10**20)


def test_sampler_and_reference_release_the_same() -> None:
    words = [0, (1 << 64) - 1, 1 << 63, 0x0123456789ABCDEF, (1 << 63) - 1] * 3
    mechanism = lb.DiscreteGaussian(rho="1/30", bounds=(-5, 30))
    releases = [mechanism.release(list(range(5)), draw(lb.Tape(words))) for draw in (lb.Sampler, lb.Reference)]
    assert releases[0] == releases[1]
    assert releases[0].steps.dtype == np.int64


def test_empty_vectors_and_single_numbers() -> None:
    for empty in ([], np.array([], np.float64), np.array([], np.int64)):
        assert lb.DiscreteGaussian(rho=1).release(empty).values == ()
    assert isinstance(int(lb.DiscreteGaussian(rho=1).release(3)), int)
    assert lb.DiscreteGaussian(rho=1).release(3).noise == "gaussian"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"sensitivity": 1, "squared_sensitivity": 1}, "at most one of sensitivity and squared_sensitivity"),
        ({"sensitivity": "1/2"}, r"from 1 to 2\^48 steps"),
        ({"sensitivity": 1 << 49}, r"from 1 to 2\^48 steps"),
        ({"rho": 0}, "rho must be positive"),
        ({"rho": 2049}, r"rho must be at most 2\^11 for each squared step"),
        ({"rho": "1e-12"}, "Use a larger rho"),
        ({"rho": "1e-300"}, "Use a larger rho"),
        ({"rho": "1e-1000"}, "Choose another rho"),
        ({"rho": "1/2", "sensitivity": 10**6, "resolution": "1/2"}, "Use resolution='16', or a larger rho"),
        ({"bounds": (3, 1)}, "bounds must rise"),
        ({"bounds": (0, "1/2")}, "resolution must divide the upper bound"),
    ],
)
def test_wrong_parameters_are_refused_when_built(wrong: dict, message: str) -> None:
    with pytest.raises(lb.ParameterError, match=message):
        lb.DiscreteGaussian(**{"rho": 1, **wrong})


def test_the_resolution_that_a_refusal_names_works() -> None:
    assert lb.DiscreteGaussian(rho="1/2", sensitivity=10**6, resolution=16).rate.scale <= 1 << 33


def test_too_many_floored_values_are_refused_before_anything_is_drawn() -> None:
    # Each floored value adds a squared step at least: no resolution helps here.
    mechanism = lb.DiscreteGaussian(rho=Fraction(1, MOST_DEVIATION**2))
    assert len(mechanism.release([1, 2, 3]).values) == 3
    with pytest.raises(lb.ParameterError, match="Use a larger rho"):
        mechanism.ready([0.5, 1.5, 2.5])


def test_impossible_accuracies_are_refused() -> None:
    with pytest.raises(lb.ParameterError, match="must not be negative"):
        lb.DiscreteGaussian.for_accuracy(-1)
    with pytest.raises(lb.ParameterError, match="some rho can give"):
        lb.DiscreteGaussian.for_accuracy(0, 1 - Fraction(1, 10**1000))
    with pytest.raises(lb.ParameterError, match="coarser resolution"):
        lb.DiscreteGaussian.for_accuracy(10**6, "0.95")
