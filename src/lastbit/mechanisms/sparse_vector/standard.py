"""The sparse vector technique: which queries of a stream are over a threshold, with the gap, for the price of a few."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

from lastbit.errors import ParameterError
from lastbit.estimate.gaps import GapNoise
from lastbit.estimate.reported import ReportedLaw
from lastbit.exact.numbers import Number, number
from lastbit.mechanisms.sparse_vector.answers import Answer
from lastbit.mechanisms.sparse_vector.measured import MeasuredAbove
from lastbit.mechanisms.sparse_vector.mechanism import AboveThreshold, StreamMechanism
from lastbit.mechanisms.sparse_vector.run import parse_steps
from lastbit.values.known import lost_steps


@dataclass(frozen=True, kw_only=True)
class SparseVector(StreamMechanism):
    """Answer a stream of queries, above or below a threshold, until `limit` of them were above.

    Paper:    Liu et al. (one-sided noise, PVLDB 18), with gaps; with noise="laplace", Ding et al. (free gap), Algorithm
              1, with discrete noise, and with `clamp`, Ilvento (sparse vector), Algorithm 4, and so Algorithm 2 and the
              corrected Algorithm 5. The split is that of Lyu, Su and Li.
    Law:      above where value + query noise >= threshold + shift + threshold noise, and the gap is the difference;
              geometric noise upwards, one for the threshold, one for each query. The public shift is the difference of
              the two means, to the nearest step: so the threshold stays where you put it. With clamp=(q_min, q_max, w),
              value - threshold is brought into [q_min, q_max], and the threshold noise, less its mean to the nearest
              step, to within w of it. gaps=False gives no gaps, gaps=[…] the last of these that the gap reaches, or 0.
              noise="laplace" is discrete Laplace noise on both, of twice the variance, and no shift.
              measure="1/2" also measures each value above, with discrete Laplace noise of scale
              limit·sensitivity/(measure·epsilon): Ding et al. (free gap), section 6.2. The release is a MeasuredAbove.
    Cost:     epsilon or eta for the whole run: the split's share when it starts, the rest in equal parts for the
              answers above. Monotone queries, which one person moves all the same way, need half the query noise.
              `measure` is the part of the cost that measures; the run without measurements has the rest.
    Assumes:  one person moves every value by at most `sensitivity`; queries may be chosen after seeing the answers.
    Checked:  tests/laws/test_one_sided_sparse_vector.py and test_sparse_vector.py, exactly, up to three queries and two
              above, and test_measured_above.py with measurements. The proof is in kinds.py.
    Speed:    one draw and one comparison a query, thousands at a time in NumPy; memory does not grow.

    >>> mechanism = SparseVector(threshold=1000, limit=2, epsilon=1)
    >>> run = mechanism.start()
    >>> run.ask(0).above, run.ask(2000).above, run.exhausted
    (False, True, False)
    >>> float(mechanism.share)
    0.284...
    """

    clamp: tuple[Number, Number, Number] | None = None
    gaps: bool | Sequence[Number] = True
    measure: Number | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.measure is not None:
            self._derive(measure=self._measuring_part(self.measure))
        gaps = self.gaps if isinstance(self.gaps, bool) else self._parse_gaps(self.gaps)
        if isinstance(gaps, tuple):
            self._derive(gaps=self.grid.values(gaps))
        clamp = None if self.clamp is None else self._clamp_steps(self.clamp)
        if clamp is not None:
            self._derive(clamp=self.grid.values(clamp))
        (rate,) = self._rates((1,), self.limit)
        measurement = None if self.measure is None else self.cost.rate((1 - self._asks) / (self.limit * self._reach))
        plan = self._make_plan([(rate, 0, 1)], self.limit)
        self._derive(_plan=replace(plan, clamp=clamp, gaps=gaps, measurement_rate=measurement))

    @property
    def _asks(self) -> Fraction:
        return Fraction(1) if self.measure is None else 1 - Fraction(self.measure)

    @property
    def gap_noise(self) -> GapNoise:
        """The noise in threshold + gap as an estimate of the value: see `lastbit.estimate.gaps`.

        >>> import lastbit as lb
        >>> lb.SparseVector(threshold=0, limit=1, eta=lb.Eta(1, 4, 1), split="even").gap_noise.variance
        Fraction(22, 9)
        """
        if self._plan.clamp is not None or self._plan.gaps is not True:
            raise ParameterError("gaps must be exact and clamp None for threshold + gap to estimate a value.")
        return self._gap_noise(self._plan.branches[0])

    @property
    def reported_law(self) -> ReportedLaw:
        """The noises of measurements and gaps, and what they tell together: see `lastbit.estimate.reported`.

        >>> import lastbit as lb
        >>> mechanism = lb.SparseVector(threshold=0, limit=10, epsilon=1, measure="1/2", monotone=True)
        >>> round(float(mechanism.reported_law.error_left(10)), 2)
        0.45
        """
        if self._plan.measurement_rate is None:
            raise ParameterError("measure must be set for measurements to have a law: build it with measure='1/2'.")
        return ReportedLaw(self.gap_noise, self._plan.measurement_rate)

    def _more(self, values: Any) -> Callable[[tuple[Any, ...], Mapping[int, Answer]], AboveThreshold] | None:
        if self.measure is None:
            return None
        plan, resolution, above = self._plan, self.grid.resolution, lost_steps(values, self.grid)
        facts = (
            Fraction(self.threshold), plan.threshold_rate, plan.branches[0].rate, plan.measurement_rate, resolution,
            self.noise, not above, above or 1,
        )  # fmt: skip

        def build(fields: tuple[Any, ...], above: Mapping[int, Answer]) -> MeasuredAbove:
            return MeasuredAbove.made(*fields, tuple([answer.measurement for answer in above.values()]), *facts)

        return build

    def decisive(self, level: Number = "0.95", margin: Number = 0) -> Fraction:
        """Return a distance from the threshold: a query so far above, or so far below, is told rightly at this level.

        Values that were floored lie higher by up to a `margin`, which Counts of sums state as `counts.margin`: it is
        added. Lower bounds from a gap hold as they are, because floored values are never above the exact ones.

        >>> SparseVector(threshold=0, limit=1, epsilon=1).decisive()
        Fraction(8, 1)
        """
        return self.gap_noise.decisive(level) + number(margin, "margin")

    def _measuring_part(self, measure: Number) -> Fraction:
        part = number(measure, "measure")
        if not 0 < part < 1:
            raise ParameterError(
                f"measure must be above 0 and below 1: got {measure}. It is the part of the cost that measures."
            )
        if self.clamp is not None or self.gaps is not True:
            raise ParameterError("measure needs gaps=True and clamp=None: a gap must say how far a value is above.")
        return part

    def _parse_gaps(self, gaps: object) -> tuple[int, ...]:
        if not isinstance(gaps, Sequence) or isinstance(gaps, str) or not gaps:
            raise ParameterError("gaps must be True, False, or a list of gaps to tell apart, such as [1, 2, 5].")
        steps = tuple(parse_steps(self.grid, gap, "each of gaps") for gap in gaps)
        if steps[0] < 0 or any(lower >= upper for lower, upper in pairwise(steps)):
            raise ParameterError(f"gaps must rise, none below 0: got {list(gaps)}. Sort them.")
        return steps

    def _clamp_steps(self, clamp: object) -> tuple[int, int, int]:
        if not isinstance(clamp, Sequence) or isinstance(clamp, str) or len(clamp) != 3:
            raise ParameterError("clamp must be (q_min, q_max, w): the range of value - threshold, and a width.")
        least, most, width = (parse_steps(self.grid, end, "each of clamp") for end in clamp)
        if least > most or width < 0:
            raise ParameterError(f"clamp must have q_min <= q_max and w >= 0: got {tuple(clamp)}.")
        return least, most, width
