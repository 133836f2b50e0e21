"""Whole numbers and the bits of floats in, steps of a grid out. Integers only."""

from cpython.buffer cimport PyBUF_STRIDES, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport int64_t, uint32_t, uint64_t

from libc.string cimport memcpy

from numpy import dtype, empty

from lastbit.chance._words cimport add_steps, hold, multiply, step_of

cdef extern from "Python.h":
    ctypedef struct PyObject
    PyObject **PySequence_Fast_ITEMS(object listed)
    bint PyLong_CheckExact(object it)
    bint PyFloat_CheckExact(object it)
    double PyFloat_AS_DOUBLE(object it)
    long long PyLong_AsLongLongAndOverflow(object it, int *beyond) except? -1

cdef extern from *:
    """
    /* An int of Python's own that has one digit, as most have: read where it is, which a call of Python takes longer for.
       Others are left to the call. */
    static inline int lastbit_short(PyObject *it, int64_t *out) {
    #if PY_VERSION_HEX >= 0x030C0000
        if (!PyUnstable_Long_IsCompact((PyLongObject *)it)) return 0;
        *out = PyUnstable_Long_CompactValue((PyLongObject *)it);
    #else
        Py_ssize_t size = Py_SIZE(it);
        if (size < -1 || size > 1) return 0;
        *out = (int64_t)size * ((PyLongObject *)it)->ob_digit[0];
    #endif
        return 1;
    }
    """
    bint short_int "lastbit_short"(PyObject *it, int64_t *out) noexcept

cdef object INT64 = dtype("int64")
cdef object FLOAT64 = dtype("float64")


def scaled(values, int64_t factor, int64_t edge, int64_t limit):
    """values·factor of an array of int64, clamped to ±limit, in a new array; edge is ⌊limit/factor⌋."""
    cdef Py_buffer given, taken
    cdef const int64_t *read = <const int64_t *>hold(values, &given, False)
    cdef int64_t *written
    cdef Py_ssize_t k, n = given.len // 8
    try:
        out = empty(n, INT64)
        written = <int64_t *>hold(out, &taken, True)
        with nogil:
            for k in range(n):
                written[k] = step_of(read[k], factor, edge, limit)
        PyBuffer_Release(&taken)
    finally:
        PyBuffer_Release(&given)
    return out


def total(values, int64_t factor, int64_t edge, int64_t limit, int64_t least, int64_t most):
    """The sum of what `scaled` gives, each clamped to [least, most], of at most 2^32 values."""
    cdef Py_buffer given
    cdef const int64_t *read = <const int64_t *>hold(values, &given, False)
    cdef Py_ssize_t k, n = given.len // 8
    cdef int64_t step
    cdef uint64_t over, low = 0, high = 0
    with nogil:
        for k in range(n):
            step = step_of(read[k], factor, edge, limit)
            step = step if step > least else least
            step = step if step < most else most
            # In two halves of 32 bits, as the sums of floats are.
            over = <uint64_t>step - <uint64_t>least
            low += <uint32_t>over
            high += over >> 32
    PyBuffer_Release(&given)
    return int(low) + (int(high) << 32) + int(n) * int(least)


