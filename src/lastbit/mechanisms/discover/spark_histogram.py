"""`SparkHistogram`: the items that were found, and their noisy values, in a DataFrame of Spark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

from lastbit.errors import ParameterError
from lastbit.exact.numbers import Number, probability
from lastbit.mechanisms.noisy_values import Noise, accuracy_of
from lastbit.privacy.rate import Rate
from lastbit.release import Release

_DIGITS: Final = 18
"""Digits after the point that a column of Spark has room for."""

_LARGEST: Final = 17
"""Digits of a step, written without its point: so many and those of a number of steps fit in a decimal of Spark."""


@dataclass(frozen=True, eq=False, repr=False)
class SparkHistogram(Release):
    """The items that were found, in a Spark DataFrame: `frame`, with the columns of the items and `value`.

    The values are kept in Spark, and what Spark loses it computes again with the same noise: each use of `frame` reads
    the same, as long as the table does. The rows lie by a hash of
    their item, in a number of parts that `spark.sql.shuffle.partitions` says; sort them as you like.
    """

    frame: Any = field(compare=False)
    resolution: Fraction = field(hash=False)
    threshold: Fraction = field(compare=False)
    """The least value that is published."""
    rate: Rate = field(compare=False)
    noise: Noise = field(compare=False)
    above: int = field(compare=False, default=0)
    """How many steps higher the exact values may lie, which were floored; 0 where the values were exact."""

    def columns(self) -> dict[str, Sequence[Any]]:
        """Return the least value that is published. The items are in `frame`."""
        return {"threshold": (self.threshold,)}

    def _footnotes(self) -> list[str]:
        return [f"The items are in Spark: .frame has the columns {', '.join(self.frame.columns)}."]

    def accuracy(self, level: Number = "0.95") -> Fraction:
        """Return how far a published value is from the true one, at most, with at least this probability.

        Among the items told the share that fails is larger where values are near the threshold, because lucky noise
        gets items told.
        """
        return (accuracy_of(self.noise, self.rate, probability(level, "level")) + self.above) * self.resolution


def decimal_digits(resolution: Fraction) -> int:
    """Return the digits after the point that whole steps of a resolution have.

    >>> decimal_digits(Fraction(1, 8)), decimal_digits(Fraction(5))
    (3, 0)
    """
    for digits in range(_DIGITS + 1):
        product = resolution * 10**digits
        if product.denominator == 1 and product.numerator < 10**_LARGEST:
            return digits
    raise ParameterError(
        f"resolution must be a decimal number with at most {_DIGITS} digits after the point, and {_LARGEST} in all, "
        f"for a column of Spark: got {resolution}. Use another, or release. Nothing was drawn."
    )
