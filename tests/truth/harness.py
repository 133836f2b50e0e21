"""Asks a question again and again on fixed words, and judges what was said.

Repetitions go on until each claim is acquitted or convicted. After 100, 200, 400, 800 and 2,000 of them a claim is
acquitted if it failed so rarely that a claim which fails five times in a hundred more often than it says would fail as
rarely in 1 of 100 such runs. It is convicted if a true claim would fail as often in 1 of 100,000 runs. So of claims of
95% that hold for 90% at least 95 of 100 are convicted, and of true claims hardly one. The short run of `test_truth`
looks for claims that fail ten times in a hundred more often, and asks seldomer. It acquits after 50 too, by this rule.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import lastbit as lb
from lastbit.mechanisms.parts import LaterValues
from lastbit.questions.kinds import KINDS
from lastbit.questions.request import Request
from lastbit.values.contribution_bound import one_key
from lastbit.values.counts import Counts
from lastbit.values.grid_steps import GridSteps
from lastbit.values.group_sums import GroupSums
from lastbit.values.table_counts import TableCounts
from lastbit.values.unlisted import Unlisted
from tests.fixed_words import FixedWords
from tests.truth import (  # noqa: F401
    claims_counts,
    claims_groups,
    claims_in_each,
    claims_numbers,
    claims_selections,
    claims_tables,
)
from tests.truth.cases import Case
from tests.truth.claims import Answer, Outcome
from tests.truth.claims_describe import count_items_of_lots
from tests.truth.populations import STOCK, write
from tests.truth.reference import Reference

FUZZ = "LASTBIT_FUZZ" in os.environ
STAGES = (100, 200, 400, 800, 2000)
SHORT_STAGES = STAGES if FUZZ else (50, *STAGES)
LOTS = 2000 if FUZZ else 10
"""So many lots take turns: in the short run each is drawn from several times, as a lot is slow to read."""
MORE_OFTEN = Fraction(1, 20)
"""A claim that fails so much more often than it says is to be convicted."""


@dataclass
class Trial:
    """A case, and its answers on fixed words."""

    case: Case
    folder: Path
    _read: dict[int, Any] = field(default_factory=dict, repr=False)
    _plans: dict[Any, str] = field(default_factory=dict, repr=False)
    _truths: dict[Any, Reference] = field(default_factory=dict, repr=False)
    """What is true where a share of the cost chose these bounds."""

    @cached_property
    def request(self) -> Request:
        more = ("letters",) if "letters" in self.case.options.get("of", ()) else ()
        source = write(STOCK[self.case.population], self.folder, self.case.population, *more)
        options = {
            name: list(value) if isinstance(value, tuple) else value for name, value in self.case.options.items()
        }
        unit = {} if {"unit", "counts"} & options.keys() else {"unit": "row"}
        return KINDS[self.case.kind].parse({"source": source, **unit, **options})

    @cached_property
    def truth(self) -> Reference:
        return Reference(STOCK[self.case.population], {**self.case.options, "kind": self.case.kind})

    @property
    def is_of_several(self) -> bool:
        """Whether the question is about several columns of numbers."""
        return self.case.kind in ("sum", "mean") and isinstance(self.case.options["of"], tuple)

    def values(self, lot: int) -> Any:
        """Read the table with this lot."""
        if lot not in self._read:
            with one_key(lot):
                self._read[lot] = self.request.question.reading.run()  # type: ignore[union-attr]
        return self._read[lot]

    def plan(self, **options: Any) -> str:
        """Return the sentence of the plan, for a true guess how many units there are; with some other options."""
        key = tuple(options.items())
        if key not in self._plans:
            question = self.request.change(**options).question if options else self.request.question
            chosen = self.case.options.get("bounds") == "auto"
            of_numbers = self.case.kind in ("mean", "share") and not chosen and not self.is_of_several
            guess = len(self.truth.numbers) if of_numbers else self.truth.people
            guess = len(self.truth.raw_numbers) if chosen else guess
            self._plans[key] = question.accuracy(max(1, guess)).sentence
        return self._plans[key]

    def answer(self, repetition: int) -> Answer:
        """Return the answer on the words of this repetition."""
        lot = repetition % LOTS if self.case.lots else 0
        ready = self.request.question.prepare(self.values(lot))
        return self.describe(ready(lb.Sampler(FixedWords(f"{self.case.name} {repetition}"))), lot)

    def describe(self, release: Any, lot: int = 0) -> Answer:
        """Return all that is said about a release with this lot, and the truth."""
        question = self.request.question
        truth, report = self.truth, question.report(release)
        if self.case.options.get("bounds") == "auto":
            bounds = tuple(report.data["bounds"])
            own = {**truth.options, "bounds": bounds, "clamps_people": True}
            truth = self._truths.setdefault(bounds, Reference(truth.population, own))
        counted = None
        if self.case.lots and self.is_of_several:
            counted = {column: self._counted(own, release[column], truth) for column, own in self.values(lot).items()}
        elif self.case.lots:
            counted = self._counted(self.values(lot), release, truth)
        return Answer(self.case, truth, question, report, release, counted, self.plan)

    def _counted(self, values: Any, release: Any, truth: Reference) -> Any:
        """Return what the lot left: the number of each group, or the numbers in each group; else None."""
        if self.case.kind == "describe":
            return count_items_of_lots(values)
        main = values.get("answer", values) if isinstance(values, dict) else values
        if isinstance(main, LaterValues):
            main = main.make(release)
        if "in_each" in self.case.options:
            return {
                (item, group): value
                for group, own in main.items()
                for item, value in zip(own.items, map(Fraction, own.values), strict=True)
            }
        if isinstance(main, dict):
            main = main["numbers"] if "numbers" in main else main["answer"]
            main = main.make(release["answer"]) if isinstance(main, LaterValues) else main
        if isinstance(main, Unlisted):
            items, steps = main.highest(None)
            return {item: int(step) * Fraction(main.resolution) for item, step in zip(items, steps, strict=True)}
        if isinstance(main, TableCounts):
            return main.counts
        if isinstance(main, Counts):
            return dict(zip(truth.groups, map(Fraction, main.values), strict=True))
        if isinstance(main, GroupSums):
            squares = main.squares or [None] * len(main.values)
            pairs = zip(truth.groups, main.values, squares, strict=True)
            return {group: (*own, square) for group, own, square in pairs}
        if isinstance(main, GridSteps) and "by" in self.case.options:
            step = Fraction(self._step(release))
            return {group: [int(number) * step for number in sorted(numbers)]
                    for group, numbers in zip(truth.groups, main.steps, strict=True)}  # fmt: skip
        return None

    def _step(self, release: Any) -> Any:
        from lastbit.values.bounds import default_step

        return self.case.options.get("resolution") or default_step(self.case.options["bounds"])


@lru_cache(maxsize=4096)
def at_most(failures: int, n: int, rate: Fraction) -> float:
    """Return the probability of so few failures, or fewer, of n, where each fails with this probability."""
    if rate >= 1:
        return float(failures >= n)
    p = float(rate)
    ways = (math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) for k in range(failures + 1))
    masses = (math.exp(way + k * math.log(p) + (n - k) * math.log1p(-p)) for k, way in enumerate(ways))
    return min(1.0, sum(masses))


@dataclass
class Judge:
    """Counts how often each claim held."""

    level: Fraction
    more_often: Fraction = MORE_OFTEN
    heard: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    never: set[str] = field(default_factory=set)
    """Claims without a probability that failed."""

    def hear(self, outcomes: Iterable[Outcome]) -> None:
        for outcome in outcomes:
            if outcome.sure:
                self.never |= set() if outcome.held else {outcome.claim}
            else:
                self.heard[outcome.claim] += 1
                self.failed[outcome.claim] += not outcome.held

    def acquits(self, claim: str) -> bool:
        """Whether a claim failed too rarely for one that fails more often than it says."""
        return at_most(self.failed[claim], self.heard[claim], 1 - self.level + self.more_often) <= 0.01

    def convicts(self, claim: str) -> bool:
        """Whether a claim failed too often for a true one."""
        failed = self.failed[claim]
        return failed > 0 and 1 - at_most(failed - 1, self.heard[claim], 1 - self.level) <= 1e-5

    @property
    def convicted(self) -> dict[str, str]:
        """The claims that are false, and how often each held."""
        shares = {claim: f"held {self.heard[claim] - self.failed[claim]:,} of {self.heard[claim]:,} times"
                  for claim in self.heard if self.convicts(claim)}  # fmt: skip
        return {**shares, **dict.fromkeys(sorted(self.never), "was said for certain")}


def hear_case(
    trial: Trial,
    repetitions: Iterator[Iterable[Outcome]] | None = None,
    level: Any = None,
    more_often: Fraction = MORE_OFTEN,
    stages: Sequence[int] = STAGES,
) -> Judge:
    """Repeat a case until each of its claims is acquitted or convicted, or for 2,000 times."""
    level = trial.case.options.get("level", "0.95") if level is None else level
    judge = Judge(Fraction(level), more_often)
    if repetitions is None:
        repetitions = (trial.answer(repetition).outcomes for repetition in range(STAGES[-1]))
    done = 0
    for stage in stages:
        while done < stage:
            judge.hear(next(repetitions))
            done += 1
        # What is said under a condition that seldom holds does not keep the others waiting.
        heard_often = [claim for claim in judge.heard if 4 * judge.heard[claim] >= done]
        if all(judge.acquits(claim) or judge.convicts(claim) for claim in heard_often):
            break
    return judge
