"""Exact sums against fractions, and their sensitivity against every way one person can move them."""

import functools
import itertools
import math
import operator
import pickle
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lastbit as lb

NAN, INFINITY = float("nan"), float("inf")

floats = st.floats() | st.floats(-20, 20)


def on_grid(value: float, bounds: tuple[Fraction, Fraction], resolution: Fraction) -> Fraction:
    """The public rule, said again: NaN is lowest, clamp, floor."""
    if math.isnan(value):
        return bounds[0]
    if math.isinf(value):
        return bounds[value > 0]
    return max(bounds[0], min(bounds[1], math.floor(Fraction(value) / resolution) * resolution))


def variance(values: list[Fraction]) -> Fraction:
    mean = sum(values, Fraction(0)) / len(values)
    return sum(((value - mean) ** 2 for value in values), Fraction(0)) / (len(values) - 1)


@given(
    st.lists(floats, min_size=2, max_size=30),
    st.sampled_from([Fraction(1), Fraction(1, 8), Fraction(1, 10), Fraction(3, 4), Fraction(1, 1 << 40), Fraction(5)]),
    st.integers(-40, 40),
    st.integers(1, 80),
)
def test_sums_means_and_variances_are_exact(values: list[float], resolution: Fraction, start: int, width: int) -> None:
    bounds = (start * resolution, (start + width) * resolution)
    kept = [on_grid(value, bounds, resolution) for value in values]
    for given_values in (values, np.array(values)):
        assert lb.exact_sum(given_values, bounds=bounds, resolution=resolution).values == sum(kept)
        assert lb.exact_mean(given_values, bounds=bounds, resolution=resolution).values == sum(kept) / len(kept)
        assert lb.exact_variance(given_values, bounds=bounds, resolution=resolution).values == variance(kept)


@given(st.lists(floats, max_size=30), st.integers(-9, 9), st.sampled_from([1, Fraction(1, 3), Fraction(7, 2)]))
def test_histograms_count_each_record_once(values: list[float], start: int, width: Fraction) -> None:
    lower, bins = Fraction(start, 2), 5
    upper = lower + bins * width
    expected = [0] * bins
    for value in values:
        if math.isnan(value) or value < lower:
            expected[0] += 1
        elif value >= upper:
            expected[-1] += 1
        else:
            expected[math.floor((Fraction(value) - lower) / width)] += 1
    assert lb.histogram(np.array(values), bounds=(lower, upper), bins=bins).values.tolist() == expected
    assert lb.histogram(values, bounds=(lower, upper), bins=bins).values.tolist() == expected


def moves(statistic: Callable[[list[Any]], lb.Statistic], records: list[Any], n: int, *, replaces: bool) -> Fraction:
    """The furthest one person moves a statistic of n such records, by trying everything."""
    furthest = Fraction(0)
    for values in itertools.combinations_with_replacement(records, n):
        for last in range(n):
            rolled = [*values[last:], *values[:last]]
            others = [rolled[:-1]] if not replaces else [[*rolled[:-1], other] for other in records]
            for other in others:
                move = abs(statistic(rolled).values - statistic(other).values)
                furthest = max(furthest, Fraction(int(move.sum())) if isinstance(move, np.ndarray) else move)
    return furthest


RECORDS = [NAN, -1.26, 0.74, INFINITY]


@pytest.mark.parametrize("bounds", [(-1, 2), (0, 1), (-3, -1), ("1/2", "5/4")])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_sensitivity_of_a_sum_is_what_one_person_can_do(bounds: tuple, n: int) -> None:
    for replaces in (False, True):

        def total(values: list[float], replaces: bool = replaces) -> lb.Statistic:
            return lb.exact_sum(values, bounds=bounds, resolution="1/4", replaces=replaces)

        assert moves(total, RECORDS, n, replaces=replaces) == total([]).sensitivity


