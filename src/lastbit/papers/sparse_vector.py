"""Ilvento, "Implementing the sparse vector technique and variants": Algorithms 2, 4 and 5.

Where the paper has a database and queries, these functions take the values of the queries, minus their thresholds.
Every public number is a multiple of the granularity γ. A query that is none is rounded down to one, as section 4 says:
to refuse it would tell something about the data. Erratum B11: flooring to a γ that divides Δ adds nothing to the
sensitivity.
"""

from __future__ import annotations

from collections.abc import Sequence

from lastbit.chance.draw import Draw
from lastbit.errors import ParameterError
from lastbit.exact.numbers import Number, number
from lastbit.papers.sparse_vector_sampling import clamp, clamped_disc_lap, cond_lazy_threshold, lazy_threshold
from lastbit.privacy.eta import Eta
from lastbit.privacy.rate import Rate
from lastbit.values.grid import Grid

Gaps = tuple[bool, ...]
"""(a⁰, a¹, a², …): whether a query was above, and whether by each of the gaps; (False,) for ⊥."""


class Inputs:
    """The inputs of all three mechanisms: the values of the queries, the public range, and the privacy parameters.

    >>> Inputs([0, 9, 2.75, -0.5], (-4, 4), width=8, limit=1, eta1=Eta(1, 1, 1), eta2=Eta(1, 2, 1)).queries
    [0, 4, 2, -1]
    """

    def __init__(
        self,
        queries: Sequence[Number],
        query_range: tuple[Number, Number],
        *,
        width: Number,
        limit: int,
        eta1: Eta,
        eta2: Eta,
        gaps: Sequence[Number] = (),
        sensitivity: Number = 1,
        granularity: Number = 1,
    ) -> None:
        self.gamma = number(granularity, "granularity")
        self.q_min, self.q_max = (self._steps(end) for end in query_range)
        grid = Grid(self.gamma)
        self.queries = [max(self.q_min, min(self.q_max, grid.step(query))) for query in queries]
        self.w, self.c = self._steps(width), limit
        self.gaps = [self._steps(gap) for gap in gaps]
        # Erratum B12: G must be ascending, or "the largest gap reached" means nothing.
        if self.gaps != sorted(set(self.gaps)) or min(self.gaps, default=0) < 0:
            raise ParameterError("gaps must be different, at least 0, and in rising order. Sort them.")
        delta = number(sensitivity, "sensitivity")
        self.threshold_rate = Rate.from_eta(eta1, self.gamma / delta)
        self.query_rate = Rate.from_eta(eta2, self.gamma / (2 * limit * delta))

    def _steps(self, amount: Number) -> int:
        steps = number(amount, "value") / self.gamma
        if steps.denominator != 1:
            raise ParameterError(
                f"every public number must be a multiple of the granularity {self.gamma}: got {amount}. Round it."
            )
        return steps.numerator

    def draw_clamped_rho(self, draw: Draw) -> int:
        """Run CLAMPEDDISCLAP(η₁/Δ, γ, Q_min - w, Q_max + w)."""
        return clamped_disc_lap(draw, self.threshold_rate.fraction, self.q_min - self.w, self.q_max + self.w)


def disc_sv(draw: Draw, inputs: Inputs) -> tuple[bool, ...]:
    """Run DISCSV, Algorithm 2, with η₁ and η₂ given instead of η/2 each: the answers until the limit is reached."""
    answers: list[bool] = []
    base = inputs.query_rate.fraction
    rho = inputs.draw_clamped_rho(draw)
    count = 0
    for query in inputs.queries:
        rho_i = clamp(rho, query, inputs.w)
        answer = lazy_threshold(draw, base, rho_i - query)
        answers.append(answer)
        if answer:
            count += 1
        if count >= inputs.c:
            break
    return tuple(answers)


def gap_sv(draw: Draw, inputs: Inputs) -> tuple[Gaps, ...]:
    """Run GAPSV, Algorithm 4: the noise has unlimited range, and is clamped after the draw."""
    answers: list[Gaps] = []
    rho = draw.laplace(inputs.threshold_rate)
    count = 0
    for query in inputs.queries:
        nu = draw.laplace(inputs.query_rate)
        rho_i = clamp(rho, query, inputs.w)
        if nu + query >= rho_i:
            answers.append((True, *(nu + query >= rho_i + gap for gap in inputs.gaps)))
            count += 1
            if count >= inputs.c:
                break
        else:
            answers.append((False,))
    return tuple(answers)


def sim_gap_sv(draw: Draw, inputs: Inputs) -> tuple[Gaps, ...]:
    """Run SIMGAPSV, Algorithm 5, line 11 corrected (erratum A1): each gap is conditioned on the gap before it.

    Line 2's BOUNDEDLAP is CLAMPEDDISCLAP.
    """
    answers: list[Gaps] = []
    base = inputs.query_rate.fraction
    rho = inputs.draw_clamped_rho(draw)
    count = 0
    for query in inputs.queries:
        rho_i = clamp(rho, query, inputs.w)
        above = [lazy_threshold(draw, base, rho_i - query)]
        if above[0]:
            reached = 0
            for gap in inputs.gaps:
                tau_c = rho_i - query + reached
                tau = rho_i - query + gap
                above.append(above[-1] and cond_lazy_threshold(draw, base, tau, tau_c))
                reached = gap
            answers.append(tuple(above))
            count += 1
            if count >= inputs.c:
                break
        else:
            answers.append((False,))
    return tuple(answers)
