"""Exponents that fall as whole numbers rise, as the compiled search reads them: without an array of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray


# Not frozen, which takes longer to build than a few values take to search. Nobody changes it.
@dataclass(eq=False, slots=True)
class Descending:
    """base - s for each value v, where s = v·factor, clamped to [lowest, highest]. No |s| that counts is beyond 2^61.

    `edge` is the last |v| with v·factor within 2^61.

    >>> exponents = Descending(np.array([3, -7, 9]), 10, 5, -50, 50, 100)
    >>> exponents[0:3], exponents.min()
    (array([ 70, 150,  50]), 50)
    """

    values: NDArray[np.int64]
    factor: int
    edge: int
    lowest: int
    highest: int
    base: int
    dtype: ClassVar = np.dtype(np.int64)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, part: slice) -> NDArray[np.int64]:
        steps = np.clip(self.values[part], -self.edge - 1, self.edge + 1)
        np.multiply(steps, self.factor, out=steps)
        np.clip(steps, self.lowest, self.highest, out=steps)
        return np.subtract(self.base, steps, out=steps)

    def min(self) -> int:
        """Return the exponent of the highest value."""
        # Scaling and clamping keep the order.
        most = max(-self.edge - 1, min(self.edge + 1, int(self.values.max()))) * self.factor
        return self.base - max(self.lowest, min(self.highest, most))
