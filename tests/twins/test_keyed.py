"""Draws that an item decides under a secret: the same as the specification on the item's own words, in any order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import lastbit as lb
from lastbit.chance import item_sampler
from lastbit.chance.distributions import gaussian, geometric, laplace
from lastbit.chance.item_sampler import SECRET, ItemSampler
from lastbit.mechanisms.spark_draws import make_keyed_draws, messages
from lastbit.values.spark_rows import TOTAL

SECRETS = [np.arange(start, start + SECRET, dtype=np.uint64) for start in (0, 1 << 40)]
ITEMS = [b"item %d" % number for number in range(400)]
LAWS = {
    "geometric": geometric(lb.Rate.from_epsilon("1/10")),
    "laplace": laplace(lb.Rate.from_epsilon("1/1000")),
    "several words": laplace(lb.Rate.from_epsilon("1e-25")),
    "gaussian": gaussian(lb.Rate.from_epsilon("1/50")),
}


@pytest.mark.parametrize("doubtful", [False, True])
@pytest.mark.parametrize("law", LAWS)
def test_each_sample_is_that_of_the_words_of_its_item(law: str, doubtful: bool, monkeypatch: Any) -> None:
    if doubtful:
        # As where no word decides: the specification reads the words of the item one by one.
        monkeypatch.setattr(item_sampler, "decide_with", lambda distribution, n: lambda start, words, out: range(n))
    for secret in SECRETS:
        drawn = ItemSampler(secret, ITEMS)._many(LAWS[law], len(ITEMS))
        words = ItemSampler(secret, ITEMS)
        for place in range(0, len(ITEMS), 37):
            tape = lb.Tape([words.word_at(place, number) for number in range(40)])
            assert int(drawn[place]) == lb.Reference(tape)._one(LAWS[law])
    both = [ItemSampler(secret, ITEMS)._many(LAWS[law], len(ITEMS)).tolist() for secret in SECRETS]
    assert both[0] != both[1]


def test_a_sample_in_doubt_reads_on_in_the_words_of_its_item(monkeypatch: Any) -> None:
    law = LAWS["geometric"]
    # The word in which the first cell ends: it does not tell on which side a sample is.
    edge = int(lb.Rate.from_epsilon("1/10").fraction * 2**64)
    blocks, values = ItemSampler._blocks, set()
    for rest in range(0, 2**64, 2**60):

        def on_the_edge(sampler: ItemSampler, places: Any, first: int, count: int, rest: int = rest) -> Any:
            words = blocks(sampler, places, first, count)
            if first == 0:
                words[:, :2] = edge, rest
            return words

        monkeypatch.setattr(ItemSampler, "_blocks", on_the_edge)
        drawn = ItemSampler(SECRETS[0], ITEMS[:2])._many(law, 2)
        tapes = [lb.Tape([edge, rest, *range(5)]) for _ in range(2)]
        assert drawn.tolist() == [lb.Reference(tape)._one(law) for tape in tapes]
        assert tapes[0].consumed == 2
        values |= {*drawn.tolist()}
    assert values == {0, 1}


def test_no_order_and_no_partition_has_a_say() -> None:
    rate, order = lb.Rate.from_epsilon("1/100"), np.random.default_rng(3).permutation(len(ITEMS))
    together = ItemSampler(SECRETS[0], ITEMS).laplace(rate, size=len(ITEMS))
    moved = ItemSampler(SECRETS[0], [ITEMS[place] for place in order]).laplace(rate, size=len(ITEMS))
    assert moved.tolist() == together[order].tolist()
    parts = [ItemSampler(SECRETS[0], ITEMS[start : start + 7]) for start in range(0, len(ITEMS), 7)]
    apart = [value for part in parts for value in part.laplace(rate, size=len(part._places)).tolist()]
    assert apart == together.tolist()


def test_words_are_those_of_counter_mode() -> None:
    """From the place of an item on, over the ends of 64 bits."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    sampler = ItemSampler(SECRETS[0], [b"a", b"b"])
    sampler._places = np.array([[5, (1 << 64) - 2], [(1 << 64) - 1, (1 << 64) - 1]], np.uint64)
    key = SECRETS[0][:4].astype("<u8").tobytes()
    for place, (high, low) in enumerate(sampler._places.tolist()):
        start = ((high << 64) + low).to_bytes(16, "big")
        stream = Cipher(algorithms.AES256(key), modes.CTR(start)).encryptor().update(bytes(80))
        expected = np.frombuffer(stream, "<u8").tolist()
        assert [sampler.word_at(place, number) for number in range(10)] == expected
        assert sampler._blocks(sampler._places, 0, 5)[place].tolist() == expected


def test_an_item_has_one_draw() -> None:
    sampler = ItemSampler(SECRETS[0], ITEMS)
    sampler.laplace(lb.Rate(1, 1), size=len(ITEMS))
    for size in (len(ITEMS), 3):
        with pytest.raises(lb.LastbitError, match="one draw"):
            sampler.laplace(lb.Rate(1, 1), size=size)
    with pytest.raises(lb.LastbitError, match="only items have words"):
        sampler.words(1)
    with pytest.raises(lb.ParameterError, match="8 words"):
        ItemSampler(SECRETS[0][:4], ITEMS)
    assert "item" in repr(sampler)
    assert not sampler.uses_system_bits


def test_no_two_items_have_one_message() -> None:
    columns: dict[str, Any] = {
        "text": pa.array(["a", "ab", "", None, "a\0"]),
        "more": pa.array(["ba", "a", "aba", "aba", "a"]),
        "number": pa.array([1, 256, -1, None, 0]),
        "real": pa.array([0.1, None, 5e-324, 1.0, -1.0]),
        "truth": pa.array([True, False, None, True, False]),
        "day": pa.array([1, 2, None, -1, 0], pa.date32()),
        "time": pa.array([1, 2, None, -1, 0], pa.timestamp("us", "UTC")),
        "length": pa.array([1, 2, None, -1, 0], pa.duration("us")),
        "decimal": pa.array([1, 2, None, -1, 0], pa.decimal128(38, 2)),
    }
    steps = np.zeros(5, np.int64)
    for name, column in columns.items():
        batch = pa.record_batch([column, pa.array(steps)], names=[name, TOTAL])
        different = len({*column.to_pylist()})
        assert len({*messages(batch, steps)}) == different
        assert [*map(len, messages(batch.slice(1), steps[1:]))] == [*map(len, messages(batch, steps))][1:]
    both = pa.record_batch([columns["text"], columns["more"], pa.array(steps)], names=["a", "b", TOTAL])
    assert len({*messages(both, steps)}) == 5
    # An item whose value changes has other noise: the same noise would tell by how much.
    assert not {*messages(both, steps)} & {*messages(both, steps + 1)}


def test_the_draws_of_a_release_carry_its_secret() -> None:
    batch = pa.record_batch([pa.array(["a", "b"]), pa.array([1, 2])], names=["item", TOTAL])
    steps, rate = np.array([1, 2]), lb.Rate.from_epsilon("1/1000000")
    draws = make_keyed_draws(lb.Sampler())
    first, again = (draws(batch, steps).laplace(rate, size=2).tolist() for _ in range(2))
    assert first == again
    assert first != make_keyed_draws(lb.Sampler())(batch, steps).laplace(rate, size=2).tolist()
