"""Words that are the same in every run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from numpy.typing import NDArray

from lastbit import Sampler
from lastbit.mechanisms import mechanism
from lastbit.values import contribution_bound


class FixedWords:
    """An endless tape that follows from a name."""

    def __init__(self, name: str) -> None:
        self._source = np.random.PCG64(list(name.encode()))

    def words(self, n: int) -> NDArray[np.uint64]:
        return self._source.random_raw(n)

    def randbits(self, bits: int) -> int:
        """As `secrets` has it."""
        return int(self.words(1)[0]) >> (64 - bits)


@contextmanager
def draw_fixed_words(name: str) -> Iterator[None]:
    """Releases without a draw of their own take their words from this tape, and so does the key of a bound."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mechanism, "_SYSTEM", Sampler(FixedWords(name)))
        patch.setattr(contribution_bound, "secrets", FixedWords(f"{name} key"))
        yield
