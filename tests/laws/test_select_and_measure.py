"""Select-and-measure: within its cost on neighbours, and as much more exact as the theory says, on a fixed tape."""

from fractions import Fraction

import numpy as np
import pytest

import lastbit as lb
from lastbit.estimate.accuracy import laplace_accuracy
from lastbit.estimate.blue import variance_left
from lastbit.estimate.tempered import tempered


@pytest.mark.parametrize(
    ("mechanism", "neighbours"),
    [
        (lb.SelectAndMeasure(k=1, eta=lb.Eta(1, 8, 1), resolution=1), [(1, -1), (1, 0)]),
        (lb.SelectAndMeasure(k=1, eta=lb.Eta(1, 8, 1), resolution=1, monotone=True), [(1, 1), (1, 0)]),
        (lb.SelectAndMeasure(k=1, eta=lb.Eta(1, 6, 1), split="2/3", resolution=1), [(1, -1)]),
        (lb.SelectAndMeasure(k=2, eta=lb.Eta(1, 16, 1), resolution=1, monotone=True), [(1, 1)]),
        (lb.SelectAndMeasure(k=1, epsilon=6, resolution=1, monotone=True), [(1, 0)]),
    ],
    ids=lambda value: str(value) if isinstance(value, lb.SelectAndMeasure) else None,
)
def test_the_loss_is_within_the_cost(mechanism: lb.SelectAndMeasure, neighbours: list[tuple[int, ...]]) -> None:
    for neighbour in neighbours:
        assert lb.audit.check(mechanism, (0, 0), neighbour, tolerance="1/200").holds


@pytest.mark.parametrize(
    ("parameters", "selection", "measurement"),
    [
        ({"k": 1}, Fraction(1, 4), Fraction(1, 16)),
        ({"k": 1, "monotone": True}, Fraction(1, 16), Fraction(1, 16)),
        ({"k": 2, "monotone": True}, Fraction(1, 4), Fraction(1, 4)),
        ({"k": 1, "monotone": True, "split": "1/4"}, Fraction(1, 4), Fraction(1, 64)),
        ({"k": 1, "monotone": True, "resolution": "1/2"}, Fraction(1, 4), Fraction(1, 4)),
        ({"k": 1, "monotone": True, "sensitivity": 2}, Fraction(1, 4), Fraction(1, 4)),
    ],
)
def test_the_cost_is_split_as_stated(parameters: dict[str, object], selection: Fraction, measurement: Fraction) -> None:
    mechanism = lb.SelectAndMeasure(**({"eta": lb.Eta(1, 8, 1), "resolution": 1} | parameters))
    assert mechanism._selector.rate.fraction == selection
    assert mechanism._measurement_rate.fraction == measurement


def test_the_measurement_is_of_whoever_was_selected() -> None:
    """Given who was selected, the measurement has its own noise: its law is the discrete Laplace around the value."""
    mechanism = lb.SelectAndMeasure(k=1, eta=lb.Eta(1, 8, 1), resolution=1, monotone=True)

    def program(draw: lb.Draw) -> tuple[int, int]:
        release = mechanism.release([3, 5], draw)
        return release.indices[0], int(release.measurements[0])

    law, r = lb.audit.law(program, "1/1000"), mechanism._measurement_rate.fraction
    first, second = (sum(mass for (index, _), mass in law.masses.items() if index == i) for i in (0, 1))
    for (index, value), mass in law.masses.items():
        share = (1 - r) / (1 + r) * r ** abs(value - (3, 5)[index])
        of_index = (first, second)[index]
        assert of_index * share - law.unexplored <= mass <= (of_index + law.unexplored) * share


def test_the_estimates_are_unbiased() -> None:
    """Two counts far apart: the mean of every estimate over the law is the count, up to what is unexplored."""
    mechanism = lb.SelectAndMeasure(k=2, eta=lb.Eta(1, 16, 1), resolution=1, monotone=True)

    def program(draw: lb.Draw) -> tuple[Fraction, ...]:
        return mechanism.release([40, 0], draw).estimates

    law = lb.audit.law(program, "1/1000")
    for i, count in enumerate((40, 0)):
        mean = sum(estimates[i] * mass for estimates, mass in law.masses.items())
        # No estimate left out is further than 60 from the count, but for runs that are 4^-20 of what is left out.
        assert abs(mean - count * (1 - law.unexplored)) <= 60 * law.unexplored


