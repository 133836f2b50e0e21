"""Select, then measure the selected values, and let the free gaps sharpen the measurements where there are gaps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from lastbit.chance.draw import Draw, Samples
from lastbit.errors import ParameterError
from lastbit.exact.numbers import Number, number
from lastbit.mechanisms.top_k.measurements import MeasuredSelection, MeasuredSet, MeasuredTopK
from lastbit.mechanisms.top_k.mechanism import SelectionMechanism, check_enough
from lastbit.mechanisms.top_k.selector import StepsOf
from lastbit.mechanisms.top_k.set_selector import Form, SetSelector
from lastbit.privacy.rate import Rate
from lastbit.values.known import lost_steps, unpack_values


@dataclass(frozen=True, kw_only=True)
class SelectAndMeasure(SelectionMechanism[MeasuredSelection]):
    """Pick the k largest values and measure each of them; the gaps sharpen the measurements where they can be trusted.

    `selection="noise"` picks as NoisyTopK does, with gaps, and publishes a MeasuredTopK. `selection="set"` picks as
    SubsetTopK does, in the same two forms: it finds more of the right candidates where k is large, has no gaps, and
    publishes a MeasuredSet.

    Paper:    Ding et al., Free Gap Information from the Differentially Private Sparse Vector and Noisy Max Mechanisms,
              section 5.3, with the exponential noise of the secure paper; the estimates allow for lucky noise.
    Law:      NoisyTopK or SubsetTopK with `split` of the cost; then each selected value plus discrete Laplace noise of
              scale k·sensitivity/((1 - split)·epsilon). The estimates are computed from the published numbers.
    Cost:     epsilon (or eta) in all: `split` of it selects, the rest measures.
    Assumes:  the same as NoisyTopK or SubsetTopK.
    Checked:  tests/laws/test_select_and_measure.py: the loss on neighbours, exactly, for n = 2, and n = 4 for sets; the
              error it saves on a fixed tape. tests/estimate/test_blue.py: estimates, against generalised least squares
              in fractions.
    Speed:    that of NoisyTopK or SubsetTopK, and k words or a few times that.

    >>> import lastbit as lb
    >>> top = lb.SelectAndMeasure(k=2, epsilon=2, monotone=True).release([5000, 10, 9000, 20])
    >>> top.indices, [round(error, 2) for error in top.standard_errors]
    ((2, 0), [2.83, 2.83])
    >>> [round(estimate, -2) for estimate in top.estimates]
    [Fraction(9000, 1), Fraction(5000, 1)]
    >>> lb.SelectAndMeasure(k=2, epsilon=2, selection="set").release([5000, 10, 9000, 20]).indices
    (0, 2)
    """

    split: Number = "1/2"
    selection: Literal["noise", "set"] = "noise"
    form: Form = "both"
    _measurement_rate: Rate = field(init=False, repr=False, compare=False)
    _set_selector: SetSelector = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        share = self._selection_share()
        self._derive(split=share, _measurement_rate=self.cost.rate((1 - share) / (self.k * self._reach)))
        if self.selection not in ("noise", "set"):
            raise ParameterError(f"selection must be 'noise' or 'set': got {self.selection!r}.")
        selector = SetSelector.of(self.k, self.form, self.cost, share, self._reach, self.monotone)
        if self.selection == "noise" and self.form != "both":
            raise ParameterError("form is for selection='set': leave it out, or select a set.")
        self._derive(_set_selector=selector)

    def _selection_share(self) -> Fraction:
        share = number(self.split, "split")
        if not 0 < share < 1:
            raise ParameterError(f"split must be above 0 and below 1: got {self.split}. It is the part that selects.")
        return share

    def ready(self, values: Any) -> Callable[[Draw], MeasuredSelection]:
        """Select k of the values and measure the selected: numbers, Counts or a Statistic. There must be at least k."""
        if self.selection == "set":
            return self._ready_set(values)
        pick, steps_of = self._ready_selection(values, lambda *fields: fields)

        def measure(draw: Draw) -> MeasuredTopK:
            fields = pick(draw)
            return MeasuredTopK.made(*fields, self._measure(steps_of, fields[2], draw), self._measurement_rate)

        return measure

    def _ready_set(self, values: Any) -> Callable[[Draw], MeasuredSet]:
        numbers, items = unpack_values(values, self._furthest, self.monotone)
        steps, above = self.grid.steps(numbers), lost_steps(values, self.grid)
        n, name, cost, resolution = len(steps), self.name, self.cost, self.grid.resolution
        check_enough(self.k, n)

        def measure(draw: Draw) -> MeasuredSet:
            indices = self._set_selector.select(steps, draw)
            names = None if items is None else tuple([items[index] for index in indices])
            noisy = self._measure(steps.__getitem__, indices, draw)
            return MeasuredSet.made(name, cost, indices, names, resolution, n, above, noisy, self._measurement_rate)

        return measure

    def _measure(self, steps_of: StepsOf, indices: tuple[int, ...], draw: Draw) -> Samples:
        """Draw noise for each of the selected, and return their steps with it."""
        steps, noise = steps_of(list(indices)), draw.laplace(self._measurement_rate, self.k)
        # The public scale decides where int64 may not do: at a scale below 2^32, 2^62 steps of noise do not come.
        exact = steps.astype(object) if self._measurement_rate.scale >= 1 << 32 else steps
        noisy: Samples = exact + noise
        noisy.setflags(write=False)
        return noisy
