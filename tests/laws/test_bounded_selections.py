"""A bound on the items of a person gains a selection nothing: who comes into one item left out moves all k listed.

So `--most-items` is refused where items are listed. A histogram gains by it, and has its numbers for every item.
"""

from fractions import Fraction
from itertools import pairwise

import lastbit as lb
from lastbit.estimate.accuracy import laplace_accuracy
from tests.continuous_top_k import probability

HALF = Fraction(1, 2)
"""The noise falls by this factor with each step: one item of k costs as much, and all k of them its k-th power."""


def test_one_item_left_out_moves_a_top_2_by_nearly_the_whole_cost() -> None:
    """The outcome lists two items above a third, by more and more; the third gains one person."""
    ratios = []
    for above in range(1, 7):
        listed = (1, 2), (0, above)
        ratios.append(probability((0, 0, 0), *listed, HALF) / probability((1, 0, 0), *listed, HALF))
    assert HALF**-1 < ratios[-1] <= HALF**-2
    assert ratios[-1] > Fraction(99, 100) * HALF**-2


def test_one_item_left_out_moves_a_ranking_of_2_by_nearly_the_whole_cost() -> None:
    """The exponential mechanism draws k times; an item with ever more people, which is not drawn, gains one more."""

    def chance(scores: tuple[int, ...]) -> Fraction:
        """Return the probability that the second and the third are drawn, in this order."""
        weights = [HALF**-score for score in scores]
        return weights[1] / sum(weights) * weights[2] / (weights[0] + weights[2])

    ratios = [chance((score, 0, 0)) / chance((score + 1, 0, 0)) for score in range(12)]
    assert all(low < high for low, high in pairwise(ratios))
    assert Fraction(99, 100) * HALF**-2 < ratios[-1] <= HALF**-2


def test_a_histogram_gains_by_a_bound_what_a_measurement_of_as_many_items_costs() -> None:
    """With a bound below k, the numbers of all items are nearer than those of k measured ones, for the same cost."""
    for k in range(2, 9):
        rate = lb.SelectAndMeasure(k=k, epsilon=1, monotone=True, resolution=1)._measurement_rate
        measured = laplace_accuracy(rate, Fraction(95, 100))
        histogram = lb.DiscreteLaplace(epsilon="9/10", sensitivity=k - 1)  # a tenth says whom the bound leaves out
        assert histogram.accuracy("0.95") < measured
