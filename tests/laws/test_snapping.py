"""Snapping, exactly: its law, its loss, and what it promises about accuracy and bias."""

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import gmpy2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lastbit as lb
from lastbit.audit.laws import Law
from lastbit.audit.verdict import judge
from lastbit.exact.rounding import fraction, to_nearest
from lastbit.mechanisms import snapping as module
from lastbit.papers import snapping as paper
from tests.clock import Clock
from tests.snapping_law import snapped_law

Masses = dict[Fraction, Fraction]

# epsilon, bounds, sensitivity: Λ above and below the sensitivity; bounds on and off multiples of Λ, narrow and wide.
SETTINGS = [
    ("1", (-8, 8), 1),
    ("1/3", (-20, 20), 1),
    ("7/10", (-10, 10), 1),
    ("1/10", (0, 100), 1),
    ("4", ("1/3", 7), "1/2"),
    ("99/100", (-6, 6), 3),
    ("1/2", (-1, 1), 1),
]


def build(setting: tuple[str, tuple, Any], **more: Any) -> lb.Snapping:
    epsilon, bounds, sensitivity = setting
    return lb.Snapping(epsilon=epsilon, bounds=bounds, sensitivity=sensitivity, **more)


def places(mechanism: lb.Snapping) -> list[Fraction]:
    """Both bounds, the middle, cell borders, and odd places between, all within the bounds."""
    m, unit, half, snap = mechanism._middle, mechanism._unit, mechanism._half, mechanism._snap
    inside = [Fraction(0), snap / 2, -snap / 2, snap / 3, half / 7, half - 1, -half, -half + 1, half]
    return [m + unit * each for each in inside if -half <= each <= half]


def add_at_118(a: Fraction, b: Fraction) -> Fraction:
    with to_nearest(118):
        return fraction(gmpy2.mpfr(gmpy2.mpq(a)) + gmpy2.mpfr(gmpy2.mpq(b)))


def paper_law(value: Fraction, epsilon: Fraction, bound: Fraction, first: int = 1, bits: int = 52) -> Masses:
    """The law of `papers.snapping.snapping`."""
    scale = 1 / paper.noise_epsilon(epsilon, bound)
    step = paper.next_power(scale)
    return snapped_law(lambda u: paper.noise(u, scale), add_at_118, value, bound, step, bits, first)


def verdict(cost: Any, one: Masses, other: Masses) -> Any:
    return judge(cost, Law(one, Fraction(0), len(one)), Law(other, Fraction(0), len(other)), Fraction(0))


def exceeds(masses: Masses, value: Fraction, distance: Fraction) -> Fraction:
    return sum((p for outcome, p in masses.items() if abs(outcome - value) > distance), Fraction(0))


@pytest.mark.parametrize("setting", SETTINGS[:5])
def test_the_law_is_the_definition_s(setting: tuple) -> None:
    mechanism = build(setting)
    precision = mechanism._precision + 8
    # From these places some noise, either way, ends exactly on the border of a cell.
    noise = paper.noise(Fraction(11, 16), mechanism._scale, precision)
    on_border = [mechanism._middle + mechanism._unit * (mechanism._snap / 2 + sign * noise) for sign in (-1, 1)]
    for value in places(mechanism)[::3] + on_border:
        defined = snapped_law(
            lambda u: paper.noise(u, mechanism._scale, precision),
            lambda a, b: a + b,
            (value - mechanism._middle) / mechanism._unit,
            mechanism._half,
            mechanism._snap,
            precision - 1,
        )
        law = mechanism.law(value)
        assert law == {mechanism._middle + mechanism._unit * outcome: p for outcome, p in defined.items()}
        assert sum(law.values()) == 1


