"""Every item that nobody listed and many people have, with its noisy value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from operator import gt
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from lastbit.chance.draw import Draw, Samples
from lastbit.chance.gaussian import Gaussian
from lastbit.chance.inversion import power
from lastbit.errors import ParameterError
from lastbit.estimate.accuracy import least_enough, near_exponent, near_gaussian
from lastbit.exact.gaussian_tails import tail_bounds
from lastbit.exact.numbers import Number, number, probability
from lastbit.exact.rounding import any_upper, fraction, one_lower
from lastbit.mechanisms.discover.mechanism import Discovered, DiscoveryMechanism
from lastbit.mechanisms.discover.spark_histogram import SparkHistogram, decimal_digits
from lastbit.mechanisms.mechanism import resolve_draw
from lastbit.mechanisms.noisy_values import Noise, accuracy_of, add_noise
from lastbit.mechanisms.top_k._ranks import pick_items
from lastbit.privacy.cost import Cost
from lastbit.privacy.rate import Rate
from lastbit.release import Interval, as_array
from lastbit.values.grid import Grid
from lastbit.values.known import lost_steps
from lastbit.values.unlisted import Unlisted, sort_key

if TYPE_CHECKING:
    from lastbit.mechanisms.discover.spark import SparkThreshold

_BITS: Final = 256
"""Bits of a tail, besides those of the rate."""
_TERMS: Final = 256
"""Terms of a Gaussian tail that are added one by one: beyond, integrals bound it."""

_WIDE: Final = 1 << 50
"""Noise of this scale may not fit in the 64 bits of a column of Spark."""


@dataclass(frozen=True, eq=False, repr=False)
class DiscoveredHistogram(Discovered):
    """The items that were found with their noisy `values`, largest first. Nothing stops it: `stopped` is False.

    >>> import lastbit as lb
    >>> terms = lb.Unlisted.of({"flu": 5200, "cold": 3100, "a rare name": 1}, most_items=1)
    >>> found = lb.DiscoverHistogram.of(terms, epsilon=1, delta="1e-6").release(terms)
    >>> found.items, found.values[0] > 5000
    (('flu', 'cold'), True)
    """

    steps: Samples
    """`values` in units of the resolution, as they were drawn."""
    resolution: Fraction = field(hash=False)
    threshold: Fraction = field(compare=False)
    """The least value that is published."""
    rate: Rate = field(compare=False)
    noise: Noise = field(compare=False)
    above: int = field(compare=False, default=0)
    """How many steps higher the exact values may lie, which were floored; 0 where the values were exact."""

    @cached_property
    def values(self) -> tuple[Fraction, ...]:
        """The value of each item with noise, exactly as drawn."""
        return Grid(self.resolution).values(np.asarray(self.steps).tolist())

    def columns(self) -> dict[str, Sequence[Any]]:
        """Return the items and their noisy values."""
        whole, step = self.resolution.denominator == 1, self.resolution.numerator
        values = [step * place for place in np.asarray(self.steps).tolist()] if whole else self.values
        return {"item": self.items, "value": values}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the columns as arrays, without a fraction for each value."""
        return {"item": as_array(self.items), "value": Grid(self.resolution).array(np.asarray(self.steps))}

    def facts(self) -> dict[str, Any]:
        """Return the threshold, which is public."""
        return {"threshold": self.threshold}

    def intervals(self, level: Number = "0.95") -> tuple[Interval, ...]:
        """Return a confidence interval for each item, as its two ends.

        Of all items of the table, one is published with a wrong interval with probability 1 - `level` at most. Among
        the published items more intervals fail where values are near the threshold, because lucky noise gets items
        published. Sums that were floored may lie `above` steps higher.
        """
        return self.error_bars(level)["value"]

    def error_bars(self, level: Number = "0.95", most: int | None = None) -> dict[str, tuple[Interval, ...]]:
        """Return the confidence interval of each value."""
        reach, grid = accuracy_of(self.noise, self.rate, probability(level, "level")), Grid(self.resolution)
        first = np.asarray(self.steps)[:most].tolist()
        around = partial(grid.around, reach=reach, on_grid=self.above == 0, above=self.above)
        return {"value": tuple(map(around, first))}


