"""The base of mechanisms that publish items nobody listed, and of the releases they publish."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations, product
from typing import Any, ClassVar, Final

import numpy as np

from lastbit.chance.inversion import power
from lastbit.errors import ParameterError
from lastbit.estimate.accuracy import least_exponent
from lastbit.exact.numbers import Number, number, probability, whole
from lastbit.exact.rounding import short_upper
from lastbit.mechanisms.grid_mechanism import GridMechanism
from lastbit.mechanisms.mechanism import Released
from lastbit.output.words import plural
from lastbit.privacy.rate import Rate
from lastbit.release import Release
from lastbit.values.adjacency import Adjacency
from lastbit.values.grid import LIMIT, Steps
from lastbit.values.known import lies_on
from lastbit.values.unlisted import Unlisted

_DELTA_BITS: Final = 64
"""The bits of a stated delta."""

_MOST_CANDIDATES: Final = 10**7
"""Candidates at most: the highest items and their values are brought to one machine."""

_POWER_BITS: Final = 256
"""The bits of a bound on the weight of a dummy."""


@dataclass(frozen=True, eq=False, repr=False)
class Discovered(Release):
    """Items that were found, best first, and whether the search stopped before the number that was asked for.

    >>> import lastbit as lb
    >>> terms = lb.Unlisted.of({"flu": 5200, "cold": 3100, "a rare name": 1})
    >>> found = lb.DiscoverRanking(k=3, epsilon=3, delta="1e-6").release(terms)
    >>> found.items, found.stopped
    (('flu', 'cold'), True)
    """

    items: tuple[Any, ...]
    stopped: bool

    def columns(self) -> dict[str, Sequence[Any]]:
        """Return the ranks and the items."""
        return {"rank": range(1, len(self.items) + 1), "item": self.items}

    def facts(self) -> dict[str, Any]:
        """Return whether the search stopped before it had k items."""
        return {"stopped": self.stopped}

    def _footnotes(self) -> list[str]:
        why = "It stopped: no other item is far enough above the items that few people have to be told safely."
        return [*super()._footnotes(), *([why] if self.stopped else [])]


@dataclass(frozen=True, kw_only=True)
class DiscoveryMechanism(GridMechanism[Released]):
    """A mechanism on `Unlisted` values. One person who comes moves values up, each by at most the sensitivity."""

    delta: Number
    most_items: int | None = None

    @property
    def adjacency(self) -> Adjacency:
        """One person comes or goes."""
        return "add-remove"

    @classmethod
    def _parameters_for(cls, values: Any) -> dict[str, Any]:
        bound = {"most_items": values.most_items} if isinstance(values, Unlisted) else {}
        return {**super()._parameters_for(values), **bound}

    def _set_cost(self) -> None:
        super()._set_cost()
        most = None if self.most_items is None else whole(self.most_items, "most_items")
        self._derive(delta=probability(self.delta, "delta"), most_items=most)

    def _state(self, delta: Fraction, rho: Fraction | None = None) -> None:
        """Write the delta that is kept into the cost, rounded up, and at most what was asked for."""
        stated = min(short_upper(delta, _DELTA_BITS), Fraction(self.delta))
        if rho is not None and self.rho is None:
            self._derive(cost=replace(self.cost, stated_rho=rho))
        self._derive(cost=replace(self.cost, delta=stated))

    def _check_values(self, values: Any) -> Unlisted:
        """Return the values, refused where one person can move them further than the mechanism was built for."""
        if not isinstance(values, Unlisted):
            raise ParameterError(
                f"values must be Unlisted, as count(…, domain=lastbit.UNKNOWN) gives: got {type(values).__name__}. For "
                "values in a dictionary write lastbit.Unlisted.of({'item': 3}). Nothing was drawn."
            )
        if values.each > self._furthest:
            raise ParameterError(
                f"one person can move a value by {values.each}, the mechanism was built for sensitivity "
                f"{self._furthest}. Build it with sensitivity={values.each}. Nothing was drawn."
            )
        if not lies_on(values, self.grid):
            raise ParameterError(
                f"resolution must divide that of the values: got {self.grid.resolution} and {values.resolution}. Build "
                f"the mechanism with resolution={values.resolution}. Nothing was drawn."
            )
        bound = values.most_items
        if self.most_items is not None and (bound is None or bound > self.most_items):
            raise ParameterError(
                f"the mechanism was built for at most {plural(self.most_items, 'item')} a person, the values allow "
                f"{'any number' if bound is None else bound}. Count with most_items={self.most_items}. Nothing was "
                "drawn."
            )
        return values

    def _steps(self, values: Unlisted, most: int | None) -> tuple[Sequence[Any], Steps]:
        """Return the highest items, and their values in steps of the mechanism's grid."""
        items, totals = values.highest(most)
        factor = int(Fraction(values.resolution) / self.grid.resolution)
        return items, np.minimum(totals, LIMIT // factor) * factor

    def neighbours(self, values: Any) -> Iterator[Any]:
        """Yield the same items after one person came, or went: of the items there are, and of one that nobody had.

        The person moves each of some items by any amount up to the sensitivity.
        """
        items, steps = self._steps(self._check_values(values), None)
        new = object()
        names = [*items, new]
        before = dict(zip(items, steps.tolist(), strict=True))
        most = len(names) if values.most_items is None else min(values.most_items, len(names))
        for size in range(1, most + 1):
            for subset in combinations(names, size):
                for amounts in product(range(1, self._reach + 1), repeat=size):
                    moves = dict(zip(subset, amounts, strict=True))
                    yield self._neighbour(before, moves, values)
                    if all(before.get(item, 0) >= by for item, by in moves.items()):
                        yield self._neighbour(before, {item: -by for item, by in moves.items()}, values)

    def _neighbour(self, before: dict[Any, int], moves: dict[Any, int], values: Unlisted) -> Unlisted:
        after = {**before, **{item: before.get(item, 0) + by for item, by in moves.items()}}
        unit = self.grid.resolution
        facts = {"sensitivity": values.sensitivity, "most_items": values.most_items, "resolution": unit, "above": 0}
        return Unlisted.of({item: step * unit for item, step in after.items()}, **facts)


@dataclass(frozen=True, kw_only=True)
class ShortlistMechanism(DiscoveryMechanism[Released]):
    """A search among the `candidates` highest items and a bottom that items must beat to be published.

    The bottom lies `tau` steps and one sensitivity above the highest item that is no candidate. Where one person's
    items change who is a candidate, an item that left lies at least tau below the bottom in both data sets, and of all
    others the two data sets differ by moves of one person only (the package has the proof). So the search is
    private as on a public list, but for the event that such an item beats the bottom. With m the number of items that
    can leave, min(most_items, candidates), and q = r^tau, that has a probability of at most `_odds`·m·q.
    """

    k: int
    candidates: int | None = None
    tau: int = field(init=False, repr=False, compare=False)
    """How many steps the bottom lies above the highest item that can be changed for another."""
    _rate: Rate = field(init=False, repr=False, compare=False)
    _odds: ClassVar[Fraction]
    """The probability of an item beating the bottom is at most so many r^tau."""

    def __post_init__(self) -> None:
        super().__post_init__()
        k = whole(self.k, "k")
        candidates = 10 * k if self.candidates is None else whole(self.candidates, "candidates")
        if candidates < k:
            raise ParameterError(
                f"candidates must be at least k: got {candidates} and k={k}. Leave it out: it is 10·k."
            )
        if candidates > _MOST_CANDIDATES:
            raise ParameterError(
                f"candidates must be at most {_MOST_CANDIDATES:,}: got {candidates:,}. They are 10·k where nobody says "
                f"how many: then k must be at most {_MOST_CANDIDATES // 10:,}. Ask for fewer items, or for all that "
                "many people have, with DiscoverHistogram."
            )
        self._derive(k=k, candidates=candidates)
        self._derive(_rate=self._noise())
        leaving = self._odds * (candidates if self.most_items is None else min(self.most_items, candidates))
        delta = Fraction(self.delta)
        tau, bits = least_exponent(self._rate, delta / leaving), 4 * _DELTA_BITS + delta.denominator.bit_length()
        self._derive(tau=tau)
        self._state(leaving * Fraction(power(self._rate, tau, bits)[1], 1 << bits))

    def _noise(self) -> Rate:
        """Return the rate of the noise, or of the weights."""
        raise NotImplementedError

    def _shortlist(self, values: Any) -> tuple[list[Any], Steps]:
        """Return the names of the candidates, and their steps; then those of the bottom, which has no name."""
        unlisted = self._check_values(values)
        most = self.candidates or 0
        items, steps = self._steps(unlisted, most + 1)
        # Dummies of value zero fill the list, so that its length does not tell how many items there are.
        all_steps = np.zeros(most + 1, np.int64)
        all_steps[: min(len(steps), most)] = steps[:most]
        runner_up = int(steps[most]) if len(steps) > most else 0
        all_steps[most] = runner_up + self._reach + self.tau
        names = [*items[:most], *[_NOBODY] * (most + 1 - min(len(items), most))]
        return names, all_steps

    def needed(self, level: Number = "0.95", margin: Number = 0) -> Fraction:
        """Return how far an item must be above the highest that is no
        candidate, to be told with at least this probability.

        With fewer items than candidates that is the value itself. It is for an item that the noise puts no k other
        items ahead of. Values that were floored lie higher by up to a `margin`, which `Unlisted` state: it is added.
        """
        # The dummies end the search too. They lie below the bottom by its own height, at least.
        below = Fraction(power(self._rate, self._reach + self.tau, _POWER_BITS)[1], 1 << _POWER_BITS)
        crowd = 1 + ((self.candidates or 1) - 1) * below
        ahead = least_exponent(self._rate, self._behind(1 - probability(level, "level")) / crowd)
        return (self._reach + self.tau + ahead) * self.grid.resolution + number(margin, "margin")

    def _behind(self, miss: Fraction) -> Fraction:
        """Return the largest r^d such that an item d steps above the
        bottom comes behind it with this probability at most.
        """
        raise NotImplementedError


_NOBODY: Any = object()
"""The name of the bottom and of every dummy."""


def names_above_bottom(names: Sequence[Any], indices: Sequence[int]) -> tuple[Any, ...]:
    """Return the names in this order, up to the bottom or a dummy."""
    best_first = [names[index] for index in indices]
    bottom = next((place for place, name in enumerate(best_first) if name is _NOBODY), len(best_first))
    return tuple(best_first[:bottom])
