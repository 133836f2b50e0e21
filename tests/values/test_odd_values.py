"""Values as they come: missing ones, Series, masked arrays, odd types. None of them raises, warns, or is misread."""

from __future__ import annotations

import copy
import json
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import lastbit as lb
from lastbit.values.grid import Grid
from tests.fixed_words import FixedWords

LIMIT = 1 << 61
"""So many steps a value may lie from zero."""


def test_a_missing_score_counts_as_lowest_and_a_missing_record_is_left_out() -> None:
    for missing in (None, pd.NA, pd.NaT, float("nan"), np.float32("nan"), Decimal("NaN")):
        assert Grid().steps([3, missing]).tolist() == [3, -LIMIT]
        assert Grid().steps(np.array([3, missing], object)).tolist() == [3, -LIMIT]
        assert lb.exact_sum([5, missing, 7], bounds=(1, 10)).values == 12
        assert lb.exact_sum([5, missing, 7], bounds=(1, 10), missing="lowest").values == 13
        assert lb.exact_sum([5, missing, 7], bounds=(1, 10), missing=4).values == 16


@pytest.mark.parametrize(
    "values",
    [
        pd.Series([3.5, None, 9.0], index=[7, 8, 9]),
        pd.Series([3, pd.NA, 9], dtype="Int64"),
        pl.Series([3.5, None, 9.0]),
        np.ma.array([3, 5000, 9], mask=[False, True, False]),
        np.ma.array([3.5, 5000.0, 9.0], mask=[False, True, False]),
    ],
)
def test_series_and_masked_arrays_are_read_by_place(values: object) -> None:
    assert Grid().steps(values).tolist() == [3, -LIMIT, 9]
    assert lb.exact_sum(values, bounds=(0, 100)).values == 12
    assert lb.exact_sum(values, bounds=(0, 100), missing=30).values == 42
    assert lb.mean_sums(values, bounds=(0, 100)).values[1] == 100
    assert lb.exact_mean(values, bounds=(0, 100), missing="lowest").values == 4
    assert lb.ExponentialMechanism(epsilon=50).release(values).index == 2
    assert lb.ExponentialMechanism(epsilon=50, rounding="randomized").release(values).index == 2
    assert lb.NoisyMax(epsilon=50).release(values).index == 2
    assert lb.SparseVector(threshold=6, limit=1, epsilon=2000).release(values).indices == (2,)


