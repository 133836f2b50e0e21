"""Weights of classes and their sums, for kernels that make the classes themselves."""

cimport cython
from libc.stdint cimport uint64_t


cdef inline void add(uint64_t *sums, uint64_t high, uint64_t middle, uint64_t low) noexcept nogil:
    """Add three words to three words."""
    cdef uint64_t carry
    sums[2] += low
    carry = sums[2] < low
    sums[1] += carry
    carry = sums[1] < carry
    sums[1] += middle
    carry += sums[1] < middle
    sums[0] += high + carry


cdef inline bint below(const uint64_t *one, const uint64_t *other) noexcept nogil:
    """Whether three words are less than three others."""
    return (one[0] < other[0]) | (
        (one[0] == other[0]) & ((one[1] < other[1]) | ((one[1] == other[1]) & (one[2] < other[2])))
    )


@cython.final
cdef class ClassWeights:
    cdef const uint64_t[::1] factors
    cdef int digits
    cdef uint64_t last
    cdef void gather(self, uint64_t e, uint64_t times, uint64_t *sums) noexcept nogil
    cdef uint64_t warm_up(self) noexcept nogil
    cdef void aim(
        self, uint64_t word, const uint64_t *total, uint64_t error_high, uint64_t error_low, uint64_t *start, uint64_t *stop
    ) noexcept nogil
