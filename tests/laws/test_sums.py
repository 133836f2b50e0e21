"""Exact sums against fractions, and their sensitivity against every way one person can move them."""

import functools
import itertools
import math
import operator
import pickle
from bisect import bisect_right
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import lastbit as lb

NAN, INFINITY = float("nan"), float("inf")

floats = st.floats() | st.floats(-20, 20)


def clamp(value: float, bounds: tuple[Fraction, Fraction]) -> Fraction:
    """The public rule, said again: infinities are at the bound on their side."""
    if math.isinf(value):
        return bounds[value > 0]
    return max(bounds[0], min(bounds[1], Fraction(value)))


def floor(value: Fraction, resolution: Fraction) -> Fraction:
    return math.floor(value / resolution) * resolution


def variance(values: list[Fraction]) -> Fraction:
    mean = sum(values, Fraction(0)) / len(values)
    return sum(((value - mean) ** 2 for value in values), Fraction(0)) / (len(values) - 1)


@given(
    st.lists(floats, min_size=2, max_size=30),
    st.sampled_from([Fraction(1), Fraction(1, 8), Fraction(1, 10), Fraction(3, 4), Fraction(1, 1 << 40), Fraction(5)]),
    st.integers(-40, 40),
    st.integers(1, 80),
)
@example([1.5, math.nan, 7.0, math.nan, 50.0], Fraction(1), -3, 40)
@example([math.nan, 0.5, 2.0], Fraction(1, 10), 7, 20)
def test_sums_means_and_variances_are_exact(values: list[float], resolution: Fraction, start: int, width: int) -> None:
    bounds = (start * resolution, (start + width) * resolution)
    there = [clamp(value, bounds) for value in values if not math.isnan(value)]
    absent = [bounds[1]] * (len(values) - len(there))
    each = [floor(value, resolution) for value in [*there, *absent]]
    for given_values in (values, np.array(values)):
        more: dict[str, Any] = {"bounds": bounds, "resolution": resolution}
        # Floored once, but for parts of 2^-32 of a step of each record.
        near = lb.exact_sum(given_values, **more)
        assert (near.values / resolution).denominator == 1
        assert near.values <= sum(there) < near.values + (1 + Fraction(len(there), 2**32)) * resolution
        assert near.above == 2
        lowest = lb.exact_sum(given_values, **more, missing="lowest").values
        assert lowest == near.values + len(absent) * bounds[0]
        mean = lb.exact_mean(given_values, **more, missing=bounds[1])
        assert mean.values * len(values) == near.values + sum(absent)
        assert lb.exact_variance(given_values, **more, missing=bounds[1]).values == variance(each)
    kept = [int(value) for value in there if value.denominator == 1]
    if (resolution.numerator, len(kept) > 1) == (1, True):
        whole = np.array(kept, np.int64)
        exact = lb.exact_sum(whole, bounds=bounds, resolution=resolution)
        assert (exact.values, exact.above) == (sum(kept), 0)
        assert lb.exact_mean(whole, bounds=bounds, resolution=resolution).values == Fraction(sum(kept), len(kept))


