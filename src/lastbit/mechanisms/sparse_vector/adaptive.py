"""The adaptive sparse vector technique: queries far above the threshold cost less, so that more can be answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isqrt
from typing import Final

from lastbit.errors import ParameterError
from lastbit.estimate.gaps import GapNoise
from lastbit.exact.numbers import Number, number, probability, whole
from lastbit.mechanisms.sparse_vector.answers import Answer
from lastbit.mechanisms.sparse_vector.mechanism import StreamMechanism
from lastbit.mechanisms.sparse_vector.run import parse_steps
from lastbit.privacy.rate import Rate

MOST_BRANCHES: Final = 16
"""The first of these has 2^15 times the noise of the last: more would never be passed."""


@dataclass(frozen=True, kw_only=True)
class AdaptiveSparseVector(StreamMechanism):
    """Answer a stream of queries until the budget of `limit` ordinary answers is spent.

    Paper:    Ding et al. (free gap), Algorithm 4, its stopping rule and its sigma corrected, extended to any number of
              branches, to a run that goes on with the branches it can still pay, and to one-sided noise (Liu et al.,
              PVLDB 18); noise="laplace" is the paper's.
    Law:      a query is tried against the noisy threshold with ever less noise, and is above by the first branch it
              passes. Each branch has half the noise of the one before, and for one-sided noise its own public shift, as
              in SparseVector. All but the last ask for a margin, by default two standard deviations of their noise,
              rounded up to the grid; `sigma` sets one for all, or one each. Branches that cannot be paid any more are
              not tried, and the last one tried asks for no margin.
    Cost:     epsilon or eta for the whole run. The threshold's share leaves limit·2^(branches-1) whole units;
              an answer by branch i, from 0, spends 2^i of them, and the run ends when none is left. So it gives at
              least `limit` answers above, and at most limit·2^(branches-1): 2·limit for two branches.
    Assumes:  one person moves every value by at most `sensitivity`; queries may be chosen after seeing the answers.
    Checked:  tests/laws/test_adaptive_sparse_vector.py and test_one_sided_sparse_vector.py, exactly, up to three
              queries and three branches. The proof is in kinds.py.
    Speed:    one draw and one comparison a query and branch, for every answer.

    >>> run = AdaptiveSparseVector(threshold=100, limit=2, epsilon=2, split="even").start()
    >>> run.ask(10_000).spent, run.ask(10_000).spent, run.spent, run.exhausted
    (Fraction(1, 4), Fraction(1, 4), Fraction(3, 2), False)
    """

    branches: int = 2
    sigma: Number | Sequence[Number] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        branches = whole(self.branches, "branches", least=2)
        if branches > MOST_BRANCHES:
            raise ParameterError(f"branches must be at most {MOST_BRANCHES}: got {branches}.")
        units = [1 << i for i in range(branches)]
        total = self.limit * units[-1]
        rates = self._rates(units, total)
        branch_settings = zip(rates, [*self._margins(rates[:-1]), 0], units, strict=True)
        self._derive(branches=branches, _plan=self._make_plan(branch_settings, total))

    def gap_noise(self, answer: Answer) -> GapNoise:
        """Return the noise in threshold + gap as an estimate of the value, for an answer above: its branch tells.

        Its bounds know of the other branches: a query that one branch reports was tried by those before it. Which were
        tried follows from what was left, `answer.left`.
        """
        left = self._plan.units if answer.left is None else answer.left // self._plan.unit
        tried = self._plan.tried(left)
        noises = [self._gap_noise(branch) for branch in tried]
        for place, branch in enumerate(tried):
            if answer.above and answer.spent == branch.units * self._plan.unit:
                return replace(noises[place], before=tuple(noises[:place]), after=tuple(noises[place + 1 :]))
        raise ParameterError("answer must be one of this mechanism's, and above.")

    def decisive(self, level: Number = "0.95", margin: Number = 0) -> Fraction:
        """Return a distance from the threshold: a query so far above, or so far below, is told rightly at this level.

        It holds for queries that are asked while every branch can be paid. Those at the end of a run, which only
        branches with more noise are left for, need a larger distance.

        A query that is above passes the last branch, if no other. A query that is below must pass none: each branch
        may let it pass with its share of the probability. A `margin` of values that were floored is added, as for
        `SparseVector`.

        >>> AdaptiveSparseVector(threshold=0, limit=1, epsilon=1).decisive()
        Fraction(10, 1)
        """
        noises = [self._gap_noise(branch) for branch in self._plan.branches]
        share = 1 - (1 - probability(level, "level")) / len(noises)
        below = (noise.decisive(share) - noise.margin * noise.resolution for noise in noises)
        return max(noises[-1].decisive(level), *below) + number(margin, "margin")

    def _margins(self, rates: list[Rate]) -> list[int]:
        if self.sigma is None:
            return [two_deviations(self._kind.variance(rate)) for rate in rates]
        if isinstance(self.sigma, Sequence) and not isinstance(self.sigma, str):
            self._derive(sigma=tuple(self.sigma))
            sigmas: Sequence[Number] = self.sigma
        else:
            sigmas = [self.sigma] * len(rates)
        margins = [parse_steps(self.grid, sigma, "sigma") for sigma in sigmas]
        if len(margins) != len(rates) or min(margins) < 0:
            raise ParameterError(
                f"sigma must be one number, or one for each of the {len(rates)} branches but the last, none below 0: "
                f"got {self.sigma}."
            )
        return margins


def two_deviations(variance: Fraction) -> int:
    """Return two standard deviations of noise with this variance in squared steps, rounded up to whole steps.

    >>> two_deviations(Rate(1, 1).laplace_variance), two_deviations(Rate(1, 1).geometric_variance)
    (4, 3)
    """
    square = 4 * variance
    root = isqrt(square.numerator // square.denominator)
    return root if root * root == square else root + 1
