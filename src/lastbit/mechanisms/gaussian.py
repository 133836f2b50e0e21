"""Discrete Gaussian noise: the measurement for budgets in zCDP."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from math import ceil, isqrt
from statistics import NormalDist
from typing import Any, Final, Self

from lastbit.chance.draw import Draw
from lastbit.chance.gaussian import LEAST_LOSS, MOST_DEVIATION, is_too_wide
from lastbit.errors import ParameterError
from lastbit.estimate.accuracy import gaussian_accuracy, gaussian_within, least_near
from lastbit.exact.numbers import Number, number, positive, probability, shorten, whole
from lastbit.mechanisms.grid_mechanism import MOST_STEPS
from lastbit.mechanisms.mechanism import Mechanism
from lastbit.mechanisms.noisy_values import NoisyValues, neighbours_within, noisy_release, read_values
from lastbit.privacy.cost import Cost, positive_rho
from lastbit.privacy.rate import Rate
from lastbit.values.grid import Grid
from lastbit.values.known import Known, unpack_within_squared
from lastbit.values.statistic import as_list, ends, parse_bounds

_LARGEST: Final = Fraction(2048)
"""The largest loss of a step that a rate can have."""


@dataclass(frozen=True, kw_only=True)
class DiscreteGaussian(Mechanism[NoisyValues]):
    """Add integer noise with Gaussian tails on the grid: for many counts, sums or means at once, under a rho budget.

    Takes one number or many, Counts, or a Statistic such as `exact_sum` gives. The sensitivity is the Euclidean
    distance (L2) that one person can move the values by; where it is the root of a fraction, as for one person in n
    counts, give `squared_sensitivity`, here n. `bounds=(lower, upper)` clamps the released values.

    Paper:    Canonne, Kamath and Steinke, The Discrete Gaussian for Differential Privacy (2020), Proposition 5.
    Law:      value + X·resolution, P(X = i) proportional to r^(i²) on all integers, for r = e^(-rho/D), rounded up;
              then clamped to the bounds. D is the largest squared distance in steps: (sensitivity/resolution)² rounded
              down where the values lie on the grid. Values that may lie between steps are floored first, so that D is
              larger: with m the largest whole number below (sensitivity/resolution)², it is (⌊√m⌋ + 1)² for one value
              and m + 2·min(m, ⌊√(nm)⌋) + n for n of them.
    Cost:     rho: the Rényi divergence of order a is at most a·rho for every a > 1, exactly. There is no epsilon. The
              bounds are free.
    Assumes:  one person moves the values by at most `sensitivity` in L2. The type of the values says whether they lie
              on the grid, as for DiscreteLaplace. The standard deviation is at most 2^16 steps.
    Checked:  tests/laws/test_gaussian.py and test_gaussian_draw.py: every threshold, the law, the divergences with
              outward rounding, and D by brute force.
    Speed:    one word a value, and a table built once for each rate: in a millisecond for a deviation of 70 steps, in
              a second or two for 2^16. A million draws at 20 steps take a quarter of the time of NumPy's floats.

    >>> counts = DiscreteGaussian(rho="1/8", squared_sensitivity=3).release([412, 80, 7])
    >>> abs(counts.values[0] - 412) < 100
    True
    >>> counts.cost.rho, DiscreteGaussian(rho="1/200").accuracy("0.95")
    (Fraction(1, 8), Fraction(20, 1))
    """

    rho: Number
    sensitivity: Number | None = None
    squared_sensitivity: Number | None = None
    resolution: Number = 1
    bounds: tuple[Number, Number] | None = None
    cost: Cost = field(init=False, repr=False, compare=False)
    grid: Grid = field(init=False, repr=False, compare=False)
    rate: Rate = field(init=False, repr=False, compare=False)
    """The rate of the noise of values that lie on the grid."""
    _squared: Fraction = field(init=False, repr=False, compare=False)
    """The squared sensitivity."""
    _ends: tuple[int, int] | None = field(init=False, repr=False, compare=False)
    """The bounds in grid steps."""

    def __post_init__(self) -> None:
        rho, grid = positive_rho(self.rho), Grid(self.resolution)
        squared = _squared_sensitivity(self.sensitivity, self.squared_sensitivity, grid)
        self._derive(rho=rho, cost=Cost.zcdp(rho), grid=grid, resolution=grid.resolution, _squared=squared, _ends=None)
        # Equal sensitivities are written in one way: as a number where there is one, or else by the square.
        root = Fraction(isqrt(squared.numerator), isqrt(squared.denominator))
        whole_root = root**2 == squared
        self._derive(sensitivity=root if whole_root else None, squared_sensitivity=None if whole_root else squared)
        self._derive(rate=self._rate(None))
        if self.bounds is not None:
            self._derive(_ends=ends(self.bounds, grid), bounds=parse_bounds(self.bounds))

    @classmethod
    def of(cls, values: Known, **parameters: Any) -> Self:
        """Return the mechanism for values that say themselves how far one person moves them: Counts or a Statistic.

        >>> import lastbit as lb
        >>> counts = lb.Counts(items=["flu", "cold"], values=[120, 80], monotone=True)
        >>> DiscreteGaussian.of(counts, rho="1/8").squared_sensitivity
        Fraction(2, 1)
        """
        return super().of(
            values, **({"squared_sensitivity": None} if "sensitivity" in parameters else {}), **parameters
        )

    @classmethod
    def _parameters_for(cls, values: Known) -> dict[str, Any]:
        facts = {**super()._parameters_for(values), "squared_sensitivity": values.each * values.total}
        return {name: fact for name, fact in facts.items() if name != "sensitivity"}

    def ready(self, values: Any) -> Callable[[Draw], NoisyValues]:
        """Return the values, each with its own noise.

        >>> len(DiscreteGaussian(rho=1, bounds=(0, 100)).release([10, 20]).values)
        2
        """
        in_steps = read_values(values, self.grid, lambda raw: unpack_within_squared(raw, self._squared))
        rate = self.rate if in_steps.on_grid else self._rate(len(in_steps.steps))
        return noisy_release(
            self.name, self.cost, in_steps, grid=self.grid, noise="gaussian", rate=rate, ends=self._ends
        )

    def accuracy(self, level: Number = "0.95", n: int | None = None) -> Fraction:
        """Return the least distance that the noise of a value keeps within, with at least this probability.

        `n` is the number of values in one release where they may lie between steps of the grid, as floats do: they
        take more noise together, and each is floored by less than one step before.

        >>> DiscreteGaussian(rho="1/2", resolution="1/4").accuracy("0.99")
        Fraction(5, 2)
        >>> DiscreteGaussian(rho="1/2", resolution="1/4").accuracy("0.99", n=5)
        Fraction(15, 4)
        """
        rate = self._rate(None if n is None else whole(n, "n"))
        return gaussian_accuracy(rate, probability(level, "level")) * self.grid.resolution

    def _rate(self, n: int | None) -> Rate:
        """Return the rate of the noise of values on the grid, or of n values that may lie between steps."""
        squared = self._squared / self.grid.resolution**2
        loss = self.cost.rho / most_squared_steps(squared, n)
        if loss > _LARGEST:
            raise ParameterError(
                f"rho must be at most 2^11 for each squared step: got {shorten(loss)}. Use a finer resolution, or less."
            )
        if is_too_wide(loss):
            deviation = Fraction(isqrt(ceil(1 / (2 * loss))))
            raise ParameterError(
                f"resolution must be so coarse that the noise has a standard deviation of at most 2^16 steps: got "
                f"resolution {self.grid.resolution}, where it has {shorten(deviation)} steps. Use {self._coarser(n)}."
            )
        return _rate_of(loss)

    def _coarser(self, n: int | None) -> str:
        """Return parameters that help where the noise has too many steps."""
        resolution = self.grid.resolution
        while (resolution := 2 * resolution) ** 2 <= self._squared:
            if not is_too_wide(self.cost.rho / most_squared_steps(self._squared / resolution**2, n)):
                return f"resolution='{resolution}', or a larger rho"
        return "a larger rho"

    @classmethod
    def for_accuracy(cls, accuracy: Number, level: Number = "0.95", **parameters: Any) -> DiscreteGaussian:
        """Return the mechanism with the least rho, to nine significant digits, whose `accuracy(level)` is at most this.

        >>> DiscreteGaussian.for_accuracy(20, "0.95").rho
        Fraction(228348307, 50000000000)
        """
        target, exact_level = number(accuracy, "accuracy"), probability(level, "level")
        if target < 0:
            raise ParameterError(f"accuracy must not be negative: got {accuracy}. It is a distance.")
        grid = Grid(parameters.get("resolution", 1))
        squared_distance = _squared_sensitivity(
            parameters.get("sensitivity"), parameters.get("squared_sensitivity"), grid
        )
        steps, squared = target // grid.resolution, most_squared_steps(squared_distance / grid.resolution**2)

        def meets(loss: Fraction) -> bool:
            if loss > _LARGEST:
                raise ParameterError("accuracy must be one that some rho can give. Ask for less, or use a finer grid.")
            return not is_too_wide(loss) and gaussian_within(Rate.from_epsilon(loss), steps, exact_level)

        # Nearly normal: P(|X| > t) is about that of t + 1/2 deviations.
        deviations = NormalDist().inv_cdf(max(1e-300, float((1 - exact_level) / 2)))
        guess = max(deviations**2, 1e-9) / (2 * (min(steps, MOST_DEVIATION**2) + 0.5) ** 2)
        if guess < 2 * LEAST_LOSS and meets(LEAST_LOSS):
            raise ParameterError(
                f"accuracy must need a standard deviation below 2^16 steps: got {accuracy} on a grid of "
                f"{grid.resolution}. Use a coarser resolution."
            )
        _, rho = least_near(lambda rho: meets(rho / squared), max(guess, float(LEAST_LOSS)) * squared)
        return cls(rho=rho, **parameters)

    def neighbours(self, values: Sequence[Number]) -> Iterator[tuple[Any, ...]]:
        """Return the vectors within the sensitivity of these values.

        Whole numbers on the grid stay whole numbers. Other values move to a step, or to just below one, as long as
        some value is floored elsewhere.
        """
        n, unit = len(as_list(values)[0]), self.grid.resolution
        squared = self._squared / unit**2
        # So little below a step that squares of whole moves below the squared sensitivity stay below it.
        below = unit / (2 * max(n, 1) * ceil(squared) * squared.denominator)
        reach = isqrt(ceil(squared)) + 1
        return neighbours_within(
            values, self.grid, reach, below, lambda moves: sum(move**2 for move in moves) <= self._squared
        )


def most_squared_steps(squared: Fraction, n: int | None = None) -> int:
    """Return the largest squared distance in whole steps between neighbours, from the squared sensitivity in steps.

    n is None where the values lie on the grid: whole moves have whole squared lengths. Otherwise n values are floored.
    A value that moves by d is floored a_i + 1 steps away only where |d| > a_i; so whole a_i have a sum of squares of
    m < squared at most, and sum (a_i + 1)² = sum a_i² + 2·sum a_i + n, where sum a_i <= min(m, √(n·m)).

    >>> most_squared_steps(Fraction(3)), most_squared_steps(Fraction(4), 1), most_squared_steps(Fraction(4), 10)
    (3, 4, 19)
    """
    if n is None:
        return int(squared)
    m = ceil(squared) - 1
    return (isqrt(m) + 1) ** 2 if n <= 1 else n + 2 * min(m, isqrt(n * m)) + m


def _squared_sensitivity(sensitivity: Number | None, squared: Number | None, grid: Grid) -> Fraction:
    """Return the squared sensitivity, given in one of two ways."""
    why = "It is how far one person can move the values."
    if sensitivity is not None and squared is not None:
        raise ParameterError(
            "at most one of sensitivity and squared_sensitivity must be given. Write sensitivity=2, or "
            "squared_sensitivity=3 where the sensitivity is the root of 3."
        )
    if squared is None:
        exact = positive(1 if sensitivity is None else sensitivity, "sensitivity", why) ** 2
    else:
        exact = positive(squared, "squared_sensitivity", why)
    if not 1 <= exact / grid.resolution**2 <= MOST_STEPS**2:
        raise ParameterError(
            "sensitivity must be from 1 to 2^48 steps of the resolution: got the root of "
            f"{shorten(exact)} and resolution {shorten(grid.resolution)}. Use another resolution."
        )
    return exact


@lru_cache(maxsize=64)
def _rate_of(loss: Fraction) -> Rate:
    return Rate.from_epsilon(loss)
