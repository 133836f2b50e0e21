"""The noise of a run, which nobody may see.

The noise of the queries is drawn ahead, in blocks: four blocks of one query each, then of 2, 4, 8, … up to 16384. A
query takes the next noise of the block, and the next block is drawn when a query needs it. So asking one by one and
asking many read the same words and get the same noise, a run needs the same memory however long it goes on, a short run
draws next to nothing in vain, and the auditor, which follows every draw, meets no draw that is never used among the
first four queries.

No method here gives a secret a local name: a traceback that prints the variables of every frame prints none of them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NoReturn

import numpy as np
from numpy.typing import NDArray

from lastbit.chance.draw import Draw, Samples
from lastbit.errors import RunBound
from lastbit.mechanisms.sparse_vector.kinds import NoiseKind
from lastbit.privacy.rate import Rate
from lastbit.values import _floors
from lastbit.values.grid import Grid

SINGLES: Final = 4
"""How many blocks of one query a run begins with."""

LARGEST: Final = 16384
"""Queries in a block at most: 128 KB of noise a branch."""

_ROOM: Final = 1 << 60
"""Thresholds and margins up to this leave int64 room for all that is added to them."""


_SMALL_SCALE: Final = 1 << 32
"""Noise of a smaller scale stays far below 2^60: it would take 2^22 words of zero in a row."""

_NOTHING: Final = np.empty(0, np.int64)
_NOBODY: Final = np.empty(0, np.bool_)


@dataclass(frozen=True, slots=True)
class Branch:
    """A way to be above: noise of this rate carries the query at least `margin` steps over the noisy threshold."""

    rate: Rate
    margin: int
    units: int
    """The units that an answer by this branch spends."""
    centre: int = 0
    """A public number of steps that is taken off the noise."""

    @property
    def bar(self) -> int:
        """How far the noise must carry a query that is at the noisy threshold."""
        return self.margin + self.centre


class Unshared:
    """An object with secret noise that may be used once: it cannot be copied or pickled."""

    __slots__ = ()

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise RunBound("a run cannot be copied or pickled: its noise is secret and used once. Start another run.")


class HiddenNoise(Unshared):
    """A noisy threshold and the noise of the queries to come.

    `width` is the clamp of the threshold around each query, in steps. Only the part of a gap that `gaps` allows leaves
    this object: all of it, none, or the last of these rising gaps that it reaches.
    """

    __slots__ = (
        "_at",
        "_bars",
        "_branches",
        "_draw",
        "_gap",
        "_gaps",
        "_hit",
        "_kind",
        "_needed",
        "_next",
        "_noise",
        "_places",
        "_row",
        "_singles",
        "_small",
        "_threshold",
        "_width",
    )

    def __init__(
        self,
        draw: Draw,
        kind: NoiseKind,
        threshold_rate: Rate,
        branches: tuple[Branch, ...],
        width: int | None,
        gaps: bool | tuple[int, ...],
    ) -> None:
        self._draw = draw
        self._kind = kind
        self._gaps = (0, *gaps) if isinstance(gaps, tuple) else gaps
        self._branches = branches
        self._bars = [branch.bar for branch in branches]
        self._width = width
        self._threshold = kind.draw_one(draw, threshold_rate) - kind.centre(threshold_rate)
        self._noise: Sequence[Samples] = [_NOTHING]
        self._singles = SINGLES
        self._at = self._next = 0
        self._needed = self._gap = 0
        self._row: NDArray[Any] = _NOTHING
        self._places: dict[int, int] = {}
        self._small = all(branch.rate.scale < _SMALL_SCALE for branch in branches)
        self._hit: NDArray[np.bool_] = _NOBODY

    def __repr__(self) -> str:
        return "<hidden noise>"

    def compare(self, step: int, base: int) -> tuple[Branch, int] | None:
        """Return the branch by which a query is above its threshold `base`, and the gap; None when it is below."""
        if self._next == len(self._noise[0]):
            self._fill()
        # The noise is used up before anything is done with it, so that no query gets it twice, even after an error.
        self._at, self._next = self._next, self._next + 1
        self._needed = self._threshold + base - step
        if self._width is not None:
            self._needed = max(-self._width, min(self._width, self._needed))
        return self._branch_at(self._at)

    def draw_ahead(self, most: int) -> int:
        """Draw noise ahead, and return for how many of the next queries: at least one, at most `most`."""
        if self._next == len(self._noise[0]):
            self._fill()
        return min(most, len(self._noise[0]) - self._next)

    def compare_many(self, steps: NDArray[Any], base: int | NDArray[Any]) -> list[int]:
        """Return which of the next queries are above, were they all asked. `draw_ahead` must have drawn their noise."""
        self._at, self._next = self._next, self._next + len(steps)
        if abs(self._threshold) > _ROOM or max(self._bars) > _ROOM:
            steps, base = steps.astype(object), np.array(base, object)
        self._row, self._places = (self._threshold + base) - steps, {}
        if self._width is not None:
            self._row = np.clip(self._row, -self._width, self._width)
        self._hit = np.zeros(len(steps), np.bool_)
        for i, bar in enumerate(self._bars):
            np.logical_or(self._hit, self._reaches(i, bar), out=self._hit)
        return [int(k) for k in np.flatnonzero(self._hit)]

    def compare_values(self, values: NDArray[Any], grid: Grid, base: int) -> list[int] | None:
        """Run `compare_many` for values that are not in steps yet, in one pass: None where that is not possible.

        Where few of the next queries are above, only theirs are brought into steps.
        """
        if self._width is not None or len(self._bars) > 1:
            return None
        if abs(self._threshold) > _ROOM or self._bars[0] > _ROOM or abs(base) > _ROOM or not self._small:
            return None
        scaling = grid.scaling(values)
        if scaling is None or self._noise[0].dtype.hasobject:
            return None
        self._at, self._next = self._next, self._next + len(values)
        whole = np.ascontiguousarray(values)
        places = _floors.reaching(whole, *scaling, self._noise[0], self._at, self._threshold + base + self._bars[0])
        self._row = (self._threshold + base) - grid.steps(values[places])
        self._places = {k: i for i, k in enumerate(places)}
        return places

    def try_only(self, branches: tuple[Branch, ...]) -> None:
        """Try these branches from now on: the first so many, whose margins may have changed."""
        self._branches = branches
        self._bars = [branch.bar for branch in branches]

    def go_back(self, asked: int) -> None:
        """Leave the noise of `compare_many` after the first so many to the queries that come next: nobody saw it."""
        self._next = self._at + asked

    def measure(self, rate: Rate) -> int:
        """Return the last query that was above, less its threshold, with discrete Laplace noise of its own."""
        return self._threshold - self._needed + self._draw.laplace(rate)

    def branch_at(self, k: int) -> tuple[Branch, int] | None:
        """Return the answer that `compare` would have given to query k of the `compare_many`."""
        self._needed = self._row.item(self._places.get(k, k))
        return self._branch_at(self._at + k)

    def _branch_at(self, position: int) -> tuple[Branch, int] | None:
        for i, branch in enumerate(self._branches):
            self._gap = self._noise[i].item(position) - branch.centre - self._needed
            if self._gap >= branch.margin:
                return branch, self._public_gap()
        return None

    def _public_gap(self) -> int:
        if isinstance(self._gaps, tuple):
            return self._gaps[bisect_right(self._gaps, self._gap) - 1]
        return self._gap if self._gaps else 0

    def _reaches(self, i: int, bar: int) -> NDArray[np.bool_]:
        return (self._row + bar if bar else self._row) <= self._noise[i][self._at : self._next]

    def _fill(self) -> None:
        if self._singles:
            self._noise = [
                np.array([self._kind.draw_one(self._draw, branch.rate)], object) for branch in self._branches
            ]
            self._singles -= 1
        else:
            size = min(LARGEST, 2 * len(self._noise[0]))
            self._noise = [self._kind.draw_many(self._draw, branch.rate, size) for branch in self._branches]
        self._next = 0
