"""Noisy steps in, ranks and leads out. Integers only."""

cimport cython
from cpython.buffer cimport PyBUF_FORMAT, PyBUF_ND, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy

from numpy import array, dtype, empty

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


def ranked(steps, places, Py_ssize_t kept):
    """Of numbers with these floors, and fractions in the order of these places: where the highest are, and their leads.

    The highest come first; the lead of each over the next is floored. The leads are an array: Python keeps small
    integers ready and has to make larger ones, which shows in the time.
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
        leads = empty(max(kept - 1, 0), UINT64)
        PyObject_GetBuffer(leads, &view, PyBUF_ND | PyBUF_WRITABLE)
        for i in range(kept - 1):
            (<uint64_t *>view.buf)[i] = lead(best + i, order)
        PyBuffer_Release(&view)
        return [best[i].at for i in range(kept)], leads
    finally:
        PyMem_Free(work)


cdef inline uint64_t lead(const Height *one, Held order) noexcept:
    # The floor of a difference is the difference of the floors, less one where the fraction is smaller.
    return <uint64_t>one[0].step - <uint64_t>one[1].step - (order.at[one[0].at] < order.at[one[1].at])
