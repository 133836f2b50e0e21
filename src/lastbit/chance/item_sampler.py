"""Draws that an item decides under a secret: whoever draws again for the same item draws the same.

A cluster runs a task twice where a machine is slow or lost, and may keep what either run made. So the words of an item
are no stream that is read on: they are AES-256 in counter mode, under a secret of the release, from a place on that a
keyed hash of the item names. No order of rows, no partition and no attempt has a say.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Final

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from lastbit.chance.bits import Words
from lastbit.chance.distributions import Distribution
from lastbit.chance.draw import Probabilities, Samples
from lastbit.chance.sampler import Sampler, decide_with, is_small
from lastbit.errors import LastbitError, ParameterError

SECRET: Final = 8
"""Words of a secret: half of them key the cipher, the other half the hash."""


class ItemSampler(Sampler):
    """One draw for each of some items, decided by a secret and the item.

    The law is that of `Sampler`, as far as nobody without the secret tells AES-256 and keyed BLAKE2b from chance. Two
    items share their words where their hashes of 128 bits meet, which has a probability of n²/2^129 for n items.

    >>> import lastbit as lb
    >>> secret = lb.Sampler().words(8)
    >>> forth = ItemSampler(secret, [b"flu", b"cold"]).laplace(lb.Rate.from_epsilon("1/100"), size=2)
    >>> back = ItemSampler(secret, [b"cold", b"flu"]).laplace(lb.Rate.from_epsilon("1/100"), size=2)
    >>> bool((forth == back[::-1]).all())
    True
    """

    def __init__(self, secret: Words, items: Sequence[bytes]) -> None:
        if len(secret) != SECRET:
            raise ParameterError(f"a secret must have {SECRET} words: got {len(secret)}. Nothing was drawn.")
        half = SECRET // 2
        key, salt = (np.asarray(part, "<u8").tobytes() for part in (secret[:half], secret[half:]))
        self._encryptor = Cipher(algorithms.AES256(key), modes.ECB()).encryptor()  # noqa: S305
        places = b"".join([blake2b(item, digest_size=16, key=salt).digest() for item in items])
        self._places = np.frombuffer(places, ">u8").reshape(len(items), 2).astype(np.uint64)
        self._fresh = True

    def __repr__(self) -> str:
        return f"<ItemSampler: {len(self._places)} items>"

    @property
    def uses_system_bits(self) -> bool:
        """Always False: the words follow from the secret."""
        return False

    def _blocks(self, places: NDArray[np.uint64], first: int, count: int) -> Words:
        """Compute blocks of two words, from the first on, for each place: a row each."""
        low = places[:, 1:] + np.arange(first, first + count, dtype=np.uint64)
        carry = low < places[:, 1:]
        counters = np.stack((places[:, :1] + carry, low), axis=2).astype(">u8")
        words = np.frombuffer(self._encryptor.update(counters.tobytes()), "<u8").astype(np.uint64)
        return words.reshape(len(places), 2 * count)

    def _many(self, distribution: Distribution, n: int) -> Samples:
        if n != len(self._places) or not self._fresh:
            raise LastbitError("an item has one draw: its words would come again. This is a fault of lastbit.")
        self._fresh = False
        step = distribution.block
        words = np.ascontiguousarray(self._blocks(self._places, 0, -(-step // 2))[:, :step])
        out: Samples = np.empty(n, np.int64)
        for i in list(decide_with(distribution, n)(0, words.ravel(), out)):
            value = distribution.value(words[i].tolist(), _Rest(self, i, step).read)
            if not is_small(value):
                out = out.astype(object)
            out[i] = value
        return out

    def word_at(self, item: int, place: int) -> int:
        """Compute one word of an item, by its place."""
        return int(self._blocks(self._places[item : item + 1], place // 2, 1)[0, place % 2])

    def words(self, n: int) -> Words:
        """Refuse to give words: words belong to an item."""
        raise LastbitError("only items have words here. This is a fault of lastbit.")

    def _one(self, distribution: Distribution) -> int:
        return int(self._many(distribution, 1)[0])

    def _rises(self, parts: Probabilities) -> NDArray[np.int64]:
        raise LastbitError("items have no rises. This is a fault of lastbit.")

    def _permutation(self, n: int) -> NDArray[np.int64]:
        raise LastbitError("items have no permutation. This is a fault of lastbit.")


class _Rest:
    """The words of an item behind its block."""

    def __init__(self, sampler: ItemSampler, item: int, start: int) -> None:
        self._sampler, self._item, self._next = sampler, item, start

    def read(self) -> int:
        self._next += 1
        return self._sampler.word_at(self._item, self._next - 1)
