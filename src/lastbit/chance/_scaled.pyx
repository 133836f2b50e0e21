"""Sums of products far too large and too small for fixed point, as mantissas of 128 bits and exponents. Integers only.

A number (high, low, e) stands for (high·2^64 + low)/2^127 · 2^e, with the highest bit set, or for 0. Every number here is
a lower bound of the true one. Errors are counted in units of 2^-127 of the number:

- an entry of a table is less than 2 units too small;
- a product is too small by the units of both factors and 7 more, a sum by the units of the worse term and 2 more;
- so a power is less than 65 units too small, 1 less a power 79, a cell with all its factors below 400.

A row of cells is added up in units of 2^-126 of its largest cell: each cell loses less than one such unit, and a block
less than two. `lastbit.chance.scaled` states the sum of these.
"""

from cpython.mem cimport PyMem_Calloc, PyMem_Free
from libc.stdint cimport int64_t, uint64_t

from numpy import empty, zeros
from numpy import int64 as INT64
from numpy import uint64 as UINT64

from lastbit.chance._words cimport multiply

cdef extern from *:
    """
    #include <stdint.h>
    #if defined(__GNUC__)
    #define lastbit_length(x) ((x) ? 64 - __builtin_clzll(x) : 0)
    #else
    static inline int lastbit_length(uint64_t x) { int n = 0; while (x) { n++; x >>= 1; } return n; }
    #endif
    """
    int bit_length "lastbit_length"(uint64_t) noexcept nogil

cdef enum:
    DIGITS = 8
    # Cells in hand at a time: their factors stay in the first caches.
    IN_HAND = 256

cdef int64_t NOWHERE = -(<int64_t>1 << 56)
"""The exponent of 0: below that of any number, and far from overflow when a few are added."""

cdef struct Scaled:
    uint64_t high
    uint64_t low
    int64_t e


cdef inline void product(
    uint64_t a_high, uint64_t a_low, uint64_t b_high, uint64_t b_low, uint64_t *high, uint64_t *low
) noexcept nogil:
    """The leading 128 bits of a product of 256, less than 3 too small: never below 2^126 for two numbers of 128 bits."""
    cdef uint64_t lowest = 0, one, other
    one = multiply(a_high, b_low, &lowest)
    other = multiply(a_low, b_high, &lowest)
    high[0] = multiply(a_high, b_high, low)
    low[0] += one
    high[0] += low[0] < one
    low[0] += other
    high[0] += low[0] < other


cdef inline Scaled times(Scaled a, Scaled b) noexcept nogil:
    cdef Scaled out
    cdef int short
    product(a.high, a.low, b.high, b.low, &out.high, &out.low)
    short = out.high >> 63 == 0
    out.high = out.high << short | (out.low >> 63 if short else 0)
    out.low <<= short
    out.e = a.e + b.e + 1 - short
    return out


cdef inline void shift_pair(uint64_t *high, uint64_t *low, int64_t by) noexcept nogil:
    """Shift two words to the right, by 0 or more."""
    if by >= 128:
        high[0] = low[0] = 0
    elif by >= 64:
        low[0] = high[0] >> (by - 64)
        high[0] = 0
    elif by > 0:
        low[0] = low[0] >> by | high[0] << (64 - by)
        high[0] >>= by


cdef inline Scaled plus(Scaled a, Scaled b) noexcept nogil:
    cdef Scaled out = a
    cdef uint64_t carry
    if b.e > a.e:
        out, b = b, out
    shift_pair(&b.high, &b.low, out.e - b.e)
    out.low += b.low
    carry = out.low < b.low
    out.high += carry
    carry = out.high < carry
    out.high += b.high
    carry |= out.high < b.high
    if carry:
        out.low = out.low >> 1 | out.high << 63
        out.high = out.high >> 1 | <uint64_t>1 << 63
        out.e += 1
    return out


