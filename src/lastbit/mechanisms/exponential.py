"""The exponential mechanism: pick an outcome, the better ones exponentially likelier."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from lastbit.chance.descending import Descending
from lastbit.chance.draw import Draw
from lastbit.chance.powers import Exponents
from lastbit.errors import ParameterError
from lastbit.estimate.accuracy import least_exponent
from lastbit.exact.numbers import Number, flag, number, probability, whole
from lastbit.mechanisms.grid_mechanism import GridMechanism
from lastbit.mechanisms.mechanism import resolve_draw
from lastbit.privacy import zcdp
from lastbit.privacy.cost import Cost
from lastbit.privacy.rate import Rate
from lastbit.release import Release
from lastbit.values.between import Between
from lastbit.values.grid import LIMIT, Grid, Steps
from lastbit.values.known import unpack_values
from lastbit.values.raw import highest, is_plain
from lastbit.values.statistic import ends, parse_bounds


@dataclass(frozen=True, eq=False, repr=False)
class Choice(Release):
    """The outcome that was picked: its place in the list, and the outcome itself where it was passed.

    >>> print(ExponentialMechanism(epsilon=1).release([0, 1000], outcomes=["a", "b"]))
    A choice, epsilon 1
    index  outcome
        1        b
    """

    index: int
    outcome: Any = field(default=None, compare=False)

    def columns(self) -> dict[str, Sequence[Any]]:
        """Return the place, and the outcome where there is one."""
        return {"index": [self.index]} | ({} if self.outcome is None else {"outcome": [self.outcome]})

    def __index__(self) -> int:
        return self.index


@dataclass(frozen=True, eq=False, repr=False)
class Ranking(Release):
    """The outcomes that were picked, in the order in which they were: places, and outcomes where they were passed.

    >>> print(ExponentialMechanism(epsilon=1).ranking([0, 1000], 2, outcomes=["a", "b"]))
    A choice, epsilon 1
    rank  index  outcome
       1      1        b
       2      0        a
    """

    indices: tuple[int, ...]
    outcomes: tuple[Any, ...] | None = field(default=None, compare=False)

    def columns(self) -> dict[str, Sequence[Any]]:
        """Return rank, place, and the outcomes where there are any."""
        table: dict[str, Sequence[Any]] = {"rank": range(1, len(self.indices) + 1), "index": self.indices}
        return table | ({} if self.outcomes is None else {"outcome": self.outcomes})


@dataclass(frozen=True, kw_only=True)
class ExponentialMechanism(GridMechanism[Choice]):
    """Pick one of many outcomes, by scores: the higher, the likelier.

    Paper:    Ilvento, Algorithm 3 and Mechanism 4, in print wrong at Mechanism 4, Algorithm 2 and Algorithm 4.
    Law:      P(i) proportional to r^-s(i), s in grid steps; r is just above e^(-cost/(2·steps of sensitivity)).
              "floor" takes off-grid scores down to the grid; "randomized" takes them up with probability equal
              to the part of a step they are above it, each on its own.
    Cost:     epsilon or eta for one call, whichever method is called and however the scores are rounded; rho is
              epsilon²/8 where scores are floored (bounded range), epsilon·tanh(epsilon/2) where they are randomized.
              Asked in rho, the k picks of a ranking take a k-th of it each: their scale grows with the root of k, not
              with k. Where one person moves all scores the same way (monotone) the exponent is twice as large for the
              same cost.
    Assumes:  every score moves by at most `sensitivity`; the outcomes are public, and so is how many there are.
    Checked:  tests/laws/test_exponential.py, exactly, n <= 101.
    Speed:    one word and two passes over the scores; their range does not matter. "randomized" takes a word for
              each score.

    >>> mechanism = ExponentialMechanism(epsilon=1)
    >>> mechanism.release([3, 100, 5], outcomes=["tea", "coffee", "milk"]).outcome
    'coffee'
    """

    monotone: bool = False
    bounds: tuple[Number, Number] | None = None
    rounding: Literal["floor", "randomized"] = "floor"
    rate: Rate = field(init=False, repr=False, compare=False)
    _lowest: int = field(init=False, repr=False, compare=False)
    """The lower bound in grid steps."""
    _highest: int = field(init=False, repr=False, compare=False)
    """The upper bound in grid steps."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._derive(monotone=flag(self.monotone, "monotone"))
        if self.rounding not in ("floor", "randomized"):
            raise ParameterError(f"rounding must be 'floor' or 'randomized': got {self.rounding!r}.")
        lowest, highest = -LIMIT, LIMIT
        if self.bounds is not None:
            lowest, highest = ends(self.bounds, self.grid)
            if max(-lowest, highest) > LIMIT:
                raise ParameterError(f"bounds must rise within ±2^61 steps: got {' and '.join(map(str, self.bounds))}.")
            self._derive(bounds=parse_bounds(self.bounds))
        self._derive(rate=self._rate(1), _lowest=lowest, _highest=highest)

    def _set_cost(self) -> None:
        super()._set_cost()
        if self.rho is not None:
            # The picks of a ranking share the rho, so that more of them have a larger epsilon together.
            self._derive(cost=Cost.zcdp(self.rho))
        elif self.rounding == "floor" and (epsilon := self.cost.amount) is not None:
            self._derive(cost=replace(self.cost, stated_rho=zcdp.range_rho(epsilon)))

    def _rate(self, picks: int) -> Rate:
        apart = (1 if self.monotone else 2) * self._reach
        if self.rho is None:
            return self.cost.rate(Fraction(1, apart * picks))
        pick_rho = self.cost.rho / picks
        epsilon = zcdp.range_epsilon_for(pick_rho) if self.rounding == "floor" else zcdp.epsilon_for(pick_rho)
        return Rate.from_epsilon(epsilon / apart)

    def ready(self, values: Any, *, outcomes: Iterable[Any] | None = None) -> Callable[[Draw], Choice]:
        """Return the place of the picked score; the outcome there too,
        where outcomes are passed or the scores are Counts.
        """
        scores, labels, _ = self._unpack_scores(values, outcomes)
        exponents = self._exponents(scores)

        def draw_choice(draw: Draw) -> Choice:
            index = draw.power_index(self.rate, exponents(draw))
            return Choice.made(self.name, self.cost, index, None if labels is None else labels[index])

        return draw_choice

    def choose(self, outcomes: Iterable[Any], utility: Callable[[Any], Any], draw: Draw | None = None) -> Choice:
        """Return one of a public list of outcomes, scored by a function that
        may look at the data. It is called on every one.

        Let it return None, the lowest score, where it has none to give: what it raises comes out, and may tell of the
        data.

        >>> ExponentialMechanism(epsilon=1).choose(["a", "b"], lambda outcome: 200 if outcome == "b" else 0).outcome
        'b'
        """
        return self.ready_choice(outcomes, utility)(resolve_draw(draw))

    def ready_choice(self, outcomes: Iterable[Any], utility: Callable[[Any], Any]) -> Callable[[Draw], Choice]:
        """Make `choose` ready up to the draw, for a ledger that charges in between."""
        choices = list(outcomes)
        return self.ready([utility(outcome) for outcome in choices], outcomes=choices)

    def ranking(
        self, scores: Any, k: int, draw: Draw | None = None, *, outcomes: Iterable[Any] | None = None
    ) -> Ranking:
        """Return k different outcomes, best first: pick one, take it out of the list, pick the next.

        The whole ranking costs `cost`: each pick is drawn at a k-th of it, of the epsilon, or of the rho where the
        mechanism was built with rho. `largest_rho(epsilon, delta)` is the rho to ask for where the whole ranking may
        cost (epsilon, delta). Off-grid scores are rounded once.

        >>> ExponentialMechanism(epsilon=1).ranking([0, 1000, 500], 2).indices
        (1, 2)
        """
        return self.ready_ranking(scores, k, outcomes=outcomes)(resolve_draw(draw))

    def ready_ranking(self, scores: Any, k: int, *, outcomes: Iterable[Any] | None = None) -> Callable[[Draw], Ranking]:
        """Make `ranking` ready up to the draw, for a ledger that charges in between."""
        scores, labels, n = self._unpack_scores(scores, outcomes)
        k = whole(k, "k")
        if k > n:
            raise ParameterError(f"k must be at most the number of scores: got {k} of {n}. Nothing was drawn.")
        rate, draw_exponents = self._rate(k), self._exponents(scores)

        def draw_ranking(draw: Draw) -> Ranking:
            exponents, places = draw_exponents(draw)[0:n], np.arange(n)
            picks: list[int] = []
            for _ in range(k):
                index = draw.power_index(rate, exponents)
                picks.append(int(places[index]))
                exponents, places = np.delete(exponents, index), np.delete(places, index)
            names = None if labels is None else tuple(labels[i] for i in picks)
            return Ranking(self.name, self.cost, tuple(picks), names)

        return draw_ranking

    @classmethod
    def for_ranking(cls, k: int, *, epsilon: Number, delta: Number, **parameters: Any) -> ExponentialMechanism:
        """Return the mechanism whose ranking of k costs at most (epsilon, delta), with the least noise.

        That is epsilon itself for a few picks, and the rho that (epsilon, delta) buys for more.

        >>> ExponentialMechanism.for_ranking(2, epsilon=1, delta="1e-6").cost.text
        'epsilon 1'
        >>> ExponentialMechanism.for_ranking(50, epsilon=1, delta="1e-6").cost.text
        'rho 0.02435598'
        """
        k = whole(k, "k")
        pure = cls(epsilon=epsilon, **parameters)
        composed = cls(rho=zcdp.largest_rho(epsilon, delta), **parameters)
        return min(pure, composed, key=lambda mechanism: mechanism._rate(k).fraction)

    def accuracy(self, n: int, level: Number = "0.95", *, k: int = 1, margin: Number = 0) -> Fraction:
        """Return how far above a picked outcome one left out of n can be, at most, with at least this probability.

        `k` is the number of picks of a ranking. A pick is m steps or more below the best that is left with a
        probability of at most n·r^m. That is for scores on the grid. Scores that were floored lie higher by up to a
        `margin`, which Counts of sums state as `counts.margin`: it is added.

        >>> pure, composed = ExponentialMechanism(epsilon=1), ExponentialMechanism(rho="0.0243")
        >>> int(pure.accuracy(1000, k=50)), int(composed.accuracy(1000, k=50))
        (1382, 444)
        """
        n, k = whole(n, "n"), whole(k, "k")
        apart = (1 - probability(level, "level")) / (n * k)
        return least_exponent(self._rate(k), apart) * self.grid.resolution + number(margin, "margin")

    def neighbours(self, values: Sequence[Number]) -> Iterator[tuple[Fraction, ...]]:
        """Yield every other vector that one person could have turned these values into, on the grid.

        Where rounding is randomized, every one half a step apart, from the values as they are.
        """
        if self.rounding == "floor":
            yield from super().neighbours(values)
            return
        steps = self.grid.steps(values).tolist()
        parts = [self.grid.beyond(value, step) for value, step in zip(values, steps, strict=True)]
        finer = replace(self, resolution=self.grid.resolution / 2, bounds=None, rounding="floor")
        for move in finer.neighbours([0] * len(steps)):
            rows = zip(steps, parts, move, strict=True)
            yield tuple((step + part) * self.grid.resolution + by for step, part, by in rows)

    def _unpack_scores(self, scores: Any, outcomes: Iterable[Any] | None) -> tuple[Any, Sequence[Any] | None, int]:
        """Return the bare scores, the outcomes by their places, and how many there are, which is public."""
        numbers, items = unpack_values(scores, self._furthest, self.monotone)
        try:
            n = numbers.size if isinstance(numbers, np.ndarray) else len(numbers)
        except TypeError:
            raise ParameterError(f"scores must be an array or a sequence: got {type(scores).__name__}.") from None
        if n == 0:
            raise ParameterError("scores must have at least one value: got none. Nothing was drawn.")
        labels = items if outcomes is None else outcomes if isinstance(outcomes, list | range) else tuple(outcomes)
        if labels is not None and len(labels) != n:
            raise ParameterError(f"outcomes must be as many as scores: got {len(labels)} and {n}. Nothing was drawn.")
        return numbers, labels, n

    def _exponents(self, scores: Any) -> Callable[[Draw], Exponents]:
        """Return the exponents of these scores, which take chance only where rounding is randomized."""
        if self.rounding == "randomized":
            return self._round_at_random(scores)
        if is_plain(scores):
            flat, lowest, highest = scores.ravel(), self._lowest, self._highest
            scaling = self.grid.scaling(flat)
            exponents: Exponents = (
                _Exponents(self.grid, flat, lowest, highest)
                if scaling is None
                else Descending(flat, scaling[0], scaling[1], lowest, highest, LIMIT)
            )
            return lambda _: exponents
        steps = _to_exponents(self.grid.steps(scores), self._lowest, self._highest)
        return lambda _: steps

    def _round_at_random(self, scores: Any) -> Callable[[Draw], Steps]:
        between = Between.of(self.grid, scores, self._lowest, self._highest)

        def round_scores(draw: Draw) -> Steps:
            # A word is drawn whatever the score is. What is above the upper bound then is clamped with the rest.
            return _to_exponents(between.steps + draw.rises(between), self._lowest, self._highest)

        return round_scores


@dataclass(frozen=True, eq=False)
class _Exponents:
    """The exponents that an array of scores stands for, made when a slice of them is asked for.

    To make them twice, a chunk that stays in the caches at a time, is quicker than to keep them all.
    """

    grid: Grid
    scores: NDArray[Any]
    lowest: int
    highest: int
    dtype: ClassVar = np.dtype(np.int64)

    def __len__(self) -> int:
        return len(self.scores)

    def __getitem__(self, part: slice) -> Steps:
        return self._of(self.scores[part])

    def min(self) -> int:
        """Return the exponent of the highest score, which is the lowest."""
        # Scaling, rounding and clamping keep the order.
        return int(self._of(highest(self.scores))[0])

    def _of(self, scores: NDArray[Any]) -> Steps:
        return _to_exponents(self.grid.steps(scores), self.lowest, self.highest)


def _to_exponents(steps: Steps, lowest: int, highest: int) -> Steps:
    """Return scores as exponents, in place: the highest score has the lowest one."""
    if (lowest, highest) != (-LIMIT, LIMIT):
        np.clip(steps, lowest, highest, out=steps)
    return np.subtract(LIMIT, steps, out=steps)
