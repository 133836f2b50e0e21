"""Which law of the number of rounds to choose for a private selection, before anything is spent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Final

from lastbit.chance.rounds import MOST, Rounds
from lastbit.errors import ParameterError
from lastbit.exact.numbers import Number, number, probability, shorten, whole
from lastbit.privacy.cost import Cost
from lastbit.privacy.eta import Eta
from lastbit.release import text_table

_LAWS: Final = (Fraction(1), Fraction(1, 2), Fraction(0), Fraction(-1, 2))
_LARGEST: Final = Fraction(2)
_BITS: Final = 256
_LONGEST: Final = 1 << 23
"""Bits of a chance below the bar: each run adds those of the share. Longer ones nobody waits for."""


@dataclass(frozen=True)
class SelectionOption:
    """A law of the number of rounds, the costs, and for each share the chance that no run is among the best."""

    rounds: Rounds
    candidate_cost: Cost
    cost: Cost
    misses: tuple[Fraction, ...]

    @property
    def law(self) -> str | Fraction:
        """The law, as PrivateSelection takes it."""
        return "uniform" if self.rounds.uniform else self.rounds.eta

    @property
    def most(self) -> int:
        """The largest number of rounds, as PrivateSelection takes it."""
        return self.rounds.most


@dataclass(frozen=True, repr=False)
class SelectionPlan:
    """The laws that a budget pays for, the one that misses the best candidates least often first. Reads no data.

    >>> import lastbit as lb
    >>> plan = lb.PrivateSelection.plan("3/2", "1/2", most=20)
    >>> plan.best.law, plan.best.most
    ('uniform', 20)
    """

    budget: Cost
    shares: tuple[Fraction, ...]
    options: tuple[SelectionOption, ...]

    @property
    def best(self) -> SelectionOption:
        """The option that is least likely to miss the smallest share of best candidates."""
        return self.options[0]

    def columns(self) -> dict[str, Sequence[object]]:
        """Return the table, column by column: exact fractions."""
        return {
            "law": [option.law for option in self.options],
            "most": [option.most for option in self.options],
            "mean": [option.rounds.mean for option in self.options],
            "candidate": [option.candidate_cost.text for option in self.options],
            "selection": [option.cost.text for option in self.options],
            **{
                f"misses top {_percent(share)}": [option.misses[place] for option in self.options]
                for place, share in enumerate(self.shares)
            },
        }

    def __str__(self) -> str:
        columns = self.columns()
        rows = [
            [_cell_text(name, cell) for name, cell in zip(columns, row, strict=True)]
            for row in zip(*columns.values(), strict=True)
        ]
        return f"Private selection within {self.budget.text}:\n{text_table(list(columns), rows)}"

    def __repr__(self) -> str:
        return str(self)


def selection_plan(
    budget: Cost | Eta | Number,
    candidate_cost: Cost | Eta | Number | None = None,
    *,
    most: int | None = None,
    mean: Number | None = None,
    shares: Sequence[Number] = ("1/20", "1/50", "1/100"),
) -> SelectionPlan:
    """Return the laws that a budget pays for, with the chance that none of the runs is among the best candidates.

    Either all laws have the same `most`, the number of runs that you can wait for at worst, or the same `mean`, the
    number that you can wait for on average: then most is the least with at least this mean. With a candidate_cost the
    plan also has the law with the largest η that the budget pays for, at most 2: of a budget of more than four
    candidates a part is left. Without one it says what a candidate may cost under each law. Laws that do not take so
    many rounds are left out.

    A run is a candidate picked at random with its private score; "top 1%" are the best 1% of runs.

    >>> print(selection_plan(3, 1, mean=100))
    Private selection within epsilon 3:
        law  most    mean  candidate    selection  misses top 5%  misses top 2%  misses top 1%
    uniform   199     100  epsilon 1    epsilon 3          0.095          0.242          0.430
        1/2   285  100.26  epsilon 1  epsilon 5/2          0.192          0.336          0.489
          0   716  100.12  epsilon 1    epsilon 2          0.419          0.547          0.644
       -1/2 31216     100  epsilon 1  epsilon 3/2          0.779          0.861          0.903
    """
    if (most is None) == (mean is None):
        raise ParameterError(
            "exactly one of most and mean must be given: the runs that you can wait for at worst, or on average. "
            "Write mean=100."
        )
    total = _pure(budget, "budget")
    candidate = None if candidate_cost is None else _pure(candidate_cost, "candidate_cost")
    exact = tuple(probability(share, "a share") for share in shares)
    if not exact:
        raise ParameterError("shares must have at least one share, such as '1/100' for the best 1% of runs.")
    rarest = min(range(len(exact)), key=lambda place: exact[place])
    cap = _LONGEST // max(share.denominator for share in exact).bit_length()
    target = Fraction(whole(most, "most")) if mean is None else number(mean, "mean")
    if target < 1:
        raise ParameterError(f"mean must be at least 1: got {shorten(target)}. At least one candidate runs.")
    affordable = list(_affordable(total, candidate))
    if not affordable:
        raise ParameterError(
            f"budget must be more than the cost of a candidate: got {total.text}. The selection costs more than one "
            "candidate."
        )
    options = [
        SelectionOption(rounds, one, one.widened(2 + eta), tuple(rounds.misses(share) for share in exact))
        for eta, one in affordable
        if (rounds := _rounds(eta, target, cap, average=mean is not None)) is not None
    ]
    if not options:
        raise ParameterError(
            f"{'most' if mean is None else 'mean'} must be smaller: got {shorten(target)}. No law that the budget pays "
            f"for takes so many rounds: the uniform law takes up to {cap:,} here, others up to {min(cap, MOST):,}."
        )
    return SelectionPlan(total, exact, tuple(sorted(options, key=lambda option: option.misses[rarest])))


def _affordable(total: Cost, candidate: Cost | None) -> Iterator[tuple[Fraction, Cost]]:
    """Yield the laws by their eta, with the cost of a candidate."""
    budget = total.amount or Fraction(0)
    if candidate is None:
        for eta in _LAWS:
            yield eta, Cost(budget / (2 + eta))
        return
    # In nats that are rounded up the quotient of two etas can be off: what does not fit is left out.
    largest_eta = min(_LARGEST, budget / (candidate.amount or budget) - 2)
    for eta in sorted({*_LAWS, *([largest_eta] if largest_eta > -1 else [])}):
        if (candidate.widened(2 + eta).amount or budget) <= budget:
            yield eta, candidate


def _rounds(eta: Fraction, target: Fraction, cap: int, *, average: bool) -> Rounds | None:
    """Return the law with this most, or with the least that has this mean; None where that would be too many."""
    cap = cap if eta == 1 else min(cap, MOST)
    if target > cap:
        return None
    if not average:
        return Rounds(int(target), eta)
    if eta != 1:
        return _least(eta, target, cap)
    most = ceil(2 * target - 1)
    return Rounds(most, eta) if most <= cap else None


def _least(eta: Fraction, mean: Fraction, cap: int) -> Rounds | None:
    """Return the law with the least most that has this mean."""
    # The mean is reached when the sum of (k - mean)·p_k is no longer below 0. Bounds of the masses tell when that is
    # sure; in between, as where the mean is reached exactly, the exact mean decides.
    low = high = 1 << _BITS
    least = most = 0
    for k in range(1, cap + 1):
        over = k * mean.denominator - mean.numerator
        least += over * (low if over >= 0 else high)
        most += over * (high if over >= 0 else low)
        law = Rounds(k, eta)
        if least >= 0 or (most >= 0 and law.mean >= mean):
            return law
        above, below = law.ratio(k)
        low, high = low * above // below, -(-high * above // below)
    return None


def _pure(value: Cost | Eta | Number, name: str) -> Cost:
    cost = Cost.of(value)
    if not cost.is_pure:
        raise ParameterError(f"{name} must be a pure cost, an epsilon or an eta without a delta: got {cost.text}.")
    return cost


def _percent(share: Fraction) -> str:
    return f"{float(100 * share):g}%"


def _cell_text(name: str, cell: object) -> str:
    if name == "mean" and isinstance(cell, Fraction):
        return f"{float(cell):.5g}"
    return f"{float(cell):.3f}" if name.startswith("misses") and isinstance(cell, Fraction) else str(cell)