cdef class Factors:
    """Scaled numbers by their places: two words and an exponent each."""

    cdef const uint64_t[::1] words
    cdef const int64_t[::1] exponents

    def __init__(self, words, exponents):
        self.words, self.exponents = words, exponents
        if words.shape[0] != 2 * exponents.shape[0]:
            raise ValueError("a number has two words and an exponent.")

    cdef inline Scaled at(self, int64_t place) noexcept nogil:
        cdef Scaled out
        out.high, out.low, out.e = self.words[2 * place], self.words[2 * place + 1], self.exponents[place]
        return out

    def __getitem__(self, Py_ssize_t place):
        """(mantissa, exponent) of a number, for tests and for the driver of a search."""
        if not 0 <= place < self.exponents.shape[0]:
            raise IndexError("no number has this place.")
        return (<object>self.words[2 * place] << 64) + self.words[2 * place + 1], self.exponents[place]


def running_products(Py_ssize_t n, uint64_t high, uint64_t middle, uint64_t low, int64_t e, bint rising):
    """A number of 192 bits times 1, 2, …, n, one after the other, or, falling, times n, n-1, …, 1: all n + 1 products.

    A product is less than n·2^-191 of itself too small, and is cut to 128 bits. Falling, the last product is at place 0.
    """
    words, exponents = empty(2 * (n + 1), UINT64), empty(n + 1, INT64)
    cdef uint64_t[::1] mantissas = words
    cdef int64_t[::1] powers = exponents
    cdef Py_ssize_t i, place
    cdef uint64_t over, upper, lower, factor
    cdef int by
    with nogil:
        for i in range(n + 1):
            place = i if rising else n - i
            if i:
                factor = place if rising else place + 1
                lower = multiply(low, factor, &low)
                upper = multiply(middle, factor, &middle)
                middle += lower
                upper += middle < lower
                over = multiply(high, factor, &high)
                high += upper
                over += high < upper
                by = bit_length(over)
                if by:
                    low = low >> by | middle << (64 - by)
                    middle = middle >> by | high << (64 - by)
                    high = high >> by | over << (64 - by)
                    e += by
            mantissas[2 * place], mantissas[2 * place + 1], powers[place] = high, middle, e
    return Factors(words, exponents)


def runs(int64_t[::1] ranked):
    """Runs of equal numbers in rising ones: how many numbers are before the end of each run, and the number of each.

    The numbers of the runs are written to the beginning of the array, which they are a part of.
    """
    cdef Py_ssize_t n = ranked.shape[0], i, count = 1
    if n == 0:
        raise ValueError("there must be a number.")
    for i in range(1, n):
        count += ranked[i] != ranked[i - 1]
    ends = empty(count, INT64)
    cdef int64_t[::1] out = ends
    count = 0
    for i in range(1, n):
        if ranked[i] != ranked[i - 1]:
            out[count], ranked[count] = i, ranked[i - 1]
            count += 1
    out[count], ranked[count] = n, ranked[n - 1]
    return ends, count + 1


def numbers(values):
    """Whole numbers that are not negative, of any size, each cut to 128 bits."""
    cdef Py_ssize_t n = len(values), i
    words, exponents = zeros(2 * n, UINT64), empty(n, INT64)
    cdef uint64_t[::1] mantissas = words
    cdef int64_t[::1] powers = exponents
    cdef object mask = (1 << 64) - 1, value, size
    for i in range(n):
        value = values[i]
        size = value.bit_length()
        powers[i] = size - 1 if size else NOWHERE
        if size:
            value = value >> size - 128 if size > 128 else value << 128 - size
            mantissas[2 * i], mantissas[2 * i + 1] = value >> 64, value & mask
    return Factors(words, exponents)


