"""A clock that goes on only when somebody looks at it: so the time that a run takes is a number of looks."""

from __future__ import annotations

import time

import pytest

from lastbit.audit import _tree


class Clock:
    """Every look takes a millisecond."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.looks = 0
        patch.setattr(time, "monotonic", self.look)
        patch.setattr(_tree, "monotonic", self.look)

    def look(self) -> float:
        self.looks += 1
        return 1000 + self.looks / 1000