def test_a_release_follows_the_law(monkeypatch: pytest.MonkeyPatch) -> None:
    # With few bits the auditor can follow every branch of the program itself.
    monkeypatch.setattr(module, "_GUARD", 0)
    for setting in SETTINGS[:3]:
        mechanism = build(setting)
        object.__setattr__(mechanism, "_precision", 6)
        for value in places(mechanism)[::4]:
            law = mechanism.law(value)
            found = lb.audit.law(lambda draw, m=mechanism, v=value: m.release(v, draw), Fraction(1, 500))
            assert found.unexplored <= Fraction(1, 500)
            for release in found:
                lower, upper = found[release]
                assert lower <= law.pop(release.value) <= upper
            assert sum(law.values()) <= found.unexplored


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_loss_is_within_epsilon(setting: tuple) -> None:
    mechanism = build(setting)
    for value in places(mechanism):
        law = mechanism.law(value)
        for (neighbour,) in mechanism.neighbours([value]):
            assert verdict(mechanism.cost, law, mechanism.law(neighbour)).holds


def test_the_auditor_checks_it_like_any_other() -> None:
    mechanism = lb.Snapping(epsilon=1, bounds=(0, 8))
    verdicts = lb.audit.check_all(mechanism, [3])
    assert verdicts.holds
    assert len(verdicts.each) == 2
    assert all(each.delta == 0 for each in verdicts.each)
    found = lb.audit.law(mechanism.program(3), 0)
    assert {release.value: p for release, p in found.masses.items()} == mechanism.law(3)


@pytest.mark.parametrize("setting", SETTINGS[:6])
def test_the_worst_loss_is_epsilon_but_for_a_hair(setting: tuple) -> None:
    mechanism = build(setting)
    lower = Fraction(setting[1][0])
    worst = (lower, lower + mechanism._unit)
    laws = [mechanism.law(each) for each in worst]
    assert verdict(mechanism.cost, *laws).holds
    assert verdict(mechanism.cost.epsilon * (1 - Fraction(1, 1 << 100)), *laws).verdict == "violated"


@pytest.mark.parametrize(
    "parameters",
    [
        {"epsilon": Fraction(1, 1 << 200), "bounds": (0, 1 << 202)},
        {"epsilon": Fraction(1, 1 << 90), "bounds": (-(1 << 92), 0)},
        {"eta": lb.Eta(3, 2, 1), "bounds": (0, 20)},
        {"eta": lb.Eta((1 << 600) - 1, 600, 1), "bounds": (0, 1 << 602)},
        {"epsilon": 1, "bounds": (0, 5), "gamma": "1/20"},
        {"epsilon": 30, "bounds": (0, 1)},
    ],
)
def test_precision_grows_with_what_is_asked(parameters: dict) -> None:
    mechanism = lb.Snapping(**parameters)
    assert mechanism._precision >= 118
    assert mechanism._half <= 1 << mechanism._precision - 52
    for value in places(mechanism)[::2]:
        for (neighbour,) in mechanism.neighbours([value]):
            assert verdict(mechanism.cost, mechanism.law(value), mechanism.law(neighbour)).holds


@pytest.mark.parametrize(
    ("epsilon", "bound", "value"), [("1", 8, -8), ("1/3", 20, 3), ("1/10", 50, 46), ("2", 3, "-1/2")]
)
def test_the_printed_support_of_the_exponent_is_convicted(epsilon: str, bound: int, value: object) -> None:
    exact, start = Fraction(epsilon), Fraction(value)
    laws = [paper_law(each, exact, Fraction(bound), first=0) for each in (start, start + 1)]
    assert verdict(exact * Fraction(13, 10), *laws).verdict == "violated"


@pytest.mark.parametrize(("epsilon", "bound"), [("1", 8), ("1/3", 20), ("1/10", 50), ("2", 3)])
def test_fifty_two_bits_of_the_uniform_are_convicted_by_a_hair(epsilon: str, bound: int) -> None:
    exact = Fraction(epsilon)
    laws = [paper_law(value, exact, Fraction(bound)) for value in (Fraction(0), Fraction(1))]
    assert verdict(exact, *laws).verdict == "violated"
    assert verdict(exact + Fraction(1, 1 << 50), *laws).holds
    # It is the bits: at the precision of the arithmetic the same program holds.
    laws = [paper_law(value, exact, Fraction(bound), bits=117) for value in (Fraction(0), Fraction(1))]
    assert verdict(exact, *laws).holds


