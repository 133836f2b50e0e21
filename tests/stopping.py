"""Draws with a limit, for programs that loop until chance lets them go, and draws with their geometrics given."""

from collections.abc import Callable, Hashable, Sequence
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


def stopped(program: Callable[[Draw], Hashable], draws: int) -> Callable[[Draw], Hashable]:
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


def given(draw: Draw, geometrics: Sequence[int]) -> Any:
    """The draw, except that its geometrics come out as given."""
    return _Given(draw, geometrics)
