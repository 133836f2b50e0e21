"""Words that are the same in every run."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class FixedWords:
    """An endless tape that follows from a name."""

    def __init__(self, name: str) -> None:
        self._source = np.random.PCG64(list(name.encode()))

    def words(self, n: int) -> NDArray[np.uint64]:
        return self._source.random_raw(n)

    def randbits(self, bits: int) -> int:
        """As `secrets` has it."""
        return int(self.words(1)[0]) >> (64 - bits)
