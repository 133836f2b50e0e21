"""Noisy steps in, ranks and leads out. Integers only."""

cimport cython
from cpython.buffer cimport PyBUF_FORMAT, PyBUF_ND, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport free, malloc, qsort, realloc
from libc.string cimport memcpy

from numpy import array, dtype, empty

from lastbit.chance._words cimport add_steps, hold, pick, shuffled

cdef enum:
    GROUPS = 4  # for each one looked for: few of them share a group then
    BLOCK = 16

cdef object INT64 = dtype("int64")
cdef object UINT64 = dtype("uint64")


@cython.final
cdef class Held:
    """An array of int64, held where C can reach it: for a few numbers a memoryview takes longer than the work on them."""

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
    """The indices of the values within `below` of the kept-th largest value; all indices where there are no more values.

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


cdef int falling(const void *one, const void *other) noexcept nogil:
    cdef int64_t a = (<const int64_t *>one)[0], b = (<const int64_t *>other)[0]
    return (a < b) - (a > b)


cdef int64_t kth_highest(int64_t *values, Py_ssize_t n, Py_ssize_t k) noexcept nogil:
    """The k-th highest, by halving around a middle of three; the values end up in another order.

    Where that goes badly for so many rounds as no order but one made to be bad takes, the rest is sorted.
    """
    cdef Py_ssize_t low = 0, high = n - 1, i, j, rounds = 0
    cdef int64_t a, b, c, pivot
    while high - low > 8 and rounds < 64:
        a, b, c = values[low], values[(low + high) >> 1], values[high]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = low, high
        while i <= j:
            while values[i] > pivot:
                i += 1
            while values[j] < pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if k - 1 <= j:
            high = j
        elif k - 1 >= i:
            low = i
        else:
            return pivot
        rounds += 1
    qsort(values + low, high - low + 1, sizeof(int64_t), &falling)
    return values[k - 1]


cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>
    #if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
    /* Four values at a time where the processor can; the same integers either way. */
    #define LASTBIT_WIDE __attribute__((target_clones("avx2", "default")))
    #else
    #define LASTBIT_WIDE
    #endif
    /* The highest of each group: group g has every value whose place is g more than a multiple of `groups`. */
    LASTBIT_WIDE static void lastbit_group(const int64_t *values, int64_t rows, int64_t groups, int64_t *highest) {
        memcpy(highest, values, groups * sizeof(int64_t));
        for (int64_t row = 1; row < rows; row++) {
            values += groups;
            for (int64_t g = 0; g < groups; g++) highest[g] = values[g] > highest[g] ? values[g] : highest[g];
        }
    }
    /* The first block of 16, from a place on, that has a value of at least `bound`; or the end of the last block. */
    LASTBIT_WIDE static int64_t lastbit_next(const int64_t *values, int64_t from, int64_t n, int64_t bound) {
        for (; from + 16 <= n; from += 16) {
            int64_t hit = 0;
            for (int j = 0; j < 16; j++) hit |= -(int64_t)(values[from + j] >= bound);
            if (hit) break;
        }
        return from;
    }
    """
    void group "lastbit_group"(const int64_t *values, int64_t rows, int64_t groups, int64_t *highest) noexcept nogil
    int64_t next_block "lastbit_next"(const int64_t *values, int64_t start, int64_t n, int64_t bound) noexcept nogil


cdef Height *sieved(const int64_t *values, Py_ssize_t n, int64_t bound, Py_ssize_t *found) noexcept nogil:
    """The values of at least `bound`, in order; NULL where there is no memory."""
    cdef Py_ssize_t i = 0, j, room = 256, count = 0
    cdef Height *kept = <Height *>malloc(room * sizeof(Height))
    cdef Height *larger
    while i < n and kept is not NULL:
        i = next_block(values, i, n, bound)
        if count + BLOCK > room:
            room *= 2
            larger = <Height *>realloc(kept, room * sizeof(Height))
            if larger is NULL:
                free(kept)
            kept = larger
            if kept is NULL:
                break
        for j in range(i, min(i + BLOCK, n)):
            kept[count] = Height(values[j], j)
            count += values[j] >= bound
        i += BLOCK
    found[0] = count
    return kept


