"""Draws with a limit, for programs that loop until chance lets them go, and draws with some of their answers given."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

import numpy as np

from lastbit import Draw

STOPPED = "stopped"


class _Stop(Exception):
    pass


class _Counted:
    def __init__(self, draw: Draw, draws: int) -> None:
        self._draw, self._left = draw, draws

    def __getattr__(self, name: str) -> Any:
        self._left -= 1
        if self._left < 0:
            raise _Stop
        return getattr(self._draw, name)


def stop_after(program: Callable[[Draw], Hashable], draws: int) -> Callable[[Draw], Hashable]:
    """The program, with the outcome STOPPED when it asks for more than so many draws."""

    def run(draw: Draw) -> Hashable:
        try:
            return program(_Counted(draw, draws))  # type: ignore[arg-type]
        except _Stop:
            return STOPPED

    return run


class _Given:
    def __init__(self, draw: Draw, geometrics: Sequence[int]) -> None:
        self._draw, self._geometrics = draw, iter(geometrics)

    def geometric(self, rate: object, size: int | None = None) -> Any:
        if size is None:
            return next(self._geometrics)
        return np.array([next(self._geometrics) for _ in range(size)])

    def __getattr__(self, name: str) -> Any:
        return getattr(self._draw, name)


def with_geometrics(draw: Draw, geometrics: Sequence[int]) -> Any:
    """The draw, except that its geometrics come out as given."""
    return _Given(draw, geometrics)


class _Settled:
    def __init__(self, draw: Draw, rounds: int) -> None:
        self._draw, self._left, self._rate = draw, rounds, None
        self._digits: Iterator[int] | None = None

    def truncated_geometric(self, rate: Any, below: int) -> int:
        if rate != self._rate:
            self._left, self._rate = self._left - 1, rate
            self._digits = None if self._left >= 0 else iter(self._draw.permutation(below).tolist())
        return self._draw.truncated_geometric(rate, below) if self._digits is None else next(self._digits)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._draw, name)


def settle_after(draw: Draw, rounds: int) -> Any:
    """The draw, except that after so many rounds of truncated geometrics, each at a rate of its own, a round takes its
    digits from a uniform permutation: all different, so that it is the last."""
    return _Settled(draw, rounds)
