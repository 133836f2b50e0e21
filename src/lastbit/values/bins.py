"""Bins of a histogram: half-open, between public edges, each with a label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from itertools import pairwise
from typing import Any, Final

import numpy as np

from lastbit.errors import ParameterError
from lastbit.exact.numbers import Number, number, whole
from lastbit.values.bounds import parse_bounds
from lastbit.values.grid import LIMIT, Grid, Steps, common
from lastbit.values.missing import Missing, floats_among

MISSING_BIN: Final = "missing"
"""The label of the bin for values that are missing."""

_MOST: Final = 10**6


@dataclass(frozen=True)
class Bins:
    """Bins from each edge to the next. Values below the first edge are in the first bin, values above in the last.

    A float is at an edge if no float is nearer to it: the float 0.3 lies a little below 3/10, and is at the edge 0.3.

    >>> bins = Bins.of(bounds=(0, 90), bins=3)
    >>> bins.labels
    ('0 to 30', '30 to 60', '60 to 90')
    >>> bins.places([29.5, 30, 1000]).tolist()
    [0, 1, 2]
    >>> Bins.of(edges=[0, "0.3", 1]).places([0.3, Fraction(0.3)]).tolist()
    [1, 0]
    """

    edges: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        if len(self.edges) < 2 or any(a >= b for a, b in pairwise(self.edges)):
            raise ParameterError(
                "edges must rise, and there must be two of them or more. Write edges=[0, 18, 65, 120]."
            )
        furthest = max(abs(self.edges[0]), abs(self.edges[-1]))
        if furthest / self._grid.resolution * self._grid.numerator > LIMIT:
            raise ParameterError("edges must be at most 2^61 of their common steps. Use edges with fewer digits.")

    @classmethod
    def of(
        cls,
        *,
        bounds: tuple[Number, Number] | None = None,
        bins: int | None = None,
        edges: Sequence[Number] | None = None,
    ) -> Bins:
        """Equal bins between two bounds, or bins between edges."""
        if edges is not None:
            if bounds is not None or bins is not None:
                raise ParameterError("edges take the place of bounds and bins: got both. Leave one of them out.")
            if not isinstance(edges, Sequence) or isinstance(edges, str):
                raise ParameterError("edges must be a list of numbers. Write edges=[0, 18, 65, 120].")
            return cls(tuple(number(edge, "each of edges") for edge in edges))
        if bounds is None or bins is None:
            raise ParameterError(
                "bins need bounds and the number of bins, or edges. Write bounds=(0, 100) and bins=10, or "
                "edges=[0, 18, 65] (for the command: --bounds 0 100 --bins 10, or --edges 0,18,65)."
            )
        lower, upper = parse_bounds(bounds)
        n = whole(bins, "bins")
        if n > _MOST:
            raise ParameterError(f"bins must be at most {_MOST:,}: got {n:,}.")
        return cls(tuple(lower + (upper - lower) * i / n for i in range(n + 1)))

    def __len__(self) -> int:
        return len(self.edges) - 1

    @property
    def labels(self) -> tuple[str, ...]:
        """The label of each bin: from where to where it goes."""
        return tuple(f"{format_edge(low)} to {format_edge(high)}" for low, high in pairwise(self.edges))

    @cached_property
    def _grid(self) -> Grid:
        # Floors of floors are floors: on a grid that all edges are on, a value is in the bin of its floor.
        return Grid(reduce(common, self.edges))

    @cached_property
    def _steps(self) -> Steps:
        return np.array([edge / self._grid.resolution for edge in self.edges[1:-1]], dtype=object).astype(np.int64)

    def places(self, values: Any) -> Steps:
        """The bin of each value; the first for those that are missing."""
        bins: Steps = np.searchsorted(self._steps, self._grid.steps(values), side="right").astype(np.int64)
        floats = floats_among(values)
        at = np.searchsorted(np.array(self.floats(floats.dtype.name), floats.dtype), floats, side="right")
        # The float nearest to an edge may lie below it, and then it is at the edge all the same.
        return np.maximum(bins, np.where(np.isnan(floats), 0, at))

    def place_of_missing(self, missing: Missing | str) -> int:
        """The bin that missing values count in: the first, or that of a number."""
        if missing == "lowest":
            return 0
        try:
            exact = number(missing, "missing")
        except ParameterError:
            raise ParameterError(
                f"missing must be 'leave-out', 'bin', 'lowest' or a number: got {missing!r}. A missing value is left "
                "out, or has a bin of its own, or counts in the first bin, or where that number is."
            ) from None
        return int(self.places([exact])[0])

    def floats(self, kind: str = "float64") -> tuple[float, ...]:
        """Return for each inner edge the nearest float of this type: floats from there on are in the next bin.

        >>> Bins.of(edges=[0, "1/10", 1]).floats()
        (0.1,)
        """
        return tuple(float(np.dtype(kind).type(float(edge))) for edge in self.edges[1:-1])


def format_edge(edge: Fraction) -> str:
    """Return an edge as people read it: exact as a decimal where it has one of few digits, as a fraction where not.

    >>> format_edge(Fraction(1250)), format_edge(Fraction(1, 2)), format_edge(Fraction(1, 3))
    ('1,250', '0.5', '1/3')
    """
    for digits in range(10):
        product = edge * 10**digits
        if product.denominator == 1:
            whole_part, rest = divmod(abs(product.numerator), 10**digits)
            fraction = f".{rest:0{digits}}" if digits else ""
            return f"{'-' if edge < 0 else ''}{whole_part:,}{fraction}"
    return str(edge)
