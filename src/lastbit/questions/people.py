"""Answers about all people, where a person counts in a few items only: the parts of the release, and what they say.

Before the numbers of the items, a share of the cost measures the spread: how many people have how many items. So the
answer knows how many people the bound leaves out of an item, and its intervals are for all people.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import ceil, floor
from typing import TYPE_CHECKING, Any, Final

from lastbit.errors import ParameterError
from lastbit.estimate.people import PeopleBounds, SpreadClass, noise_of_sum, spread_classes
from lastbit.exact.numbers import number, probability
from lastbit.mechanisms.mechanism import Mechanism
from lastbit.mechanisms.parts import LaterPart, LaterValues, Parts, PartsRelease
from lastbit.output.words import Words
from lastbit.questions.report import format_percent
from lastbit.questions.whole_number_types import MOST_AUTOMATIC

if TYPE_CHECKING:
    from lastbit.mechanisms.gaussian import DiscreteGaussian
    from lastbit.mechanisms.laplace import DiscreteLaplace
    from lastbit.questions.item_options import ItemOptions
    from lastbit.release import Interval, Release

BOUND: Final = "bound"
SPREAD: Final = "spread"
CLAMPED: Final = "clamped"
ANSWER: Final = "answer"

_HIGHEST: Final = 1000
"""An automatic bound is at most this, where nobody listed the items or typed another number."""

_COVERED: Final = "0.95"
"""An automatic bound leaves everything of about this share of people in."""

Build = Callable[[int, Mapping[str, Any]], Mechanism[Any]]
"""Returns the mechanism of the answer, where a person counts in so many items, at this cost."""
Noise = Callable[[int, Mapping[str, Any]], "DiscreteLaplace | DiscreteGaussian"]
"""The same, where the answer is numbers with noise."""


def share_of(cost: Mapping[str, Any], share: Fraction) -> dict[str, Fraction]:
    """Return a share of a cost, exactly.

    >>> share_of({"epsilon": "1/2"}, Fraction(1, 10))
    {'epsilon': Fraction(1, 20)}
    """
    return {name: number(amount, name) * share for name, amount in cost.items()}


def choose_noise(
    cost: Mapping[str, Any], *, sensitivity: Fraction | int = 1, most: Fraction | int = 1, resolution: Any = 1
) -> DiscreteLaplace | DiscreteGaussian:
    """Return the noise of numbers of which one person moves so many, each by at most this; or all together by as much.

    >>> choose_noise({"epsilon": 1}, most=3).sensitivity
    Fraction(3, 1)
    >>> choose_noise({"rho": 1}, sensitivity=2, most=3).squared_sensitivity
    Fraction(12, 1)
    """
    import lastbit as lb

    if "rho" in cost:
        return lb.DiscreteGaussian(**cost, squared_sensitivity=sensitivity * sensitivity * most, resolution=resolution)
    return lb.DiscreteLaplace(**cost, sensitivity=sensitivity * most, resolution=resolution)


@dataclass(frozen=True)
class PeopleParts:
    """What is measured beside an answer, so that it can be read as one about all people.

    A bound leaves people out of items, and clamping changes people's numbers. The share of the cost says of how many.
    """

    most: int | None = None
    """In how many items a person counts; None for all, and where the bound is automatic."""
    size: int | None = None
    """How many items there are; None where nobody listed them."""
    share: Fraction = Fraction(1, 10)
    """The share of the cost for all that is measured about people, and as much again for an automatic bound."""
    auto: bool = False
    """Whether a share of the cost finds the bound."""
    clamped: bool = False
    """Whether numbers are clamped to bounds."""
    by_class: bool = False
    """Whether the spread tells people with more items apart by how many they have: for counts of listed items."""
    limit: int | None = None
    """The largest automatic bound, as it was typed."""

    @classmethod
    def of(
        cls, items: ItemOptions, size: int | None, share: object, *, clamped: bool = False, by_class: bool = False
    ) -> PeopleParts:
        """Return what the options ask for."""
        exact = parse_share(share)
        if items.each_in_one:
            return cls(size=1, share=exact, clamped=clamped)
        if items.auto and exact == 0:
            raise ParameterError("--most-items auto needs a --people-share above 0: it pays for the bound.")
        most = items.most_items
        if size is not None and (size == 1 or (most is not None and most >= size)):
            return cls(size=size, share=exact, clamped=clamped)
        return cls(most, size, exact, items.auto, clamped, by_class, items.highest)

    @property
    def is_bounded(self) -> bool:
        """Whether a person may count in fewer items than they have."""
        return self.auto or self.most is not None

    @property
    def highest(self) -> int:
        """The largest bound that may be: as it is typed, or what an automatic one may come out as."""
        if self.auto:
            return min(self.limit or self.size or _HIGHEST, self.size or MOST_AUTOMATIC)
        return self.most or self.size or 1

    @property
    def measured(self) -> tuple[str, ...]:
        """The parts before the answer."""
        if self.share == 0:
            return ()
        wanted = {BOUND: self.auto, SPREAD: self.is_bounded, CLAMPED: self.clamped}
        return tuple(name for name, needed in wanted.items() if needed)

    def costs(self, cost: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """Return the cost of every part: that of the answer is what is left."""
        sides = [name for name in self.measured if name != BOUND]
        shares = {name: self.share / (1 if name == BOUND else len(sides)) for name in self.measured}
        shares[ANSWER] = 1 - sum(shares.values(), Fraction(0))
        return {name: share_of(cost, share) for name, share in shares.items()}

    def main_cost(self, cost: Mapping[str, Any]) -> dict[str, Any]:
        """Return what is left of a cost for the answer."""
        return self.costs(cost)[ANSWER]

    def bound(self, published: Mapping[str, Release] | PartsRelease) -> int:
        """Return the bound, as it was typed or as it is published."""
        return int(published[BOUND].value) if self.auto else self.most or 1  # type: ignore[union-attr]

    def classes(self, most: int) -> tuple[SpreadClass, ...]:
        """Return the classes of the spread: those whom the bound leaves whole come first."""
        return spread_classes(most, self.size) if self.by_class else ((1, most), (most + 1, None))

    def mechanism(self, cost: Mapping[str, Any], build: Build, delta: object = 0) -> Mechanism[Any]:
        """Return the mechanism of all parts: `build` makes that of the answer, for a bound and a cost.

        An answer may use less of its delta than the `delta` that it is built with, by an amount that its bound decides.
        """
        costs = self.costs(cost)
        main: Mechanism[Any] | LaterPart
        if self.auto:
            typical = build(1, costs[ANSWER])
            facts = {**typical.parameters, "most_items": f"the published bound, up to {self.highest}"}
            stated = replace(typical.cost, delta=max(number(delta, "--delta"), typical.cost.delta))
            main = LaterPart(typical.name, stated, facts, lambda published: build(self.bound(published), costs[ANSWER]))
        else:
            main = build(self.highest, costs[ANSWER])
            if not self.measured:
                return main
        parts: dict[str, Mechanism[Any] | LaterPart] = {}
        for name in self.measured:
            parts[name] = find_bound(self.highest, costs[name]) if name == BOUND else choose_noise(costs[name])
        return Parts(parts={**parts, ANSWER: main})

    def values(self, ranked: Any, main: Callable[[int], Any] | None = None) -> Any:
        """Return the private values of each part.

        `ranked` has numbers by the rank in each person's lot; `main` makes the values of the answer for a bound.
        """
        bounded = ranked.keep_first if main is None else main
        if not self.auto:
            answer = bounded(self.highest)
            if not self.measured:
                return answer
        else:
            answer = LaterValues(lambda published: bounded(self.bound(published)))
        values: dict[str, Any] = {
            BOUND: lambda: ranked.items_per_person,
            SPREAD: lambda: (
                LaterValues(lambda published: ranked.spread(self.classes(self.bound(published))))
                if self.auto
                else ranked.spread(self.classes(self.most or 1))
            ),
            CLAMPED: lambda: ranked.clamped_people,
        }
        return {**{name: values[name]() for name in self.measured}, ANSWER: answer}

    def read(self, release: Any, level: object) -> PeopleReading:
        """Return what the published parts say about people."""
        return PeopleReading(self, release, probability(level, "level"))


def parse_share(share: object) -> Fraction:
    """Return the share of the cost that is measured about people, or refuse it.

    >>> parse_share("1/10")
    Fraction(1, 10)
    """
    exact = number(share, "--people-share")
    if not 0 <= exact <= Fraction(1, 4):
        raise ParameterError(f"--people-share must be from 0 to 1/4, a share of the cost: got {share}. 1/10 is usual.")
    return exact


def find_bound(top: int, cost: Mapping[str, Any]) -> Mechanism[Any]:
    """Return the mechanism of an automatic bound: a quantile of the number of items that a person has.

    On a log scale, because most people have few items: then a few people do not make the bound as large as it can be.
    """
    import lastbit as lb

    return lb.Quantile(q=_COVERED, bounds=(1, top), scale="log", **cost)


@dataclass(frozen=True)
class PeopleReading:
    """What a published spread says about people, at a level.

    The noise of a number may fail in half of the cases that the level allows, the spread in a quarter, and the lot in
    an eighth on each side.
    """

    parts: PeopleParts
    release: Any
    level: Fraction

    @property
    def _alpha(self) -> Fraction:
        return 1 - self.level

    @property
    def main(self) -> Any:
        """The answer itself."""
        return self.release.main if isinstance(self.release, PartsRelease) else self.release

    @property
    def knows_cut(self) -> bool:
        """Whether the spread was measured."""
        return SPREAD in self.parts.measured

    @property
    def most(self) -> int:
        """In how many items a person counts."""
        return self.parts.bound(self.release)

    @cached_property
    def bounds(self) -> PeopleBounds:
        """Upper bounds of the spread, which hold together: of each class, and of all who have more than count.

        The noises of many classes add up to less than the furthest that each may go.
        """
        classes, spread = self.parts.classes(self.most), self.release[SPREAD]
        beyond = [int(step) for step in spread.steps[1:]]
        several = len(beyond) > 1
        reach = noise_of_sum(spread.noise, spread.rate, 1, self._alpha / (8 if several else 4) / len(classes))
        counts = tuple(max(0, int(step) + reach) for step in spread.steps)
        if not several:
            return PeopleBounds(self.most, classes, counts)
        together = noise_of_sum(spread.noise, spread.rate, len(beyond), self._alpha / 8)
        return PeopleBounds(self.most, classes, counts, max(0, sum(beyond) + together))

    @property
    def counted_level(self) -> Fraction:
        """The level of the intervals of the people counted, on which those of all people stand."""
        return 1 - self._alpha / 2

    def interval(self, counted: Interval, *, selected: int | None = 1) -> Interval:
        """Return the interval of all people, from that of those counted at `counted_level`.

        An item that was selected among so many by its count takes an interval that holds for all of them; None where
        nobody knows among how many.
        """
        alpha = None if selected is None else self._alpha / 8 / selected
        low, high = counted
        lowest = 0 if low is None else self.bounds.lower(ceil(low), alpha)
        highest = None if high is None else self.bounds.upper(floor(high), alpha)
        return Fraction(lowest), None if highest is None else Fraction(max(lowest, highest))

    def highest(self, counted: int) -> int:
        """Return the most people of whom so many are counted, or fewer: where nobody asks for the fewest people.

        Then the lot may fail in a quarter of the cases that the level allows.
        """
        return self.bounds.upper(counted, self._alpha / 4)

    def most_missing(self, fewest: int, most: int) -> int:
        """Return how many people an item has at most that are not counted there, where so few or so many are."""
        return max(0, min(self.bounds.cut, self.highest(most) - fewest))

    @cached_property
    def cut(self) -> tuple[int, int, int]:
        """How many people have more items than they count in: the number as drawn, and its interval."""
        spread = self.release[SPREAD]
        beyond = [int(step) for step in spread.steps[1:]]
        if not beyond:
            return 0, 0, 0
        reach = noise_of_sum(spread.noise, spread.rate, len(beyond), self._alpha / 2)
        total = sum(beyond)
        return total, max(0, total - reach), max(0, total + reach)

    @cached_property
    def clamped_ends(self) -> dict[str, tuple[int, int, int]]:
        """How many people have a number below the bounds, and above them: as drawn, and the interval."""
        part = self.release[CLAMPED]
        reach = noise_of_sum(part.noise, part.rate, 1, self._alpha / 2)
        return {
            side: (int(step), max(0, int(step) - reach), max(0, int(step) + reach))
            for side, step in zip(("below", "above"), part.steps, strict=False)
        }

    def describe_clamping(
        self,
        of: str,
        bounds: tuple[str, str],
        words: Words,
        what: str = "such a number",
        held: tuple[str, str] | None = None,
    ) -> list[str]:
        """Return how many people's numbers are beyond the bounds, in a sentence for each end of these.

        `held` says what becomes of such numbers, where they do not count as the bounds.
        """
        if CLAMPED not in self.parts.measured:
            return []
        level = format_percent(self.level)
        below, above = held or (f"counts as {bounds[0]}", f"counts as {bounds[1]}")
        ends = {"below": f"below {bounds[0]} {below}", "above": f"above {bounds[1]} {above}"}
        return [
            f"{of[:1].upper()}{of[1:]} {ends[side]}: {words.count_within(*number, level)} {what}"
            f"{f' and none above {bounds[1]}' if side == 'below' else ''}."
            for side, number in self.clamped_ends.items()
        ]

    @property
    def data(self) -> dict[str, Any]:
        """What is known about people, for programs."""
        facts: dict[str, Any] = {}
        if self.knows_cut:
            value, low, high = self.cut
            facts |= {"most_items": self.most, "cut": value, "cut_low": low, "cut_high": high}
        if CLAMPED in self.parts.measured:
            for side, (value, low, high) in self.clamped_ends.items():
                facts |= {f"clamped_{side}": value, f"clamped_{side}_low": low, f"clamped_{side}_high": high}
        return facts
