"""Select-and-measure: within its cost on neighbours, and as much more exact as the theory says, on a fixed tape."""

from fractions import Fraction

import numpy as np
import pytest

import lastbit as lb
from lastbit.estimate.blue import variance_left


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


@pytest.mark.parametrize("split", ["1/2", "1/4"])
def test_the_error_falls_as_the_theory_says(split: str) -> None:
    """k = 10 counts far apart: the selection is certain, and the squared error falls by 60% when ratio = 1/2."""
    k, runs = 10, 1500
    mechanism = lb.SelectAndMeasure(k=k, epsilon=1, monotone=True, split=split)
    truth = np.arange(k, 0, -1) * 100_000
    words = np.random.default_rng(20_240_601).integers(0, 1 << 64, size=64 * runs, dtype=np.uint64)
    draw = lb.Sampler(lb.Tape(words.tolist()))
    measured, estimated = 0.0, 0.0
    for _ in range(runs):
        release = mechanism.release(truth, draw)
        assert release.indices == tuple(range(k))
        measured += sum(float(m - v) ** 2 for m, v in zip(release.measurements, truth.tolist(), strict=True))
        estimated += sum(float(e - v) ** 2 for e, v in zip(release.estimates, truth.tolist(), strict=True))
    shares = Fraction(split), 1 - Fraction(split)
    # Exponential noise of scale k/(split·epsilon) has that variance squared, Laplace noise twice its scale's square.
    left = float(variance_left(k, shares[1] ** 2 / shares[0] ** 2 / 2))
    assert abs((1 - estimated / measured) / (1 - left) - 1) < 0.05
    assert abs(release.standard_errors[0] ** 2 * runs * k / estimated - 1) < 0.05


def test_intervals_cover_as_often_as_stated() -> None:
    k, runs = 5, 400
    mechanism = lb.SelectAndMeasure(k=k, epsilon=1, monotone=True)
    truth = np.arange(k, 0, -1) * 100_000
    words = np.random.default_rng(7).integers(0, 1 << 64, size=64 * runs, dtype=np.uint64)
    draw = lb.Sampler(lb.Tape(words.tolist()))
    release = mechanism.release(truth, draw)
    below, above = (float(release.estimates[0]) - end for end in release.intervals("0.8")[0])
    inside = 0
    for _ in range(runs):
        errors = [float(e - v) for e, v in zip(mechanism.release(truth, draw).estimates, truth.tolist(), strict=True)]
        inside += sum(above <= error <= below for error in errors)
    # Estimates of one run share noise: four standard deviations of a run's average, were they one.
    assert abs(inside / (runs * k) - 0.8) < 4 * (0.8 * 0.2 / runs) ** 0.5
