"""`WatchedDraw`: hands draws on, and knows afterwards whether the draw itself ended a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from lastbit.chance.bits import Words
from lastbit.chance.distributions import Distribution
from lastbit.chance.draw import Draw, Probabilities, Samples
from lastbit.errors import AuditError, BitsError, TapeEnded

Drawn = TypeVar("Drawn")


class WatchedDraw(Draw):
    """The same draws for code that nobody trusts. It remembers the last error that the draw below raised.

    An error of the same class that the code raises itself is another object, so the two can be told apart.

    >>> import lastbit as lb
    >>> watched = WatchedDraw(lb.Sampler(lb.Tape([])))
    >>> try:
    ...     watched.integer(2)
    ... except lb.TapeEnded as error:
    ...     watched.comes_from_draw(error), watched.comes_from_draw(lb.TapeEnded())
    (True, False)
    """

    def __init__(self, draw: Draw) -> None:
        self._below = draw
        self._raised: BaseException | None = None

    def comes_from_draw(self, error: BaseException) -> bool:
        """Return whether this error says that the draw below can go no
        further: no words, or an auditor that ends the run.

        Other errors of a draw follow from what it was asked for, such as a size that no memory holds.
        """
        ends = isinstance(error, AuditError | BitsError | TapeEnded) or not isinstance(error, Exception)
        return ends and error is self._raised

    def words(self, n: int) -> Words:
        """Return n raw words of the draw below."""
        return self._watch(lambda: self._below.words(n))

    def _one(self, distribution: Distribution) -> int:
        # As `_watch` does, without a function: candidates draw one number at a time.
        try:
            return self._below._one(distribution)
        except BaseException as error:
            self._raised = error
            raise

    def _many(self, distribution: Distribution, n: int) -> Samples:
        return self._watch(lambda: self._below._many(distribution, n))

    def _rises(self, parts: Probabilities) -> NDArray[np.int64]:
        return self._watch(lambda: self._below._rises(parts))

    def _permutation(self, n: int) -> NDArray[np.int64]:
        return self._watch(lambda: self._below._permutation(n))

    def _uniforms(self, sizes: NDArray[np.int64], most: int) -> NDArray[np.int64]:
        return self._watch(lambda: self._below._uniforms(sizes, most))

    def _watch(self, work: Callable[[], Drawn]) -> Drawn:
        try:
            return work()
        except BaseException as error:
            self._raised = error
            raise
