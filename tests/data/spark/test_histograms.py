"""A histogram made partition by partition is the histogram made at once: the same law, the same on the same tape."""

from __future__ import annotations

import random
from collections.abc import Hashable
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lastbit as lb
from lastbit.mechanisms.discover.spark import STEPS, SparkThreshold
from lastbit.mechanisms.discover.spark_histogram import decimal_digits
from lastbit.values.spark_rows import TOTAL

Partitions = list[list[list[int]]]


def unlisted(partitions: Partitions, most_items: int) -> lb.Unlisted:
    """The same values on one machine, in the order of the partitions. Items are positions."""
    steps = np.array([value for partition in partitions for values in partition for value in values], np.int64)
    return lb.Unlisted(fetch=lambda most: (range(len(steps))[:most], steps[:most]), most_items=most_items)


def telling(mechanism: lb.DiscoverHistogram, values: lb.Unlisted) -> SparkThreshold:
    made: SparkThreshold = mechanism._spark_threshold(values)
    return made


def distributed(mechanism: lb.DiscoverHistogram, partitions: Partitions, most_items: int, draw: lb.Draw) -> Any:
    """What Spark does, one partition after the other, all on one draw."""
    told, start = [], 0
    work = telling(mechanism, unlisted(partitions, most_items))
    for partition in partitions:
        batches = []
        for values in partition:
            items = pa.array(range(start, start + len(values)), pa.int64())
            batches.append(pa.record_batch([items, pa.array(values, pa.int64())], names=["item", TOTAL]))
            start += len(values)
        for batch in work.filter_batches(batches, lambda *_: draw):
            told += zip(batch.column("item").to_pylist(), map(int, batch.column(STEPS).to_pylist()), strict=True)
    told.sort(key=lambda row: (-row[1], row[0]))
    return tuple(item for item, _ in told), tuple(steps for _, steps in told)


def at_once(mechanism: lb.DiscoverHistogram, partitions: Partitions, most_items: int, draw: lb.Draw) -> Any:
    release = mechanism.release(unlisted(partitions, most_items), draw=draw)
    return release.items, tuple(np.asarray(release.steps).tolist())


@pytest.mark.parametrize("cost", [{"eta": lb.Eta(1, 1, 1)}, {"rho": 1}])
@pytest.mark.parametrize("partitions", [[[[3]], [[1]]], [[[2], [3]], []]])
def test_the_same_law_as_on_one_machine(partitions: Partitions, cost: Any) -> None:
    mechanism = lb.DiscoverHistogram(**cost, delta="1/10", most_items=1)

    def law(program: Any) -> lb.audit.Law:
        def run(draw: lb.Draw) -> Hashable:
            found: Hashable = program(mechanism, partitions, 1, draw)
            return found

        return lb.audit.law(run, Fraction(1, 200))

    one, other = law(at_once), law(distributed)
    # Branches are followed in another order, so that only what was left unexplored may differ.
    for outcome in {*one, *other}:
        (low, high), (least, most) = one[outcome], other[outcome]
        assert low <= most
        assert least <= high
    assert one.unexplored <= Fraction(1, 200) >= other.unexplored


@given(
    st.lists(st.lists(st.lists(st.integers(1, 60), max_size=5), max_size=3), min_size=1, max_size=4),
    st.sampled_from([{"epsilon": "1/10"}, {"epsilon": 1}, {"rho": "1/50"}]),
    st.integers(1, 3),
    st.integers(0, 2**32),
)
def test_the_same_answer_on_the_same_tape(partitions: Partitions, cost: Any, most: int, seed: int) -> None:
    chance = random.Random(seed)
    words = [chance.getrandbits(64) for _ in range(300)]
    mechanism = lb.DiscoverHistogram(**cost, delta="1/10", most_items=most)
    one, other = lb.Tape(words), lb.Tape(words)
    together = at_once(mechanism, partitions, most, lb.Sampler(one))
    assert distributed(mechanism, partitions, most, lb.Sampler(other)) == together
    assert one.consumed == other.consumed


def test_the_noise_of_executors_may_be_longer_than_64_bits() -> None:
    mechanism = lb.DiscoverHistogram(epsilon="1e-25", delta="1/10", most_items=1)
    batch = pa.record_batch([pa.array(range(20)), pa.array([1] * 20)], names=["item", TOTAL])
    tape = lb.Tape([5 + (number << 50) for number in range(200)])
    work = telling(mechanism, unlisted([[[1]]], 1))
    found = [
        int(text)
        for each in work.filter_batches([batch], lambda *_: lb.Sampler(tape))
        for text in each.column(STEPS).to_pylist()
    ]
    assert found
    assert all(value >= mechanism.threshold > 2**64 for value in found)


def test_values_as_decimals_of_spark() -> None:
    assert [decimal_digits(Fraction(text)) for text in ("1", "7", "1/4", "1e-18", "1e16")] == [0, 0, 2, 18, 0]
    for text in ("1/3", "1e-19", "1e17", "123456789012345.678"):
        with pytest.raises(lb.ParameterError, match="resolution must be a decimal number"):
            decimal_digits(Fraction(text))
