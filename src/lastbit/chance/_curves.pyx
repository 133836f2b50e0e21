"""Words in, draws out, by a logarithm in fixed point: the laws whose survival function is a line in a power.

A word says that V, a point that the law cuts at the powers R^j, lies in [v, v + w]/2^64. Then the cell is ⌊y⌋ for
y = -ln(V)/λ less a constant, λ = -ln R, unless an end of the interval is so near to a whole y that the error of the
logarithm leaves it in doubt. Integers only; the caller settles the samples in doubt.

With v = M·2^(63-z), 1 <= M < 2, the constant and z·ln 2 are in a table, `low` and `high`, and ln M < 0.7 is what is
computed, in units of 2^-64. y is in units of 2^(bits-64) and takes two words; for a first look, it is in units of
2^(bits-58) and takes one. `chance/curves.py` fills the tables.
"""

from libc.stdint cimport int64_t, uint16_t, uint32_t, uint64_t

from lastbit.chance._cells cimport Cells

cdef extern from *:
    """
    #include <stdint.h>
    #if defined(__GNUC__)
    #define LASTBIT_INLINE static inline __attribute__((always_inline))
    #define LASTBIT_APART static __attribute__((noinline))
    #define LASTBIT_RESTRICT __restrict__
    #define LASTBIT_RARE(x) __builtin_expect(!!(x), 0)
    #define lastbit_zeros(v) __builtin_clzll(v)
    #else
    #define LASTBIT_INLINE static inline
    #define LASTBIT_APART static
    #define LASTBIT_RESTRICT
    #define LASTBIT_RARE(x) (x)
    LASTBIT_INLINE int lastbit_zeros(uint64_t v) {
        int n = 0;
        for (int half = 32; half; half >>= 1) if (!(v >> (64 - half))) { n += half; v <<= half; }
        return n;
    }
    #endif
    #if defined(__SIZEOF_INT128__)
    LASTBIT_INLINE uint64_t lastbit_high(uint64_t a, uint64_t b) { return (unsigned __int128)a * b >> 64; }
    #else
    LASTBIT_INLINE uint64_t lastbit_high(uint64_t a, uint64_t b) {
        uint64_t a1 = a >> 32, a0 = (uint32_t)a, b1 = b >> 32, b0 = (uint32_t)b;
        uint64_t cross = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (uint32_t)cross;
        return a1 * b1 + (cross >> 32) + (other >> 32);
    }
    #endif

    /* For the leading zeros of v: where y begins, as low + high * 2^64, and how far from a whole y there is doubt. */
    typedef struct { uint64_t low; int64_t high; uint64_t fine; } lastbit_start;
    /* The same for a first look, where y is one word. */
    typedef struct { uint64_t y, rough; } lastbit_first;
    typedef struct {
        const uint64_t *logs; const uint16_t *inverses;   /* ln(2^15/c) and c, the least c with M*c >= 2^15 */
        const uint64_t *fine_logs; const uint32_t *fine_inverses;   /* the same with 2^31 in place of 2^15 */
        lastbit_start starts[128];   /* 64 of the upper side, then 64 of the lower one */
        lastbit_first firsts[128];
        uint64_t scale, first_scale, side, floor, share;
        int bits;
    } lastbit_curve;

    /* ln(m/2^63) for m >= 2^63, less than a unit too large, at most 2^-33.98 too small: z - z^2/2 where
       1 + z = m*c/2^78 < 1 + 2^-10.8. */
    LASTBIT_INLINE uint64_t lastbit_rough(const lastbit_curve *c, uint64_t m) {
        uint64_t i = m >> 52 & 2047, z = (m >> 16) * c->inverses[i] - (1ULL << 62), h = (z >> 20) + 1;
        return c->logs[i] + (z << 2) - (h * h >> 21);
    }

    /* ln(m/2^63), less than 2 units too large and 3 too small: z - z^2/2 + z^3/3 - z^4/4 + z^5/5, where z < 2^-10.99 and
       z^6/6 < 2^-68. */
    LASTBIT_INLINE uint64_t lastbit_fine(const lastbit_curve *c, uint64_t m) {
        uint64_t i = m >> 52 & 2047, f = c->fine_inverses[i], a;
        /* m*f/2^30 without its leading one, which is bit 64: the low 34 bits of m*f>>64 and what is below. */
        uint64_t z = lastbit_high(m, f) << 34 | m * f >> 30;
        a = 0x4000000000000000ULL - lastbit_high(z, 0x3333333333333333ULL);
        a = 0x5555555555555555ULL - lastbit_high(z, a);
        a = 0x8000000000000000ULL - lastbit_high(z, a);
        return c->fine_logs[i] + z - lastbit_high(z, lastbit_high(z, a));
    }

    /* The cell of v = m >> zeros by the second look. */
    LASTBIT_INLINE int lastbit_second(const lastbit_curve *c, uint64_t m, int zeros, uint64_t lower, int64_t *out) {
        const lastbit_start *start = c->starts + (lower & 64) + zeros;
        uint64_t mask = ~0ULL >> c->bits, t = start->low - lastbit_high(lastbit_fine(c, m), c->scale);
        int doubt = (t & mask) <= start->fine;
        /* Where t went below zero it borrowed from `high`. On the lower side the bits are written inverted: -1 - y. */
        *out = (int64_t)((((uint64_t)(start->high - (t > start->low)) << c->bits) + (t >> (64 - c->bits))) ^ lower);
        return doubt;
    }
    /* Where it is rare, apart from the loop: there the first look needs the registers. */
    LASTBIT_APART int lastbit_again(const lastbit_curve *c, uint64_t m, int zeros, uint64_t lower, int64_t *out) {
        return lastbit_second(c, m, zeros, lower, out);
    }

    /* way: 0 for V = U; 1 where words from `side` on are the lower side, and V = 1 - U there; 2 for V = floor + U*share. */
    LASTBIT_INLINE int lastbit_cell(const lastbit_curve *c, uint64_t word, int way, int rough, int64_t *out) {
        uint64_t lower = way == 1 ? 0 - (uint64_t)(word >= c->side) : 0, v = word ^ lower, m, t;
        const lastbit_first *first;
        int zeros;
        if (way == 2) v = c->floor + lastbit_high(word, c->share);
        /* v = 0 has the zeros of v = 1, which is in doubt whatever m is. */
        zeros = lastbit_zeros(v | 1);
        m = v << zeros;
        if (!rough) return lastbit_second(c, m, zeros, lower, out);
        first = c->firsts + (lower & 64) + zeros;
        t = first->y - lastbit_high(lastbit_rough(c, m), c->first_scale);
        if (LASTBIT_RARE((t & (~0ULL >> (c->bits + 6))) <= first->rough)) return lastbit_again(c, m, zeros, lower, out);
        *out = (int64_t)(t >> (58 - c->bits) ^ lower);
        return 0;
    }

    /* From a sample on, up to the first in doubt, which is returned, or to the end. */
    #define LASTBIT_LOOP(way, rough) \
        for (; k < n; k++) if (LASTBIT_RARE(lastbit_cell(c, words[k * step], way, rough, out + k))) return k; \
        return n;
    LASTBIT_INLINE int64_t lastbit_loop(
        const lastbit_curve *LASTBIT_RESTRICT c, const uint64_t *words, int64_t step, int64_t k, int64_t n, int way,
        int rough, int64_t *LASTBIT_RESTRICT out
    ) {
        if (way == 0 && rough) { LASTBIT_LOOP(0, 1) }
        if (way == 0) { LASTBIT_LOOP(0, 0) }
        if (way == 1 && rough) { LASTBIT_LOOP(1, 1) }
        if (way == 1) { LASTBIT_LOOP(1, 0) }
        if (rough) { LASTBIT_LOOP(2, 1) }
        LASTBIT_LOOP(2, 0)
    }

    #define LASTBIT_ARGUMENTS const lastbit_curve *c, const uint64_t *words, int64_t step, int64_t k, int64_t n, int way, \
        int rough, int64_t *out
    LASTBIT_INLINE int64_t lastbit_steps(LASTBIT_ARGUMENTS) {
        /* The same twice, so that the compiler knows the step where it matters most. */
        return step == 1 ? lastbit_loop(c, words, 1, k, n, way, rough, out) :
            lastbit_loop(c, words, step, k, n, way, rough, out);
    }
    static int64_t lastbit_plain(LASTBIT_ARGUMENTS) { return lastbit_steps(c, words, step, k, n, way, rough, out); }
    #if defined(__x86_64__) && defined(__GNUC__)
    /* Counting leading zeros takes older x86 a slow instruction; the same integers either way. */
    __attribute__((target("lzcnt,bmi,bmi2"))) static int64_t lastbit_newer(LASTBIT_ARGUMENTS) {
        return lastbit_steps(c, words, step, k, n, way, rough, out);
    }
    /* A processor without lzcnt takes it for that slow one, bsr, which counts from the other end: another law, and no
       error. So its answer decides; emulators list newer instructions and lack this one. */
    static inline int lastbit_counts(void) {
        uint64_t zeros;
        __asm__ ("rep bsrq %1, %0" : "=r" (zeros) : "r" ((uint64_t)1) : "cc");
        return zeros == 63;
    }
    static int64_t lastbit_cells(LASTBIT_ARGUMENTS) {
        return lastbit_counts() && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") ?
            lastbit_newer(c, words, step, k, n, way, rough, out) : lastbit_plain(c, words, step, k, n, way, rough, out);
    }
    #else
    #define lastbit_cells lastbit_plain
    #endif
    """
    ctypedef struct start "lastbit_start":
        uint64_t low
        int64_t high
        uint64_t fine
    ctypedef struct begin "lastbit_first":
        uint64_t y, rough
    ctypedef struct curve "lastbit_curve":
        const uint64_t *logs
        const uint16_t *inverses
        const uint64_t *fine_logs
        const uint32_t *fine_inverses
        start starts[128]
        begin firsts[128]
        uint64_t scale, first_scale, side, floor, share
        int bits
    int64_t cells_of "lastbit_cells"(
        const curve *c, const uint64_t *words, int64_t step, int64_t k, int64_t n, int way, int rough, int64_t *out
    ) noexcept nogil


