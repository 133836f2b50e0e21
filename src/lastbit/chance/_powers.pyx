"""Exponents in, the cell of a word among their powers out: the exponential mechanism. Integers only."""

from cpython.buffer cimport PyBuffer_Release
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from libc.stdint cimport int64_t, uint32_t, uint64_t

from numpy import column_stack
from numpy import uint64 as UINT64

from lastbit.chance._words cimport hold, multiply

cdef extern from *:
    """
    #include <stdint.h>
    #if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
    /* Four or eight numbers at a time where the processor can; the same integers either way. */
    #define LASTBIT_WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
    #else
    #define LASTBIT_WIDE
    #endif

    /* A number v stands for the exponent v - least, at most `last`; or, where it is turned, for top - v*factor, from 0 to
       `last`, once v is cut at -reach and reach, so that nothing overflows. */
    typedef struct { uint64_t least, last; int turned; int64_t factor, reach, top; } lastbit_line;

    #define LASTBIT_EXPONENTS(times) \
        for (k = 0; k < n; k++) { \
            int64_t v = numbers[k], below; \
            v = v < line.reach ? v : line.reach; \
            v = v > -line.reach ? v : -line.reach; \
            below = line.top - v times; \
            below = below > 0 ? below : 0; \
            out[k] = (uint64_t)(below < last ? below : last); \
        }
    LASTBIT_WIDE static void lastbit_exponents(const int64_t *numbers, int64_t n, lastbit_line line, uint64_t *out) {
        /* Nothing that is turned is beyond 2^63. */
        int64_t k, last = line.last < (uint64_t)INT64_MAX ? (int64_t)line.last : INT64_MAX;
        if (!line.turned) {
            for (k = 0; k < n; k++) {
                uint64_t e = (uint64_t)numbers[k] - line.least;
                out[k] = e < line.last ? e : line.last;
            }
        } else if (line.factor == 1) {
            LASTBIT_EXPONENTS()
        } else {
            LASTBIT_EXPONENTS(* line.factor)
        }
    }

    LASTBIT_WIDE static int64_t lastbit_highest(const int64_t *numbers, int64_t n) {
        int64_t k, most = numbers[0];
        for (k = 1; k < n; k++) most = numbers[k] > most ? numbers[k] : most;
        return most;
    }

    /* Add low + high * 2^32, the halves of a few weights added up, to sums[0]*2^64 + sums[1]. */
    static inline void lastbit_carry(uint64_t low, uint64_t high, uint64_t *sums) {
        sums[1] += low;
        sums[0] += (sums[1] < low) + (high >> 32);
        sums[1] += high << 32;
        sums[0] += sums[1] < high << 32;
    }

    /* Add the weights of a few exponents to sums[0]*2^64 + sums[1], from a table of their halves of 32 bits, which need no
       carry on the way: both halves are added at once. */
    static void lastbit_add_halves(const uint64_t *halves, const uint64_t *exponents, int64_t n, uint64_t *sums) {
        uint64_t low, high;
        int64_t i;
    #if defined(__GNUC__)
        typedef uint64_t lastbit_two __attribute__((vector_size(16), aligned(8)));
        const lastbit_two *table = (const lastbit_two *)halves;
        lastbit_two even = {0, 0}, odd = {0, 0};
        for (i = 0; i + 1 < n; i += 2) {
            even += table[exponents[i]];
            odd += table[exponents[i + 1]];
        }
        if (i < n) even += table[exponents[i]];
        even += odd;
        low = even[0];
        high = even[1];
    #else
        low = high = 0;
        for (i = 0; i < n; i++) {
            low += halves[2 * exponents[i]];
            high += halves[2 * exponents[i] + 1];
        }
    #endif
        lastbit_carry(low, high, sums);
    }
    """
    ctypedef struct line_of "lastbit_line":
        uint64_t least, last
        bint turned
        int64_t factor, reach, top
    void carry_into "lastbit_carry"(uint64_t low, uint64_t high, uint64_t *sums) noexcept nogil
    int64_t highest_of "lastbit_highest"(const int64_t *numbers, int64_t n) noexcept nogil
    void add_halves "lastbit_add_halves"(const uint64_t *halves, const uint64_t *e, int64_t n, uint64_t *sums) noexcept nogil
    void exponents_of "lastbit_exponents"(const int64_t *numbers, int64_t n, line_of line, uint64_t *out) noexcept nogil

