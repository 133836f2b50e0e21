"""`Enumerator`: a `Draw` that takes every branch, with the exact probability of each.

A run is the sequence of its choices. The enumerator runs the program again and again: it replays a prefix of choices,
then takes the first cell of every new draw, and leaves the other cells open. A run so unlikely that it looks endless
(a loop that chance alone ends) is put off and left open too. The enumerator follows the heaviest open branch first,
until all open branches together weigh no more than the tolerance. If only finite draws are open then, it follows them
to the end, as long as this does not double the work. So a finite program has nothing unexplored, and the exploration
of a program that tosses coins for ever ends too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from fractions import Fraction
from functools import lru_cache
from itertools import permutations
from typing import Any, Final

import gmpy2
import numpy as np
from numpy.typing import NDArray

from lastbit._outcomes import hashable
from lastbit.audit._tree import NOT_A_PROGRAM, StopRun, Tree
from lastbit.audit.progress import Progress, deadline
from lastbit.chance import distributions
from lastbit.chance.bits import Words
from lastbit.chance.distributions import Distribution
from lastbit.chance.draw import Draw, Made, Probabilities, Samples
from lastbit.errors import AuditError
from lastbit.mechanisms.mechanism import Program

_REPEAT_EVERY: Final = 256
"""One run in this many is repeated, to see whether the program depends on more than its draws."""
_REPEATS: Final = 20
"""The first run is repeated this often, and each of this many runs after it once."""
_MERGED: Final = 6
"""All permutations of so many values are looked at, to follow only what differs."""
_GUARD: Final = 64
"""Bounds on masses have this many bits more than the tolerance."""


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
        bits = _GUARD + (1 / tolerance).__ceil__().bit_length() if tolerance else 2 * _GUARD
        self._tree = Tree(bits, int(tolerance * (1 << bits)), seconds is not None or tolerance > 0, deadline(seconds))
        self.branches = 0

    def explore(
        self, program: Program, tolerance: Fraction, *, seconds: float | None = None
    ) -> tuple[dict[Hashable, gmpy2.mpq], gmpy2.mpq]:
        """Return the mass of each outcome that was reached, and the mass left unexplored: together exactly 1.

        With `seconds` the exploration stops after that time, however much is unexplored.
        """
        if self._running:
            raise AuditError(
                "an Enumerator cannot explore inside its own program. Use another Enumerator there, or audit.law."
            )
        self._start(tolerance, seconds)
        self._running = True
        try:
            return self._follow_branches(program)
        finally:
            self._running = False

    def _follow_branches(self, program: Program) -> tuple[dict[Hashable, gmpy2.mpq], gmpy2.mpq]:
        tree = self._tree
        with Progress() as progress:
            more = True
            while more:
                if (outcome := self._run(program)) is not None:
                    tree.add(outcome[0])
                    if self.branches <= _REPEATS or self.branches % _REPEAT_EVERY == 0:
                        self._repeat(program, outcome[0])
                    self.branches += 1
                now = time.monotonic()
                if now > progress.due:
                    progress.show(now, self.branches, tree.open_share)
                more = now <= tree.deadline and tree.next(self.branches)
        return _outcome_masses(tree), 1 - _total_mass(tree)

    def _run(self, program: Program) -> tuple[Hashable] | None:
        """Run the program once. Return its outcome, or None when the run was put off."""
        tree = self._tree
        try:
            return (tree.outcome(program(self)),)
        except StopRun:
            tree.refusal = None
            return None

    def _repeat(self, program: Program, outcome: Hashable) -> None:
        """Run the same choices again: a program that depends on its choices alone gives the same outcome."""
        for _ in range(1 if self.branches else _REPEATS):
            draws = self._tree.draw_count
            self._tree.rewind()
            try:
                replay = self._run(program)
            except AuditError:
                replay = None
            if replay is None or replay[0] != outcome or draws != self._tree.draw_count:
                raise AuditError(NOT_A_PROGRAM)
            if time.monotonic() > self._tree.deadline:
                return

    def _one(self, distribution: Distribution) -> int:
        return self._tree.one(distribution)

    def _many(self, distribution: Distribution, n: int) -> Samples:
        return self._tree.many(distribution, n)

    def _rises(self, parts: Probabilities) -> NDArray[np.int64]:
        rises = (self._one(distributions.rise(parts.exact(i))) for i in range(len(parts.leading)))
        return np.fromiter(rises, np.int64, len(parts.leading))

    def _permutation(self, n: int) -> NDArray[np.int64]:
        return self._tree.permutation(n)

    def permute(self, work: Callable[..., Made], values: Samples, *more: int) -> Made:
        """Follow what a uniform permutation makes of values: equal results are one branch.

        The work is done for every permutation, where they are few enough, once for the same values.
        """
        if len(values) > _MERGED or values.dtype.hasobject:
            return super().permute(work, values, *more)
        results, which = _permute_all(work, values.dtype.char, values.tobytes(), more)
        result: Made = results[0 if which is None else self._one(which)]
        return result

    def _uniforms(self, sizes: NDArray[np.int64], most: int) -> NDArray[np.int64]:
        return np.array([self._one(distributions.uniform(size)) for size in sizes.tolist()], np.int64)

    def words(self, n: int) -> Words:
        """Refuse to give words: a word has 2^64 branches, too many to follow."""
        self._tree.refuse("the auditor cannot follow a program that reads raw words. Use the other draws instead.")


@lru_cache(maxsize=1 << 15)
def _permute_all(
    work: Callable[..., Any], kind: str, values: bytes, more: tuple[int, ...]
) -> tuple[list[Any], Distribution | None]:
    """Return the results that differ, and the law of which one comes; None where there is one only."""
    array, counts = np.frombuffer(values, kind), dict[Hashable, int]()
    results: list[Any] = []
    for places in permutations(range(len(array))):
        result = work(array.copy(), np.array(places, np.int64), *more)
        key = hashable(result)
        if key not in counts:
            results.append(result)
        counts[key] = counts.get(key, 0) + 1
    return results, distributions.categorical(list(counts.values())) if len(results) > 1 else None


def _outcome_masses(tree: Tree) -> dict[Hashable, gmpy2.mpq]:
    """Return the mass of each outcome of a tree. The masses become fractions only here, at the end."""
    masses: dict[Hashable, gmpy2.mpq] = {}
    for odd, outcomes in tree.outcomes.items():
        first = not masses
        for outcome, (numerator, exponent) in outcomes.items():
            mass = gmpy2.mpq(numerator, odd << exponent)
            masses[outcome] = mass if first else masses.get(outcome, 0) + mass
    return masses


def _total_mass(tree: Tree) -> gmpy2.mpq:
    """Add up all masses of a tree: first over one power of two for each odd part, then as a fraction."""
    total = gmpy2.mpq(0)
    for odd, outcomes in tree.outcomes.items():
        deepest = max(exponent for _, exponent in outcomes.values())
        numerators = (numerator << deepest - exponent for numerator, exponent in outcomes.values())
        total += gmpy2.mpq(sum(numerators), odd << deepest)
    return total