cdef class Logarithms:
    """Tables of logarithms that all laws share, with a short inverse for a first look and a long one for the second."""

    cdef const uint16_t[::1] inverses
    cdef const uint64_t[::1] logs
    cdef const uint32_t[::1] fine_inverses
    cdef const uint64_t[::1] fine_logs

    def __init__(self, inverses, logs, fine_inverses, fine_logs):
        if not len(inverses) == len(logs) == len(fine_inverses) == len(fine_logs) == 2048:
            raise ValueError("there must be 2,048 logarithms.")
        self.inverses, self.logs, self.fine_inverses, self.fine_logs = inverses, logs, fine_inverses, fine_logs


cdef class CurveInverter(Cells):
    """A law, held where C can reach it."""

    cdef Logarithms tables
    cdef curve curve
    cdef int way, rough

    def __init__(self, Logarithms tables, sides, uint64_t scale, int bits, int way, bint rough, uint64_t side,
                 uint64_t floor, uint64_t share):
        """`sides` has for each side, and each number of leading zeros: low, high, fine; y, rough."""
        self.tables, self.way, self.rough = tables, way, rough
        self.curve.logs, self.curve.inverses = &tables.logs[0], &tables.inverses[0]
        self.curve.fine_logs, self.curve.fine_inverses = &tables.fine_logs[0], &tables.fine_inverses[0]
        self.curve.scale, self.curve.bits, self.curve.side = scale, bits, side
        self.curve.floor, self.curve.share, self.curve.first_scale = floor, share, scale >> 6
        if not 0 < bits < 64:
            raise ValueError("bits must be from 1 to 63.")
        if rough and bits > 57:
            raise ValueError("bits must be at most 57 for a first look.")
        for i in range(2):
            for zeros in range(64):
                low, high, fine, y, near = sides[i][zeros]
                self.curve.starts[64 * i + zeros] = start(low, high, fine)
                self.curve.firsts[64 * i + zeros] = begin(y, near)

    cdef Py_ssize_t cells(
        self, const uint64_t *words, Py_ssize_t step, Py_ssize_t k, Py_ssize_t n, int64_t *out
    ) noexcept nogil:
        return cells_of(&self.curve, words, step, k, n, self.way, self.rough, out)