cdef Height *chosen(
    const int64_t *values, Py_ssize_t n, Py_ssize_t width, Py_ssize_t k, int64_t reach, bint *enough
) noexcept nogil:
    """The `width` highest of more values, the first of equals, in the order of their places; NULL without memory.

    `enough` says whether the last of them is further than `reach` below the (k+1)-th highest: else more may be near.
    """
    cdef Py_ssize_t rows = max(1, n // (GROUPS * width)), groups = n // rows, i, at = 0, found = 0, equal = width
    cdef int64_t bound, high
    cdef Height *kept = NULL
    cdef Height each
    cdef int64_t *work = <int64_t *>malloc(groups * sizeof(int64_t))
    if work is not NULL:
        # The width-th largest of the largest of many groups is at most the width-th largest of all: a first sieve.
        group(values, rows, groups, work)
        kept = sieved(values, n, kth_highest(work, groups, width), &found)
        free(work)
    work = <int64_t *>malloc(found * sizeof(int64_t)) if kept is not NULL else NULL
    if work is NULL:
        free(kept)
        return NULL
    for i in range(found):
        work[i] = kept[i].step
    bound = kth_highest(work, found, width)
    # The highest come first in `work` now, in some order.
    high = kth_highest(work, width, k + 1)
    free(work)
    for i in range(found):
        equal -= kept[i].step > bound
    for i in range(found):
        # Of those that are equal to the last, the first.
        each = kept[i]
        if each.step > bound or (each.step == bound and equal > 0):
            equal -= each.step == bound
            kept[at] = each
            at += 1
    enough[0] = bound <= high - reach
    return kept


def contenders(values, Py_ssize_t width, Py_ssize_t k, int64_t reach):
    """The places of the `width` highest of more values, the first of equals, in rising order, and their values.

    None where the last of them is within `reach` of the (k+1)-th highest: then there may be more that are.
    """
    cdef Held given = Held(values)
    cdef Py_ssize_t i
    cdef bint enough = False
    cdef Height *kept
    cdef Py_buffer where, what
    if not k < width < given.n:
        raise ValueError("there must be more values than contenders, and more contenders than are selected.")
    with nogil:
        kept = chosen(given.at, given.n, width, k, reach, &enough)
    if kept is NULL:
        raise MemoryError
    try:
        if not enough:
            return None
        places, steps = empty(width, INT64), empty(width, INT64)
        PyObject_GetBuffer(places, &where, PyBUF_ND | PyBUF_WRITABLE)
        PyObject_GetBuffer(steps, &what, PyBUF_ND | PyBUF_WRITABLE)
        for i in range(width):
            (<int64_t *>where.buf)[i] = kept[i].at
            (<int64_t *>what.buf)[i] = kept[i].step
        PyBuffer_Release(&where)
        PyBuffer_Release(&what)
        return places, steps
    finally:
        free(kept)


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
    cdef Py_buffer view
    if work is NULL:
        raise MemoryError
    try:
        for i in range(n):
            if not 0 <= order.at[i] < n:
                raise ValueError("places must be below their number.")
            work[n - 1 - order.at[i]] = Height(floors.at[i], i)
        best = highest_first(work, work + n, n)
        kept = min(kept, n)
        highest = empty(kept, INT64)
        PyObject_GetBuffer(highest, &view, PyBUF_ND | PyBUF_WRITABLE)
        for i in range(kept):
            (<int64_t *>view.buf)[i] = best[i].at
        PyBuffer_Release(&view)
        return highest, leads_of(best, order.at, kept)
    finally:
        PyMem_Free(work)


cdef object leads_of(const Height *best, const int64_t *order, Py_ssize_t kept):
    """The lead of each over the next, in an array: Python keeps small integers ready and has to make larger ones, which
    shows in the time."""
    cdef Py_ssize_t i
    cdef Py_buffer view
    leads = empty(max(kept - 1, 0), UINT64)
    PyObject_GetBuffer(leads, &view, PyBUF_ND | PyBUF_WRITABLE)
    for i in range(kept - 1):
        # The floor of a difference is the difference of the floors, less one where the fraction is smaller.
        (<uint64_t *>view.buf)[i] = <uint64_t>best[i].step - <uint64_t>best[i + 1].step - (
            order[best[i].at] < order[best[i + 1].at]
        )
    PyBuffer_Release(&view)
    return leads


def selected(
    noise, values, int64_t factor, int64_t edge, int64_t limit, words, Py_ssize_t k, Py_ssize_t width, Py_ssize_t few
):
    """The selection in one pass, from the noise of all values and a word for each further pick of the permutation.

    Everyone is a contender of up to `few` values, else the `width` highest. The words come after as many others as
    there are values. None where a pick is in doubt, or where more than `width` may be in play: then the noise is used up.
    """
    cdef Held drawn = Held(noise), given = Held(values)
    cdef Py_buffer view
    cdef const uint64_t *read = <const uint64_t *>hold(words, &view, False)
    cdef Py_ssize_t there = view.len // 8
    cdef Py_ssize_t i, n = drawn.n, m = n if n <= few else width, kept = min(k + 1, m)
    cdef int64_t *noisy = <int64_t *>drawn.at
    cdef int64_t *order
    cdef Height *contending = NULL
    cdef Height *work
    cdef Height *best
    cdef bint enough = True, doubt = False
    if not (given.n == n and there == n + m - 1 and 0 < k <= m and (n <= few or k < width < n)):
        PyBuffer_Release(&view)
        raise ValueError("there must be a value for each noise, and a word for each contender but one.")
    add_steps(given.at, factor, edge, limit, noisy, n)
    if n > few:
        contending = chosen(noisy, n, width, k, 1, &enough)
        if contending is NULL:
            PyBuffer_Release(&view)
            raise MemoryError
    work = <Height *>malloc(2 * m * sizeof(Height) + m * sizeof(int64_t))
    try:
        if work is NULL:
            raise MemoryError
        order = <int64_t *>(work + 2 * m)
        order[0] = 0
        for i in range(1, m):
            doubt |= pick(read[n + i - 1], i + 1, order + i)
        if doubt or not enough:
            return None
        shuffled(order, m)
        for i in range(m):
            work[m - 1 - order[i]] = Height(noisy[i] if contending is NULL else contending[i].step, i)
        best = highest_first(work, work + m, m)
        leads = leads_of(best, order, kept)
        if contending is NULL:
            return tuple([best[i].at for i in range(min(k, m))]), leads
        return tuple([contending[best[i].at].at for i in range(k)]), leads
    finally:
        PyBuffer_Release(&view)
        free(work)
        free(contending)
