"""The selection of a set, on whole steps: which k of n candidates, without an order among them.

A set weighs r^(p·c_out - q·c_in): c_out is the best count left out, c_in the worst one taken. What decides is how many
candidates have each count, so a selection needs the counts in order, and of the candidates only those that it takes.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from lastbit.chance.draw import Draw
from lastbit.chance.layers import Layers, Runs, runs_of
from lastbit.errors import ParameterError
from lastbit.mechanisms.top_k._ranks import among_equals
from lastbit.privacy.cost import Cost
from lastbit.privacy.rate import Rate
from lastbit.values.grid import Steps

Form = Literal["both", "left-out"]
FORMS: Final = get_args(Form)


@dataclass(frozen=True)
class SetSelector:
    """Sets of k, weighed by both counts or by the best one left out.

    One person who comes or goes moves c_out and c_in by 0 to `reach` steps each, so p·c_out - q·c_in by -q·reach to
    p·reach: the log of the ratio of two probabilities has a range of at most (p+q)·reach·ln(1/r). Where counts may move
    against each other, c_out and c_in move by -reach to reach, and the range is twice that.

    For k = 1 c_in alone is the exponential mechanism, and so is c_out alone for k = n - 1. One count costs half as much
    as both, and n is public. So the selection weighs one count there, whatever the form.
    """

    k: int
    form: Form
    two: Rate
    """The rate where both counts weigh."""
    one: Rate
    """The rate where one count weighs."""

    @classmethod
    def of(cls, k: int, form: Form, cost: Cost, share: Fraction, reach: int, monotone: bool) -> SetSelector:
        """Return the selector that costs this share of a cost."""
        if form not in FORMS:
            raise ParameterError(f"form must be 'both' or 'left-out': got {form!r}.")
        apart = reach if monotone else 2 * reach
        return cls(k, form, cost.rate(share / (2 * apart)), cost.rate(share / apart))

    def weighs(self, n: int) -> tuple[int, int]:
        """Return the weights (p, q) of the best count left out and the worst count taken, for so many candidates."""
        if self.k == 1:
            return 0, 1
        return (1, 0) if self.form == "left-out" or self.k == n - 1 else (1, 1)

    def rate(self, n: int) -> Rate:
        """Return the rate for so many candidates."""
        return self.two if sum(self.weighs(n)) == 2 else self.one

    def select(self, steps: Steps, draw: Draw) -> tuple[int, ...]:
        """Return the places of the selected candidates, in rising order."""
        n = len(steps)
        if n == self.k:
            return tuple(range(n))
        negative_steps = np.negative(steps)
        negative_steps.sort()
        edges, negative_counts = runs_of(negative_steps)
        ranks = self.ranks(self.runs(edges, negative_counts), draw)
        which, places = among_runs(edges, ranks)
        return among_equals(steps, negative_counts[which], places)

    def ranks(self, law: Layers, draw: Draw) -> NDArray[np.int64]:
        """Return the ranks of the selected, rising: the words that are read follow from n and k."""
        start, end = law.ranks(draw.layer(law))
        rest = draw.subset(end - start, self.k - start, most=(law.n, self.k))
        rest += start
        return np.concatenate((np.arange(start), rest))

    def runs(self, edges: Runs, negative_counts: Runs) -> Layers:
        """Return the law for runs of equal counts: how many are above
        or in each, and its count, sign turned, rising.
        """
        n = int(edges[-1])
        return Layers.of_runs(self.rate(n), self.k, edges, negative_counts, *self.weighs(n))


def among_runs(edges: Runs, ranks: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Return the run that each rank is in, and its place in the run.

    >>> [each.tolist() for each in among_runs(np.array([2, 5]), np.array([0, 1, 4]))]
    [[0, 0, 1], [0, 1, 2]]
    """
    which = np.searchsorted(edges, ranks, side="right")
    return which, ranks - np.where(which > 0, edges[which - 1], 0)
