"""Groups of numbers between edges that a person types: open at both ends, or closed."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final, Self

from lastbit.exact.numbers import number
from lastbit.values.bins import Bins, format_edge

OUTSIDE: Final = "(outside)"
"""The label of numbers outside closed edges. No group has it, so that they are left out or among the others."""


class OpenBins(Bins):
    """A bin from each edge on, of which the first has no lower end and the last no upper one: as many bins as edges.

    Where all edges are whole, a bin is named by the whole numbers in it: 39.5 is in 18 to 39, as its whole part is.

    >>> OpenBins.between(["0", "18", "65"]).labels
    ('under 18', '18 to 64', '65 and over')
    >>> OpenBins.between(["0", "0.5", "2"]).labels
    ('under 0.5', '0.5 to under 2', '2 and over')
    """

    @classmethod
    def between(cls, edges: Sequence[Any]) -> Self:
        """Return the bins of these edges."""
        exact = [number(edge, "an edge") for edge in edges]
        return cls.of(edges=[*exact, exact[-1] + 1])

    @property
    def labels(self) -> tuple[str, ...]:
        """From where and to where each bin goes."""
        edges = self.edges[:-1]
        if len(edges) == 1:
            return ("any number",)
        return (f"under {format_edge(edges[1])}", *name_spans(edges[1:]), f"{format_edge(edges[-1])} and over")


class ClosedBins(Bins):
    """A bin from each edge to the next: one bin fewer than edges. Numbers outside have a label that is no group's.

    >>> ClosedBins.between(["0", "18", "65"]).labels
    ('(outside)', '0 to 17', '18 to 64', '(outside)')
    """

    @classmethod
    def between(cls, edges: Sequence[Any]) -> Self:
        """Return the bins of these edges."""
        exact = [number(edge, "an edge") for edge in edges]
        return cls.of(edges=[exact[0] - 1, *exact, exact[-1] + 1])

    @property
    def labels(self) -> tuple[str, ...]:
        """From where and to where each bin goes."""
        return (OUTSIDE, *name_spans(self.edges[1:-1]), OUTSIDE)


def name_spans(edges: Sequence[Fraction]) -> list[str]:
    """Return the name of each span from an edge to the next: by the whole numbers in it, where all edges are whole.

    >>> name_spans([Fraction(5), Fraction(6), Fraction(1000)])
    ['5', '6 to 999']
    """
    if any(edge.denominator != 1 for edge in edges):
        return [f"{format_edge(low)} to under {format_edge(high)}" for low, high in pairwise(edges)]
    return [
        format_edge(low) if high - low == 1 else f"{format_edge(low)} to {format_edge(high - 1)}"
        for low, high in pairwise(edges)
    ]