class Fixed(lb.audit.Enumerator):
    """Plays given values of the named draws."""

    def __init__(self, *values: int) -> None:
        super().__init__()
        self._values = list(values)

    def _one(self, distribution: object) -> int:
        return self._values.pop(0)


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("steps", [-3, -2, -1, 0, 1, 2])
def test_ties_go_up(side: int, steps: int) -> None:
    mechanism = lb.Snapping(epsilon=1, bounds=(-50, 50))
    noise = fraction(mechanism._noise(12345 - (3 << mechanism._further)))
    noise = -noise if side else noise
    tie = (steps + Fraction(1, 2)) * mechanism._snap - noise
    below = tie - Fraction(1, 1 << 500)
    played = (2, 12345 << 1 | side)
    assert mechanism.release(tie, Fixed(*played)).value == (steps + 1) * mechanism._snap
    assert mechanism.release(below, Fixed(*played)).value == steps * mechanism._snap


@pytest.mark.parametrize("sign", [-1, 1])
def test_a_tiny_decimal_is_not_written_out_and_stays_on_its_side_of_zero(sign: int) -> None:
    mechanism = lb.Snapping(epsilon=4, bounds=(-2, 2))
    assert mechanism.law(sign * Decimal("1e-999999")) == mechanism.law(Fraction(sign, 1 << 9000))


def test_zero_has_one_sign() -> None:
    mechanism = lb.Snapping(epsilon=4, bounds=(-2, 2))
    assert mechanism.law(0.0) == mechanism.law(-0.0) == mechanism.law(Fraction(0))
    release = mechanism.release(-0.0, Fixed(0, (2 << mechanism._further) - 1))
    assert release.value == 0
    assert math.copysign(1, float(release)) == 1


@pytest.mark.parametrize("setting", SETTINGS)
def test_bounds_hold_whatever_comes(setting: tuple) -> None:
    mechanism = build(setting)
    lower, upper = (Fraction(each) for each in setting[1])
    at_lower, at_upper = mechanism.law(lower), mechanism.law(upper)
    assert min(at_lower) == lower
    assert max(at_lower) == upper
    odd = [Decimal("nan"), Decimal("sNaN"), Decimal("-inf"), Decimal("-1e999999")]
    for value in (float("nan"), -float("inf"), lower - 1, np.float64("nan"), -1e308, *odd):
        assert mechanism.law(value) == at_lower
    for value in (float("inf"), upper + 1, np.array(np.inf), 1e308, [upper + 1], Decimal("inf"), Decimal("1e999999")):
        assert mechanism.law(value) == at_upper


def test_asymmetric_bounds_shift_by_the_middle() -> None:
    assert lb.Snapping(epsilon=1, bounds=(-10, 10))._half == 10
    shifted, centred = lb.Snapping(epsilon=1, bounds=(1000, 2000)), lb.Snapping(epsilon=1, bounds=(-500, 500))
    assert shifted._scale == centred._scale
    law = lb.Snapping(epsilon=1, bounds=(7, 17)).law(9)
    assert law == {outcome + 12: p for outcome, p in lb.Snapping(epsilon=1, bounds=(-5, 5)).law(-3).items()}


def test_sensitivity_scales_everything() -> None:
    plain, scaled = lb.Snapping(epsilon=1, bounds=(-8, 8)), lb.Snapping(epsilon=1, bounds=(-24, 24), sensitivity=3)
    assert scaled.law(6) == {3 * outcome: p for outcome, p in plain.law(2).items()}
    assert abs(scaled.accuracy("0.9") - 3 * plain.accuracy("0.9")) <= plain.accuracy("0.9") / (1 << 50)


