"""Values with noise on a grid: the release of every mechanism that adds noise, and how the noise is added."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from itertools import product
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lastbit.chance.distributions import gaussian, laplace
from lastbit.chance.draw import Draw, Samples, add_exactly
from lastbit.chance.sampler import Sampler
from lastbit.estimate.accuracy import gaussian_accuracy, laplace_accuracy
from lastbit.exact.numbers import Number, probability
from lastbit.privacy.cost import Cost
from lastbit.privacy.rate import Rate
from lastbit.release import Interval, Measurement, as_array
from lastbit.values.grid import Grid, Steps
from lastbit.values.known import lies_on, lost_steps, names_of
from lastbit.values.statistic import as_list

Noise = Literal["laplace", "gaussian"]
"""The law of the noise: the draw of that name."""


class ValuesInSteps(NamedTuple):
    """Values as a release reads them: in whole steps of a grid."""

    steps: Steps
    single: bool
    """Whether the values were one number."""
    on_grid: bool
    """Whether the values are known to lie on the grid."""
    above: int
    """How many steps higher the exact values may lie; 0 where the steps are exact."""
    items: Sequence[Any] | None
    """The public items that the values belong to."""


@dataclass(frozen=True, eq=False, repr=False)
class NoisyValues(Measurement):
    """Values with noise, exactly as drawn. `steps` are the same in units of `resolution`.

    >>> import lastbit as lb
    >>> noisy = lb.DiscreteLaplace(epsilon=1).release([900, 3])
    >>> len(noisy.values), noisy.single
    (2, False)
    """

    resolution: Fraction = field(hash=False)
    steps: Samples
    rate: Rate = field(compare=False)
    noise: Noise = field(compare=False)
    ends: tuple[int, int] | None = field(compare=False)
    on_grid: bool = field(compare=False)
    """Whether the values were known to be whole steps of the resolution. Others were floored to one."""
    above: int = field(compare=False, default=1)
    """How many steps higher the exact values may lie, where the values were floored."""
    items: Sequence[Any] | None = field(compare=False, default=None)
    """The public items that the values belong to, when they were Counts."""

    @cached_property
    def values(self) -> tuple[Fraction, ...]:
        """The published values, exact: made when first asked for, as there may be millions."""
        return Grid(self.resolution).values(self.steps)

    def columns(self) -> dict[str, Sequence[Any]]:
        """Return the items, where there are any, and the values: whole numbers on a grid of whole numbers."""
        whole, step = self.resolution.denominator == 1, self.resolution.numerator
        items: dict[str, Sequence[Any]] = {} if self.items is None else {"item": self.items}
        return {**items, "value": [step * place for place in self.steps.tolist()] if whole else self.values}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the columns as arrays, without a fraction for each value."""
        items = {} if self.items is None else {"item": as_array(self.items)}
        return {**items, "value": Grid(self.resolution).array(self.steps)}

    def interval(self, level: Number = "0.95") -> Interval | tuple[Interval, ...]:
        """Return a confidence interval for each value: it holds the true one with at least this probability.

        A value that may lie between two steps was floored, so the interval reaches one step further up; two for a sum
        of floats, whose parts are floored too, and more where its bounds are beyond 2^29 steps. A value that was
        clamped, by the bounds or at 2^61 steps, has no end on that side.

        >>> import lastbit as lb
        >>> low, high = lb.DiscreteLaplace(epsilon=1).release(10).interval("0.95")
        >>> high - low
        Fraction(6, 1)
        """
        intervals = tuple(self.error_bars(level)["value"])
        return intervals[0] if self.single else intervals

    def error_bars(self, level: Number = "0.95", most: int | None = None) -> dict[str, tuple[Interval, ...]]:
        """Return the confidence interval of each value."""
        reach = accuracy_of(self.noise, self.rate, probability(level, "level"))
        grid, first = Grid(self.resolution), self.steps[:most].tolist()
        around = partial(grid.around, reach=reach, on_grid=self.on_grid, ends=self.ends, above=self.above)
        return {"value": tuple(map(around, first))}


def accuracy_of(noise: Noise, rate: Rate, level: Fraction) -> int:
    """Return the least number of steps that the noise keeps within, with at least this probability.

    >>> accuracy_of("laplace", Rate(1, 1), Fraction(1, 2)), accuracy_of("gaussian", Rate(1, 1), Fraction(1, 2))
    (1, 1)
    """
    return laplace_accuracy(rate, level) if noise == "laplace" else gaussian_accuracy(rate, level)


