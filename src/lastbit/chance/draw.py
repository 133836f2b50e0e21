"""`Draw`: the only door of a mechanism to randomness, and everything that it may ask there."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Final, Protocol, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from lastbit.chance import distributions
from lastbit.chance._cells import add
from lastbit.chance.bits import Words
from lastbit.chance.distributions import Distribution
from lastbit.chance.layers import Layers
from lastbit.chance.powers import Exponents, Multiplicities, Powers, Sizes, total
from lastbit.chance.rounds import Rounds
from lastbit.errors import ParameterError
from lastbit.exact.numbers import Number, number, whole
from lastbit.privacy.rate import Rate

Made = TypeVar("Made")

Samples = NDArray[Any]
"""int64, or Python integers (dtype object) when a sample does not fit."""

_INT64: Final = np.dtype(np.int64)

ROOM: Final = 1 << 62
"""Noise below this can be added to steps, which stay within 2^61, in int64."""


class Probabilities(Protocol):
    """Probabilities below 1, one for each sample."""

    @property
    def leading(self) -> NDArray[np.uint64]:
        """The first 64 bits of each, rounded down."""
        ...

    def exact(self, i: int) -> Fraction:
        """Return the i-th probability."""
        ...


class Draw(ABC):
    """The draws that a mechanism may ask for. With `size` a draw gives an array, without it one int.

    >>> from lastbit import Rate, Sampler
    >>> draw = Sampler()
    >>> 0 <= draw.integer(6) < 6, draw.geometric(Rate.from_epsilon(1), size=3).dtype
    (True, dtype('int64'))
    """

    @overload
    def bernoulli(self, p: Number) -> bool: ...
    @overload
    def bernoulli(self, p: Number, size: int) -> NDArray[np.bool_]: ...
    def bernoulli(self, p: Number, size: int | None = None) -> bool | NDArray[np.bool_]:
        """Return True with probability exactly p: U < p."""
        exact = number(p, "p")
        if not 0 <= exact <= 1:
            raise ParameterError(f"p must be from 0 to 1: got {p}. It is a probability.")
        cells = self._draw(distributions.bernoulli(exact), size)
        if isinstance(cells, int):
            return cells == 0
        result: NDArray[np.bool_] = np.equal(cells, 0, out=cells.view(np.bool_) if cells.itemsize == 1 else None)
        return result

    @overload
    def integer(self, n: int) -> int: ...
    @overload
    def integer(self, n: int, size: int) -> Samples: ...
    def integer(self, n: int, size: int | None = None) -> int | Samples:
        """Draw uniformly from 0, …, n-1: ⌊U·n⌋. Any n will do, beyond 2^64 too."""
        return self._draw(distributions.uniform(whole(n, "n")), size)

    def integer_below(self, n: int, most: int) -> int:
        """Draw uniformly from 0, …, n-1 for a private n: how many words
        are read follows from `most`, a public bound of n.
        """
        if whole(n, "n") > whole(most, "most"):
            raise ParameterError("n must be at most its public bound `most`. Nothing was drawn.")
        return self._one(distributions.uniform_below(n, most))

    def span_below(self, n: int, most: int, span: Callable[[int], tuple[int, int]]) -> int:
        """Return where the span begins that holds a uniform position on 0, …, n-1, for a private n of at most `most`.

        `span` says where the span of a position begins and ends; spans follow each other from 0 to n. So a span is
        drawn with probability proportional to its length, and an auditor follows spans, not positions.

        >>> import lastbit as lb
        >>> lb.Sampler().span_below(6, 100, lambda position: (0, 4) if position < 4 else (4, 6)) in (0, 4)
        True
        """
        if whole(n, "n") > whole(most, "most"):
            raise ParameterError("n must be at most its public bound `most`. Nothing was drawn.")
        return self._one(distributions.spans_below(n, most, span))

    @overload
    def index(self, weights: Sequence[int | Fraction]) -> int: ...
    @overload
    def index(self, weights: Sequence[int | Fraction], size: int) -> Samples: ...
    def index(self, weights: Sequence[int | Fraction], size: int | None = None) -> int | Samples:
        """Draw i with probability proportional to the i-th exact weight, by inversion in the order given."""
        return self._draw(distributions.categorical(weights), size)

    def power_index(
        self, rate: Rate, exponents: Exponents, multiplicities: NDArray[np.int64] | Sequence[int] | Sizes | None = None
    ) -> int:
        """Draw i with probability proportional to r^exponents[i], an int64 array or an object that slices into some.

        With multiplicities, i is a class of that many outcomes, and its probability is proportional to
        multiplicities[i]·r^exponents[i]: an int64 array whose sum is below 2^63, or a list of Python's integers of any
        size, or `Sizes`. Nothing is cut off, however far apart the exponents are; only their differences matter.

        >>> import lastbit as lb
        >>> classes = np.array([10**9, 0]), np.array([0, 1])
        >>> lb.Sampler().power_index(lb.Rate(1, 1), *classes)
        1
        >>> lb.Sampler().power_index(lb.Rate(1, 1), np.array([0, 1000]), [1, 1 << 2000])
        1
        """
        whole(len(exponents), "the number of exponents")
        if exponents.dtype is not _INT64 and exponents.dtype != _INT64:
            raise ParameterError("exponents must be int64. Nothing was drawn.")
        times = None if multiplicities is None else _check_multiplicities(multiplicities, len(exponents))
        return self._one(distributions.powers(Powers(_check_rate(rate), exponents, times)))

    def rises(self, parts: Probabilities) -> NDArray[np.int64]:
        """Draw for each part 1 with exactly this probability, and 0 otherwise: U >= 1 - part, independently."""
        return self._rises(parts)

    @overload
    def geometric(self, rate: Rate) -> int: ...
    @overload
    def geometric(self, rate: Rate, size: int) -> Samples: ...
    def geometric(self, rate: Rate, size: int | None = None) -> int | Samples:
        """Draw X with P(X >= i) = r^i on 0, 1, 2, …"""
        return self._draw(distributions.geometric(_check_rate(rate)), size)

    @overload
    def truncated_geometric(self, rate: Rate, below: int) -> int: ...
    @overload
    def truncated_geometric(self, rate: Rate, below: int, size: int) -> Samples: ...
    def truncated_geometric(self, rate: Rate, below: int, size: int | None = None) -> int | Samples:
        """Draw X with P(X = i) proportional to r^i on 0, …, below-1."""
        return self._draw(distributions.truncated_geometric(_check_rate(rate), whole(below, "below")), size)

    @overload
    def laplace(self, rate: Rate) -> int: ...
    @overload
    def laplace(self, rate: Rate, size: int) -> Samples: ...
    def laplace(self, rate: Rate, size: int | None = None) -> int | Samples:
        """Draw from the discrete Laplace law, P(X = i) proportional to r^|i|: the difference of two geometrics."""
        return self._draw(distributions.laplace(_check_rate(rate)), size)

    @overload
    def gaussian(self, rate: Rate) -> int: ...
    @overload
    def gaussian(self, rate: Rate, size: int) -> Samples: ...
    def gaussian(self, rate: Rate, size: int | None = None) -> int | Samples:
        """Draw from the discrete Gaussian law, P(X = i) proportional to r^(i²): its variance is near 1/(2·ln(1/r))."""
        return self._draw(distributions.gaussian(_check_rate(rate)), size)

    def rounds(self, law: Rounds) -> int:
        """Return the number of rounds of a private selection, from 1 to the law's most, in one word."""
        return 1 + self._one(distributions.rounds(law))

    def layer(self, law: Layers) -> int:
        """Return a cell of sets, by two words: see `Layers`."""
        return self._one(distributions.layers(law))

    def permutation(self, n: int) -> NDArray[np.int64]:
        """Return a uniform permutation of 0, …, n-1."""
        return self._permutation(whole(n, "n", least=0))

    def permute(self, work: Callable[..., Made], values: Samples, *more: int) -> Made:
        """Return work(values, permutation, *more) for a uniform permutation of as many numbers, by work without chance.

        An auditor follows the results that differ, and not every permutation.

        >>> import lastbit as lb
        >>> lb.Sampler().permute(lambda values, places: sorted(places.tolist()), np.array([7, 7, 7]))
        [0, 1, 2]
        """
        return work(values, self.permutation(len(values)), *more)

    def subset(self, n: int, k: int, *, most: tuple[int, int] | None = None) -> NDArray[np.int64]:
        """Return a uniform subset of k of the numbers 0, …, n-1, in rising order.

        For a private n and k, `most` is a pair of public bounds of them: how many words are read follows from these
        bounds, or from n and k where there are none.

        >>> import lastbit as lb
        >>> lb.Sampler().subset(3, 3)
        array([0, 1, 2])
        """
        n, k = whole(n, "n", least=0), whole(k, "k", least=0)
        most_n, most_k = (n, k) if most is None else most
        if not (k <= n <= most_n <= ROOM and k <= most_k):
            raise ParameterError(
                "k must be at most n, both at most their public bounds, and n at most 2^62. Nothing was drawn."
            )
        # Floyd's way: the i-th pick is among the first n - k + i + 1 numbers; where it was picked before, the last of
        # them is not, and is taken instead. Picks beyond the k-th are read and left.
        sizes = np.ones(most_k, np.int64)
        sizes[:k] = np.arange(n - k + 1, n + 1)
        picks = self._uniforms(sizes, most_n)
        members: set[int] = set()
        for last, pick in enumerate(picks[:k].tolist(), start=n - k):
            members.add(last if pick in members else pick)
        return np.array(sorted(members), np.int64)

    @abstractmethod
    def words(self, n: int) -> Words:
        """Return n raw words."""

    @abstractmethod
    def _one(self, distribution: Distribution) -> int: ...

    @abstractmethod
    def _many(self, distribution: Distribution, n: int) -> Samples: ...

    @abstractmethod
    def _rises(self, parts: Probabilities) -> NDArray[np.int64]: ...

    @abstractmethod
    def _permutation(self, n: int) -> NDArray[np.int64]: ...

    @abstractmethod
    def _uniforms(self, sizes: NDArray[np.int64], most: int) -> NDArray[np.int64]:
        """Draw for each private size a uniform number below it. `most` is their public bound, at most 2^62."""

    def _draw(self, distribution: Distribution, size: int | None) -> int | Samples:
        if size is None:
            return self._one(distribution)
        return self._many(distribution, whole(size, "size", least=0))