@pytest.mark.parametrize("bounds", [(-1, 2), ("1/2", "5/4")])
@pytest.mark.parametrize("n", [2, 3, 4])
def test_the_sensitivity_of_means_and_variances_is_what_one_person_can_do(bounds: tuple, n: int) -> None:
    for statistic in (lb.exact_mean, lb.exact_variance):

        def of(values: list[float], statistic: Any = statistic) -> lb.Statistic:
            return statistic(values, bounds=bounds, resolution="1/4")

        exact = of([0.0] * n)
        assert moves(of, RECORDS, n, replaces=True) == exact.sensitivity
        assert (exact.sensitivity / exact.resolution).denominator == 1
        assert (of([0.5, *RECORDS][:n]).values / exact.resolution).denominator == 1


def test_the_sensitivity_of_a_histogram_is_what_one_person_can_do() -> None:
    for replaces in (False, True):

        def counts(values: list[float], replaces: bool = replaces) -> lb.Statistic:
            return lb.histogram(values, bounds=(0, 1), bins=2, replaces=replaces)

        assert moves(counts, RECORDS, 2, replaces=replaces) == counts([]).sensitivity


def test_floating_point_sums_have_a_larger_sensitivity_and_ours_do_not() -> None:
    # 2^53 records at 1 before a last one: in floating point the last one is lost; one record less, and it is not.
    large, one = 2.0**53, 1.0
    with_one, without = np.array([large, one, one]), np.array([large, one])
    assert with_one.sum() - without.sum() != 1
    exact = [lb.exact_sum(each, bounds=(0, 2**53)).values for each in (with_one, without)]
    assert exact[0] - exact[1] == 1
    # And the order of the records does not matter.
    records = [1e16, 1.0, -1e16, 1.0]
    assert functools.reduce(operator.add, records) != functools.reduce(operator.add, sorted(records))
    for order in itertools.permutations(records):
        assert lb.exact_sum(order, bounds=(-(10**16), 10**16)).values == 2


def test_wide_bounds_do_not_overflow() -> None:
    edge = 1 << 61
    values = np.array([2.0**61, -(2.0**61)] * 10_000)
    assert lb.exact_sum(values[::2], bounds=(-edge, edge)).values == 10_000 * edge
    assert lb.exact_variance(values, bounds=(-edge, edge)).values == Fraction(20_000, 19_999) * edge**2


def test_private_values_stay_out_of_text_and_pickles() -> None:
    secret = lb.exact_sum([123456], bounds=(0, 10**6))
    assert "123456" not in f"{secret!r} {secret}"
    with pytest.raises(lb.LastbitError, match="not written down"):
        pickle.dumps(secret)


def test_mechanisms_take_exact_values() -> None:
    counts = lb.histogram([0.1, 0.9, 0.95], bounds=(0, 1), bins=2)
    assert len(lb.DiscreteLaplace(epsilon=1).release(counts).values) == 2
    mean = lb.exact_mean([1.5, 2.5], bounds=(0, 4), resolution="1/2")
    release = lb.DiscreteLaplace(epsilon=1, sensitivity=mean.sensitivity, resolution=mean.resolution).release(mean)
    assert isinstance(float(release), float)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: lb.exact_sum([1], bounds=(0, "1/2")), "resolution must divide the upper bound"),
        (lambda: lb.exact_sum([1], bounds=(2, 1)), "bounds must rise"),
        (lambda: lb.exact_sum([1], bounds=(0, 1 << 70)), "at most 2\\^61 steps"),
        (lambda: lb.exact_sum(5, bounds=(0, 1)), "must be an array or a sequence"),
        (lambda: lb.exact_mean(5, bounds=(0, 1)), "must be an array or a sequence"),
        (lambda: lb.exact_mean([], bounds=(0, 1)), "at least 1 records: got 0"),
        (lambda: lb.exact_variance([1], bounds=(0, 1)), "at least 2 records: got 1"),
        (lambda: lb.histogram([1], bounds=(0, 1), bins=0), "bins must be a whole number"),
        (lambda: lb.histogram(5, bounds=(0, 1), bins=1), "must be an array or a sequence"),
    ],
)
def test_wrong_parameters_are_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(lb.ParameterError, match=message):
        call()


def test_what_is_refused_is_not_shown() -> None:
    with pytest.raises(lb.ParameterError) as caught:
        lb.exact_sum(["secret"], bounds=(0, 1))
    assert "secret" not in str(caught.value)
