"""A release whose cost is that of a person who is in several units, as a user on many days."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from lastbit.chance.draw import Draw
from lastbit.exact.numbers import whole
from lastbit.mechanisms.mechanism import Mechanism
from lastbit.privacy.cost import Cost
from lastbit.release import Release
from lastbit.values.adjacency import Adjacency


@dataclass(frozen=True, kw_only=True)
class GroupPrivacy(Mechanism[Any]):
    """Release what a mechanism releases, at its cost for a person who is in up to `size` units.

    Between two tables that differ by a person lie at most `size` steps of one unit each, and the mechanism keeps its
    cost in each step. So the person's loss is at most the sum of the steps' losses.

    Paper:    Dwork and Roth 2014, Theorem 2.2, for epsilon; Bun and Steinke 2016, Proposition 1.9, for rho; Vadhan
              2017, Lemma 2.2, for delta.
    Law:      that of the mechanism.
    Cost:     size·epsilon, size²·rho, delta·(e^(size·epsilon) - 1)/(e^epsilon - 1).
    Assumes:  a person is in at most `size` units, whatever rows they have: who reads the table sees to it, by a lot
              that looks at the rows of this person alone.
    Checked:  tests/questions/test_group_privacy.py, exactly: the loss between tables that differ by a person is at
              most the cost, and may be more than that of one unit less.
    Speed:    that of the mechanism.

    >>> import lastbit as lb
    >>> days = GroupPrivacy(mechanism=lb.DiscreteLaplace(epsilon="1/10"), size=30)
    >>> days.cost.text, days.name, days.release(900).cost.text
    ('epsilon 3', 'DiscreteLaplace', 'epsilon 3')
    """

    mechanism: Mechanism[Any]
    size: int
    cost: Cost = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        size = whole(self.size, "size")
        self._derive(size=size, cost=self.mechanism.cost.of_group(size))

    @property
    def name(self) -> str:
        """The name of the mechanism."""
        return self.mechanism.name

    @property
    def parameters(self) -> dict[str, str]:
        """The parameters of the mechanism, and how many units a person is in."""
        return {**self.mechanism.parameters, "most_units": str(self.size)}

    @property
    def adjacency(self) -> Adjacency | None:
        """That of the mechanism: a person who comes brings units that come."""
        return self.mechanism.adjacency

    def ready(self, values: Any) -> Callable[[Draw], Any]:
        """Return the release of these values, which states the cost for a person."""
        return self.widen(self.mechanism.ready(values))

    def widen(self, ready: Callable[[Draw], Any]) -> Callable[[Draw], Any]:
        """Return a release of the mechanism that is ready for the draw, so that it states the cost for a person."""

        def draw_values(draw: Draw) -> Any:
            release: Release = ready(draw)
            return replace(release, cost=self.cost)

        return draw_values