@pytest.mark.parametrize("gamma", ["1/2", "1/20", "1/1000"])
@pytest.mark.parametrize("setting", SETTINGS)
def test_gamma_bounds_the_chance_of_clamping(setting: tuple, gamma: str) -> None:
    mechanism = build(setting, gamma=gamma)
    lower, upper = (Fraction(each) for each in setting[1])
    ends = (
        mechanism._middle - mechanism._half * mechanism._unit,
        mechanism._middle + mechanism._half * mechanism._unit,
    )
    assert ends[0] < lower < upper < ends[1]
    for value in (lower, (lower + upper) / 2, upper):
        law = mechanism.law(value)
        assert law[ends[0]] + law[ends[1]] <= Fraction(gamma)


@pytest.mark.parametrize("alpha", ["1/2", "1/20", "1/1000"])
@pytest.mark.parametrize("setting", SETTINGS)
def test_accuracy_covers_the_exact_tail(setting: tuple, alpha: str) -> None:
    mechanism = build(setting)
    distance = mechanism.accuracy(1 - Fraction(alpha))
    for value in places(mechanism):
        assert exceeds(mechanism.law(value), value, distance) <= Fraction(alpha)
    # It is the paper's GetAccuracy2 for this mechanism's λ and Λ, but for rounding up.
    exact = paper.accuracy(mechanism._half, 1 / mechanism._scale, mechanism._snap, Fraction(alpha)) * mechanism._unit
    assert exact <= distance <= exact * (1 + Fraction(1, 1 << 50))


def test_the_first_accuracy_of_the_notes_claims_too_much() -> None:
    epsilon, bound, value, alpha = Fraction("0.99"), Fraction(6), Fraction("5.41"), Fraction("0.01")
    step = paper.next_power(1 / epsilon)
    law = snapped_law(lambda u: paper.noise(u, 1 / epsilon), add_at_118, value, bound, step, 52)
    claimed = Fraction(paper.accuracy_as_printed(value, bound, epsilon, alpha))
    assert exceeds(law, value, claimed) > 30 * alpha
    assert exceeds(law, value, paper.accuracy(bound, epsilon, step, alpha)) <= alpha


@pytest.mark.parametrize("accuracy", ["3/2", "4", "40"])
def test_for_accuracy_finds_the_least_epsilon(accuracy: str) -> None:
    found = lb.Snapping.for_accuracy(accuracy, "19/20", bounds=(0, 500), sensitivity=2)
    unit = Fraction(10) ** (len(str(int(found.epsilon * 10**30))) - 30 - 9)
    less = lb.Snapping(epsilon=found.epsilon - unit, bounds=(0, 500), sensitivity=2)
    assert found.accuracy("19/20") <= Fraction(accuracy) < less.accuracy("19/20")


def test_an_accuracy_that_needs_no_data_is_refused() -> None:
    with pytest.raises(lb.ParameterError, match="every epsilon gives this one"):
        lb.Snapping.for_accuracy(20, bounds=(0, 10))


@pytest.mark.parametrize("setting", SETTINGS)
def test_bias_is_within_its_bound(setting: tuple) -> None:
    mechanism = build(setting)
    for value in places(mechanism):
        bias = sum(p * outcome for outcome, p in mechanism.law(value).items()) - value
        assert abs(bias) <= mechanism.bias_bound(value) <= mechanism.maximum_bias


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_bias_bound_is_that_of_noise_shifted_by_half_a_step(setting: tuple) -> None:
    # E clamp(X) = -B + ∫ P(X > t) dt from -B to B, caught between sums over slices, as P(X > t) falls.
    mechanism = build(setting)
    half, scale, slices = float(mechanism._half), float(mechanism._scale), 2000
    width = 2 * half / slices
    for value in places(mechanism):
        start = abs(float((value - mechanism._middle) / mechanism._unit))
        centre = start - float(mechanism._snap) / 2

        def beyond(t: float, centre: float = centre) -> float:
            tail = math.exp(-abs(t - centre) / scale) / 2
            return tail if t >= centre else 1 - tail

        sums = [beyond(-half + i * width) * width for i in range(slices + 1)]
        most, least = (start + half - sum(part) for part in (sums[1:], sums[:-1]))
        assert least < mechanism.bias_bound(value) / mechanism._unit < most


