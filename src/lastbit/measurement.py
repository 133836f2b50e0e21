"""A release of numbers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from lastbit.release import Release

Interval = tuple[Fraction | None, Fraction | None]
"""From and to, None where there is no end."""


@dataclass(frozen=True, eq=False)
class Measurement(Release):
    """Published numbers, exactly as drawn.

    `single` says that the mechanism was given one number rather than a list: then int() and float() work.
    """

    single: bool

    @property
    @abstractmethod
    def values(self) -> tuple[Fraction, ...]:
        """The published values, exact."""

    def columns(self) -> dict[str, Sequence[Any]]:
        """The values."""
        return {"value": self.values}

    def __float__(self) -> float:
        return float(self._only())

    def __int__(self) -> int:
        return int(self._only())

    def _only(self) -> Fraction:
        if not self.single:
            raise TypeError(f"a release of {len(self.values):,} values is not one number. Use its .values.")
        return self.values[0]