def add_exactly(steps: Samples, noise: Samples) -> Samples:
    """Add steps to their noise, in place: as Python integers where int64 has no room."""
    if noise.dtype is steps.dtype and add(steps, noise, ROOM):
        return noise
    noise = noise.astype(object)
    noise += steps
    return noise


def _check_rate(rate: Rate) -> Rate:
    if not isinstance(rate, Rate):
        raise ParameterError(
            f"rate must be a lastbit.Rate: got {type(rate).__name__}. Write Rate.from_epsilon('1/20')."
        )
    return rate


def _check_multiplicities(multiplicities: Any, n: int) -> Multiplicities:
    if isinstance(multiplicities, np.ndarray) and multiplicities.dtype == np.int64:
        if multiplicities.shape == (n,) and multiplicities.min() >= 0 and 0 < total(multiplicities) < 1 << 63:
            return multiplicities
    elif isinstance(multiplicities, list | tuple):
        times = tuple(multiplicities)
        if len(times) == n and all(type(value) is int and value >= 0 for value in times) and any(times):
            return times
    elif isinstance(multiplicities, Sizes) and len(multiplicities) == n:
        return multiplicities
    raise ParameterError(
        "multiplicities must be as many as exponents, none negative and at least one positive: an int64 array whose "
        "sum is below 2^63, or a list of Python's integers. Nothing was drawn."
    )
