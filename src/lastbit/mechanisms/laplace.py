"""Discrete Laplace noise: the measurement that goes with every selection."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import product
from typing import Any, Final

import numpy as np

from lastbit.chance.draw import Draw, Samples
from lastbit.errors import ParameterError
from lastbit.estimate.accuracy import laplace_accuracy, laplace_within, least_epsilon
from lastbit.exact.numbers import Number, number, probability, whole
from lastbit.mechanisms.on_grid import GridMechanism
from lastbit.privacy.cost import Cost
from lastbit.privacy.rate import Rate
from lastbit.release import Interval, Measurement
from lastbit.values.grid import Grid, Steps
from lastbit.values.known import Known, lies_on, within
from lastbit.values.statistic import ends, listed, span

_ROOM: Final = 1 << 62
"""Noise below this can be added to steps, which stay within 2^61, in int64."""


@dataclass(frozen=True, eq=False, repr=False)
class NoisyValues(Measurement):
    """Values with discrete Laplace noise, exactly as drawn. `steps` are the same in units of `resolution`."""

    resolution: Fraction = field(hash=False)
    steps: Samples
    rate: Rate = field(compare=False)
    ends: tuple[int, int] | None = field(compare=False)
    on_grid: bool = field(compare=False)
    """Whether the values were known to be whole steps of the resolution. Others were floored to one."""

    @cached_property
    def values(self) -> tuple[Fraction, ...]:
        """The published values, exact: made when first asked for, as there may be millions."""
        return Grid(self.resolution).values(self.steps)

    def columns(self) -> dict[str, Sequence[Any]]:
        """The values: whole numbers on a grid of whole numbers."""
        whole = self.resolution.denominator == 1
        return {"value": [int(value) for value in self.values] if whole else self.values}

    def interval(self, level: Number = "0.95") -> Interval | tuple[Interval, ...]:
        """From and to: for each value an interval that holds the true one with at least this probability.

        A value that may lie between two steps was floored, so the interval reaches one step further up. A value that
        was clamped, by the bounds or at 2^61 steps, has no end on that side.

        >>> noisy = DiscreteLaplace(epsilon=1).release(10)
        >>> low, high = noisy.interval("0.95")
        >>> high - low
        Fraction(6, 1)
        """
        reach = laplace_accuracy(self.rate, probability(level, "level"))
        grid = Grid(self.resolution)
        intervals = tuple(
            grid.around(step, reach, on_grid=self.on_grid, ends=self.ends) for step in self.steps.tolist()
        )
        return intervals[0] if self.single else intervals


@dataclass(frozen=True, kw_only=True)
class DiscreteLaplace(GridMechanism[NoisyValues]):
    """Add integer noise on the grid: for counts, sums, means and histograms.

    Takes one number or many, Counts, or a Statistic such as `exact_sum` gives. `bounds=(lower, upper)` clamps the
    released values.

    Paper:    Ilvento, sparse vector, Mechanism 2; with bounds, equation 2 and Algorithm 3.
    Law:      value + X·resolution, P(X = i) proportional to r^|i| for r = e^(-epsilon/steps), rounded up, or
              2^(-eta/steps); then clamped to the bounds. The sensitivity has that many steps. Where n values may lie
              between steps of the grid, each may be floored across one, so that the steps are n - 1 more.
    Cost:     epsilon, or eta: the bounds are free.
    Assumes:  one person moves the values by at most `sensitivity` in total, all distances added up. Whole numbers on a
              grid of 1/q, and Counts and Statistics whose own grid is a multiple of the resolution, are known to lie on
              the grid; floats and fractions are not. The declared type decides. In a list of Python numbers the
              program, and not the data, must decide whether a number is an int or a float: pass an array if in doubt.
    Checked:  tests/laws/test_laplace.py, exactly, against the closed form, Algorithm 3, and on neighbours.
    Speed:    one draw a value; a million values in about half the time of NumPy's float Laplace.

    >>> count = DiscreteLaplace(epsilon=1).release(412)
    >>> abs(int(count) - 412) < 100
    True
    >>> DiscreteLaplace(epsilon="1/10").accuracy("0.95")
    Fraction(30, 1)
    """

    bounds: tuple[Number, Number] | None = None
    rate: Rate = field(init=False, repr=False, compare=False)
    _ends: tuple[int, int] | None = field(init=False, repr=False, compare=False)
    """The bounds in grid steps."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._derive(rate=self.cost.rate(Fraction(1, self._reach)), _ends=None)
        if self.bounds is not None:
            self._derive(_ends=ends(self.bounds, self.grid), bounds=span(self.bounds))

    @classmethod
    def _known(cls, values: Known) -> dict[str, Any]:
        return {**super()._known(values), "sensitivity": values.total}

    def ready(self, values: Any) -> Callable[[Draw], NoisyValues]:
        """The values, each with its own noise.

        >>> len(DiscreteLaplace(epsilon=1, bounds=(0, 100)).release([10, 20]).values)
        2
        """
        raw, single = listed(within(values, self._furthest))
        steps, ends, on_grid = self.grid.steps(raw), self._ends, lies_on(values, self.grid)
        rate = self.rate if on_grid else self._rate(len(steps))
        name, cost, resolution = self.name, self.cost, self.grid.resolution

        def noisy(draw: Draw) -> NoisyValues:
            noisy = _sum(steps, draw.laplace(rate, len(steps)))
            if ends is not None:
                noisy = _clamped(noisy, *ends)
            noisy = _settled(noisy)
            noisy.setflags(write=False)
            return NoisyValues.made(name, cost, single, resolution, noisy, rate, ends, on_grid)

        return noisy

    def accuracy(self, level: Number = "0.95", n: int = 1) -> Fraction:
        """The least distance that the noise of a value keeps within, with at least this probability.

        `n` is the number of values in one release where they may lie between steps of the grid, as floats do: they
        take more noise together, and each is floored by less than one step before.

        >>> DiscreteLaplace(epsilon=1, resolution="1/4").accuracy("0.99")
        Fraction(9, 2)
        >>> DiscreteLaplace(epsilon=1, resolution="1/4").accuracy("0.99", n=5)
        Fraction(37, 4)
        """
        return laplace_accuracy(self._rate(whole(n, "n")), probability(level, "level")) * self.grid.resolution

    def _rate(self, n: int) -> Rate:
        """The rate of the noise of n values that may lie between steps of the grid."""
        return self.rate if n <= 1 else _rate_of(self.cost, self._reach + n - 1)

    @classmethod
    def for_accuracy(cls, accuracy: Number, level: Number = "0.95", **parameters: Any) -> DiscreteLaplace:
        """The mechanism with the least epsilon, to nine significant digits, whose `accuracy(level)` is at most this.

        >>> DiscreteLaplace.for_accuracy(30, "0.95").epsilon
        Fraction(490906199, 5000000000)
        """
        wish, wanted = number(accuracy, "accuracy"), probability(level, "level")
        model = cls(epsilon=1, **parameters)
        if wish < 0:
            raise ParameterError(f"accuracy must not be negative: got {accuracy}. It is a distance.")
        steps = wish // model.grid.resolution

        def meets(epsilon: Fraction) -> bool:
            return laplace_within(Rate.from_epsilon(epsilon / model._reach), steps, wanted)

        return cls(epsilon=least_epsilon(meets), **parameters)

    def neighbours(self, values: Sequence[Number]) -> Iterator[tuple[Any, ...]]:
        """The vectors whose distances from these values add up to at most the sensitivity.

        Whole numbers on the grid stay whole numbers. Other values move to a step, or to just below one, as long as
        some value is floored elsewhere.
        """
        raw, _ = listed(values)
        kept = lies_on(raw, self.grid)
        start: list[Any] = [int(value) if kept else Fraction(value) for value in raw]
        below = self.grid.resolution / (2 * len(start) or 1)
        seen = {tuple(self.grid.steps(start).tolist())}
        for targets in product(*(self._targets(value, 0 if kept else below) for value in start)):
            if sum(abs(a - b) for a, b in zip(start, targets, strict=True)) > self._furthest:
                continue
            floors = tuple(self.grid.steps(targets).tolist())
            if floors not in seen:
                seen.add(floors)
                yield tuple(map(int, targets)) if kept else targets

    def _targets(self, value: Fraction | int, below: Fraction | int) -> Iterator[Fraction]:
        """The places that one person can move a value to: itself, every step within reach, and just below each step."""
        step, unit = self.grid.step(value), self.grid.resolution
        yield Fraction(value)
        for place in range(step - self._reach, step + self._reach + 1):
            if below:
                yield place * unit
                yield place * unit - below
            elif (place * unit).denominator == 1:
                yield place * unit


@lru_cache(maxsize=64)
def _rate_of(cost: Cost, steps: int) -> Rate:
    return cost.rate(Fraction(1, steps))


def _settled(noisy: Samples) -> Samples:
    """As int64 where all values fit: the type tells no more than the values do."""
    if noisy.dtype.hasobject and all(-(1 << 63) <= value < 1 << 63 for value in noisy):
        return noisy.astype(np.int64)
    return noisy


def _clamped(noisy: Samples, low: int, high: int) -> Samples:
    """Into these ends, in place where they fit."""
    if low < -(1 << 63) or high >= 1 << 63:
        noisy = noisy.astype(object)
    # np.clip takes three times as long on a few values.
    np.maximum(noisy, low, out=noisy)
    np.minimum(noisy, high, out=noisy)
    return noisy


def _sum(steps: Steps, noise: Samples) -> Samples:
    # By argmin and argmax: on a few values they take a fifth of the time of min and max, on many the same.
    if noise.dtype.kind == "O" or (
        len(noise) and not -_ROOM <= noise.item(noise.argmin()) <= noise.item(noise.argmax()) <= _ROOM
    ):
        noise = noise.astype(object)
    noise += steps
    return noise
