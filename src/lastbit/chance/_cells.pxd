"""The compiled way from a word to its cell: kernels that go on with the draw call it themselves."""

from libc.stdint cimport int64_t, uint64_t


cdef class Cells:
    cdef Py_ssize_t cells(
        self, const uint64_t *words, Py_ssize_t step, Py_ssize_t k, Py_ssize_t n, int64_t *out
    ) noexcept nogil
