"""Noise folded at a bound, so that programs that only compare it have finitely many branches.

Folding moves all mass from the bound outwards onto it. A comparison `noise >= t` comes out the same before and after
for every t from 1-bound to bound. So the law of a program that makes no other use of its noise is left alone, exactly.
Geometric noise is folded at the top only: it has an end at the bottom.
"""

from fractions import Fraction
from functools import cache

from lastbit.chance import distributions
from lastbit.chance.draw import Draw


@cache
def folded_law(rate, bound):
    r = rate.fraction
    inner = [r ** abs(k) for k in range(1 - bound, bound)]
    end = r**bound / (1 - r)
    return distributions.categorical([end, *inner, end])


@cache
def folded_geometric(rate, bound):
    r = rate.fraction
    return distributions.categorical([*(r**k for k in range(bound)), r**bound / (1 - r)])


class Folding(Draw):
    """Another draw, with its noise folded: `bounds` says where, for each rate."""

    def __init__(self, draw, bounds):
        self._draw_below, self._bounds = draw, bounds

    def laplace(self, rate, size=None):
        bound = self._bounds[rate]
        return self._draw(folded_law(rate, bound), size) - bound

    def geometric(self, rate, size=None):
        return self._draw(folded_geometric(rate, self._bounds[rate]), size)

    def words(self, n):
        return self._draw_below.words(n)

    def _one(self, distribution):
        return self._draw_below._one(distribution)

    def _many(self, distribution, n):
        return self._draw_below._many(distribution, n)

    def _rises(self, parts):
        return self._draw_below._rises(parts)

    def _permutation(self, n):
        return self._draw_below._permutation(n)

    def _uniforms(self, sizes, most):
        return self._draw_below._uniforms(sizes, most)


def fold(mechanism, values):
    """The program of a clamped SparseVector whose gaps are off or on a grid, folded where it does not matter."""
    plan = mechanism._plan
    least, most, width = plan.clamp
    reach = max(plan.gaps) if isinstance(plan.gaps, tuple) else 0
    # z clamped to within w of q is z >= q+t for each t from 1-w to w; query noise is compared with -w, …, w + gap.
    # One-sided noise is compared with as much more as is taken off it.
    threshold_bound = max(abs(least), abs(most)) + max(width, 1) + plan.kind.centre(plan.threshold_rate)
    query_bound = width + max(reach, 1) + max(plan.branches[0].centre, 0)
    rates = {plan.threshold_rate: threshold_bound}
    rates[plan.branches[0].rate] = max(query_bound, rates.get(plan.branches[0].rate, 0))
    program = mechanism.program(values)
    return lambda draw: program(Folding(draw, rates))


def exact(law):
    """The masses of a law that was explored to the end."""
    assert law.unexplored == Fraction(0)
    return dict(law.masses)