cdef class ScaledPowers:
    """r^e and 1 - r^e for every e below 2^64, from tables of the digits of e in base 2^8."""

    cdef Factors powers
    cdef Factors rests

    def __init__(self, Factors powers, Factors rests):
        self.powers, self.rests = powers, rests
        if powers.exponents.shape[0] != DIGITS * 256 or rests.exponents.shape[0] != DIGITS * 256:
            raise ValueError("there must be a number for each of eight digits.")

    cdef inline Scaled power(self, uint64_t e) noexcept nogil:
        cdef Scaled out = self.powers.at(e & 255)
        cdef int digit
        for digit in range(1, DIGITS):
            e >>= 8
            out = times(out, self.powers.at((digit << 8) + (e & 255)))
        return out

    cdef inline Scaled rest(self, uint64_t e) noexcept nogil:
        """1 - r^(a+b) = (1 - r^a) + r^a·(1 - r^b), from the highest digit: nothing is subtracted."""
        cdef Scaled out = self.rests.at((7 << 8) + (e >> 56))
        cdef int digit
        cdef int64_t place
        for digit in range(6, -1, -1):
            place = (digit << 8) + (e >> (8 * digit) & 255)
            out = plus(self.rests.at(place), times(self.powers.at(place), out))
        return out

    def __call__(self, uint64_t e):
        """r^e and 1 - r^e, as (mantissa, exponent)."""
        cdef Scaled one = self.power(e), other = self.rest(e)
        return (
            ((<object>one.high << 64) + one.low, one.e),
            ((<object>other.high << 64) + other.low, other.e),
        )

    def heads(self, const int64_t[::1] heads, const int64_t[::1] starts, int64_t k, Factors shared):
        """r^(last - heads[i])·(1 - r^(heads[i] - heads[i-1]))·shared[k - starts[i]]; the first has no difference."""
        cdef Py_ssize_t n = heads.shape[0], i
        words, exponents = empty(2 * n, UINT64), empty(n, INT64)
        cdef uint64_t[::1] mantissas = words
        cdef int64_t[::1] powers = exponents
        cdef Scaled out
        for i in range(n):
            out = times(self.power(<uint64_t>heads[n - 1] - <uint64_t>heads[i]), shared.at(k - starts[i]))
            if i:
                out = times(out, self.rest(<uint64_t>heads[i] - <uint64_t>heads[i - 1]))
            mantissas[2 * i], mantissas[2 * i + 1], powers[i] = out.high, out.low, out.e
        return Factors(words, exponents)


