"""Products of two words, permutations, steps, and arrays where C can reach them: for every kernel."""

from cpython.buffer cimport PyBUF_ND, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer

from libc.stdint cimport int64_t, uint64_t

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

cdef extern from *:
    """
    #include <stdint.h>
    #if defined(__GNUC__)
    #define LASTBIT_MAYBE __attribute__((unused))
    #else
    #define LASTBIT_MAYBE
    #endif
    #if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
    /* Four numbers at a time where the processor can; the same integers either way. */
    #define LASTBIT_FOUR __attribute__((target_clones("avx2", "default"), unused))
    #else
    #define LASTBIT_FOUR LASTBIT_MAYBE
    #endif
    /* v * factor clamped to +-limit, where edge is limit / factor rounded down: v is cut just beyond the edge first, so that
       nothing overflows. */
    LASTBIT_MAYBE static inline int64_t lastbit_step_of(int64_t v, int64_t factor, int64_t edge, int64_t limit) {
        v = v > edge + 1 ? edge + 1 : v;
        v = (v < -edge - 1 ? -edge - 1 : v) * factor;
        v = v > limit ? limit : v;
        return v < -limit ? -limit : v;
    }
    LASTBIT_FOUR static void lastbit_add_steps(
        const int64_t *v, int64_t factor, int64_t edge, int64_t limit, int64_t *out, int64_t n
    ) {
        for (int64_t k = 0; k < n; k++) out[k] += lastbit_step_of(v[k], factor, edge, limit);
    }
    """
    int64_t step_of "lastbit_step_of"(int64_t v, int64_t factor, int64_t edge, int64_t limit) noexcept nogil
    void add_steps "lastbit_add_steps"(
        const int64_t *v, int64_t factor, int64_t edge, int64_t limit, int64_t *out, int64_t n
    ) noexcept nogil


cdef inline void *hold(object array, Py_buffer *view, bint writable) except? NULL:
    """Where the numbers of an array are: 64 bits each, one after the other. `PyBuffer_Release` lets go of them.

    For a few numbers a memoryview takes longer than the work on them. Words to read may be bytes, which begin where a
    word may.
    """
    PyObject_GetBuffer(array, view, PyBUF_ND | (PyBUF_WRITABLE if writable else 0))
    if view.itemsize != 8 and type(array) is not bytes:
        PyBuffer_Release(view)
        raise ValueError("numbers must have 64 bits.")
    return view.buf


cdef inline bint pick(uint64_t word, uint64_t n, int64_t *out) noexcept nogil:
    """⌊U·n⌋. Returns whether it is in doubt: [w, w+1)·n crosses a multiple of 2^64 exactly when low + n > 2^64."""
    cdef uint64_t low = 0
    out[0] = <int64_t>multiply(word, n, &low)
    return low > 0 - n


cdef inline void apply_picks(int64_t *out, Py_ssize_t n) noexcept nogil:
    """Turn picks, out[i] in [0, i], into a permutation in place: the inside-out form of Fisher and Yates."""
    cdef Py_ssize_t i
    cdef int64_t place
    for i in range(n):
        place = out[i]
        out[i] = out[place] if place < i else i
        out[place] = i
