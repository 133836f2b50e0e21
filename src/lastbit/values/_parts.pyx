"""Numbers between two steps: the step below each, and the first 64 bits of the part of a step above it. Integers only."""

from libc.stdint cimport int64_t, uint64_t

from lastbit.chance._words cimport multiply

cdef extern from *:
    """
    #include <stdint.h>
    /* All ones where it holds. */
    #define LASTBIT_MASK(holds) (0 - (uint64_t)(holds))

    /* floor((rest * 2^64 + low) / divisor), for rest < divisor < 2^63. */
    #if defined(__SIZEOF_INT128__)
    static inline uint64_t lastbit_share(uint64_t rest, uint64_t low, uint64_t divisor) {
        return (uint64_t)((((unsigned __int128)rest << 64) | low) / divisor);
    }
    #else
    static inline uint64_t lastbit_share(uint64_t rest, uint64_t low, uint64_t divisor) {
        uint64_t result = 0;
        for (int bit = 63; bit >= 0; bit--) {
            rest = rest << 1 | (low >> bit & 1);
            result = result << 1 | (rest >= divisor);
            rest -= divisor & LASTBIT_MASK(rest >= divisor);
        }
        return result;
    }
    #endif

    /* The float with these bits, times odd * 2^twos: its floor, clamped to -limit and limit, and the first 64 bits of what
       is above the floor; none where it was clamped. width is the number of bits of odd < 2^62; limit is 2^61. A NaN is
       the lowest. No branch depends on the float. */
    static inline int64_t lastbit_between(
        uint64_t bits, uint64_t odd, int64_t twos, int64_t width, int64_t limit, uint64_t *part
    ) {
        uint64_t magnitude = bits & 0x7fffffffffffffffULL, exponent = magnitude >> 52, low = 0, high, whole, first, rest;
        uint64_t normal = exponent != 0, m = (magnitude & 0xfffffffffffffULL) | normal << 52;
        uint64_t lowest = LASTBIT_MASK(magnitude > 0x7ff0000000000000ULL), below = LASTBIT_MASK(bits >> 63) | lowest;
        /* It is (high * 2^64 + low) / 2^down, for the product of m and odd. */
        int64_t down = 1075 - twos - (int64_t)(exponent + !normal);
        /* At 2^62 and beyond for certain; all else is below 2^63. A zero never is, whatever its exponent says. */
        uint64_t far = LASTBIT_MASK(down < width - 10) & LASTBIT_MASK(normal), up;
        high = lastbit_multiply(m, odd, &low);
        up = down < 0 ? (uint64_t)-down & 63 : 0;
        down = down < 0 ? 0 : down > 191 ? 191 : down;
        uint64_t by = (uint64_t)down & 63, left = (64 - by) & 63, some = LASTBIT_MASK(by != 0);
        uint64_t lower = LASTBIT_MASK(down < 64), middle = LASTBIT_MASK((down >= 64) & (down < 128)), upper = ~(lower | middle);
        uint64_t dropped = low & ~(~0ULL << by), across = high << left & some;
        /* Three words below the point: of the first, 64 bits count; `rest` says whether anything is below them. */
        whole = (((low >> by | across) << up) & lower) | (high >> by & middle);
        first = (low << left & some & lower) | ((low >> by | across) & middle) | (high >> by & upper);
        rest = (dropped & middle) | ((low | (high & ~(~0ULL << by))) & upper);
        /* Below zero: one step further down, and the part is 1 less what it was. */
        uint64_t broken = (first | rest) != 0;
        int64_t step = (int64_t)((whole ^ below) - below - (broken & below & 1));
        first = (first ^ below) + (below & (rest == 0));
        uint64_t inside = ~far & LASTBIT_MASK((step >= -limit) & (step < limit)) & ~lowest;
        *part = first & inside;
        return (int64_t)(((uint64_t)step & inside) | ((uint64_t)((limit ^ (int64_t)below) - (int64_t)below) & ~inside));
    }
    """
    uint64_t share "lastbit_share"(uint64_t rest, uint64_t low, uint64_t divisor) noexcept nogil
    int64_t between "lastbit_between"(
        uint64_t bits, uint64_t odd, int64_t twos, int64_t width, int64_t limit, uint64_t *part
    ) noexcept nogil


def floats(const uint64_t[::1] bits, uint64_t odd, int64_t twos, int64_t limit, int64_t[::1] steps, uint64_t[::1] parts):
    """Of floats given by their bits, times odd·2^twos: the floor, clamped to ±limit, and the part above it."""
    cdef Py_ssize_t k
    cdef int64_t width = int(odd).bit_length()
    if not bits.shape[0] == steps.shape[0] == parts.shape[0]:
        raise ValueError("there must be a step and a part for each float.")
    with nogil:
        for k in range(steps.shape[0]):
            steps[k] = between(bits[k], odd, twos, width, limit, &parts[k])


def divide(int64_t[::1] steps, uint64_t[::1] parts, int64_t divisor):
    """The same in steps that are `divisor` times as wide, in place."""
    cdef Py_ssize_t k
    cdef int64_t rest, wide
    if steps.shape[0] != parts.shape[0]:
        raise ValueError("there must be a part for each step.")
    with nogil:
        for k in range(steps.shape[0]):
            # C divides toward zero.
            wide = steps[k] // divisor
            rest = steps[k] - wide * divisor
            wide -= rest < 0
            rest += divisor if rest < 0 else 0
            steps[k] = wide
            parts[k] = share(<uint64_t>rest, parts[k], <uint64_t>divisor)
