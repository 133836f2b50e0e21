"""Selecting partition by partition is selecting at once: the same law, and the same answer on the same tape."""

from __future__ import annotations

import random
from collections.abc import Hashable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lastbit as lb
from lastbit.mechanisms.top_k import spark
from lastbit.values.spark_rows import TOTAL


def batch(names: list[Any], values: list[Any]) -> pa.RecordBatch:
    return pa.record_batch([pa.array(names), pa.array(values)], names=["item", TOTAL])


def distributed(mechanism: lb.NoisyTopK, partitions: list[list[list[int]]], draw: lb.Draw) -> tuple[Any, Any]:
    """What Spark does, one partition after the other, all on one draw. Items are positions."""
    names: list[Any] = []
    least: list[int] = []
    start = 0
    for partition in partitions:
        batches = []
        for values in partition:
            batches.append(batch(list(range(start, start + len(values))), values))
            start += len(values)
        chosen, cells = spark.shortlist(batches, mechanism.grid.steps, mechanism._selector, lambda *_: draw)
        names += [] if chosen is None else chosen.field("item").to_pylist()
        least += cells.tolist()
    items, ahead = spark.finish_selection(names, least, mechanism._selector, draw)
    return items, tuple(ahead.tolist())


def flat(partitions: list[list[list[int]]]) -> list[int]:
    return [value for partition in partitions for values in partition for value in values]


LAWS = {
    "one each": [[[1]], [[0]], [[0]]],
    "two and one": [[[0, 1]], [[1]]],
    "batches": [[[0], [2]], [], [[1]]],
}


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("case", LAWS)
def test_the_same_law_as_on_one_machine(case: str, k: int) -> None:
    partitions = LAWS[case]
    # A rate of 1/4 a step, so that the tails are short.
    mechanism = lb.NoisyTopK(k=k, eta=lb.Eta(1, 2 * k, 1), resolution=1, monotone=True)

    def at_once(draw: lb.Draw) -> Hashable:
        release = mechanism.release(flat(partitions), draw=draw)
        return release.indices, release.gap_steps

    def in_parts(draw: lb.Draw) -> Hashable:
        return distributed(mechanism, partitions, draw)

    one, other = (lb.audit.law(program, Fraction(1, 4000)) for program in (at_once, in_parts))
    # Branches are followed in another order, so that only what was left unexplored may differ.
    for outcome in {*one, *other}:
        (low, high), (least, most) = one[outcome], other[outcome]
        assert low <= most
        assert least <= high
    assert one.unexplored <= Fraction(1, 4000) >= other.unexplored


@given(
    st.lists(st.lists(st.lists(st.integers(0, 6), max_size=5), max_size=3), min_size=1, max_size=4).filter(flat),
    st.integers(1, 4),
    st.sampled_from(["1/100", 1, 8]),
    st.integers(0, 2**32),
)
def test_the_same_answer_on_the_same_tape(partitions: list[list[list[int]]], k: int, epsilon: Any, seed: int) -> None:
    chance = random.Random(seed)
    words = [chance.getrandbits(64) for _ in range(400)]
    values = flat(partitions)
    k = min(k, len(values))
    mechanism = lb.NoisyTopK(k=k, epsilon=epsilon, resolution="1/10", monotone=True)
    one, other = lb.Tape(words), lb.Tape(words)
    release = mechanism.release(values, draw=lb.Sampler(one))
    assert distributed(mechanism, partitions, lb.Sampler(other)) == (release.indices, release.gap_steps)
    assert one.consumed == other.consumed


def test_null_and_nan_are_lowest() -> None:
    # Noise that makes up for 895 has a probability of about e^-447.
    mechanism = lb.NoisyTopK(k=1, epsilon=1)
    for values in ([None, 5, 900], [float("nan"), None, 900.0], [None, Decimal("-0.5"), Decimal("900.5")]):
        rows, steps_in = [batch(["a", "b", "c"], values)], mechanism.grid.steps
        names, _ = spark.shortlist(rows, steps_in, mechanism._selector, lambda *_: lb.Sampler())
        assert names is not None
        assert "c" in names.field("item").to_pylist()


def test_sums_on_a_finer_grid_are_scaled_and_clamped() -> None:
    found = spark.scale_steps(np.array([-(1 << 62), -3, 0, 5, 1 << 62]), 10)
    most = (1 << 61) // 10 * 10
    assert found.tolist() == [-most, -30, 0, 50, most]