def test_the_printed_bias_is_too_small() -> None:
    # The last term of section 6.4 as printed, with its factor, against the exact bias at the bound.
    mechanism = lb.Snapping(epsilon="1/2", bounds=(-1, 1))
    value, snap, scale, bound = 1.0, float(mechanism._snap), float(mechanism._scale), float(mechanism._half)

    def below(x: float) -> float:
        x = (x + snap / 2) / scale
        return math.exp(x) / 2 if x < 0 else 1 - math.exp(-x) / 2

    lower_binds, upper_binds = below(-bound - value), 1 - below(bound - value)
    clamped = lower_binds * (-bound - value) + upper_binds * (bound - value)
    inner = -float(mechanism.bias_bound(1)) - clamped
    printed = clamped + (1 - lower_binds - upper_binds) * inner
    exact = sum(p * outcome for outcome, p in mechanism.law(1).items()) - 1
    assert -float(mechanism.bias_bound(1)) <= exact < 0
    assert abs(printed) < mechanism.bias_bound(1) * Fraction(9, 10)


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(-60, 60))
def test_rounding_by_bits_is_exact_rounding(value: float, exponent: int) -> None:
    step = Fraction(2) ** exponent
    exact = paper.round_to_multiple(Fraction(value), step)
    by_bits = paper.round_by_bits(value, exponent)
    assert by_bits == exact
    assert by_bits != 0 or math.copysign(1, by_bits) == 1


@given(st.integers(-(2**53), 2**53), st.integers(-3, 3), st.integers(-20, 20))
def test_rounding_by_bits_meets_ties_and_carries(whole: int, quarters: int, exponent: int) -> None:
    value = math.ldexp(whole >> 4, exponent) + math.ldexp(quarters, exponent - 2)
    assert paper.round_by_bits(value, exponent) == paper.round_to_multiple(Fraction(value), Fraction(2) ** exponent)


def test_the_paper_s_program_runs_as_its_law_says() -> None:
    epsilon, bound, value = Fraction(1), Fraction(8), Fraction(3)
    law = snapped_law(
        lambda u: paper.noise(u, 1 / paper.noise_epsilon(epsilon, bound)), add_at_118, value, bound, Fraction(2), 3
    )
    found = lb.audit.law(lambda draw: paper.snapping(draw, value, epsilon, bound, bits=3), Fraction(1, 1000))
    for outcome, p in law.items():
        lower, upper = found[outcome]
        assert lower <= p <= upper


def test_the_figures_in_the_docstring_are_true() -> None:
    mechanism, discrete = lb.Snapping(epsilon=1, bounds=(0, 100)), lb.DiscreteLaplace(epsilon=1)
    errors, biases = [], []
    for quarters in range(4 * 48, 4 * 52 + 1):
        value, law = Fraction(quarters, 4), mechanism.law(Fraction(quarters, 4))
        errors.append(math.sqrt(sum(p * (outcome - value) ** 2 for outcome, p in law.items())))
        biases.append(abs(sum(p * (outcome - value) for outcome, p in law.items())))
    r = float(discrete.rate.fraction)
    text = " ".join((lb.Snapping.__doc__ or "").split())
    for figure in (
        f"root mean square error is {min(errors):.2f} to {max(errors):.2f} depending",
        f"off by up to {float(max(biases)):.2f} on average",
        f"keep within {float(mechanism.accuracy('0.95')):.2f} with probability 95%",
        f"discrete Laplace has {math.sqrt(2 * r) / (1 - r):.2f}, no bias, and {float(discrete.accuracy('0.95')):.2f}",
    ):
        assert figure in text
    assert mechanism.resolution == 2