def runs_of(mechanism: lb.SelectAndMeasure, truth: np.ndarray, runs: int, seed: int) -> tuple[float, float]:
    """The squared errors of measurements and of estimates, summed over so many runs on a fixed tape."""
    words = np.random.default_rng(seed).integers(0, 1 << 64, size=(len(truth) + 200) * runs, dtype=np.uint64)
    draw = lb.Sampler(lb.Tape(words.tolist()))
    measured, estimated = 0.0, 0.0
    for _ in range(runs):
        release = mechanism.release(truth, draw)
        true = truth[list(release.indices)].tolist()
        measured += sum(float(m - v) ** 2 for m, v in zip(release.measurements, true, strict=True))
        estimated += sum(float(e - v) ** 2 for e, v in zip(release.estimates, true, strict=True))
    return measured, estimated


@pytest.mark.parametrize("split", ["1/2", "1/4"])
def test_the_error_falls_nearly_as_the_best_linear_estimate_where_values_are_apart(split: str) -> None:
    """k = 10 counts far apart: the selection is certain, and the BLUE takes 60% off when ratio = 1/2."""
    k, runs = 10, 1500
    mechanism = lb.SelectAndMeasure(k=k, epsilon=1, monotone=True, split=split)
    measured, estimated = runs_of(mechanism, np.arange(k, 0, -1) * 100_000, runs, 20_240_601)
    shares = Fraction(split), 1 - Fraction(split)
    # Exponential noise of scale k/(split·epsilon) has that variance squared, Laplace noise twice its scale's square.
    left = float(variance_left(k, shares[1] ** 2 / shares[0] ** 2 / 2))
    assert 0.92 < (1 - estimated / measured) / (1 - left) < 1.08
    assert abs(mechanism.release(range(10)).standard_errors[0] ** 2 * runs * k / measured - 1) < 0.05


