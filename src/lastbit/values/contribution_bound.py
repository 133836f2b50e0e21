"""A bound on the items that one unit counts in, and the key that decides which of its items stay."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

_BITS: Final = 63
"""Every engine has a type for whole numbers of so many bits."""

_FIXED: ContextVar[int | None] = ContextVar("_FIXED", default=None)


@dataclass(frozen=True)
class ContributionBound:
    """A unit stays in at most `most` items: those with the smallest hashes of the unit, the item and the key.

    The rule looks at one unit only, so a unit that comes or goes leaves the items of all others as they are. This holds
    for any hash. Two items with one hash stay in the fixed order of items.
    """

    most: int
    key: int

    @classmethod
    def draw(cls, most: int) -> ContributionBound:
        """Draw a new key, so that nobody knows beforehand which items stay.

        >>> ContributionBound.draw(3).most
        3
        """
        fixed = _FIXED.get()
        return cls(most, secrets.randbits(_BITS) if fixed is None else fixed)


@contextmanager
def one_key(key: int = 1) -> Iterator[None]:
    """All bounds drawn inside have this key: counts of two tables are compared by the rule that both would have had.

    >>> with one_key(5):
    ...     ContributionBound.draw(3).key
    5
    """
    before = _FIXED.set(key)
    try:
        yield
    finally:
        _FIXED.reset(before)
