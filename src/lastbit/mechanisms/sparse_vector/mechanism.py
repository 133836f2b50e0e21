"""The base of mechanisms that answer a stream: a threshold, a limit, a split, and how a run starts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate
from typing import Any, Final

import gmpy2

from lastbit.chance.draw import Draw
from lastbit.errors import ParameterError
from lastbit.estimate.gaps import GapNoise
from lastbit.exact.numbers import Number, flag, number, whole
from lastbit.mechanisms.grid_mechanism import GridMechanism
from lastbit.mechanisms.mechanism import resolve_draw
from lastbit.mechanisms.sparse_vector.answers import Answer, Answers
from lastbit.mechanisms.sparse_vector.kinds import NoiseKind, NoiseName, kind_of
from lastbit.mechanisms.sparse_vector.noise import Branch
from lastbit.mechanisms.sparse_vector.run import FEW, Run, RunPlan, parse_steps
from lastbit.output.words import plural
from lastbit.privacy.rate import Rate
from lastbit.release import Release
from lastbit.values.known import unpack_values
from lastbit.values.raw import is_plain

SPLIT_DENOMINATOR: Final = 1 << 20
"""The optimal split's cube root is rounded down to a whole part of this."""


def optimal_share(limit: int, monotone: bool) -> Fraction:
    """Return the threshold's share of the cost: 1/(1 + s), s the cube root of (2·limit)², or of limit² when monotone.

    That is the ratio 1 : (2c)^⅔ of Lyu, Su and Li, which makes the variance of a gap smallest. The root is rounded down
    to a multiple of 2^-20, so the share is a fixed rational; any share is private, and this one is the best to 2^-40.

    >>> optimal_share(4, monotone=False), optimal_share(8, monotone=True)
    (Fraction(1, 5), Fraction(1, 5))
    """
    power = limit**2 if monotone else 4 * limit**2
    root, _ = gmpy2.iroot(power * SPLIT_DENOMINATOR**3, 3)
    return Fraction(SPLIT_DENOMINATOR, SPLIT_DENOMINATOR + int(root))


def share_of(split: Number, limit: int, monotone: bool) -> Fraction:
    """Return the threshold's share of the cost, by the name of a split or as a number between 0 and 1."""
    if split == "optimal":
        return optimal_share(limit, monotone)
    if split == "even":
        return Fraction(1, 2)
    share = Fraction(0) if isinstance(split, str) and split.isalpha() else number(split, "split")
    if not 0 < share < 1:
        raise ParameterError(
            f"split must be 'optimal', 'even', or a number between 0 and 1: got {split}. It is the threshold's share "
            "of the cost."
        )
    return share


@dataclass(frozen=True, eq=False, repr=False)
class AboveThreshold(Release):
    """The queries that were above, each with its gap and its cost, out of all queries `answered`.

    `unspent` is what the answers left of the cost, in the unit of `spent`. A ledger gives it back to an account of
    epsilon, as `Ledger.close` says.

    >>> import lastbit as lb
    >>> found = lb.SparseVector(threshold=100, limit=1, epsilon=9).release([3, 900, 2])
    >>> found.indices, found.answered
    ((1,), 2)
    """

    answered: int
    indices: tuple[int, ...]
    gaps: tuple[Fraction | None, ...]
    spent: tuple[Fraction, ...] = field(hash=False)
    items: tuple[Any, ...] | None = field(default=None, compare=False)
    """The items that were above, when the values were Counts."""
    unspent: Fraction = field(default=Fraction(0), compare=False)

    @property
    def answers(self) -> Answers:
        """Every answer of the run, above or below."""
        # What was left before each answer: what is left in the end, and what it and those after it spent.
        left = list(accumulate(reversed(self.spent), initial=self.unspent))[:0:-1]
        rows = zip(self.gaps, self.spent, self._measurements, left, strict=True)
        answers = [Answer(True, gap, spent, measured, before) for gap, spent, measured, before in rows]
        return Answers(self.answered, dict(zip(self.indices, answers, strict=True)))

    @property
    def _measurements(self) -> Sequence[Fraction | None]:
        return (None,) * len(self.indices)

    @property
    def title(self) -> str:
        """The line above the table."""
        return f"{super().title}: {len(self.indices):,} of {plural(self.answered, 'query', 'queries')} above"

    def facts(self) -> dict[str, Any]:
        """Return how many queries were answered, and what the answers left of the cost."""
        return {"answered": self.answered, "unspent": self.unspent}

    def columns(self) -> dict[str, Sequence[Any]]:
        """Return the queries above, by their place in the stream."""
        items: dict[str, Sequence[Any]] = {} if self.items is None else {"item": self.items}
        return {**items, "query": self.indices, "spent": self.spent, "gap": self.gaps}


