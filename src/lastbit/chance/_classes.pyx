"""The cell of a word among classes of weight m·r^e: m whole, weights to 127 bits, sums in three words.

A class may hold 2^62 points of a weight of 2^-60, and then weighs more than the best point. So each weight has 64 bits
more than `_draws.pyx` gives it, where every cell is one point.
"""

cimport cython
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from libc.stdint cimport int64_t, uint64_t

from lastbit.chance._words cimport multiply

cdef enum:
    BLOCK = 8192


cdef inline void scale_down(uint64_t word, const uint64_t *value, uint64_t *out, uint64_t *rest) noexcept nogil:
    """⌊word·value/2^64⌋, and what the division leaves."""
    cdef uint64_t low = 0, carry, lower = 0
    carry = multiply(word, value[2], rest)
    out[2] = 0
    out[1] = 0
    out[0] = 0
    add(out, 0, 0, carry)
    carry = multiply(word, value[1], &low)
    add(out, 0, carry, low)
    carry = multiply(word, value[0], &lower)
    add(out, carry, lower, 0)


@cython.final
cdef class ClassWeights:
    """Powers r^e in units of 2^-127, two words each, multiplied together from the tables of the digits of e."""

    def __init__(self, factors, int digits, uint64_t last):
        self.factors, self.digits, self.last = factors, digits, last

    cdef void gather(self, uint64_t e, uint64_t times, uint64_t *sums) noexcept nogil:
        """Add times·r^e to the sums."""
        cdef const uint64_t *factor = &self.factors[0]
        cdef uint64_t high, low, first = 0, second = 0, third = 0, rest = 0, middle, top, carry
        cdef int digit
        e = e if e < self.last else self.last
        high, low = factor[2 * (e & 4095)], factor[2 * (e & 4095) + 1]
        for digit in range(1, self.digits):
            e >>= 12
            factor += 2 * 4096
            # Four products of words. Of the four words of their sum, all but the lowest bits of the second count.
            middle = multiply(factor[2 * (e & 4095) + 1], low, &rest)
            carry = multiply(factor[2 * (e & 4095) + 1], high, &first)
            top = multiply(factor[2 * (e & 4095)], low, &second)
            middle += first
            carry += middle < first
            middle += second
            top += middle < second
            high = multiply(factor[2 * (e & 4095)], high, &third)
            third += carry
            high += third < carry
            third += top
            high += third < top
            high, low = high << 1 | third >> 63, third << 1 | middle >> 63
        carry = multiply(low, times, &first)
        top = multiply(high, times, &second)
        second += carry
        add(sums, top + (second < carry), second, first)

    def total(self, const int64_t[::1] exponents, const int64_t[::1] times, int64_t least):
        """The sum of all weights, for tests."""
        cdef uint64_t sums[3]
        sums[0] = sums[1] = sums[2] = 0
        for i in range(exponents.shape[0]):
            self.gather(<uint64_t>exponents[i] - <uint64_t>least, times[i], sums)
        return (<object>sums[0] << 128) + (<object>sums[1] << 64) + sums[2]

    def warm(self):
        """Read all tables into the caches, so that which lines the weights are in does not show in the time."""
        return self.warm_up()

    cdef uint64_t warm_up(self) noexcept nogil:
        cdef Py_ssize_t i
        cdef uint64_t seen = 0
        for i in range(0, self.factors.shape[0], 8):
            seen ^= self.factors[i]
        return seen

    cdef void aim(
        self, uint64_t word, const uint64_t *total, uint64_t error_high, uint64_t error_low, uint64_t *start, uint64_t *stop
    ) noexcept nogil:
        """U times the true total lies in [start, stop), and a true running sum less than the error above ours.

        start = ⌊word·total/2^64⌋ and stop = ⌈(word + 1)·(total + error)/2^64⌉.
        """
        cdef uint64_t most[3]
        cdef uint64_t rest = 0, sum
        scale_down(word, total, start, &rest)
        most[0], most[1], most[2] = total[0], total[1], total[2]
        add(most, 0, error_high, error_low)
        scale_down(word, most, stop, &rest)
        sum = rest + most[2]
        add(stop, 0, most[0], most[1])
        add(stop, 0, 0, sum < rest)
        add(stop, 0, 0, sum != 0)

    def place(
        self, const int64_t[::1] exponents, const int64_t[::1] times, int64_t least, uint64_t error_high,
        uint64_t error_low, uint64_t word
    ):
        """The class that a word is in; -1 where the error of the weights, or the word itself, leaves that in doubt.

        Nothing branches on a weight, and all blocks are as long, but for one class: the time tells how many classes
        there are. A class of multiplicity 0 must have an exponent too; which one does not matter.
        """
        cdef Py_ssize_t n = exponents.shape[0], count = (n + BLOCK - 1) // BLOCK, block, i, chunk = 0, index
        cdef uint64_t base = <uint64_t>least, mask
        cdef uint64_t start[3]
        cdef uint64_t stop[3]
        cdef uint64_t running[3]
        cdef uint64_t before[3]
        cdef bint inside, clear
        cdef uint64_t *sums = <uint64_t *>PyMem_Calloc(3 * (count + 1), sizeof(uint64_t))
        if sums is NULL:
            raise MemoryError
        with nogil:
            running[0] = running[1] = running[2] = 0
            for block in range(count):
                for i in range(n * block // count, n * (block + 1) // count):
                    # A class of no points may lie below the least: its weight, whatever it is, counts 0 times.
                    self.gather(<uint64_t>exponents[i] - base, <uint64_t>times[i], running)
                sums[3 * block + 3], sums[3 * block + 4], sums[3 * block + 5] = running[0], running[1], running[2]
            self.aim(word, running, error_high, error_low, start, stop)
            for i in range(1, count):
                chunk += below(sums + 3 * i, stop)
            running[0], running[1], running[2] = sums[3 * chunk], sums[3 * chunk + 1], sums[3 * chunk + 2]
            before[0], before[1], before[2] = running[0], running[1], running[2]
            index = n * chunk // count
            for i in range(n * chunk // count, n * (chunk + 1) // count):
                self.gather(<uint64_t>exponents[i] - base, <uint64_t>times[i], running)
                # All ones where the sum is still below the goal. Sums rise, so the last such sum is the one to keep.
                mask = 0 - <uint64_t>below(running, stop)
                before[0] ^= mask & (before[0] ^ running[0])
                before[1] ^= mask & (before[1] ^ running[1])
                before[2] ^= mask & (before[2] ^ running[2])
                index += mask & 1
            inside = not below(sums + 3 * count, stop)
            add(before, 0, error_high, error_low)
            clear = (index == 0) | (not below(start, before))
        PyMem_Free(sums)
        return index if inside & clear else -1
