"""A sparse vector that measures what it reports: its law, its loss, its estimates and its intervals, exactly."""

from fractions import Fraction
from itertools import product

import pytest

import lastbit as lb
from lastbit.estimate.gap_laws import LaplaceGapNoise, OneSidedGapNoise
from lastbit.estimate.reported import THRESHOLD_PART, ReportedLaw
from tests.laws.folding import Folding
from tests.laws.one_sided import BELOW, OneSided

THRESHOLD = 5
ONE_BRANCH = ((1, 0, 1),)


def built(limit, monotone=False, noise="one-sided"):
    """Threshold rate 1/2, query rate 1/2, measurement rate 1/4, all a step."""
    moves = 1 if monotone else 2
    bits = 1 + limit * moves + 2 * limit
    return lb.SparseVector(
        threshold=THRESHOLD,
        limit=limit,
        eta=lb.Eta(1, 1, bits),
        measure=Fraction(2 * limit, bits),
        split=Fraction(1, 1 + limit * moves),
        monotone=monotone,
        noise=noise,
    )


@pytest.mark.parametrize(("limit", "monotone"), [(1, False), (2, False), (2, True)])
def test_the_plan_has_these_rates_and_prices(limit, monotone):
    tested = built(limit, monotone)
    plan = tested._plan
    rates = plan.threshold_rate, plan.branches[0].rate, plan.measurement_rate
    assert [rate.fraction for rate in rates] == [Fraction(1, 2), Fraction(1, 2), Fraction(1, 4)]
    bits = tested.eta.z
    assert plan.opening * bits == 1
    assert plan.unit * bits == (3 if monotone else 4)
    assert plan.opening + plan.units * plan.unit == 1


def mass_of(law, transcript, distances, measured):
    """P(answers, measurements): a measurement is its value with discrete Laplace noise of rate 1/4."""
    answers = law.mass(transcript, distances)
    above = [distance for answer, distance in zip(transcript, distances, strict=False) if answer is not BELOW]
    for distance, measurement in zip(above, measured, strict=True):
        answers *= Fraction(3, 5) * Fraction(1, 4) ** abs(measurement - distance)
    return answers


class Given(Folding):
    """A draw whose threshold noise is known, and whose other noise is folded; measurements within 2 steps are told."""

    def __init__(self, draw, z, bounds):
        super().__init__(draw, bounds)
        self._first = [z]

    def geometric(self, rate, size=None):
        return self._first.pop() if self._first else super().geometric(rate, size)


@pytest.mark.parametrize(("limit", "n"), [(1, 1), (1, 2), (2, 2)])
@pytest.mark.parametrize("z", [0, 2])
def test_given_the_threshold_noise_the_code_has_the_law_of_the_definition(limit, n, z):
    tested, law = built(limit), OneSided(Fraction(1, 2), Fraction(1, 2), ONE_BRANCH, limit, 2)
    distances = (0, -1)[:n]
    bounds = {tested._plan.branches[0].rate: z + 4, tested._plan.measurement_rate: 3}
    program = tested.program([THRESHOLD + distance for distance in distances])
    found = lb.audit.law(lambda draw: program(Given(draw, z, bounds)), 0)
    assert found.unexplored == 0
    ours = {}
    for release, mass in found.exact.items():
        answers = tuple((0, each.gap) if each.above else BELOW for each in release.answers)
        measured = tuple(each - THRESHOLD for each in release.measurements)
        ours[answers, measured] = mass
    tried = 0
    for transcript in law.transcripts(n):
        above = [at for answer, at in zip(transcript, distances, strict=False) if answer is not BELOW]
        for noise in product((-2, -1, 0, 1, 2), repeat=len(above)):
            measured = tuple(at + each for at, each in zip(above, noise, strict=True))
            expected = law.mass_given_noise(transcript, distances, z)
            for each in noise:
                expected *= Fraction(3, 5) * Fraction(1, 4) ** abs(each)
            assert ours.get((transcript, measured), 0) == expected
            tried += expected > 0
    assert tried > 5


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize(("limit", "n"), [(1, 2), (2, 3)])
def test_the_loss_is_within_the_claim_and_reaches_it(limit, n, monotone):
    """Measurements far from both values have the largest odds: 4 for each step that the value moves.

    Monotone values that rise pay for the threshold, and for a step of query noise or of measurement noise, not both;
    values that fall pay for both, and not for the threshold. So the claim is more than they lose.
    """
    law = OneSided(Fraction(1, 2), Fraction(1, 2), ONE_BRANCH, limit, 2)
    claim, worst = 1 / built(limit, monotone).eta.fraction, 0
    for near, move in product(product((-1, 0, 1), repeat=n), repeat=2):
        if monotone and not (min(move) >= 0 or max(move) <= 0):
            continue
        other = [a + b for a, b in zip(near, move, strict=True)]
        for transcript in law.transcripts(n):
            for side in (-9, 9):
                measured = [side] * sum(answer is not BELOW for answer in transcript)
                p, q = (mass_of(law, transcript, values, measured) for values in (near, other))
                worst = max(worst, p / q, q / p)
    assert worst <= claim
    assert worst == (max(2 * 4**limit, 8**limit) if monotone else claim)


