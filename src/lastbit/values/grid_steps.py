"""Numbers of a table that are whole steps of a mechanism's grid already."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from lastbit.values.adjacency import Adjacency


@dataclass(frozen=True, eq=False)
class GridSteps:
    """Numbers of a table as whole steps of a mechanism's grid, between its bounds: private, and never shown."""

    steps: Any = field(repr=False)
    """The steps; for groups, those of each group."""
    adjacency: ClassVar[Adjacency] = "add-remove"