cdef class Rows:
    """Rows of cells: cell j of row i weighs tail(j)·many[ends[j] - starts[i]].

    With `shared` a tail is r^(tails[j] - base)·(1 - r^(tails[j+1] - tails[j]))·shared[ends[j] - k], the last without the
    difference. Without, a tail is r^(tails[j] - base).
    """

    cdef ScaledPowers powers
    cdef Factors many
    cdef Factors shared
    cdef const int64_t[::1] starts
    cdef const int64_t[::1] ends
    cdef const int64_t[::1] tails
    cdef int64_t k
    cdef uint64_t base

    def __init__(self, ScaledPowers powers, Factors many, Factors shared, starts, ends, tails, int64_t k, int64_t base):
        self.powers, self.many, self.shared, self.k, self.base = powers, many, shared, k, <uint64_t>base
        self.starts, self.ends, self.tails = starts, ends, tails
        if not (starts.min() >= 0 and ends.min() >= starts.max() and ends.max() < many.exponents.shape[0]):
            raise ValueError("a cell must have a number.")
        if shared is not None and not (ends.min() >= k and ends.max() - k < shared.exponents.shape[0]):
            raise ValueError("a tail must have a number.")

    cdef void fill(self, Py_ssize_t begin, Py_ssize_t n, Scaled *out) noexcept nogil:
        """The tails of a block."""
        cdef Py_ssize_t j, last = self.tails.shape[0] - 1
        cdef Scaled tail
        for j in range(begin, begin + n):
            tail = self.powers.power(<uint64_t>self.tails[j] - self.base)
            if self.shared is not None:
                tail = times(tail, self.shared.at(self.ends[j] - self.k))
                if j < last:
                    tail = times(tail, self.powers.rest(<uint64_t>self.tails[j + 1] - <uint64_t>self.tails[j]))
            out[j - begin] = tail

    cdef inline int64_t highest(self, const Scaled *tails, Py_ssize_t begin, Py_ssize_t n, int64_t start) noexcept nogil:
        """The largest exponent of a cell of this block."""
        cdef const int64_t *exponents = &self.many.exponents[0]
        cdef const int64_t *ends = &self.ends[begin]
        cdef int64_t most = 2 * NOWHERE, e
        cdef Py_ssize_t j
        for j in range(n):
            e = tails[j].e + exponents[ends[j] - start]
            most = e if e > most else most
        return most

    cdef inline void cell(
        self, const Scaled *tail, int64_t place, int64_t most, uint64_t *high, uint64_t *low
    ) noexcept nogil:
        """A cell in units of 2^(most - 126)."""
        product(tail.high, tail.low, self.many.words[2 * place], self.many.words[2 * place + 1], high, low)
        shift_pair(high, low, most - tail.e - self.many.exponents[place])

    def sums(self):
        """For each row three words of its sum, highest first, in units of 2^(e - 126), and the e."""
        cdef Py_ssize_t rows = self.starts.shape[0], columns = self.tails.shape[0], begin = 0, n, i, j
        words, exponents = zeros(3 * rows, UINT64), empty(rows, INT64)
        cdef uint64_t[::1] totals = words
        cdef int64_t[::1] units = exponents
        cdef Scaled tails[IN_HAND]
        cdef uint64_t block[3]
        cdef uint64_t high = 0, low = 0, carry
        cdef int64_t most, start
        with nogil:
            for i in range(rows):
                units[i] = 2 * NOWHERE
            while begin < columns:
                n = columns - begin if columns - begin < IN_HAND else IN_HAND
                self.fill(begin, n, tails)
                for i in range(rows):
                    start = self.starts[i]
                    most = self.highest(tails, begin, n, start)
                    block[0] = block[1] = block[2] = 0
                    for j in range(n):
                        self.cell(&tails[j], self.ends[begin + j] - start, most, &high, &low)
                        add(block, high, low)
                    if most > units[i]:
                        shift_three(&totals[3 * i], most - units[i])
                        units[i] = most
                    else:
                        shift_three(block, units[i] - most)
                    add(&totals[3 * i], block[1], block[2])
                    totals[3 * i] += block[0]
                begin += n
        return words, exponents

    def prefixes(self, words, exponents, Factors heads, common_high, common_low, common_e, alone_high, alone_low, alone_e):
        """The sums of what stands alone and of the first rows, each times its head and what is common: all of them.

        From `sums`. A sum is four words, the lowest first, in units of 2^e for the e that is returned too: 191 bits below
        the largest term, so that each term loses less than one unit.
        """
        cdef Py_ssize_t rows = self.starts.shape[0], i, place
        cdef const uint64_t[::1] totals = words
        cdef const int64_t[::1] units = exponents
        out = zeros(4 * (rows + 1), UINT64)
        cdef uint64_t[::1] sums = out
        cdef Scaled *terms = <Scaled *>PyMem_Calloc(rows + 1, sizeof(Scaled))
        cdef Scaled common
        cdef int64_t most
        cdef uint64_t carry
        if terms is NULL:
            raise MemoryError
        common.high, common.low, common.e = common_high, common_low, common_e
        terms[0].high, terms[0].low, terms[0].e = alone_high, alone_low, alone_e
        try:
            with nogil:
                most = terms[0].e
                for i in range(rows):
                    terms[i + 1] = times(times(normal(&totals[3 * i], units[i]), heads.at(i)), common)
                    most = terms[i + 1].e if terms[i + 1].e > most else most
                for i in range(rows + 1):
                    place = 4 * i
                    if i:
                        sums[place], sums[place + 1] = sums[place - 4], sums[place - 3]
                        sums[place + 2], sums[place + 3] = sums[place - 2], sums[place - 1]
                    shift_and_add(&sums[place], terms[i], most - terms[i].e)
        finally:
            PyMem_Free(terms)
        return out, most - 191

    def locate(self, Py_ssize_t row, int64_t most, uint64_t goal_high, uint64_t goal_middle, uint64_t goal_low):
        """The first cell of a row at whose end the sum reaches a goal, and the sums before and after it.

        In units of 2^(most - 126). The place is the number of cells where no sum reaches the goal. Nothing branches on
        where that is.
        """
        cdef Py_ssize_t columns = self.tails.shape[0], begin = 0, n, j, column = 0
        cdef int64_t start = self.starts[row]
        cdef Scaled tails[IN_HAND]
        cdef uint64_t goal[3]
        cdef uint64_t sums[3]
        cdef uint64_t before[3]
        cdef uint64_t after[3]
        cdef uint64_t high = 0, low = 0, below, here
        goal[0], goal[1], goal[2] = goal_high, goal_middle, goal_low
        sums[0] = sums[1] = sums[2] = before[0] = before[1] = before[2] = after[0] = after[1] = after[2] = 0
        with nogil:
            while begin < columns:
                n = columns - begin if columns - begin < IN_HAND else IN_HAND
                self.fill(begin, n, tails)
                for j in range(n):
                    # Sums rise, so the last sum below the goal is the one before the cell, and the next one that after.
                    below = 0 - <uint64_t>less(sums, goal)
                    before[0] ^= below & (before[0] ^ sums[0])
                    before[1] ^= below & (before[1] ^ sums[1])
                    before[2] ^= below & (before[2] ^ sums[2])
                    self.cell(&tails[j], self.ends[begin + j] - start, most, &high, &low)
                    add(sums, high, low)
                    after[0] ^= below & (after[0] ^ sums[0])
                    after[1] ^= below & (after[1] ^ sums[1])
                    after[2] ^= below & (after[2] ^ sums[2])
                    here = less(sums, goal)
                    column += here
                begin += n
        return column, join_words(before), join_words(after)