@pytest.mark.parametrize("resolution", ["1e-6", "1", "1/1024", "3/7", "1e-18", "1e-30", Fraction(1, (1 << 61) - 1)])
@pytest.mark.parametrize("width", [1000, 1 << 29, 1 << 30, 1 << 45, 1 << 60])
def test_the_exact_sum_is_no_further_above_than_said(resolution: Any, width: int) -> None:
    # Where the bounds are wide no grid that is much finer fits, and each record loses more: the interval must say so.
    step = Fraction(resolution)
    bounds = (0, min(width, (1 << 61) // step.numerator) * step)
    values = np.random.default_rng(width).random(2000) * float(1000 * step)
    exact = sum((clamp(value, bounds) for value in values.tolist()), Fraction(0))
    for records in (values, values.tolist()):
        total = lb.exact_sum(records, bounds=bounds, resolution=step)
        mean = lb.exact_mean(records, bounds=bounds, resolution=step, missing=0)
        allowed = 1 + math.ceil(max(1, Fraction(width, 1 << 28)))
        assert total.values <= exact < total.values + total.above * step
        assert mean.values * 2000 == total.values
        assert total.above == mean.above <= allowed


@given(st.lists(st.fractions(-3, 5), min_size=2, max_size=9), st.sampled_from([Fraction(1), Fraction(1, 4)]))
def test_flooring_moves_a_variance_no_further_than_stated(values: list[Fraction], step: Fraction) -> None:
    n = len(values)
    floored = lb.exact_variance(values, bounds=(-3, 5), resolution=step, missing="lowest").values
    assert abs(variance(values) - floored) <= (8 + step / 2) * step / 2 * n / (n - 1)


@given(st.lists(floats, max_size=30), st.integers(-9, 9), st.sampled_from([1, Fraction(1, 3), Fraction(7, 2)]))
def test_histograms_count_each_record_once(values: list[float], start: int, width: Fraction) -> None:
    lower, bins = Fraction(start, 2), 5
    upper = lower + bins * width
    expected = [0] * (bins + 1)
    for value in values:
        if math.isnan(value):
            expected[-1] += 1
        elif value < lower:
            expected[0] += 1
        elif value >= upper:
            expected[-2] += 1
        else:
            # A float is at an edge if no float is nearer to it.
            expected[bisect_right([float(lower + i * width) for i in range(1, bins)], value)] += 1
    for records in (values, np.array(values)):
        own = lb.histogram(records, bounds=(lower, upper), bins=bins, missing="bin")
        assert (own.values.tolist(), own.items[-1]) == (expected, "missing")
        left_out = lb.histogram(records, bounds=(lower, upper), bins=bins)
        assert left_out.values.tolist() == expected[:-1]
        lowest = lb.histogram(records, bounds=(lower, upper), bins=bins, missing="lowest")
        assert lowest.values.tolist() == [expected[0] + expected[-1], *expected[1:-1]]
        edges = [lower + i * width for i in range(bins + 1)]
        at = lb.histogram(records, edges=edges, missing=upper - width / 2).values.tolist()
        assert at == [*expected[:-2], expected[-2] + expected[-1]]


@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_a_decimal_that_is_an_edge_is_in_the_bin_above_it(kind: str) -> None:
    edges = [Fraction(i, 10) for i in range(12)]
    values = np.array([i / 10 for i in range(11)], kind)
    below = np.nextafter(values, np.array(-1, kind))
    ones = [1] * 11
    assert lb.histogram(values, edges=edges).values.tolist() == ones
    assert lb.histogram(below, edges=edges).values.tolist() == [2, *ones[1:-1], 0]
    if kind == "f8":
        assert lb.histogram(values.tolist(), edges=edges).values.tolist() == ones
        # A fraction is what it is.
        exact = lb.histogram([Fraction(value) for value in values.tolist()], edges=edges).values.tolist()
        assert exact != ones


def moves(statistic: Callable[[list[Any]], lb.Statistic], records: list[Any], n: int, *, replaces: bool) -> Fraction:
    """The furthest one person moves a statistic of n such records, by trying everything."""
    furthest = Fraction(0)
    for values in itertools.combinations_with_replacement(records, n):
        for last in range(n):
            rolled = [*values[last:], *values[:last]]
            others = [rolled[:-1]] if not replaces else [[*rolled[:-1], other] for other in records]
            for other in others:
                one, two = (np.atleast_1d(np.array(statistic(each).values, object)) for each in (rolled, other))
                furthest = max(furthest, Fraction(sum(abs(one - two))))
    return furthest


RECORDS = [NAN, -INFINITY, -1.26, 0.74, INFINITY]


@pytest.mark.parametrize("bounds", [(-1, 2), (0, 1), (-3, -1), ("1/2", "5/4")])
@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("missing", ["leave-out", "lowest", "highest"])
def test_the_sensitivity_of_a_sum_is_what_one_person_can_do(bounds: tuple, n: int, missing: str) -> None:
    rule = bounds[1] if missing == "highest" else missing
    for replaces in (False, True):

        def total(values: list[float], replaces: bool = replaces) -> lb.Statistic:
            return lb.exact_sum(values, bounds=bounds, resolution="1/4", missing=rule, replaces=replaces)

        assert moves(total, RECORDS, n, replaces=replaces) == total([]).sensitivity


@pytest.mark.parametrize("bounds", [(0, 2), (1, 2), (-2, 0), (-2, -1), (-1, 1), (-3, 1)])
def test_a_sum_is_monotone_exactly_where_all_records_move_it_the_same_way(bounds: tuple[int, int]) -> None:
    sums = [lb.exact_sum([record], bounds=bounds).values for record in range(-4, 5)]
    same_way = min(sums) >= 0 or max(sums) <= 0
    assert lb.exact_sum([1], bounds=bounds).monotone == same_way
    assert not lb.exact_sum([1], bounds=bounds, replaces=True).monotone


def test_whole_numbers_cannot_become_missing() -> None:
    assert lb.exact_sum(np.array([7]), bounds=(5, 10), replaces=True).sensitivity == 5
    assert lb.exact_sum(np.array([7.0]), bounds=(5, 10), replaces=True).sensitivity == 10


@pytest.mark.parametrize("bounds", [(-1, 2), (0, 1), (-3, -1), ("1/2", "5/4")])
def test_the_sums_behind_a_mean_move_no_further_than_the_range_for_either_neighbours(bounds: tuple) -> None:
    for replaces in (False, True):
        for missing in ("leave-out", "lowest"):

            def both(values: list[float], replaces: bool = replaces, missing: str = missing) -> lb.Statistic:
                return lb.mean_sums(values, bounds=bounds, resolution="1/4", missing=missing, replaces=replaces)

            for n in (1, 2, 3):
                assert moves(both, RECORDS, n, replaces=replaces) == both([]).sensitivity
            assert both([]).adjacency == ("replace" if replaces else "add-remove")


@pytest.mark.parametrize("values", [[1, 2], [1.5, 2], np.array([1.5, 2.5]), np.ma.array([1, 2])])
@pytest.mark.parametrize("missing", [{}, {"missing": "leave-out"}])
def test_a_mean_of_a_public_number_asks_what_a_missing_record_counts_as(values: Any, missing: dict) -> None:
    for statistic in (lb.exact_mean, lb.exact_variance):
        with pytest.raises(lb.ParameterError, match="missing must be said"):
            statistic(values, bounds=(0, 4), **missing)


def test_nine_hundred_who_gained_five_and_a_hundred_blanks_gained_five() -> None:
    changes = [5] * 900 + [None] * 100
    sums = lb.mean_sums(changes, bounds=(-100, 100))
    assert sums.values == (5 * 900, 100 * 900)
    release = lb.NoisyMean(epsilon=1, bounds=(-100, 100)).release(changes, lb.Sampler(lb.Tape([1 << 62] * 8)))
    assert abs(release.mean - 5) < 1
    low, high = release.interval()
    assert low < 5 < high
    assert high - low < 4
    assert lb.mean_sums(changes, bounds=(-100, 100), missing="lowest").values == (5 * 900 - 100 * 100, 100 * 1000)


@pytest.mark.parametrize("bounds", [(-1, 2), ("1/2", "5/4")])
@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("missing", ["lowest", 1])
def test_the_sensitivity_of_means_and_variances_is_what_one_person_can_do(
    bounds: tuple, n: int, missing: str | int
) -> None:
    for statistic in (lb.exact_mean, lb.exact_variance):

        def of(values: list[float], statistic: Any = statistic) -> lb.Statistic:
            return statistic(values, bounds=bounds, resolution="1/4", missing=missing)

        exact = of([0.0] * n)
        assert moves(of, RECORDS, n, replaces=True) == exact.sensitivity
        assert (exact.sensitivity / exact.resolution).denominator == 1
        assert (of([0.5, *RECORDS][:n]).values / exact.resolution).denominator == 1


def test_the_sensitivity_of_a_histogram_is_what_one_person_can_do() -> None:
    for replaces in (False, True):
        for missing in ("leave-out", "bin", "lowest", "9/10"):

            def counts(values: list[float], replaces: bool = replaces, missing: str = missing) -> lb.Counts:
                return lb.histogram(values, bounds=(0, 1), bins=2, missing=missing, replaces=replaces)

            assert moves(counts, RECORDS, 2, replaces=replaces) == counts([]).total


@pytest.mark.parametrize("values", [[0.9] * 5, [0.5, NAN, 1.9], [2.0**-40] * 3, [1.0, 1.0]])
@pytest.mark.parametrize("draws", ["laplace", "gaussian"])
def test_the_interval_of_a_sum_holds_the_sum_that_was_not_floored(values: list[float], draws: str) -> None:
    level, truth = Fraction(3, 4), sum((Fraction(value) for value in values if value == value), Fraction(0))
    total, mechanism = lb.exact_sum(values, bounds=(0, 2)), lb.DiscreteLaplace(eta=lb.Eta(1, 1, 1), sensitivity=2)
    if draws == "gaussian":
        law = lb.audit.law(lb.DiscreteGaussian(rho="1/2", squared_sensitivity=4).program(total), Fraction(1, 64))
    else:
        law = lb.audit.law(mechanism.program(total), Fraction(1, 64))
    held = sum(
        mass
        for release, mass in law.masses.items()
        if release.interval(level)[0] <= truth <= release.interval(level)[1]
    )
    assert held >= level - law.unexplored


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
    assert (
        lb.exact_variance(values, bounds=(-edge, edge), missing="lowest").values == Fraction(20_000, 19_999) * edge**2
    )


def test_variances_of_every_width_are_exact_for_more_than_a_block() -> None:
    """The moments are added up limb by limb: every limb is full somewhere, in more records than a block holds."""
    for bits in (1, 23, 24, 25, 31, 32, 48, 49, 61):
        high = (1 << bits) - 1
        values = np.full(70_000, high)
        values[::3], values[1::7] = 0, high // 3
        n, total, squares = len(values), sum(values.tolist()), sum(value * value for value in values.tolist())
        found = lb.exact_variance(values, bounds=(0, high)).values
        assert found == Fraction(n * squares - total**2, n * (n - 1)), f"bounds of {bits} bits"


def test_private_values_stay_out_of_text_and_pickles() -> None:
    secret = lb.exact_sum([123456], bounds=(0, 10**6))
    assert "123456" not in f"{secret!r} {secret}"
    with pytest.raises(lb.LastbitError, match="not written down"):
        pickle.dumps(secret)


def test_mechanisms_take_exact_values() -> None:
    counts = lb.histogram([0.1, 0.9, 0.95], bounds=(0, 1), bins=2)
    assert len(lb.DiscreteLaplace(epsilon=1).release(counts).values) == 2
    mean = lb.exact_mean([1.5, 2.5], bounds=(0, 4), resolution="1/2", missing=0)
    release = lb.DiscreteLaplace(epsilon=1, sensitivity=mean.sensitivity, resolution=mean.resolution).release(mean)
    assert isinstance(float(release), float)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: lb.exact_sum([1], bounds=(0, "1/2")), "resolution must divide the upper bound"),
        (lambda: lb.exact_sum([1], bounds=(2, 1)), "bounds must rise"),
        (lambda: lb.exact_sum([1], bounds=(0, 1 << 70)), "at most 2\\^61 steps"),
        (lambda: lb.exact_sum(5, bounds=(0, 1)), "must be an array or a sequence"),
        (lambda: lb.exact_mean(5, bounds=(0, 1), missing=0), "must be an array or a sequence"),
        (lambda: lb.exact_sum([1], bounds=(0, 1), missing=2), "missing must be a number between the bounds"),
        (lambda: lb.exact_sum([1], bounds=(0, 1), missing="zero"), "missing must be 'leave-out', 'lowest' or a"),
        (lambda: lb.exact_sum(np.array(["1"]), bounds=(0, 1)), "records must be numbers: got an array of <U1"),
        (lambda: lb.histogram([1], edges=[1]), "edges must rise"),
        (lambda: lb.histogram([1], edges=[1, 1]), "edges must rise"),
        (lambda: lb.histogram([1], edges=[1, 2], bins=3), "edges take the place"),
        (lambda: lb.histogram([1], bins=3), "bins need bounds"),
        (lambda: lb.histogram([1], edges=[1, 2], missing="zero"), "missing must be 'leave-out', 'bin'"),
        (lambda: lb.exact_mean([], bounds=(0, 1), missing=0), "at least 1 records: got 0"),
        (lambda: lb.exact_variance([1], bounds=(0, 1), missing=0), "at least 2 records: got 1"),
        (lambda: lb.histogram([1], bounds=(0, 1), bins=0), "bins must be a whole number"),
        (lambda: lb.histogram(5, bounds=(0, 1), bins=1), "must be an array or a sequence"),
    ],
)
def test_wrong_parameters_are_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(lb.ParameterError, match=message):
        call()


