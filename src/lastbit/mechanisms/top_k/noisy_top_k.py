"""Noisy top-k with free gaps."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, Final

from lastbit.chance.draw import Draw
from lastbit.errors import ParameterError
from lastbit.estimate.accuracy import least_epsilon
from lastbit.exact.numbers import Number, number, whole
from lastbit.mechanisms.mechanism import resolve_draw
from lastbit.mechanisms.top_k.mechanism import Selection, SelectionMechanism, noise_bound, steps_in_one
from lastbit.values.known import check_sensitivity, lost_steps
from lastbit.values.spark_counts import SparkCounts

_FURTHEST: Final = 10**30


class TopK(Selection):
    """The k selected, best first: `indices`, `gaps`, and `items` when the values were Counts.

    >>> import lastbit as lb
    >>> counts = lb.Counts(items=["flu", "gout", "measles"], values=[900, 300, 3], monotone=True)
    >>> found = lb.NoisyTopK.of(counts, k=2, epsilon=1).release(counts)
    >>> found.items, found.indices, found.gaps[0] > 500
    (('flu', 'gout'), (0, 1), True)
    """


class TopItems(TopK):
    """The k items selected from a distributed table, best first. Rows there have no places: `indices` are ranks."""

    def columns(self) -> dict[str, Sequence[Any]]:
        """Return the selected items, and the gap from each to the next."""
        return {name: column for name, column in super().columns().items() if name != "index"}


@dataclass(frozen=True, kw_only=True)
class NoisyTopK(SelectionMechanism[TopK]):
    """Pick the k largest values, with the gap from each to the next, for the price of picking.

    Paper:    Ding et al., A Floating-Point Secure Implementation of the Report Noisy Max with Gap Mechanism,
              Algorithm 4, without its refinement loop: the fractions of a step need an order only.
    Law:      the k+1 largest of value + exponential noise of scale 2·k·sensitivity/epsilon, half that when monotone;
              values are floored to the resolution before, gaps after.
    Cost:     epsilon (or eta), for any number of candidates.
    Assumes:  one person moves each value by at most `sensitivity`; when monotone, all of them the same way. The
              candidates are public.
    Checked:  tests/laws/test_top_k.py, exactly: against the integral over continuous noise for n <= 4, against the
              paper's Algorithms 2 and 4, and the loss on all neighbours for n <= 3.
    Speed:    one word a candidate and two passes, while the scale of the noise is below 2^40 steps. The contenders, a
              few more than k of the highest, take one word more: how many there are depends on k and the cost alone,
              but for an event of probability below 2^-64. Where the noise is below a step, ties are likely, and
              everyone is a contender; so is everyone of up to 64 candidates.

    >>> import lastbit as lb
    >>> top = lb.NoisyTopK(k=2, epsilon=1, monotone=True).release([5000, 10, 9000, 20])
    >>> top.indices, len(top.gaps)
    ((2, 0), 2)
    >>> 3900 < top.gap_between(0, 1) < 4100
    True
    """

    def ready(self, values: Any) -> Callable[[Draw], TopK]:
        """Select k of the values: numbers, Counts, SparkCounts or a Statistic. There must be at least k."""
        if isinstance(values, SparkCounts):
            from lastbit.mechanisms.top_k import spark

            check_sensitivity(values, self._furthest, self.monotone)
            steps_in = partial(spark.scale_steps, factor=steps_in_one(values, self.grid))
            above = lost_steps(values, self.grid)
            return self._publish_items(spark.ready_selection(values.rows, steps_in, self._selector, above))
        pick, _ = self._ready_selection(values, TopK.made)
        return pick

    def mirror(self, values: Any) -> tuple[Any, Callable[[Any], Any]] | None:
        """Return the values in descending order, down to 0: candidates are alike, and only differences count."""
        return self._sort_candidates(values, TopK.made)

    def accuracy(self, n: int, level: Number = "0.95", margin: Number = 0) -> Fraction:
        """Return how far above a selected candidate one left out of n can be, at most, with at least this probability.

        That is for values on the grid, as counts are. Values that were floored lie higher by up to a `margin`, which
        Counts of sums state as `counts.margin`: it is added.

        >>> float(NoisyTopK(k=10, epsilon=1, monotone=True).accuracy(10_000, "0.95"))
        122.1
        """
        return noise_bound(self._selector.rate, whole(n, "n"), level) * self.grid.resolution + number(margin, "margin")

    @classmethod
    def for_accuracy(cls, accuracy: Number, n: int, level: Number = "0.95", **parameters: Any) -> NoisyTopK:
        """Return the mechanism with the least epsilon, to four significant
        digits, whose `accuracy(n, level)` is at most this.

        >>> NoisyTopK.for_accuracy(50, 10_000, k=10, monotone=True).epsilon
        Fraction(1221, 500)
        """
        target, n = number(accuracy, "accuracy"), whole(n, "n")
        model = cls(epsilon=1, **parameters)
        step = model.grid.resolution
        if target > _FURTHEST * step:
            raise ParameterError("accuracy must be at most 10^30 steps of the resolution. Ask for less.")
        if target < step:
            raise ParameterError(
                f"accuracy must be at least the resolution, {step}: got {accuracy}. Use a finer resolution."
            )
        # The noise is about this long at epsilon 1, and longer as epsilon falls.
        near = math.floor(math.log10(model.accuracy(n, level) / target))

        def meets(epsilon: Fraction) -> bool:
            return cls(epsilon=epsilon, **parameters).accuracy(n, level) <= target

        return cls(epsilon=least_epsilon(meets, 4, near), **parameters)

    def ready_spark(self, frame: Any, *, item: str = "item", value: str = "count") -> Callable[[Draw], TopItems]:
        """Make `release_spark` ready up to the draw, for a ledger that charges in between."""
        from lastbit.mechanisms.top_k import spark

        rows, whole_numbers = spark.read_candidates(frame, item, value)
        above = int(not (whole_numbers and self.grid.numerator == 1))
        return self._publish_items(spark.ready_selection(rows, self.grid.steps, self._selector, above))

    def _publish_items(self, select: Callable[[Draw], Any]) -> Callable[[Draw], TopItems]:
        """Return a selection in Spark as a release."""

        def publish(draw: Draw) -> TopItems:
            items, ahead, n, above = select(draw)
            places, resolution, rate = tuple(range(self.k)), self.grid.resolution, self._selector.rate
            return TopItems(self.name, self.cost, places, ahead, items, resolution, n, rate, above)

        return publish

    def release_spark(
        self, frame: Any, *, item: str = "item", value: str = "count", draw: Draw | None = None
    ) -> TopItems:
        """Select k rows of a Spark DataFrame with too many candidates for one machine: the same law as `release`.

        Each row is a candidate: a public `item`, different in every row, and a `value` that one person moves by at most
        `sensitivity`. The noise is drawn in the executors, from a secret of this release and the candidate, so that a
        task that runs again draws the same; back comes a shortlist of every task. Times with a zone are published in
        UTC. Workers need the driver's Python: set PYSPARK_PYTHON to it before Spark starts.
        """
        return self.ready_spark(frame, item=item, value=value)(resolve_draw(draw))
