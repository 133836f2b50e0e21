"""Words in, the cells of a law out: for one sample, for many, and added to values."""

from cpython.buffer cimport PyBuffer_Release
from libc.stdint cimport int64_t, uint64_t

from numpy import dtype, empty

from lastbit.chance._words cimport hold

cdef object INT64 = dtype("int64")


cdef inline bint plus(const int64_t *steps, int64_t *noise, Py_ssize_t n, int64_t room) noexcept nogil:
    """Add steps to their noise, in the noise. False where some noise is beyond ±room: then nothing is added."""
    cdef Py_ssize_t k
    cdef bint fits = True
    for k in range(n):
        fits &= (noise[k] <= room) & (noise[k] >= -room)
    if fits:
        for k in range(n):
            noise[k] += steps[k]
    return fits


def add(steps, noise, int64_t room):
    """Add steps to their noise, in the noise. False where some noise is beyond ±room: then nothing is added."""
    cdef Py_buffer first_view, second_view
    cdef const int64_t *read = <const int64_t *>hold(steps, &first_view, False)
    cdef int64_t *target
    cdef Py_ssize_t n
    cdef bint fits
    try:
        target = <int64_t *>hold(noise, &second_view, True)
        n = second_view.len // 8
        if first_view.len != second_view.len:
            PyBuffer_Release(&second_view)
            raise ValueError("there must be a noise for each step.")
        with nogil:
            fits = plus(read, target, n, room)
        PyBuffer_Release(&second_view)
    finally:
        PyBuffer_Release(&first_view)
    return fits


cdef class Cells:
    """A law of which one word decides a sample, but for a few. Its kinds say how, in `cells`."""

    cdef Py_ssize_t cells(
        self, const uint64_t *words, Py_ssize_t step, Py_ssize_t k, Py_ssize_t n, int64_t *out
    ) noexcept nogil:
        """The cells of samples, from sample k on, up to the first in doubt, which is returned, or to the end."""
        return k

    def first(self, words, Py_ssize_t step, out):
        """out[k] = the cell of words[k·step]. Returns the samples in doubt."""
        cdef Py_buffer first_view, second_view
        cdef const uint64_t *read = <const uint64_t *>hold(words, &first_view, False)
        cdef int64_t *target = <int64_t *>hold(out, &second_view, True)
        cdef Py_ssize_t k = 0, n = second_view.len // 8, there = first_view.len // 8
        cdef list doubts = []
        while k < n and there >= (n - 1) * step + 1:
            with nogil:
                k = self.cells(read, step, k, n, target)
            if k < n:
                doubts.append(k)
                k += 1
        PyBuffer_Release(&first_view)
        PyBuffer_Release(&second_view)
        if there < (n - 1) * step + 1:
            raise ValueError("there must be a word for each sample.")
        return doubts

    def one(self, words):
        """The cell of the first word; None where it is in doubt."""
        cdef Py_buffer first_view
        cdef const uint64_t *read = <const uint64_t *>hold(words, &first_view, False)
        cdef int64_t cell = 0
        cdef bint there = first_view.len >= 8, decided = there and self.cells(read, 1, 0, 1, &cell) == 1
        PyBuffer_Release(&first_view)
        if not there:
            raise ValueError("there must be a word for each sample.")
        return cell if decided else None

    def onto(self, words, steps, int64_t room):
        """The cell of each word, added to its step, in a new array; None where a cell is in doubt, or beyond ±room."""
        cdef Py_buffer first_view, second_view, view
        cdef const uint64_t *read = <const uint64_t *>hold(words, &first_view, False)
        cdef const int64_t *start
        cdef int64_t *target
        cdef Py_ssize_t n
        cdef bint fits
        try:
            start = <const int64_t *>hold(steps, &second_view, False)
            n = second_view.len // 8
            try:
                if first_view.len // 8 != n:
                    raise ValueError("there must be a word for each step.")
                out = empty(n, INT64)
                target = <int64_t *>hold(out, &view, True)
                with nogil:
                    fits = self.cells(read, 1, 0, n, target) == n and plus(start, target, n, room)
                PyBuffer_Release(&view)
                return out if fits else None
            finally:
                PyBuffer_Release(&second_view)
        finally:
            PyBuffer_Release(&first_view)