def test_intervals_and_numbers_of_a_release() -> None:
    release = lb.Snapping(epsilon=1, bounds=(0, 100)).release(lb.exact_sum([30, 12], bounds=(0, 1)))
    low, high = release.interval("0.95")
    assert low < release.value < high
    assert high - low == 2 * lb.Snapping(epsilon=1, bounds=(0, 100)).accuracy("0.95")
    assert Fraction(float(release)) == release.value
    assert int(release) == release.value


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"bounds": (1, 1)}, "bounds must rise"),
        ({"bounds": (0, 1), "gamma": 0}, "gamma must be above 0"),
        ({"bounds": (0, 1), "sensitivity": 0}, "sensitivity must be positive"),
        ({"bounds": (0, 1), "eta": lb.Eta(1, 1, 1)}, "exactly one of epsilon, eta and rho"),
    ],
)
def test_wrong_parameters_are_refused_when_built(wrong: dict, message: str) -> None:
    with pytest.raises(lb.ParameterError, match=message):
        lb.Snapping(epsilon=1, **wrong)


@pytest.mark.parametrize("values", [[1, 2], [], "1", {1}])
def test_more_than_one_value_is_refused(values: Any) -> None:
    with pytest.raises(lb.ParameterError, match="one number"):
        lb.Snapping(epsilon=1, bounds=(0, 1)).release(values)


def test_values_of_a_larger_sensitivity_are_refused() -> None:
    with pytest.raises(lb.ParameterError, match="one person can move the values by"):
        lb.Snapping(epsilon=1, bounds=(0, 10)).release(lb.exact_sum([1], bounds=(0, 2)))


def test_the_cost_pays_for_our_bound_on_the_error() -> None:
    # 26·(1 + B/λ)·2^-(p+8) <= 2η + 12·B·η/λ, term by term.
    assert Fraction(26, 1 << module._GUARD) <= 2
    for setting in SETTINGS:
        mechanism = build(setting)
        eta = Fraction(1, 1 << mechanism._precision)
        assert 1 / mechanism._scale * (1 + 12 * mechanism._half * eta) + 2 * eta <= mechanism.cost.epsilon
        assert mechanism._scale <= mechanism._snap < 2 * mechanism._scale


def test_bounds_of_any_width_are_audited_in_the_time_that_is_given(monkeypatch):
    """The law is computed outcome by outcome, outwards, and not for all 2^63 outcomes first."""
    clock = Clock(monkeypatch)
    far = lb.Snapping(epsilon="1/1000", bounds=(0, 2**63))
    assert lb.audit.check(far, 3, 4, "1e-9", seconds=2).holds
    assert clock.looks < 2000
    clock.looks = 0
    found = lb.audit.check(far, 3, 4, 0, seconds=0.1)
    assert found.verdict == "undecided"
    assert 66 <= clock.looks < 200  # a third of the hundred looks is for comparing the laws, which are short here


@pytest.mark.parametrize("value", [0, 3, 4, 5, 8])
def test_the_cells_of_the_outcomes_have_their_masses(value):
    mechanism = lb.Snapping(epsilon=1, bounds=(0, 8))
    outcomes = mechanism._outcomes(mechanism._start(value))
    masses, bits, edge = dict(sorted(outcomes.masses())), 400, Fraction(0)
    assert sum(masses.values()) == 1
    for step, mass in masses.items():
        first, last = edge * 2**bits, (edge + mass) * 2**bits
        assert first.denominator == last.denominator == 1
        assert outcomes.cell(int(first), bits) == outcomes.cell(int(last) - 1, bits) == step
        edge += mass
    assert outcomes.cell(0, 0) is None
    law = lb.audit.law(mechanism.program(value), 0)
    assert {each.value: law[each][0] for each in law} == mechanism.law(value)
