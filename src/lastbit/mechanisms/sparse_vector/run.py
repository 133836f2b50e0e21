"""A run over a stream of queries: how it is asked, one by one, many at a time, or as they come."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from threading import Lock
from typing import Any, Final, overload

import numpy as np
from numpy.typing import NDArray

from lastbit.chance.bits import current_process
from lastbit.chance.draw import Draw
from lastbit.errors import ParameterError, RunBound, RunExhausted
from lastbit.exact.numbers import Number, number
from lastbit.mechanisms.sparse_vector.answers import BELOW, Answer, Answers
from lastbit.mechanisms.sparse_vector.kinds import NoiseKind
from lastbit.mechanisms.sparse_vector.noise import Branch, HiddenNoise, Unshared
from lastbit.privacy.rate import Rate
from lastbit.values.grid import LIMIT, Grid, Steps
from lastbit.values.raw import is_plain, unwrap

FEW: Final = 32
"""So many queries are asked one by one, which is faster than asking them together, and the same."""

Query = Number | tuple[Number, Number]
"""A value, or a value and the threshold it is compared with."""


def parse_steps(grid: Grid, amount: Number, name: str) -> int:
    """Return a public amount in steps, refused unless it is a whole number of them.

    >>> parse_steps(Grid("1/10"), 0.3, "threshold")
    3
    """
    steps = number(amount, name) / grid.resolution
    if steps.denominator != 1 or abs(steps) > LIMIT:
        raise ParameterError(
            f"{name} must be a whole number of steps of the resolution {grid.resolution}, at most 2^61 of them: got "
            f"{amount}. Nothing was drawn; round it, or use another resolution."
        )
    return steps.numerator


@dataclass(frozen=True, slots=True)
class RunPlan:
    """All that is public about a run; numbers of steps are on the grid."""

    grid: Grid
    kind: NoiseKind
    threshold: int
    threshold_rate: Rate
    branches: tuple[Branch, ...]
    units: int
    """The budget of the queries, in whole units."""
    opening: Fraction
    """The cost of the threshold, spent once."""
    unit: Fraction
    """The cost of one unit."""
    clamp: tuple[int, int, int] | None = None
    gaps: bool | tuple[int, ...] = True
    measurement_rate: Rate | None = None
    """The noise of the measurement of an answer above; None where nothing is measured."""
    stages: tuple[tuple[Branch, ...], ...] = field(init=False, repr=False, compare=False)
    """The branches that are tried while the first 0, 1, 2, … of them can be paid."""
    prices: dict[int, Fraction] = field(init=False, repr=False, compare=False)
    """The cost of an answer by each branch, by its units."""

    def __post_init__(self) -> None:
        # A query that fails the dearest branch tried is below: so this branch asks for no margin, whichever it is.
        last = [replace(branch, margin=0) for branch in self.branches]
        stages = tuple((*self.branches[:i], last[i]) for i in range(len(last)))
        object.__setattr__(self, "stages", ((), *stages))
        object.__setattr__(self, "prices", {branch.units: branch.units * self.unit for branch in self.branches})

    @property
    def total(self) -> Fraction:
        """The whole cost of a run."""
        return self.opening + self.units * self.unit

    def tried(self, left: int) -> tuple[Branch, ...]:
        """Return the branches that a query is tried by while so many units are left: those that can still be paid.

        They and their margins follow from the answers published before, so the proof in kinds.py holds for them.
        """
        return self.stages[sum(branch.units <= left for branch in self.branches)]

    def bases(self, thresholds: object, n: int) -> Steps:
        """Return one threshold for each of n queries, in steps."""
        if not isinstance(thresholds, Sequence | np.ndarray) or len(thresholds) != n:
            raise ParameterError("thresholds must be a sequence with one threshold for each value. Nothing was drawn.")
        return np.fromiter((parse_steps(self.grid, threshold, "threshold") for threshold in thresholds), np.int64, n)


class Run(Unshared):
    """Answers queries until its budget is spent. It holds the noisy threshold and never shows it.

    Built by a mechanism's `start()`. Threads may share a run: its answers come one after the other.

    >>> import lastbit as lb
    >>> run = lb.SparseVector(threshold=1000, limit=1, epsilon=1).start()
    >>> run.ask(0).above, run.ask(2000).above, run.exhausted
    (False, True, True)
    """

    __slots__ = ("__weakref__", "_hidden", "_left", "_lock", "_plan", "_process", "_unfinished")

    def __init__(self, plan: RunPlan, draw: Draw) -> None:
        self._plan = plan
        self._lock = Lock()
        self._process = current_process()
        self._left = plan.units
        self._unfinished = 0
        self._hidden: HiddenNoise | None = HiddenNoise(
            draw,
            plan.kind,
            plan.threshold_rate,
            plan.tried(plan.units),
            None if plan.clamp is None else plan.clamp[2],
            plan.gaps,
        )

    @property
    def exhausted(self) -> bool:
        """Whether the run has answered its last query."""
        return self._hidden is None

    @property
    def spent(self) -> Fraction:
        """The cost so far, the threshold's part included."""
        return self._plan.opening + (self._plan.units - self._left) * self._plan.unit

    @property
    def unspent(self) -> Fraction:
        """What the answers so far have not spent of the whole cost. `ledger.close(run)` gives it back.

        >>> import lastbit as lb
        >>> run = lb.SparseVector(threshold=1000, limit=2, epsilon=1, split="even").start()
        >>> run.ask(2000).above, run.spent, run.unspent
        (True, Fraction(3, 4), Fraction(1, 4))
        """
        return self._left * self._plan.unit

    def is_of(self, mechanism: object) -> bool:
        """Return whether this very mechanism started the run: only its price says what the answers cost."""
        return getattr(mechanism, "_plan", None) is self._plan

    @property
    def answers_lost(self) -> bool:
        """Whether an answer was cut short by an error: nobody knows what it told, so nothing is given back."""
        return self._unfinished > 0

    def close(self) -> Fraction:
        """End the run for good, and return what is unspent. The noisy threshold is destroyed before this returns.

        >>> import lastbit as lb
        >>> run = lb.SparseVector(threshold=1000, limit=2, epsilon=1, split="even").start()
        >>> run.close(), run.exhausted
        (Fraction(1, 2), True)
        """
        self._check_process()
        with self._lock:
            self._hidden = None
            return self.unspent

    def __repr__(self) -> str:
        return f"<Run: spent {self.spent}{', exhausted' if self.exhausted else ''}>"

    def ask(self, value: Number, threshold: Number | None = None) -> Answer:
        """Return the answer to one query; `threshold` overrides the mechanism's for this query."""
        plan = self._plan
        base = plan.threshold if threshold is None else parse_steps(plan.grid, threshold, "threshold")
        step = plan.grid.step(value)
        self._check_process()
        with self._lock:
            return self._answer(self._require_noise(), step, base)

    def ask_many(self, values: Any, thresholds: Any = None) -> Answers:
        """Return the answers to queries in order, up to the one that exhausts the run: the same as asking one by one.

        >>> import lastbit as lb
        >>> run = lb.SparseVector(threshold=1000, limit=2, epsilon=1).start()
        >>> run.ask_many([0, 2000, 0, 2000, 0]).indices
        (1, 3)
        """
        plan = self._plan
        # Anything but a plain array is converted first: a wrong type must not end a run half asked.
        values = unwrap(values)
        plain = is_plain(values)
        queries = values.ravel() if plain else plan.grid.steps(values)
        bases = None if thresholds is None else plan.bases(thresholds, len(queries))
        return Answers(*self._many(queries, bases, plain=plain))

    def answer_queries(self, queries: NDArray[Any] | list[int], *, plain: bool) -> tuple[int, dict[int, Answer]]:
        """Answer these queries, up to the one that exhausts the run: how many that are, and the answers above.

        The queries are a plain array of values, or steps of the grid: an array, or a list of a few.
        """
        if not isinstance(queries, list):
            return self._many(queries, None, plain=plain)
        above: dict[int, Answer] = {}
        base, place = self._plan.threshold, 0
        self._check_process()
        with self._lock:
            hidden = self._require_noise()
            for place, step in enumerate(queries, start=1):
                answer = self._answer(hidden, step, base)
                if answer is not BELOW:
                    above[place - 1] = answer
                if self._hidden is None:
                    break
        return place, above

    def _many(self, values: NDArray[Any], bases: Steps | None, *, plain: bool) -> tuple[int, dict[int, Answer]]:
        plan, total, done = self._plan, len(values), 0
        above: dict[int, Answer] = {}
        self._check_process()
        with self._lock:
            hidden = self._require_noise()
            self._unfinished += 1
            while done < total and not self.exhausted:
                stop = done + hidden.draw_ahead(total - done)
                places = (
                    hidden.compare_values(values[done:stop], plan.grid, plan.threshold)
                    if plain and bases is None
                    else None
                )
                if places is None:
                    steps = plan.grid.steps(values[done:stop]) if plain else values[done:stop]
                    base = plan.threshold if bases is None else bases[done:stop]
                    if plan.clamp is not None:
                        steps = np.clip(steps, base + plan.clamp[0], base + plan.clamp[1])
                    places = hidden.compare_many(steps, base)
                tried = plan.tried(self._left)
                for k in places:
                    if (passed := hidden.branch_at(k)) is not None:
                        above[done + k] = self._above(hidden, *passed, self._base(bases, done + k))
                        if plan.tried(self._left) is not tried:
                            # The queries that follow are tried by other branches, with the same noise.
                            hidden.go_back(k + 1)
                            stop = done + k + 1
                            break
                done = stop
            self._unfinished -= 1
        return done, above

    def _base(self, bases: Steps | None, place: int) -> int:
        return self._plan.threshold if bases is None else int(bases[place])

    @overload
    def stream(self, queries: Iterable[Query]) -> Iterator[Answer]: ...
    @overload
    def stream(self, queries: AsyncIterable[Query]) -> AsyncIterator[Answer]: ...
    def stream(self, queries: Iterable[Query] | AsyncIterable[Query]) -> Iterator[Answer] | AsyncIterator[Answer]:
        """Return the answers to a stream as it comes, for `for` or `async for`; it ends when the run is exhausted.

        A query is a value, or a tuple of a value and its threshold. After the last answer no further query is taken.

        >>> import lastbit as lb
        >>> run = lb.SparseVector(threshold=1000, limit=1, epsilon=1).start()
        >>> [answer.above for answer in run.stream(iter([0, 0, 2000, 0]))]
        [False, False, True]
        """
        self._check_process()
        self._require_noise()
        if isinstance(queries, AsyncIterable):
            return self._stream_async(queries)
        if isinstance(queries, Iterable):
            return self._stream(queries)
        raise ParameterError(f"queries must be an iterable or an async iterable: got {type(queries).__name__}.")

    def _stream(self, queries: Iterable[Query]) -> Iterator[Answer]:
        for query in queries:
            if self.exhausted:  # by another user of the run, while this one waited
                return
            yield self._ask(query)
            if self.exhausted:
                return

    async def _stream_async(self, queries: AsyncIterable[Query]) -> AsyncIterator[Answer]:
        async for query in queries:
            if self.exhausted:  # by another user of the run, while this one waited
                return
            yield self._ask(query)
            if self.exhausted:
                return

    def _answer(self, hidden: HiddenNoise, step: int, base: int) -> Answer:
        clamp = self._plan.clamp
        if clamp is not None:
            step = max(base + clamp[0], min(base + clamp[1], step))
        self._unfinished += 1
        passed = hidden.compare(step, base)
        answer = BELOW if passed is None else self._above(hidden, *passed, base)
        self._unfinished -= 1
        return answer

    def _ask(self, query: Query) -> Answer:
        return self.ask(*query) if isinstance(query, tuple) and len(query) == 2 else self.ask(query)

    def _check_process(self) -> None:
        if self._process != current_process():
            raise RunBound(
                "a run cannot go on in a forked process: its noise would be used twice. Nothing was drawn; start "
                "another run there."
            )

    def _require_noise(self) -> HiddenNoise:
        if self._hidden is None:
            raise RunExhausted("the run has spent its budget. Nothing was drawn; start another run, at its full cost.")
        return self._hidden

    def _above(self, hidden: HiddenNoise, branch: Branch, steps: int, base: int) -> Answer:
        """Return the answer to a query that was above its threshold `base`, by a gap of so many steps."""
        plan = self._plan
        before = self.unspent if len(plan.branches) > 1 else None
        self._left -= branch.units
        measured = None
        if plan.measurement_rate is not None:
            measured = plan.grid.value(base + hidden.measure(plan.measurement_rate))
        tried = plan.tried(self._left)
        if tried:
            hidden.try_only(tried)
        else:
            self._hidden = None  # it is of no more use to anyone but an attacker
        gap = plan.grid.value(steps) if plan.gaps else None
        return Answer.made(True, gap, plan.prices[branch.units], measured, before)
