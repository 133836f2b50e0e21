"""Sampler and Reference on the same tape: the same values, types, consumed words and errors, or the test fails."""

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

import numpy as np
from hypothesis import strategies as st

from lastbit import Draw, LastbitError, Reference, Sampler, Tape, TapeEnded
from lastbit.chance.distributions import Distribution
from lastbit.chance.inversion import Falling, Uniform, Weighted
from lastbit.chance.threshold_table import ThresholdTable

WORD = 1 << 64
Step = Callable[[Draw], Any]


def agree(words: Iterable[int], *steps: Step) -> list[Any]:
    """Run the steps, one after the other, on both. Returns what both gave: (value, words consumed so far)."""
    words = list(words)
    fast, slow = (_trace(draw, words, steps) for draw in (Sampler, Reference))
    assert fast == slow
    return fast


def _trace(draws: type[Sampler] | type[Reference], words: list[int], steps: tuple[Step, ...]) -> list[Any]:
    tape = Tape(words)
    draw = draws(tape)
    trace = []
    for step in steps:
        try:
            value = _plain(step(draw))
        except TapeEnded:
            value = TapeEnded
        except LastbitError as error:
            value = type(error), str(error)
        trace.append((value, tape.consumed))
    return trace


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.tolist()
    return type(value), value


@lru_cache(maxsize=128)
def edges(distribution: Distribution) -> list[list[int]]:
    """The words in doubt, for every level: those an edge of a cell runs through."""
    found = []
    for level in distribution.levels:
        if isinstance(level, Falling) and (table := ThresholdTable.of(level)) is not None:
            found.append([int(threshold) for threshold in table.thresholds])
        elif isinstance(level, Falling):
            scale = level.rate.scale // level.stride
            places = {1, 2, 3, 1000, *(scale * part // 16 for part in (1, 5, 11, 16, 40, 100, 700)), level.last}
            rising = [j for j in places if j is not None and j > 0 and (level.last is None or j <= level.last)]
            falling = [] if level.first == 0 else [0, *(-j for j in rising)]
            found.append([level.floor(j, 64)[0] for j in rising + falling])
        elif isinstance(level, Weighted):
            total = level.cumulative[-1]
            found.append([min(part * WORD // total, WORD - 1) for part in level.cumulative])
        else:
            assert isinstance(level, Uniform)
            found.append([i * WORD // level.n for i in (*range(min(level.n, 40)), level.n - 1)])
    return found


def near(word: int) -> st.SearchStrategy[int]:
    return st.integers(-1, 1).map(lambda step: min(max(word + step, 0), WORD - 1))


@lru_cache(maxsize=128)
def words_for(distribution: Distribution) -> st.SearchStrategy[list[int]]:
    """Tapes of blocks that sit on or beside the edges, among plain, all-zero and all-one words; and odd ends."""
    plain = st.integers(0, WORD - 1) | st.sampled_from([0, 1, WORD - 2, WORD - 1, WORD // 2])
    per_level = [st.sampled_from(level).flatmap(near) | plain for level in edges(distribution)]
    fill = [plain] * (distribution.words - 1)
    block = st.tuples(*(part for level in per_level for part in (level, *fill))).map(list)
    sharp = st.lists(block, max_size=12).map(lambda blocks: [word for block in blocks for word in block])
    return st.tuples(sharp, st.lists(plain, max_size=12)).map(lambda parts: parts[0] + parts[1])