@pytest.mark.parametrize("noise", ["one-sided", "laplace"])
@pytest.mark.parametrize("monotone", [False, True])
def test_the_auditor_finds_that_the_code_keeps_its_cost(noise, monotone):
    tested = lb.SparseVector(
        threshold=0, limit=1, eta=lb.Eta(1, 16, 1), measure="1/2", split="even", monotone=monotone, noise=noise
    )
    found = lb.audit.check_all(tested, [0, 0], tolerance=Fraction(1, 1 << 7))
    assert found.holds


# Estimates


def least_squares(alpha, by_gaps, a, x, z):
    """Generalised least squares from its definition: the covariance of measurements and gap estimates, inverted."""
    k = len(alpha)
    # Minimise Σ(αᵢ-β)²/a + dᵀ·C⁻¹·d with C = x·I + z·J, whose inverse is (I - z/(x + k·z)·J)/x.
    inverse = [[(int(i == j) - z / (x + k * z)) / x for j in range(k)] for i in range(k)]
    matrix = [[inverse[i][j] + (1 / a if i == j else 0) for j in range(k)] for i in range(k)]
    right = [alpha[i] / a + sum(inverse[i][j] * by_gaps[j] for j in range(k)) for i in range(k)]
    for i in range(k):
        for j in range(k):
            if i != j:
                factor = matrix[j][i] / matrix[i][i]
                matrix[j] = [p - factor * q for p, q in zip(matrix[j], matrix[i], strict=True)]
                right[j] -= factor * right[i]
    return tuple(right[i] / matrix[i][i] for i in range(k))


@pytest.mark.parametrize("kind", [OneSidedGapNoise, LaplaceGapNoise])
@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_the_estimates_are_least_squares(kind, k):
    noise = kind(lb.Rate(7, 3), lb.Rate(3, 2), Fraction(1, 10))
    law = ReportedLaw(noise, lb.Rate(5, 3))
    a, x, z = law._variances()
    assert x + z == noise.variance
    alpha = [Fraction((7 * i * i) % 13, 3) for i in range(k)]
    by_gaps = [Fraction((5 * i + 2) % 11) for i in range(k)]
    assert law.estimates(alpha, by_gaps) == least_squares(alpha, by_gaps, a, x, z)


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_the_error_left_is_that_of_the_weights(k):
    """By linearity: the weight of every noise in an estimate, squared, times its variance."""
    law = ReportedLaw(OneSidedGapNoise(lb.Rate(7, 3), lb.Rate(3, 2), Fraction(1, 10)), lb.Rate(5, 3))
    a, x, z = law._variances()
    zero = [Fraction(0)] * k
    total = Fraction(0)
    for i in range(k):
        unit = [Fraction(int(j == i)) for j in range(k)]
        total += a * sum(each**2 for each in law.estimates(unit, zero))
        total += x * sum(each**2 for each in law.estimates(zero, unit))
    total += z * sum(each**2 for each in law.estimates(zero, [Fraction(1)] * k))
    assert total / (k * a) == law.error_left(k)


