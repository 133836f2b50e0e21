"""Bins of a histogram: half-open, between public edges, each with a label."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, Final, Self, overload

import numpy as np
from numpy.typing import NDArray

from lastbit.chance.parallel import run_parallel, split_range
from lastbit.errors import ParameterError
from lastbit.exact.numbers import Number, number, whole
from lastbit.values._bins import Thresholds
from lastbit.values.bounds import parse_bounds
from lastbit.values.grid import LIMIT, Grid, Steps
from lastbit.values.missing import Missing, floats_among, missing_among

MISSING_BIN: Final = "missing"
"""The label of the bin for values that are missing."""

_MOST: Final = 10**6

_BLOCK: Final = 1 << 16
"""Values counted at a time: the memory that a histogram needs beyond its values and its bins."""

_LARGEST: Final = (1 << 63) - 1


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

    numerators: Sequence[int]
    """The edges over their common denominator: equal bins have a range of them."""
    denominator: int

    def __post_init__(self) -> None:
        if len(self.numerators) < 2 or not _rises(self.numerators):
            raise ParameterError(
                "edges must rise, and there must be two of them or more. Write edges=[0, 18, 65, 120]."
            )
        if max(abs(self.numerators[0]), abs(self.numerators[-1])) > LIMIT:
            raise ParameterError("edges must be at most 2^61 of their common steps. Use edges with fewer digits.")

    @classmethod
    def of(
        cls,
        *,
        bounds: tuple[Number, Number] | None = None,
        bins: int | None = None,
        edges: Sequence[Number] | None = None,
    ) -> Self:
        """Return equal bins between two bounds, or bins between edges."""
        if edges is not None:
            if bounds is not None or bins is not None:
                raise ParameterError("edges take the place of bounds and bins: got both. Leave one of them out.")
            if not isinstance(edges, Sequence) or isinstance(edges, str):
                raise ParameterError("edges must be a list of numbers. Write edges=[0, 18, 65, 120].")
            exact = [number(edge, "each of edges") for edge in edges]
            below = math.lcm(*(edge.denominator for edge in exact))
            return cls(tuple(edge.numerator * (below // edge.denominator) for edge in exact), below)
        if bounds is None or bins is None:
            raise ParameterError(
                "bins need bounds and the number of bins, or edges. Write bounds=(0, 100) and bins=10, or "
                "edges=[0, 18, 65] (for the command: --bounds 0 100 --bins 10, or --edges 0,18,65)."
            )
        lower, upper = parse_bounds(bounds)
        n = whole(bins, "bins")
        if n > _MOST:
            raise ParameterError(f"bins must be at most {_MOST:,}: got {n:,}.")
        width = (upper - lower) / n
        below = math.lcm(lower.denominator, width.denominator)
        first, step = int(lower * below), int(width * below)
        return cls(range(first, first + step * n + 1, step), below)

    def __len__(self) -> int:
        return len(self.numerators) - 1

    @cached_property
    def edges(self) -> tuple[Fraction, ...]:
        """The edges, from the lowest to the highest."""
        return tuple(Fraction(above, self.denominator) for above in self.numerators)

    @property
    def labels(self) -> tuple[str, ...]:
        """The label of each bin: from where to where it goes."""
        return tuple(BinLabels(self))

    @cached_property
    def _grid(self) -> Grid:
        # Floors of floors are floors: on a grid that all edges are on, a value is in the bin of its floor.
        steps = self.numerators
        return Grid(Fraction(math.gcd(*steps[:2], *(() if isinstance(steps, range) else steps)), self.denominator))

    @cached_property
    def _steps(self) -> Steps:
        return np.array(self.numerators[1:-1], np.int64) // self._grid.numerator

    @cached_property
    def _floats(self) -> NDArray[np.float64]:
        # Python divides whole numbers to the nearest float.
        return np.array([above / self.denominator for above in self.numerators[1:-1]], np.float64)

    def places(self, values: Any) -> Steps:
        """Return the bin of each value; the first for those that are missing."""
        bins: Steps = np.searchsorted(self._steps, self._grid.steps(values), side="right").astype(np.int64)
        floats = floats_among(values)
        at = np.searchsorted(self._nearest(floats.dtype), floats, side="right")
        # The float nearest to an edge may lie below it, and then it is at the edge all the same.
        return np.maximum(bins, np.where(np.isnan(floats), 0, at))

    def count(self, values: Any) -> Steps:
        """Return how many of the records that `numbers_of` gives are in each bin; last, how many are missing.

        >>> Bins.of(bounds=(0, 90), bins=3).count(np.array([29.5, 30, np.nan, 1000])).tolist()
        [1, 1, 1, 1]
        """
        if not isinstance(values, np.ndarray):
            places = self.places(values)
            places[missing_among(values)] = len(self)
            return np.bincount(places, minlength=len(self) + 1).astype(np.int64)
        if floats := values.dtype.kind == "f":
            # A float is above an edge or at it just if it is not below the float nearest to the edge.
            thresholds = Thresholds(self._nearest(values.dtype).astype(np.float64))
        else:
            # A whole number is not below an edge just if it is not below the next whole number.
            wholes = [-(-above // self.denominator) for above in self.numerators[1:-1]]
            thresholds = Thresholds(np.array(wholes, np.int64))

        def count_part(part: range) -> Steps:
            counts = np.zeros(len(self) + 1, np.int64)
            for start in range(part.start, part.stop, _BLOCK):
                block = values[start : min(start + _BLOCK, part.stop)]
                if block.dtype == np.uint64:
                    block = np.minimum(block, np.uint64(_LARGEST))
                # A signaling NaN of a shorter type would warn as it is turned into a quiet one.
                with np.errstate(invalid="ignore"):
                    block = np.ascontiguousarray(block, np.float64 if floats else np.int64)
                thresholds.count(block, counts)
            return counts

        counts = run_parallel(count_part, split_range(len(values), _BLOCK, 2))
        return np.sum(counts, axis=0, dtype=np.int64) if counts else np.zeros(len(self) + 1, np.int64)

    def place_of_missing(self, missing: Missing | str) -> int:
        """Return the bin that missing values count in: the first, or that of a number."""
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
        return tuple(self._nearest(np.dtype(kind)).tolist())

    def _nearest(self, kind: np.dtype[Any]) -> NDArray[np.floating[Any]]:
        # Edges beyond a short type are at its infinities.
        with np.errstate(over="ignore"):
            return self._floats.astype(kind)


class BinLabels(Sequence[str]):
    """The labels of bins, each written when somebody reads it: of many bins most are never published.

    >>> labels = BinLabels(Bins.of(bounds=(0, 90), bins=3))
    >>> len(labels), labels[-1], labels == ("0 to 30", "30 to 60", "60 to 90")
    (3, '60 to 90', True)
    """

    def __init__(self, bins: Bins, more: tuple[str, ...] = ()) -> None:
        self._bins, self._more = bins, more

    def __len__(self) -> int:
        return len(self._bins) + len(self._more)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[str, ...]: ...
    def __getitem__(self, place: int | slice) -> str | tuple[str, ...]:
        places = range(len(self))[place]
        return self._label(places) if isinstance(places, int) else tuple(map(self._label, places))

    def _label(self, place: int) -> str:
        if place >= len(self._bins):
            return self._more[place - len(self._bins)]
        low, high = (Fraction(self._bins.numerators[place + end], self._bins.denominator) for end in (0, 1))
        return f"{format_edge(low)} to {format_edge(high)}"

    def __iter__(self) -> Iterator[str]:
        for low, high in pairwise(map(format_edge, self._bins.edges)):
            yield f"{low} to {high}"
        yield from self._more

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BinLabels | tuple) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


def format_edge(edge: Fraction) -> str:
    """Return an edge as people read it: exact as a decimal where it has one of few digits, as a fraction where not.

    >>> format_edge(Fraction(1250)), format_edge(Fraction(1, 2)), format_edge(Fraction(1, 3))
    ('1,250', '0.5', '1/3')
    """
    for digits in range(10):
        if 10**digits % edge.denominator == 0:
            whole_part, rest = divmod(abs(edge.numerator) * (10**digits // edge.denominator), 10**digits)
            fraction = f".{rest:0{digits}}" if digits else ""
            return f"{'-' if edge < 0 else ''}{whole_part:,}{fraction}"
    return str(edge)


def _rises(numerators: Sequence[int]) -> bool:
    return isinstance(numerators, range) or all(low < high for low, high in pairwise(numerators))