def add_scaled(values, int64_t factor, int64_t edge, int64_t limit, out):
    """The same as `scaled`, added to what is in out: any array of int64, and a whole one to write to."""
    cdef Py_buffer given, taken
    cdef const char *read
    cdef int64_t *written
    cdef Py_ssize_t step
    PyObject_GetBuffer(values, &given, PyBUF_STRIDES)
    try:
        written = <int64_t *>hold(out, &taken, True)
        try:
            if given.itemsize != 8 or given.len != taken.len or given.ndim != 1:
                raise ValueError("there must be as many values as steps.")
            read, step = <const char *>given.buf, given.strides[0]
            with nogil:
                if step == 8:
                    add_steps(<const int64_t *>read, factor, edge, limit, written, taken.len // 8)
                else:
                    add_each(read, step, factor, edge, limit, written, taken.len // 8)
        finally:
            PyBuffer_Release(&taken)
    finally:
        PyBuffer_Release(&given)


def reaching(values, int64_t factor, int64_t edge, int64_t limit, noise, Py_ssize_t start, int64_t bar):
    """The places where a value, scaled as in `scaled`, and its noise, which is at `start` and a place, reach the bar."""
    cdef Py_buffer given, drawn
    cdef Py_ssize_t k = 0, n, there
    cdef list places = []
    cdef const int64_t *v = <const int64_t *>hold(values, &given, False)
    cdef const int64_t *x
    try:
        x = <const int64_t *>hold(noise, &drawn, False)
        n, there = given.len // 8, drawn.len // 8
        if 0 <= start and n <= there - start:
            while k < n:
                with nogil:
                    k = next_reaching(v, factor, edge, limit, x + start, k, n, bar)
                if k < n:
                    places.append(k)
                    k += 1
        PyBuffer_Release(&drawn)
        if start < 0 or n > there - start:
            raise ValueError("there must be a noise for each value.")
    finally:
        PyBuffer_Release(&given)
    return places


cdef extern from *:
    """
    #include <stdint.h>
    /* From a place on, the first whose scaled value and noise reach the bar, or n: sixteen at a time, as few do. */
    static inline int64_t lastbit_reaches(int64_t v, int64_t factor, int64_t edge, int64_t limit, int64_t noise, int64_t bar) {
        int64_t inside = v > edge || v < -edge ? 0 : v;
        int64_t step = v > edge ? limit : v < -edge ? -limit : inside * factor;
        return (int64_t)((uint64_t)step + (uint64_t)noise) >= bar;
    }
    static int64_t lastbit_next_reaching(
        const int64_t *v, int64_t factor, int64_t edge, int64_t limit, const int64_t *noise, int64_t k, int64_t n, int64_t bar
    ) {
        int64_t any, j;
        for (; k + 16 <= n; k += 16) {
            any = 0;
            for (j = k; j < k + 16; j++) any |= lastbit_reaches(v[j], factor, edge, limit, noise[j], bar);
            if (any) break;
        }
        for (; k < n; k++) if (lastbit_reaches(v[k], factor, edge, limit, noise[k], bar)) break;
        return k;
    }
    """
    int64_t next_reaching "lastbit_next_reaching"(
        const int64_t *v, int64_t factor, int64_t edge, int64_t limit, const int64_t *noise, int64_t k, int64_t n, int64_t bar
    ) noexcept nogil


cdef inline void add_each(
    const char *read, Py_ssize_t step, int64_t factor, int64_t edge, int64_t limit, int64_t *out, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        out[k] += step_of((<const int64_t *>(read + k * step))[0], factor, edge, limit)


cdef extern from *:
    """
    #include <stdint.h>
    #if defined(__GNUC__)
    #define LASTBIT_INLINE static inline __attribute__((always_inline))
    #else
    #define LASTBIT_INLINE static inline
    #endif
    #if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
    /* Four or eight floats at a time where the processor can; the same integers either way. */
    #define LASTBIT_WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
    #else
    #define LASTBIT_WIDE
    #endif

    typedef struct { uint64_t factor; uint32_t odd; int64_t base, spare, cap, least, most, low, high; } lastbit_scale;

    /* floor(v * odd * 2^twos) clamped, for the float v with these bits; base is 1075 - twos. The magnitude is first
       cut at `cap`, the bits of a power of two beyond every bound, so that nothing overflows. No branch depends on v.
       way: 0 where odd is 1; 1 where odd has at most ten bits, of which `spare` are free; 2 where |v| stays so small
       that the shift below never goes left; 3 in general; 4 where odd has more than 32 bits, and is `factor`.
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
        } else if (way == 4) {
            /* The product takes two words. So long an odd leaves at least 22 bits to shift to the right. The lower word is
               not 0, as odd is odd and m is below 2^53: sign can be taken from it alone. */
            uint64_t low, high = lastbit_multiply(m, s.factor, &low), down = (uint64_t)(shift > 127 ? 127 : shift), beyond;
            low += (uint64_t)sign;
            beyond = 0 - (down >> 6);
            down &= 63;
            whole = ((low >> down | (high << 1) << (63 - down)) & ~beyond) | (high >> down & beyond);
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
        else if (way == 2) { LASTBIT_EACH(work, 2, above) } else if (way == 3) { LASTBIT_EACH(work, 3, above) } \
        else { LASTBIT_EACH(work, 4, above) }

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

    /* The sum of step - least, in two halves of 32 bits, which hold 2^32 records; and how many records are NaN. */
    LASTBIT_WIDE static void lastbit_sum(const uint64_t *v, int64_t n, lastbit_scale s, int way, uint64_t *sums) {
        int64_t k;
        uint64_t low = 0, high = 0, over, numbers = 0;
        #define LASTBIT_ADD over = (uint64_t)step - (uint64_t)s.least; low += over & 0xffffffffULL; high += over >> 32; \
            numbers -= (uint64_t)-(int64_t)((int64_t)(v[k] & 0x7fffffffffffffffULL) > 0x7ff0000000000000LL)
        if (s.low >= 0) { LASTBIT_ALL(LASTBIT_ADD, 1) } else { LASTBIT_ALL(LASTBIT_ADD, 0) }
        sums[0] = low;
        sums[1] = high;
        sums[2] = numbers;
    }

    /* The same of steps that are `divisor` times as wide, added to the sums: floor((step - least)/divisor). Where `factor`
       is not 0, the upper word of factor*(step - least) is that floor; see Floor.total. */
    static void lastbit_wider(
        const uint64_t *v, const int64_t *steps, int64_t n, int64_t least, uint64_t divisor, uint64_t factor, uint64_t *sums
    ) {
        int64_t k;
        uint64_t low = 0, high = 0, missing = 0, over, rest;
        for (k = 0; k < n; k++) {
            over = (uint64_t)steps[k] - (uint64_t)least;
            over = factor ? lastbit_multiply(factor, over, &rest) : over / divisor;
            low += over & 0xffffffffULL;
            high += over >> 32;
            missing += (int64_t)(v[k] & 0x7fffffffffffffffULL) > 0x7ff0000000000000LL;
        }
        sums[0] += low;
        sums[1] += high;
        sums[2] += missing;
    }
    """
    ctypedef struct scale "lastbit_scale":
        uint64_t factor
        uint32_t odd
        int64_t base, spare, cap, least, most, low, high
    void floor_each "lastbit_floor"(const uint64_t *v, int64_t n, scale s, int way, int64_t *out) noexcept nogil
    int64_t highest_of "lastbit_highest"(const uint64_t *v, int64_t n) noexcept nogil
    void floor_wider "lastbit_wider"(
        const uint64_t *v, const int64_t *steps, int64_t n, int64_t least, uint64_t divisor, uint64_t factor, uint64_t *sums
    ) noexcept nogil
    void floor_total "lastbit_sum"(const uint64_t *v, int64_t n, scale s, int way, uint64_t *sums) noexcept nogil


def highest(const uint64_t[::1] bits):
    """The highest of at least one float, given by their bits: NaN only where there is nothing else. Returns its bits."""
    cdef int64_t place
    with nogil:
        place = highest_of(&bits[0], bits.shape[0])
    return place ^ <int64_t>(<uint64_t>(place >> 63) >> 1)


cdef class Floor:
    """⌊v·odd·2^twos⌋ of floats given by their bits, clamped to [least, most]; NaN gives least.

    Needs odd <= 2^61 and |least|, |most| <= 2^61; `top` is the least whole number with odd·2^(twos + top) beyond both.
    Where no bound is below zero, `low` and `high` may be the bits of the least floats that step onto them; else -1.
    """

    cdef scale scale
    cdef int way

    def __init__(self, uint64_t odd, int64_t twos, int64_t top, int64_t least, int64_t most, int64_t low, int64_t high):
        cdef int64_t spare = 10 - int(odd).bit_length()
        self.scale = scale(odd, <uint32_t>odd, 1075 - twos, spare, (1023 + top) << 52, least, most, low, high)
        self.way = 0 if odd == 1 else 1 if spare >= 0 else 2 if 1075 - twos - (1023 + top) >= 26 else 3
        if odd >> 32:
            self.way = 4
            if not odd & 1 or 1075 - twos - (1023 + top) < 1:
                raise ValueError("odd must be odd, and top leave its product a shift to the right.")

    def each(self, bits):
        """The steps of floats, given by their bits, in a new array."""
        cdef Py_buffer given, taken
        cdef const uint64_t *read = <const uint64_t *>hold(bits, &given, False)
        cdef int64_t *written
        cdef Py_ssize_t n = given.len // 8
        try:
            out = empty(n, INT64)
            written = <int64_t *>hold(out, &taken, True)
            with nogil:
                floor_each(read, n, self.scale, self.way, written)
            PyBuffer_Release(&taken)
        finally:
            PyBuffer_Release(&given)
        return out

    def total(self, const uint64_t[::1] bits, int64_t divisor=1):
        """The sum of all steps, of at most 2^32 floats, and how many floats are NaN, whose step is the least.

        With a divisor, which divides the least, each step is divided by it and floored before.
        """
        cdef uint64_t sums[3]
        cdef int64_t steps[1024]
        cdef Py_ssize_t start = 0, n, whole = bits.shape[0]
        cdef uint64_t factor = 0
        if divisor < 1 or self.scale.least % divisor:
            raise ValueError("the divisor must divide the least step.")
        if divisor > 1 and (int(self.scale.most) - int(self.scale.least)) * int(divisor) < 1 << 64:
            # m = ⌈2^64/divisor⌉ exceeds 2^64/divisor by less than 1. So x·m/2^64 exceeds x/divisor by less than x/2^64, which is
            # below 1/divisor: too little to reach the next whole number.
            factor = ((1 << 64) + divisor - 1) // int(divisor)
        sums[0] = sums[1] = sums[2] = 0
        with nogil:
            if divisor == 1 and whole:
                floor_total(&bits[0], whole, self.scale, self.way, sums)
            while divisor > 1 and start < whole:
                n = whole - start if whole - start < 1024 else 1024
                floor_each(&bits[start], n, self.scale, self.way, steps)
                floor_wider(&bits[start], steps, n, self.scale.least, divisor, factor, sums)
                start += n
        return int(sums[0]) + (int(sums[1]) << 32) + int(whole) * (int(self.scale.least) // divisor), int(sums[2])


def listed(values, other, int64_t factor, int64_t divisor, int64_t limit, Floor floor):
    """The steps of a list or a tuple of numbers: of Python's own ints, and floats by `floor`; `other` says all else."""
    if type(values) is not list and type(values) is not tuple:
        raise TypeError("values must be a list or a tuple.")
    cdef bint fixed = type(values) is tuple
    cdef Py_ssize_t k, n = len(values)
    cdef int64_t edge = limit // factor, step
    cdef long long whole
    cdef int beyond
    cdef double real
    cdef uint64_t bits
    cdef Py_buffer view
    out = empty(n, INT64)
    cdef int64_t *written = <int64_t *>hold(out, &view, True)
    try:
        for k in range(n):
            # `other` may run anyone's code, and so may the end of an object that `other` took out of the list.
            if not fixed and len(<list>values) != n:
                raise RuntimeError("the list changed while it was read. Nothing was drawn.")
            each = (<tuple>values)[k] if fixed else (<list>values)[k]
            if type(each) is int:
                whole = PyLong_AsLongLongAndOverflow(each, &beyond)
                step = whole if -edge <= whole <= edge and not beyond else 0
                step = limit if beyond > 0 or whole > edge else (-limit if beyond < 0 or whole < -edge else step * factor)
            elif type(each) is float and floor is not None:
                real = each
                memcpy(&bits, &real, sizeof(bits))
                floor_each(&bits, 1, floor.scale, floor.way, &step)
            else:
                written[k] = other(each)
                continue
            # C divides toward zero.
            written[k] = step // divisor - (step % divisor < 0) if divisor > 1 else step
    finally:
        PyBuffer_Release(&view)
    return out


def packed(values):
    """An array of a list or a tuple that holds Python's own ints of 64 bits only, or floats only; None where not."""
    cdef PyObject **given
    cdef Py_ssize_t k, n = len(values)
    cdef int beyond = 0
    cdef Py_buffer view
    cdef int64_t *whole
    cdef double *real
    cdef bint floats
    if type(values) is not list and type(values) is not tuple:
        raise TypeError("values must be a list or a tuple.")
    if n and type(values[0]) is not int and type(values[0]) is not float:
        return None
    floats = n and type(values[0]) is float
    out = empty(n, FLOAT64 if floats else INT64)
    whole = <int64_t *>hold(out, &view, True)
    real = <double *>whole
    try:
        # From here on no code of Python runs, which could change a list.
        given = PySequence_Fast_ITEMS(values)
        for k in range(n if len(values) == n else 0):
            if floats:
                if not PyFloat_CheckExact(<object>given[k]):
                    return None
                real[k] = PyFloat_AS_DOUBLE(<object>given[k])
            else:
                if not PyLong_CheckExact(<object>given[k]):
                    return None
                if not short_int(given[k], whole + k):
                    whole[k] = PyLong_AsLongLongAndOverflow(<object>given[k], &beyond)
                    if beyond:
                        return None
    finally:
        PyBuffer_Release(&view)
    return out if len(values) == n else None


def whole_only(values):
    """Whether a list or a tuple holds Python's own ints only."""
    if type(values) is not list and type(values) is not tuple:
        raise TypeError("values must be a list or a tuple.")
    cdef PyObject **given = PySequence_Fast_ITEMS(values)
    cdef Py_ssize_t k
    for k in range(len(values)):
        if not PyLong_CheckExact(<object>given[k]):
            return False
    return True
