"""A clock that goes on only when somebody looks at it: so the time that a run takes is a number of looks."""

from __future__ import annotations

import pytest

from lastbit.audit import _tree, enumerator, progress


class Clock:
    """Every look of the auditor takes a millisecond. Other threads keep their clock."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.looks = 0
        patch.setattr(progress, "time", self)
        patch.setattr(enumerator, "time", self)
        patch.setattr(_tree, "monotonic", self.monotonic)

    def monotonic(self) -> float:
        self.looks += 1
        return 1000 + self.looks / 1000