def test_the_error_that_is_left_at_epsilon_one():
    for limit, left in ((1, "0.802"), (2, "0.661"), (10, "0.452")):
        tested = lb.SparseVector(threshold=0, limit=limit, epsilon=1, measure="1/2", monotone=True)
        assert f"{float(tested.reported_law.error_left(limit)):.3f}" == left


# Intervals


def coverage(tested, distance, level, *, first=None):
    """P(the interval holds the value, given that the query is reported), in bounds, where the query comes first."""
    law = lb.audit.law(tested.program([THRESHOLD + distance]), Fraction(1, 1 << 11))
    reported = held = Fraction(0)
    for release, mass in law.masses.items():
        if release.indices:
            low, high = release.intervals(level)[0]
            reported += mass
            held += mass * (low <= THRESHOLD + distance <= high)
    return held / (reported + law.unexplored)


@pytest.mark.parametrize("distance", [-3, -1, 0, 2])
def test_intervals_hold_given_that_the_query_was_reported(distance):
    tested = lb.SparseVector(threshold=THRESHOLD, limit=1, eta=lb.Eta(1, 1, 6), measure="1/2", split="1/3")
    assert coverage(tested, distance, Fraction(3, 4)) >= Fraction(3, 4)


def test_the_parts_of_the_level_add_up():
    law = built(1).reported_law
    for level in ("0.5", "0.9", "0.95", "0.999"):
        wrong = 1 - Fraction(level)
        reach, above = law.reaches(level)
        r, s = law.measurement_rate.fraction, law.gap_noise.threshold_rate.fraction
        assert 2 * r ** (reach + 1) / (1 + r) <= wrong * (1 - THRESHOLD_PART)
        assert s ** (above + 1) <= wrong * THRESHOLD_PART
        assert above == 0 or s**above > wrong * THRESHOLD_PART


def test_the_upper_end_is_that_of_the_gap_where_it_is_lower():
    tested = built(1)
    release = tested.release([THRESHOLD + 40])
    reach, above = release.law.reaches("0.95")
    (low, high), (measured,), (gap,) = release.intervals()[0:1][0], release.measurements, release.gaps
    assert low == measured - reach
    assert high == max(low, min(measured + reach, THRESHOLD + gap + release.law.gap_noise.shift + above))


def test_floored_values_may_lie_a_step_higher():
    mechanism = lb.SparseVector(threshold=THRESHOLD, limit=1, eta=lb.Eta(1, 1, 40), measure="1/2")
    whole, floored = mechanism.release([45]), mechanism.release([45.5])
    assert whole.on_grid
    assert not floored.on_grid
    assert whole.intervals()[0] == (45, 45)
    assert floored.intervals()[0] == (45, 46)


def test_a_run_measures_against_its_own_threshold():
    run = lb.SparseVector(threshold=5, limit=2, eta=lb.Eta(1, 1, 80), measure="1/2").start()
    assert [run.ask(90, threshold=70).measurement, run.ask_many([0, 90], thresholds=[70, 80])[1].measurement] == [
        90,
        90,
    ]


def test_the_bound_by_the_gap_knows_the_public_shift():
    """Threshold rate 1/8, query rate 1/2, measurement rate 1/4: the noises have means 1/7 and 1, so the shift is 1.

    At level 3/4 a measurement is off by at most 1 with probability 9/10, and Z is above 1 with probability 1/64.
    """
    tested = lb.SparseVector(threshold=THRESHOLD, limit=1, eta=lb.Eta(1, 1, 7), measure="2/7", split="3/5")
    rates = tested._plan.threshold_rate, tested._plan.branches[0].rate, tested._plan.measurement_rate
    assert [rate.fraction for rate in rates] == [Fraction(1, 8), Fraction(1, 2), Fraction(1, 4)]
    values = lb.Statistic([THRESHOLD], 1, 1)
    law, by_gap = lb.audit.law(tested.program(values), Fraction(1, 1 << 9)), 0
    for release in law.masses:
        if release.indices:
            (measurement,), (gap,) = release.measurements, release.gaps
            low, high = release.intervals("3/4")[0]
            assert (low, high) == (measurement - 1, max(measurement - 1, min(measurement + 1, THRESHOLD + gap + 1 + 1)))
            by_gap += high < measurement + 1
    assert by_gap > 0