cdef inline void add(uint64_t *sums, uint64_t high, uint64_t low) noexcept nogil:
    """Add two words to three."""
    cdef uint64_t carry
    sums[2] += low
    carry = sums[2] < low
    sums[1] += carry
    carry = sums[1] < carry
    sums[1] += high
    sums[0] += carry + (sums[1] < high)


cdef inline Scaled normal(const uint64_t *sums, int64_t e) noexcept nogil:
    """Three words in units of 2^(e - 126) as a number, cut to 128 bits."""
    cdef Scaled out
    cdef uint64_t high = sums[0], middle = sums[1], low = sums[2]
    cdef int size, by
    cdef int64_t moved = 65
    if high == 0:
        high, middle, low, moved = middle, low, 0, moved - 64
    if high == 0:
        high, middle, moved = middle, 0, moved - 64
    size = bit_length(high)
    by = 64 - size
    if size == 0:
        out.high, out.low, out.e = 0, 0, NOWHERE
        return out
    if by:
        high = high << by | middle >> size
        middle = middle << by | low >> size
    out.high, out.low, out.e = high, middle, e + moved - by
    return out


cdef inline void shift_and_add(uint64_t *sums, Scaled term, int64_t by) noexcept nogil:
    """Add a number to four words, the lowest first: 64 bits below its mantissa, and shifted to the right."""
    cdef uint64_t parts[3]
    cdef uint64_t carry
    parts[0], parts[1], parts[2] = term.high, term.low, 0
    shift_three(parts, by)
    sums[0] += parts[2]
    carry = sums[0] < parts[2]
    sums[1] += carry
    carry = sums[1] < carry
    sums[1] += parts[1]
    carry += sums[1] < parts[1]
    sums[2] += carry
    carry = sums[2] < carry
    sums[2] += parts[0]
    sums[3] += carry + (sums[2] < parts[0])


cdef inline bint less(const uint64_t *one, const uint64_t *other) noexcept nogil:
    """Whether three words are less than three others."""
    return (one[0] < other[0]) | (
        (one[0] == other[0]) & ((one[1] < other[1]) | ((one[1] == other[1]) & (one[2] < other[2])))
    )


cdef inline void shift_three(uint64_t *sums, int64_t by) noexcept nogil:
    """Shift three words to the right, by 0 or more."""
    if by >= 192:
        sums[0] = sums[1] = sums[2] = 0
        return
    while by >= 64:
        sums[2], sums[1], sums[0] = sums[1], sums[0], 0
        by -= 64
    if by > 0:
        sums[2] = sums[2] >> by | sums[1] << (64 - by)
        sums[1] = sums[1] >> by | sums[0] << (64 - by)
        sums[0] >>= by


cdef object join_words(const uint64_t *words):
    return (<object>words[0] << 128) + (<object>words[1] << 64) + words[2]
