"""`Enumerator`: a `Draw` that takes every branch, with the exact probability of each.

A run is the sequence of its choices. The enumerator runs the program again and again, replaying a prefix of choices and
then taking the first cell of every new draw; the cells not taken are left open. A run so unlikely that it looks endless
(a loop that chance alone ends) is put off and left open too. What is open is followed heaviest first, until it weighs
no more than the tolerance. If then only finite draws are open, they are followed to the end as long as that does not
double the work: so a finite program has nothing unexplored, and one that tosses coins for ever still comes to an end.
"""

from __future__ import annotations

import time
from collections.abc import Hashable
from fractions import Fraction
from heapq import heappop, heappush
from itertools import count
from typing import Final, NoReturn

import gmpy2
import numpy as np
from numpy.typing import NDArray

from lastbit import distributions
from lastbit.audit.cells import GUARD, Cells, Kept, Scales
from lastbit.audit.found import Found
from lastbit.audit.progress import Progress, deadline
from lastbit.bits import Words
from lastbit.distributions import Distribution
from lastbit.draw import Draw, Samples
from lastbit.errors import AuditError
from lastbit.mechanisms.mechanism import Program
from lastbit.release import hashable

_REPEAT_EVERY: Final = 256
"""One run in so many is repeated: what else it may depend on would show."""
_REPEATS: Final = 20
_LOOK_EVERY: Final = 1024
_LONGEST: Final = 1 << 12
"""More draws than this in a run look endless where nothing but the program can end it."""
_UNLIKELY: Final = 12
"""A run is put off when it is less likely than the tolerance by this many bits."""


Mass = tuple["gmpy2.mpz", int, int, int]
"""The probability of a run so far: a numerator, the power of two and the number of the product of odd parts below it;
and 2^bits times that probability, rounded up."""

Step = tuple["Step | None", int, Cells, int]
"""The step before, how many there are before this one, the draw, and the cell chosen."""

Open = tuple[Step | None, Cells | None, int, Mass]
"""What was not taken: after a step, the cells from i on of a draw; or, without a draw, a run put off."""


class _PutOff(BaseException):
    """Ends a run from inside. No program should catch it, so it is no Exception."""


