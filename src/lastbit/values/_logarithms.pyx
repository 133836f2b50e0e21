"""The binary logarithms of whole numbers, after the point: 64 bits or fewer, each the exact floor, or a doubt.

A number is 2^e·m with 1 <= m < 2. Two tables bring m near 1: c and d are the least whole numbers with m·c/2^31 >= 1 and
with the product of that and d/2^31 at least 1. So

    log2 m = log2(2^31/c) + log2(2^31/d) + log2(1 + z),   z = m·c·d/2^62 - 1 < 2^-21.99, exactly,

and log2(1 + z) is its series up to z^5, over ln 2. All sums are whole numbers of units of 2^-128.

`product` is less than 3 units too small. In the series a factor that is off counts z times, which is nothing beside a
unit: so the series is less than 3.1 too large, by its last product, and less than 0.1 too small, by z^6/6. Over ln 2 it
is less than 4.6 too large and less than 3.2 too small; either table is less than 1 too small. So the logarithm lies
within BIAS units of what is computed, and where both ends have the same leading bits, these are its floor.
"""

from libc.stdint cimport int64_t, uint64_t

from lastbit.chance._words cimport multiply

cdef enum:
    BIAS = 8

cdef uint64_t TOP = 0xFFFFFFFFFFFFFFFF
"""All ones."""


cdef struct Pair:
    uint64_t high
    uint64_t low


cdef inline Pair product(Pair a, Pair b) noexcept nogil:
    """The product of two numbers below 1, in units of 2^-128: less than 3 too small."""
    cdef Pair out
    cdef uint64_t lowest = 0, one, other
    one = multiply(a.high, b.low, &lowest)
    other = multiply(a.low, b.high, &lowest)
    out.low = 0
    out.high = multiply(a.high, b.high, &out.low)
    out.low += one
    out.high += out.low < one
    out.low += other
    out.high += out.low < other
    return out


cdef inline Pair minus(Pair a, Pair b) noexcept nogil:
    cdef Pair out
    out.low = a.low - b.low
    out.high = a.high - b.high - (a.low < b.low)
    return out


cdef inline Pair plus(Pair a, Pair b) noexcept nogil:
    cdef Pair out
    out.low = a.low + b.low
    out.high = a.high + b.high + (out.low < b.low)
    return out


cdef class BinaryLogarithms:
    """Tables of c and d with their logarithms, and the constants of the series: 1/5, 1/4, 1/3, 1/2 and 1/ln 2 - 1."""

    cdef const uint64_t[::1] first
    cdef const uint64_t[::1] second
    cdef const uint64_t[::1] first_logs
    cdef const uint64_t[::1] second_logs
    cdef Pair fifth, quarter, third, half, factor

    def __init__(self, first, second, first_logs, second_logs, const uint64_t[::1] constants):
        self.first, self.second, self.first_logs, self.second_logs = first, second, first_logs, second_logs
        if self.first.shape[0] != 2048 or self.second.shape[0] != 2049 or constants.shape[0] != 10:
            raise ValueError("the tables have 2048 and 2049 entries, and there are five constants.")
        if self.first_logs.shape[0] != 2 * 2048 or self.second_logs.shape[0] != 2 * 2049:
            raise ValueError("a logarithm has two words.")
        self.fifth.high, self.fifth.low = constants[0], constants[1]
        self.quarter.high, self.quarter.low = constants[2], constants[3]
        self.third.high, self.third.low = constants[4], constants[5]
        self.half.high, self.half.low = constants[6], constants[7]
        self.factor.high, self.factor.low = constants[8], constants[9]

    cdef inline Pair logarithm(self, uint64_t m) noexcept nogil:
        """2^128·log2(m/2^63), less than BIAS off either way, for m with its highest bit set."""
        cdef Pair z, t, log
        cdef uint64_t i = m >> 52 & 2047, j, high, low = 0, carry
        # m·c in units of 2^-94, then m·c·d in units of 2^-125, then z in units of 2^-128: exactly.
        high = multiply(m, self.first[i], &low)
        j = (high >> 8) - (<uint64_t>1 << 22)
        carry = multiply(low, self.second[j], &low)
        high = high * self.second[j] + carry - (<uint64_t>1 << 61)
        z.high, z.low = high << 3 | low >> 61, low << 3
        t = minus(self.quarter, product(z, self.fifth))
        t = minus(self.third, product(z, t))
        t = minus(self.half, product(z, t))
        t = minus(z, product(z, product(z, t)))
        log = plus(t, product(t, self.factor))
        t.high, t.low = self.first_logs[2 * i], self.first_logs[2 * i + 1]
        log = plus(log, t)
        t.high, t.low = self.second_logs[2 * j], self.second_logs[2 * j + 1]
        return plus(log, t)

    def fill(self, const int64_t[::1] numbers, int bits, int64_t[::1] exponents, uint64_t[::1] parts):
        """⌊log2⌋ and the first bits after the point, for numbers of at least 1; the places where these are in doubt.

        Nothing branches on a number, but for a doubt: one in 2^60 for numbers that nobody chose for it.
        """
        cdef Py_ssize_t k, n = numbers.shape[0]
        cdef uint64_t m, low, high
        cdef int zeros, half
        cdef Pair log
        cdef list doubts = []
        if not 1 <= bits <= 64 or exponents.shape[0] != n or parts.shape[0] != n:
            raise ValueError("bits must be from 1 to 64, and every number needs a place.")
        for k in range(n):
            m = <uint64_t>numbers[k]
            m += m == 0
            zeros, half = 0, 32
            while half:
                # By halves, without a branch.
                low = (m >> (64 - half)) == 0
                zeros += half * <int>low
                m <<= half * <int>low
                half >>= 1
            exponents[k] = 63 - zeros
            log = self.logarithm(m)
            low = log.high - (log.low < BIAS)
            # Below zero there is nothing: a power of two is at zero exactly, with no error.
            low = 0 if (log.high == 0) & (log.low < BIAS) else low
            high = log.high + (log.low > TOP - BIAS)
            low, high = low >> (64 - bits), high >> (64 - bits)
            parts[k] = low
            if low != high:
                doubts.append(k)
        return doubts