@dataclass(frozen=True)
class WholeRun:
    """A run over values that are all there, ready for the draw: it starts, answers and closes in one call."""

    plan: RunPlan
    publish: Callable[[Draw], AboveThreshold]

    def __call__(self, draw: Draw) -> AboveThreshold:
        """Return the queries above."""
        return self.publish(draw)

    def is_of(self, mechanism: object) -> bool:
        """Return whether this very mechanism made the run ready: only its price says what the answers cost."""
        return getattr(mechanism, "_plan", None) is self.plan

    def unspent_share(self, release: AboveThreshold) -> Fraction:
        """Return the part of the whole cost that the answers of its release have not spent."""
        return release.unspent / self.plan.total


@dataclass(frozen=True, kw_only=True)
class StreamMechanism(GridMechanism[AboveThreshold]):
    """Answers a stream of queries: the threshold takes its share of the cost, the answers above take the rest."""

    threshold: Number
    limit: int
    split: Number = "optimal"
    monotone: bool = False
    noise: NoiseName = "one-sided"
    share: Fraction = field(init=False, repr=False, compare=False)
    """The threshold's share of the cost, or of the part of it that does not go to measurements."""
    _kind: NoiseKind = field(init=False, repr=False, compare=False)
    _plan: RunPlan = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        limit = whole(self.limit, "limit")
        monotone = flag(self.monotone, "monotone")
        share, threshold = share_of(self.split, limit, monotone), number(self.threshold, "threshold")
        split = self.split if self.split in ("optimal", "even") else share
        self._derive(monotone=monotone, limit=limit, share=share, split=split, threshold=threshold)
        self._derive(_kind=kind_of(self.noise))

    @property
    def _asks(self) -> Fraction:
        """The part of the cost that threshold and queries take; the rest goes to measurements."""
        return Fraction(1)

    def _rates(self, units: Sequence[int], total: int) -> list[Rate]:
        """Return the query noise of answers that spend so many units, of this total.

        Noise of loss λ per step on a query that is above costs 2λ a step of sensitivity: one for the query's own
        move, one for the threshold's. When all queries move the same way one of the two is zero.
        """
        moves = 1 if self.monotone else 2
        part = self._asks * (1 - self.share) / (total * moves * self._reach)
        return [self.cost.rate(part * spent_units) for spent_units in units]

    def _make_plan(self, settings: Iterable[tuple[Rate, int, int]], total: int) -> RunPlan:
        """Return the plan of a run whose branches have these rates, margins and units."""
        unit, opening = self.cost.share_unit, self._asks * self.share
        threshold_rate = self.cost.rate(opening / self._reach)
        return RunPlan(
            grid=self.grid,
            kind=self._kind,
            threshold=parse_steps(self.grid, self.threshold, "threshold"),
            threshold_rate=threshold_rate,
            branches=tuple(Branch(*setting, self._kind.centre(threshold_rate, setting[0])) for setting in settings),
            units=total,
            opening=opening * unit,
            unit=(1 - opening) * unit / total,
        )

    def _gap_noise(self, branch: Branch) -> GapNoise:
        return self._kind.gap(self._plan.threshold_rate, branch.rate, self.grid.resolution, branch.margin)

    def start(self, draw: Draw | None = None) -> Run:
        """Draw the noisy threshold and begin. Charge `cost` before you call this: a run can spend all of it."""
        return Run(self._plan, resolve_draw(draw))

    def answers(self, values: Any, draw: Draw | None = None) -> Answers:
        """Return all answers of a whole run over these values."""
        return self.start(draw).ask_many(values)

    def ready(self, values: Any) -> Callable[[Draw], AboveThreshold]:
        """Return a whole run over these values, as a table of the queries above: numbers, Counts or a Statistic."""
        numbers, items = unpack_values(values, self._furthest, self.monotone)
        # A plain array is converted part by part, as the run goes on.
        plain = is_plain(numbers) and numbers.size > FEW
        queries = numbers.ravel() if plain else self.grid.steps(numbers)
        if len(queries) <= FEW:
            queries = queries.tolist()
        name, cost, plan, more = self.name, self.cost, self._plan, self._more(values)

        def publish(draw: Draw) -> AboveThreshold:
            run = Run(plan, draw)
            count, above = run.answer_queries(queries, plain=plain)
            names = None if items is None else tuple(items[index] for index in above)
            gaps = tuple([answer.gap for answer in above.values()])
            spent = tuple([answer.spent for answer in above.values()])
            fields = name, cost, count, tuple(above), gaps, spent, names, run.close()
            return AboveThreshold.made(*fields) if more is None else more(fields, above)

        return WholeRun(plan, publish)

    def _more(self, values: Any) -> Callable[[tuple[Any, ...], Mapping[int, Answer]], AboveThreshold] | None:
        """Return what makes the release of a mechanism that publishes more; None where it is an AboveThreshold."""
        return None