class Enumerator(Draw):
    """Follows every branch of a program.

    >>> masses, unexplored = Enumerator().explore(lambda draw: draw.integer(3) + draw.integer(3), Fraction(0))
    >>> {total: str(mass) for total, mass in masses.items()}
    {0: '1/9', 1: '2/9', 2: '1/3', 3: '2/9', 4: '1/9'}
    """

    def __init__(self) -> None:
        self.branches = 0
        self._running = False
        self._start(Fraction(0), None)

    def _start(self, tolerance: Fraction, seconds: float | None) -> None:
        self._bits = GUARD + (1 / tolerance).__ceil__().bit_length() if tolerance else 2 * GUARD
        self._limit = int(tolerance * (1 << self._bits))
        self._unlikely = self._limit >> _UNLIKELY
        self._may_end = seconds is not None or tolerance > 0
        self._deadline = deadline(seconds)
        self._kept, self._scales = Kept(self._bits), Scales()
        self._open: list[tuple[int, int, Open]] = []
        self._open_mass = 0
        self._endless_open = 0
        self._most: int | None = None
        self._order = count()
        self._draws = 0
        self._refusal: str | None = None
        self.branches = 0
        self._begin(None, (gmpy2.mpz(1), 0, 0, 1 << self._bits))

    def explore(
        self, program: Program, tolerance: Fraction, *, seconds: float | None = None
    ) -> tuple[dict[Hashable, gmpy2.mpq], gmpy2.mpq]:
        """The mass found for each outcome, and the mass left unexplored: together exactly 1.

        With `seconds` it stops after that time, with whatever is then unexplored.
        """
        if self._running:
            raise AuditError("an Enumerator cannot explore inside its own program. Use another one, or audit.law.")
        self._start(tolerance, seconds)
        self._running = True
        try:
            return self._explored(program)
        finally:
            self._running = False

    def _explored(self, program: Program) -> tuple[dict[Hashable, gmpy2.mpq], gmpy2.mpq]:
        found = Found(self._scales)
        with Progress() as progress:
            more = True
            while more:
                if (outcome := self._run(program)) is not None:
                    numerator, exponent, scale, _ = self._mass
                    found.add(outcome[0], numerator, exponent, scale)
                    # A program that drew nothing may have its chance from elsewhere: it is asked more often.
                    for _ in range(1 if self._values else _REPEATS) if self.branches % _REPEAT_EVERY == 0 else ():
                        self._repeat(program, outcome[0])
                    self.branches += 1
                now = time.monotonic()
                if now > progress.due:
                    progress.show(now, self.branches, self._open_mass / (1 << self._bits))
                more = now <= self._deadline and self._next()
        return found.masses(), 1 - found.total()

    def _run(self, program: Program) -> tuple[Hashable] | None:
        """The outcome of one run; None when it was put off."""
        try:
            outcome = hashable(program(self))
        except _PutOff:
            self._refusal = None
            return None
        if self._refusal is not None:
            # The program caught what it should not have: what it did then is no part of its law.
            raise AuditError(self._refusal)
        if self._depth != len(self._values):
            raise AuditError(_NOT_A_PROGRAM)
        return (outcome,)

    def _refuse(self, message: str) -> NoReturn:
        self._refusal = message
        raise AuditError(message)

    def _repeat(self, program: Program, outcome: Hashable) -> None:
        """Run the same choices once more: a program that depends on them alone does the same."""
        self._depth, drawn = 0, len(self._values)
        try:
            again = self._run(program)
        except AuditError:
            again = None
        if again is None or again[0] != outcome or drawn != len(self._values):
            raise AuditError(_NOT_A_PROGRAM)

    def _begin(self, step: Step | None, mass: Mass) -> None:
        """Set up the replay of the choices up to and with this step."""
        depth = _depth_after(step)
        self._replayed: list[Cells] = [_NOTHING] * depth
        self._values = [0] * depth
        self._step, self._mass, self._depth = step, mass, 0
        while step is not None:
            step, depth, cells, i = step
            self._replayed[depth] = cells
            self._values[depth] = cells.values[i]

    def _next(self) -> bool:
        """Set up the next run, down the heaviest open branch; False when enough was explored."""
        if self._open_mass <= self._limit:
            self._most = self._most or 2 * self.branches
            if not self._open or (self._limit and (self._endless_open or self.branches >= self._most)):
                return False
        left, _, (before, cells, i, mass) = heappop(self._open)
        self._open_mass += left
        if cells is None:
            # Followed further down now than when it was put off, or it would never end.
            self._endless_open -= 1
            self._unlikely = mass[3] >> _UNLIKELY
            self._begin(before, mass)
        else:
            self._endless_open -= cells.endless
            self._unlikely = min(self._limit, mass[3]) >> _UNLIKELY
            self._begin((before, 0 if before is None else before[1] + 1, cells, i), self._take(before, cells, i, mass))
        return True

    def _take(self, before: Step | None, cells: Cells, i: int, mass: Mass) -> Mass:
        """The mass with cell i of a draw taken; the cells after it are left open."""
        numerator, exponent, scale, upper = mass
        if len(cells.values) > i + 1 or cells.reach(i + 2):
            self._leave_open((upper * cells.rest[i + 1] >> self._bits) + 1, cells.endless, (before, cells, i + 1, mass))
        odd = cells.odd[i]
        return (
            numerator * cells.numerators[i],
            exponent + cells.exponents[i],
            scale if odd == 1 else self._scales.times(scale, odd),
            (upper * cells.upper[i] >> self._bits) + 1,
        )

    def _leave_open(self, upper: int, endless: bool, rest: Open) -> None:
        if endless:
            if not self._may_end:
                self._refuse(
                    "tolerance must be above 0 for a program with an endless draw: got 0. Give a tolerance, or seconds."
                )
            self._endless_open += 1
        self._open_mass += upper
        heappush(self._open, (-upper, next(self._order), rest))

    def _one(self, distribution: Distribution) -> int:
        try:
            cells = self._kept.of(distribution)
        except AuditError as refusal:
            self._refuse(str(refusal))
        depth = self._depth
        self._depth = depth + 1
        if depth < len(self._values):
            if self._replayed[depth] is not cells:
                self._refuse(_NOT_A_PROGRAM)
            return self._values[depth]
        return self._first_cell(cells)

    def _first_cell(self, cells: Cells) -> int:
        """Take the first cell of a new draw."""
        step, mass = self._step, self._mass
        self._draws += 1
        if mass[3] <= self._unlikely or (self._draws % _LOOK_EVERY == 0 and time.monotonic() > self._deadline):
            self._leave_open(mass[3], True, (step, None, 0, mass))
            self._refusal = _CAUGHT
            raise _PutOff
        if len(self._values) == _LONGEST and not self._may_end:
            self._refuse(
                f"tolerance must be above 0 for a program that draws more than {_LONGEST:,} values in a run: got 0. It "
                "may never end. Give a tolerance, or seconds."
            )
        self._mass = self._take(step, cells, 0, mass)
        self._step = (step, len(self._values), cells, 0)
        value = cells.values[0]
        self._replayed.append(cells)
        self._values.append(value)
        return value

    def _many(self, distribution: Distribution, n: int) -> Samples:
        cells = self._kept.of(distribution)
        start, end = self._depth, self._depth + n
        self._depth = end
        if self._replayed[start:end] != [cells] * (min(end, len(self._values)) - start):
            self._refuse(_NOT_A_PROGRAM)
        for _ in range(len(self._values), end):
            self._first_cell(cells)
        values = self._values[start:end]
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
        self._refuse("a program that reads raw words cannot be enumerated. Use the named draws instead.")


_NOTHING: Final = Cells(distributions.uniform(1), 1)

_NOT_A_PROGRAM: Final = (
    "the program did not repeat itself when given the same draws. It must depend on its Draw alone (no other "
    "randomness, nothing remembered from one run to the next) and return what is compared by value."
)

_CAUGHT: Final = (
    "the program caught what the auditor ends a run with. It may catch Exception, or what it expects, but not "
    "BaseException."
)


def _depth_after(step: Step | None) -> int:
    return 0 if step is None else step[1] + 1