def _order_items(items: Sequence[Any], published: NDArray[np.intp], noisy: Samples) -> NDArray[np.intp]:
    """Return an order of the published numbers that they and their items fix: `published` says where the items are.

    That of the table would tell more. Only items with equal numbers are compared.

    >>> _order_items(["b", "x", "c", "a"], np.array([0, 2, 3]), np.array([5, 7, 5])).tolist()
    [1, 2, 0]
    """
    places = _sort_down(noisy)
    ordered = noisy[places]
    same = np.concatenate(([False], ordered[1:] == ordered[:-1], [False]))
    edges = np.flatnonzero(same[1:] != same[:-1])
    starts, ends = edges[0::2], edges[1::2]
    for start, end in zip(*(side[ends - starts > 1].tolist() for side in (starts, ends)), strict=True):
        run = places[start : end + 1]
        run[:] = sorted(run.tolist(), key=lambda place: sort_key(items[int(published[place])]))
    # Most equals are two.
    first = starts[ends - starts == 1]
    lower, upper = places[first], places[first + 1]
    swapped = _are_after(*(_pick_all(items, published[side]) for side in (lower, upper)))
    places[first], places[first + 1] = np.where(swapped, upper, lower), np.where(swapped, lower, upper)
    return places


def _sort_down(numbers: Samples) -> NDArray[np.intp]:
    """Return the places of numbers, the largest number first, and equal numbers in the order of their places.

    >>> _sort_down(np.array([5, 7, 5])).tolist()
    [1, 0, 2]
    """
    bits = len(numbers).bit_length()
    if len(numbers) and not numbers.dtype.hasobject:
        top = int(numbers.max())
        if top - int(numbers.min()) < 1 << 62 - bits:
            # A number with its place in the last bits is quicker to sort than places are by their numbers.
            packed = (top - numbers) << bits | np.arange(len(numbers))
            packed.sort()
            return packed & (1 << bits) - 1
    return np.argsort(-numbers, kind="stable")


def _are_after(ones: Sequence[Any], others: Sequence[Any]) -> NDArray[np.bool_]:
    """Return for each item whether it comes after that beside it."""
    # Text has the order of its characters, as its UTF-8 has.
    texts = {*map(type, ones), *map(type, others)} <= {str}
    return np.fromiter(map(gt if texts else _is_after, ones, others), np.bool_, len(ones))


def _is_after(one: Any, other: Any) -> bool:
    """Return whether an item comes after another one in the order of `sort_key`."""
    after: bool = sort_key(one) > sort_key(other)
    return after


def _pick_all(items: Sequence[Any], places: NDArray[np.intp]) -> tuple[Any, ...]:
    """Return the items at these places."""
    if type(items) is tuple:
        return pick_items(items, places)
    return tuple([items[place] for place in places.tolist()])


