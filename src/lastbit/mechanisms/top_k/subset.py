"""The k largest as a set: which they are, without an order among them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Final

from lastbit.chance.draw import Draw
from lastbit.errors import ParameterError
from lastbit.estimate.accuracy import least_epsilon, least_exponent
from lastbit.exact.numbers import Number, flag, number, probability, shorten, whole
from lastbit.mechanisms.grid_mechanism import GridMechanism
from lastbit.mechanisms.mechanism import resolve_draw
from lastbit.mechanisms.top_k.mechanism import check_enough, steps_in_one
from lastbit.mechanisms.top_k.set_selector import Form, SetSelector
from lastbit.privacy import zcdp
from lastbit.privacy.rate import Rate
from lastbit.release import Release
from lastbit.values.known import check_sensitivity, unpack_values
from lastbit.values.spark_counts import SparkCounts

_FURTHEST: Final = 10**30
MOST_ITEMS: Final = 10**7
"""No set is larger."""
_MOST_BITS: Final = 20_000
"""Longer numbers of sets are bounded, and not written down."""
_BLOCK: Final = 64


@dataclass(frozen=True, eq=False, repr=False)
class TopSet(Release):
    """The k selected, in the public order of the candidates: `indices`, and `items` when the values were Counts.

    >>> import lastbit as lb
    >>> counts = lb.Counts(items=["flu", "gout", "measles"], values=[300, 900, 3], monotone=True)
    >>> found = lb.SubsetTopK.of(counts, k=2, epsilon=1).release(counts)
    >>> found.items, found.indices
    (('flu', 'gout'), (0, 1))
    """

    indices: tuple[int, ...]
    """The selected as positions among the candidates, rising: the order says nothing about the counts."""
    items: tuple[Any, ...] | None
    """The selected items, when the values were Counts."""
    candidates: int = field(compare=False)
    """The number of candidates."""

    def columns(self) -> dict[str, Sequence[Any]]:
        """Return the places of the selected candidates."""
        items: dict[str, Sequence[Any]] = {} if self.items is None else {"item": self.items}
        return {**items, "index": self.indices}


class TopSetItems(TopSet):
    """The k items selected from a distributed table, in their public order. Rows there have no places."""

    def columns(self) -> dict[str, Sequence[Any]]:
        """Return the selected items."""
        return {"item": self.items or ()}


@dataclass(frozen=True, kw_only=True)
class SubsetTopK(GridMechanism[TopSet]):
    """Pick the k largest values as a set: no order among them, and no gaps, but far more of the right ones for large k.

    `form="both"` weighs a set by the best value left out and by the worst value taken. `form="left-out"` weighs it by
    the best value left out alone, for half of the cost: it finds more where values are small, and fills up the places
    that are left with random candidates.

    Paper:    Shekelyan and Loukides, Differentially Private Top-k Selection via Canonical Lipschitz Mechanism, 2022,
              without the maximum with 0: it costs the same, and finds more.
    Law:      P(S) proportional to r^(c_out - c_in) ("both") or r^c_out ("left-out"), c_out the best value left out and
              c_in the worst one taken, in steps. For k = 1 and k = n - 1 the exponential mechanism's, in both forms.
    Cost:     epsilon (or eta), with 2·reach·ln(1/r) for "both" and reach·ln(1/r) for "left-out", k = 1 and k = n - 1,
              where reach is the sensitivity in steps; twice that where values are not monotone. rho is epsilon²/8 for
              the whole set (bounded range).
    Assumes:  one person moves each value by at most `sensitivity`; when monotone, all of them the same way. The
              candidates are public, with their order and their number.
    Checked:  tests/laws/test_subset.py, exactly: against the definition for all small counts with n <= 5, and the loss
              on all neighbours.
    Speed:    one sort, and a few nanoseconds for each pair of a distinct value among the k largest and one among the
              rest. 2·k + 2 words, whatever is selected. The time tells how many distinct values there are.

    >>> import lastbit as lb
    >>> lb.SubsetTopK(k=2, epsilon=1, monotone=True).release([5000, 10, 9000, 20]).indices
    (0, 2)
    """

    k: int
    monotone: bool = False
    form: Form = "both"
    _selector: SetSelector = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._derive(monotone=flag(self.monotone, "monotone"), k=whole(self.k, "k"))
        if self.k > MOST_ITEMS:
            raise ParameterError(
                f"k must be at most {MOST_ITEMS:,}, as a set reads 2k random words: got {shorten(Fraction(self.k))}."
            )
        selector = SetSelector.of(self.k, self.form, self.cost, Fraction(1), self._reach, self.monotone)
        self._derive(_selector=selector)

    def _set_cost(self) -> None:
        super()._set_cost()
        if self.rho is not None:
            self._derive(cost=replace(self.cost, epsilon=zcdp.range_epsilon_for(Fraction(self.rho))))
        elif (epsilon := self.cost.amount) is not None:
            self._derive(cost=replace(self.cost, stated_rho=zcdp.range_rho(epsilon)))

    def ready(self, values: Any) -> Callable[[Draw], TopSet]:
        """Select k of the values: numbers, Counts, SparkCounts or a Statistic. There must be at least k."""
        if isinstance(values, SparkCounts):
            from lastbit.mechanisms.top_k import spark_set

            check_sensitivity(values, self._furthest, self.monotone)
            factor = steps_in_one(values, self.grid)
            return self._publish_items(spark_set.ready_set_selection(values.rows, factor, self._selector))
        numbers, items = unpack_values(values, self._furthest, self.monotone)
        steps = self.grid.steps(numbers)
        n = len(steps)
        check_enough(self.k, n)
        name, cost, selector = self.name, self.cost, self._selector

        def select(draw: Draw) -> TopSet:
            indices = selector.select(steps, draw)
            names = None if items is None else tuple([items[index] for index in indices])
            return TopSet.made(name, cost, indices, names, n)

        return select

    def ready_spark(self, frame: Any, *, item: str = "item", value: str = "count") -> Callable[[Draw], TopSetItems]:
        """Make `release_spark` ready up to the draw, for a ledger that charges in between."""
        from lastbit.mechanisms.top_k import spark, spark_set

        rows, whole_numbers = spark.read_candidates(frame, item, value)
        if not whole_numbers or self.grid.numerator != 1:
            raise ParameterError(
                f"values must be whole numbers, and the resolution 1 or 1/q: the column {value!r} or the resolution is "
                "not. Cast the column to bigint, or count in units of the resolution. Nothing was drawn."
            )
        return self._publish_items(
            spark_set.ready_set_selection(spark_set.fill_nulls(rows), self.grid.denominator, self._selector)
        )

    def release_spark(
        self, frame: Any, *, item: str = "item", value: str = "count", draw: Draw | None = None
    ) -> TopSetItems:
        """Select k rows of a Spark DataFrame with too many candidates for one machine: the same law as `release`.

        Each row is a candidate: a public `item`, different in every row, and a whole `value` that one person moves by
        at most `sensitivity`. Two jobs run: one fetches the distinct values and how many rows have each, the other the
        selected items.
        """
        return self.ready_spark(frame, item=item, value=value)(resolve_draw(draw))

    def _publish_items(self, select: Callable[[Draw], tuple[tuple[Any, ...], int]]) -> Callable[[Draw], TopSetItems]:
        """Return a selection in Spark as a release."""

        def publish(draw: Draw) -> TopSetItems:
            items, n = select(draw)
            return TopSetItems(self.name, self.cost, tuple(range(self.k)), items, n)

        return publish

    def accuracy(self, n: int, level: Number = "0.95", margin: Number = 0) -> Fraction:
        """Return how far above a selected candidate one left out of n can be, at most, with at least this probability.

        With `form="left-out"` it is how far one left out can be above the (k+1)-th largest of all. This bound holds for
        all values on the grid, as counts are. Values that were floored lie higher by up to a `margin`, which Counts of
        sums state as `counts.margin`: it is added.

        >>> float(SubsetTopK(k=10, epsilon=1, monotone=True).accuracy(10_000))
        159.0
        >>> float(SubsetTopK(k=10, epsilon=1, monotone=True, form="left-out").accuracy(10_000))
        79.0
        """
        n, level = self._parse_size(n, level)
        reach = steps_behind(self._selector.rate(n), n, self.k, level)
        return reach * self.grid.resolution + number(margin, "margin")

    def lead(self, n: int, level: Number = "0.95", margin: Number = 0) -> Fraction:
        """Return how far the k-th largest of n values must lie above the next, for the set to be exactly the k largest.

        That is with at least this probability, for all values. The lead is exact: with a step less there are values
        for which the probability is smaller. Where the values left out are 0, it is the count that the k-th item needs.
        A `margin` of values that were floored is added.

        >>> float(SubsetTopK(k=10, epsilon=1, monotone=True).lead(10_000))
        80.0
        """
        n, level = self._parse_size(n, level)
        weighs = sum(self._selector.weighs(n))
        return steps_ahead(self._selector.rate(n), n, self.k, level, weighs) * self.grid.resolution + number(
            margin, "margin"
        )

    def _parse_size(self, n: int, level: Number) -> tuple[int, Fraction]:
        n = whole(n, "n")
        if n < self.k:
            raise ParameterError(f"n must be at least k: got {n} and k={self.k}. It is the number of candidates.")
        return n, probability(level, "level")

    @classmethod
    def for_accuracy(cls, accuracy: Number, n: int, level: Number = "0.95", **parameters: Any) -> SubsetTopK:
        """Return the mechanism with the least epsilon, to four significant
        digits, whose `accuracy(n, level)` is at most this.

        >>> SubsetTopK.for_accuracy(50, 10_000, k=10, monotone=True).epsilon
        Fraction(627, 200)
        """
        target, n = number(accuracy, "accuracy"), whole(n, "n")
        model = cls(epsilon=1, **parameters)
        step = model.grid.resolution
        if not step <= target <= _FURTHEST * step:
            raise ParameterError(
                f"accuracy must be at least the resolution, {step}, and at most 10^30 times that: got {accuracy}."
            )
        near = math.floor(math.log10(max(model.accuracy(n, level), step) / target))

        def meets(epsilon: Fraction) -> bool:
            return cls(epsilon=epsilon, **parameters).accuracy(n, level) <= target

        return cls(epsilon=least_epsilon(meets, 4, near), **parameters)


def steps_behind(rate: Rate, n: int, k: int, level: Fraction) -> int:
    """Return the least x such that a selected set is at most x steps from the best one with at least this probability.

    The best set weighs 1 at least. The sets that are more than x steps from it are C(n, k) - 1 at most, and weigh
    r^(x+1) at most each. So their probability is at most W/(1 + W) for W = (C(n, k) - 1)·r^(x+1).

    >>> steps_behind(Rate(1, 1), 4, 2, Fraction(1, 2)), steps_behind(Rate(1, 1), 4, 4, Fraction(1, 2))
    (2, 0)
    """
    return max(0, _least(rate, n, k, level) - 1)


def steps_ahead(rate: Rate, n: int, k: int, level: Fraction, counts: int) -> int:
    """Return the least lead of the k-th largest count over the next, in
    steps, with which the k largest are surely the set.

    Surely is with at least this probability, for all data; `counts` is how many counts weigh, one or both. With a lead
    of g the k largest weigh r^(-counts·g) times what any other set weighs, or more: just so much where the k largest
    are equal, and so are the others. So this lead is exact: with one step less there are data that fail.

    >>> steps_ahead(Rate(1, 1), 4, 2, Fraction(1, 2), 2), steps_ahead(Rate(1, 1), 4, 2, Fraction(1, 2), 1)
    (2, 3)
    """
    return -(-_least(rate, n, k, level) // counts)


def _least(rate: Rate, n: int, k: int, level: Fraction) -> int:
    """Return the least m with (C(n, k) - 1)·r^m <= (1 - level)/level;
    where C(n, k) is too long to write down, no less.
    """
    few, odds = min(k, n - k), (1 - level) / level
    # C(n, k) <= (e·n/k)^k, and e < 2^1.45. The whole part of a logarithm and 1 are no less than the logarithm.
    bits = -(-few * (145 + 100 * (n // max(few, 1)).bit_length()) // 100)
    if bits > _MOST_BITS:
        blocks = -(-bits // _BLOCK)
        return blocks * least_exponent(rate, Fraction(1, 1 << _BLOCK)) + least_exponent(rate, odds)
    others = math.comb(n, k) - 1
    return least_exponent(rate, odds / others) if others else 0