cdef enum:
    IN_HAND = 1024


cdef inline uint64_t weight(const uint64_t *factors, int digits, uint64_t e) noexcept nogil:
    """2^63·r^e: an entry of the first table, times one of every further table."""
    cdef uint64_t result = factors[e & 4095], high, low = 0
    cdef int digit
    for digit in range(1, digits):
        e >>= 12
        high = multiply(factors[4096 * digit + (e & 4095)], result, &low)
        result = high << 1 | low >> 63
    return result


cdef inline void gather(
    const uint64_t *factors, int digits, const uint64_t *exponents, Py_ssize_t n, uint64_t *sums
) noexcept nogil:
    """Add the weights r^e of a few exponents to sums[0]·2^64 + sums[1]. Halves of 32 bits need no carry on the way."""
    cdef uint64_t high = 0, low = 0, each
    cdef Py_ssize_t i
    for i in range(n):
        each = weight(factors, digits, exponents[i])
        low += <uint32_t>each
        high += each >> 32
    carry_into(low, high, sums)


cdef inline Py_ssize_t reach(
    const uint64_t *factors, int digits, const uint64_t *exponents, Py_ssize_t n, const uint64_t *goal, uint64_t *sums,
    uint64_t *before
) noexcept nogil:
    """How many running sums, from `sums` on, are below the goal. `before` becomes the last of these, if there is one.

    All exponents are gone through, wherever the goal is, and nothing branches on a weight: the time does not tell the
    place.
    """
    cdef uint64_t high = sums[0], low = sums[1], before_high = before[0], before_low = before[1], each, short
    cdef Py_ssize_t i, place = 0
    for i in range(n):
        each = weight(factors, digits, exponents[i])
        low += each
        high += low < each
        # All ones where the sum is still below the goal. Sums rise, so the last such sum is the one to keep.
        short = 0 - <uint64_t>((high < goal[0]) | ((high == goal[0]) & (low < goal[1])))
        before_high ^= short & (before_high ^ high)
        before_low ^= short & (before_low ^ low)
        place += short & 1
    sums[0], sums[1] = high, low
    before[0], before[1] = before_high, before_low
    return place


cdef inline bint at_most(uint64_t high, uint64_t low, uint64_t most_high, uint64_t most_low) noexcept nogil:
    return (high < most_high) | ((high == most_high) & (low <= most_low))


cdef class PowerWeights:
    """Powers r^e in units of 2^-63, multiplied together from the tables of the digits of e."""

    cdef const uint64_t[::1] factors
    cdef const uint64_t[::1] halves
    """Where there is one table: the lower and the upper half of each entry; else none."""
    cdef int digits
    cdef uint64_t last, error

    def __init__(self, factors, int digits, uint64_t last, uint64_t error):
        if digits == 1 and last >= <uint64_t>len(factors):
            raise ValueError("there must be a weight for every exponent up to the last.")
        self.factors = factors
        whole = factors if digits == 1 else factors[:0]
        self.halves = column_stack((whole & UINT64(0xFFFFFFFF), whole >> UINT64(32))).ravel()
        self.digits = digits
        self.last = last
        self.error = error