@dataclass(frozen=True, kw_only=True)
class DiscoverHistogram(DiscoveryMechanism[DiscoveredHistogram]):
    """Find every item with more than a few people in a table whose items nobody listed, and its noisy value.

    Paper:    Korolova, Kenthapadi, Mishra and Ntoulas (2009), with exact noise.
    Law:      every item with a value above zero gets discrete noise, and is told with its noisy value where that is at
              least `threshold`. With epsilon or eta the noise is Laplace of scale most_items·sensitivity/epsilon, with
              rho Gaussian of variance most_items·sensitivity²/(2·rho).
    Cost:     epsilon (or eta), or rho; and delta: 1 - (1 - p)^most_items, where p is the probability that the value of
              one person's item, at most the sensitivity, reaches the threshold. The threshold is the least that keeps
              delta.
    Assumes:  one person counts in at most `most_items` items, and moves each value by at most `sensitivity`.
    Checked:  tests/laws/test_discover.py: the exact smallest delta at epsilon, on all small data sets and neighbours.
    Speed:    one word an item that occurs; the time tells how many there are.

    >>> import lastbit as lb
    >>> words = lb.Unlisted.of({"apple": 5000, "pear": 3000, "a name": 1}, most_items=2)
    >>> mechanism = DiscoverHistogram.of(words, epsilon=1, delta="1e-6")
    >>> found = mechanism.release(words)
    >>> found.items, mechanism.threshold, found.values[0] > 4900
    (('apple', 'pear'), Fraction(30, 1), True)
    """

    rate: Rate = field(init=False, repr=False, compare=False)
    threshold: Fraction = field(init=False, repr=False, compare=False)
    """The least value that is published."""
    noise: Noise = field(init=False, repr=False, compare=False)
    _least: int = field(init=False, repr=False, compare=False)
    """The threshold in steps."""

    def __post_init__(self) -> None:
        super().__post_init__()
        most = self.most_items
        if most is None:
            raise ParameterError(
                "most_items must be given: without a bound on how many items one person counts in, the noise has no "
                "end. Count with most_items=10, and build the mechanism with DiscoverHistogram.of(counts, …)."
            )
        if self.rho is None:
            self._derive(noise="laplace", rate=self.cost.rate(Fraction(1, most * self._reach)))
        else:
            rho = Fraction(self.rho)
            self._derive(noise="gaussian", rate=Rate.from_epsilon(rho / (most * self._reach**2)))
            Gaussian(self.rate)  # refuses noise that is too wide to draw
            self._derive(cost=Cost.zcdp(rho))
        delta = Fraction(self.delta)
        # One step more than a person brings, at least: an item that is told for certain has no delta.
        above = 1 + least_enough(lambda steps: self._report_probability(steps + 1) <= delta, self._near(delta, most))
        least = above + self._reach
        self._derive(_least=least, threshold=least * self.grid.resolution)
        self._state(self._report_probability(above))

    def _report_probability(self, above: int) -> Fraction:
        """Return an upper bound of the chance that an item of one person alone is listed: noise of so many steps."""
        most, precision = self.most_items or 1, self._precision
        if self.noise == "gaussian":
            return any_upper(fraction(tail_bounds(self.rate.fraction, above, _TERMS, precision)[1]), most, precision)
        # The power is compared with a share of delta, so delta says how many of its leading bits are 0.
        bits = precision + Fraction(self.delta).denominator.bit_length() + most.bit_length() + above.bit_length()
        power_upper = Fraction(power(self.rate, above, bits)[1], 1 << bits)
        return any_upper(power_upper / (1 + self.rate.fraction), most, precision)

    @property
    def _precision(self) -> int:
        """The bits of a tail, however small the tail is: enough to tell it from that of one step more, and from 1."""
        rest = 1 - Fraction(self.delta)
        return _BITS + self.rate.y + rest.denominator.bit_length() - rest.numerator.bit_length()

    def _near(self, delta: Fraction, most: int) -> int:
        """Return roughly the threshold: where the search for it begins."""
        one = one_lower(delta, most, self._precision)
        if self.noise == "laplace":
            return near_exponent(self.rate, one * (1 + self.rate.fraction))
        return near_gaussian(self.rate, min(one, Fraction(1, 2)))

    def ready(self, values: Any) -> Callable[[Draw], DiscoveredHistogram]:
        """Search the items of `Unlisted` values. Where Spark has them, the executors add the noise."""
        values = self._check_values(values)
        name, cost, grid, rate, noise, threshold = (
            self.name, self.cost, self.grid, self.rate, self.noise, self.threshold,
        )  # fmt: skip
        draw_items, above = self._ready_items(values), lost_steps(values, grid)

        def search(draw: Draw) -> DiscoveredHistogram:
            items, published, noisy = draw_items(draw)
            order = _order_items(items, published, noisy)
            steps = noisy[order]
            steps.setflags(write=False)
            names = _pick_all(items, published[order])
            step = grid.resolution
            return DiscoveredHistogram.made(name, cost, names, False, steps, step, threshold, rate, noise, above)

        return search

    def _ready_items(self, values: Unlisted) -> Callable[[Draw], tuple[Sequence[Any], NDArray[np.intp], Samples]]:
        """Return the search: it draws, and gives items, where the published ones are, and their noisy values."""
        rate, noise, least = self.rate, self.noise, self._least
        if values.rows is not None:
            search_spark = self._spark_threshold(values).ready_items(values.rows)

            def draw_rows(draw: Draw) -> tuple[Sequence[Any], NDArray[np.intp], Samples]:
                rows, noisy = search_spark(draw)
                return rows, np.arange(len(rows)), noisy

            return draw_rows
        items, steps = self._steps(values, None)

        def draw_items(draw: Draw) -> tuple[Sequence[Any], NDArray[np.intp], Samples]:
            noisy = add_noise(noise, rate, steps, draw)
            published = np.flatnonzero(noisy >= least)
            return items, published, noisy[published]

        return draw_items

    def _spark_threshold(self, values: Unlisted) -> SparkThreshold:
        """Return the part of the release that runs in Spark's executors."""
        from lastbit.mechanisms.discover.spark import SparkThreshold

        factor = int(Fraction(values.resolution) / self.grid.resolution)
        return SparkThreshold(factor, self.rate, self.noise, self._least)

    def ready_spark(self, values: Any) -> Callable[[Draw], SparkHistogram]:
        """Make `release_spark` ready up to the draw, for a ledger that charges in between."""
        values = self._check_values(values)
        if values.rows is None:
            raise ParameterError(
                "values must be counted on a Spark table: got values of another engine. Use release. Nothing was drawn."
            )
        if "value" in map(str.lower, values.rows.frame.limit(0).selectExpr(*values.rows.typed).columns):
            raise ParameterError(
                "no column of the items may be called value, as that of the numbers is. Rename it in the table. "
                "Nothing was drawn."
            )
        digits = decimal_digits(self.grid.resolution)
        if self.rate.scale >= _WIDE:
            raise ParameterError(
                "the noise must be shorter than 2^50 steps for a column of Spark. Use a coarser resolution, or "
                "release. Nothing was drawn."
            )
        draw_frame = self._spark_threshold(values).ready_frame(values.rows, self.grid.resolution, digits)
        name, cost, resolution, threshold = self.name, self.cost, self.grid.resolution, self.threshold
        above = lost_steps(values, self.grid)

        def search(draw: Draw) -> SparkHistogram:
            frame = draw_frame(draw)
            return SparkHistogram.made(name, cost, frame, resolution, threshold, self.rate, self.noise, above)

        return search

    def release_spark(self, values: Any, *, draw: Draw | None = None) -> SparkHistogram:
        """Return the histogram as a Spark DataFrame, for more items than one machine holds: the same law as `release`.

        Items and their counts stay in Spark: the executors add the noise, and keep the items that are told. A secret
        that is drawn once for this release, the item and its value decide the noise of an item, under AES: a task that
        runs twice, or again after a machine is lost, gives the same numbers. This assumes that the table gives the same
        rows again. An item whose value is another one then has other noise. Write the numbers out with
        `found.frame.write`: what is written is not computed again.
        """
        return self.ready_spark(values)(resolve_draw(draw))

    def needed(self, level: Number = "0.95", margin: Number = 0) -> Fraction:
        """Return the value that an item needs to be told with at least this probability.

        Values that were floored lie higher by up to a `margin`, which `Unlisted` state: it is added.

        >>> DiscoverHistogram(epsilon=1, delta="1e-6", most_items=1).needed("0.95")
        Fraction(17, 1)
        """
        # Told where the noise is at least threshold - value: within twice the tail of both sides.
        tail = 2 * probability(level, "level") - 1
        steps = 0 if tail <= 0 else accuracy_of(self.noise, self.rate, tail)
        return self.threshold + steps * self.grid.resolution + number(margin, "margin")
