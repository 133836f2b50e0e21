"""Hashes under a key, of many values at once: SipHash-2-4 of bytes, and a short one of words.

SipHash is made to be unpredictable for whoever does not know the key. It is computed here for all values step by step,
eight bytes of each value at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]

_LONG: Final = 256
"""Bytes from which a value is hashed alone: a single long value would take a step of its own for every eight bytes."""

_START: Final = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)


def mix_bits(words: Hashes) -> Hashes:
    """Return words of which every bit depends on all bits of the word: the last steps of SplitMix64."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def hash_words(words: NDArray[np.int64], key: int) -> Hashes:
    """Return a hash of each word under a key."""
    return mix_bits(words.view(np.uint64) ^ np.array([key], np.uint64))


def hash_pairs(items: Hashes, units: Hashes) -> Hashes:
    """Return a hash of each pair of an item and a unit, from the hash of each: mixed, or equal numbers would cancel.

    >>> words = np.array([5, 9], np.uint64)
    >>> len({*hash_pairs(words, words).tolist()})
    2
    """
    return mix_bits(mix_bits(items) ^ units)


def hash_bytes(values: Any, key: int) -> Hashes:
    """Return a hash of each value of an Arrow array of bytes under a key. Nulls have any.

    >>> import pyarrow as pa
    >>> first, second, third = hash_bytes(pa.array([b"flu", b"cold", b"flu"]), 5)
    >>> bool(first == third), bool(first == second)
    (True, False)
    """
    import pyarrow as pa

    array = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    if pa.types.is_fixed_size_binary(array.type):
        array = array.cast(pa.binary())
    array = array.cast(pa.large_binary())
    ends = np.frombuffer(array.buffers()[1] or bytes(8), np.int64)[array.offset :][: len(array) + 1]
    return _hash_slices(np.frombuffer(array.buffers()[2] or b"", np.uint8), ends, key)


def hash_texts(texts: Sequence[bytes], key: int) -> Hashes:
    """Return a hash of each text under a key.

    >>> hash_texts([b"flu", b""], 5).tolist() == hash_texts([b"flu"], 5).tolist() + hash_texts([b""], 5).tolist()
    True
    """
    ends = np.cumsum([0, *map(len, texts)])
    return _hash_slices(np.frombuffer(b"".join(texts), np.uint8), ends, key)


def _hash_slices(data: NDArray[np.uint8], ends: NDArray[np.int64], key: int) -> Hashes:
    starts, lengths = ends[:-1], np.diff(ends)
    hashes = np.empty(len(starts), np.uint64)
    short = np.flatnonzero(lengths < _LONG)
    hashes[short] = _siphash(data, starts[short], lengths[short], key, int(mix_bits(np.array([key], np.uint64))[0]))
    secret = key.to_bytes(8, "little")
    for row in np.flatnonzero(lengths >= _LONG).tolist():
        digest = blake2b(data[starts[row] :][: lengths[row]].tobytes(), digest_size=8, key=secret).digest()
        hashes[row] = int.from_bytes(digest, "little")
    return hashes


def _siphash(
    data: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int64], low: int, high: int
) -> Hashes:
    """Return SipHash-2-4, under the key low + 2^64·high, of `lengths` bytes from `starts` on."""
    keys = (low, high, low, high)
    state = [np.full(len(starts), start ^ key, np.uint64) for start, key in zip(_START, keys, strict=True)]
    # Behind the last byte: a value that ends there is read to the end of a word, and the rest is taken away.
    data = np.concatenate([data, np.zeros(8, np.uint8)])
    whole = lengths >> 3
    # In the order of their lengths, the values that are not at their end are the last ones.
    order = np.argsort(whole, kind="stable")
    starts, lengths, whole = starts[order], lengths[order], whole[order]
    for step in range(int(whole[-1]) + 1 if len(whole) else 0):
        first, last = np.searchsorted(whole, (step, step + 1))
        words = _read_words(data, starts[first:] + 8 * step)
        ending = slice(0, last - first)
        rest = (lengths[first:last] & 7).astype(np.uint64)
        words[ending] &= (np.uint64(1) << (rest << np.uint64(3))) - np.uint64(1)
        words[ending] |= lengths[first:last].astype(np.uint64) << np.uint64(56)
        part = [words[first:] for words in state]
        part[3] ^= words
        _round(part)
        _round(part)
        part[0] ^= words
    state[2] ^= np.uint64(0xFF)
    for _ in range(4):
        _round(state)
    hashes = np.empty(len(order), np.uint64)
    hashes[order] = state[0] ^ state[1] ^ state[2] ^ state[3]
    return hashes


def _read_words(data: NDArray[np.uint8], starts: NDArray[np.int64]) -> Hashes:
    """Return the eight bytes from each start on, the least first."""
    eight = data[starts[:, None] + np.arange(8)]
    return np.ascontiguousarray(eight).view("<u8")[:, 0].astype(np.uint64)


def _round(state: list[Hashes]) -> None:
    v0, v1, v2, v3 = state
    v0 += v1
    v2 += v3
    v1[:] = _rotate(v1, 13) ^ v0
    v3[:] = _rotate(v3, 16) ^ v2
    v0[:] = _rotate(v0, 32)
    v2 += v1
    v0 += v3
    v1[:] = _rotate(v1, 17) ^ v2
    v3[:] = _rotate(v3, 21) ^ v0
    v2[:] = _rotate(v2, 32)


def _rotate(words: Hashes, bits: int) -> Hashes:
    return (words << np.uint64(bits)) | (words >> np.uint64(64 - bits))
