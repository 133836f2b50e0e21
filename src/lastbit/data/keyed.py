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

Marks = NDArray[np.uint64]

_LONG: Final = 256
"""Bytes from which a value is hashed alone: a single long value would take a step of its own for every eight bytes."""

_START: Final = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)


def mixed(words: Marks) -> Marks:
    """Every bit of each word depends on all of its bits: the last steps of SplitMix64."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def hashed_words(words: NDArray[np.int64], key: int) -> Marks:
    """A hash of each word under a key."""
    return mixed(words.view(np.uint64) ^ np.array([key], np.uint64))


def paired(items: Marks, units: Marks) -> Marks:
    """A hash of each pair of an item and a unit, from the hash of each: mixed once more, or equal numbers would cancel.

    >>> words = np.array([5, 9], np.uint64)
    >>> len({*paired(words, words).tolist()})
    2
    """
    return mixed(mixed(items) ^ units)


def hashed_bytes(values: Any, key: int) -> Marks:
    """A hash of each value of an Arrow array of bytes under a key. Nulls have any.

    >>> import pyarrow as pa
    >>> first, second, third = hashed_bytes(pa.array([b"flu", b"cold", b"flu"]), 5)
    >>> bool(first == third), bool(first == second)
    (True, False)
    """
    import pyarrow as pa

    array = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    if pa.types.is_fixed_size_binary(array.type):
        array = array.cast(pa.binary())
    array = array.cast(pa.large_binary())
    ends = np.frombuffer(array.buffers()[1] or bytes(8), np.int64)[array.offset :][: len(array) + 1]
    return _hashed(np.frombuffer(array.buffers()[2] or b"", np.uint8), ends, key)


def hashed_texts(texts: Sequence[bytes], key: int) -> Marks:
    """A hash of each text under a key.

    >>> hashed_texts([b"flu", b""], 5).tolist() == hashed_texts([b"flu"], 5).tolist() + hashed_texts([b""], 5).tolist()
    True
    """
    ends = np.cumsum([0, *map(len, texts)])
    return _hashed(np.frombuffer(b"".join(texts), np.uint8), ends, key)


def _hashed(data: NDArray[np.uint8], ends: NDArray[np.int64], key: int) -> Marks:
    starts, lengths = ends[:-1], np.diff(ends)
    found = np.empty(len(starts), np.uint64)
    short = np.flatnonzero(lengths < _LONG)
    found[short] = _sip(data, starts[short], lengths[short], key, int(mixed(np.array([key], np.uint64))[0]))
    secret = key.to_bytes(8, "little")
    for row in np.flatnonzero(lengths >= _LONG).tolist():
        digest = blake2b(data[starts[row] :][: lengths[row]].tobytes(), digest_size=8, key=secret).digest()
        found[row] = int.from_bytes(digest, "little")
    return found


def _sip(data: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int64], low: int, high: int) -> Marks:
    """SipHash-2-4 under the key low + 2^64·high of `lengths` bytes from `starts` on."""
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
        words = _words_at(data, starts[first:] + 8 * step)
        ending = slice(0, last - first)
        rest = (lengths[first:last] & 7).astype(np.uint64)
        words[ending] &= (np.uint64(1) << (rest << np.uint64(3))) - np.uint64(1)
        words[ending] |= lengths[first:last].astype(np.uint64) << np.uint64(56)
        part = [each[first:] for each in state]
        part[3] ^= words
        _round(part)
        _round(part)
        part[0] ^= words
    state[2] ^= np.uint64(0xFF)
    for _ in range(4):
        _round(state)
    found = np.empty(len(order), np.uint64)
    found[order] = state[0] ^ state[1] ^ state[2] ^ state[3]
    return found


def _words_at(data: NDArray[np.uint8], places: NDArray[np.int64]) -> Marks:
    """The eight bytes from each place on, the least first."""
    eight = data[places[:, None] + np.arange(8)]
    return np.ascontiguousarray(eight).view("<u8")[:, 0].astype(np.uint64)


def _round(state: list[Marks]) -> None:
    v0, v1, v2, v3 = state
    v0 += v1
    v2 += v3
    v1[:] = _turned(v1, 13) ^ v0
    v3[:] = _turned(v3, 16) ^ v2
    v0[:] = _turned(v0, 32)
    v2 += v1
    v0 += v3
    v1[:] = _turned(v1, 17) ^ v2
    v3[:] = _turned(v3, 21) ^ v0
    v2[:] = _turned(v2, 32)


def _turned(words: Marks, bits: int) -> Marks:
    return (words << np.uint64(bits)) | (words >> np.uint64(64 - bits))
