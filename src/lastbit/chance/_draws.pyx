"""Words and tables in, draws out. Integers only.

Every function takes its words as they come, writes one value a sample, and lists the samples whose words did not
decide. The caller settles those.
"""

from libc.stdint cimport int64_t, uint16_t, uint64_t

cdef extern from *:
    """
    #include <stdint.h>
    #if defined(__SIZEOF_INT128__)
    static inline uint64_t lastbit_multiply(uint64_t a, uint64_t b, uint64_t *low) {
        unsigned __int128 product = (unsigned __int128)a * b;
        *low = (uint64_t)product;
        return (uint64_t)(product >> 64);
    }
    #else
    static inline uint64_t lastbit_multiply(uint64_t a, uint64_t b, uint64_t *low) {
        uint64_t a1 = a >> 32, a0 = (uint32_t)a, b1 = b >> 32, b0 = (uint32_t)b;
        uint64_t cross = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (uint32_t)cross;
        *low = a * b;
        return a1 * b1 + (cross >> 32) + (other >> 32);
    }
    #endif
    """
    uint64_t multiply "lastbit_multiply"(uint64_t a, uint64_t b, uint64_t *low) noexcept nogil


cdef class Inverter:
    """A threshold table, held where C can reach it."""

    cdef const uint64_t[::1] thresholds
    cdef const uint16_t[::1] guide
    cdef int64_t origin
    cdef int64_t direction
    cdef int shift

    def __init__(self, thresholds, guide, int64_t origin, int64_t direction):
        self.thresholds = thresholds
        self.guide = guide
        self.origin = origin
        self.direction = direction
        self.shift = 64
        cdef Py_ssize_t size = guide.shape[0]
        while size > 1:
            size >>= 1
            self.shift -= 1

    cdef inline Py_ssize_t count(self, uint64_t w) noexcept nogil:
        cdef Py_ssize_t position = self.guide[w >> self.shift]
        # Two steps without a branch: most words need no more, and a guess that fails costs more than a step.
        position += w < self.thresholds[position]
        position += w < self.thresholds[position]
        while w < self.thresholds[position]:
            position += 1
        return position

    def first(self, const uint64_t[::1] words, Py_ssize_t step, int64_t[::1] out):
        """out[k] = the cell of words[k·step]. Returns the samples in doubt."""
        cdef Py_ssize_t k, position
        cdef uint64_t w
        cdef list doubts = []
        with nogil:
            for k in range(out.shape[0]):
                w = words[k * step]
                position = self.count(w)
                out[k] = self.origin + self.direction * position
                if w == self.thresholds[position]:
                    with gil:
                        doubts.append(k)
        return doubts

    def finer(self, const uint64_t[::1] words, Py_ssize_t offset, Py_ssize_t step, int bits, int64_t[::1] out):
        """Write the cell of words[offset + k·step] below out[k], as its low bits. Returns the samples in doubt."""
        cdef Py_ssize_t k, position
        cdef uint64_t w
        cdef int64_t mask = (<int64_t>1 << bits) - 1
        cdef list doubts = []
        with nogil:
            for k in range(out.shape[0]):
                w = words[offset + k * step]
                position = self.count(w)
                # Shifts to the left go through uint64, where C defines them for negative numbers too.
                out[k] = <int64_t>(<uint64_t>out[k] << bits) | ((position ^ (out[k] >> 63)) & mask)
                if w == self.thresholds[position]:
                    with gil:
                        doubts.append(k)
        return doubts


def uniform(const uint64_t[::1] words, uint64_t n, uint64_t rise, int64_t[::1] out):
    """out[k] = ⌊U·m⌋ for m = n + k·rise, at most 2^63. Returns the samples in doubt."""
    cdef Py_ssize_t k
    cdef uint64_t low
    cdef list doubts = []
    with nogil:
        for k in range(out.shape[0]):
            out[k] = <int64_t>multiply(words[k], n, &low)
            # [w, w+1)·m crosses a multiple of 2^64 exactly when low + m > 2^64.
            if low > 0 - n:
                with gil:
                    doubts.append(k)
            n += rise
    return doubts


