"""The published definitions of other libraries keep the delta that they state, and no more."""

import math

import pytest

import lastbit as lb
from experiments import thresholds
from experiments.thresholds import of_one_item

COSTS = [(1.0, 1e-6, 1), (1.0, 1e-6, 10), (1.0, 1e-9, 100), (0.1, 1e-6, 3), (3.0, 1e-3, 2)]


@pytest.mark.parametrize(("epsilon", "delta", "most"), COSTS)
def test_one_person_is_told_with_the_delta_of_one_item(epsilon, delta, most):
    one = of_one_item(delta, most)
    assert math.isclose(-math.expm1(most * math.log1p(-one)), delta)
    assert math.isclose(thresholds.best_selection(epsilon, delta, most)(1), one)
    assert math.isclose(thresholds.google_laplace(epsilon, delta, most).kept(1), one)
    gaussian = thresholds.google_gaussian(epsilon, delta, most).kept(1)
    assert math.isclose(gaussian, of_one_item(delta / 2, most), rel_tol=1e-5)


@pytest.mark.parametrize(("epsilon", "delta", "most"), COSTS)
def test_the_best_selection_uses_all_that_it_pays_for(epsilon, delta, most):
    kept, one, odds = (
        thresholds.best_selection(epsilon, delta, most),
        of_one_item(delta, most),
        math.exp(epsilon / most),
    )
    laplace = thresholds.google_laplace(epsilon, delta, most).kept
    assert kept(0) == 0
    tight = 0
    for n in range(thresholds.needed_people(kept, 1.0)):
        now, more = kept(n), kept(n + 1)
        up, down = odds * now + one, 1 - (1 - now - one) / odds
        assert more <= min(up, down, 1) * (1 + 1e-9)
        tight += math.isclose(more, min(up, down, 1))
        # As good as noise and a threshold at least, where an item occurs.
        assert n == 0 or laplace(n) <= now * (1 + 1e-9)
    assert tight >= thresholds.needed_people(kept, 1.0) - 1


@pytest.mark.parametrize(("epsilon", "delta", "most"), COSTS)
def test_whole_thresholds_beside_those_of_the_histogram(epsilon, delta, most):
    """The histogram counts noise of exactly threshold - 1 into delta, and its threshold is one more."""
    ours = lb.DiscoverHistogram(epsilon=str(epsilon), delta=str(delta), most_items=most)
    theirs = thresholds.opendp_laplace(epsilon, delta, most)
    assert theirs.threshold == ours.threshold - 1
    rate = math.exp(-epsilon / most)
    assert math.isclose(rate, float(ours.rate.fraction))
    assert thresholds.laplace_at_least(rate, int(ours.threshold) - 1) <= of_one_item(delta, most)
    assert theirs.kept(1) > of_one_item(delta, most)


def test_gaussian_noise_of_a_cost():
    deviation = thresholds.gaussian_deviation(1, 1e-6, 1)
    assert 4.2 < deviation < 4.25  # twice the root of 2·ln(1.25/delta) would be more
    assert math.isclose(thresholds.gaussian_deviation(1, 1e-6, 10), 10 * deviation)


def test_how_many_people_an_item_needs():
    assert thresholds.needed_people(lambda people: people / 100, 0.95) == 95
    assert thresholds.needed_people(lambda people: float(people >= 1), 0.95) == 1
    ours = lb.DiscoverHistogram(epsilon=1, delta="1e-6", most_items=10)
    rate = float(ours.rate.fraction)
    assert (
        thresholds.needed_people(lambda n: thresholds.laplace_at_least(rate, int(ours.threshold) - n), 0.95)
        == ours.needed()
    )
