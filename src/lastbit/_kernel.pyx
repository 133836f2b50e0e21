"""Words and tables in, draws out; the bits of floats in, steps of a grid out. Integers only; imports nothing of ours.

Every function that draws takes its words as they come, writes one value a sample, and lists the samples whose words
did not decide. Those it leaves to the caller.
"""

cimport cython
from cpython.buffer cimport PyBUF_FORMAT, PyBUF_ND, PyBuffer_Release, PyObject_GetBuffer
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from libc.stdint cimport int64_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

from numpy import array, dtype

cdef object INT64 = dtype("int64")

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


@cython.final
cdef class Held:
    """An array of int64, held where C can reach it: for a few numbers a memoryview takes longer than what it is for."""

    cdef Py_buffer view
    cdef const int64_t *at
    cdef Py_ssize_t n

    def __cinit__(self, values):
        PyObject_GetBuffer(values, &self.view, PyBUF_ND | PyBUF_FORMAT)
        if self.view.itemsize != sizeof(int64_t) or self.view.format[0] not in b"lq" or self.view.format[1]:
            raise ValueError("values must be int64.")
        self.at, self.n = <const int64_t *>self.view.buf, self.view.len // self.view.itemsize

    def __dealloc__(self):
        PyBuffer_Release(&self.view)


def near(values, Py_ssize_t kept, int64_t below):
    """Where those are that lie at most `below` under the kept-th largest: all of them where there are no more.

    Fewer than `kept` are further than that above each of them. For a few values: it takes the square of their number.
    """
    cdef Held given = Held(values)
    cdef Py_ssize_t i, j, above, n = given.n
    cdef list places = []
    for i in range(n):
        above = 0
        for j in range(n):
            above += given.at[j] > given.at[i] + below
        if above < kept:
            places.append(i)
    return array(places, INT64)


cdef struct Height:
    int64_t step
    Py_ssize_t at


cdef Height *highest_first(Height *heights, Height *spare, Py_ssize_t n) noexcept nogil:
    """Merge sort, as it keeps the order of equals: in one of the two places."""
    cdef Py_ssize_t width = 1, i, j, k, middle, end
    cdef bint first
    while width < n:
        k = 0
        while k < n:
            i, middle, end = k, min(k + width, n), min(k + 2 * width, n)
            j = middle
            while i < middle and j < end:
                # Without a branch: which of the two is taken cannot be guessed.
                first = heights[i].step >= heights[j].step
                spare[k] = heights[i if first else j]
                i += first
                j += not first
                k += 1
            memcpy(spare + k, heights + i, (middle - i) * sizeof(Height))
            memcpy(spare + k + middle - i, heights + j, (end - j) * sizeof(Height))
            k = end
        heights, spare = spare, heights
        width *= 2
    return heights


def ranked(steps, places, Py_ssize_t kept):
    """Of numbers with these floors, and fractions in the order of these places: where the highest are, and their leads.

    The highest come first; the lead of each over the next is floored.
    """
    cdef Held floors = Held(steps), order = Held(places)
    cdef Py_ssize_t i, n = floors.n
    if order.n != n:
        raise ValueError("there must be as many places as steps.")
    cdef Height *work = <Height *>PyMem_Calloc(2 * n, sizeof(Height))
    cdef Height *best
    if work is NULL:
        raise MemoryError
    try:
        for i in range(n):
            if not 0 <= order.at[i] < n:
                raise ValueError("places must be below their number.")
            work[n - 1 - order.at[i]] = Height(floors.at[i], i)
        best = highest_first(work, work + n, n)
        kept = min(kept, n)
        return [best[i].at for i in range(kept)], [lead(best + i, order) for i in range(kept - 1)]
    finally:
        PyMem_Free(work)


cdef inline uint64_t lead(const Height *one, Held order) noexcept:
    # The floor of a difference is the difference of the floors, less one where the fraction is smaller.
    return <uint64_t>one[0].step - <uint64_t>one[1].step - (order.at[one[0].at] < order.at[one[1].at])


def scaled(const int64_t[::1] values, int64_t factor, int64_t edge, int64_t limit, int64_t[::1] out):
    """out[k] = values[k]·factor where that is within ±edge·factor, and ±limit beyond."""
    cdef Py_ssize_t k
    cdef int64_t v, inside
    with nogil:
        for k in range(out.shape[0]):
            v = values[k]
            inside = v if -edge <= v <= edge else 0
            out[k] = limit if v > edge else (-limit if v < -edge else inside * factor)