def shuffle(int64_t[::1] out):
    """Turn picks, out[i] in [0, i], into a permutation in place: the inside-out form of Fisher and Yates."""
    cdef Py_ssize_t i
    cdef int64_t pick
    with nogil:
        for i in range(out.shape[0]):
            pick = out[i]
            out[i] = out[pick] if pick < i else i
            out[pick] = i


cdef inline uint64_t weight(const uint64_t *factors, int digits, uint64_t last, uint64_t e) noexcept nogil:
    """2^63·r^e: an entry of the first table, times one of every further table."""
    cdef uint64_t result, high, low = 0
    cdef int digit
    e = e if e < last else last
    result = factors[e & 4095]
    for digit in range(1, digits):
        e >>= 12
        high = multiply(factors[4096 * digit + (e & 4095)], result, &low)
        result = high << 1 | low >> 63
    return result


cdef object FAR = 1 << 127


cdef inline object joined(uint64_t high, uint64_t low):
    """high·2^64 + low, by way of integers that are as long whether high is 0 or not; it is below 2^62."""
    return (<object>(high | <uint64_t>1 << 63) << 64 | low) - FAR


cdef class PowerWeights:
    """Powers r^e in units of 2^-63, multiplied together from the tables of the digits of e."""

    cdef const uint64_t[::1] factors
    cdef int digits
    cdef uint64_t last

    def __init__(self, factors, int digits, uint64_t last):
        self.factors = factors
        self.digits = digits
        self.last = last

    def warm(self):
        """Read something of every cache line, so that which lines the weights are in does not show in the time."""
        cdef Py_ssize_t i
        cdef uint64_t seen = 0
        for i in range(0, self.factors.shape[0], 8):
            seen ^= self.factors[i]
        return seen

    def total(self, const int64_t[::1] exponents, int64_t least):
        """The sum of the weights r^(e - least)."""
        cdef const uint64_t *factors = &self.factors[0]
        cdef int digits = self.digits
        cdef uint64_t last = self.last, high = 0, low = 0, each
        cdef Py_ssize_t i
        with nogil:
            # The same three times, so that the compiler knows the number of digits where it matters most.
            if digits == 1:
                for i in range(exponents.shape[0]):
                    each = weight(factors, 1, last, <uint64_t>exponents[i] - <uint64_t>least)
                    low += each
                    high += low < each
            elif digits == 2:
                for i in range(exponents.shape[0]):
                    each = weight(factors, 2, last, <uint64_t>exponents[i] - <uint64_t>least)
                    low += each
                    high += low < each
            else:
                for i in range(exponents.shape[0]):
                    each = weight(factors, digits, last, <uint64_t>exponents[i] - <uint64_t>least)
                    low += each
                    high += low < each
        return joined(high, low)

    def locate(
        self,
        const int64_t[::1] exponents,
        int64_t least,
        uint64_t goal_high,
        uint64_t goal_low,
        uint64_t room_high,
        uint64_t room_low,
    ):
        """The first place where the running sum reaches the goal, and whether the sum before it is at most `room`.

        All exponents are gone through, wherever that place is, and nothing branches on a weight: the time does not
        tell the place.
        """
        cdef const uint64_t *factors = &self.factors[0]
        cdef int digits = self.digits
        cdef uint64_t last = self.last, high = 0, low = 0, before_high = 0, before_low = 0, each, short
        cdef Py_ssize_t i, place = 0
        with nogil:
            for i in range(exponents.shape[0]):
                each = weight(factors, digits, last, <uint64_t>exponents[i] - <uint64_t>least)
                low += each
                high += low < each
                # All ones where the sum is still below the goal. Sums rise, so the last such sum is the one to keep.
                short = 0 - <uint64_t>((high < goal_high) | ((high == goal_high) & (low < goal_low)))
                before_high ^= short & (before_high ^ high)
                before_low ^= short & (before_low ^ low)
                place += short & 1
        return place, bool((before_high < room_high) | ((before_high == room_high) & (before_low <= room_low)))
