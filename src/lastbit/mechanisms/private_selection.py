"""Choose among private candidates without paying for every try."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from lastbit.chance.draw import Draw
from lastbit.errors import ParameterError
from lastbit.exact.numbers import Number, number, positive, whole
from lastbit.exact.rounding import exp_upper, log_upper
from lastbit.mechanisms.mechanism import Mechanism
from lastbit.mechanisms.watched_draw import WatchedDraw
from lastbit.privacy.cost import Cost
from lastbit.privacy.eta import Eta
from lastbit.release import Release
from lastbit.values.grid import Grid
from lastbit.values.raw import exact_ratio
from lastbit.values.statistic import ends

Candidate = Callable[[Draw], tuple[Any, Any]]
"""Takes a Draw and returns (output, score), both private at the candidate's cost together."""


@dataclass(frozen=True, eq=False, repr=False)
class Winner(Release):
    """The winner: its number among the candidates, its output and its score; all None when there is none."""

    candidate: int | None
    output: Any
    score: Fraction | float | None
    """Exact; infinite where the candidate's was."""

    def columns(self) -> dict[str, Sequence[Any]]:
        """One row, or none."""
        found = self.candidate is not None
        return {
            "candidate": [self.candidate] if found else [],
            "output": [self.output] if found else [],
            "score": [self.score] if found else [],
        }


@dataclass(frozen=True, kw_only=True)
class PrivateSelection(Mechanism[Winner]):
    """Run private candidates, drawn by lot, until one is good enough or chance says stop; publish the best only.

    Paper:    Ilvento, Algorithms 6 and 7, after Liu and Talwar; see docs/errata.md, A3 and A9.
    Law:      each round runs one candidate drawn uniformly. With a `threshold` the first score that reaches it wins;
              without, the best score of the run wins, ties uniformly. After each round the run ends with probability
              `stop`, at the latest after `rounds`.
    Cost:     with c the candidate_cost and s the slack: threshold 2c, best 3c; with a cap on the rounds also s or 3s.
    Assumes:  every candidate's (output, score) is private at candidate_cost. One that raises anything, SystemExit
              included, counts as the lowest score, so that failing tells no more than any other score; it can win only
              where all failed, as None. KeyboardInterrupt alone stops the program: no candidate may raise it. A mistake
              in a candidate looks like a low score: try each on made-up data first, candidate(lastbit.Sampler()).
    Checked:  tests/laws/test_private_selection.py, exactly; tight to 10% on an instance of each kind.
    Speed:    1/stop candidates on average. How many were run is not published, but a watch can see it.

    >>> import lastbit as lb
    >>> fair = [lambda draw: ("heads", draw.integer(10)), lambda draw: ("tails", draw.integer(10))]
    >>> choice = lb.PrivateSelection(candidates=fair, candidate_cost="1/10", threshold=5, stop="1/100")
    >>> choice.cost, choice.release().output in ("heads", "tails", None)
    (Cost(epsilon=Fraction(1, 5)), True)
    """

    candidates: Sequence[Candidate]
    candidate_cost: Number | Eta
    stop: Number
    threshold: Number | None = None
    rounds: int | None = None
    slack: Number | None = None
    cost: Cost = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        candidates = tuple(self.candidates)
        if not candidates or not all(callable(each) for each in candidates):
            raise ParameterError("candidates must be callables that take a Draw, at least one. Pass a list of them.")
        for place, candidate in enumerate(candidates):
            _check_signature(candidate, place)
        stop = positive(self.stop, "stop", "It is the chance that a run ends after a round.")
        if stop > 1:
            raise ParameterError(f"stop must be at most 1: got {stop}. It is a probability.")
        cap, slack = self._cap(stop)
        each = Cost.of(self.candidate_cost)
        if each.epsilon is None or each.delta:
            raise ParameterError(
                f"candidates must have a pure cost, an epsilon or an eta without a delta: got {each.text}. Give each "
                "candidate an epsilon."
            )
        bar = None if self.threshold is None else number(self.threshold, "threshold")
        times, most = (3, 3 * slack) if bar is None else (2, slack)
        self._derive(
            candidates=candidates,
            candidate_cost=each.epsilon,
            # No composition: of what it adds up only the epsilon is known.
            cost=Cost((each.widened(times) + Cost(most)).epsilon) if most else each.widened(times),
            stop=stop,
            slack=slack or None,
            threshold=bar,
            rounds=cap,
        )

    def _cap(self, stop: Fraction) -> tuple[int | None, Fraction]:
        """The cap on the rounds and what it adds to the cost, by the bound T >= max(ln(2/ε0)/γ, 1 + 1/(e·γ))."""
        if self.slack is None:
            if self.rounds is not None:
                raise ParameterError(
                    "a cap on the rounds needs slack, what it may add to the cost. Write slack='0.01'."
                )
            return None, Fraction(0)
        slack = positive(self.slack, "slack", "It is what a cap on the rounds adds to the cost.")
        if slack > 1:
            raise ParameterError(f"slack must be at most 1: got {slack}. A smaller one costs a few more rounds only.")
        inverse_e = Fraction(exp_upper(Fraction(-1), 64), 1 << 64)
        least = math.ceil(max(Fraction(log_upper(2 / slack)) / stop, 1 + inverse_e / stop))
        rounds = least if self.rounds is None else whole(self.rounds, "rounds")
        if rounds < least:
            raise ParameterError(
                f"rounds must be at least {least} for this stop and slack: got {rounds}. Leave it out."
            )
        return rounds, slack

    @property
    def parameters(self) -> dict[str, str]:
        """The public parameters as text, for a ledger: of the candidates their number."""
        return {**super().parameters, "candidates": str(len(self.candidates))}

    def ready(self, values: None = None) -> Callable[[Draw], Winner]:
        """This selection: all that is left is chance."""
        if values is not None:
            raise ParameterError("values must be None: the data is in the candidates. To pass a Draw, write draw=….")
        return self._run

    def _run(self, draw: Draw) -> Winner:
        best: _Try | None = None
        tied = done = 0
        while True:
            latest = self._try(draw)
            if self.threshold is not None:
                if latest.rank >= (1, Fraction(self.threshold)):
                    return self._selected(latest)
            elif best is None or latest.rank > best.rank:
                best, tied = latest, 1
            elif latest.rank == best.rank:
                tied += 1
                # Each of m equals stays with probability 1/m.
                best = latest if draw.integer(tied) == 0 else best
            done += 1
            if done == self.rounds or draw.bernoulli(self.stop):
                return self._selected(best)

    def _try(self, draw: Draw) -> _Try:
        number_of = draw.integer(len(self.candidates))
        watched = WatchedDraw(draw)
        try:
            output, score = self.candidates[number_of](watched)
            return _Try(number_of, output, _rank(score))
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt) or watched.ended_by(error):
                # What the candidate was handling when it came may depend on the data.
                error.__cause__ = error.__context__ = None
                raise
            # Whatever a candidate raises may depend on the data, so nobody may see it.
            return _Try(number_of, None, _LOWEST)

    def _selected(self, winner: _Try | None) -> Winner:
        if winner is None or winner.rank == _LOWEST:
            return Winner(self.name, self.cost, None, None, None)
        score = math.inf if winner.rank == _HIGHEST else winner.rank[1]
        return Winner(self.name, self.cost, winner.candidate, winner.output, score)


