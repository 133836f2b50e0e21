"""`Sampler`: the draws for real, fast.

A vector draw reads a block of words for all its samples first, in sample order. The rare samples that their block
did not decide then read further words, in sample order too. `Reference` keeps to the same order.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import chain
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lastbit.chance import _classes, _draws, _powers, distributions
from lastbit.chance.bits import Bits, ReadAhead, SystemBits, Words, read_words
from lastbit.chance.descending import Descending
from lastbit.chance.distributions import Distribution
from lastbit.chance.draw import ROOM, Draw, Probabilities, Samples, add_exactly
from lastbit.chance.inversion import Uniform
from lastbit.chance.layers import Layers
from lastbit.chance.parallel import run_parallel, split_range
from lastbit.chance.power_table import WIDE, PowerTable
from lastbit.chance.powers import CHUNK, Exponents, Powers, Sizes
from lastbit.chance.scaled import decide_class, decide_layer, decide_near_class
from lastbit.exact.numbers import whole
from lastbit.privacy.rate import Rate

_INT64: Final = np.dtype(np.int64)

_CHUNK: Final = 1 << 14
"""Words in hand at a time: what a draw needs beyond its result. Memory for more is often new to the process: slow."""

_LONG: Final = 1 << 19
"""From so many words on, four times as many are in hand: the calls take longer than new memory."""

_SEARCH_CHUNK: Final = 1 << 9
"""Exponents in a chunk of an array: one chunk is searched, all are added up."""

Decide = Callable[[int, Words, NDArray[np.int64]], Iterable[int]]
"""(start, words, out) fills out with samples start, start+1, … and names those the words did not decide."""

Settle = Callable[[int, list[int]], int]
"""The value of a sample that its block of words did not decide."""


class Sampler(Draw):
    """Draws for real: the same values and words as `Reference`, thousands of times faster.

    >>> import lastbit as lb
    >>> lb.Sampler(lb.Tape([0, 1 << 63])).bernoulli("1/2", size=2)
    array([ True, False])
    """

    def __init__(self, bits: Bits | None = None) -> None:
        self._bits: Bits = SystemBits() if bits is None else bits

    def __repr__(self) -> str:
        return f"Sampler({self._bits!r})"

    @property
    def uses_system_bits(self) -> bool:
        """Whether the words are those of the operating system: then every machine may draw with its own."""
        return type(self) is Sampler and type(self._bits) is SystemBits

    def words(self, n: int) -> Words:
        """Return n raw words of the source."""
        return read_words(self._bits, whole(n, "n", least=0))

    def raw(self, n: int) -> Words | bytes:
        """Return n words of the source, as kernels take them."""
        bits = self._bits
        return bits.raw(n) if type(bits) is SystemBits else read_words(bits, n)

    def resume(self, words: Words | bytes) -> Sampler:
        """Return a sampler that reads these words first: they were read ahead, and did not decide everything."""
        return Sampler(ReadAhead(np.frombuffer(words, np.uint64), self._bits))

    def power_index(
        self, rate: Rate, exponents: Exponents, multiplicities: NDArray[np.int64] | Sequence[int] | Sizes | None = None
    ) -> int:
        """Draw as `Draw.power_index` does. The law of a few scores takes longer than the draw: a doubt builds it."""
        if type(exponents) is not Descending or multiplicities is not None or type(self) is not Sampler:
            return super().power_index(rate, exponents, multiplicities)
        if type(rate) is not Rate or not len(exponents.values):
            return super().power_index(rate, exponents)  # which refuses them
        words = self.raw(1)
        index = _decide_descending(rate, exponents, _join(words))
        return super(Sampler, self.resume(words)).power_index(rate, exponents) if index is None else index

    def _one(self, distribution: Distribution) -> int:
        inverter = None if distribution.cells else distribution.inverter
        if inverter is not None:
            first = self.raw(1)
            cell = inverter.one(first)
            return cell if cell is not None else distribution.value(_blocks(first, [0], 1)[0][1], self._read)
        top = distribution.levels[0]
        if type(top) is Uniform:
            first = self.raw(distribution.words)
            cell = top.cell(_join(first), 64 * distribution.words)
            return distribution.value(_words(first), self._read) if cell is None else cell
        words = read_words(self._bits, distribution.block)
        if isinstance(top, Powers) and (index := _decide_power(top, int(words[0]))) is not None:
            return index
        if isinstance(top, Layers) and (index := decide_layer(top, words.tolist())) is not None:
            return index
        kernel = None if distribution.cells else distribution.kernel
        if kernel is not None:
            out = np.empty(1, np.int64)
            if not kernel.fill(words, out):
                return out.item()
        return distribution.value(words.tolist(), self._read)

    def _many(self, distribution: Distribution, n: int) -> Samples:
        step, kernel = distribution.block, None if distribution.cells else distribution.kernel
        if kernel is None or n * step > _CHUNK:
            kind = np.int8 if distribution.narrow else np.int64
            return self._fill(np.empty(n, kind), step, decide_with(distribution, n), self._settler(distribution))
        # The same for one chunk, without the detours: they would take longer than a few samples.
        out = np.empty(n, _INT64)
        words = self.raw(n * step)
        doubts = kernel.fill(words, out)
        return self._settle(out, _blocks(words, doubts, step), self._settler(distribution)) if doubts else out

    def add_noise(self, law: Distribution, steps: Samples) -> Samples:
        """Add a draw of its own to each of these steps, whole numbers within ±2^61: a few in one pass.

        The sums are Python integers where int64 has no room.
        """
        if len(steps) > _CHUNK or steps.dtype is not _INT64 or law.inverter is None:
            return add_exactly(steps, self._many(law, len(steps)))
        words = self.raw(len(steps))
        noisy = law.inverter.onto(words, steps, ROOM)
        return add_exactly(steps, self.resume(words)._many(law, len(steps))) if noisy is None else noisy

    def _settler(self, distribution: Distribution) -> Settle:
        return lambda _, block: distribution.value(block, self._read)

    def _rises(self, parts: Probabilities) -> NDArray[np.int64]:
        leading = parts.leading

        def decide(start: int, words: Words, out: NDArray[np.int64]) -> list[int]:
            return _draws.rises(words, leading[start : start + len(out)], out)

        def settle(i: int, block: list[int]) -> int:
            return distributions.rise(parts.exact(i)).value(block, self._read)

        return self._fill(np.empty(len(leading), np.int64), 1, decide, settle)

    def _permutation(self, n: int) -> NDArray[np.int64]:
        # Pick i is uniform on 0, …, i; pick 0 takes no word.
        def settle(i: int, block: list[int]) -> int:
            return distributions.uniform(i + 2).value(block, self._read)

        if not 0 < n <= _CHUNK:
            picks = np.zeros(n, np.int64)
            self._fill(picks[1:], 1, lambda start, words, out: _draws.uniform(words, start + 2, 1, out), settle)
        else:
            picks, words = np.empty(n, np.int64), self.raw(n - 1)
            doubts = _draws.permutation(words, picks)
            if not doubts:
                return picks
            self._settle(picks[1:], _blocks(words, doubts, 1), settle)
        _draws.shuffle(picks)
        return picks

    def _uniforms(self, sizes: NDArray[np.int64], most: int) -> NDArray[np.int64]:
        out, words = np.empty(len(sizes), np.int64), read_words(self._bits, 2 * len(sizes))

        def settle(i: int, block: list[int]) -> int:
            return distributions.uniform_below(int(sizes[i]), most).value(block, self._read)

        return self._settle(out, _blocks(words, _draws.below(words, sizes, out), 2), settle)

    def _read(self) -> int:
        return int(read_words(self._bits, 1)[0])

    def _fill(self, out: Samples, step: int, decide: Decide, settle: Settle) -> Samples:
        chunk = max(1, (_CHUNK if len(out) * step < _LONG else 4 * _CHUNK) // step)

        def fill_part(samples: range) -> list[tuple[int, list[int]]]:
            doubtful: list[tuple[int, list[int]]] = []
            for start in range(samples.start, samples.stop, chunk):
                part = out[start : min(start + chunk, samples.stop)]
                words = read_words(self._bits, len(part) * step)
                wide = part if part.itemsize == 8 else np.empty(len(part), np.int64)
                doubtful += _blocks(words, decide(start, words, wide), step, start)
                if wide is not part:
                    part[:] = wide
            return doubtful

        # Fresh words have no order, so that every core may take its own. Those of a tape are read in sample order.
        parts = split_range(len(out), chunk) if self.uses_system_bits else [range(len(out))]
        return self._settle(out, list(chain.from_iterable(run_parallel(fill_part, parts))), settle)

    def _settle(self, out: Samples, doubtful: list[tuple[int, list[int]]], settle: Settle) -> Samples:
        for i, block in doubtful:
            value = settle(i, block)
            if not is_small(value):
                out = out.astype(object)
            out[i] = value
        return out


def _blocks(words: Words | bytes, doubts: Iterable[int], step: int, start: int = 0) -> list[tuple[int, list[int]]]:
    """Return the samples in doubt of a chunk that begins there, and their words."""
    array = np.frombuffer(words, np.uint64)
    return [(start + k, array[k * step : (k + 1) * step].tolist()) for k in doubts]


def is_small(value: int) -> bool:
    """Return whether int64 holds a sample."""
    return -(1 << 63) <= value < 1 << 63


def decide_with(distribution: Distribution, n: int) -> Decide:
    """Choose the quickest way to decide n samples by their blocks of words."""
    partition = distribution.levels[0]
    if isinstance(partition, Uniform) and partition.n <= 1 << 63:
        size = partition.n
        return lambda _, words, out: _draws.uniform(words, size, 0, out)
    kernel = distribution.kernel if n >= distribution.cells else None
    if kernel is None:
        return lambda _, words, out: _decide_one_by_one(distribution, words.tolist(), out)
    return lambda _, words, out: kernel.fill(words, out)


def _decide_one_by_one(distribution: Distribution, words: list[int], out: NDArray[np.int64]) -> list[int]:
    doubts = []
    for k in range(len(out)):
        value = distribution.decide(words[k * distribution.block : (k + 1) * distribution.block])
        if value is None or not is_small(value):
            doubts.append(k)
        else:
            out[k] = value
    return doubts


def _words(words: Words | bytes) -> list[int]:
    array: Words = np.frombuffer(words, np.uint64) if isinstance(words, bytes) else words
    return list(array.tolist())


def _join(words: Words | bytes) -> int:
    """Return a few words as the integer whose digits they are: without an array, which takes longer to make."""
    if isinstance(words, bytes) and len(words) == 8:
        return int.from_bytes(words, sys.byteorder)
    return distributions.join_words(_words(words))


@lru_cache(maxsize=16)
def _weights_of(rate: Rate) -> _powers.PowerWeights:
    table = PowerTable.of(rate)
    return _powers.PowerWeights(table.factors, table.digits, table.last, table.error)


@lru_cache(maxsize=16)
def class_weights(rate: Rate) -> tuple[_classes.ClassWeights, int]:
    """Return the tables of a rate from which kernels weigh classes, and by how much a weight may be too small."""
    table = PowerTable.of(rate, WIDE)
    return _classes.ClassWeights(table.factors, table.digits, table.last), table.error


def _decide_class(powers: Powers, times: NDArray[np.int64], word: int) -> int | None:
    """Return the class of a word from weights of 127 bits, or None where it is in doubt."""
    weights, weight_error = class_weights(powers.rate)
    weights.warm()
    error = divmod(weight_error * powers.total, 1 << 64)
    exponents = powers.exponents[0 : len(powers.exponents)]
    index = weights.place(np.ascontiguousarray(exponents), np.ascontiguousarray(times), powers.least, *error, word)
    return None if index < 0 else index


def _decide_descending(rate: Rate, exponents: Descending, word: int) -> int | None:
    values, chunks = np.ascontiguousarray(exponents.values), -(-len(exponents.values) // _SEARCH_CHUNK)
    rule = exponents.factor, exponents.edge, exponents.lowest, exponents.highest
    index = _powers.descend(_weights_of(rate), values, *rule, chunks, word)
    return None if index < 0 else index


def _decide_power(powers: Powers, word: int) -> int | None:
    """Return the cell of a word from weights of 63 bits, or None where
    their error or the word itself leaves it in doubt.
    """
    if powers.multiplicities is not None:
        if isinstance(powers.multiplicities, Sizes):
            return decide_near_class(powers, powers.multiplicities, [word])
        if isinstance(powers.multiplicities, tuple):
            return decide_class(powers, powers.multiplicities, [word])
        return _decide_class(powers, powers.multiplicities, word)
    exponents, n = powers.exponents, len(powers.exponents)
    if isinstance(exponents, Descending):
        return _decide_descending(powers.rate, exponents, word)
    weights, chunks = _weights_of(powers.rate), -(-n // _SEARCH_CHUNK)
    if n <= CHUNK or isinstance(exponents, np.ndarray):
        # One chunk of numbers that are made anew is kept, and searched where it was added up.
        numbers = np.ascontiguousarray(exponents[:n])
        index = _powers.PowerSearch(weights, powers.least, n, chunks).among(numbers, word)
    else:
        # Their chunks are long, as one of them is made again to be searched.
        search = _powers.PowerSearch(weights, powers.least, n, len(powers.cuts) - 1)
        search.warm()
        for part in powers.chunks():
            search.add(part)
        chunk = search.aim(word)
        begin, end = powers.cuts[chunk], powers.cuts[chunk + 1]
        index = search.locate(exponents[begin:end], chunk, begin)
    return None if index < 0 else index