cdef extern from *:
    """
    #if defined(__GNUC__)
    #define LASTBIT_INLINE static inline __attribute__((always_inline))
    #else
    #define LASTBIT_INLINE static inline
    #endif
    #if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
    /* Four floats at a time where the processor can; the same integers either way. */
    #define LASTBIT_WIDE __attribute__((target_clones("avx2", "default")))
    #else
    #define LASTBIT_WIDE
    #endif

    typedef struct { uint32_t odd; int64_t base, spare, cap, least, most, low, high; } lastbit_scale;

    /* floor(v * odd * 2^twos) clamped, for the float v with these bits; base is 1075 - twos. The magnitude is first
       cut at `cap`, the bits of a power of two beyond every bound, so that nothing overflows. No branch depends on v.
       way: 0 where odd is 1; 1 where odd has at most ten bits, of which `spare` are free; 2 where |v| stays so small
       that the shift below never goes left; 3 in general.
       above: whether no bound is below zero. Then bits are in the order of their floats, all below zero first, and
       are clamped as they are, to those of the floats that step into the bounds. */
    LASTBIT_INLINE int64_t lastbit_step(uint64_t bits, lastbit_scale s, int way, int above) {
        int64_t given = (int64_t)bits, sign = 0, magnitude;
        if (above) {
            magnitude = given > 0x7ff0000000000000LL ? s.low : given;
            magnitude = magnitude < s.low ? s.low : magnitude;
            magnitude = magnitude > s.high ? s.high : magnitude;
        } else {
            given &= 0x7fffffffffffffffLL;
            /* -1 below zero, else 0; -0.0 is zero. Below zero floor(-x) is ~(x - 1 unit), rounded down. */
            sign = (int64_t)(bits & (0 - (uint64_t)given)) >> 63;
            magnitude = given > s.cap ? s.cap : given;
        }
        /* Subnormals get a leading bit they do not have: they are shifted out of sight all the same. */
        uint64_t m = ((uint64_t)magnitude & 0xfffffffffffffULL) | 0x10000000000000ULL, whole;
        int64_t shift = s.base - (int64_t)((uint64_t)magnitude >> 52), result;
        if (way <= 1) {
            /* One word holds the product, and leaves no more than a shift to the right. */
            shift += s.spare;
            whole = ((way == 0 ? m << 9 : m * ((uint64_t)s.odd << s.spare)) + (uint64_t)sign) >> (shift > 63 ? 63 : shift);
        } else {
            /* m * odd = high * 2^26 + low. What is added to low, for sign to be taken from it, high gives. */
            uint64_t low = (uint64_t)(uint32_t)(m & 0x3ffffff) * s.odd;
            uint64_t high = (uint64_t)(uint32_t)(m >> 26) * s.odd - 1;
            shift -= 26;
            if (way == 2) {
                high += (low + 0x4000000ULL + (uint64_t)sign) >> 26;
                whole = high >> (shift > 63 ? 63 : shift);
            } else {
                /* Nine more bits below low for shifts to the left. */
                int64_t down = shift > 63 ? 63 : shift < 0 ? 0 : shift, up = shift < 0 ? -shift : 0;
                high += low >> 26;
                low = ((low & 0x3ffffff) << 9) + 0x800000000ULL + (uint64_t)sign;
                high += low >> 35;
                whole = ((high >> down) << up) | ((low & 0x7ffffffffULL) >> (35 - up));
            }
        }
        result = (int64_t)(whole ^ (uint64_t)sign);
        if (above) return result;
        result = result < s.least ? s.least : result;
        result = result > s.most ? s.most : result;
        return given > 0x7ff0000000000000LL ? s.least : result;
    }

    #define LASTBIT_EACH(work, way, above) \
        for (k = 0; k < n; k++) { int64_t step = lastbit_step(v[k], s, way, above); work; }
    #define LASTBIT_ALL(work, above) \
        if (way == 0) { LASTBIT_EACH(work, 0, above) } else if (way == 1) { LASTBIT_EACH(work, 1, above) } \
        else if (way == 2) { LASTBIT_EACH(work, 2, above) } else { LASTBIT_EACH(work, 3, above) }

    LASTBIT_WIDE static void lastbit_floor(const uint64_t *v, int64_t n, lastbit_scale s, int way, int64_t *out) {
        int64_t k;
        LASTBIT_ALL(out[k] = step, 0)
    }

    /* The highest of floats as a whole number in the order of floats, of which every NaN is the lowest. */
    LASTBIT_WIDE static int64_t lastbit_highest(const uint64_t *v, int64_t n) {
        int64_t k, best = INT64_MIN;
        for (k = 0; k < n; k++) {
            int64_t given = (int64_t)v[k], place = given ^ (int64_t)((uint64_t)(given >> 63) >> 1);
            place = (given & 0x7fffffffffffffffLL) > 0x7ff0000000000000LL ? INT64_MIN : place;
            best = place > best ? place : best;
        }
        return best;
    }

    /* The sum of step - least, in two halves of 32 bits, which hold 2^32 records. */
    LASTBIT_WIDE static void lastbit_sum(const uint64_t *v, int64_t n, lastbit_scale s, int way, uint64_t *sums) {
        int64_t k;
        uint64_t low = 0, high = 0, over;
        #define LASTBIT_ADD over = (uint64_t)step - (uint64_t)s.least; low += over & 0xffffffffULL; high += over >> 32
        if (s.low >= 0) { LASTBIT_ALL(LASTBIT_ADD, 1) } else { LASTBIT_ALL(LASTBIT_ADD, 0) }
        sums[0] = low;
        sums[1] = high;
    }
    """
    ctypedef struct scale "lastbit_scale":
        uint32_t odd
        int64_t base, spare, cap, least, most, low, high
    void floor_each "lastbit_floor"(const uint64_t *v, int64_t n, scale s, int way, int64_t *out) noexcept nogil
    int64_t highest_of "lastbit_highest"(const uint64_t *v, int64_t n) noexcept nogil
    void floor_total "lastbit_sum"(const uint64_t *v, int64_t n, scale s, int way, uint64_t *sums) noexcept nogil