cdef class PowerSearch:
    """The cell of a word among powers r^(e - least): chunk after chunk of exponents is added, then one is searched.

    Sums have two words, and stay in C: Python's integers are as long, and so as slow, as they are large.
    """

    cdef PowerWeights weights
    cdef line_of line
    cdef uint64_t error
    cdef uint64_t start[2]
    cdef uint64_t stop[2]
    cdef uint64_t *sums
    cdef Py_ssize_t chunks, added

    def __cinit__(self, PowerWeights weights, int64_t least, Py_ssize_t n, Py_ssize_t chunks):
        self.weights, self.chunks, self.error = weights, chunks, weights.error * <uint64_t>n
        self.line.least, self.line.last, self.line.turned = <uint64_t>least, weights.last, False
        self.sums = <uint64_t *>PyMem_Calloc(2 * (chunks + 1), sizeof(uint64_t))
        if self.sums is NULL:
            raise MemoryError

    def __dealloc__(self):
        PyMem_Free(self.sums)

    def turn(self, values, int64_t factor, int64_t edge, int64_t lowest, int64_t highest):
        """From now on a number v stands for (the highest step of these values) - v·factor steps, clamped as they are.

        Steps are clamped to [lowest, highest], and beyond ±edge they are those of edge + 1. The highest is found here, so
        that no integer of Python is as long as it is large.
        """
        cdef Py_buffer view
        cdef const int64_t *read = <const int64_t *>hold(values, &view, False)
        try:
            self.turn_to(read, view.len // 8, factor, edge, lowest, highest)
        finally:
            PyBuffer_Release(&view)

    cdef int turn_to(
        self, const int64_t *read, Py_ssize_t n, int64_t factor, int64_t edge, int64_t lowest, int64_t highest
    ) except -1:
        cdef int64_t top
        if not n:
            raise ValueError("there must be a number.")
        with nogil:
            top = highest_of(read, n)
        top = top if top < edge + 1 else edge + 1
        top = (top if top > -edge - 1 else -edge - 1) * factor
        top = top if top < highest else highest
        top = top if top > lowest else lowest
        self.line.factor, self.line.reach, self.line.top, self.line.turned = factor, edge + 1, top, True
        self.line.last = min(<uint64_t>top - <uint64_t>lowest, self.line.last)
        return 0

    @property
    def total(self):
        """The sum of the weights of all chunks that were added, for tests."""
        return (<object>self.sums[2 * self.added] << 64) + self.sums[2 * self.added + 1]

    cpdef uint64_t warm(self) noexcept:
        """Read all tables into the caches, so that which lines the weights are in does not show in the time."""
        cdef Py_ssize_t i
        cdef uint64_t seen = 0
        for i in range(0, self.weights.factors.shape[0], 8):
            seen ^= self.weights.factors[i]
        for i in range(0, self.weights.halves.shape[0], 8):
            seen ^= self.weights.halves[i]
        return seen

    cdef void add_one(self, const int64_t *numbers, Py_ssize_t length) noexcept nogil:
        """Add the weights of the next chunk, which was announced."""
        cdef const uint64_t *factors = &self.weights.factors[0]
        cdef int digits = self.weights.digits
        cdef uint64_t *sums = self.sums + 2 * self.added
        cdef uint64_t exponents[IN_HAND]
        cdef Py_ssize_t i = 0, n
        sums[2], sums[3] = sums[0], sums[1]
        while i < length:
            n = IN_HAND if length - i > IN_HAND else length - i
            exponents_of(numbers + i, n, self.line, exponents)
            # The same twice, so that the compiler knows the number of digits where it matters most.
            if digits == 1:
                add_halves(&self.weights.halves[0], exponents, n, sums + 2)
            elif digits == 2:
                gather(factors, 2, exponents, n, sums + 2)
            else:
                gather(factors, digits, exponents, n, sums + 2)
            i += n
        self.added += 1

    def add(self, const int64_t[::1] numbers):
        """Add the weights of the next chunk."""
        if self.added == self.chunks:
            raise ValueError("no more chunks were announced.")
        with nogil:
            self.add_one(&numbers[0], numbers.shape[0])

    def add_all(self, const int64_t[::1] numbers):
        """Add the weights of all chunks. Chunk i begins at ⌊n·i/chunks⌋, so that their lengths differ by one at most."""
        self.add_from(&numbers[0], numbers.shape[0])

    cdef int add_from(self, const int64_t *numbers, Py_ssize_t n) except -1:
        cdef Py_ssize_t i, begin
        if self.added or not 0 < self.chunks <= n:
            raise ValueError("there must be a number for each chunk, and none was added.")
        with nogil:
            for i in range(self.chunks):
                begin = n * i // self.chunks
                self.add_one(numbers + begin, n * (i + 1) // self.chunks - begin)
        return 0

    cpdef Py_ssize_t aim(self, uint64_t word) noexcept:
        """The chunk to search, once all are added: it holds the place, unless the weights' error leaves even that in doubt."""
        cdef uint64_t *total = self.sums + 2 * self.chunks
        cdef uint64_t most[2]
        cdef uint64_t low = 0, product = 0, carry, sum
        cdef Py_ssize_t i, chunk = 0
        # U times the true total lies in [start, stop), and a true running sum less than `error` above ours:
        # start = ⌊word·total/2^64⌋ and stop = ⌈(word + 1)·(total + error)/2^64⌉.
        carry = multiply(word, total[1], &low)
        self.start[0] = multiply(word, total[0], &product)
        self.start[1] = product + carry
        self.start[0] += self.start[1] < carry
        most[1] = total[1] + self.error
        most[0] = total[0] + (most[1] < self.error)
        carry = multiply(word, most[1], &low)
        self.stop[0] = multiply(word, most[0], &product)
        self.stop[1] = product + carry
        self.stop[0] += self.stop[1] < carry
        # The lowest of three words becomes low + most[1]: it carries one where it overflows, and rounds up otherwise
        # where it is not zero.
        sum = low + most[1]
        carry = most[0] + (sum < low)
        self.stop[1] += carry
        self.stop[0] += self.stop[1] < carry
        carry = sum != 0
        self.stop[1] += carry
        self.stop[0] += self.stop[1] < carry
        # Every running sum is compared, and every chunk is as long: the work is the same wherever the goal lies.
        for i in range(1, self.chunks):
            chunk += at_most(self.sums[2 * i], self.sums[2 * i + 1], self.stop[0], self.stop[1]) & (
                (self.sums[2 * i] != self.stop[0]) | (self.sums[2 * i + 1] != self.stop[1])
            )
        return chunk

    cdef Py_ssize_t find_cell(
        self, const int64_t *numbers, Py_ssize_t length, Py_ssize_t chunk, Py_ssize_t begin
    ) noexcept nogil:
        cdef uint64_t *total = self.sums + 2 * self.chunks
        cdef const uint64_t *factors = &self.weights.factors[0]
        cdef uint64_t sums[2]
        cdef uint64_t before[2]
        cdef uint64_t exponents[IN_HAND]
        cdef Py_ssize_t i = 0, n, place = 0
        cdef uint64_t error
        cdef bint inside, clear
        sums[0] = before[0] = self.sums[2 * chunk]
        sums[1] = before[1] = self.sums[2 * chunk + 1]
        while i < length:
            n = IN_HAND if length - i > IN_HAND else length - i
            exponents_of(numbers + i, n, self.line, exponents)
            if self.weights.digits == 1:
                place += reach(factors, 1, exponents, n, self.stop, sums, before)
            else:
                place += reach(factors, self.weights.digits, exponents, n, self.stop, sums, before)
            i += n
        place += begin
        # The sum before the place must leave the error below `start`, if there is a place before: else the sum is 0. No
        # branch, as the time must not tell the place.
        error = self.error & (0 - <uint64_t>(place != 0))
        before[1] += error
        before[0] += before[1] < error
        inside = at_most(self.stop[0], self.stop[1], total[0], total[1])
        clear = at_most(before[0], before[1], self.start[0], self.start[1])
        return place if inside & clear else -1

    def locate(self, const int64_t[::1] numbers, Py_ssize_t chunk, Py_ssize_t begin):
        """The place that the word is in, of this chunk, which begins there; -1 where it is in doubt."""
        with nogil:
            chunk = self.find_cell(&numbers[0], numbers.shape[0], chunk, begin)
        return chunk

    def among(self, const int64_t[::1] numbers, uint64_t word):
        """The place that the word is in among all numbers, which are added first; -1 where it is in doubt."""
        return self.find_among(&numbers[0], numbers.shape[0], word)

    cdef Py_ssize_t find_among(self, const int64_t *numbers, Py_ssize_t n, uint64_t word) except -2:
        cdef Py_ssize_t chunk, begin
        self.warm()
        self.add_from(numbers, n)
        chunk = self.aim(word)
        begin = n * chunk // self.chunks
        with nogil:
            chunk = self.find_cell(numbers + begin, n * (chunk + 1) // self.chunks - begin, chunk, begin)
        return chunk


def descend(
    PowerWeights weights, values, int64_t factor, int64_t edge, int64_t lowest, int64_t highest, Py_ssize_t chunks,
    uint64_t word
):
    """The place that the word is in among exponents that fall as these values rise; -1 where it is in doubt.

    It is `turn` and `among` in one call: for a few values each call takes longer than the search.
    """
    cdef Py_buffer view
    cdef const int64_t *read = <const int64_t *>hold(values, &view, False)
    cdef Py_ssize_t n = view.len // 8
    cdef PowerSearch search
    try:
        search = PowerSearch(weights, 0, n, chunks)
        search.turn_to(read, n, factor, edge, lowest, highest)
        return search.find_among(read, n, word)
    finally:
        PyBuffer_Release(&view)