@pytest.mark.parametrize(
    "truth",
    [np.full(100, 500), 10_000 // np.arange(1, 301), np.array([10**6, 10**6 - 500, *[1000] * 300])],
    ids=["flat", "Zipf", "lucky"],
)
@pytest.mark.parametrize("k", [2, 3, 10, 20])
def test_estimates_are_never_much_worse_than_measurements(truth: np.ndarray, k: int) -> None:
    mechanism = lb.SelectAndMeasure(k=k, epsilon=1, resolution=1, monotone=True)
    measured, estimated = runs_of(mechanism, truth, 300, k)
    assert estimated < 1.05 * measured


@pytest.mark.parametrize("values", [(0, 0, 0), (3, 3, 0), (9, 0, 0)])
@pytest.mark.parametrize("k", [1, 2])
def test_intervals_hold_exactly_as_often_at_every_rank_whatever_the_values(values: tuple[int, ...], k: int) -> None:
    """Lucky or not: the exact coverage of the exact law, and the exact coverage of the noise of a measurement."""
    # Rates of 1/4 for the selection and the measurements.
    mechanism = lb.SelectAndMeasure(k=k, eta=lb.Eta(1, 4 * k, 1), resolution=1, monotone=True)
    level = Fraction(1, 2) if k == 2 else Fraction(9, 10)

    def intervals_hold(draw: lb.Draw) -> tuple[bool, ...]:
        release = mechanism.release(values, draw)
        return tuple(
            low <= values[index] <= high
            for index, (low, high) in zip(release.indices, release.intervals(level), strict=True)
        )

    law = lb.audit.law(intervals_hold, "1/500")
    r, reach = Fraction(1, 4), laplace_accuracy(lb.Rate(1, 2), level)
    exactly = 1 - 2 * r ** (reach + 1) / (1 + r)
    assert exactly >= level > 1 - 2 * r**reach / (1 + r)
    for rank in range(k):
        coverage = sum(mass for each, mass in law.masses.items() if each[rank])
        assert exactly - law.unexplored <= coverage <= exactly


def test_a_value_between_two_steps_is_inside_its_interval() -> None:
    mechanism = lb.SelectAndMeasure(k=1, epsilon=9, resolution=1)
    assert mechanism.release([10.75]).above == 1
    low, high = mechanism.release([10.75]).intervals("0.99")[0]
    grid_low, grid_high = mechanism.release([10]).intervals("0.99")[0]
    assert high - low == grid_high - grid_low + 1


def test_intervals_have_no_end_where_the_grid_clamps() -> None:
    mechanism = lb.SelectAndMeasure(k=2, epsilon=1, resolution=1)
    (_, high), (low, _) = mechanism.release([1 << 70, -(1 << 70)]).intervals()
    assert high is None
    assert low is None


@pytest.mark.parametrize("k", [4, 10])
def test_intervals_lie_around_the_measurements_and_not_around_the_estimates(k: int) -> None:
    mechanism = lb.SelectAndMeasure(k=k, epsilon=1, resolution=1, monotone=True)
    words = np.random.default_rng(k).integers(0, 1 << 64, size=5000, dtype=np.uint64)
    release = mechanism.release(np.array([10**6, *[1000] * 300]), lb.Sampler(lb.Tape(words.tolist())))
    assert release.estimates != release.measurements
    for (low, high), measurement in zip(release.intervals("0.9"), release.measurements, strict=True):
        assert (low + high) / 2 == measurement


def test_the_middle_of_a_floored_gap_is_used() -> None:
    mechanism = lb.SelectAndMeasure(k=5, epsilon=1, resolution=1, monotone=True)
    release = mechanism.release([5000, 4000, 3000, 2000, 1000, 0])
    half = Fraction(1, 2)
    ratio = mechanism._selector.rate.geometric_variance + Fraction(5, 12)
    variance = mechanism._measurement_rate.laplace_variance
    middles = [gap + half for gap in release.gaps]
    assert release.estimates == tempered(release.measurements, middles, ratio / variance, variance)


def test_where_noise_is_hardly_longer_than_a_step_the_measurements_stay() -> None:
    mechanism = lb.SelectAndMeasure(k=5, epsilon=40, resolution=1, monotone=True)
    measured, estimated = runs_of(mechanism, np.arange(8, 0, -1) * 1000, 400, 3)
    assert estimated <= 1.05 * measured


@pytest.mark.parametrize(
    ("mechanism", "values", "neighbours"),
    [
        (lb.SelectAndMeasure(k=1, eta=lb.Eta(1, 8, 1), resolution=1, selection="set"), (0, 0), [(1, -1), (1, 0)]),
        (
            lb.SelectAndMeasure(k=2, eta=lb.Eta(1, 16, 1), resolution=1, monotone=True, selection="set"),
            (2, 1, 0, 0),
            [(3, 1, 1, 0), (2, 2, 0, 0)],
        ),
        (
            lb.SelectAndMeasure(
                k=2, eta=lb.Eta(1, 16, 1), resolution=1, monotone=True, selection="set", form="left-out", split="1/4"
            ),
            (2, 1, 0, 0),
            [(3, 1, 1, 0)],
        ),
    ],
    ids=["one", "both", "left-out"],
)
def test_the_loss_of_a_measured_set_is_within_the_cost(
    mechanism: lb.SelectAndMeasure, values: tuple[int, ...], neighbours: list[tuple[int, ...]]
) -> None:
    for neighbour in neighbours:
        assert lb.audit.check(mechanism, values, neighbour, tolerance="1/200").holds


@pytest.mark.parametrize(
    ("parameters", "selection", "measurement"),
    [
        ({"k": 2}, Fraction(1, 4), Fraction(1, 16)),
        ({"k": 2, "monotone": True}, Fraction(1, 16), Fraction(1, 16)),
        ({"k": 2, "monotone": True, "form": "left-out"}, Fraction(1, 256), Fraction(1, 16)),
        ({"k": 3, "eta": lb.Eta(1, 32, 1), "monotone": True, "split": "1/4"}, Fraction(1, 16), Fraction(1, 256)),
        ({"k": 1, "monotone": True}, Fraction(1, 256), Fraction(1, 256)),
    ],
)
def test_a_set_costs_its_share(parameters: dict[str, object], selection: Fraction, measurement: Fraction) -> None:
    mechanism = lb.SelectAndMeasure(**({"eta": lb.Eta(1, 16, 1), "resolution": 1, "selection": "set"} | parameters))
    assert mechanism._set_selector.rate(5).fraction == selection
    assert mechanism._measurement_rate.fraction == measurement


def test_the_selection_of_a_measured_set_is_that_of_the_set_alone_and_its_intervals_hold_for_every_set() -> None:
    mechanism = lb.SelectAndMeasure(k=2, eta=lb.Eta(1, 16, 1), resolution=1, monotone=True, selection="set")
    alone = lb.SubsetTopK(k=2, eta=lb.Eta(1, 8, 1), monotone=True)
    counts, level = [4, 3, 3, 0], Fraction(9, 10)

    def program(draw: lb.Draw) -> tuple[tuple[int, ...], tuple[bool, ...]]:
        release = mechanism.release(counts, draw)
        pairs = zip(release.intervals(level), release.indices, strict=True)
        return release.indices, tuple(low <= counts[i] <= high for (low, high), i in pairs)

    law, sets = lb.audit.law(program, "1/100000"), lb.audit.law(alone.program(counts), 0)
    for outcome, mass in sets.masses.items():
        found = {
            intervals_hold: share
            for (indices, intervals_hold), share in law.masses.items()
            if indices == outcome.indices
        }
        assert mass - law.unexplored <= sum(found.values()) <= mass
        for place in (0, 1):
            assert (
                sum(share for intervals_hold, share in found.items() if intervals_hold[place])
                >= level * mass - law.unexplored
            )


def test_a_measured_set_of_the_same_words_on_both_twins() -> None:
    words = list(range(7, 2**64, 2**64 // 40))
    for form in ("both", "left-out"):
        mechanism = lb.SelectAndMeasure(k=3, epsilon=1, selection="set", form=form)
        one, other = (
            mechanism.release([9, 3, 3, 2, 0, 0], twin(lb.Tape(words))) for twin in (lb.Sampler, lb.Reference)
        )
        assert one == other
        assert one.estimates == one.measurements
        assert list(one.columns()) == ["index", "measurement", "standard_error"]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"selection": "sets"}, "selection must be 'noise' or 'set': got 'sets'"),
        ({"form": "left-out"}, "form is for selection='set'"),
        ({"selection": "set", "form": "out"}, "form must be 'both' or 'left-out'"),
    ],
)
def test_a_selection_that_does_not_exist_is_refused(parameters: dict[str, str], message: str) -> None:
    with pytest.raises(lb.ParameterError, match=message):
        lb.SelectAndMeasure(k=2, epsilon=1, **parameters)


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_blue_is_theorem_3_with_the_middles_of_the_gaps(k: int) -> None:
    mechanism = lb.SelectAndMeasure(k=k, epsilon=1, monotone=True)
    release = mechanism.release([1000 * (7 - i) for i in range(6)])
    v, g = release.measurement_rate.laplace_variance, release.selection_rate.geometric_variance
    ratio = (g + Fraction(k, 12)) / v
    alpha, gaps = release.measurements, [gap + Fraction(1, 20) for gap in release.gaps]
    p = sum(((k - j) * gaps[j - 1] for j in range(1, k)), Fraction(0))
    for i in range(k):
        before = sum(gaps[:i], Fraction(0))
        assert release.blue[i] == (sum(alpha) + ratio * k * alpha[i] + p - k * before) / ((1 + ratio) * k)
    if k < 4:
        assert release.estimates == alpha
    saved = {1: "0.00", 2: "0.33", 3: "0.44", 5: "0.53"}
    assert f"{float(1 - variance_left(k, ratio)):.2f}" == saved[k]
