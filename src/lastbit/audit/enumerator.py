"""`Enumerator`: a `Draw` that takes every branch, with the exact probability of each.

A run is the sequence of its choices. The enumerator runs the program again and again, replaying a prefix of choices and
then taking the first cell of every new draw; the cells not taken are left open with their exact mass. What is open is
followed heaviest first, until it weighs no more than the tolerance. If then only finite draws are open, they are
followed to the end as long as that does not double the work: so a finite program has nothing unexplored, and one that
tosses coins for ever still comes to an end.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Hashable
from fractions import Fraction
from heapq import heappop, heappush
from itertools import count
from typing import Final

import gmpy2
import numpy as np
from numpy.typing import NDArray

from lastbit import distributions
from lastbit.bits import Words
from lastbit.distributions import Distribution
from lastbit.draw import Draw, Samples
from lastbit.errors import AuditError
from lastbit.mechanisms.mechanism import Program
from lastbit.release import hashable

_NOTICE_AFTER: Final = 1.0
_LOOK_EVERY: Final = 256


class _Cells:
    """The values and masses of a distribution, made as far as they are asked for."""

    __slots__ = ("_source", "endless", "masses", "rest", "values")

    def __init__(self, distribution: Distribution) -> None:
        self._source = distribution.masses()
        self.endless = distribution.endless
        self.values: list[int] = []
        self.masses: list[gmpy2.mpq] = []
        self.rest = [gmpy2.mpq(1)]
        """rest[i] is the mass of the cells from i on."""
        self.reach(1)

    def reach(self, i: int) -> bool:
        """Whether there is a cell i - 1; cells without mass are passed over."""
        while len(self.values) < i:
            value, mass = next(self._source, (0, None))
            if mass is None:
                return False
            if mass:
                self.values.append(value)
                self.masses.append(gmpy2.mpq(mass.numerator, mass.denominator))
                self.rest.append(self.rest[-1] - self.masses[-1])
        return True


Choice = tuple[_Cells, int]
Open = tuple[tuple[Choice, ...], _Cells, int, "gmpy2.mpq"]
"""The choices before, the draw, its first cell not taken, and the mass of the choices before."""


class Enumerator(Draw):
    """Follows every branch of a program.

    >>> masses, unexplored = Enumerator().explore(lambda draw: draw.integer(3) + draw.integer(3), Fraction(0))
    >>> {total: str(mass) for total, mass in masses.items()}
    {0: '1/9', 1: '2/9', 2: '1/3', 3: '2/9', 4: '1/9'}
    """

    def __init__(self) -> None:
        self._kept: dict[Hashable, _Cells] = {}
        self._open: list[tuple[float, int, Open]] = []
        self._endless_open = 0
        self._order = count()
        self._prefix: list[Choice] = []
        self._depth = 0
        self._mass = gmpy2.mpq(1)
        self.branches = 0

    def explore(
        self, program: Program, tolerance: Fraction, *, seconds: float | None = None
    ) -> tuple[dict[Hashable, Fraction], Fraction]:
        """The mass found for each outcome, and the mass left unexplored.

        With `seconds` it stops after that time at the latest, with whatever is then unexplored.
        """
        limit = gmpy2.mpq(tolerance.numerator, tolerance.denominator)
        found: dict[Hashable, gmpy2.mpq] = {}
        left = gmpy2.mpq(1)
        most: int | None = None
        start = time.monotonic()
        with _Notice() as notice:
            while True:
                outcome = hashable(program(self))
                if self._depth != len(self._prefix):
                    raise AuditError(_NOT_A_PROGRAM)
                found[outcome] = found.get(outcome, 0) + self._mass
                left -= self._mass
                self.branches += 1
                if self.branches % _LOOK_EVERY == 0:
                    elapsed = time.monotonic() - start
                    if seconds is not None and elapsed > seconds:
                        break
                    notice.show(elapsed, self.branches, float(left))
                if left <= limit:
                    most = most or 2 * self.branches
                    if self._endless_open or self.branches >= most:
                        break
                if not self._open:
                    break
                self._next()
        return {outcome: _fraction(mass) for outcome, mass in found.items()}, _fraction(left)

    def _next(self) -> None:
        """Replay the choices before the heaviest open cells, and take the first of those."""
        _, _, (before, cells, i, mass) = heappop(self._open)
        self._endless_open -= cells.endless
        self._leave_open(before, cells, i + 1, mass)
        self._prefix, self._depth, self._mass = [*before, (cells, i)], 0, mass * cells.masses[i]

    def _leave_open(self, before: tuple[Choice, ...], cells: _Cells, i: int, mass: gmpy2.mpq) -> None:
        if cells.reach(i + 1):
            self._endless_open += cells.endless
            heappush(self._open, (-float(mass * cells.rest[i]), next(self._order), (before, cells, i, mass)))

    def _one(self, distribution: Distribution) -> int:
        cells = self._kept.get(distribution.levels)
        if cells is None:
            cells = self._kept[distribution.levels] = _Cells(distribution)
        depth = self._depth
        self._depth += 1
        if depth < len(self._prefix):
            expected, i = self._prefix[depth]
            if expected is not cells:
                raise AuditError(_NOT_A_PROGRAM)
            return cells.values[i]
        self._leave_open(tuple(self._prefix), cells, 1, self._mass)
        self._prefix.append((cells, 0))
        self._mass *= cells.masses[0]
        return cells.values[0]

    def _many(self, distribution: Distribution, n: int) -> Samples:
        values = [self._one(distribution) for _ in range(n)]
        try:
            return np.array(values, np.int64)
        except OverflowError:
            return np.array(values, object)

    def _permutation(self, n: int) -> NDArray[np.int64]:
        order = list(range(n))
        for i in range(1, n):
            pick = self._one(distributions.uniform(i + 1))
            order[i], order[pick] = order[pick], i
        return np.array(order, np.int64)

    def words(self, n: int) -> Words:
        """Refused: 2^64 branches a word are too many."""
        raise AuditError("a program that reads raw words cannot be enumerated. Use the named draws instead.")


_NOT_A_PROGRAM: Final = (
    "the program did not repeat itself when given the same draws. It must depend on its Draw alone: no other "
    "randomness, and nothing remembered from one run to the next."
)


def _fraction(value: gmpy2.mpq) -> Fraction:
    return Fraction(int(value.numerator), int(value.denominator))


class _Notice:
    """One line on a terminal, kept up to date while a run takes long."""

    def __init__(self) -> None:
        self._shown = 0.0

    def __enter__(self) -> _Notice:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")

    def show(self, elapsed: float, branches: int, left: float) -> None:
        """Say how far the run is, twice a second."""
        if elapsed > self._shown + (0.5 if self._shown else _NOTICE_AFTER) and sys.stderr.isatty():
            self._shown = elapsed
            sys.stderr.write(f"\rexplored {branches:,} branches, {left:.2g} of the probability left")
            sys.stderr.flush()