def _check_signature(candidate: Candidate, place: int) -> None:
    """Refuse a candidate that cannot be called with a Draw: in a run it would only look like one that fails."""
    try:
        signature = inspect.signature(candidate)
    except (TypeError, ValueError):  # some callables written in C say nothing
        return
    try:
        signature.bind(None)
    except TypeError:
        raise ParameterError(
            f"candidates must take one argument, a Draw: candidate {place} takes {signature}. Bind the others first, "
            "for example with functools.partial."
        ) from None


Rank = tuple[int, Fraction]
_LOWEST: Rank = (0, Fraction(0))
_HIGHEST: Rank = (2, Fraction(0))


@dataclass(frozen=True)
class _Try:
    candidate: int
    output: Any
    rank: Rank


def _rank(score: Any) -> Rank:
    """Scores in their order; NaN, minus infinity and failures are the lowest, plus infinity the highest."""
    above, below = exact_ratio(score.item() if isinstance(score, np.ndarray) else score)
    if below == 0:
        return _HIGHEST if above > 0 else _LOWEST
    return 1, Fraction(above, below)


def scored(
    mechanism: Callable[[Draw], Hashable],
    quality: Callable[[Any], Any],
    *,
    sensitivity: Number = 1,
    epsilon: Number | None = None,
    eta: Eta | None = None,
    resolution: Number = 1,
    bounds: tuple[Number, Number],
) -> Candidate:
    """A candidate from a private mechanism and a quality function of low sensitivity.

    Paper:    Ilvento, GETSAMPLE of Algorithm 7, with the sensitivity of erratum A9.
    Law:      the output, and its quality clamped to `bounds`, with discrete Laplace noise, clamped again.
    Cost:     the mechanism's own and epsilon (or eta): their sum is the candidate_cost to state.
    Assumes:  for every fixed output one person moves the quality by at most `sensitivity`.
    Checked:  tests/laws/test_private_selection.py, exactly.
    Speed:    one Laplace draw beside the mechanism.

    >>> import lastbit as lb
    >>> candidate = lb.scored(lambda draw: "model", lambda model: 7, epsilon="1/2", bounds=(0, 10))
    >>> output, score = candidate(lb.Sampler())
    >>> output, 0 <= score <= 10
    ('model', True)
    """
    reach = positive(sensitivity, "sensitivity", "It is how far one person can move the quality.")
    grid = Grid(resolution)
    rate = Cost.asked(epsilon, eta).rate(Fraction(1, grid.count(reach, "sensitivity")))
    low, high = ends(bounds, grid)

    def candidate(draw: Draw) -> tuple[Any, Fraction]:
        output = mechanism(draw)
        step = max(low, min(high, grid.step(quality(output))))
        return output, max(low, min(high, step + draw.laplace(rate))) * grid.resolution

    return candidate
