"""Noisy steps in, ranks and leads out. Integers only."""

cimport cython
from cpython.buffer cimport PyBUF_FORMAT, PyBUF_ND, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_New, PyTuple_SET_ITEM
from libc.stdint cimport INT64_MAX, int64_t, uint64_t
from libc.stdlib cimport free, malloc, qsort, realloc
from libc.string cimport memcpy

from numpy import array, dtype, empty

from lastbit.chance._cells cimport Cells
from lastbit.chance._words cimport add_steps, hold, pick, apply_picks

cdef enum:
    GROUPS = 2  # for each one looked for: more of them would have to be parted, fewer would let too many through
    BLOCK = 8

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


cdef extern from *:
    """
    #include <stdint.h>
    /* A number of steps, and whose it is. */
    typedef struct { int64_t step, at; } lastbit_height;

    /* Merge two runs of the same width: from the front and from the back at once, which meet in the middle. Neither half
       can leave its run, as each takes as many as a run has, and the two do not wait for each other. No branch: which of
       two is taken cannot be guessed. Of equals the first run comes first. */
    static inline void lastbit_merge(const lastbit_height *from, int64_t width, lastbit_height *to) {
        int64_t a = 0, b = width, c = width - 1, d = 2 * width - 1;
        for (int64_t k = 0, l = d; k < width; k++, l--) {
            int64_t first = from[a].step >= from[b].step, last = from[c].step >= from[d].step;
            to[k] = from[b ^ ((a ^ b) & -first)];
            a += first;
            b += 1 - first;
            to[l] = from[c ^ ((c ^ d) & -last)];
            c -= 1 - last;
            d -= last;
        }
    }

    /* Bring the values of at least `least` to the front, and count them: without a branch too. */
    static inline int64_t lastbit_part(int64_t *values, int64_t n, int64_t least) {
        int64_t front = 0;
        for (int64_t i = 0; i < n; i++) {
            int64_t each = values[i];
            values[i] = values[front];
            values[front] = each;
            front += each >= least;
        }
        return front;
    }
    """
    ctypedef struct Height "lastbit_height":
        int64_t step
        int64_t at
    void merge "lastbit_merge"(const Height *heights, int64_t width, Height *spare) noexcept nogil
    int64_t part "lastbit_part"(int64_t *values, int64_t n, int64_t least) noexcept nogil


cdef Height *highest_first(Height *heights, Height *spare, Py_ssize_t n) noexcept nogil:
    """Merge sort, as it keeps the order of equals: in one of the two places."""
    cdef Py_ssize_t width = 1, i, j, k, middle
    cdef bint first
    while width < n:
        k = 0
        while k + 2 * width <= n:
            merge(heights + k, width, spare + k)
            k += 2 * width
        if k < n:
            i, middle = k, min(k + width, n)
            j = middle
            while i < middle and j < n:
                first = heights[i].step >= heights[j].step
                spare[k] = heights[i if first else j]
                i += first
                j += not first
                k += 1
            memcpy(spare + k, heights + i, (middle - i) * sizeof(Height))
            memcpy(spare + k + middle - i, heights + j, (n - j) * sizeof(Height))
        heights, spare = spare, heights
        width *= 2
    return heights


cdef int falling(const void *one, const void *other) noexcept nogil:
    cdef int64_t a = (<const int64_t *>one)[0], b = (<const int64_t *>other)[0]
    return (a < b) - (a > b)


cdef void sort(int64_t *values, Py_ssize_t n) noexcept nogil:
    """The highest first; a few without the detours of a sort for many."""
    cdef Py_ssize_t i, j
    cdef int64_t each
    if n > 8:
        qsort(values, n, sizeof(int64_t), &falling)
        return
    for i in range(1, n):
        each, j = values[i], i
        while j > 0 and values[j - 1] < each:
            values[j] = values[j - 1]
            j -= 1
        values[j] = each


cdef int64_t kth_highest(int64_t *values, Py_ssize_t n, Py_ssize_t k) noexcept nogil:
    """The k-th highest, by parting around a middle of three; the k highest end up in front.

    Where that goes badly for so many rounds as no order but one made to be bad takes, the rest is sorted.
    """
    cdef Py_ssize_t front, rounds = 0
    cdef int64_t a, b, c, pivot
    while n > 8 and rounds < 64:
        a, b, c = values[0], values[n >> 1], values[n - 1]
        pivot = max(min(a, b), min(max(a, b), c))
        # Those above the pivot, then those equal to it. No value is beyond the largest that could be above.
        front = part(values, n, pivot + 1) if pivot < INT64_MAX else 0
        if k <= front:
            n = front
        else:
            values, n, k = values + front, n - front, k - front
            front = part(values, n, pivot)
            if k <= front:
                return pivot
            values, n, k = values + front, n - front, k - front
        rounds += 1
    sort(values, n)
    return values[k - 1]


cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>
    #if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
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
    /* The first block of 8, from a place on, that has a value of at least `bound`; or the end of the last block. */
    LASTBIT_WIDE static int64_t lastbit_next(const int64_t *values, int64_t from, int64_t n, int64_t bound) {
        for (; from + 8 <= n; from += 8) {
            int64_t hit = 0;
            for (int j = 0; j < 8; j++) hit |= -(int64_t)(values[from + j] >= bound);
            if (hit) break;
        }
        return from;
    }
    """
    void group "lastbit_group"(const int64_t *values, int64_t rows, int64_t groups, int64_t *highest) noexcept nogil
    int64_t next_block "lastbit_next"(const int64_t *values, int64_t start, int64_t n, int64_t bound) noexcept nogil


cdef Height *sieved(const int64_t *values, Py_ssize_t n, int64_t bound, Py_ssize_t room, Py_ssize_t *found) noexcept nogil:
    """The values of at least `bound`, in order; NULL where there is no memory. There is `room` for so many at first."""
    cdef Py_ssize_t i = 0, j, count = 0
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

    `enough` says whether the last of them is at least `reach` below the (k+1)-th highest: else more may be near.
    """
    cdef Py_ssize_t rows = max(1, n // (GROUPS * width)), groups = n // rows, i, at = 0, found = 0, equal = width
    cdef int64_t bound, high
    cdef bint tie
    cdef Height *kept = NULL
    cdef Height each
    cdef int64_t *work = <int64_t *>malloc(groups * sizeof(int64_t))
    if work is not NULL:
        # The width-th largest of the largest of many groups is at most the width-th largest of all: a first sieve.
        group(values, rows, groups, work)
        kept = sieved(values, n, kth_highest(work, groups, width), 2 * width + BLOCK, &found)
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
        # Of those that are equal to the last, the first. Without a branch: who is above cannot be guessed.
        each = kept[i]
        tie = (each.step == bound) & (equal > 0)
        kept[at] = each
        at += (each.step > bound) | tie
        equal -= tie
    enough[0] = <uint64_t>high - <uint64_t>bound >= <uint64_t>reach
    return kept


def contenders(values, Py_ssize_t width, Py_ssize_t k, int64_t reach):
    """The places of the `width` highest of more values, the first of equals, in rising order, and their values.

    None where the last of them is less than `reach` below the (k+1)-th highest: then there may be more that are.
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


cdef Height *ordered(
    const int64_t *steps, Py_ssize_t stride, const int64_t *order, Py_ssize_t n, Height *work
) noexcept nogil:
    """The highest first; of equal steps, those whose place in the order is higher. `work` has room for twice as many."""
    cdef Py_ssize_t i
    for i in range(n):
        work[n - 1 - order[i]] = Height(steps[i * stride], i)
    return highest_first(work, work + n, n)


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
        kept = min(kept, n)
        best = ordered(floors.at, 1, order.at, n, work)
        highest = empty(kept, INT64)
        PyObject_GetBuffer(highest, &view, PyBUF_ND | PyBUF_WRITABLE)
        for i in range(kept):
            (<int64_t *>view.buf)[i] = best[i].at
        PyBuffer_Release(&view)
        return highest, leads_of(best, order.at, kept)
    finally:
        PyMem_Free(work)


cdef tuple numbers_of(const int64_t *numbers, Py_ssize_t stride, const int64_t *at, Py_ssize_t apart, Py_ssize_t n):
    """The numbers at these places, or the places, as Python's own integers: without a list or an array on the way."""
    cdef tuple made = PyTuple_New(n)
    cdef Py_ssize_t i
    for i in range(n):
        each = <object>(at[i * apart] if numbers is NULL else numbers[at[i * apart] * stride])
        Py_INCREF(each)
        PyTuple_SET_ITEM(made, i, each)
    return made


def named(numbers, places):
    """The numbers at these places, as a tuple."""
    cdef Held given = Held(numbers), chosen_places = Held(places)
    cdef Py_ssize_t i
    for i in range(chosen_places.n):
        if not 0 <= chosen_places.at[i] < given.n:
            raise ValueError("places must be below the number of numbers.")
    return numbers_of(given.at, 1, chosen_places.at, 1, chosen_places.n)


def pick_items(tuple items not None, places):
    """The items at these places, as a tuple: each item is looked up once, as items lie far apart in memory."""
    cdef Held chosen_places = Held(places)
    cdef Py_ssize_t i, n = len(items)
    for i in range(chosen_places.n):
        if not 0 <= chosen_places.at[i] < n:
            raise ValueError("places must be below the number of items.")
    cdef tuple made = PyTuple_New(chosen_places.n)
    for i in range(chosen_places.n):
        each = items[chosen_places.at[i]]
        Py_INCREF(each)
        PyTuple_SET_ITEM(made, i, each)
    return made


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
    words, Cells law, values, int64_t factor, int64_t edge, int64_t limit, Py_ssize_t k, Py_ssize_t width, Py_ssize_t few
):
    """The selection in one pass: a word for the noise of each value, then one for each further pick of the permutation.

    Everyone is a contender of up to `few` values, else the `width` highest. None where a word decides nothing, or where
    more than `width` may be in play.
    """
    cdef Held given = Held(values)
    cdef Py_ssize_t i, n = given.n, m = n if n <= few else width, kept = min(k + 1, m)
    cdef Py_buffer view
    cdef const uint64_t *read = <const uint64_t *>hold(words, &view, False)
    cdef int64_t *noisy = NULL
    cdef int64_t *order
    cdef Height *contending = NULL
    cdef Height *work
    cdef Height *best
    cdef bint enough = True, doubt = False
    try:
        if not (view.len // 8 == n + m - 1 and 0 < k <= m and (n <= few or k < width < n)):
            raise ValueError("there must be a word for each value, and for each contender but one.")
        noisy = <int64_t *>malloc((n + m) * sizeof(int64_t) + 2 * m * sizeof(Height))
        if noisy is NULL:
            raise MemoryError
        order, work = noisy + n, <Height *>(noisy + n + m)
        if law.cells(read, 1, 0, n, noisy) != n:
            return None
        add_steps(given.at, factor, edge, limit, noisy, n)
        if n > few:
            contending = chosen(noisy, n, width, k, 1, &enough)
            if contending is NULL:
                raise MemoryError
        order[0] = 0
        for i in range(1, m):
            doubt |= pick(read[n + i - 1], i + 1, order + i)
        if doubt or not enough:
            return None
        apply_picks(order, m)
        if contending is NULL:
            best = ordered(noisy, 1, order, m, work)
        else:
            best = ordered(&contending.step, 2, order, m, work)
        leads = leads_of(best, order, kept)
        if contending is NULL:
            return numbers_of(NULL, 0, &best.at, 2, min(k, m)), leads
        return numbers_of(&contending.at, 2, &best.at, 2, k), leads
    finally:
        PyBuffer_Release(&view)
        free(noisy)
        free(contending)


def among_equals(const int64_t[::1] values, const int64_t[::1] turned, const int64_t[::1] places):
    """Where the wanted values are, in rising order: for each its value, sign turned, and its place among its equals.

    The wanted values come sorted, the largest first, and equal ones by their places. A small table by a hash tells which
    of them a value can be: none, or one; where several share a slot, halving finds it.
    """
    cdef Py_ssize_t n = values.shape[0], wanted = turned.shape[0], i, low, high, middle, count = 0
    cdef int64_t *out = NULL
    cdef int64_t *seen
    cdef int64_t *next_one
    cdef int64_t table[1024]
    cdef uint64_t slot
    cdef int64_t value
    if places.shape[0] != wanted:
        raise ValueError("there must be a place for each value.")
    if wanted == 0:
        return ()
    out = <int64_t *>malloc(3 * wanted * sizeof(int64_t))
    if out is NULL:
        raise MemoryError
    try:
        seen, next_one = out + wanted, out + 2 * wanted
        with nogil:
            for i in range(1024):
                table[i] = -1
            for i in range(wanted):
                # Equal values share the counters of the first of them.
                seen[i], next_one[i] = 0, i
                slot = (<uint64_t>turned[i] * <uint64_t>0x9E3779B97F4A7C15) >> 54
                if table[slot] == -1:
                    table[slot] = i
                elif table[slot] == -2 or turned[table[slot]] != turned[i]:
                    table[slot] = -2
            for i in range(n):
                value = -values[i]
                low = table[(<uint64_t>value * <uint64_t>0x9E3779B97F4A7C15) >> 54]
                if low == -1:
                    continue
                high = low
                if low == -2:
                    low, high = 0, wanted
                while low < high:
                    middle = (low + high) >> 1
                    if turned[middle] < value:
                        low = middle + 1
                    else:
                        high = middle
                if low == wanted or turned[low] != value:
                    continue
                middle = next_one[low]
                if middle < wanted and turned[middle] == value and places[middle] == seen[low]:
                    out[count] = i
                    count += 1
                    next_one[low] += 1
                seen[low] += 1
        return numbers_of(NULL, 0, out, 1, count)
    finally:
        free(out)
