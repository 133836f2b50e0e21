"""Choose among private candidates without paying for every try."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from traceback import clear_frames
from typing import Any, ClassVar

from lastbit.chance.draw import Draw
from lastbit.chance.rounds import Rounds
from lastbit.errors import ParameterError
from lastbit.estimate.selection_plan import SelectionPlan, selection_plan
from lastbit.exact.numbers import Number, flag, number
from lastbit.mechanisms.candidates import Candidate, Try, wrong_signature
from lastbit.mechanisms.mechanism import Mechanism
from lastbit.privacy.cost import Cost
from lastbit.privacy.eta import Eta
from lastbit.release import Release


@dataclass(frozen=True, eq=False, repr=False)
class Winner(Release):
    """The winner: its number among the candidates, its output and its score; all None when there is none.

    >>> import lastbit as lb
    >>> coin = lambda draw: ("a model", draw.integer(10))  # private on its own: it looks at no data
    >>> found = lb.PrivateSelection(candidates=[coin], candidate_cost="1/10", most=5).release()
    >>> found.candidate, found.output
    (0, 'a model')
    """

    candidate: int | None
    output: Any
    score: Fraction | float | None
    """The candidate's score: infinite where the candidate's was, and exact where it was finite, but for two rules. A
    finite score beyond the largest float, about ±1.8e308, counts as that float. A score whose denominator has more than
    4096 bits is rounded down to a multiple of 2^-1074. Every finite float is exact."""

    def columns(self) -> dict[str, Sequence[Any]]:
        """Return the winner as one row, or no row."""
        has_winner = self.candidate is not None
        return {
            "candidate": [self.candidate] if has_winner else [],
            "output": [self.output] if has_winner else [],
            "score": [self.score] if has_winner else [],
        }


@dataclass(frozen=True, kw_only=True)
class PrivateSelection(Mechanism[Winner]):
    """Run private candidates, picked at random, a random number of times; publish the best only.

    Paper:    Liu and Talwar; Papernot and Steinke, Theorem 2, for laws that end; Ilvento, section 6, has the paper's
              form in lastbit.papers; see docs/errata.md, A3 and A9.
    Law:      the number of rounds K is drawn first, from 1 to `most`: uniformly; by a number η as `law`, in proportion
              to the products of (l + η)/(l + 1) over l < k; or geometric with `stop`, given that it is at most `most`.
              Each round runs one candidate drawn uniformly. With a `threshold` the first score that reaches it wins;
              without, the best of the K scores wins, ties uniformly. K is not published.
    Cost:     with c the candidate_cost: 3c for the uniform and the geometric law, (2+η)c for η; with a threshold 2c, or
              (2+η)c where η is below 0. `most` costs nothing.
    Assumes:  every candidate's (output, score) is private at candidate_cost, and its output is an object that no later
              run changes. Every run of a candidate starts afresh: it keeps nothing from an earlier run, as a warm
              start, a cache or an incremental fit does. A candidate that raises anything, SystemExit included, counts
              as the lowest score, so that failing tells no more than any other score; it can win only where all failed,
              as None. KeyboardInterrupt alone stops the program: no candidate may raise it. A mistake in a candidate
              looks like a low score: try each on made-up data first, candidate(lastbit.Sampler()).
    Checked:  tests/laws/test_private_selection.py, exactly: on all branches for up to 10 rounds, and up to 2000 by the
              closed form that the branches confirm; tight to 2% for 100 rounds or more.
    Speed:    K candidates; a watch can see K. With `constant` always `most` candidates, of which K count, so that a
              watch sees nothing of K.

    >>> import lastbit as lb
    >>> fair = [lambda draw: ("heads", draw.integer(10)), lambda draw: ("tails", draw.integer(10))]
    >>> choice = lb.PrivateSelection(candidates=fair, candidate_cost="1/10", most=199)
    >>> choice.cost, choice.release().output in ("heads", "tails")
    (Cost(epsilon=Fraction(3, 10)), True)
    >>> lb.PrivateSelection(candidates=fair, candidate_cost="1/10", most=199, law="-1/2").cost
    Cost(epsilon=Fraction(3, 20))
    """

    candidates: Sequence[Candidate]
    candidate_cost: Number | Eta
    most: int
    law: str | Number = "uniform"
    stop: Number | None = None
    threshold: Number | None = None
    constant: bool = False
    rounds: Rounds = field(init=False, repr=False, compare=False)
    """The law of the number of rounds, with its mean and its chance to miss the best candidates."""
    cost: Cost = field(init=False, repr=False, compare=False)
    parameters_identify: ClassVar[bool] = False

    def __post_init__(self) -> None:
        candidates = tuple(self.candidates)
        if not candidates or not all(callable(candidate) for candidate in candidates):
            raise ParameterError("candidates must be callables that take a Draw, at least one. Pass a list of them.")
        for place, candidate in enumerate(candidates):
            if (signature := wrong_signature(candidate, 1)) is not None:
                raise ParameterError(
                    f"candidates must take one argument, a Draw: candidate {place} takes {signature}. Bind the others "
                    "first, for example with functools.partial."
                )
        rounds = Rounds.of(self.law, self.most, self.stop)
        bar = None if self.threshold is None else number(self.threshold, "threshold")
        if bar is not None and rounds.rises:
            raise ParameterError(
                f"law must be at most 1 with a threshold: got {rounds.eta}. Write law='uniform', which costs two "
                "candidates there, and to find as much a larger most, which costs nothing."
            )
        one_candidate = Cost.of(self.candidate_cost)
        if not one_candidate.is_pure:
            raise ParameterError(
                "candidates must have a pure cost, an epsilon or an eta without a delta: got "
                f"{one_candidate.text}. Give each candidate an epsilon."
            )
        self._derive(
            candidates=candidates,
            candidate_cost=one_candidate.epsilon,
            most=rounds.most,
            law="geometric" if self.law == "geometric" else "uniform" if rounds.uniform else rounds.eta,
            stop=None if self.stop is None else 1 - rounds.keep,
            threshold=bar,
            constant=flag(self.constant, "constant"),
            rounds=rounds,
            # No composition: of what it adds up only the epsilon is known.
            cost=one_candidate.widened(rounds.times(threshold=bar is not None)),
        )

    @staticmethod
    def plan(
        budget: Cost | Eta | Number,
        candidate_cost: Cost | Eta | Number | None = None,
        *,
        most: int | None = None,
        mean: Number | None = None,
        shares: Sequence[Number] = ("1/20", "1/50", "1/100"),
    ) -> SelectionPlan:
        """Return which law and `most` are least likely to miss the best candidates, for a budget. Reads no data.

        Give either `most`, the runs that you can wait for at worst, or `mean`, those on average. With a threshold
        choose the uniform law: it costs two candidates, and of the laws that go with a threshold it misses least.
        docs/private-selection.md shows the table.

        >>> import lastbit as lb
        >>> best = lb.PrivateSelection.plan(1, "2/5", mean=20).best
        >>> best.law, best.most, best.cost
        (Fraction(1, 2), 53, Cost(epsilon=Fraction(1, 1)))
        """
        return selection_plan(budget, candidate_cost, most=most, mean=mean, shares=shares)

    @property
    def parameters(self) -> dict[str, str]:
        """The public parameters as text, for a ledger: of the candidates their number."""
        return {**super().parameters, "candidates": str(len(self.candidates))}

    def ready(self, values: None = None) -> Callable[[Draw], Winner]:
        """Return this selection, ready: all that is left is chance."""
        if values is not None:
            raise ParameterError("values must be None: the data is in the candidates. To pass a Draw, write draw=….")
        return self._run

    def _run(self, draw: Draw) -> Winner:
        try:
            return self._best(draw)
        except BaseException as error:
            # What ended the run was no candidate's failure, and goes on to the caller. The variables of the frames that
            # it comes from hold the number of rounds, outputs that lost and the candidates' data, and so may what a
            # candidate was handling: a traceback that prints variables prints none of them.
            clear_frames(error.__traceback__)
            error.__cause__ = error.__context__ = None
            raise

    def _best(self, draw: Draw) -> Winner:
        # Before anything else: how often the candidates run must not depend on them.
        last = draw.rounds(self.rounds)
        winner = best = Try()
        tied = 0
        for turn in range(1, (self.most if self.constant else last) + 1):
            place = draw.integer(len(self.candidates))
            attempt = Try.run(self.candidates[place], place, draw)
            if self.threshold is not None:
                if best.lowest and attempt.reaches(Fraction(self.threshold)):
                    best = attempt
            elif attempt.rank > best.rank:
                best, tied = attempt, 1
            elif attempt.rank == best.rank and not best.lowest:
                tied += 1
                # Each of m equals stays with probability 1/m.
                best = attempt if draw.integer(tied) == 0 else best
            # Rounds after the last do the same work, and nothing of them is kept.
            winner = best if turn <= last else winner
            if self.threshold is not None and not self.constant and not best.lowest:
                break
        if winner.lowest:
            return Winner(self.name, self.cost, None, None, None)
        return Winner(self.name, self.cost, winner.candidate, winner.output, winner.score)
