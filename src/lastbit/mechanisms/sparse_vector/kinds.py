"""The two kinds of noise of a sparse vector, and why one side is enough.

One-sided: Z geometric of rate s on the threshold, X geometric of rate r on each query, both upwards. A query is above
iff q + X - T - shift - Z >= margin, and the left side is its gap. The run costs reach·(λ₁ + 2·Σλ₂) where λ₁ = ln 1/s,
and Σλ₂ adds up ln 1/r over the answers above; monotone queries cost reach·(λ₁ + Σλ₂). `StreamMechanism` splits the cost
that way for either kind: λ₁ = share·cost/reach, and λ₂ = (1-share)·cost·units/(total·moves·reach) for an answer that
spends so many of the total units, with 2 moves or 1. A run never spends more than all units.

Proof. Map the noise on D to noise on D' that gives the same answers, with moves that are never negative, so that
one-sided noise will do. Every value moves by at most reach. Z' = Z + reach. A query that is below keeps its X: it is
below again, since q' - Z' <= q - Z. A query that is above gets X' = X + reach + q - q', from X to X + 2·reach, and has
the same gap. Where branches are tried one after the other, those that failed keep their X and fail again, and the one
that was passed gets X'. Which branches are tried, and their margins, may be any function of the answers before, which
are the same on D': so a run goes on with the branches that can still be paid. Monotone: where values rise,
X' = X + reach - (q' - q), at most X + reach; where they fall, Z' = Z and X' = X + (q - q'). The map is one to one, and
a geometric noise that moves up by i has r^i times its mass. A clamp of q, or of the distance of threshold and value, is
monotone and moves no further than its argument: the moves stay in these bounds. The shift and the margins are public
constants. Thresholds of single queries are public, too.

What a run has spent. Up to any answer the moves cost reach·λ₁ and what the answers above so far cost, and no more. So
P(t) <= P'(t)·e^(opening + prices of the answers in t), for every transcript t, and whatever was asked because of it. An
account that holds the whole price while a run is open, and what its answers spent once it is closed, lets no transcript
exceed its limit. That is a bound on every single transcript, and none on a mean over them: of a rho nothing may be
given back, and no answer may follow (audit/broken/refunds.py).

A measurement of a value that is above moves by up to reach between D and D', whichever way: discrete Laplace noise of
loss λ a step costs reach·λ for each.

Noise that goes down instead, on the threshold or on the queries, is no good: see audit/broken/downward_noise.py.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Final, Literal

from lastbit.chance.draw import Draw, Samples
from lastbit.errors import ParameterError
from lastbit.estimate.gap_laws import LaplaceGapNoise, OneSidedGapNoise, nearest, shift_of
from lastbit.estimate.gaps import GapNoise
from lastbit.privacy.rate import Rate

NoiseName = Literal["one-sided", "laplace"]


class NoiseKind(ABC):
    """A law of noise for a threshold and for queries, given a rate for each."""

    gap: type[GapNoise]
    """The law of the noise in a gap."""

    @abstractmethod
    def draw_one(self, draw: Draw, rate: Rate) -> int:
        """Draw the noise of one query."""

    @abstractmethod
    def draw_many(self, draw: Draw, rate: Rate, size: int) -> Samples:
        """Draw the noise of so many queries."""

    @abstractmethod
    def variance(self, rate: Rate) -> Fraction:
        """Return the variance of one noise, in squared steps."""

    @abstractmethod
    def centre(self, threshold_rate: Rate, query_rate: Rate | None = None) -> int:
        """Return what is taken off the threshold noise, or off the
        noise of queries, so that it is about 0 on average.
        """


class OneSided(NoiseKind):
    """Geometric noise upwards. Less its centre it is 0 on average, to the nearest step.

    Only the difference of two centres matters where nothing is clamped: it is the public shift.

    >>> OneSided().centre(Rate(1, 1)), OneSided().centre(Rate(1, 1), Rate(3, 2))
    (1, 3)
    """

    gap = OneSidedGapNoise

    def draw_one(self, draw: Draw, rate: Rate) -> int:
        """Draw X with P(X >= i) = r^i."""
        return draw.geometric(rate)

    def draw_many(self, draw: Draw, rate: Rate, size: int) -> Samples:
        """Draw X with P(X >= i) = r^i."""
        return draw.geometric(rate, size)

    def variance(self, rate: Rate) -> Fraction:
        """The variance is r/(1-r)²."""
        return rate.geometric_variance

    def centre(self, threshold_rate: Rate, query_rate: Rate | None = None) -> int:
        """Return E Z to the nearest step; for queries, the public shift more."""
        centre = nearest(threshold_rate.geometric_mean)
        return centre if query_rate is None else centre + shift_of(threshold_rate, query_rate)


class Laplace(NoiseKind):
    """Discrete Laplace noise, as in the papers: twice the variance of one-sided noise of the same rate."""

    gap = LaplaceGapNoise

    def draw_one(self, draw: Draw, rate: Rate) -> int:
        """Draw X with P(X = i) proportional to r^|i|."""
        return draw.laplace(rate)

    def draw_many(self, draw: Draw, rate: Rate, size: int) -> Samples:
        """Draw X with P(X = i) proportional to r^|i|."""
        return draw.laplace(rate, size)

    def variance(self, rate: Rate) -> Fraction:
        """The variance is 2r/(1-r)²."""
        return rate.laplace_variance

    def centre(self, threshold_rate: Rate, query_rate: Rate | None = None) -> int:
        """The noise lies around 0."""
        return 0


KINDS: Final[dict[str, NoiseKind]] = {"one-sided": OneSided(), "laplace": Laplace()}


def kind_of(noise: object) -> NoiseKind:
    """Return the kind of noise with this name."""
    if not isinstance(noise, str) or noise not in KINDS:
        raise ParameterError(f"noise must be 'one-sided' or 'laplace': got {noise!r}.")
    return KINDS[noise]