def add_noise(noise: Noise, rate: Rate, steps: Steps, draw: Draw) -> Samples:
    """Return the steps, each with noise of its own."""
    if type(draw) is Sampler:
        return draw.add_noise(laplace(rate) if noise == "laplace" else gaussian(rate), steps)
    return add_exactly(steps, draw.laplace(rate, len(steps)) if noise == "laplace" else draw.gaussian(rate, len(steps)))


def noisy_release(
    name: str,
    cost: Cost,
    values: ValuesInSteps,
    *,
    grid: Grid,
    noise: Noise,
    rate: Rate,
    ends: tuple[int, int] | None,
) -> Callable[[Draw], NoisyValues]:
    """Return the second half of a release: it adds noise to each value, clamps to the ends, and publishes."""
    steps, single, _, above, items = values
    exact, resolution = above == 0, grid.resolution

    def publish(draw: Draw) -> NoisyValues:
        noisy = add_noise(noise, rate, steps, draw)
        if ends is not None:
            noisy = _clamp(noisy, *ends)
        if noisy.dtype is not steps.dtype:
            noisy = _to_int64(noisy)
        noisy.setflags(write=False)
        return NoisyValues.made(name, cost, single, resolution, noisy, rate, noise, ends, exact, above, items)

    return publish


def read_values(values: Any, grid: Grid, unpack: Callable[[Any], Any]) -> ValuesInSteps:
    """Read the values of a release, once; `unpack` gives the values themselves, or refuses them.

    >>> read_values(7, Grid("1/2"), lambda values: values)
    ValuesInSteps(steps=array([14]), single=True, on_grid=True, above=0, items=None)
    """
    if type(values) is int or type(values) is float:
        # One number of Python's own has no labels, no type that it declares, and nothing known about it.
        whole = type(values) is int and grid.numerator == 1
        return ValuesInSteps(grid.steps((values,)), True, whole, int(not whole), None)
    if type(values) is np.ndarray and values.ndim:
        # Nor has an array of NumPy's own labels.
        on_grid = lies_on(values, grid)
        return ValuesInSteps(grid.steps(values), False, on_grid, int(not on_grid), None)
    raw, single = as_list(unpack(values))
    on_grid = lies_on(values, grid)
    return ValuesInSteps(grid.steps(raw), single, on_grid, lost_steps(values, grid, on_grid), names_of(values))


def neighbours_within(
    values: Sequence[Number], grid: Grid, reach: int, below: Fraction, near: Callable[[list[Fraction]], bool]
) -> Iterator[tuple[Any, ...]]:
    """Yield every other vector that one person could have turned these values into: `near` says so of the moves.

    Whole numbers on the grid stay whole numbers. Other values move to a step, or to `below` a step, as long as some
    value is floored elsewhere.
    """
    raw, _ = as_list(values)
    whole = lies_on(raw, grid)
    start: list[Any] = [int(value) if whole else Fraction(value) for value in raw]
    seen = {tuple(grid.steps(start).tolist())}
    for targets in product(*(_targets(value, grid, reach, Fraction(0) if whole else below) for value in start)):
        if not near([b - a for a, b in zip(start, targets, strict=True)]):
            continue
        floors = tuple(grid.steps(targets).tolist())
        if floors not in seen:
            seen.add(floors)
            yield tuple(map(int, targets)) if whole else targets


def _targets(value: Fraction | int, grid: Grid, reach: int, below: Fraction) -> Iterator[Fraction]:
    """Yield the places that one person can move a value to: itself,
    every step within reach, and just below each step.
    """
    step, unit = grid.step(value), grid.resolution
    yield Fraction(value)
    for place in range(step - reach, step + reach + 1):
        if below:
            yield place * unit
            yield place * unit - below
        elif (place * unit).denominator == 1:
            yield place * unit


def _to_int64(noisy: Samples) -> Samples:
    """Return the values as int64 where all of them fit: the type tells no more than the values do."""
    if all(-(1 << 63) <= value < 1 << 63 for value in noisy):
        return noisy.astype(np.int64)
    return noisy


def _clamp(noisy: Samples, low: int, high: int) -> Samples:
    """Clamp values to these ends, in place where the ends fit."""
    if low < -(1 << 63) or high >= 1 << 63:
        noisy = noisy.astype(object)
    # np.clip takes three times as long on a few values.
    np.maximum(noisy, low, out=noisy)
    np.minimum(noisy, high, out=noisy)
    return noisy
