"""Groups of a column in Python: `by={"age": lb.bins(0, 18, 65), "day": lb.months("2024-01", "2024-12")}`."""

from __future__ import annotations

from dataclasses import dataclass

from lastbit.errors import ParameterError
from lastbit.exact.numbers import Number


@dataclass(frozen=True)
class GroupEdges:
    """The numbers of a column as groups between edges. `bins` makes it."""

    edges: tuple[Number, ...]


@dataclass(frozen=True)
class GroupMonths:
    """The dates of a column as months, from the first to the last. `months` makes it."""

    first: str
    last: str

    @property
    def domain(self) -> str:
        """The months as a range."""
        return f"{self.first}..{self.last}"


def bins(*edges: Number) -> GroupEdges:
    """Return the groups of a column of numbers: as many as edges, with open ends. It goes into `by` of `ask`.

    >>> bins(0, 18, 65)
    GroupEdges(edges=(0, 18, 65))
    """
    if len(edges) < 2:
        raise ParameterError("bins must have two edges or more: bins(0, 18, 65) says under 18, 18 to 64, 65 and over.")
    return GroupEdges(edges)


def months(first: str, last: str) -> GroupMonths:
    """Return the months of a column of dates, from the first to the last. They go into `by` of `ask`.

    >>> months("2024-01", "2024-12").domain
    '2024-01..2024-12'
    """
    if not isinstance(first, str) or not isinstance(last, str):
        raise ParameterError('months must be texts, such as months("2024-01", "2024-12").')
    return GroupMonths(first, last)