def test_a_signaling_nan_is_like_any_other() -> None:
    # Warnings are errors here.
    values = np.array([0x7FA00000, 0], np.uint32).view(np.float32)
    assert Grid().steps(values).tolist() == [-LIMIT, 0]


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 16, 17, 100])
@pytest.mark.parametrize(
    ("kind", "bits"), [(np.uint64, 0x7FF0000000000001), (np.uint32, 0x7FA00000), (np.uint16, 0x7D00)]
)
def test_a_signaling_nan_anywhere_leaves_the_best_score_the_best(kind: type, bits: int, n: int) -> None:
    floats = {8: np.float64, 4: np.float32, 2: np.float16}[np.dtype(kind).itemsize]
    mechanism = lb.ExponentialMechanism(epsilon=1)
    for place in range(n):
        for best in {0, n // 2, n - 1} - {place}:
            scores = np.arange(n).astype(floats)
            scores[best] = 900
            scores.view(kind)[place] = bits
            words = [1 << 62, 7, 7, 7]
            assert mechanism.release(scores, lb.Sampler(lb.Tape(words))).index == best
            assert mechanism.release(scores, lb.Reference(lb.Tape(words))).index == best


BIG = 2**60 + 100


@pytest.mark.parametrize(
    "values",
    [
        pd.Series([BIG, None, BIG], dtype="Int64"),
        pd.Series([BIG, None, BIG], dtype="int64[pyarrow]"),
        pd.Index([BIG, None, BIG], dtype="UInt64"),
        pl.Series([BIG, None, BIG]),
        pa.array([BIG, None, BIG]),
        pa.chunked_array([[BIG, None], [BIG]]),
    ],
    ids=lambda values: type(values).__name__,
)
def test_one_missing_value_moves_no_other(values: object) -> None:
    # As floats they would all be rounded to 2^60 because one is missing.
    assert Grid().steps(values).tolist() == [BIG, -LIMIT, BIG]
    bounds = 2**60 + 40, 2**60 + 1000
    assert lb.exact_mean(values, bounds=bounds, missing="lowest").values == 2**60 + 80
    assert lb.exact_sum(values, bounds=bounds).values == 2 * BIG
    assert lb.NoisyTopK(k=1, epsilon=1).release(values).indices != (1,)
    mechanism = lb.SparseVector(threshold=0, limit=2, epsilon=50)
    assert mechanism.release(values).indices == (0, 2)
    # Noise of 2^60 steps at an epsilon of 50 has a probability far below 2^-1000.
    assert [answer.above for answer in mechanism.program(values)(lb.Sampler()).answers] == [True, False, True]


@pytest.mark.parametrize("values", [pa.array([1, 2]), pa.array([True, False]), pl.Series([1.5, 2.5]), pd.Index([1, 2])])
def test_columns_without_missing_values_are_read_too(values: object) -> None:
    assert Grid().steps(values).tolist() == [int(each) for each in np.asarray(values)]


@pytest.mark.parametrize("missing", [None, pd.NA, pd.NaT, np.ma.masked])
def test_one_value_that_is_missing_is_the_lowest(missing: object) -> None:
    assert lb.Snapping(epsilon=50, bounds=(0, 8)).release(missing).value < 4  # or beyond by e^-200
    assert int(lb.DiscreteLaplace(epsilon=50, bounds=(3, 8)).release(missing)) == 3
    assert not lb.SparseVector(threshold=0, limit=1, epsilon=50).start().ask(missing).above
    assert Grid().steps([1, missing]).tolist() == [1, -LIMIT]


def test_what_is_no_number_is_refused_by_its_type() -> None:
    for values in ([np.timedelta64(1, "s")], np.array(["1"]), [[1]], [object()]):
        with pytest.raises(lb.ParameterError, match="number"):
            Grid().steps(values)


def test_numpy_bools_are_bools() -> None:
    assert Grid().steps([np.True_, np.False_]).tolist() == [1, 0]
    assert lb.NoisyMax(epsilon=1, monotone=np.True_) == lb.NoisyMax(epsilon=1, monotone=True)


def test_outcomes_are_taken_by_their_place() -> None:
    mechanism = lb.ExponentialMechanism(epsilon=50)
    series = pd.Series(["a", "b"], index=[1, 0])
    for outcomes in (series, {"a": 5, "b": 6}, iter("ab"), ("a", "b"), np.array(["a", "b"])):
        assert mechanism.release([1, 200], outcomes=outcomes).outcome == "b"


def test_counts_bring_their_items_to_every_selection() -> None:
    counts = lb.Counts(items=["a", "b"], values=[1, 200], monotone=True)
    assert lb.ExponentialMechanism(epsilon=50, monotone=True).release(counts).outcome == "b"
    assert lb.ExponentialMechanism(epsilon=50).ranking(counts, np.int64(2)).outcomes == ("b", "a")
    assert lb.SparseVector(threshold=100, limit=1, epsilon=2000).release(counts).indices == (1,)
    mixed = lb.Counts(items=["a", "b"], values=[1, 200], sensitivity=2)
    for refused in (lb.ExponentialMechanism(epsilon=1), lb.SparseVector(threshold=100, limit=1, epsilon=1)):
        with pytest.raises(lb.ParameterError, match="sensitivity=2"):
            refused.release(mixed)


def test_counts_are_measured_when_the_noise_covers_all_of_them() -> None:
    counts = lb.Counts(items=["a", "b", "c"], values=[1, 2, 3], monotone=True)
    with pytest.raises(lb.ParameterError, match=r"by 3 in all.*sensitivity=3"):
        lb.DiscreteLaplace(epsilon=1).release(counts)
    assert len(lb.DiscreteLaplace(epsilon=1, sensitivity=3).release(counts).values) == 3


def test_counts_stay_as_they_were_given() -> None:
    values = np.array([1, 2])
    counts = lb.Counts(items=["a", "b"], values=values)
    values[0] = 77
    assert counts.values.tolist() == [1, 2]
    for leak in (pickle.dumps, copy.deepcopy):
        with pytest.raises(lb.LastbitError, match="private"):
            leak(counts)


@pytest.mark.parametrize(
    ("items", "values", "message"),
    [
        (["a", "a"], [1, 2], "different"),
        ([["a"], ["b"]], [1, 2], "hashable"),
        (["a", "b"], np.array([[1, 2], [3, 4]]), "sequence"),
        (["a"], 5, "sequence"),
        (["a", "b"], (each for each in (1, 2)), "sequence"),
    ],
)
def test_counts_of_the_wrong_shape_are_refused(items: list[object], values: object, message: str) -> None:
    with pytest.raises(lb.ParameterError, match=message):
        lb.Counts(items=items, values=values)


def test_bounds_cannot_be_changed_from_outside() -> None:
    bounds = [0, 10]
    for mechanism in (lb.DiscreteLaplace(epsilon=1, bounds=bounds), lb.Snapping(epsilon=1, bounds=bounds)):
        assert mechanism.bounds == (0, 10)
        assert hash(mechanism)


def test_a_resolution_that_leaves_no_room_for_values_is_refused() -> None:
    with pytest.raises(lb.ParameterError, match="coarser"):
        lb.DiscreteLaplace(epsilon=1, resolution="1e-15")
    assert round(float(lb.DiscreteLaplace(epsilon=2000, resolution="1e-12").release(4100))) == 4100


@pytest.mark.parametrize(
    "score", [np.float32(7), np.float16(7), np.longdouble(7), np.array(7.0), Decimal(7), Fraction(7)]
)
def test_candidates_may_score_in_any_kind_of_number(score: object) -> None:
    choice = lb.PrivateSelection(candidates=[lambda draw: ("x", score)], candidate_cost=1, threshold=7, most=2)
    assert choice.release().score == 7


@pytest.mark.parametrize("score", [float("inf"), np.float32("inf"), Decimal("Infinity")])
def test_an_infinite_score_wins_and_says_so(score: object) -> None:
    choice = lb.PrivateSelection(candidates=[lambda draw: ("x", score)], candidate_cost=1, most=2)
    assert choice.release().score == float("inf")


def test_a_draw_in_the_place_of_values_is_refused() -> None:
    choice = lb.PrivateSelection(candidates=[lambda draw: ("x", 1)], candidate_cost=1, most=1)
    with pytest.raises(lb.ParameterError, match="draw="):
        choice.release(lb.Sampler())
    for wrong in (5, lb.SystemBits()):
        with pytest.raises(lb.ParameterError, match="Sampler"):
            lb.NoisyMax(epsilon=1).release([1], wrong)


def test_the_resolution_advised_is_right_at_once() -> None:
    for bounds in ((0, "2/3"), ("-1/2", 5)):
        with pytest.raises(lb.ParameterError) as refused:
            lb.DiscreteLaplace(epsilon=1, bounds=bounds)
        advised = str(refused.value).rsplit("resolution=", 1)[1].rstrip(".")
        lb.DiscreteLaplace(epsilon=1, bounds=bounds, resolution=advised)


def test_a_name_is_not_drawn_as_a_number() -> None:
    chosen = lb.ExponentialMechanism(epsilon=1).release([0, 1000], outcomes=["a", "b"])
    with pytest.raises(lb.LastbitError, match="plot needs a last column of numbers"):
        chosen.plot()
    for places in (
        lb.ExponentialMechanism(epsilon=1).release([0, 9]),
        lb.ExponentialMechanism(epsilon=1).ranking([0], 1),
    ):
        with pytest.raises(lb.LastbitError, match="plot needs a last column of numbers"):
            places.plot()
    figure = lb.DiscreteLaplace(epsilon=1).release([7, 7, 3, 7]).plot()
    assert len(figure.axes[0].patches) == 4
    assert len({patch.get_x() for patch in figure.axes[0].patches}) == 4


def test_items_are_shown_in_one_line_and_to_the_last_digit() -> None:
    items = ["a\nb", "\x1b[31m", "\ud800", 1234567.1, 1234567.2]
    counts = lb.Counts(items=items, values=[0] * 5)
    release = lb.NoisyTopK(k=5, epsilon=1).release(counts)
    shown = str(release).splitlines()
    assert len(shown) == 7
    assert {line.split()[0] for line in shown[2:]} == {r"a\nb", r"\x1b[31m", r"\ud800", "1234567.1", "1234567.2"}
    assert "\ud800" not in release.to_html()
    assert set(json.loads(release.to_json())["item"]) == set(items)
    release.to_json().encode("utf-8")


def test_integers_that_numpy_has_no_type_for_are_taken_one_by_one() -> None:
    wide = pl.Series([1 << 100, 5], dtype=pl.Int128)
    assert lb.NoisyMax(epsilon=1).release(wide).index == 0
    assert len(lb.DiscreteLaplace(epsilon=1).release(wide).values) == 2


@pytest.mark.parametrize("n", [1, 70])
def test_numbers_may_begin_at_any_byte(n: int) -> None:
    # As those of a column of packed records do.
    records = np.zeros(n + 1, np.dtype([("flag", "i1"), ("whole", "i8"), ("real", "f8")]))
    records["whole"], records["real"] = np.arange(n + 1) % 7, np.arange(n + 1) % 7 / 4
    odd = np.empty(8 * n + 1, np.uint8)[1:].view(np.int64)
    odd[:] = records["whole"][:n]
    assert not odd.flags.aligned
    mechanisms = [lb.NoisyTopK(k=1, epsilon=1), lb.DiscreteLaplace(epsilon=1), lb.ExponentialMechanism(epsilon=1)]
    mechanisms.append(lb.SparseVector(threshold=2, limit=1, epsilon=1))
    for mechanism in mechanisms:
        for values in (odd, records["whole"][:n], records["real"][1:], pd.Series(records["whole"][:n], copy=False)):
            one, other = (mechanism.release(each, lb.Sampler(FixedWords("odd"))) for each in (values, np.array(values)))
            assert one == other


def test_words_may_begin_at_any_byte() -> None:
    class Odd:
        def words(self, n: int) -> np.ndarray:
            words = np.empty(8 * n + 1, np.uint8)[1:].view(np.uint64)
            words[:] = np.random.PCG64(3).random_raw(n)
            return words

    even = lb.Tape(np.random.PCG64(3).random_raw(50).tolist())
    assert lb.Sampler(Odd()).laplace(lb.Rate(1, 1), 50).tolist() == lb.Sampler(even).laplace(lb.Rate(1, 1), 50).tolist()
    assert lb.Sampler(Odd()).words(3).flags.aligned
