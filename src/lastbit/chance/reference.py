"""`Reference`: the draws as their definitions read, one sample after the other in Python integers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lastbit.chance import distributions
from lastbit.chance.bits import Bits, Words, read_words
from lastbit.chance.distributions import Distribution
from lastbit.chance.draw import Draw, Probabilities, Samples
from lastbit.exact.numbers import whole


class Reference(Draw):
    """Draws slowly and obviously: the executable specification that `Sampler` must equal, word for word.

    >>> import lastbit as lb
    >>> lb.Reference(lb.Tape([1 << 63])).integer(6)
    3
    """

    def __init__(self, bits: Bits) -> None:
        self._bits = bits

    def __repr__(self) -> str:
        return f"Reference({self._bits!r})"

    def words(self, n: int) -> Words:
        """Return n raw words of the source."""
        return read_words(self._bits, whole(n, "n", least=0))

    def _one(self, distribution: Distribution) -> int:
        return self._values([distribution])[0]

    def _many(self, distribution: Distribution, n: int) -> Samples:
        values = self._values([distribution] * n)
        try:
            return np.array(values, np.int64)
        except OverflowError:
            return np.array(values, object)

    def _rises(self, parts: Probabilities) -> NDArray[np.int64]:
        laws = [distributions.rise(parts.exact(i)) for i in range(len(parts.leading))]
        return np.array(self._values(laws), np.int64)

    def _permutation(self, n: int) -> NDArray[np.int64]:
        picks = self._values([distributions.uniform(i + 1) for i in range(1, n)])
        order = list(range(n))
        for i, pick in enumerate(picks, start=1):
            order[i], order[pick] = order[pick], i
        return np.array(order, np.int64)

    def _uniforms(self, sizes: NDArray[np.int64], most: int) -> NDArray[np.int64]:
        return np.array(self._values([distributions.uniform_below(size, most) for size in sizes.tolist()]), np.int64)

    def _values(self, laws: list[Distribution]) -> list[int]:
        # All blocks first, then the further words of undecided samples.
        blocks = [[self._read() for _ in range(law.block)] for law in laws]
        return [law.value(block, self._read) for law, block in zip(laws, blocks, strict=True)]

    def _read(self) -> int:
        return int(read_words(self._bits, 1)[0])
