"""Hashes under a key are SipHash-2-4, each of its own bytes only."""

import numpy as np
import pyarrow as pa
import pytest

from lastbit.data.memory.bound import _sort_pairs
from lastbit.data.memory.hashing import _siphash, hash_bytes

KEY = bytes(range(16))


def by_definition(text: bytes, low: int, high: int) -> int:
    mask = (1 << 64) - 1

    def turned(word: int, bits: int) -> int:
        return (word << bits | word >> 64 - bits) & mask

    def round_of(v: list[int]) -> list[int]:
        a, b, c, d = v
        a, c = a + b & mask, c + d & mask
        b, d = turned(b, 13) ^ a, turned(d, 16) ^ c
        a, c = turned(a, 32) + d & mask, c + b & mask
        b, d = turned(b, 17) ^ c, turned(d, 21) ^ a
        return [a, b, turned(c, 32), d]

    v = [low ^ 0x736F6D6570736575, high ^ 0x646F72616E646F6D, low ^ 0x6C7967656E657261, high ^ 0x7465646279746573]
    padded = text + bytes(-(len(text) + 1) % 8) + bytes([len(text) & 255])
    for at in range(0, len(padded), 8):
        word = int.from_bytes(padded[at : at + 8], "little")
        v[3] ^= word
        v = round_of(round_of(v))
        v[0] ^= word
    v[2] ^= 255
    for _ in range(4):
        v = round_of(v)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def test_the_published_values() -> None:
    # The paper's example (Aumasson and Bernstein, appendix A), and the first of its table of test vectors.
    low, high = (int.from_bytes(KEY[at : at + 8], "little") for at in (0, 8))
    for text, expected in ((bytes(range(15)), 0xA129CA6149BE45E5), (b"", 0x726FDB47DD0E0E31)):
        assert by_definition(text, low, high) == expected
        data = np.frombuffer(text, np.uint8)
        assert _siphash(data, np.zeros(1, np.int64), np.array([len(text)]), low, high).tolist() == [expected]


def test_many_texts_at_once_are_each_hashed_alone() -> None:
    texts = [bytes((7 * size + i) & 255 for i in range(size)) for size in [*range(40), 255, 256, 300]][::-1]
    low, high = 5, (1 << 63) + 9
    data = np.frombuffer(b"".join(texts), np.uint8)
    lengths = np.array([len(text) for text in texts])
    found = _siphash(data, np.cumsum(lengths) - lengths, lengths, low, high)
    assert found.tolist() == [by_definition(text, low, high) for text in texts]


@pytest.mark.parametrize("form", [pa.binary(), pa.large_binary(), pa.string(), pa.large_string()])
def test_every_form_of_the_same_texts_has_the_same_hashes(form: pa.DataType) -> None:
    texts = ["", "a", "a\0", "\0", "it's", "é" * 200, "x" * 10_000, "x" * 10_001, "a"]
    whole = hash_bytes(pa.array(texts, form), 3)
    cut = pa.array([*texts[:3], "gone", *texts[3:]], form)
    parts = pa.chunked_array([cut.slice(0, 3), cut.slice(4)])
    assert hash_bytes(parts, 3).tolist() == whole.tolist()
    assert hash_bytes(cut.slice(4), 3).tolist() == whole.tolist()[3:]
    assert len(set(whole.tolist())) == len(set(texts))
    assert not set(whole.tolist()) & set(hash_bytes(pa.array(texts, form), 4).tolist())
    assert hash_bytes(pa.array([], form), 3).tolist() == []


@pytest.mark.parametrize("far", [1, 1 << 20, 1 << 62])
@pytest.mark.parametrize("bits", [1, 3, 64])
def test_rows_are_sorted_by_unit_mark_and_place_however_close_the_marks_are(far: int, bits: int) -> None:
    # Few different marks, or marks that differ in their last bits only, as somebody may choose items to have them.
    numbers = np.random.default_rng(bits)
    places, units = numbers.integers(0, 9, 500), numbers.integers(-4, 5, 500) * far // 4
    of_pair = numbers.integers(0, 1 << bits, (9, 9), np.uint64, endpoint=False) if bits < 64 else None
    marks = np.zeros(500, np.uint64) if of_pair is None else of_pair[places, units % 9]
    order = _sort_pairs(places, units, marks)
    assert sorted(order.tolist()) == list(range(500))
    expected = np.lexsort((places, marks, units))
    for each in (units, marks, places):
        assert each[order].tolist() == each[expected].tolist()
    assert _sort_pairs(places[:0], units[:0], marks[:0]).tolist() == []