def test_text_where_a_number_should_be_is_missing() -> None:
    for text in ("secret", "7", b"7", "", 1j, np.timedelta64(3, "s"), (1,)):
        assert lb.exact_sum([3, text], bounds=(1, 9)).values == 3
        assert lb.mean_sums([3, text], bounds=(1, 9)).values == (-2, 4)
        assert lb.exact_mean([3, text], bounds=(1, 9), missing=5).values == 4
        assert lb.histogram([3, text], bounds=(0, 9), bins=1, missing="bin").values.tolist() == [1, 1]


@pytest.mark.parametrize("missing", [None, NAN, "n/a", Decimal("NaN"), np.float32("nan")])
def test_a_missing_record_changes_no_public_fact(missing: Any) -> None:
    """Who has no number must not turn whole numbers into others, which would have a wider interval."""
    for records in ([5, missing], np.array([5, missing], object)):
        total, mean = lb.exact_sum(records, bounds=(0, 9)), lb.mean_sums(records, bounds=(0, 9))
        assert (total.above, mean.floored) == (0, 0)
        assert lb.exact_mean(records, bounds=(0, 9), missing=0).above == 0
        assert (total.values, mean.values) == (5, (Fraction(1, 2), Fraction(9, 2)))


@pytest.mark.parametrize("column", [pd.Series(["5"], dtype="string"), pl.Series(["5"]), pa.array(["5"])])
def test_a_column_of_text_is_refused_by_its_type(column: Any) -> None:
    with pytest.raises(lb.ParameterError, match="records must be numbers: got a column of"):
        lb.exact_sum(column, bounds=(0, 9))


def test_a_rule_that_is_remembered_refuses_what_it_refused():
    assert lb.exact_sum([1, 5], bounds=(0, 1)).values == 2
    for bounds in [(False, 1), (0, True), (np.bool_(False), 1)]:
        with pytest.raises(lb.ParameterError, match="must be a number"):
            lb.exact_sum([1], bounds=bounds)
    assert lb.exact_sum([1.5], bounds=(0, 2.0), resolution="1/2").values == Fraction(3, 2)
    assert lb.exact_sum([1.5], bounds=(0, 2), resolution=1).values == 1
    with pytest.raises(lb.ParameterError, match="2\\^61"):
        lb.exact_sum([1], bounds=(0, 1 << 62))


def test_whole_numbers_in_any_place_are_added_up_exactly():
    numbers = np.arange(-50, 50) * 10**15
    for values in (
        numbers,
        numbers[::3],
        numbers.reshape(4, 25),
        numbers.astype(object),
        np.asfortranarray(numbers.reshape(2, 50)),
    ):
        exact = sum(max(-10, min(10**16, int(value))) for value in np.asarray(values).flat)
        assert lb.exact_sum(values, bounds=(-10, 10**16)).values == exact
