"""`Adjacency`: who the neighbours of a data set are, that is, what one person may change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, Literal, TypeVar, cast, get_args

from lastbit.errors import ParameterError

Adjacency = Literal["add-remove", "replace"]
"""add-remove: one person comes or goes. replace: one person's record becomes another; how many there are is public."""

ADJACENCIES: Final[tuple[str, ...]] = get_args(Adjacency)

Thing = TypeVar("Thing")
Choose = Callable[[Sequence[Any], int], Iterable[tuple[Any, ...]]]
"""So many things of a list, in all ways: `combinations` of itertools, or its like."""


def parse_adjacency(adjacency: object, *, monotone: bool = False) -> Adjacency:
    """Return an adjacency by its name. Only values that one person adds to or removes from can be monotone.

    >>> parse_adjacency("replace")
    'replace'
    """
    if adjacency not in ADJACENCIES:
        raise ParameterError(f"adjacency must be 'add-remove' or 'replace': got {adjacency!r}.")
    if monotone and adjacency == "replace":
        raise ParameterError(
            "values cannot be monotone where one person replaces a record: one value falls and another rises. Leave "
            "out monotone=True, or adjacency='replace'."
        )
    return cast(Adjacency, adjacency)


def choose_up_to(things: Sequence[Thing], most: int, choose: Choose) -> Iterator[tuple[Thing, ...]]:
    """Yield all choices of one thing up to `most` things.

    >>> from itertools import combinations_with_replacement
    >>> list(choose_up_to("ab", 2, combinations_with_replacement))
    [('a',), ('b',), ('a', 'a'), ('a', 'b'), ('b', 'b')]
    """
    for size in range(1, most + 1):
        yield from choose(things, size)