def highest(const uint64_t[::1] bits):
    """The highest of at least one float, given by their bits: NaN only where there is nothing else. Returns its bits."""
    cdef int64_t place
    with nogil:
        place = highest_of(&bits[0], bits.shape[0])
    return place ^ <int64_t>(<uint64_t>(place >> 63) >> 1)


cdef class Floor:
    """⌊v·odd·2^twos⌋ of floats given by their bits, clamped to [least, most]; NaN gives least.

    Needs odd < 2^32 and |least|, |most| <= 2^61; `top` is the least whole number with odd·2^(twos + top) beyond both.
    Where no bound is below zero, `low` and `high` may be the bits of the least floats that step onto them; else -1.
    """

    cdef scale scale
    cdef int way

    def __init__(self, uint32_t odd, int64_t twos, int64_t top, int64_t least, int64_t most, int64_t low, int64_t high):
        cdef int64_t spare = 10 - int(odd).bit_length()
        self.scale = scale(odd, 1075 - twos, spare, (1023 + top) << 52, least, most, low, high)
        self.way = 0 if odd == 1 else 1 if spare >= 0 else 2 if 1075 - twos - (1023 + top) >= 26 else 3

    def each(self, const uint64_t[::1] bits, int64_t[::1] out):
        """out[k] = the steps of the k-th float."""
        with nogil:
            if out.shape[0]:
                floor_each(&bits[0], out.shape[0], self.scale, self.way, &out[0])

    def total(self, const uint64_t[::1] bits):
        """The sum of all steps, of at most 2^32 floats."""
        cdef uint64_t sums[2]
        sums[0] = sums[1] = 0
        with nogil:
            if bits.shape[0]:
                floor_total(&bits[0], bits.shape[0], self.scale, self.way, sums)
        return int(sums[0]) + (int(sums[1]) << 32) + int(bits.shape[0]) * int(self.scale.least)


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


cdef class Weights:
    """Powers r^e in units of 2^-63, multiplied together from the tables of the digits of e."""

    cdef const uint64_t[::1] factors
    cdef int digits
    cdef uint64_t last

    def __init__(self, factors, int digits, uint64_t last):
        self.factors = factors
        self.digits = digits
        self.last = last

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
        return <object>high << 64 | low

    def locate(self, const int64_t[::1] exponents, int64_t least, uint64_t goal_high, uint64_t goal_low):
        """The first place where the running sum reaches the goal, and the sum before it."""
        cdef const uint64_t *factors = &self.factors[0]
        cdef uint64_t high = 0, low = 0, before_high = 0, before_low = 0, each
        cdef Py_ssize_t i = 0
        with nogil:
            for i in range(exponents.shape[0]):
                before_high = high
                before_low = low
                each = weight(factors, self.digits, self.last, <uint64_t>exponents[i] - <uint64_t>least)
                low += each
                high += low < each
                if high > goal_high or (high == goal_high and low >= goal_low):
                    break
        return i, <object>before_high << 64 | before_low
