"""The tables and the driver of `_scaled.pyx`: the cell of two words among weights of any size, or a doubt.

Fixed point cannot hold these weights side by side: a weight is a number of subsets of a list, times a power of a rate.
The kernel keeps 128 bits of each, and its exponent. What that leaves in doubt, exact integers decide.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import lru_cache
from typing import Final

import numpy as np
from gmpy2 import mpz
from numpy.typing import NDArray

from lastbit.chance import _scaled
from lastbit.chance.distributions import join_words
from lastbit.chance.layers import Layers
from lastbit.chance.powers import Powers, Sizes
from lastbit.exact.rounding import log2_floor
from lastbit.privacy.rate import Rate

Number = tuple[int, int]
"""(m, e): m/2^127 · 2^e."""

_DIGITS: Final = 8
_GUARD: Final = 400
_LOWEST: Final = -(1 << 50)
"""A power below 2 to this counts as 0: as no list has 2^50 items, cells with such a factor weigh next to nothing."""
_NOWHERE: Final = -(1 << 56)
_LOST: Final = 512
"""A cell is less than so many units of 2^-127 of itself too small, by its factors: see `_scaled.pyx`."""
_UNIT: Final = 127
_WORD: Final = (1 << 64) - 1
_NOTHING: Final = np.zeros(1, np.int64)
_BEYOND: Final = 100
"""What lies beyond the classes that can matter is this many bits smaller than they are."""
_SLACK: Final = 3
"""A class with a size is looked for within an eighth of what is far."""


@lru_cache(maxsize=16)
def scaled_powers(rate: Rate) -> _scaled.ScaledPowers:
    """Return the tables of a rate: r^(i·2^(8·l)) and 1 less that, for every digit i and place l."""
    # So many bits more than 1 - r is small, so that 1 less a power has all of its bits.
    bits = _GUARD + rate.y - ((1 << rate.y) - rate.x).bit_length()
    powers, rests = [], []
    mantissa, exponent = _normal(mpz(rate.x), -rate.y, bits)
    for _ in range(_DIGITS):
        one = mpz(1) << bits - 1, 1 - bits
        for _ in range(256):
            powers.append(_to_number(*one))
            rests.append(_to_number(*_rest(*one, bits)))
            one = _normal(one[0] * mantissa, one[1] + exponent, bits)
        mantissa, exponent = one
    return _scaled.ScaledPowers(_factors(powers), _factors(rests))


def _normal(mantissa: mpz, exponent: int, bits: int) -> tuple[mpz, int]:
    """Return mantissa · 2^exponent with so many bits, rounded down; far below anything that counts, at the lowest."""
    by = mantissa.bit_length() - bits
    return (mantissa >> by if by >= 0 else mantissa << -by), max(exponent + by, 2 * _LOWEST)


def _rest(mantissa: mpz, exponent: int, bits: int) -> tuple[mpz, int]:
    """Return 1 less a power, rounded down."""
    if exponent + bits < -bits:
        return _normal((mpz(1) << bits) - 1, -bits, bits)
    rest = (mpz(1) << -exponent) - mantissa
    # The power is too small by less than 2^-330 of itself: so is the difference too large, in its last bits.
    return (rest, exponent) if rest == 0 else (rest - (rest >> 300) - 1, exponent)


def _to_number(mantissa: mpz, exponent: int) -> Number:
    size = mantissa.bit_length()
    if size == 0 or exponent + size < _LOWEST:
        return 0, _NOWHERE
    by = size - 128
    return int(mantissa >> by if by >= 0 else mantissa << -by), exponent + size - 1


def _factors(numbers: list[Number]) -> _scaled.Factors:
    words = [word for mantissa, _ in numbers for word in (mantissa >> 64, mantissa & (1 << 64) - 1)]
    return _scaled.Factors(np.array(words, np.uint64), np.array([e for _, e in numbers], np.int64))


_ONE: Final = _factors([(1 << _UNIT, 0)])


@lru_cache(maxsize=4)
def factorials(n: int) -> tuple[_scaled.Factors, _scaled.Factors]:
    """Return 0!, 1!, …, n!, and 1 over each: less than 2 and less than 8 units too small."""
    rising = _scaled.running_products(n, 1 << 63, 0, 0, 0, True)
    mantissa, exponent = rising[n]
    # n! is below mantissa + 4.
    inverse = (1 << 319) // (mantissa + 4)
    short = 192 - inverse.bit_length()
    inverse <<= max(0, short)
    words = inverse >> 128, inverse >> 64 & (1 << 64) - 1, inverse & (1 << 64) - 1
    return rising, _scaled.running_products(n, *words, -exponent - 1 - short, False)


def decide_layer(law: Layers, words: list[int]) -> int | None:
    """Find the cell of two words, or None where the error of the weights, or the words themselves, leave a doubt."""
    powers, (many, shared) = scaled_powers(law.rate), factorials(law.n)
    rows = _scaled.Rows(powers, many, shared, law.starts, law.ends, law.tails, law.k, int(law.tails[0]))
    # What the rows have in common, and the first k ranks alone.
    common, alone = powers(law.lead)
    cell = _search(rows, powers.heads(law.heads, law.starts, law.k, shared), len(law.ends), common, alone, words)
    return None if cell is None else 1 + cell


def decide_class(powers: Powers, times: tuple[int, ...], words: list[int]) -> int | None:
    """Find the class of a word among multiplicities of any size, or None where that is in doubt."""
    return _search_classes(powers.rate, powers.exponents[0 : len(times)], times, powers.least, words)


def decide_near_class(powers: Powers, sizes: Sizes, words: list[int]) -> int | None:
    """Return the same where the sizes of classes are computed when they are asked for: of those that can matter.

    A class with a size has an exponent near the least one. All classes that are `far` above it together weigh less than
    2^-100 of that class. Where the classes near the least exponent have no size, all of them are in doubt.
    """
    exponents = powers.exponents[0 : len(sizes)]
    far = _steps_to_lose(powers.rate, sizes.total.bit_length() + _BEYOND)
    least, slack = int(exponents.min()), far >> _SLACK
    near = np.flatnonzero(exponents <= least + far + slack)
    first, behind = int(near[0]), int(near[-1]) + 1
    inside, times = exponents[first:behind], sizes.part(first, behind)
    with_size = inside[[size > 0 for size in times]]
    if not len(with_size) or with_size.min() > least + slack:
        return None
    beyond = behind - first < len(sizes)
    cell = _search_classes(powers.rate, inside, times, int(with_size.min()), words, beyond=beyond)
    return None if cell is None else first + cell


@lru_cache(maxsize=64)
def _steps_to_lose(rate: Rate, bits: int) -> int:
    """Return by how many steps an exponent grows until its power is so many bits smaller, or a little more."""
    return -((-bits << 64) // log2_floor(1 / rate.fraction, 64))


def _search_classes(
    rate: Rate, exponents: NDArray[np.int64], times: tuple[int, ...], least: int, words: list[int], *,
    beyond: bool = False,
) -> int | None:  # fmt: skip
    """Return the class of a word among classes in one row. Others may be `beyond` them, before and behind."""
    n, tails = len(times), np.ascontiguousarray(exponents)
    rows = _scaled.Rows(scaled_powers(rate), _scaled.numbers(times), None, _NOTHING, np.arange(n), tails, 0, least)
    return _search(rows, _ONE, n, (1 << _UNIT, 0), (0, _NOWHERE), words, beyond=beyond)


def _search(
    rows: _scaled.Rows, heads: _scaled.Factors, columns: int, common: Number, alone: Number, words: list[int], *,
    beyond: bool = False,
) -> int | None:  # fmt: skip
    """Find the place of a cell among all cells of all rows; -1 for what stands alone before them; None for a doubt.

    Everything is a whole number of units of 2^unit, rounded down; `lost` bounds how much is missing. Cells `beyond`
    these, before and behind them, together weigh less than 2^-100 of these.
    """
    totals, exponents = rows.sums()
    prefixes, unit = rows.prefixes(totals, exponents, heads, *_parts(common), *_parts(alone))
    sums = prefixes.astype("<u8").tobytes()

    def after(place: int) -> int:
        """Return the sum of what stands alone and of this many rows."""
        return int.from_bytes(sums[32 * place : 32 * place + 32], "little")

    lost, last = _LOST + 4 * (columns + 64), len(exponents)
    total, bits, u = after(last), 64 * len(words), join_words(words)
    others = (total >> _BEYOND) + 1 if beyond else 0
    # U times the true total lies in [start, stop).
    start, stop = u * total >> bits, -(-(u + 1) * (_upper(total, lost, last) + others) >> bits)
    place = bisect_left(range(last + 1), stop, key=after)
    if place > last:
        return None
    if place == 0:
        return -1
    before, row = after(place - 1), place - 1
    if _upper(before, lost, place) + others > start:
        return None
    # In units of the row: a cell is found where the sum reaches the goal.
    (mantissa, e), most = heads[row], int(exponents[row])
    weight, shift = mantissa * common[0], e + common[1] + most - 2 * _UNIT - 126 - unit
    goal = -(-_shift_up(stop - before, -shift) // weight)
    if goal >> 192:
        return None
    column, less, more = rows.locate(row, most, goal >> 128, goal >> 64 & _WORD, goal & _WORD)
    if column == columns or before + _shift(more * weight, shift) < stop:
        return None
    # Each cell before this one in its row has lost less than a unit of the row, however small it is.
    if column and _upper(before + _shift((less + column) * weight, shift), lost, place + 1) + others > start:
        return None
    return row * columns + column


def _parts(number: Number) -> tuple[int, int, int]:
    return number[0] >> 64, number[0] & _WORD, number[1]


def _upper(lower: int, lost: int, parts: int) -> int:
    """Return an upper bound of the sum of so many parts, each rounded down to a unit."""
    return lower + (lower * lost >> _UNIT) + 2 * parts + 1


def _shift(number: int, by: int) -> int:
    return number << by if by >= 0 else number >> -by


def _shift_up(number: int, by: int) -> int:
    return number << by if by >= 0 else -(-number >> -by)
